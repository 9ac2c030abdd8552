// A DAE F(t, x, x') = 0 as it stands: nothing is differentiated, nothing added.
#pragma once

#include <memory>

#include "formulation/implicit_problem.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// The equations of a system of kind dae. In its states y is x and z is x'.
std::unique_ptr<ImplicitProblem> make_dae_problem(std::shared_ptr<const SymbolicSystem> system);

}  // namespace hinge
