// Where the numbers of a series stand: all in one array, so that machine code has one address to remember.
//
//   newest        of each slot: the coefficient of this stage, until it is complete
//   change        of each slot: its correction X
//   weights       dr/da, of each part of a completion
//   right         -F of the equations, then X of the unknowns; with room for whole blocks of four
//   inverse       of the system Jacobian, where it is small: column by column, each in whole blocks of four
//   states        of choices, tables, quotients and roots
//   rows          numbers of each stage for each level (SeriesRecurrences::Row)
//   series        coefficients of each slot forwards, with room for eight more; then backwards, with zeros behind
//   fours         newest coefficients of four operations that are done at once; and those of all orders, four by four,
//                 forwards, with eight times four zeros before
#pragma once

#include <cstddef>
#include <vector>

#include "method/taylor/series_program.hpp"

namespace hinge {

struct SeriesLayout {
  static constexpr int block = 4, kinds_of_rows = 6;
  /// Systems of at most so many equations are solved by the inverse matrix.
  static constexpr int most_inverted = 24;

  SeriesLayout(const SeriesProgram& p, int last)
      : levels(p.most + 2), first_stage(-p.most), last_stage(last), height(whole(p.equations.size())) {
    const auto slots = static_cast<std::size_t>(p.slots);
    inverts = !p.equations.empty() && p.equations.size() <= most_inverted;
    change = whole(slots);
    weights = change + whole(slots);
    right = weights + whole(p.parts.size());
    inverse = right + height;
    states = inverse + (inverts ? height * p.equations.size() : 0);
    rows = states + whole(static_cast<std::size_t>(p.states() * SeriesProgram::numbers_of_state));
    series = rows + whole(static_cast<std::size_t>((last_stage - first_stage + 1) * kinds_of_rows * levels));
    const int orders = last_stage + p.most + 2;
    back = static_cast<int>(whole(static_cast<std::size_t>(2 * orders + 8)));
    stride = static_cast<std::size_t>(back) + 8;
    size = series + slots * stride;
    newest_of.resize(slots);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const auto [four, number] = p.lane_of[slot];
      newest_of[slot] = four < 0 ? slot : size + static_cast<std::size_t>(SeriesProgram::lanes * four + number);
    }
    fours = size;
    size += SeriesProgram::lanes * p.fours.size();
    for (const auto& four : p.fours) {
      four_series.push_back(size + 8 * SeriesProgram::lanes);
      if (four.series) size += static_cast<std::size_t>(orders + 16) * SeriesProgram::lanes;
    }
  }

  static std::size_t whole(std::size_t n) { return (n + block - 1) / block * block; }
  std::size_t newest(int slot) const { return newest_of[static_cast<std::size_t>(slot)]; }
  std::size_t newest_four(int four) const { return fours + static_cast<std::size_t>(SeriesProgram::lanes * four); }
  std::size_t series_of_four(int four) const { return four_series[static_cast<std::size_t>(four)]; }
  /// The coefficient of order zero; that of order m stands m places behind it, and m places before back_of.
  std::size_t series_of(int slot) const { return series + static_cast<std::size_t>(slot) * stride; }
  std::size_t back_of(int slot) const { return series_of(slot) + static_cast<std::size_t>(back); }
  std::size_t row(int stage, int what, int level) const {
    return rows + static_cast<std::size_t>(((stage - first_stage) * kinds_of_rows + what) * levels + level + 1);
  }
  std::size_t state(int number, int which) const {
    return states + static_cast<std::size_t>(number * SeriesProgram::numbers_of_state + which);
  }
  /// Stages are evaluated with sums of the same length four at a time; stage 1 is one of the first.
  static int version(int stage) { return (stage - 1) / block; }
  static int last_of(int version) { return block * version + block; }
  static int blocks(int version, int level) { return (last_of(version) + level) / block + 1; }
  /// Fours that are written down without loops: orders i of a and m - i of b, from the first one to the last.
  struct Orders {
    int first, last;
  };
  static Orders orders(int version, int level, const SeriesProgram::Product& p) {
    const auto known = [](const SeriesProgram::Operand& o) { return o.where == SeriesProgram::Where::earlier; };
    return {known(p.b) ? 0 : 1, last_of(version) + level - (known(p.a) ? 0 : 1)};
  }
  /// Those of a square a a: below this one products count twice, in all stages of the version; of two from there on a
  /// row says how often.
  static int middle(int version, int level) { return (block * version + 2 + level) / 2; }
  static constexpr int in_the_middle = 2;
  static double times_in_the_middle(int stage, int level, int which) {
    const int m = stage + level, i = middle(version(stage), level) + which;
    return 2 * i < m ? 2 : 2 * i == m ? 1 : 0;
  }

  int levels, first_stage, last_stage, back;
  std::size_t height, change, weights, right, inverse, states, rows, series, stride, fours, size;
  std::vector<std::size_t> newest_of, four_series;
  bool inverts;
};

}  // namespace hinge
