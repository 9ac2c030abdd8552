// RATTLE: the two-stage Lobatto IIIA-IIIB pair for constrained systems. Order 2, symmetric, symplectic, both
// constraint levels at round-off.
//
// For separable systems (v and p depend on z alone with p_z constant, f on y alone) the step is explicit but for the
// multipliers:
//   p(Z)    = p0 + (h/2) (f(y0) + r(y0, L0))
//   y1      = y0 + h v(Z),                      0 = g(y1)                  for L0
//   p(z1)   = p(Z) + (h/2) (f(y1) + r(y1, L1)), 0 = g_t + g_y v(y1, z1)    for L1
// One evaluation of the force per step: f(y1) is the next step's f(y0). Other systems go through the general SPARK
// step with the same coefficients.
//
// Not preserved: the energy (bounded error of second order, no drift). Reference: H. C. Andersen, J. Comput. Phys. 52
// (1983); L. O. Jay, SIAM J. Numer. Anal. 33 (1996).
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_rattle(std::shared_ptr<const System> system, const SolverOptions& options);

/// Can the system be stepped by the explicit form?
bool is_separable(const System& system);

}  // namespace hinge
