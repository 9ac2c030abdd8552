// A machine for SeriesRecurrences that writes instructions. Longer than other files: it is one class, which alone knows
// the registers.
//
// Values are in registers, or in memory until an instruction reads them there. Operations leave their results in
// memory, so that nothing has to be kept in registers from one to the next. Sums of products run in blocks of four.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <span>

#include "expression/x86_code.hpp"
#include "method/taylor/series_code.hpp"
#include "method/taylor/series_places.hpp"

namespace hinge {

class SeriesAssembler {
  using P = SeriesProgram;
  using Memory = x86::Memory;
  using Packed = x86::Packed;
  using Scalar = x86::Scalar;

 public:
  struct Value {
    bool loaded = false;
    int r = -1;
    Memory memory{};
  };
  struct Lanes {
    int r = -1;
  };
  using Row = SeriesRecurrences<SeriesAssembler>::Row;
  SeriesAssembler(const SeriesProgram& program, const SeriesLayout& layout, void* tape,
                  SeriesCode::FirstChoice of_numbers)
      : p_(program), at_(layout), tape_(tape), first_choice_(of_numbers), code_(1024) {
    write_constants();
  }
  const x86::Code& code() const { return code_; }
  /// One of the first stages is written; or one of the others, with sums of this length.
  void set_stage(int stage) { stage_ = stage; }
  void set_version(int version) { version_ = version; }
  /// A function begins: where? One for the first stages, or for the others.
  std::size_t begin(bool first) {
    const std::size_t entry = code_.size();
    code_.entry();
    in_first_ = first;
    base_ = first ? x86::rbx : x86::rsi;
    taken_ = 0;
    if (first) {  // functions are called: one register that they keep
      code_.push(x86::rbx);
      code_.copy_pointer(x86::rbx, x86::rsi);
      return entry;
    }
    code_.push(table_);
    code_.push(fours_left_);
    code_.load_pointer(forwards_, {x86::rdi, 0});
    code_.load_pointer(backwards_, {x86::rdi, 8});
    code_.load_pointer(row_, {x86::rdi, 16});
    code_.load_pointer(count_, {x86::rdi, 24});
    code_.load_pointer(fours_, {x86::rdi, 32});
    code_.bits(x86::Bits::xor_, nothing, nothing, nothing);
    return entry;
  }
  void end(bool first) {
    if (first) {
      code_.pop(x86::rbx);
    } else {
      code_.pop(fours_left_);
      code_.pop(table_);
      code_.clear_upper_halves();
    }
    code_.leave();
  }

  /// What is written between the two is repeated, stage after stage.
  std::size_t begin_stages() const { return code_.size(); }
  void end_stages(std::size_t again) {
    code_.add_to_pointer(forwards_, 8);
    code_.add_to_pointer(backwards_, -8);
    code_.add_to_pointer(fours_, 8 * P::lanes);
    code_.add_to_pointer(row_, bytes(at_.row(1, 0, -1) - at_.row(0, 0, -1)));
    code_.add_to_pointer(count_, -1);
    code_.repeat_unless_zero(again);
  }
  // right = inverse * right
  void multiply_by_inverse() {
    const std::size_t n = p_.equations.size(), rows = at_.height / 4;
    const auto work = static_cast<int>(rows), x = work + 1;  // no other value is in a register
    for (std::size_t j = 0; j < n; ++j) {
      code_.broadcast(x, in_data(at_.right + j).memory);
      for (std::size_t i = 0; i < rows; ++i) {
        const int r = static_cast<int>(i);
        const Memory column = in_data(at_.inverse + j * at_.height + 4 * i).memory;
        code_.packed(Packed::multiply, j == 0 ? r : work, x, column);
        if (j > 0) code_.packed(Packed::add, r, r, work);
      }
    }
    for (std::size_t i = 0; i < rows; ++i) code_.store_four(in_data(at_.right + 4 * i).memory, static_cast<int>(i));
  }

  // ---- values -------------------------------------------------------------------------------------------------------

  Value number(double x) const { return {false, -1, constant(x)}; }
  void drop(Value v) { release(v); }
  Value add(Value a, Value b) { return binary(Scalar::add, a, b, true); }
  Value subtract(Value a, Value b) { return binary(Scalar::subtract, a, b, false); }
  Value times(Value a, Value b) { return binary(Scalar::multiply, a, b, true); }
  Value times(Value a, double factor) { return factor == 1 ? a : times(a, number(factor)); }
  Value divide(Value a, Value b) { return binary(Scalar::divide, a, b, false); }
  Value root(Value a) {
    a = loaded(a);
    code_.scalar(Scalar::sqrt, a.r, a.r, a.r);
    return a;
  }
  Value function(Op op, int a, int b) {
    code_.load(0, zero(a).memory);
    code_.load(1, b >= 0 ? zero(b).memory : constant(0));
    set_number(x86::rdi, static_cast<int>(op));
    code_.call(reinterpret_cast<const void*>(&apply));
    taken_ |= 1u;
    return {true, 0};
  }

