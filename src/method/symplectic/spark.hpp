// One step of any SPARK method (s, st) for  y' = v, d/dt p = f + r(t, y, psi), 0 = g, 0 = g_t + g_y v.
//
// Equations: see hinge/tableau.hpp. Because atilde_{i,st} = 0 the step splits into two systems:
//   block 1: stages (Y_i, Z_i) and multipliers L_0..L_{st-1}, with g(Yt_i) = 0 scaled by 1/h^2;
//   block 2: z1 and L_st, with g_t + g_y v (y1, z1) = 0 scaled by 1/h.
// Y_i, Yt_i and y1 are sums over the stage velocities and never independent unknowns of the simplified iteration.
//
// Simplified Newton keeps one small factorised matrix S = g_y v_z p_z^-1 r_psi; the stages enter only through the
// constant matrix N = (Abar Atilde)_{1..st, 0..st-1}, since (N (x) S)^-1 = N^-1 (x) S^-1. Its contraction is
// O(h) in h f_z, h v_y, h p_y v_z and O(h^2) in f_y, r_y; where that is not enough the full Jacobian takes over.
//
// Preserves: both constraint levels to round-off; what else depends on the tableau. Not for reactions that depend on
// z (those are refused), and not for friction.
#pragma once

#include <memory>

#include "hinge/method.hpp"
#include "method/symplectic/spark_tableau.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_spark(std::shared_ptr<const System> system, SparkTableau tableau,
                                    const SolverOptions& options);

}  // namespace hinge
