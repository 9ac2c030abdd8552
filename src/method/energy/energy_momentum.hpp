// Energy-momentum methods: the energy and the momentum maps to round-off in every step, after S. Leyendecker, P.
// Betsch, P. Steinmann, "Energy-conserving integration of constrained Hamiltonian systems: a comparison of approaches".
//
//   q1 - q0 = h M^-1 (p0 + p1)/2,   p1 - p0 = -h DU(q0, q1) - h sum_k lambda_k Dg_k(q0, q1),   g(q1) = 0
//
// D: discrete derivatives, DU . (q1 - q0) = U(q1) - U(q0), built on invariants or on the coordinates; with a penalty
// mu |g|^2 is in U, with augmented multipliers lambda is given and improved. Details: formulation/energy_step.hpp.
//
// Order 2 in q and p. The multiplier of a step belongs to its middle: order 2 there, order 1 at the end of the step.
// Preserved: with multipliers T + U and g = 0; with a penalty T + U + mu |g|^2; with augmented multipliers T + U and g
// to the tolerance. Momentum maps under which all invariants are invariant. Time symmetry (multiplier, penalty). Not
// preserved: the symplectic form; the velocity level, which is off by O(h^2), unless velocities are projected, which
// costs energy of O(h^4) in each step.
//
// For systems with a constant mass matrix, a potential, and ideal constraints without t; others are refused.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_energy_momentum(std::shared_ptr<const System> system, const EnergyMomentumOptions& which,
                                              const SolverOptions& options);

}  // namespace hinge