  Value zero(int slot) const { return in_data(at_.series_of(slot)); }
  Value at(int slot, int m) const { return in_data(at_.series_of(slot) + static_cast<std::size_t>(m)); }
  void put(int slot, int m, Value v) {
    v = loaded(v);
    code_.store(at(slot, m).memory, v.r);
    code_.store(in_data(at_.back_of(slot) - static_cast<std::size_t>(m)).memory, v.r);
    release(v);
  }
  Value row(Row what, int level) const {
    if (in_first_) return in_data(at_.row(stage_, static_cast<int>(what), level));
    return {false, -1, {row_, bytes(at_.row(0, static_cast<int>(what), level) - at_.row(0, 0, -1))}};
  }
  Value weight(std::size_t k) const { return in_data(at_.weights + k); }
  void set_weight(std::size_t k, Value v) { store(weight(k), v); }
  Value state(int number, int which) const { return in_data(at_.state(number, which)); }
  void set_state(int number, int which, Value v) { store(state(number, which), v); }

  Value newest(int slot) const { return in_data(at_.newest(slot)); }
  void set(int slot, Value v) { store(newest(slot), v); }
  Value read(const P::Operand& o) const {
    if (o.where == P::Where::nothing) return number(0);
    if (o.where == P::Where::stage) return newest(o.slot);
    return {false, -1, {forwards_, bytes(at_.series_of(o.slot)) + 8 * o.level}};
  }
  void keep(int slot, int level, Value v) {
    v = loaded(v);
    const std::int32_t there = bytes(at_.series_of(slot)) + 8 * level, back = bytes(at_.back_of(slot)) - 8 * level;
    code_.store({forwards_, there}, v.r);
    code_.store({backwards_, back}, v.r);
    code_.store({forwards_, there + 8}, nothing);
    code_.store({backwards_, back - 8}, nothing);
    release(v);
  }
  void set_right(std::size_t i, Value v) { store(in_data(at_.right + i), v); }
  Value solution(std::size_t j) const { return in_data(at_.right + j); }
  Value change(int slot) const { return in_data(at_.change + static_cast<std::size_t>(slot)); }
  void set_change(int slot, Value v) { store(change(slot), v); }
  Value set_and_keep_change(int slot, Value v) {
    v = loaded(v);
    code_.store(change(slot).memory, v.r);
    return v;
  }

  Value convolve(std::span<const P::Product> products, int level) {
    const int sums[] = {take(), take()}, work = take(), blocks = SeriesLayout::blocks(version_, level);
    int count = 0;
    for (const P::Product& p : products) {
      const std::int32_t a = bytes(at_.series_of(p.a.slot)), b = bytes(at_.back_of(p.b.slot)) - 8 * level;
      for (int k = 0; k < blocks; ++k, ++count) {
        const int s = sums[count % 2], to = count < 2 && !p.minus ? s : work;
        code_.load_four(to, {base_, a + 32 * k});
        code_.packed(Packed::multiply, to, to, Memory{backwards_, b + 32 * k});
        if (to == s) continue;
        code_.packed(p.minus ? Packed::subtract : Packed::add, s, count < 2 ? nothing : s, work);
      }
    }
    if (count > 1) code_.packed(Packed::add, sums[0], sums[0], sums[1]);
    code_.upper_half(work, sums[0]);
    code_.packed(Packed::add, sums[0], sums[0], work, false);
    code_.second(work, sums[0]);
    code_.scalar(Scalar::add, sums[0], sums[0], work);
    give(work);
    give(sums[1]);
    return {true, sums[0]};
  }

  // ---- fours: a loop over those of a step, with a table of where their operands stand -------------------------------

