// The same equations, made solvable in different ways.
#pragma once

namespace hinge {

/// How constraints enter an energy-conserving step.
enum class ConstraintTreatment {
  multiplier,  ///< exactly, by unknown multipliers
  penalty,     ///< by stiff springs of strength mu
  augmented    ///< by springs and multipliers that are improved until the constraints hold
};

}  // namespace hinge
