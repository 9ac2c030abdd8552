// Why a step failed, in a sentence: shared by all methods.
#pragma once

#include <string>

#include "hinge/method.hpp"
#include "solve/newton/convergence.hpp"

namespace hinge {

/// Is |h| so short that rounding of the positions, eps |y| / h^2, drowns the accelerations of the motion? A multiplier
/// is found from positions divided by h^2 and is then mostly rounding. Says so, with the step from which on it is not;
/// empty where the step is long enough.
std::string too_short(const System& system, const State& state, double h);

/// "; the constraints are nearly dependent here: ..." with what helps, near a dead point or a change point; else empty.
std::string nearly_dependent(const System& system, const State& state);

/// Looks for the likely cause: dependent constraints, too short a step, a number that is not finite, or slow
/// convergence.
StepResult explain_failure(const System& system, const State& state, double h, const char* what,
                           const Convergence& convergence = Convergence(0));

}  // namespace hinge
