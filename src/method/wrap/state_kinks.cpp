#include "method/wrap/state_kinks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "method/wrap/smooth_piece.hpp"

namespace hinge {

namespace {

using Q = Quantity;
// Those next to the ends tell in which direction a function goes there.
constexpr std::array<double, 7> at = {0, 0.02, 0.25, 0.5, 0.75, 0.98, 1};
constexpr int looks = 14;            // of the search for a least value
constexpr double noticeable = 0.01;  // part of the momentum
constexpr std::size_t most_roots = 1000;

}  // namespace

StateKinks::StateKinks(std::shared_ptr<const System> system) : system_(std::move(system)) {
  const Structure& has = system_->structure();
  const auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system_);
  if (!symbolic || has.is_dae || has.has_contacts || has.has_noise || has.gaps > 0) return;
  if (!has_branches(symbolic->equations())) return;
  PieceSource source(symbolic);
  if (source.branches.size() > most_roots) return;
  for (std::size_t k = 0; k < source.branches.size(); ++k)
    if (source.branches.moves(k)) moving_.push_back(k);
  if (moving_.empty()) return;
  roots_ = source.roots;
  parts_ = system_->evaluation({Q::velocity, Q::momentum, Q::force});
  samples_.assign(at.size(), std::vector<double>(moving_.size()));
  missed_.assign(static_cast<std::size_t>(system_->nz()), 0.0);
  largest_ = earlier_ = begin_.f = missed_;
  changed_.assign(moving_.size(), 0);
}

void StateKinks::take(const State& s, End& out) {
  parts_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  out.v.assign((*parts_)[Q::velocity], (*parts_)[Q::velocity] + system_->ny());
  out.p.assign((*parts_)[Q::momentum], (*parts_)[Q::momentum] + system_->nz());
  out.f.assign((*parts_)[Q::force], (*parts_)[Q::force] + system_->nz());
}

// y = the polynomial with values and slopes at both ends; z = its slope where that is what z means, else a line.
void StateKinks::go_to(double theta) {
  const double h = to_->t - from_->t, a = 1 - theta, b = theta;
  within_.t = from_->t + theta * h;
  const bool slopes = system_->structure().velocity_is_z;
  for (std::size_t i = 0; i < within_.y.size(); ++i) {
    const double y0 = from_->y[i], y1 = to_->y[i], v0 = h * begin_.v[i], v1 = h * end_.v[i];
    within_.y[i] = a * a * (1 + 2 * b) * y0 + b * b * (3 - 2 * b) * y1 + a * a * b * v0 - a * b * b * v1;
    if (slopes) within_.z[i] = (6 * a * b * (y1 - y0) + a * (1 - 3 * b) * v0 + b * (3 * b - 2) * v1) / h;
  }
  for (std::size_t i = 0; i < within_.z.size() && !slopes; ++i) within_.z[i] = a * from_->z[i] + b * to_->z[i];
  roots_->evaluate(within_);
}

// The least value of sign * root in (low, high), by sections, until one is negative.
double StateKinks::least(std::size_t root, double sign, double low, double high, double& theta) {
  const auto value = [&](double x) {
    go_to(x);
    return sign * (*roots_)[root];
  };
  constexpr double golden = 0.381966011250105;
  double x0 = low + golden * (high - low), x1 = high - golden * (high - low), f0 = value(x0), f1 = value(x1);
  for (int n = 0; n < looks && !(f0 < 0) && !(f1 < 0); ++n) {
    if (f0 < f1) {
      high = std::exchange(x1, x0);
      f1 = f0;
      f0 = value(x0 = low + golden * (high - low));
    } else {
      low = std::exchange(x0, x1);
      f0 = f1;
      f1 = value(x1 = high - golden * (high - low));
    }
  }
  theta = f0 < f1 ? x0 : x1;
  return std::min(f0, f1);
}

