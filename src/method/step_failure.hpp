// Why a step failed, in a sentence: shared by all methods.
#pragma once

#include "hinge/method.hpp"
#include "solve/convergence.hpp"

namespace hinge {

/// Looks for the likely cause: dependent constraints, a number that is not finite, or slow convergence.
StepResult explain_failure(const System& system, const State& state, double h, const char* what,
                           const Convergence& convergence);

}  // namespace hinge
