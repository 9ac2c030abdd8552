// Past positions where the constraints become dependent for an instant: dead points, a parallelogram that is flat.
//
// Matrices of implicit methods are singular there, and a step that is chosen shrinks to nothing. The motion goes on
// smoothly, and stages of an explicit method do not meet the very point. So where a step fails near such a position,
// the motion is computed once more from where steps were still long, by an explicit method of order 8 with the same
// tolerance, until the position is left behind; then the method starts anew. Where its steps shrink as well, which
// leads into the position and leaves the branch to rounding, a multistep method passes along its polynomial.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// The method, with this way out where it chooses its steps.
std::unique_ptr<Stepper> with_singular_passage(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system,
                                               const SolverOptions& solver, const StepOptions& steps);

}  // namespace hinge
