// A constrained system in the formulations that are one fixed set of equations.
//
//   (P) y' - v = 0                      (D) p_z z' - b - r = 0
//   (A) C z' + c = 0,  C = G v_z        (V) g_t + G v = 0        (C) g = 0
//   velocity constraints w(t, y, z) = 0 are more rows of (V), w_z of C and w_t + w_y v of c; they have no (C), no mu
//
//   index-3   P, D, C and w = 0                   index-2   P, D, V                 index-1   P, D, A
//   baumgarte P, D, (A) + 2 alpha (V) + beta^2 (C)
//   ggl       y' - v + G^T mu = 0, D, V, C
//   extended  y' - v + G^T mu + L^T tau = 0, p_z z' - b - r - r_psi tau = 0, C a + c = 0 with p_z a = b + r, V, C;
//             with chosen steps p_z (z' + C^T tau) - b - r = 0, which does not depend on the unit of mass
//   projected-invariants   y' - v + G^T mu = 0, p_z (z' + C^T tau) - b - r = 0, C (z' + C^T tau) + c = 0, V, C
//   charts    P, z' - w = 0, p_z w - b - r = 0, C w + c = 0, V, C, of which charts take parts of the first two
//
// with L = (g_t + G v)_y. Where the velocity is z and the reaction -G^T psi, these are the equations of the
// literature: C = G, p_z = M, b = f.
//
// They are written once, over an algebra: nodes of a graph, which are then compiled with exact derivatives, or numbers
// at a point, from the evaluations of any System.
#pragma once

#include <fmt/format.h>

#include "formulation/implicit/implicit_rows.hpp"
#include "hinge/error.hpp"

namespace hinge {

/// The equations of a formulation. An algebra has Values, the functions of a system as vectors, products of its
/// matrices with vectors, and takes unknowns and rows in their order.
template <class Algebra>
void write_form(Algebra& p, const FormulationOptions& options, Correction correction) {
  using Values = typename Algebra::Values;
  using Kind = ImplicitProblem::Unknown;
  const bool constrained = p.constraints() > 0;
  const std::size_t rates = p.constraints() + p.velocity_constraints();
  constexpr Kind differential{1, true, 0}, multiplier{1, false, 1}, vanishing{2, false, 1, true};
  const auto position = [&] { return p.difference(p.y_rate(), p.velocity()); };  // (P)
  const auto motion = [&](const Values& a) {                                     // (D) with z' = a
    return p.difference(p.difference(p.mass_times(a), p.force()), p.reaction());
  };
  const auto acceleration = [&](const Values& a) { return p.sum(p.c_times(a), p.curvature()); };  // (A) with z' = a
  const auto stabilised = [&](const Values& mu) { return p.sum(position(), p.g_transposed_times(mu)); };
  switch (options.formulation) {
    case Formulation::index_3:
      p.y(differential);
      p.z(constrained ? Kind{2, false, 1} : differential);
      p.psi(constrained ? Kind{3, false, 2} : Kind{2, false, 1});
      p.row(position(), 1);
      p.row(motion(p.z_rate()), constrained ? 2 : 1);
      p.row(p.constraint(), 0);
      p.row(p.velocity_constraint(), 0);
      return;
    case Formulation::index_2:
    case Formulation::index_1:
    case Formulation::baumgarte: {
      const bool two = options.formulation == Formulation::index_2;
      p.y(differential);
      p.z(differential);
      p.psi({two ? 2 : 1, false, 1});
      p.row(position(), 1);
      p.row(motion(p.z_rate()), 1);
      Values last = two ? p.rate() : acceleration(p.z_rate());
      if (options.formulation == Formulation::baumgarte)
        last = p.sum(last, p.sum(p.scaled(2 * options.alpha, p.rate()),
                                 p.with_zeros(p.scaled(options.beta * options.beta, p.constraint()), rates)));
      p.row(last, two ? 0 : 1);
      return;
    }
    case Formulation::ggl: {
      p.y(differential);
      p.z(differential);
      p.psi({2, false, 1});
      const Values mu = p.further("mu", p.constraints(), vanishing);
      p.row(stabilised(mu), 1);
      p.row(motion(p.z_rate()), 1);
      p.row(p.rate(), 0);
      p.row(p.constraint(), 0);
      return;
    }
    case Formulation::extended: {
      p.y(differential);
      p.z(differential);
      p.psi(multiplier);
      const Values a = p.further("a", p.velocities(), multiplier);
      const Values mu = p.further("mu", p.constraints(), vanishing);
      const Values tau = p.further("tau", rates, vanishing);
      p.row(p.sum(stabilised(mu), p.l_transposed_times(tau)), 1);
      p.row(correction == Correction::as_published ? p.difference(motion(p.z_rate()), p.reaction_psi_times(tau))
                                                   : motion(p.sum(p.z_rate(), p.c_transposed_times(tau))),
            1);
      p.row(motion(a), 1);
      p.row(acceleration(a), 1);
      p.row(p.rate(), 0);
      p.row(p.constraint(), 0);
      return;
    }
    case Formulation::automatic:
    case Formulation::projected_invariants: {
      p.y(differential);
      p.z(differential);
      p.psi(multiplier);
      const Values mu = p.further("mu", p.constraints(), vanishing);
      const Values tau = p.further("tau", rates, vanishing);
      const Values a = p.sum(p.z_rate(), p.c_transposed_times(tau));
      p.row(stabilised(mu), 1);
      p.row(motion(a), 1);
      p.row(acceleration(a), 1);
      p.row(p.rate(), 0);
      p.row(p.constraint(), 0);
      return;
    }
    case Formulation::coordinate_partitioning:
    case Formulation::tangent_space: {
      p.y(differential);
      p.z(differential);
      const Values w = p.further("w", p.velocities(), multiplier);
      p.psi(multiplier);
      p.row(position(), 1);
      p.row(p.difference(p.z_rate(), w), 1);
      p.row(motion(w), 1);
      p.row(acceleration(w), 1);
      p.row(p.rate(), 0);
      p.row(p.constraint(), 0);
      return;
    }
    case Formulation::direct:
    case Formulation::derivative_array: break;
  }
  throw InputError(fmt::format("{} is not one fixed set of equations", formulation_name(options.formulation)));
}

/// The rows of a formulation: compiled where the system is made of expressions, else from its evaluations with
/// derivatives by differences. Unknowns begin with y and z.
std::unique_ptr<ImplicitRows> mechanical_rows(const std::shared_ptr<const System>& system,
                                              const FormulationOptions& options, Correction correction);

}  // namespace hinge
