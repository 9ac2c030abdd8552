// Adaptive methods on equations with kinks and jumps: if(), min, max, abs and sign.
//
// A method of high order sees a smooth problem only, if steps end where the equations change. So every step is made
// with the branches of its beginning, continued smoothly beyond their ends (branches.hpp). When a root function of one
// of them has changed its sign, the step is cut there, at the root of the interpolated solution, and the method starts
// anew with the branch of the other side. What has a derivative in the equations goes on continuously; the other
// unknowns of a DAE, and multipliers, may jump.
//
// Where the equations lead back to a root from both sides, as dry friction at rest does, there is no such motion, and
// the step fails.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// The method bound to the system; through its pieces, where it chooses its steps and the system is made of
/// expressions that have such.
std::unique_ptr<Stepper> bind_piecewise(const MethodChoice& method, std::shared_ptr<const System> system,
                                        const SolverOptions& solver, const StepOptions& adaptive);

}  // namespace hinge
