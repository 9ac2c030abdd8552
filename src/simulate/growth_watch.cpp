#include "simulate/growth_watch.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {
constexpr int most_unknowns = 400;
constexpr long work_between = 32, steps_between = 16;  // evaluations and steps of the method: a look costs about as two
constexpr int settles = 2;                             // looks until the direction is one that the equations allow
constexpr double in_a_part = 0.6;                      // growth, as a logarithm, and angle
constexpr int most_parts = 16;
constexpr double least = 1e-8;  // of the largest unknown: what is smaller does not count
}  // namespace

void GrowthWatch::begin(const System& system) {
  *this = GrowthWatch();
  const Structure& has = system.structure();
  if (!has.is_dae || has.pairs > 0 || has.has_noise || has.has_contacts || system.ny() > most_unknowns) return;
  system_ = symbolic_part(system);
}

bool GrowthWatch::set_up() {
  rows_ = CompiledRows(SymbolicRows::of_dae(system_->equations()));
  const Pattern& p = rows_.pattern();
  if (p.rows != p.columns) return false;
  solver_ = std::make_unique<LinearSolver>(p, LinearAlgebra::automatic);
  for (auto* v : {&f_x_, &f_rate_, &matrix_}) v->assign(p.entries(), 0.0);
  for (auto* v : {&d_, &z_}) v->assign(at(p.columns), 0.0);
  counts_.assign(at(p.columns), 0);
  return true;
}

void GrowthWatch::see(const State& s, long work) {
  if (!system_) return;
  if (size_.empty()) size_.resize(s.y.size()), peak_ = s;
  for (std::size_t j = 0; j < size_.size(); ++j) size_[j] = std::max(size_[j], std::abs(s.y[j]));
  if (steps_++ == 0) time_ = s.t, work_ = work;
  if (work - work_ < work_between && steps_ % steps_between != 0) return;
  const double h = s.t - time_;
  time_ = s.t;
  work_ = work;
  if (!(h > 0)) return;
  if (!solver_ && !set_up()) {
    system_ = nullptr;
    return;
  }
  look(s, h);
}

// Of two directions, relative to the sizes of the unknowns.
double GrowthWatch::product(const std::vector<double>& a, const std::vector<double>& b) const {
  const double floor = least * biggest(size_);
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j)
    if (const double size = std::max(size_[j], floor); counts_[j] && size > 0) sum += a[j] / size * (b[j] / size);
  return sum;
}

// d carried on by h, with derivatives that were evaluated.
bool GrowthWatch::carry(double h, int parts) {
  const Pattern& p = rows_.pattern();
  const double g = 1 - std::sqrt(0.5), c = parts / (g * h);
  for (std::size_t e = 0; e < matrix_.size(); ++e) matrix_[e] = f_x_[e] + c * f_rate_[e];
  if (!solver_->factor(matrix_.data())) return false;
  const auto stage = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = 0;
      for (auto e = at(p.row_start[i]); e < at(p.row_start[i + 1]); ++e)
        to[i] += c * f_rate_[e] * from[at(p.column[e])];
    }
    solver_->solve(to.data());
  };
  for (int n = 0; n < parts; ++n) {
    stage(d_, z_);
    for (std::size_t j = 0; j < d_.size(); ++j) z_[j] = d_[j] + (1 / g - 1) * (z_[j] - d_[j]);
    stage(z_, d_);
  }
  return true;
}

void GrowthWatch::look(const State& s, double h) {
  rows_.jacobian(s.t, s.y.data(), s.z.data(), f_x_.data(), f_rate_.data());
  if (!all_finite(f_x_) || !all_finite(f_rate_)) return;
  for (std::size_t e = 0; e < f_rate_.size(); ++e)
    if (f_rate_[e] != 0) counts_[at(rows_.pattern().column[e])] = 1;
  if (looks_++ == 0)  // any direction will do
    for (std::size_t j = 0; j < d_.size(); ++j)
      d_[j] = size_[j] * (std::fmod(0.618 * static_cast<double>(j + 1), 1) - 0.4);
  from_ = d_;
  double grown = 0;
  for (bool again = true; again;) {
    d_ = from_;
    if (!carry(h, parts_)) return;
    grown = std::sqrt(product(d_, d_));
    const double before = std::sqrt(product(from_, from_));
    if (!std::isfinite(grown) || !(grown > 0) || !(before > 0)) {
      looks_ = 0;
      return;
    }
    const double turned = std::acos(std::clamp(product(d_, from_) / (grown * before), -1.0, 1.0)),
                 much_done = std::abs(std::log(grown / before)) + turned;
    const int parts = std::clamp(static_cast<int>(std::ceil(much_done / in_a_part)), 1, most_parts);
    again = looks_ > settles && parts > 2 * parts_;
    parts_ = parts;
  }
  for (double& x : d_) x /= grown;
  if (looks_ <= settles) return;
  log_ += std::log(grown);
  lowest_ = std::min(lowest_, log_);
  if (const double now = log_ - lowest_; now > most_) {
    most_ = now;
    if (most_ > at_peak_ + 0.5) peak_ = s, at_peak_ = most_;
  }
}

double GrowthWatch::apart(const State& state, const State& other) const {
  constexpr double little = 1e-3;  // of the largest unknown
  const double floor = little * biggest(size_);
  double most = 0;
  for (std::size_t j = 0; j < size_.size(); ++j)
    most = std::max(most, std::abs(state.y[j] - other.y[j]) / std::max(size_[j], floor));
  return most;
}

double GrowthWatch::most() const { return std::exp(most_); }

double GrowthWatch::part(const Tolerance& tolerance) const {
  const double size = biggest(size_);
  return tolerance.relative + (size > 0 ? tolerance.absolute / size : 0);
}

double GrowthWatch::allowed(const Tolerance& tolerance) const { return std::clamp(1e4 * part(tolerance), 1e-3, 1e-2); }

// Errors of some steps add up.
bool GrowthWatch::suspect(const Tolerance& tolerance) const {
  constexpr double add_up = 30;
  return most() > much && add_up * part(tolerance) * most() > allowed(tolerance);
}

}  // namespace hinge