  Lanes add(Lanes a, Lanes b) { return binary(Packed::add, a, b); }
  Lanes subtract(Lanes a, Lanes b) { return binary(Packed::subtract, a, b); }
  Lanes times(Lanes a, Lanes b) { return binary(Packed::multiply, a, b); }
  Lanes times(Lanes a, double factor) { return factor == 1 ? a : times(a, all(number(factor))); }
  Lanes all(Value v) {
    const int r = take();
    code_.broadcast(r, v.memory);
    return {r};
  }
  Lanes gather(const std::array<P::Operand, P::lanes>& o) {
    return gathered(o[0].where == P::Where::earlier ? forwards_ : base_);
  }
  Lanes states(const std::array<int, P::lanes>&) { return gathered(base_); }
  Lanes newest_four(int) { return from_table(); }
  Lanes zero_four(int) { return from_table(); }
  void set_four(int, Lanes x) {
    code_.store_four({next_place(up_, base_), 0}, x.r);
    give(x.r);
  }
  void fours(const P::Step& step, SeriesRecurrences<SeriesAssembler>& recurrences) {
    code_.address(table_, {0, tables_.at(step.four), true});
    set_number(fours_left_, step.count);
    const std::size_t again = code_.size();
    column_ = 0;
    unrolled_ = step.unrolled();
    for (int k = 0; k < step.length; ++k) recurrences.one_four(step.four + k);
    code_.add_to_pointer(table_, 8 * column_);
    code_.add_to_pointer(fours_left_, -1);
    code_.repeat_unless_zero(again);
  }
  void keep_fours(const P::Step& step, int four, int level) {
    const int r = take();
    const std::size_t first = at_.series_of_four(four);
    code_.address(up_, {base_, bytes(at_.newest_four(four))});
    code_.address(down_, {fours_, bytes(first) + 32 * level});
    set_number(fours_left_, step.count);
    const std::size_t again = code_.size();
    code_.load_four(r, {up_, 0});
    code_.store_four({down_, 0}, r);
    code_.store_four({down_, 32}, nothing);
    code_.add_to_pointer(up_, 32 * step.length);
    code_.add_to_pointer(down_, step.count > 1 ? bytes(at_.series_of_four(four + step.length) - first) : 0);
    code_.add_to_pointer(fours_left_, -1);
    code_.repeat_unless_zero(again);
    give(r);
  }
  Lanes convolve_four(std::span<const P::Product> products, int level) {
    const int sums[] = {take(), take(), take(), take()}, work[] = {take(), take()};
    const int blocks = SeriesLayout::blocks(version_, level);
    for (const int s : sums) code_.bits(x86::Bits::xor_, s, s, s);
    for (const P::Product& p : products) {
      next_place(up_, base_);
      next_place(down_, fours_);
      if (unrolled_) {
        add_products(p, level, sums, work);
        continue;
      }
      set_number(left_, blocks);
      const std::size_t again = code_.size();
      for (int i = 0; i < 4; ++i) add_product(p, level, i, sums[i % 4], work[i % 2], [](int) {});
      code_.add_to_pointer(up_, 128);
      code_.add_to_pointer(down_, -128);
      code_.add_to_pointer(left_, -1);
      code_.repeat_unless_zero(again);
    }
    code_.packed(Packed::add, sums[0], sums[0], sums[1]);
    code_.packed(Packed::add, sums[2], sums[2], sums[3]);
    code_.packed(Packed::add, sums[0], sums[0], sums[2]);
    for (const int r : {sums[1], sums[2], sums[3], work[0], work[1]}) give(r);
    return {sums[0]};
  }

  Value choice(const P::Operation& op) {
    Value v = loaded(read(op.a));
    const P::Operand* const others[] = {&op.b, &op.c};
    for (int k = 0; k < 2; ++k) {
      if (others[k]->slot < 0) continue;
      const Value other = loaded(read(*others[k])), flag = loaded(state(op.state, 1 + k));
      code_.blend(v.r, v.r, other.r, flag.r);
      release(other);
      release(flag);
    }
    return times(v, state(op.state, 0));
  }
  void first_choice(std::size_t k, int m) {
    code_.set_pointer(x86::rdi, tape_);
    set_number(x86::rsi, static_cast<int>(k));
    set_number(x86::rdx, m);
    code_.call(reinterpret_cast<const void*>(first_choice_));
  }

 private:
  // up_ and down_ point to the two series; what a four of the first is multiplied by besides.
  template <class Besides>
  void add_product(const P::Product& p, int level, int i, int sum, int work, Besides&& besides) {
    code_.load_four(work, {up_, 32 * i});
    besides(work);
    code_.packed(Packed::multiply, work, work, Memory{down_, 32 * (level - i)});
    code_.packed(p.minus ? Packed::subtract : Packed::add, sum, sum, work);
  }
  void add_products(const P::Product& p, int level, const int (&sums)[4], const int (&work)[2]) {
    const auto [first, last] = SeriesLayout::orders(version_, level, p);
    const bool square = p.a.slot == p.b.slot;
    const int middle = SeriesLayout::middle(version_, level);
    for (int i = first; i < (square ? middle : last + 1); ++i)
      add_product(p, level, i, sums[i % 4], work[i % 2], [&](int w) {
        if (square) code_.packed(Packed::add, w, w, w);
      });
    for (int k = 0; square && k < SeriesLayout::in_the_middle; ++k) {
      const int i = middle + k, often = take();
      const auto what = static_cast<int>(Row::middle) + k;
      code_.broadcast(often, {row_, bytes(at_.row(0, what, level) - at_.row(0, 0, -1))});
      add_product(p, level, i, sums[i % 4], work[i % 2], [&](int w) { code_.packed(Packed::multiply, w, w, often); });
      give(often);
    }
  }

