// Where the operands of four operations that are done at once stand: tables for series_code.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "method/taylor/series_layout.hpp"
#include "method/taylor/series_recurrences.hpp"

namespace hinge {

// A machine that finds out where the operands of a four stand, in the order in which the code asks for them.
class SeriesPlaces {
  using P = SeriesProgram;

 public:
  struct Value {};
  using Lanes = Value;
  using Row = SeriesRecurrences<SeriesPlaces>::Row;
  using Order = SeriesRecurrences<SeriesPlaces>::Order;

  SeriesPlaces(const SeriesProgram& program, const SeriesLayout& layout) : p_(program), at_(layout) {}
  std::vector<std::size_t> found;

  const SeriesLayout& layout() const { return at_; }
  int stage() const { return 0; }
  int position() const { return 0; }
  Value number(double) { return {}; }
  Lanes add(Lanes, Lanes) { return {}; }
  Lanes subtract(Lanes, Lanes) { return {}; }
  Lanes twice(Lanes) { return {}; }
  Lanes times(Lanes, Lanes) { return {}; }
  Lanes times(Lanes, double) { return {}; }
  Value row(Row, int) { return {}; }
  Lanes all(Value) { return {}; }
  Lanes gather(const std::array<P::Operand, P::lanes>& operands) {
    for (const P::Operand& o : operands)
      found.push_back(o.where == P::Where::stage ? at_.newest(o.slot).place : at_.at_level(o.slot, o.level));
    return {};
  }
  Lanes states(const std::array<int, P::lanes>& numbers) {
    for (const int n : numbers) found.push_back(at_.state(n, 0));
    return {};
  }
  Value series(int four) { return at(at_.series_of_four(four)); }
  Lanes coefficient(Value, Order) { return {}; }
  Value four_sum(int four, int number) {
    return at(at_.sums_of_four(four) + SeriesLayout::sums_of_a_four * static_cast<std::size_t>(number));
  }
  Lanes block_sum(Value) { return {}; }
  void set_four(int four, int level, Lanes) {
    if (p_.fours[static_cast<std::size_t>(four)].beside) at(at_.newest_four(four));
    if (p_.fours[static_cast<std::size_t>(four)].series) at(at_.in_series_of_four(four, level).place);
  }
  void make_block_sum_of_four(int four, int number, std::span<const P::Product> products, int) {
    four_sum(four, number);
    for (const P::Product& p : products)
      for (const int slot : {p.a.slot, p.b.slot}) series(p_.lane_of[static_cast<std::size_t>(slot)].four);
  }

 private:
  Value at(std::size_t place) {
    found.push_back(place);
    return {};
  }
  const SeriesProgram& p_;
  const SeriesLayout& at_;
};

}  // namespace hinge
