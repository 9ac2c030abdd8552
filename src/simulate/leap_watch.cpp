#include "simulate/leap_watch.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "expression/branches.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr double long_part = 0.01, long_way = 0.03;  // of the run, and of all the way so far, of one coordinate;
constexpr double long_part_given = 0.002, long_way_given = 0.003;  // where the length of steps is given
constexpr double quiet = 1e-4;                                     // of the way of a step: more than velocities say
constexpr double matters = 0.02;                                   // of the momentum, if it acted all the time
constexpr double much_unfelt = 0.1;  // of the largest z: what forces at the ends of a step would have done
constexpr std::size_t most_functions = 60, most_operations = 4000, most_stretches = 256;

}  // namespace

void LeapWatch::begin(const System& system, const Tolerance* tolerance) {
  *this = LeapWatch();
  resolved_ = tolerance;
  is_dae_ = system.structure().is_dae;
  if (tolerance) tolerance_ = *tolerance;
  const Structure& has = system.structure();
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic || has.has_contacts || has.gaps > 0 || has.pairs > 0 || has.has_noise || has.has_bodies) return;
  acts_ = LeapFunctions(*symbolic);
  const std::vector<Node>& functions = acts_.nodes();
  if (functions.empty() || functions.size() > most_functions ||
      cone_of(acts_.graph(), functions).size() > most_operations)
    return;
  bounds_ = std::make_unique<RootBounds>(*symbolic, acts_.graph(), functions);
  const auto branches = [&](Node n) { return Branches::is_branch(acts_.graph()[n].op); };
  if (const std::vector<Node> cone = cone_of(acts_.graph(), functions);
      given() && std::any_of(cone.begin(), cone.end(), branches)) {
    const Branches taken(acts_.graph(), functions, symbolic->equations().t);
    std::vector<Node> roots;
    for (std::size_t k = 0; k < taken.size(); ++k)
      if (taken.moves(k) && !taken.table(k)) roots.push_back(taken.roots()[k]);
    if (!roots.empty()) roots_ = StateFunctions(*symbolic, taken.graph(), roots);
  }
  functions_ = functions.size();
  system_ = &system;
  rates_ = system.evaluation({Quantity::velocity, Quantity::momentum});
  if (!is_dae_ && system.npsi() == 0)
    forces_ = system.evaluation({Quantity::force, Quantity::momentum, Quantity::momentum_z});
  fastest_.assign(static_cast<std::size_t>(system.nz()), 0);
  const auto n = static_cast<std::size_t>(system.ny());
  low_.assign(n, INFINITY);
  high_.assign(n, -INFINITY);
  v0_.resize(n);
  v1_.resize(n);
  sizes_.resize(n);
}

void LeapWatch::see(const State& s) {
  if (!bounds_) return;
  ++steps_;
  if (roots_.size() > 0)
    for (std::size_t i = 0; i < fastest_.size(); ++i) fastest_[i] = std::max(fastest_[i], std::abs(s.z[i]));
  for (std::size_t i = 0; i < low_.size(); ++i)
    low_[i] = std::min(low_[i], s.y[i]), high_[i] = std::max(high_[i], s.y[i]);
}

// Returns the largest momentum.
double LeapWatch::velocities(const State& s, std::vector<double>& out) {
  rates_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  out.assign((*rates_)[Quantity::velocity], (*rates_)[Quantity::velocity] + low_.size());
  return biggest((*rates_)[Quantity::momentum], system_->nz());
}

bool LeapWatch::seen_by(const State& s) {
  for (std::size_t k = 0; k < functions_; ++k)
    if (!expected_[k].contains(bounds_->at(k, s))) return true;
  if (++mistaken_ >= 3) bounds_.reset();
  return false;
}

// Does a corner or a jump of the functions lie within the step?
bool LeapWatch::crosses(const State& before, const State& after) {
  if (roots_.size() == 0) return false;
  if (last_ != before.t) at_last_ = roots_.at(before);
  last_ = after.t;
  const std::vector<double>& now = roots_.at(after);
  bool any = false;
  for (std::size_t k = 0; k < now.size(); ++k) any = any || (now[k] > 0) != (at_last_[k] > 0);
  at_last_ = now;
  return any;
}

