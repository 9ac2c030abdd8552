// Implicit steps for F(t, x, x') = 0 with pairs 0 <= a _|_ b >= 0: circuits with ideal diodes, sweeping processes,
// projected dynamics, differential variational inequalities.
//
//   0 = F(t0 + theta h, x_theta, (x1 - x0)/h),   0 <= a(t1, x1, (x1 - x0)/h)  _|_  b(...) >= 0
//
// with x_theta = theta x1 + (1 - theta) x0 for unknowns whose derivatives occur, x1 for the others (multipliers and
// what else is algebraic). theta = 1, implicit Euler, is the catching-up algorithm of sweeping processes. Order 1.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// For DAEs, with pairs or without. Throws UnsuitableMethod where the system is not made of expressions.
std::unique_ptr<Stepper> make_pair_stepper(std::shared_ptr<const System> system, double theta,
                                           const SolverOptions& options);

}  // namespace hinge
