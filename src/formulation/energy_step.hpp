// The equations of one energy-conserving step, as expressions with exact derivatives.
//
// For systems with a constant mass matrix, H = p.M^-1 p/2 + U(q), constraints g(q) = 0, u = q1 - q0, mid = q0 + u/2,
// and dd a discrete gradient (discrete_gradient.hpp). Energy-momentum form, the momentum p1 eliminated:
//
//   0  = M u - h p0 + (h^2/2) (dd U + sum_i lam_i dd g_i)                                               n equations
//   p1 = p0 - h (dd U + sum_i lam_i dd g_i),      g1 = g0 + dd g . u
//
// Forces Q that no potential has are taken away from dd U (below from DU), at t0 + h/2, mid and the velocity u/h (the
// momentum M u/h): the energy changes by their work Q.u.
//
//   multiplier   lam unknown, 0 = g1                                                      (38)   n + m unknowns
//   penalty      lam = mu (g0 + g1)                                                       (39)   n
//   augmented    lam = lam_k + mu (g0 + g1), then lam_{k+1} = lam, until |g1| is small    (40)   n for each k
//
// General form, Gonzalez' derivative in all of z = (q, p), unknowns u, d = p1 - p0 and s = S_U + S_P:
//
//   u/h =  M^-1 (p0 + d/2) + s d
//   d/h = -DU(mid) - f_P - s u,         S_U = (U1 - U0 - DU(mid).u)/(|u|^2 + |d|^2)
//
//   multiplier   f_P = G(mid)^T lam,                    S_P = (lam.(g1 - g0) - f_P.u)/..., 0 = g1       (23)
//   penalty      f_P = 2 mu G(mid)^T g(mid),            S_P = (mu |g1|^2 - mu |g0|^2 - f_P.u)/...       (24)
//   augmented    f_P = G(mid)^T (lam_k + 2 mu g1),      S_P = (lam_k.(g1 - g0) + mu (|g1|^2 - |g0|^2) - f_P.u)/...
//                then lam_{k+1} = lam_k + 2 mu g1                                                       (29)-(31)
//
// Equation numbers of Leyendecker, Betsch and Steinmann, with the corrections that make them conserve.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/rounding_bounds.hpp"
#include "hinge/formulation.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

class System;
class SymbolicSystem;

/// H = p.M^-1 p/2 + U(q) with M constant: what these schemes are for.
struct ConstantMassForm {
  const SymbolicSystem* system;
  std::shared_ptr<Graph> graph;  ///< the system's, for what is made from it
  int n, m;
  Node potential;
  Pattern mass_pattern;
  std::vector<double> mass;
  Pattern inverse_pattern;
  std::vector<double> inverse;
  bool has_forces = false;  ///< that no potential has
  int states = 0;           ///< rows at the end that the energy does not depend on: [states]
};
/// Do the energy, velocities, momenta or constraints contain t? Forces may.
bool energy_depends_on_time(const SymbolicSystem& system);
inline constexpr const char* without_time =
    "needs an energy and constraints without t: where they contain it, the energy is not conserved anyway";
/// Throws UnsuitableMethod, saying what the system lacks.
ConstantMassForm constant_mass_form(const System& system, const char* method);

struct EnergyStep {
  int unknowns = 0;
  int explicit_unknown = -1;                       ///< number of s, which its own equation gives; -1 if there is none
  Pattern pattern;                                 ///< of the Newton matrix
  std::unique_ptr<Evaluator> values;               ///< residual (unknowns), force (n), lam (m), g1 - g0 (m), work
  std::unique_ptr<Evaluator> residual_and_matrix;  ///< residual (unknowns), entries of the matrix
  RoundingBounds rounding;                         ///< of the residual
  // inputs of all three: {h}, {mu}, {t0}, q0, p0, g0, lam_k, unknowns
  static constexpr int inputs = 8;
};
EnergyStep energy_step(const ConstantMassForm& form, ConstraintTreatment constraints, bool general);
/// The same step with nothing eliminated: unknowns u, d = p1 - p0 (s, if general) (and lam), each equation of motion
/// times h.
EnergyStep full_energy_step(const ConstantMassForm& form, ConstraintTreatment constraints, bool general);

}  // namespace hinge
