#include "method/taylor/series_point.hpp"

#include <algorithm>
#include <limits>

namespace hinge {

void SeriesPoint::make_tape(const Graph& graph, const SeriesTape::Functions& functions, int last_stage) {
  tape_ = std::make_unique<SeriesTape>(graph, functions, last_stage);
  x_.resize(functions.equations.size());
}

bool SeriesPoint::expand(double scale) {
  SeriesTape& tape = *tape_;
  tape.begin(t0_, scale);
  if (!load()) return false;
  const int first = -tape.most();
  for (int stage = first; stage <= tape.last_stage(); ++stage) {
    if (stage > 0) tape.guess_nothing(stage);
    tape.evaluate(stage);
    if (stage < 0) continue;
    if (stage == 0) tape.weigh();
    tape.residual(stage, x_.data());
    for (double& r : x_) r = -r;
    solve(x_.data());
    tape.complete(stage, x_.data());
  }
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
