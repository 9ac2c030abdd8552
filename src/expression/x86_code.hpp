// Instructions of x86-64 as bytes: the few that computing with doubles takes, all with AVX's three operands.
//
// Registers are numbers, 0 to 15: xmm0 to xmm15, and rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hinge::x86 {

enum General : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

/// What stands in memory `offset` bytes after where a register points; or, with `in_code`, after the beginning of the
/// code. With a second register that is added, one of the first eight and not rsp.
struct Memory {
  std::uint8_t base = rax;
  std::int32_t offset = 0;
  bool in_code = false;
  std::uint8_t index = no_index;
  static constexpr std::uint8_t no_index = rsp;
};

/// Opcodes of operations on the lower double of a register (with the prefix that says so), and on all its bits.
enum class Scalar : std::uint8_t {
  sqrt = 0x51,
  add = 0x58,
  multiply = 0x59,
  subtract = 0x5C,
  min = 0x5D,
  divide = 0x5E,
  max = 0x5F
};
/// Of operations on two doubles at once, or on four.
enum class Packed : std::uint8_t { add = 0x58, multiply = 0x59, subtract = 0x5C };
enum class Bits : std::uint8_t { and_ = 0x54, or_ = 0x56, xor_ = 0x57 };
/// Comparisons; those named `or_nan` hold where an operand is not a number.
enum class Compare : std::uint8_t {
  equal = 0,
  not_equal_or_nan = 4,
  unordered = 3,
  not_equal = 0x0C,
  less = 0x11,
  less_equal = 0x12
};

class Code {
 public:
  /// With `four` lanes, operations named after one double are made on all four of a register.
  explicit Code(std::size_t expected, bool four = false)
      : one_(four ? prefix_66 | four_doubles : prefix_f2), bits_(four ? prefix_66 | four_doubles : prefix_66) {
    bytes_.resize(expected + room);
  }

  std::size_t size() const { return size_; }
  const std::uint8_t* data() const { return bytes_.data(); }

  /// result = a op b
  template <class B>
  void scalar(Scalar op, int result, int a, B b) {
    if (op == Scalar::sqrt && one_ != prefix_f2) a = 0;  // there is no second operand then
    vex(1, one_, static_cast<std::uint8_t>(op), result, a, b);
  }
  template <class B>
  void bits(Bits op, int result, int a, B b) {
    vex(1, bits_, static_cast<std::uint8_t>(op), result, a, b);
  }
  /// All bits of the lower double set where the comparison holds, none where it does not.
  template <class B>
  void compare(Compare what, int result, int a, B b) {
    vex(1, one_, 0xC2, result, a, b, 1);
    byte(static_cast<std::uint8_t>(what));
  }
  /// result = mask ? yes : no
  void blend(int result, int no, int yes, int mask) {
    vex(3, bits_, 0x4B, result, no, yes, 1);
    byte(static_cast<std::uint8_t>(mask << 4));
  }
  void load(int result, Memory from) { vex(1, one_, 0x10, result, 0, from); }
  void store(Memory to, int from) { vex(1, one_, 0x11, from, 0, to); }
  void move(int to, int from) {
    if (to != from) vex(1, bits_, 0x28, to, 0, from);
  }

  /// The same of all four doubles of a register, or of its lower two.
  template <class B>
  void packed(Packed op, int result, int a, B b, bool four = true) {
    vex(1, prefix_66 | (four ? four_doubles : 0), static_cast<std::uint8_t>(op), result, a, b);
  }
  void bits_of_four(Bits op, int result, int a, Memory b) {
    vex(1, prefix_66 | four_doubles, static_cast<std::uint8_t>(op), result, a, b);
  }
  void load_four(int result, Memory from) { vex(1, prefix_66 | four_doubles, 0x10, result, 0, from); }
  void store_four(Memory to, int from) { vex(1, prefix_66 | four_doubles, 0x11, from, 0, to); }
  /// One double, four times.
  void broadcast(int result, Memory from) { vex(2, prefix_66 | four_doubles, 0x19, result, 0, from); }
  /// Of two doubles: the second one, from memory. Of four: the upper two, from another register.
  void load_second(int result, int first, Memory from) { vex(1, prefix_66, 0x16, result, first, from); }
  void join(int result, int lower, int upper) {
    vex(3, prefix_66 | four_doubles, 0x18, result, lower, upper, 1);
    byte(1);
  }
  /// The upper two doubles of four; the second of two.
  void upper_half(int result, int from) {
    vex(3, prefix_66 | four_doubles, 0x19, from, 0, result, 1);
    byte(1);
  }
  void both(int result, int from) { vex(1, prefix_66, 0x14, result, from, from); }  // the first one, twice
  void second(int result, int from) { vex(1, prefix_66, 0x15, result, from, from); }
  /// Before code that knows of two doubles only.
  void clear_upper_halves() { sequence({0xC5, 0xF8, 0x77}); }

