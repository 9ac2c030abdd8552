// The same equations, made solvable in different ways.
#pragma once

#include <string>

namespace hinge {

/// Which equations an implicit method solves: p' = v, the equations of motion, and one of these sets of constraints.
/// With c the curvature, d/dt (g_t + G v) = G v' + c.
enum class Formulation {
  automatic,                ///< projected_invariants; for DAEs the equations as they are, or their derivative array
  index_3,                  ///< g = 0
  index_2,                  ///< g_t + G v = 0; positions drift off g = 0, linearly in t
  index_1,                  ///< G v' + c = 0; positions drift quadratically
  baumgarte,                ///< G v' + c + 2 alpha (g_t + G v) + beta^2 g = 0
  ggl,                      ///< g = 0 and g_t + G v = 0, with p' = v - G^T mu (Gear, Gupta, Leimkuhler)
  extended,                 ///< all three levels, with mu and tau (Petzold and Potra's (3.17)); needs a regular mass
  projected_invariants,     ///< all three levels, with mu and tau (their (3.32)): best for very different masses
  coordinate_partitioning,  ///< all three levels; p' = v, v' = a for independent coordinates only
  tangent_space,            ///< the same for coordinates in the tangent space of the constraints at the last step
  direct,                   ///< a DAE F(t, x, x') = 0 as it stands
  derivative_array          ///< a DAE with the derivatives of its equations, so that hidden constraints are kept
};
/// "index-3", "projected-invariants", ...
const char* formulation_name(Formulation formulation);
/// The formulation called so; an InputError names the nearest.
Formulation parse_formulation(const std::string& name);

/// Which constraint levels are among the equations.
bool has_position_level(Formulation formulation);
bool has_velocity_level(Formulation formulation);

struct FormulationOptions {
  Formulation formulation = Formulation::automatic;
  double alpha = 10, beta = 10;  ///< of baumgarte
};

/// What a method puts back onto the constraints after its steps, in the mass metric.
enum class Projection { none, position, velocity, both };

/// How constraints enter an energy-conserving step.
enum class ConstraintTreatment {
  multiplier,  ///< exactly, by unknown multipliers
  penalty,     ///< by stiff springs of strength mu
  augmented    ///< by springs and multipliers that are improved until the constraints hold
};

}  // namespace hinge
