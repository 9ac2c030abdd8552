#include "formulation/acceleration.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

Acceleration::Acceleration(std::shared_ptr<const System> system, LinearAlgebra choice)
    : system_(std::move(system)),
      at_(system_->evaluation({Q::velocity, Q::momentum_z, Q::acceleration_force, Q::reaction, Q::reaction_psi,
                               Q::constraint_rate_z, Q::constraint_curvature})),
      saddle_(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
              system_->pattern(Q::constraint_rate_z), choice),
      solution_(static_cast<std::size_t>(system_->nz() + system_->npsi())),
      affine_(system_->reaction_is_affine()) {}

bool Acceleration::compute(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate) {
  constexpr int most_iterations = 30;
  const auto nz = static_cast<std::size_t>(system_->nz()), m = static_cast<std::size_t>(system_->npsi());
  double last = INFINITY;
  for (int k = 0; k < most_iterations; ++k) {
    at_->at(t, y, z, psi);
    const Evaluation& e = *at_;
    if (!saddle_.factor(e[Q::momentum_z], e[Q::reaction_psi], 1.0, e[Q::constraint_rate_z])) return false;
    for (std::size_t i = 0; i < nz; ++i) solution_[i] = e[Q::acceleration_force][i] + e[Q::reaction][i];
    for (std::size_t i = 0; i < m; ++i) solution_[nz + i] = -e[Q::constraint_curvature][i];
    saddle_.solve(solution_.data());
    double change = 0, size = 1;
    for (std::size_t i = 0; i < m; ++i) {
      psi[i] += solution_[nz + i];
      change = std::max(change, std::abs(solution_[nz + i]));
      size = std::max(size, std::abs(psi[i]));
    }
    for (const double a : solution_)
      if (!std::isfinite(a)) return false;
    // an affine reaction is solved at once; Newton's iteration ends where rounding stops it
    if (affine_ || change <= 1e-14 * size || (change <= 1e-10 * size && change >= 0.5 * last)) {
      std::copy_n(e[Q::velocity], system_->ny(), velocity);
      std::copy_n(solution_.begin(), nz, z_rate);
      return true;
    }
    last = change;
  }
  return false;
}

}  // namespace hinge
