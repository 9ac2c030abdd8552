// Gaps that close and open again between two looks: free flight has no error, so that its steps may be far longer than
// what happens in them. Between two looks a and b at a gap g, h apart, there is no dip where
//
//   far away       g_a + g_b > h max|g'|, with the bound of |g'| that is known of shapes, and a margin
//   nearly linear  min(g_a, g_b) > |g_b - g_a - h g'_a| + |g_b - g_a - h g'_b|, or this bend is too small to turn the
//                  sign of g': only where the directions in g turn by less than half a radian
//
// Otherwise a look between decides: where g' goes from falling to rising, at the zero of its chord, else in the middle.
// Of gaps given by expressions nothing is known but such looks: what is narrower than they are apart can be missed.
#include <algorithm>
#include <cmath>

#include "method/nonsmooth/event_driven.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double margin = 1.25;        // of speeds between looks
constexpr double most_turn = 0.5;      // radians
constexpr double least_depth = 1e-12;  // of a dip, of the gap's size
constexpr int most_halvings = 40;

}  // namespace

// After evaluate_roots(), whose values are in values_.
EventDriven::Look EventDriven::look_at(std::size_t root, double t) const {
  const auto& v = motion_.values()[at(roots_[root].contact)];
  return {t, v.gap, v.rate[0], v.speed, v.turn};
}

// At all contacts, at a time within the step of the base method that was done last.
void EventDriven::look(double t) {
  Base& b = base();
  probe_ = mode_state_;
  if (b.stepper->chooses_steps()) {
    b.stepper->look_within(before_, t, probe_);
    probe_.t = t;
  } else {
    propagate(b, before_, t, probe_);
  }
  evaluate_roots(probe_, values_);
}

// A time in (a, b] when the gap is below its level, HUGE_VAL where there is none.
double EventDriven::dip(std::size_t root, const Look& a, const Look& b, int depth) {
  const double zero = level(roots_[root]), h = b.t - a.t;
  const double change = b.gap - a.gap, low = std::min(a.gap, b.gap) - zero;
  const bool ends_below = b.gap < zero;
  const double none = ends_below ? b.t : HUGE_VAL;
  if (margin * std::max(a.speed, b.speed) * h < a.gap + b.gap - 2 * zero) return none;
  if (!(std::max(a.turn, b.turn) * h > most_turn)) {
    const double bend = std::abs(change - h * a.rate) + std::abs(change - h * b.rate);
    if (ends_below || low > bend) return none;
    if (a.rate * b.rate > 0 && bend < h * std::min(std::abs(a.rate), std::abs(b.rate))) return none;
    if (low - bend > -least_depth * std::max(roots_[root].scale, 1e-3)) return none;
  }
  if (depth >= most_halvings) return none;
  const double fraction = a.rate < 0 && b.rate > 0 ? std::clamp(a.rate / (a.rate - b.rate), 0.05, 0.95) : 0.5;
  const double t = a.t + fraction * h;
  if (!(t > a.t && t < b.t)) return none;
  look(t);
  const Look m = look_at(root, t);
  const double first = dip(root, a, m, depth + 1);
  return first < HUGE_VAL ? first : dip(root, m, b, depth + 1);
}

// The first time between the last two looks when a gap is found to be below its level.
double EventDriven::first_dip() {
  double first = HUGE_VAL;
  for (std::size_t k = 0; k < roots_.size(); ++k)
    if (roots_[k].kind == Root::Kind::gap) first = std::min(first, dip(k, start_looks_[k], end_looks_[k], 0));
  return first;
}

// A gap that has closed before the event that was taken for the first one; -1 where there is none.
int EventDriven::overtaken(int event, const State& there) {
  probe_ = there;
  evaluate_roots(probe_, values_);
  int worst = -1;
  double most = 0;
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    if (roots_[k].kind != Root::Kind::gap || static_cast<int>(k) == event) continue;
    const double below = level(roots_[k]) - values_[k];
    if (below > 1e-10 * std::max(roots_[k].scale, 1e-3) && below > most) {
      most = below;
      worst = static_cast<int>(k);
    }
  }
  return worst;
}

}  // namespace hinge
