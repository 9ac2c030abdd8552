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

  SeriesPlaces(const SeriesProgram& program, const SeriesLayout& layout) : p_(program), at_(layout) {}
  std::vector<std::size_t> found;

  Lanes add(Lanes, Lanes) { return {}; }
  Lanes subtract(Lanes, Lanes) { return {}; }
  Lanes times(Lanes, Lanes) { return {}; }
  Lanes times(Lanes, double) { return {}; }
  Value row(Row, int) { return {}; }
  Lanes all(Value) { return {}; }
  Lanes gather(const std::array<P::Operand, P::lanes>& operands) {
    for (const P::Operand& o : operands)
      found.push_back(o.where == P::Where::stage ? at_.newest(o.slot)
                                                 : at_.series_of(o.slot) + static_cast<std::size_t>(o.level));
    return {};
  }
  Lanes states(const std::array<int, P::lanes>& numbers) {
    for (const int n : numbers) found.push_back(at_.state(n, 0));
    return {};
  }
  Lanes newest_four(int four) { return at(at_.newest_four(four)); }
  Lanes zero_four(int four) { return at(at_.series_of_four(four)); }
  void set_four(int four, Lanes) { at(at_.newest_four(four)); }
  Lanes convolve_four(std::span<const P::Product> products, int) {
    for (const P::Product& p : products)
      for (const int slot : {p.a.slot, p.b.slot})
        at(at_.series_of_four(p_.lane_of[static_cast<std::size_t>(slot)].four));
    return {};
  }

 private:
  Lanes at(std::size_t place) {
    found.push_back(place);
    return {};
  }
  const SeriesProgram& p_;
  const SeriesLayout& at_;
};

}  // namespace hinge
