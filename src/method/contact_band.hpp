// How far contacts are looked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "body/body_table.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// A gap that two bodies may close, or leave, in a time h with the velocities z; with gravity, or the accelerations
/// where they are given and larger, and a margin. In generalised coordinates a gap may change at any rate: all are
/// looked at.
inline double contact_band(const System& system, const double* z, double h, const double* acceleration = nullptr) {
  const BodyTable* table = bodies_of(system);
  if (!table) return std::numeric_limits<double>::infinity();
  const double faster = std::max(10.0, acceleration ? table->fastest(acceleration) : 0.0);
  return 2 * std::abs(h) * (table->fastest(z) + faster * std::abs(h)) + 1e-6 * table->length;
}

}  // namespace hinge