// Do the forces at its ends have nothing to do with what the momenta have done? In units of z, by the masses of each,
// and not before the motion has come into its own.
bool LeapWatch::unfelt(const State& before, const State& after) {
  constexpr long some_steps = 20;
  if (!forces_ || steps_ < some_steps) return false;
  const double half = (after.t - before.t) / 2;
  forces_sum_.assign(static_cast<std::size_t>(system_->nz()), 0);
  for (const State* s : {&before, &after}) {
    forces_->at(s->t, s->y.data(), s->z.data(), s->psi.data());
    const double *f = (*forces_)[Quantity::force], *p = (*forces_)[Quantity::momentum];
    for (std::size_t i = 0; i < forces_sum_.size(); ++i) forces_sum_[i] += half * f[i] + (s == &before ? p[i] : -p[i]);
  }
  const Pattern& pattern = system_->pattern(Quantity::momentum_z);
  for (std::size_t i = 0; i < forces_sum_.size(); ++i)
    for (auto k = at(pattern.row_start[i]); k < at(pattern.row_start[i + 1]); ++k) {
      const double mass = std::abs((*forces_)[Quantity::momentum_z][k]);
      if (at(pattern.column[k]) == i && std::abs(forces_sum_[i]) > much_unfelt * mass * fastest_[i]) return true;
    }
  return false;
}

bool LeapWatch::is_long(const State& before, const State& after) {
  const double h = after.t - before.t;
  unfelt_ = false;
  if (!bounds_ || !(length_ > 0)) return false;
  if (given() && crosses(before, after)) {
    double way = 0;
    for (std::size_t i = 0; i < low_.size(); ++i) way = std::max(way, std::abs(after.y[i] - before.y[i]));
    unfelt_ = way > 0 && unfelt(before, after);
    return unfelt_ || (way > 0 && (quiet_step(before, after, way) || given()));
  }
  if (!(h > (given() ? long_part_given : long_part) * length_)) return false;
  double way = 0;
  bool far = false;
  for (std::size_t i = 0; i < low_.size(); ++i) {
    const double change = std::abs(after.y[i] - before.y[i]);
    const double width = std::max(high_[i], after.y[i]) - std::min(low_[i], after.y[i]);
    way = std::max(way, change);
    far = far || change > (given() ? long_way_given : long_way) * width;
  }
  if (!far || !(way > 0)) return false;
  return quiet_step(before, after, way) || given();
}

// Do velocities say all? Unknowns of a DAE have units of their own, and each is compared with its own way so far, and
// with what a step may be off by.
bool LeapWatch::quiet_step(const State& before, const State& after, double way) {
  constexpr double rounding = 1e-9, off = 100;  // of its tolerance: stages that touch what is flown over
  const double h = after.t - before.t;
  bool says_all = true;
  const double momentum = std::max(velocities(before, v0_), velocities(after, v1_));
  momentum_ = resolved_ ? momentum : std::max(momentum_, momentum);
  for (std::size_t i = 0; i < low_.size(); ++i) {
    const double low = std::min({low_[i], before.y[i], after.y[i]}),
                 high = std::max({high_[i], before.y[i], after.y[i]});
    sizes_[i] = std::max(std::abs(low), std::abs(high));
    if (!acts_.moves()[i]) continue;
    const double much =
        is_dae_ ? quiet * (high - low) + off * tolerance_.absolute + (off * tolerance_.relative + rounding) * sizes_[i]
                : quiet * way;
    says_all = says_all && std::abs(after.y[i] - before.y[i] - h * (v0_[i] + v1_[i]) / 2) <= much;
  }
  acts_.at(after);
  return says_all;
}

