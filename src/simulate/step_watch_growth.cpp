// Beyond stability: coordinates that turn in step after step while they grow.
#include <algorithm>
#include <cmath>

#include "simulate/step_watch.hpp"

namespace hinge {

namespace {

constexpr int many_steps = 6;       // one after the other that are not resolved
constexpr double much_growth = 10;  // of |y'| in these

}  // namespace

// |y1 - y0 - h (y0' + y1')/2|, as a part of the way.
double StepWatch::defect(std::size_t i, double h) const {
  const double change = now_.state.y[i] - before_.state.y[i], v0 = before_.v[i], v1 = now_.v[i];
  const double way = std::max({h * std::abs(v0), h * std::abs(v1), std::abs(change)});
  return way > 0 ? std::abs(change - h * (v0 + v1) / 2) / way : 0;
}

void StepWatch::watch_growth(double h) {
  double known = 0;  // of positions, above their rounding wherever the origin is
  for (std::size_t i = 0; i < growth_.size(); ++i) {
    const double change = now_.state.y[i] - before_.state.y[i];
    const double v0 = before_.v[i], v1 = now_.v[i], size = std::max(std::abs(v0), std::abs(v1));
    Growth& g = growth_[i];
    if (!(std::max(h * size, std::abs(change)) > rounding * size_ && (v0 * v1 < 0 || defect(i, h) > unresolved))) {
      g.streak = std::max(0, g.streak - 2);
      if (g.streak == 0) g.at_first = 0;
      continue;
    }
    if (g.streak++ == 0) g.at_first = size;
    if (g.streak < many_steps || !(size > much_growth * g.at_first)) continue;
    if (known == 0) known = rounding * known_->reach(now_.state, h);
    g.at_first = std::max(g.at_first, known / h);
    if (!(size > much_growth * g.at_first)) continue;
    if (!unstable_) unstable_ = now_.state.t;
    grown_ = std::max(grown_, size / g.at_first);
  }
}

}  // namespace hinge
