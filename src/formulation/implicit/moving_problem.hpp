// A mechanical problem with bodies in space, in coordinates that move along with the bodies.
//
// Positions and quaternions of a mechanism that turns go round, however steadily it turns, and so do velocities in
// space and the forces of joints. A polynomial follows angles easily, circles with effort. Here the unknowns are what
// is left beside a steady motion of each body (body_courses.hpp); the multipliers psi, mu and tau of three constraints
// that are a vector in space turn with the place of a body that they hold. For F of the problem this is a change of
// variables, X = T(t) Z + p(t) with orthogonal T, and rows are turned back in the same way:
//
//   T^T F(t, X, X'),   derivatives  T^T (F_x T + F_x' T'),  T^T F_x' T
//
// so that matrices of a mechanism that turns as a whole do not change. Constraints hold as they do in F.
#pragma once

#include <memory>

#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

/// `problem` has the unknowns y, z, psi, mu, tau and the rows P, D, A, V, C of projected invariants. It comes back as
/// it is where the system has no bodies in space.
std::unique_ptr<ImplicitProblem> moving_along(std::unique_ptr<ImplicitProblem> problem,
                                              const std::shared_ptr<const System>& system);

}  // namespace hinge
