// Where values stand while code is written: in registers, in memory, or in both.
//
// Values live in registers xmm0 to xmm13; xmm14 and xmm15 are for the moment. Which value leaves when all are taken:
// the one that is needed last. It is written to the scratch array only if it is not in memory yet, and read again from
// there. Inputs are read from the caller's blocks, constants from the scratch array.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "expression/native.hpp"
#include "expression/tape_loops.hpp"
#include "expression/tape_plan.hpp"
#include "expression/x86_code.hpp"

namespace hinge {

class NativeValues {
 protected:
  static constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
  static constexpr int registers = 14, spare = 14, other_spare = 15;
  static constexpr std::uint8_t none = 255;
  static constexpr std::array<std::uint8_t, 6> saved{x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};
  static constexpr std::size_t at(std::int32_t n) { return static_cast<std::size_t>(n); }

  /// One number in each place, or `lanes` of them side by side: four.
  /// So many operands are going to be written.
  NativeValues(const TapePlan& plan, NativeFunction& function, int lanes, std::size_t operands)
      : plan_(plan),
        function_(function),
        bytes_(8 * lanes),
        code_(128 + 12 * operands, lanes > 1),
        register_(function.slots.size(), std::int8_t{-1}),
        next_(function.slots.size(), never),
        occurrence_(plan.operands.size(), never),
        first_spill_(function.scratch),
        spill_end_(function.scratch) {
    owner_.fill(no_node);
  }

  void begin_step() {
    pinned_ = 0;
    free_slots_.insert(free_slots_.end(), released_.begin(), released_.end());
    released_.clear();
  }

  bool in_memory(Node n) const { return function_.slots[at(n)] >= 0; }
  std::size_t block_of(Node n) const {
    const std::int32_t slot = function_.slots[at(n)];
    std::size_t k = 0;
    while (slot < function_.blocks[k].first || slot >= function_.blocks[k].first + function_.blocks[k].size) ++k;
    return k;
  }
  x86::Memory in_scratch(std::int32_t slot) const { return {scratch_, bytes_ * slot}; }

  x86::Memory memory_of(Node n) {
    const std::int32_t slot = function_.slots[at(n)];
    const std::uint8_t moved = moving_.empty() ? none : moving_[at(n)];
    if (slot >= function_.inputs) return {moved == none ? scratch_ : moved, bytes_ * slot};
    const std::size_t block = block_of(n);
    std::uint8_t pointer = moved == none ? block_pointer_[block] : moved;
    if (pointer == none) {  // more blocks than registers
      pointer = x86::rax;
      code_.load_pointer(pointer, {inputs_, static_cast<std::int32_t>(8 * block)});
    }
    return {pointer, bytes_ * (slot - function_.blocks[block].first)};
  }

  // A slot for a value that has none.
  void give_slot(Node n) {
    std::int32_t& slot = function_.slots[at(n)];
    if (slot >= 0) return;
    if (free_slots_.empty()) {
      slot = spill_end_++;
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
    }
  }

  void write(Node n) {
    if (in_memory(n)) return;
    give_slot(n);
    code_.store(in_scratch(function_.slots[at(n)]), register_[at(n)]);
  }

  void pin(int r) { pinned_ |= 1u << r; }

  // A register for n, whose value the next instruction makes.
  int allocate(Node n) {
    int chosen = -1;
    std::int32_t latest = -1;
    for (int r = 0; r < registers; ++r) {
      const Node other = owner_[at(r)];
      if (other == no_node) {
        chosen = r;
        break;
      }
      if (!(pinned_ >> r & 1) && next_[at(other)] > latest) {
        latest = next_[at(other)];
        chosen = r;
      }
    }
    if (const Node other = owner_[at(chosen)]; other != no_node) {
      write(other);
      register_[at(other)] = -1;
    }
    owner_[at(chosen)] = n;
    register_[at(n)] = static_cast<std::int8_t>(chosen);
    pin(chosen);
    return chosen;
  }

  struct Operand {
    Node node;
    std::int32_t occurrence;
  };
  Operand operand(const TapePlan::Step& s, std::int32_t k) const {
    const Node n = plan_.operands[at(s.first + k)];
    return {n != TapePlan::nothing && n < 0 ? ~n : n, s.first + k};
  }

