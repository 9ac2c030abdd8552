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
  using Order = SeriesRecurrences<SeriesNumbers>::Order;

  SeriesNumbers(const SeriesProgram& program, const SeriesLayout& layout, double* data, int stage)
      : p_(program), at_(layout), data_(data), stage_(stage) {}

  double number(double x) const { return x; }
  void drop(double) const {}
  double add(double a, double b) const { return a + b; }
  double subtract(double a, double b) const { return a - b; }
  double twice(double a) const { return a + a; }
  double times(double a, double b) const { return a * b; }
  double divide(double a, double b) const { return a / b; }
  double root(double a) const { return std::sqrt(a); }
  double function(Op op, int a, int b) const { return apply_op(op, zero(a), b >= 0 ? zero(b) : 0.0); }

  double zero(int slot) const { return data_[at_.series_of(slot)]; }
  double at(int slot, int m) const { return data_[at_.series_of(slot) + static_cast<std::size_t>(m)]; }
  void put(int slot, int m, double x) { data_[at_.series_of(slot) + static_cast<std::size_t>(m)] = x; }
  double row(Row what, int level) const { return data_[at_.row(stage_, static_cast<int>(what), level)]; }
  double weight(std::size_t k) const { return data_[at_.weights + k]; }
  void set_weight(std::size_t k, double x) { data_[at_.weights + k] = x; }
  double state(int number, int which) const { return data_[at_.state(number, which)]; }
  void set_state(int number, int which, double x) { data_[at_.state(number, which)] = x; }

  const SeriesLayout& layout() const { return at_; }
  int stage() const { return stage_; }
  /// Within its block of stages; -1 before the first one.
  int position() const { return stage_ < p_.first_block ? -1 : (stage_ - p_.first_block) % P::block; }
  double coefficient(int slot, Order o) const { return at(slot, o.ahead ? stage_ + o.order : o.order); }
  double block_sum(std::size_t sums) const { return data_[sums + static_cast<std::size_t>(position())]; }

  double newest(int slot) const { return data_[place(at_.newest(slot))]; }
  void set(int slot, double x) {
    if (at_.beside(slot)) data_[static_cast<std::size_t>(slot)] = x;
    if (at_.kept(slot)) data_[place(at_.in_series(slot))] = x;
  }
  double read(const P::Operand& o) const {
    if (o.where == P::Where::nothing) return 0;
    return o.where == P::Where::stage ? newest(o.slot) : at(o.slot, stage_ + o.level);
  }
  void keep(int slot, int level, double x) { put(slot, stage_ + level, x); }
  void set_right(std::size_t i, double x) { data_[at_.right + i] = x; }
  double solution(std::size_t j) const { return data_[at_.right + j]; }
  double change(int slot) const { return data_[at_.change + static_cast<std::size_t>(slot)]; }
  void set_change(int slot, double x) { data_[at_.change + static_cast<std::size_t>(slot)] = x; }
  double set_and_keep_change(int slot, double x) {
    set_change(slot, x);
    return x;
  }

  // Terms go to two sums in turn.
  void make_block_sum(std::span<const P::Product> products, int level, std::size_t to) {
    double sum[2][P::block]{};
    for (const P::Product& p : products) {
      const SeriesBlocks terms(p_, p, level, version());
      const double* const a = data_ + at_.series_of(p.a.slot);
      const double* const b = data_ + at_.series_of(p.b.slot);
      int count = 0;
      terms.for_each([&](int i) {
        double* const s = sum[count++ % 2];
        const double both = terms.plain_at(i) ? terms.twice ? a[i] + a[i] : a[i] : 0;
        for (int j = 0; j < P::block; ++j) {
          const double known = terms.known(i, j) ? b[terms.m + j - i] : 0.0;
          const double x = (terms.plain_at(i) ? both : a[i] * terms.times(i, j)) * known;
          s[j] = p.minus ? s[j] - x : s[j] + x;
        }
      });
    }
    for (std::size_t j = 0; j < P::block; ++j) data_[to + j] = sum[0][j] + sum[1][j];
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
  Lanes twice(const Lanes& a) const { return add(a, a); }
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
  void set_four(int four, int level, const Lanes& x) {
    if (p_.fours[static_cast<std::size_t>(four)].beside) put_four(at_.newest_four(four), x);
    if (p_.fours[static_cast<std::size_t>(four)].series) put_four(place(at_.in_series_of_four(four, level)), x);
  }
  void fours(const P::Step& step, SeriesRecurrences<SeriesNumbers>& recurrences) {
    for (int k = 0; k < step.fours(); ++k) recurrences.one_four(step.four + k);
  }
  const double* series(int four) const { return data_ + at_.series_of_four(four); }
  Lanes coefficient(const double* series, Order o) const {
    return four_at(series + P::lanes * (o.ahead ? stage_ + o.order : o.order));
  }
  const double* four_sum(int four, int number) const { return data_ + sums_of(four, number); }
  Lanes block_sum(const double* sums) const { return four_at(sums + P::lanes * position()); }
  void block_of_fours(const P::Step& step, SeriesRecurrences<SeriesNumbers>& recurrences) {
    for (int k = 0; k < step.fours(); ++k) recurrences.block_of_four(step.four + k);
  }
  void make_block_sum_of_four(int four, int number, std::span<const P::Product> products, int level) {
    Lanes sum[P::block]{};
    for (const P::Product& p : products) {
      const SeriesBlocks terms(p_, p, level, version());
      const double* const a = series(four_of(p.a.slot));
      const double* const b = series(four_of(p.b.slot));
      terms.for_each([&](int i) {
        for (int j = 0; j < P::block; ++j) {
          const int times = terms.times(i, j);
          if (times == 0) continue;
          const Lanes once = four_at(a + P::lanes * i);
          const Lanes x = this->times(times == 2 ? twice(once) : once, four_at(b + P::lanes * (terms.m + j - i)));
          Lanes& s = sum[j];
          s = p.minus ? subtract(s, x) : add(s, x);
        }
      });
    }
    for (std::size_t j = 0; j < P::block; ++j) put_four(sums_of(four, number) + P::lanes * j, sum[j]);
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
  std::size_t place(SeriesLayout::Newest n) const { return n.place + static_cast<std::size_t>(n.step * stage_); }
  int version() const { return (stage_ - p_.first_block) / P::block; }
  int four_of(int slot) const { return p_.lane_of[static_cast<std::size_t>(slot)].four; }
  std::size_t sums_of(int four, int number) const {
    return at_.sums_of_four(four) + SeriesLayout::sums_of_a_four * static_cast<std::size_t>(number);
  }
  template <class Make>
  static Lanes each(Make&& make) {
    return {make(0), make(1), make(2), make(3)};
  }
  Lanes four_at(const double* place) const {
    return each([&](std::size_t i) { return place[i]; });
  }
  void put_four(std::size_t place, const Lanes& x) { std::copy(x.begin(), x.end(), data_ + place); }

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
};

}  // namespace hinge
