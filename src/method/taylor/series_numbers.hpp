// The recurrences of series, computed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "expression/table.hpp"
#include "method/taylor/series_layout.hpp"
#include "method/taylor/series_recurrences.hpp"

namespace hinge {

class SeriesNumbers {
  using P = SeriesProgram;

 public:
  using Value = double;
  using Lanes = std::array<double, P::lanes>;
  using Row = SeriesRecurrences<SeriesNumbers>::Row;

  SeriesNumbers(const SeriesProgram& program, const SeriesLayout& layout, double* data, int stage)
      : p_(program), at_(layout), data_(data), stage_(stage) {}

  double number(double x) const { return x; }
  void drop(double) const {}
  double add(double a, double b) const { return a + b; }
  double subtract(double a, double b) const { return a - b; }
  double times(double a, double b) const { return a * b; }
  double divide(double a, double b) const { return a / b; }
  double root(double a) const { return std::sqrt(a); }
  double function(Op op, int a, int b) const { return apply_op(op, zero(a), b >= 0 ? zero(b) : 0.0); }

  double zero(int slot) const { return data_[at_.series_of(slot)]; }
  double at(int slot, int m) const { return data_[at_.series_of(slot) + static_cast<std::size_t>(m)]; }
  void put(int slot, int m, double x) {
    data_[at_.series_of(slot) + static_cast<std::size_t>(m)] = x;
    data_[at_.back_of(slot) - static_cast<std::size_t>(m)] = x;
  }
  double row(Row what, int level) const { return data_[at_.row(stage_, static_cast<int>(what), level)]; }
  double weight(std::size_t k) const { return data_[at_.weights + k]; }
  void set_weight(std::size_t k, double x) { data_[at_.weights + k] = x; }
  double state(int number, int which) const { return data_[at_.state(number, which)]; }
  void set_state(int number, int which, double x) { data_[at_.state(number, which)] = x; }

  double newest(int slot) const { return data_[at_.newest(slot)]; }
  void set(int slot, double x) { data_[at_.newest(slot)] = x; }
  double read(const P::Operand& o) const {
    if (o.where == P::Where::nothing) return 0;
    return o.where == P::Where::stage ? newest(o.slot) : at(o.slot, stage_ + o.level);
  }
  void keep(int slot, int level, double x) {
    put(slot, stage_ + level, x);
    put(slot, stage_ + level + 1, 0);
  }
  void set_right(std::size_t i, double x) { data_[at_.right + i] = x; }
  double solution(std::size_t j) const { return data_[at_.right + j]; }
  double change(int slot) const { return data_[at_.change + static_cast<std::size_t>(slot)]; }
  void set_change(int slot, double x) { data_[at_.change + static_cast<std::size_t>(slot)] = x; }
  double set_and_keep_change(int slot, double x) {
    set_change(slot, x);
    return x;
  }

  // Two sums of four numbers each, which take the blocks in turn.
  double convolve(std::span<const P::Product> products, int level) const {
    Four sum[2]{};
    const int blocks = SeriesLayout::blocks(SeriesLayout::version(stage_), level);
    int count = 0;
    for (const P::Product& p : products) {
      const double* const a = data_ + at_.series_of(p.a.slot);
      const double* const b = data_ + at_.back_of(p.b.slot) - (stage_ + level);
      for (int k = 0; k < blocks; ++k, ++count) {
        const Four x = Four::product(a + 4 * k, b + 4 * k);
        Four& s = sum[count % 2];
        if (count < 2)
          s = count == 0 || !p.minus ? x : x.negative();
        else
          s.add(x, p.minus);
      }
    }
    if (count > 1) sum[0].add(sum[1], false);
    return sum[0].total();
  }

  // ---- four operations at once --------------------------------------------------------------------------------------

  Lanes add(const Lanes& a, const Lanes& b) const {
    return each([&](std::size_t i) { return a[i] + b[i]; });
  }
  Lanes subtract(const Lanes& a, const Lanes& b) const {
    return each([&](std::size_t i) { return a[i] - b[i]; });
  }
  Lanes times(const Lanes& a, const Lanes& b) const {
    return each([&](std::size_t i) { return a[i] * b[i]; });
  }
  Lanes times(const Lanes& a, double b) const {
    return each([&](std::size_t i) { return a[i] * b; });
  }
  Lanes all(double x) const { return {x, x, x, x}; }
  Lanes gather(const std::array<P::Operand, P::lanes>& o) const {
    return each([&](std::size_t i) { return read(o[i]); });
  }
  Lanes states(const std::array<int, P::lanes>& numbers) const {
    return each([&](std::size_t i) { return state(numbers[i], 0); });
  }
  Lanes newest_four(int four) const { return four_at(at_.newest_four(four)); }
  Lanes zero_four(int four) const { return four_at(at_.series_of_four(four)); }
  void set_four(int four, const Lanes& x) { put_four(at_.newest_four(four), x); }
  void fours(const P::Step& step, SeriesRecurrences<SeriesNumbers>& recurrences) {
    unrolled_ = step.unrolled();
    for (int k = 0; k < step.fours(); ++k) recurrences.one_four(step.four + k);
  }
  void keep_fours(const P::Step& step, int first, int level) {
    for (int four = first; four < step.four + step.fours(); four += step.length) {
      const std::size_t place = at_.series_of_four(four) + static_cast<std::size_t>(P::lanes * (stage_ + level));
      put_four(place, newest_four(four));
      put_four(place + P::lanes, {});
    }
  }
  Lanes convolve_four(std::span<const P::Product> products, int level) const {
    Lanes sum[4]{};
    const int version = SeriesLayout::version(stage_), m = stage_ + level;
    for (const P::Product& p : products) {
      const auto term = [&](int i, double times) {
        const double* const a = four_series(p.a.slot) + P::lanes * i;
        const double* const b = four_series(p.b.slot) + P::lanes * (m - i);
        Lanes& s = sum[i % 4];
        for (std::size_t l = 0; l < P::lanes; ++l) {
          const double x = a[l] * times * b[l];
          s[l] = p.minus ? s[l] - x : s[l] + x;
        }
      };
      auto [first, last] = SeriesLayout::orders(version, level, p);
      if (!unrolled_) first = 0, last = 4 * SeriesLayout::blocks(version, level) - 1;
      const bool square = unrolled_ && p.a.slot == p.b.slot;
      const int middle = SeriesLayout::middle(version, level);
      for (int i = first; i < (square ? middle : last + 1); ++i) term(i, square ? 2 : 1);
      for (int k = 0; square && k < SeriesLayout::in_the_middle; ++k)
        term(middle + k, data_[at_.row(stage_, static_cast<int>(Row::middle) + k, level)]);
    }
    return add(add(sum[0], sum[1]), add(sum[2], sum[3]));
  }

