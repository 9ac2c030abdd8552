#include "simulate/reaction_check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solve/index.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/at_rounding.hpp"

namespace hinge {

namespace {
using Q = Quantity;
constexpr double much = 0.05;
constexpr double known_to = 1e-10;  // of the momentum in a step: reactions that a method shows are no better
}  // namespace

void ReactionCheck::begin(const System& system) {
  system_ = nullptr;
  steps_ = 0;
  off_ = most_ = 0;
  before_ = NAN;
  const Structure& has = system.structure();
  if (system.npsi() == 0 || has.is_dae || system.layout().kind == SystemKind::odae || has.has_contacts ||
      has.gaps > 0 || has.has_noise)
    return;
  system_ = &system;
  known_.emplace(system);
  acceleration_ = std::make_unique<Acceleration>(std::shared_ptr<const System>(std::shared_ptr<void>(), &system));
  reaction_ = system.evaluation({Q::reaction});
  mass_ = system.evaluation({Q::momentum_z});
  const Pattern& pattern = system.pattern(Q::momentum_z);
  diagonal_.assign(at(system.nz()), -1);
  for (int i = 0; i < pattern.rows; ++i)
    for (int k = pattern.row_start[at(i)]; k < pattern.row_start[at(i + 1)]; ++k)
      if (pattern.column[at(k)] == i) diagonal_[at(i)] = k;
  a_.assign(at(system.nz()), 0);
  v_.assign(at(system.ny()), 0);
  psi_.assign(at(system.npsi()), 0);
}

double ReactionCheck::size(const State& s, const std::vector<double>& psi) {
  reaction_->at(s.t, s.y.data(), s.z.data(), psi.data());
  mass_->at(s.t, s.y.data(), s.z.data(), psi.data());
  const double *r = (*reaction_)[Q::reaction], *mass = (*mass_)[Q::momentum_z];
  double sum = 0;
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    const double m = diagonal_[i] >= 0 ? std::abs(mass[diagonal_[i]]) : 1;
    sum += r[i] * r[i] / (m > 0 ? m : 1);
  }
  return std::sqrt(sum);
}

// sqrt(sum m_i z_i^2): what a reaction of the same size stops within a second
double ReactionCheck::momentum_size(const State& s) {
  mass_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  double sum = 0;
  for (std::size_t i = 0; i < diagonal_.size(); ++i)
    sum += s.z[i] * s.z[i] * (diagonal_[i] >= 0 ? std::abs((*mass_)[Q::momentum_z][diagonal_[i]]) : 1);
  return std::sqrt(sum);
}

// What holds a motion does so to rounding of its positions, sqrt(sum m_i a^2) with a = 64 eps |y| / h^2.
double ReactionCheck::rounding(const State& s, double h) {
  const double reach = known_->reach(s, h);
  return roundings * epsilon * reach / (h * h) * std::sqrt(known_->mass());
}

void ReactionCheck::see(const State& s, double h, bool broken) {
  if (!system_) return;
  if (h > 0) ++steps_;
  const bool ends = h > 0 && looks_at(steps_);
  if (!ends && !looks_at(steps_ + 1)) return;
  std::copy(s.psi.begin(), s.psi.end(), psi_.begin());
  const bool known = acceleration_->compute(s.t, s.y.data(), s.z.data(), psi_.data(), v_.data(), a_.data());
  const double now = known ? size(s, psi_) : NAN, before = std::exchange(before_, now);
  if (!ends || broken || !std::isfinite(now + before)) return;
  const double shown = size(s, s.psi);
  const double off = std::max(shown - std::max(now, before), std::min(now, before) - shown);
  const double least = std::max(known_to * momentum_size(s) / h, rounding(s, h));  // asked at once: it allocates
  if (off > std::max(off_, least)) off_ = off;
  most_ = std::max({most_, now, before});
}

void ReactionCheck::doubts(std::vector<Doubt>& doubts) const {
  if (off_ > much * most_ && std::isfinite(off_))
    doubts.push_back(
        {"steps are long beside the motion: the reactions that they show are off those of the motion, as a "
         "part of the largest",
         off_ / std::max(off_, most_), "take a shorter step, or give a tolerance"});
}

}  // namespace hinge