  // The value in a register.
  int fetch(Operand o) {
    int r = register_[at(o.node)];
    if (r < 0) {
      const x86::Memory from = memory_of(o.node);
      r = allocate(o.node);
      code_.load(r, from);
    }
    pin(r);
    return r;
  }
  // Can an instruction take it from memory? So it does where it is not needed again.
  bool from_memory(Operand o) const { return register_[at(o.node)] < 0 && occurrence_[at(o.occurrence)] == never; }

  // op(result or spare register, a, b), b from a register or from memory.
  template <class Emit>
  void with(Operand b, Emit&& emit) {
    if (from_memory(b))
      emit(memory_of(b.node));
    else
      emit(fetch(b));
  }

  // After an operand was read, or while the instruction that reads it is being written.
  [[gnu::always_inline]] void used(Operand o) {
    next_[at(o.node)] = occurrence_[at(o.occurrence)];
    if (next_[at(o.node)] == never) forget(o.node);
  }
  // Its slot is free after this step only, which may still read it while another value is written.
  void forget(Node n) {
    if (const int r = register_[at(n)]; r >= 0) {
      owner_[at(r)] = no_node;
      register_[at(n)] = -1;
    }
    if (const std::int32_t slot = function_.slots[at(n)]; slot >= first_spill_) released_.push_back(slot);
  }

  // The result is in its register: outputs are written to their places at once.
  void finish(Node n) {
    const std::int32_t slot = function_.slots[at(n)];
    if (slot >= 0) code_.store(memory_of(n), register_[at(n)]);
    if (next_[at(n)] == never) forget(n);
  }

  // Nothing is in a register after it.
  void keep_all() {
    for (Node& n : owner_) {
      if (n == no_node) continue;
      write(n);
      register_[at(n)] = -1;
      n = no_node;
    }
  }

  // Nothing is in a register where a round begins or ends. Returns where it begins. Pointers that move on are in
  // registers that have been saved.
  std::size_t begin_rounds(const TapeLoop& loop) {
    keep_all();
    moving_.resize(function_.slots.size(), none);
    pointers_.clear();
    for (const auto& [node, stride] : loop.moving) {
      const bool input = function_.slots[at(node)] < function_.inputs;
      const std::uint8_t base = input ? block_pointer_[block_of(node)] : scratch_;
      std::size_t k = 0;
      while (k < pointers_.size() && (pointers_[k].base != base || pointers_[k].stride != stride)) ++k;
      if (k == pointers_.size()) {
        pointers_.push_back({base, stride});
        code_.copy_pointer(saved[k], base);
      }
      moving_[at(node)] = saved[k];
    }
    code_.set_number(inputs_, loop.repeats);  // whose blocks have been loaded
    return code_.size();
  }

  void end_round(const TapeLoop& loop, std::size_t begin) {
    for (Node& n : owner_)
      if (n != no_node) register_[at(std::exchange(n, no_node))] = -1;
    for (std::size_t k = 0; k < pointers_.size(); ++k) code_.add_to_pointer(saved[k], bytes_ * pointers_[k].stride);
    code_.add_to_pointer(inputs_, -1);
    code_.repeat_unless_zero(begin);
    for (const TapeLoop::Moving& m : loop.moving) moving_[at(m.node)] = none;
  }

  const TapePlan& plan_;
  NativeFunction& function_;
  std::int32_t bytes_;  // of a place
  x86::Code code_;
  std::vector<std::int8_t> register_;     // of each node; -1: in none
  std::vector<std::int32_t> next_;        // of each node: the step that needs it next
  std::vector<std::int32_t> occurrence_;  // of each operand: the step that needs it after this one
  std::array<Node, registers> owner_{};
  unsigned pinned_ = 0;  // registers that the present step reads
  std::int32_t first_spill_, spill_end_;
  std::vector<std::int32_t> free_slots_, released_;
  std::vector<std::uint8_t> block_pointer_;  // the register that points to a block; none: it is loaded when needed
  struct MovingPointer {
    std::uint8_t base;
    std::int32_t stride;  // places
  };
  std::vector<MovingPointer> pointers_;  // of a loop
  std::vector<std::uint8_t> moving_;  // in a loop, of each node: the register that points to it and moves on; or none
  std::uint8_t scratch_ = x86::rsi, inputs_ = x86::rdi;
};

}  // namespace hinge