// What functions are in the middle of the step if they are what their values and rates at its ends say: a spring that
// is passed at its turning point is no hill. What would be twice as large as at the ends is one, or jumps there.
void LeapWatch::expect_curves(const State& before, const State& after, std::vector<Interval>& expected) {
  constexpr double short_part = 1e-6;
  const double h = after.t - before.t, delta = short_part * h;
  std::vector<double> middle(functions_, 0.0), largest(functions_, 0.0);
  for (const auto& [end, v, sign] : {std::tuple(&before, &v0_, 1.0), {&after, &v1_, -1.0}}) {
    State moved = *end;
    moved.t += sign * delta;
    for (std::size_t i = 0; i < moved.y.size(); ++i) moved.y[i] += sign * delta * (*v)[i];
    for (std::size_t k = 0; k < functions_; ++k) {
      const double x = bounds_->at(k, *end);
      largest[k] = std::max(largest[k], std::abs(x));
      middle[k] += x / 2 + h / 8 * (bounds_->at(k, moved) - x) / delta;
    }
  }
  constexpr double known = 0.1;  // of what the middle is further out
  for (std::size_t k = 0; k < functions_; ++k) {
    if (!(std::abs(middle[k]) <= 2 * largest[k])) continue;
    const double out = known * std::max({0.0, middle[k] - expected[k].high, expected[k].low - middle[k]});
    expected[k] = hull(expected[k], {middle[k] - out, middle[k] + out});
  }
}

std::optional<double> LeapWatch::unseen(const State& before, const State& after,
                                        const std::function<void(double t, State& out)>& within) {
  if (unfelt_) return before.t;
  constexpr int points = 5;  // where stretches begin and end; what a method has seen of forces within is not known
  std::vector<Interval> expected(functions_, {INFINITY, -INFINITY});
  std::vector<double> rounding(functions_, 0.0);  // of bounds
  State s = after;
  std::deque<State> ends;  // where stretches begin and end
  for (int i = 0; i < points; ++i) {
    if (i == 0 || i == points - 1)
      s = i == 0 ? before : after;
    else
      within(before.t + (after.t - before.t) * i / (points - 1), s);
    ends.push_back(s);
    if ((resolved_ || given()) && i != 0 && i != points - 1) continue;
    for (std::size_t k = 0; k < functions_; ++k) {
      const double x = bounds_->at(k, s);
      if (!std::isfinite(x)) return {};
      expected[k] = {std::min(expected[k].low, x), std::max(expected[k].high, x)};
    }
    bounds_->on(s);
    for (std::size_t k = 0; k < functions_; ++k)
      if (const double width = bounds_->value(k).width(); std::isfinite(width))
        rounding[k] = std::max(rounding[k], width);
  }
  for (std::size_t k = 0; k < functions_; ++k) {
    Interval& e = expected[k];
    const double margin = (e.high - e.low) + 1e-6 * std::max(std::abs(e.low), std::abs(e.high)) + 1e-300 +
                          10 * rounding[k] + matters * acts_.size(k, after.t - before.t, momentum_, sizes_);
    e = {e.low - margin, e.high + margin};
  }
  if (given()) expect_curves(before, after, expected);
  struct Stretch {
    const State *from, *to;
  };
  expected_ = expected;
  std::optional<double> found;
  std::deque<Stretch> open;  // first come, first served: wide ones first
  for (std::size_t i = 0; i + 1 < points; ++i) open.push_back({&ends[i], &ends[i + 1]});
  for (std::size_t looked = 0; !open.empty() && looked < most_stretches; ++looked) {
    const auto [from, to] = open.front();
    open.pop_front();
    bounds_->on(nullptr, *from, *to, nullptr);
    bool clear = true;
    for (std::size_t k = 0; k < functions_ && clear; ++k) {
      const Interval value = bounds_->value(k);
      clear = value.low >= expected[k].low && value.high <= expected[k].high;
    }
    const double middle = from->t + (to->t - from->t) / 2;
    if (clear || !(middle > from->t && middle < to->t)) continue;
    within(middle, s);
    for (std::size_t k = 0; k < functions_; ++k) {
      const double x = bounds_->at(k, s);
      if (!std::isfinite(x) || expected[k].contains(x)) continue;
      found = middle;  // and further out only from now on: what is wanted is its middle, not where it begins
      expected[k] = {std::min(expected[k].low, x), std::max(expected[k].high, x)};
    }
    ends.push_back(s);  // a deque: what it holds stays where it is
    open.push_back({from, &ends.back()});
    open.push_back({&ends.back(), to});
  }
  return found;
}

}  // namespace hinge
