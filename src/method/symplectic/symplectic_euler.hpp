// The symplectic Euler methods for overdetermined DAEs with reactions r(t, y, z, psi) of any kind, after L. O. Jay,
// "Consistent extensions of the symplectic Euler method for a class of overdetermined DAEs".
//
// One step, with a = alpha and two multipliers P0 and P1 that live in the step:
//
//   p(te, Ye, Z)  = p0 + h e f(te, Ye, Z) + h sum_k first_k r(t0, y0, z0, P_k)
//   y1            = y0 + h v(te, Ye, Z),                                                          0 = g(t1, y1)
//   p(t1, y1, z1) = p0 + h f(te, Ye, Z)   + h sum_k (first_k r(t0, y0, z0, P_k) + second_k r(t1, y1, z1, P_k)),
//                                                                                   0 = (g_t + g_y v)(t1, y1, z1)
//
//                             (te, Ye)   e   first      second     multiplier
//   true                      (t0, y0)   1   (a, 0)     (-a, 1)    P1
//   true, conjugate           (t1, y1)   0   (a, 0)     (-a, 1)    P1
//   adjoint of true           (t1, y1)   0   (1, -a)    (0, a)     P0
//   adjoint of true conjugate (t0, y0)   1   (1, -a)    (0, a)     P0
//   natural                   (t0, y0)   1   (a, 0)     (0, 1-a)   a P0 + (1-a) P1 for r affine in psi, else P1
//   natural, conjugate        (t1, y1)   0   (a, 0)     (0, 1-a)   the same
//
// The adjoint of natural is natural conjugate with 1-a. Order 1 in y, z and the multiplier. The natural methods are
// consistent only for r affine in psi: otherwise they converge to the solution of another ODE.
//
// Preserved: both constraint levels (round-off); where r = -g_y^T psi also the symplectic form and momentum maps. Not
// preserved: the energy (bounded error of first order, no drift), time symmetry (compose a method with its adjoint).
//
// With first = (a, 0) the step splits: (y1, Z, P0) first, then (z1, P1). The adjoints are solved in one piece.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_symplectic_euler(std::shared_ptr<const System> system,
                                               const SymplecticEulerOptions& which, const SolverOptions& options);

}  // namespace hinge
