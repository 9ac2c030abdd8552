// SHAKE: the positions of RATTLE, with central differences as velocities. For separable systems: v and p depend on z
// alone with p_z constant, f on y alone, r is linear in psi.
//
//   start   p(Z_1/2)   = p(z0) + (h/2) (f(y0) + r(y0, L0)),       0 = g(y0 + h v(Z_1/2))    for L0
//   step    y1         = y0 + h v(Z_1/2)
//           p(Z_3/2)   = p(Z_1/2) + h (f(y1) + r(y1, L1)),        0 = g(y1 + h v(Z_3/2))    for L1, one step ahead
//           z1         = (Z_1/2 + Z_3/2) / 2,   psi1 = L1
//
// Z_3/2 is the next step's Z_1/2: one force and one position level per step. What is remembered is a saving and nothing
// else: from (y1, z1) and with the same h the start formula gives Z_3/2 again, so that a step after a reset or a change
// of h needs no care.
//
// Order 2 in y, z and psi. Preserved: the position level to round-off; the symplectic form, on tangent vectors of g =
// 0, and momentum maps, since z1 differs from RATTLE's by a multiple of the constraint's gradient at y1. Not preserved:
// the velocity level, violated by O(h^2) without drift; the energy, bounded error of second order. Not symmetric from
// consistent values, whose velocity is no central difference; from its own values it is. Reference: J.-P. Ryckaert, G.
// Ciccotti, H. J. C. Berendsen, J. Comput. Phys. 23 (1977) 327-341.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_shake(std::shared_ptr<const System> system, const SolverOptions& options);

}  // namespace hinge
