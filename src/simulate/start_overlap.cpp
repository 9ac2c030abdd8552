#include "simulate/start_overlap.hpp"

#include <algorithm>
#include <cmath>

#include "body/body_table.hpp"

namespace hinge {

namespace {

constexpr double some = 1e-6, apart = 1e-9;  // of the smallest body
constexpr double pushed_per_step = 0.005;    // of it, at least: half of what methods push by

}  // namespace

void StartOverlap::begin(const System& system) {
  *this = {};
  const BodyTable* table = bodies_of(system);
  if (!table || !(table->overlap > 0)) return;
  smallest_ = table->smallest();
  if (std::isfinite(smallest_)) finder_ = system.contact_finder();
}

double StartOverlap::deepest(const State& state) {
  finder_->find(state.t, state.y.data(), 0, list_);
  double depth = 0;
  for (const double gap : list_.gap) depth = std::max(depth, -gap);
  return depth;
}

// What is not apart after as many steps as that may take is held together by something else.
void StartOverlap::see(const State& state) {
  pushed_ = false;
  if (!finder_ || steps_left_ == 0) return;
  const double depth = deepest(state);
  if (steps_left_ < 0) {
    depth_ = depth > some * smallest_ ? depth : 0;
    steps_left_ = static_cast<long>(std::min(1e6, depth_ / (pushed_per_step * smallest_))) + 2;
    if (depth_ == 0) steps_left_ = 0;
    return;
  }
  pushed_ = true;
  if (depth > apart * smallest_)
    --steps_left_;
  else
    steps_left_ = 0;
}

}  // namespace hinge
