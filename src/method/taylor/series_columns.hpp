// Where the operands of four operations that are done at once stand: in their cluster, in all clusters of the step at
// the same place, or at places that a table has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "method/taylor/series_places.hpp"

namespace hinge {

/// In the order in which the code asks for them.
struct SeriesColumns {
  struct Column {
    enum class Kind { of_cluster, constant, table } kind;
    std::int32_t offset;  // in bytes: from the beginning of the cluster, of all numbers, or of the row of the table
  };
  std::vector<Column> list;
  std::vector<std::int64_t> table;    // row by row, in bytes
  std::int32_t place = 0, width = 0;  // of the table in the code, and of a row in bytes
};

/// `ask` goes through the operands of a four by a SeriesRecurrences<SeriesPlaces>.
template <class Ask>
SeriesColumns series_columns(const SeriesProgram& program, const SeriesLayout& layout, const SeriesProgram::Step& step,
                             Ask&& ask) {
  using Kind = SeriesColumns::Column::Kind;
  constexpr std::int32_t size = 8;
  std::vector<std::vector<std::size_t>> places;  // of each copy
  for (int copy = 0; copy < step.count; ++copy) {
    SeriesPlaces finder(program, layout);
    SeriesRecurrences<SeriesPlaces> recurrences(program, finder);
    for (int k = 0; k < step.length; ++k) ask(recurrences, step.four + copy * step.length + k);
    places.push_back(std::move(finder.found));
  }
  const auto begin = [&](int copy) { return layout.begin_of_four(step.four + copy * step.length); };
  SeriesColumns result;
  std::vector<std::size_t> in_table;
  for (std::size_t c = 0; c < places[0].size(); ++c) {
    const std::size_t first = places[0][c];
    bool same = true, together = step.count > 1 && first >= begin(0) && first < begin(1);
    for (int copy = 1; copy < step.count; ++copy) {
      const std::size_t further = places[static_cast<std::size_t>(copy)][c] - first;
      same = same && further == 0;
      together = together && further == begin(copy) - begin(0);
    }
    const auto in_bytes = [](std::size_t place) { return size * static_cast<std::int32_t>(place); };
    if (same) {
      result.list.push_back({Kind::constant, in_bytes(first)});
    } else if (together) {
      result.list.push_back({Kind::of_cluster, in_bytes(first - begin(0))});
    } else {
      result.list.push_back({Kind::table, in_bytes(in_table.size())});
      in_table.push_back(c);
    }
  }
  result.width = size * static_cast<std::int32_t>(in_table.size());
  for (const auto& of_copy : places)
    for (const std::size_t c : in_table) result.table.push_back(size * static_cast<std::int64_t>(of_copy[c]));
  return result;
}

}  // namespace hinge
