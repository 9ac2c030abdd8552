// Motions that grow because the step is beyond the stability of the method.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulate/step_watch.hpp"

namespace hinge {

namespace {
constexpr int many_steps = 6;           // one after the other that are not resolved
constexpr double much_growth = 10;      // of |y'| in these
constexpr double little_growth = 0.01;  // of the largest |y'|: what has grown to less is no matter
}  // namespace

void StepWatch::watch_growth(double h) {
  if (growing_.y.size() != now_.state.y.size()) growing_ = now_.state, growing_h_ = 0;
  for (std::size_t i = 0; i < growth_.size(); ++i) {
    const double change = now_.state.y[i] - before_.state.y[i];
    const double v0 = before_.v[i], v1 = now_.v[i], size = std::max(std::abs(v0), std::abs(v1));
    const double way = std::max(h * size, std::abs(change));
    Growth& g = growth_[i];
    g.fastest = std::max(g.fastest, size);
    if (!(way > rounding * size_ && (v0 * v1 < 0 || defect(i, h) > unresolved))) {
      g.streak = std::max(0, g.streak - 2);
      if (g.streak == 0) g.at_first = 0;
      continue;
    }
    if (g.streak++ == 0) g.at_first = size;
    if (g.streak < many_steps || !(size > much_growth * g.at_first)) continue;
    if (g.factor == 0) g.first = now_.state.t;
    if (growing_h_ == 0) growing_ = now_.state, growing_h_ = h;
    g.reached = std::max(g.reached, size);
    g.way = std::max(g.way, way);
    g.factor = std::max(g.factor, size / g.at_first);
  }
}

// What grows, and stays nothing beside the motion that comes, is its flank, or rounding: that of the positions where it
// began, wherever the origin is.
void StepWatch::doubt_growth(std::vector<Doubt>& doubts) const {
  const Growth* worst_growth = nullptr;
  double first = INFINITY;
  for (const Growth& g : growth_) {
    if (!(g.factor > 0 && g.reached > little_growth * g.fastest && g.way > rounding * size_)) continue;
    if (!(g.reached > much_growth * rounding * known_->reach(growing_, growing_h_) / growing_h_)) continue;
    if (!worst_growth || g.factor > worst_growth->factor) worst_growth = &g;
    first = std::min(first, g.first);
  }
  if (worst_growth)
    doubts.push_back({fmt::format("the step is beyond the stability of the method: the motion grows while it turns in "
                                  "every step, from t = {:g} on; velocities by a factor of",
                                  first),
                      worst_growth->factor, "take a shorter step, or give a tolerance"});
}

}  // namespace hinge