  double choice(const P::Operation& op) const {
    const P::Operand& o = chosen_second(op) ? op.b : chosen_third(op) ? op.c : op.a;
    return read(o) * state(op.state, 0);
  }

  // What holds at t0 holds for the whole series: steps end where it changes.
  void first_choice(std::size_t k, int m) {
    const P::Operation& op = p_.operations[k];
    const int a = op.a.slot, b = op.b.slot;
    switch (op.kind) {
      case P::Kind::step: return put(op.result, m, m == 0 ? function(op.function, a, b) : 0.0);
      case P::Kind::offset: return put(op.result, m, m == 0 ? begin_piece(op) : at(a, m));
      case P::Kind::cubic:
        return put(op.result, m,
                   (m == 0 ? state(op.state, 0) : 0.0) + state(op.state, 1) * at(a, m) + state(op.state, 2) * at(b, m) +
                       state(op.state, 3) * at(op.c.slot, m));
      default: break;
    }
    if (m == 0) begin_choice(op);
    const int slot = chosen_second(op) ? b : chosen_third(op) ? op.c.slot : a;
    put(op.result, m, at(slot, m) * state(op.state, 0));
  }

 private:
  typedef double Pair __attribute__((vector_size(16)));
  struct Four {
    Pair low{}, high{};
    static Four product(const double* a, const double* b) {
      Pair x[2], y[2];
      std::memcpy(x, a, sizeof x);
      std::memcpy(y, b, sizeof y);
      return {x[0] * y[0], x[1] * y[1]};
    }
    Four negative() const { return {Pair{} - low, Pair{} - high}; }
    void add(const Four& x, bool minus) {
      low = minus ? low - x.low : low + x.low;
      high = minus ? high - x.high : high + x.high;
    }
    double total() const {
      const Pair sum = low + high;
      return sum[0] + sum[1];
    }
  };

  template <class Make>
  static Lanes each(Make&& make) {
    return {make(0), make(1), make(2), make(3)};
  }
  Lanes four_at(std::size_t place) const {
    return each([&](std::size_t i) { return data_[place + i]; });
  }
  void put_four(std::size_t place, const Lanes& x) { std::copy(x.begin(), x.end(), data_ + place); }
  const double* four_series(int slot) const {
    return data_ + at_.series_of_four(p_.lane_of[static_cast<std::size_t>(slot)].four);
  }

  // States of choices: the factor of what is chosen; then, as bits that are all set or none, is it the second, or the
  // third? Then the weights of the three.
  static double flag(bool on) {
    double x = 0;
    if (on) std::memset(&x, 0xFF, sizeof x);
    return x;
  }
  static bool on(double x) { return std::isnan(x); }
  bool chosen_second(const P::Operation& op) const { return on(state(op.state, 1)); }
  bool chosen_third(const P::Operation& op) const { return on(state(op.state, 2)); }
  void begin_choice(const P::Operation& op) {
    const double a = zero(op.a.slot), b = op.b.slot >= 0 ? zero(op.b.slot) : 0.0;
    int which = 0;
    switch (op.function) {
      case Op::abs: break;
      case Op::min: which = b < a ? 1 : 0; break;
      case Op::max: which = b > a ? 1 : 0; break;
      default: which = a != 0 ? 1 : 2; break;  // select
    }
    set_state(op.state, 0, op.function == Op::abs && a < 0 ? -1 : 1);
    set_state(op.state, 1, flag(which == 1));
    set_state(op.state, 2, flag(which == 2));
    for (int k = 0; k < 3; ++k) set_state(op.state, 3 + k, k == which ? state(op.state, 0) : 0.0);
  }
  double begin_piece(const P::Operation& op) {
    const Table& table = *p_.tables[static_cast<std::size_t>(op.state)];
    const double x = zero(op.a.slot);
    double origin = 0;
    const Table::Cubic polynomial = table.polynomial(table.piece(x), origin);
    for (int k = 0; k < 4; ++k) set_state(op.state, k, polynomial[static_cast<std::size_t>(k)]);
    if (std::isnan(table(x))) set_state(op.state, 0, std::numeric_limits<double>::quiet_NaN());  // outside of it
    return x - origin;
  }

  const SeriesProgram& p_;
  const SeriesLayout& at_;
  double* data_;
  int stage_;
  bool unrolled_ = false;  // sums of products of fours
};

}  // namespace hinge