void StateKinks::look(const State& from, const State& to) {
  if (!(to.t > from.t)) return;
  const bool goes_on = from.t == last_.t && from.y == last_.y && from.z == last_.z;
  if (!goes_on) std::fill(changed_.begin(), changed_.end(), char{0});
  from_ = &from;
  to_ = &to;
  earlier_ = begin_.f;
  if (goes_on)
    std::swap(begin_, end_);
  else
    take(from, begin_);
  take(to, end_);
  last_ = to;
  for (std::size_t i = 0; i < largest_.size(); ++i)
    largest_[i] = std::max({largest_[i], std::abs(begin_.p[i]), std::abs(end_.p[i])});
  within_ = from;
  for (std::size_t j = 0; j < at.size(); ++j) {
    if (j == 0 || j + 1 == at.size())
      roots_->evaluate(j == 0 ? from : to);
    else
      go_to(at[j]);
    for (std::size_t k = 0; k < moving_.size(); ++k) samples_[j][k] = (*roots_)[moving_[k]];
  }
  for (std::size_t k = 0; k < moving_.size(); ++k) {
    const bool changes = samples_.front()[k] * samples_.back()[k] < 0;
    if (!changes)
      follow(k);
    else if (changed_[k] && !roots_->depends_on_z(moving_[k]))
      add(begin_.f.data(), earlier_.data(), 0.5, 0.5, from.t);
    changed_[k] = changes;
  }
}

// A root function with the same sign at both ends.
void StateKinks::follow(std::size_t k) {
  const double sign = samples_.front()[k] > 0 ? 1 : -1;
  const auto sample = [&](std::size_t j) { return sign * samples_[j][k]; };
  double part = 0, theta = 0;
  for (std::size_t j = 1; j + 1 < at.size(); ++j)
    if (sample(j) < 0) {
      part += (at[j + 1] - at[j - 1]) / 2;
      theta = at[j];
    }
  for (std::size_t j = 1; part == 0 && j + 1 < at.size(); ++j) {
    const double l = sample(j - 1), m = sample(j), r = sample(j + 1), bend = std::max(l - m, r - m);
    if (!(m <= l && m <= r) || !(m < 2 * bend)) continue;
    if (double x = 0; least(moving_[k], sign, at[j - 1], at[j + 1], x) < 0) {
      part = (at[j + 1] - at[j - 1]) / 4;
      theta = x;
    }
  }
  if (part == 0) return;
  go_to(theta);
  parts_->at(within_.t, within_.y.data(), within_.z.data(), within_.psi.data());
  add((*parts_)[Q::force], begin_.f.data(), part, theta, within_.t);
}

// `force` while the condition is another one, against that between `before` and the end of the step.
void StateKinks::add(const double* force, const double* before, double part, double theta, double t) {
  const double time = part * (to_->t - from_->t);
  bool jumps = false;
  for (std::size_t i = 0; i < missed_.size(); ++i) {
    const double impulse = time * std::abs(force[i] - (1 - theta) * before[i] - theta * end_.f[i]);
    if (!std::isfinite(impulse)) continue;
    missed_[i] += impulse;
    jumps = jumps || impulse > 1e-6 * largest_[i];
  }
  if (jumps && count_++ == 0) first_ = t;
}

std::optional<Doubt> StateKinks::doubt() const {
  double worst = 0;
  for (std::size_t i = 0; i < missed_.size(); ++i)
    if (missed_[i] > 0) worst = std::max(worst, largest_[i] > 0 ? missed_[i] / largest_[i] : HUGE_VAL);
  if (!(worst > noticeable)) return std::nullopt;
  return Doubt{
      fmt::format(
          "conditions on the motion change and change back within a step or two, {} time{}, first at t = {:.6g}, with "
          "forces that give up to this part of the momentum",
          count_, count_ == 1 ? "" : "s", first_),
      worst, "take a shorter step, or give a tolerance"};
}

}  // namespace hinge
