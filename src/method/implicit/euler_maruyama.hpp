// Drift-implicit Euler-Maruyama for linear DAEs with noise (a rough path has no derivative to insert elsewhere):
//
//   E dx + H x dt = c(t) dt + C dW:      (E + h H) x_{n+1} = E x_n + h c(t_{n+1}) + C dW_n,   dW_n ~ N(0, h)
//
// Strong order 1 (the noise is additive); without noise implicit Euler. Keeps the algebraic equations to round-off.
// Keeps no invariant. For index 1, and noise in differential equations only, U_2 C = 0 where U_2 E = 0: white noise in
// a constraint of index 2 would make the variance of a multiplier grow like 1/h.
// x' of the states it returns is (x_{n+1} - x_n) / h; it has no limit.
// Normal numbers come from a Mersenne twister by Box and Muller's formula, so that a seed means the same everywhere.
// Reference: Winkler, J. Comput. Appl. Math. 157 (2003) 477.
#pragma once

#include "hinge/method.hpp"
#include "system/symbolic.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_euler_maruyama_stepper(std::shared_ptr<const SymbolicSystem> system,
                                                     const EulerMaruyamaOptions& options, LinearAlgebra choice);

}  // namespace hinge
