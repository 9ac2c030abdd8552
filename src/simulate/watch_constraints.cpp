// How far constraints are off, on either level, as a part of what they are made of.
#include <algorithm>
#include <cmath>

#include "simulate/watch.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {
using Q = Quantity;
constexpr double harmless = 1e-6;  // of the size of what a constraint constrains
constexpr double nothing = 1e-10;  // of the way of a step: multipliers are not found better in some methods
}  // namespace

// In the units of what it constrains; looked at where |g| is larger than ever. Coordinates may be zero, or less than
// rounding, where the terms of g are not: a pendulum that hangs in the origin.
void Watch::measure_constraints(const State& s, double residual, double h) {
  for (std::size_t j = 0; j < sizes_.size(); ++j) {
    sizes_[j] = std::max(sizes_[j], std::abs(s.y[j]));
    size_ = std::max(size_, sizes_[j]);
  }
  if (!judges_constraints_ || !(residual > constraint_)) return;
  const double floor = 1e-8 * size_;  // coordinates that stay at zero are not measured by their rounding
  const Pattern& pattern = system_->pattern(Q::constraint_y);
  rows_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const double *G = (*rows_)[Q::constraint_y], *g = (*evaluation_)[Q::constraint];
  const std::vector<double>* within = nullptr;
  double way = 0;
  for (int i = 0; i < pattern.rows; ++i) {
    double size = 0, slope = 0;
    for (int k = pattern.row_start[static_cast<std::size_t>(i)]; k < pattern.row_start[static_cast<std::size_t>(i) + 1];
         ++k) {
      size += std::abs(G[k]) *
              std::max(floor, sizes_[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])]);
      slope += std::abs(G[k]);
    }
    if (std::abs(g[i]) <= harmless * size) continue;
    if (!within) {
      way = rounding_->way(s, h);
      within = &rounding_->rows(Q::constraint, s.t, s.y.data(), s.z.data(), s.psi.data());
    }
    const double rounded = (*within)[static_cast<std::size_t>(i)];
    if (std::abs(g[i]) <= nothing * slope * way + rounded) continue;
    size = std::max(size, rounded / epsilon);
    if (size > 0) off_ = std::max(off_, std::abs(g[i]) / size);
  }
}

// How far velocity constraints are off, as a part of the velocities in them; looked at where |w| is larger than ever.
void Watch::measure_velocity_constraints(const State& s) {
  if (!velocity_rows_ || !(w_ > velocity_constraint_)) return;
  const Pattern& pattern = system_->pattern(Q::constraint_rate_z);
  velocity_rows_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const double *W = (*velocity_rows_)[Q::constraint_rate_z], *w = (*evaluation_)[Q::constraint_rate];
  const double floor = 1e-3 * biggest(s.z.data(), system_->nz());
  for (int i = system_->ng(); i < pattern.rows; ++i) {
    double size = 0;
    for (int k = pattern.row_start[static_cast<std::size_t>(i)]; k < pattern.row_start[static_cast<std::size_t>(i) + 1];
         ++k)
      size += std::abs(W[k]) *
              std::max(floor, std::abs(s.z[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])]));
    if (size > 0) velocity_off_ = std::max(velocity_off_, std::abs(w[i]) / size);
  }
}

}  // namespace hinge