  static double apply(double a, double b, std::size_t op) { return apply_op(static_cast<Op>(op), a, b); }
  static constexpr int nothing = 15;  // a register full of zeros, in the later stages
  static constexpr std::uint8_t forwards_ = x86::rax, backwards_ = x86::rcx, row_ = x86::rdx, count_ = x86::r8,
                                fours_ = x86::r9, up_ = x86::r10, down_ = x86::r11, left_ = x86::rdi, table_ = x86::rbx,
                                fours_left_ = x86::rbp;

  static std::int32_t bytes(std::size_t place) { return static_cast<std::int32_t>(8 * place); }
  Value in_data(std::size_t place) const { return {false, -1, {base_, bytes(place)}}; }

  // Every number that operations are multiplied by, before the first function.
  void write_constants() {
    const auto want = [&](double x) {
      const auto [found, fresh] = constants_.try_emplace(std::bit_cast<std::uint64_t>(x), 0);
      if (!fresh) return;
      found->second = static_cast<std::int32_t>(code_.size());
      code_.append(found->first);
    };
    for (const double x : {0.0, 0.5, 1.0, -1.0}) want(x);
    for (const P::Operation& op : p_.operations) want(op.constant);
    for (const P::Linear& l : p_.linear) want(l.factor);
    for (const P::Group& g : p_.groups) want(g.factor);
    for (const P::Part& part : p_.parts) want(part.factor);
    SeriesPlaces places(p_, at_);
    SeriesRecurrences<SeriesPlaces> recurrences(p_, places);
    for (const P::Step& step : p_.steps) {
      if (step.four < 0) continue;
      tables_[step.four] = static_cast<std::int32_t>(code_.size());
      for (int k = 0; k < step.fours(); ++k) recurrences.one_four(step.four + k);
      for (const std::size_t place : places.found) code_.append(static_cast<std::int64_t>(8 * place));
      places.found.clear();
    }
  }
  Memory constant(double x) const { return {0, constants_.at(std::bit_cast<std::uint64_t>(x)), true}; }

  int take() {
    int r = 0;
    while (taken_ >> r & 1u) ++r;
    taken_ |= 1u << r;
    return r;
  }
  void give(int r) { taken_ &= ~(1u << r); }
  void release(Value v) {
    if (v.loaded) give(v.r);
  }
  Value loaded(Value v) {
    if (v.loaded) return v;
    const int r = take();
    code_.load(r, v.memory);
    return {true, r};
  }
  Value binary(Scalar op, Value a, Value b, bool commutes) {
    if (commutes && !a.loaded && b.loaded) std::swap(a, b);
    a = loaded(a);
    if (b.loaded)
      code_.scalar(op, a.r, a.r, b.r);
    else
      code_.scalar(op, a.r, a.r, b.memory);
    release(b);
    return a;
  }
  void set_number(int to, int value) {
    code_.set_pointer(to, reinterpret_cast<const void*>(static_cast<std::intptr_t>(value)));
  }
  // The next place of the table, counted from a pointer.
  std::uint8_t next_place(std::uint8_t to, std::uint8_t from) {
    code_.load_pointer(to, {table_, 8 * column_++});
    code_.add_pointers(to, from);
    return to;
  }
  Lanes from_table() {
    const int r = take();
    code_.load_four(r, {next_place(up_, base_), 0});
    return {r};
  }
  Lanes gathered(std::uint8_t from) {
    const int low = take(), high = take();
    code_.load(low, {next_place(up_, from), 0});
    code_.load_second(low, low, {next_place(up_, from), 0});
    code_.load(high, {next_place(up_, from), 0});
    code_.load_second(high, high, {next_place(up_, from), 0});
    code_.join(low, low, high);
    give(high);
    return {low};
  }
  Lanes binary(Packed op, Lanes a, Lanes b) {
    code_.packed(op, a.r, a.r, b.r);
    give(b.r);
    return a;
  }
  void store(Value to, Value v) {
    v = loaded(v);
    code_.store(to.memory, v.r);
    release(v);
  }

  const SeriesProgram& p_;
  const SeriesLayout& at_;
  void* tape_;
  SeriesCode::FirstChoice first_choice_;
  x86::Code code_;
  std::map<std::uint64_t, std::int32_t> constants_;
  std::map<int, std::int32_t> tables_;       // of steps, by their first four: where operands stand, four after four
  std::int32_t column_ = 0;                  // of the table
  bool in_first_ = true, unrolled_ = false;  // sums of products of fours: without a loop
  int stage_ = 0, version_ = 0;
  std::uint8_t base_ = x86::rbx;
  unsigned taken_ = 0;
};

}  // namespace hinge
