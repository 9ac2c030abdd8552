// A motion between the ends of steps, made consistent: on those constraint levels that the method keeps at the ends of
// its steps, and with the multipliers that belong to positions and velocities.
//
// Interpolation is linear in the states, constraints are not: what is between two steps is off them by the error of the
// interpolation. The projection (formulation/project) removes that part, and what it leaves is the error along the
// constraints. Multipliers are functions of (t, y, z); interpolated ones would have an error of their own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "formulation/acceleration.hpp"
#include "formulation/project/projection.hpp"

namespace hinge {

class ConsistentRow {
 public:
  /// `form` says which accelerations belong to a motion: those of baumgarte, else of index-1. Without `multipliers`
  /// these stay as they are.
  ConsistentRow(std::shared_ptr<const System> system, Projection which, const FormulationOptions& form,
                LinearAlgebra choice, bool multipliers = true);
  /// At the time t. Parts that have no solution stay as they are; psi is a first guess.
  void settle(double t, State& state);
  /// What multipliers come from; null where they stay as they are.
  Acceleration* acceleration() { return acceleration_ ? &*acceleration_ : nullptr; }

 private:
  ConstraintProjection projection_;
  std::optional<Acceleration> acceleration_;
  std::vector<double> y_, z_, psi_, velocity_, z_rate_;
};

/// The levels that a formulation keeps by itself.
inline Projection levels_of(Formulation form) {
  const bool position = has_position_level(form), velocity = has_velocity_level(form);
  return position && velocity ? Projection::both
         : position           ? Projection::position
         : velocity           ? Projection::velocity
                              : Projection::none;
}
/// Those that rows are put onto between steps, and at their ends where the method does not project: index-3 has
/// velocities with a lower order than positions, so that they are shown as the constraints say.
inline Projection levels_between(Formulation form) {
  return form == Formulation::index_3 ? Projection::both : levels_of(form);
}
inline Projection levels_at_ends(Formulation form) {
  return form == Formulation::index_3 ? Projection::velocity : Projection::none;
}

}  // namespace hinge
