// Symplectic Euler methods for overdetermined differential-algebraic inequalities (ODAIs): contacts that open and
// close, with forces that may be nonlinear in the multiplier, as L. O. Jay proposes.
//
// A step is that of the true symplectic Euler method (symplectic_euler.hpp) with complementarity on both levels:
//
//   0 <= gap(t1, y1)  _|_  P0 >= 0       and, where gap(t1, y1) = 0,       0 <= gap'(t1, y1, z1)  _|_  P1 >= 0
//
// Each by an active set: the last step's at first; contacts with a negative multiplier leave it, the worst first, those
// with a negative gap enter it, until nothing changes. P1 is the multiplier of the motion (order 1); P0 belongs to the
// step and differs from it by O(1), so that a contact that begins to open does so on the velocity level first, and
// leaves on the position level a few steps later. Impacts are those without restitution. Order 1, between impacts and
// across them.
//
// Preserved: gap >= 0 to round-off at the end of every step, gap' >= 0 while a contact is closed.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_one_sided_euler(std::shared_ptr<const System> system, const SymplecticEulerOptions& which,
                                              const SolverOptions& options);

}  // namespace hinge
