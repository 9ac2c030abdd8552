// A constrained system in the formulations that are one fixed set of equations.
//
//   (P) y' - v = 0                      (D) p_z z' - b - r = 0
//   (A) C z' + c = 0,  C = G v_z        (V) g_t + G v = 0        (C) g = 0
//
//   index-3   P, D, C                   index-2   P, D, V                 index-1   P, D, A
//   baumgarte P, D, (A) + 2 alpha (V) + beta^2 (C)
//   ggl       y' - v + G^T mu = 0, D, V, C
//   extended  y' - v + G^T mu + L^T tau = 0, p_z z' - b - r - r_psi tau = 0, C a + c = 0 with p_z a = b + r, V, C
//   projected-invariants   y' - v + G^T mu = 0, p_z (z' + C^T tau) - b - r = 0, C (z' + C^T tau) + c = 0, V, C
//
// with L = (g_t + G v)_y. Where the velocity is z and the reaction -G^T psi, these are the equations of the
// literature: C = G, p_z = M, b = f.
#pragma once

#include "formulation/implicit/implicit_problem.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// The equations of a formulation other than coordinate_partitioning and tangent_space. Unknowns: y, z, psi, then
/// (for extended a), mu and tau.
SymbolicRows mechanical_rows(const SymbolicSystem& system, const FormulationOptions& options);

/// Unknowns y, z, w = z', psi; rows y' - v, z' - w, p_z w - b - r, C w + c, V, C. The first ny + nz are what charts
/// take parts of.
SymbolicRows chart_rows(const SymbolicSystem& system);

}  // namespace hinge
