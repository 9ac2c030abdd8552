// How far contacts are looked for.
#pragma once

#include <cmath>
#include <limits>

#include "body/body_table.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// A gap that two bodies may close, or leave, in a time h with the velocities z; with gravity, and a margin. In
/// generalised coordinates a gap may change at any rate: all are looked at.
inline double contact_band(const System& system, const double* z, double h) {
  const BodyTable* table = bodies_of(system);
  if (!table) return std::numeric_limits<double>::infinity();
  return 2 * std::abs(h) * (table->fastest(z) + 10 * std::abs(h)) + 1e-6 * table->length;
}

/// Do shapes of bodies touch? Such contacts are no expressions.
inline bool has_shapes_that_touch(const System& system) {
  const BodyTable* table = bodies_of(system);
  return table && table->can_collide();
}

}  // namespace hinge
