#include "method/implicit/round_off.hpp"

#include <algorithm>
#include <cmath>

#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr double share = 1e-3, tiny = 1e-200, little = 1e-4;
constexpr int sweeps = 3;  // from z to psi, from there to accelerations

}  // namespace

RoundOff::RoundOff(const System& system, const ImplicitProblem& problem)
    : problem_(problem),
      ny_(std::min(static_cast<std::size_t>(system.ny()), problem.unknowns().size())),
      nz_(std::min(static_cast<std::size_t>(system.nz()), problem.unknowns().size() - ny_)),
      dae_(system.structure().is_dae),
      reach_(problem.unknowns().size()),
      noise_(reach_.size(), infinity),
      best_(reach_.size()) {}

void RoundOff::begin(double h, const double* x, const double* rate) {
  h_ = std::abs(h);
  y_ = z_ = 0;
  for (std::size_t k = 0; k < reach_.size(); ++k) {
    reach_[k] = std::abs(x[k]) + h_ * std::abs(rate[k]);
    if (k < ny_)
      y_ = std::max(y_, reach_[k]);
    else if (!dae_ && k < ny_ + nz_)
      z_ = std::max(z_, reach_[k]);
  }
  if (y_ == 0) y_ = h_ * z_;  // at rest in the origin
  set(y_, z_);
}

void RoundOff::set(double y, double z) {
  y_ = y;
  z_ = z;
  for (std::size_t k = 0; k < noise_.size(); ++k) {
    const ImplicitProblem::Unknown& u = problem_.unknowns()[k];
    const double up = std::pow(h_, -u.scale), scaled = up > 1 ? y * up : 0;
    const double own = dae_            ? std::max({reach_[k], share * y, scaled})
                       : k < ny_       ? y
                       : k < ny_ + nz_ ? std::max(z, scaled)
                                       : reach_[k];
    noise_[k] = u.vanishes && !dae_ ? infinity : epsilon * std::max(own, tiny);
  }
}

void RoundOff::spread(const double* f_x, const double* f_rate, double c) {
  matrix_.resize(problem_.pattern().entries());
  row_.resize(static_cast<std::size_t>(problem_.pattern().rows));
  for (std::size_t e = 0; e < matrix_.size(); ++e) matrix_[e] = std::abs(f_x[e] + c * f_rate[e]);
  spread();
}

void RoundOff::spread_to_z() {
  const Pattern& p = problem_.pattern();
  double largest = far_ == Far::positions ? little * z_ : 0;
  for (std::size_t k = ny_; k < ny_ + nz_; ++k) {  // the row of p_k'
    double sum = 0, own = 0;
    for (auto e = static_cast<std::size_t>(p.row_start[k]); e < static_cast<std::size_t>(p.row_start[k + 1]); ++e) {
      const auto j = static_cast<std::size_t>(p.column[e]);
      if (j < ny_) sum += matrix_[e] * noise_[j];
      if (j == k) own = matrix_[e];
    }
    if (own > 0) largest = std::max(largest, sum / own);
  }
  largest = std::min(largest, epsilon * y_ / h_);
  for (std::size_t k = ny_; k < ny_ + nz_; ++k) noise_[k] = std::max(noise_[k], largest);
}

void RoundOff::spread() {
  const Pattern& p = problem_.pattern();
  if (dae_ || matrix_.size() != p.entries()) return;
  if (far_ != Far::own) spread_to_z();
  if (noise_.size() == ny_ + nz_) return;
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < row_.size(); ++i)
      for (auto e = static_cast<std::size_t>(p.row_start[i]); e < static_cast<std::size_t>(p.row_start[i + 1]); ++e)
        if (const auto k = static_cast<std::size_t>(p.column[e]); matrix_[e] > 0 && std::isfinite(noise_[k]))
          visit(i, k, matrix_[e]);
  };
  for (int n = 0; n < sweeps; ++n) {
    std::fill(row_.begin(), row_.end(), 0.0);
    std::fill(best_.begin(), best_.end(), infinity);
    each([&](std::size_t i, std::size_t k, double a) { row_[i] += a * noise_[k]; });
    each([&](std::size_t i, std::size_t k, double a) { best_[k] = std::min(best_[k], row_[i] / a); });
    for (std::size_t k = ny_ + nz_; k < noise_.size(); ++k)
      if (std::isfinite(best_[k])) noise_[k] = best_[k];
  }
}

void RoundOff::raise(const double* x) {
  if (dae_) return;
  double y = y_, z = z_;
  for (std::size_t k = 0; k < ny_; ++k) y = std::max(y, std::abs(x[k]));
  for (std::size_t k = ny_; k < ny_ + nz_; ++k) z = std::max(z, std::abs(x[k]));
  bool others = false;
  for (std::size_t k = ny_ + nz_; k < reach_.size(); ++k)
    if (std::abs(x[k]) > 2 * reach_[k]) {
      others = others || epsilon * std::abs(x[k]) > noise_[k];
      reach_[k] = std::abs(x[k]);
    }
  if (!(y > 2 * y_ || z > 2 * z_ || others)) return;
  set(y, z);
  spread();
}

// Rows that positions alone are in; of a DAE, those without rates.
void RoundOff::raise_by_rows(const double* within, const double* f_x, const double* f_rate) {
  const Pattern& p = problem_.pattern();
  double y = y_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) {
    double largest = 0;
    bool counts = true;
    for (auto e = static_cast<std::size_t>(p.row_start[i]); e < static_cast<std::size_t>(p.row_start[i + 1]); ++e) {
      const bool position = dae_ || static_cast<std::size_t>(p.column[e]) < ny_;
      counts = counts && f_rate[e] == 0 && (position || f_x[e] == 0);
      largest = std::max(largest, std::abs(f_x[e]));
    }
    if (counts && largest > 0) y = std::max(y, within[i] / (epsilon * largest));
  }
  if (!(y > y_)) return;
  set(y, z_);
  spread();
}

}  // namespace hinge
