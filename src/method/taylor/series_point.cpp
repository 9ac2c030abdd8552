#include "method/taylor/series_point.hpp"

#include <algorithm>
#include <limits>

namespace hinge {

void SeriesPoint::make_tape(const Graph& graph, const SeriesFunctions& functions, int last_stage) {
  tape_ = std::make_unique<SeriesTape>(graph, functions, last_stage);
}

bool SeriesPoint::expand(double scale) {
  SeriesTape& tape = *tape_;
  tape.begin(t0_, scale);
  if (!load()) return false;
  if (tape.inverts())
    for (std::size_t j = 0; j < tape.equations(); ++j) {
      double* const column = tape.inverse_column(j);
      std::fill_n(column, tape.equations(), 0.0);
      column[j] = 1;
      solve(column);
    }
  const int last = tape.inverts() ? std::min(SeriesProgram::first_stages, tape.last_stage()) : tape.last_stage();
  for (int stage = -tape.most(); stage <= last; ++stage) {
    tape.evaluate(stage);
    if (stage < 0) continue;
    if (stage == 0) tape.weigh();
    if (tape.inverts())
      tape.solve();
    else
      solve(tape.right());
    tape.complete(stage);
  }
  if (tape.inverts()) tape.later_stages();
  ++evaluations_;
  const auto finite = [](const Controlled& c) {
    return std::abs(c.series[c.last]) <= std::numeric_limits<double>::max() &&
           std::abs(c.series[c.last - 1]) <= std::numeric_limits<double>::max();
  };
  if (std::all_of(controlled_.begin(), controlled_.end(), finite)) return true;
  tape.clear();
  return false;
}

}  // namespace hinge
