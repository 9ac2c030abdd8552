// The equations of one step of rigid bodies in space that keeps their energy and angular momentum, as expressions.
//
// With v and W (along the axes of the body) at both ends, vm = (v0 + v1)/2, Wm = (W0 + W1)/2, the step moves
//
//   x1 = x0 + h vm,   R1 = R0 cay(h Wm),   cay(T) = (1 - [T]/2)^-1 (1 + [T]/2)
//
// Then R1 - R0 = Rm [h Wm] with Rm = (R0 + R1)/2: increments of everything that is fixed in a body are linear in
// (h vm, h Wm), exactly. xi = (x, a1, a2, a3) are centre and axes, dd a discrete gradient in xi
// (discrete_gradient.hpp): that at the middle for all joints but those that contain angles, since they are quadratic in
// xi. Angles that are counted over turns (springs of joints, gears, screws) are functions of xi and of the turns
// counted until the start of the step, which are among xi and do not change in it. With the potential U, the joints g,
// the impulses L = h psi and D = h dd U + sum_i L_i dd g_i,
//
//   m (v1 - v0)              = -D_x + h F
//   cay(h Wm) J W1 - J W0    = -R0^T sum_k am_k x D_k + h R0^T Rh T,      am_k = Rm e_k
//   s1 - s0                  = h c
//   0                        = g(xi1)
//
// F, T (along the axes of the body) and the rates c of [states] s are what no potential has, taken at t0 + h/2, xm,
// the rotation Rh = R0 exp(h Wm / 2) up to its angle, vm, Wm and (s0 + s1)/2.
//
// The energy: Wm . (J W1 - J W0) = Wm . R0^T (...), since cay(T)^T - 1 is T times something, crosswise, and
// (R0 T) x (Rm e) = Rm (T x e), so that the work is -D . (xi1 - xi0). Since R0 and Rh take Wm to the same spin, the
// forces add h (F . vm + T . Wm), and nothing else. Angular momentum: what is invariant under rotations has
// sum (xm x D_x + sum_k am_k x D_k) = 0, and x1 x m v1 - x0 x m v0 = xm x m (v1 - v0).
//
// After J. C. Simo, K. K. Wong, Int. J. Numer. Methods Eng. 31 (1991) 19-52, with discrete gradients for forces and
// joints.
#pragma once

#include <memory>
#include <vector>

#include "body/body_table.hpp"
#include "expression/evaluator.hpp"
#include "hinge/solve.hpp"
#include "hinge/system.hpp"

namespace hinge {

struct BodyEnergyStep {
  std::vector<BodyPlace> places;
  int bodies = 0, states = 0, unknowns = 0, constraints = 0;
  std::vector<int> turns;  ///< counted angles that come after the bodies in xi: their places in y
  Pattern pattern;         ///< of the Newton matrix; unknowns z1, then L
  std::unique_ptr<Evaluator> residual_and_matrix;  ///< the equations, constraints by h; then the entries of the matrix
  std::unique_ptr<Evaluator> work;                 ///< of what has no potential; null where there is nothing
  // inputs of both: {h}, {t0}, y0, xi0 (12 for each body, then the turns), z0, unknowns
  static constexpr int inputs = 6;
  static constexpr int numbers = 12;
};

/// Throws UnsuitableMethod, saying what the system lacks.
BodyEnergyStep body_energy_step(const System& system, const char* method);

}  // namespace hinge