  void load_pointer(int to, Memory from) { general(0x8B, to, from); }
  void address(int to, Memory of) { general(0x8D, to, of); }
  void copy_pointer(int to, int from) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (from >> 3 << 2) | (to >> 3)));
    byte(0x89);
    byte(static_cast<std::uint8_t>(0xC0 | ((from & 7) << 3) | (to & 7)));
  }
  void set_pointer(int to, const void* value) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (to >> 3)));
    byte(static_cast<std::uint8_t>(0xB8 | (to & 7)));
    append(reinterpret_cast<std::uintptr_t>(value));
  }
  void call(const void* function) {
    set_pointer(rax, function);
    byte(0xFF);
    byte(0xD0);
  }
  void set_number(int to, std::int32_t value) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (to >> 3)));
    byte(0xC7);
    byte(static_cast<std::uint8_t>(0xC0 | (to & 7)));
    append(value);
  }
  void add_to_pointer(int r, std::int32_t value) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (r >> 3)));
    byte(0x81);
    byte(static_cast<std::uint8_t>(0xC0 | (r & 7)));
    append(value);
  }
  void add_pointers(int to, int from) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (from >> 3 << 2) | (to >> 3)));
    byte(0x01);
    byte(static_cast<std::uint8_t>(0xC0 | ((from & 7) << 3) | (to & 7)));
  }
  /// Back to a place in the code, unless the last sum was zero.
  void repeat_unless_zero(std::size_t place) {
    sequence({0x0F, 0x85});
    append(static_cast<std::int32_t>(place) - static_cast<std::int32_t>(size_) - 4);
  }
  void push(int r) { push_or_pop(0x50, r); }
  void pop(int r) { push_or_pop(0x58, r); }
  /// Moves the stack pointer by 8 bytes: calls want it at a multiple of 16.
  void lower_stack() { sequence({0x48, 0x83, 0xEC, 0x08}); }
  void raise_stack() { sequence({0x48, 0x83, 0xC4, 0x08}); }
  /// Where an indirect call may arrive, for processors that check that.
  void entry() { sequence({0xF3, 0x0F, 0x1E, 0xFA}); }
  void leave() { sequence({0xC3}); }
  template <class T>
  void append(T value) {
    reserve();
    std::memcpy(bytes_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }

 private:
  static constexpr int prefix_66 = 1, prefix_f2 = 3, four_doubles = 4;
  static constexpr std::size_t room = 32;  // more than an instruction takes

  void reserve() {
    if (size_ + room > bytes_.size()) bytes_.resize(2 * bytes_.size());
  }
  void byte(std::uint8_t b) { bytes_[size_++] = b; }
  void sequence(std::initializer_list<std::uint8_t> list) {
    reserve();
    for (const std::uint8_t b : list) byte(b);
  }
  void push_or_pop(int opcode, int r) {
    reserve();
    if (r > 7) byte(0x41);
    byte(static_cast<std::uint8_t>(opcode | (r & 7)));
  }

  // The prefix of AVX and the opcode. `b` is the number of the third operand, or of the base of a place in memory.
  void opening(int map, int prefix, std::uint8_t opcode, int result, int a, int b) {
    reserve();
    const int inverted = (~a & 15) << 3, r = result > 7 ? 0 : 0x80;
    if (map == 1 && b < 8) {
      byte(0xC5);
      byte(static_cast<std::uint8_t>(r | inverted | prefix));
    } else {
      byte(0xC4);
      byte(static_cast<std::uint8_t>(r | 0x40 | (b > 7 ? 0 : 0x20) | map));
      byte(static_cast<std::uint8_t>(inverted | prefix));
    }
    byte(opcode);
  }
  // `after`: bytes of the instruction that follow
  void vex(int map, int prefix, std::uint8_t opcode, int result, int a, int b, int after = 0) {
    static_cast<void>(after);
    opening(map, prefix, opcode, result, a, b);
    byte(static_cast<std::uint8_t>(0xC0 | ((result & 7) << 3) | (b & 7)));
  }
  void vex(int map, int prefix, std::uint8_t opcode, int result, int a, Memory b, int after = 0) {
    opening(map, prefix, opcode, result, a, b.in_code ? 0 : b.base);
    place(result, b, after);
  }
  void general(std::uint8_t opcode, int r, Memory m) {
    reserve();
    byte(static_cast<std::uint8_t>(0x48 | (r >> 3 << 2) | (m.base >> 3)));
    byte(opcode);
    place(r, m, 0);
  }
  void place(int r, Memory m, int after) {
    const int middle = (r & 7) << 3;
    if (m.in_code) {
      byte(static_cast<std::uint8_t>(middle | 5));
      append(m.offset - static_cast<std::int32_t>(size_) - 4 - after);
      return;
    }
    const bool near = m.offset >= -128 && m.offset < 128;
    const bool two = (m.base & 7) == rsp || m.index != Memory::no_index;  // these take one byte more
    byte(static_cast<std::uint8_t>((near ? 0x40 : 0x80) | middle | (two ? rsp : m.base & 7)));
    if (two) byte(static_cast<std::uint8_t>(m.index << 3 | (m.base & 7)));
    if (near)
      byte(static_cast<std::uint8_t>(m.offset));
    else
      append(m.offset);
  }

  int one_, bits_;  // prefixes
  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
};

}  // namespace hinge::x86
