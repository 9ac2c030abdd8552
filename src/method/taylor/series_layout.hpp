// Where the numbers of a series stand: all in one array, so that machine code has one address to remember.
//
//   newest        of slots whose earlier coefficients nobody asks for: that of this stage
//   change        of each slot: its correction X
//   weights       dr/da, of each part of a completion
//   right         -F of the equations, then X of the unknowns; with room for whole blocks of four
//   inverse       of the system Jacobian, where it is small: column by column, each in whole blocks of four
//   states        of choices, tables, quotients and roots
//   sums          of a block of stages: of each group of products, and of each quotient and root, four numbers
//   rows          numbers of each stage for each level (SeriesRecurrences::Row)
//   series        coefficients of each slot, with zeros before and room behind
//   clusters      of operations that are done four at a time: their series in fours, or the newest four alone, and
//   their
//                 sums; those of a step are alike, one behind the other
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "method/taylor/series_program.hpp"

namespace hinge {

struct SeriesLayout {
  static constexpr int block = SeriesProgram::block, kinds_of_rows = 4;
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
    sums = states + whole(static_cast<std::size_t>(p.states() * SeriesProgram::numbers_of_state));
    rows = sums + block * (p.groups.size() + static_cast<std::size_t>(p.states()));
    series = rows + whole(static_cast<std::size_t>((last_stage - first_stage + 1) * kinds_of_rows * levels));
    const auto length = static_cast<std::size_t>(before + last_stage + p.most + 2 + block);  // of a series
    stride = whole(length);
    size = series + slots * stride;
    group_count = p.groups.size();
    place_clusters(p, length);
    for (int slot = 0; slot < p.slots; ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      const auto [four, number] = p.lane_of[at];
      SlotPlace here{{at, 0}, {}, p.kept[at] && four < 0 && p.level_of[at] < SeriesProgram::always, true};
      if (here.kept) {
        here.in_series = {at_level(slot, p.level_of[at]), 1};
        if (!p.gathered[at]) here.beside = false, here.newest = here.in_series;
      }
      if (four >= 0) {
        const bool beside = p.fours[static_cast<std::size_t>(four)].beside;
        here.newest = beside ? Newest{newest_four(four), 0} : in_series_of_four(four, p.level_of[at]);
        here.newest.place += static_cast<std::size_t>(number);
      }
      slot_places.push_back(here);
    }
  }

  static std::size_t whole(std::size_t n) { return (n + block - 1) / block * block; }
  /// A number of each stage: `step` places further from one stage to the next.
  struct Newest {
    std::size_t place;
    int step;
  };
  Newest newest(int slot) const { return of(slot).newest; }
  /// It is written to its series; it is written beside it.
  bool kept(int slot) const { return of(slot).kept; }
  bool beside(int slot) const { return of(slot).beside; }
  Newest in_series(int slot) const { return of(slot).in_series; }
  std::size_t newest_four(int four) const { return four_places[static_cast<std::size_t>(four)].newest; }
  Newest in_series_of_four(int four, int level) const {
    return {static_cast<std::size_t>(static_cast<std::ptrdiff_t>(series_of_four(four)) + SeriesProgram::lanes * level),
            SeriesProgram::lanes};
  }
  /// The coefficients of order zero; those of order m stand 4 m places behind them.
  std::size_t series_of_four(int four) const { return four_places[static_cast<std::size_t>(four)].series; }
  /// Those of a step stand one behind the other.
  std::size_t begin_of_four(int four) const { return four_places[static_cast<std::size_t>(four)].begin; }
  /// Of its first group of products, or of its quotients: sixteen numbers; those of the next group behind them.
  std::size_t sums_of_four(int four) const { return four_places[static_cast<std::size_t>(four)].sums; }
  static constexpr std::size_t sums_of_a_four = block * SeriesProgram::lanes;
  std::size_t sums_of_group(int g) const { return sums + static_cast<std::size_t>(block * g); }
  std::size_t sums_of_state(int s) const { return sums + block * (group_count + static_cast<std::size_t>(s)); }
  /// The coefficient of order zero; that of order m stands m places behind it.
  std::size_t series_of(int slot) const { return series + static_cast<std::size_t>(slot) * stride + before; }
  std::size_t at_level(int slot, int level) const {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(series_of(slot)) + level);
  }
  std::size_t row(int stage, int what, int level) const {
    return rows + static_cast<std::size_t>(((stage - first_stage) * kinds_of_rows + what) * levels + level + 1);
  }
  std::size_t state(int number, int which) const {
    return states + static_cast<std::size_t>(number * SeriesProgram::numbers_of_state + which);
  }

  int levels, first_stage, last_stage;
  std::size_t height, change, weights, right, inverse, states, sums, rows, series, stride, group_count, size;
  bool inverts;

 private:
  static constexpr int before = block;
  struct SlotPlace {
    Newest newest, in_series;
    bool kept, beside;
  };
  struct FourPlace {
    std::size_t begin, series, newest, sums;
  };
  const SlotPlace& of(int slot) const { return slot_places[static_cast<std::size_t>(slot)]; }
  void place_clusters(const SeriesProgram& p, std::size_t length) {
    constexpr std::size_t lanes = SeriesProgram::lanes;
    four_places.resize(p.fours.size());
    for (const SeriesProgram::Step& step : p.steps)
      for (int f = step.four; step.four >= 0 && f < step.four + step.fours(); ++f) {
        const SeriesProgram::Four& four = p.fours[static_cast<std::size_t>(f)];
        const auto& op = p.operations[static_cast<std::size_t>(four.operation[0])];
        FourPlace& here = four_places[static_cast<std::size_t>(f)];
        here.begin = size;
        here.series = size + before * lanes;
        size += four.series ? lanes * length : 0;
        here.newest = size;
        size += four.beside ? lanes : 0;
        here.sums = size;
        size += sums_of_a_four * static_cast<std::size_t>(std::max(1, op.groups_end - op.groups));
      }
  }

  std::vector<SlotPlace> slot_places;
  std::vector<FourPlace> four_places;
};

}  // namespace hinge
