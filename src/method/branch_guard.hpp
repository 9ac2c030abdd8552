// Which root? A reaction that is nonlinear in psi leaves several multipliers that satisfy the equations of a step, and
// only those on the branch of the consistent one belong to the motion.
//
// Between two branches S(psi) = g_y v_z p_z^-1 r_psi(psi) is singular. Going from one multiplier to another, d apart,
// stays on the branch when S hardly changes along d:
//
//   change = |S(from)^-1 S(to) d - d| / |d|  <=  1/2
//
// For a quadratic reaction this holds everywhere between the two or nowhere, and the root is then the only one near.
// Positions can leave the branch as well, to another sheet of g = 0: then the determinant of [[p_z, -r_psi],
// [g_y v_z, 0]] changes its sign between the start of the step and its end, which no continuous motion can do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/method.hpp"
#include "solve/saddle_point.hpp"

namespace hinge {

class BranchGuard {
 public:
  /// The largest change that counts as staying on the branch.
  static constexpr double allowed = 0.5;

  BranchGuard(const System& system, LinearAlgebra choice);
  /// Is the reaction nonlinear in psi, or not known to be affine?
  bool needed() const { return needed_; }
  /// `change` at (t, y, z); infinite where S(from) is singular.
  double change(double t, const double* y, const double* z, const double* from, const double* to);
  /// On which side of det S = 0? 1 or -1, and 0 where it is singular.
  int side(double t, const double* y, const double* z, const double* psi);

 private:
  const System& system_;
  bool needed_;
  std::unique_ptr<Evaluation> at_from_, at_to_;
  std::unique_ptr<SaddlePoint> saddle_;
  std::vector<double> step_, right_;
};

/// The message for a step whose multipliers leave the branch, or have no digit right because the step is too short.
StepResult left_the_branch(const System& system, const State& state, double h, const char* which);

}  // namespace hinge
