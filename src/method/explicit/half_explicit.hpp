// Half-explicit Runge-Kutta methods for the index-2 form
//
//   y' = v(t, y, z),   p_z z' = b + r(t, y, z, psi),   0 = g_t + G v(t, y, z)
//
// with the extended tableau a_{s+1,j} = b_j, c_{s+1} = 1. From Y_1 = y0, Z_1 = z0, for i = 1, ..., s:
//
//   Y_{i+1} = y0 + h sum_{j<=i} a_{i+1,j} V_j,    V_j = v(Y_j, Z_j)
//   p_z(Y_i, Z_i) K_i = b(Y_i, Z_i) + r(Y_i, Z_i, Lambda_i)
//   Z_{i+1} = z0 + h sum_{j<=i} a_{i+1,j} K_j,    0 = g_t + G v at (Y_{i+1}, Z_{i+1})
//
// One linear system per stage for (K_i, Lambda_i) where v = z and r is linear in psi, Newton's iteration elsewhere.
//
//   order 1   half-explicit Euler
//   order 3   HERK3, three stages
//   order 4   HEM4, five stages (V. Brasey, E. Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552)
//   order 5   extrapolation of half-explicit Euler with 1, 2, 3, 4, 5 substeps, fifteen stages, and a projection of the
//             velocity at the end (C. Lubich, Impact Comput. Sci. Eng. 3 (1991) 213-234): a half-explicit Euler step
//             is a smooth map of the manifold of the velocity constraints, so its error has an expansion in powers of h
//
// The stages' own multipliers are of first order only; reported is psi = zeta(t, y, z), of the full order.
// Preserved: the velocity level at round-off. Not preserved: the position level, which drifts by the local error per
// step, linearly in t (projection = "both" keeps it), symplecticity, symmetry, momentum maps, energy.
//
// Chosen steps: a step of h is done again as two of h/2, which are kept; their difference, divided by 2^order - 1, is
// the error estimate. Between the ends a polynomial of degree 5 through positions, velocities and accelerations at the
// ends and in the middle.
#pragma once

#include <memory>
#include <vector>

#include "formulation/acceleration.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/method.hpp"
#include "method/step_control.hpp"

namespace hinge {

struct HalfExplicitTableau {
  int order = 0;
  std::vector<double> c;               // of stages 1, ..., s + 1
  std::vector<std::vector<double>> a;  // rows of stages 2, ..., s + 1
  int stages() const { return static_cast<int>(a.size()); }
};
/// Order 1, 3 or 4.
HalfExplicitTableau half_explicit_tableau(int order);

/// One step as a map from (y, z) to (y, z).
class HalfExplicitStep {
 public:
  HalfExplicitStep(std::shared_ptr<const System> system, const HalfExplicitTableau& tableau, LinearAlgebra choice);
  /// psi is the first guess of the multipliers. False where a stage cannot be solved.
  bool apply(double t, double h, const double* y0, const double* z0, const double* psi, double* y1, double* z1);
  long evaluations = 0, factorisations = 0, iterations = 0, solved = 0;
  double increments = 0;

 private:
  using Q = Quantity;
  bool stage(int i, double t, double h, const double* z0, const double* psi);
  double* Y(int i) { return y_.data() + static_cast<std::ptrdiff_t>(i) * ny_; }
  double* Z(int i) { return z_.data() + static_cast<std::ptrdiff_t>(i) * nz_; }
  double* V(int i) { return v_.data() + static_cast<std::ptrdiff_t>(i) * ny_; }
  double* K(int i) { return k_.data() + static_cast<std::ptrdiff_t>(i) * nz_; }

  std::shared_ptr<const System> system_;
  HalfExplicitTableau tableau_;
  int ny_, nz_, m_;
  bool linear_, one_solve_;
  std::unique_ptr<Evaluation> here_, next_;
  SaddleKernel kernel_;
  std::vector<double> y_, z_, v_, k_, base_, lambda_, right_;
};

/// A whole step of the method: order 5 is put together from Euler steps, and positions are projected where asked for.
class HalfExplicitMap {
 public:
  HalfExplicitMap(std::shared_ptr<const System> system, const HalfExplicitOptions& options, LinearAlgebra choice);
  bool apply(double t, double h, const double* y0, const double* z0, const double* psi, double* y1, double* z1);
  long evaluations() const { return step_.evaluations + projection_.evaluations() + end_projection_.evaluations(); }
  long factorisations() const { return step_.factorisations; }
  long iterations() const { return step_.iterations; }
  long solved() const { return step_.solved; }
  double increments() const { return step_.increments; }

 private:
  bool extrapolate(double t, double h, const double* y0, const double* z0, const double* psi, double* y1, double* z1);
  std::shared_ptr<const System> system_;
  HalfExplicitStep step_;
  ConstraintProjection projection_, end_projection_;
  int order_, n_;
  std::vector<double> table_, y_, z_;
};

}  // namespace hinge
