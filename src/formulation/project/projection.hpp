// Back onto the constraints after a step, in the mass metric:
//
//   (28a)  M(q) (q - p) + G(q)^T mu = 0,  g(t, q) = 0                    positions
//   (28b)  M(q) (v - u) + G(q)^T eta = 0,  g_t + G(q) v = 0  at this q    velocities
//
// In the problem class, with v_z and p_z:  y = y0 + v_z w,  p_z w = r_psi mu;  for general ODAEs, which have no mass
// metric, the Euclidean one, as at the start. Simplified Newton iterations with one factorised matrix, to round-off. A
// correction that is small already, as after a step of an accurate method, takes the matrix of a point nearby: then
// the direction is off by the square of a small number, and only g is evaluated. Small mechanisms take that of the
// point itself, and most often two corrections of either level are enough (two_corrections.hpp). Corrections are
// compared with the unknowns; where those are nearly zero, residuals with their own rounding (constraint_rounding.hpp).
//
// Velocity constraints w(t, y, z) = 0 are rows of (28b) alone; positions are put back without them.
//
// Orders are kept, since corrections are of the size of the local error. Not kept: symmetry, symplecticity, the energy.
#pragma once

#include <memory>
#include <vector>

#include "formulation/constraint_rounding.hpp"
#include "hinge/formulation.hpp"
#include "hinge/system.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge {

class Acceleration;

class ConstraintProjection {
 public:
  ConstraintProjection(std::shared_ptr<const System> system, Projection which,
                       LinearAlgebra choice = LinearAlgebra::automatic);
  /// Is there anything to do?
  bool active() const { return position_ || velocity_; }
  /// Does project() first ask for Acceleration::project()? That it has been done, by who has called the same code.
  bool by_code() const { return twice_; }
  void projected_by_code() { evaluations_ += 4; }
  /// Moves y and z; psi matters only where r_psi depends on it. `near`: accelerations that were computed at a
  /// point nearby, whose matrix serves; or null. False where the iteration does not converge; y and z are then of no
  /// use.
  bool project(double t, double* y, double* z, const double* psi, Acceleration* near = nullptr);
  /// Passes over the system's functions so far.
  long evaluations() const { return evaluations_; }

 private:
  using Q = Quantity;
  bool correct_twice(double t, double* y, double* z, const double* psi);
  bool project_position(double t, double* y, const double* z, const double* psi, SaddleKernel* nearby);
  bool descend(double t, double* y, const double* z, const double* psi, SaddleKernel& matrix, double change);
  bool project_velocity(double t, const double* y, double* z, const double* psi, SaddleKernel* nearby);
  bool factor(SaddleKernel& matrix, bool euclidean_position);
  double solve_for(SaddleKernel& matrix, const double* residual, int rows);
  void evaluate(double t, const double* y, const double* z, const double* psi);

  std::shared_ptr<const System> system_;
  bool position_, velocity_, euclidean_, velocity_is_z_, ideal_, twice_;
  int ny_, nz_, ng_, m_;  // m: rows of the velocity level
  std::unique_ptr<Evaluation> g_, rate_, all_;
  std::unique_ptr<SaddleKernel> position_matrix_, velocity_matrix_;
  ConstraintRounding rounding_;
  std::vector<double> y0_, w_, mu_, right_, ones_;
  long evaluations_ = 0;
};

}  // namespace hinge
