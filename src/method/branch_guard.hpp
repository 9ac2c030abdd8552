// Which root? A reaction that is nonlinear in psi leaves several multipliers that satisfy the equations of a step, and
// only those on the branch of the consistent one belong to the motion.
//
// Between two branches S(psi) = g_y v_z p_z^-1 r_psi(psi) is singular. Going from one multiplier to another, d apart,
// stays on the branch when S hardly changes on the way:
//
//   change = max over s in (0, 1] of |S(from)^-1 S(from + s d) d - d| / |d|  <=  1/2
//
// Positions can leave the branch as well, to another sheet of g = 0: then the determinant of [[p_z, -r_psi],
// [g_y v_z, 0]] changes its sign between the start of the step and its end, which no continuous motion can do.
//
// How steps use this where r is nonlinear in psi: a first guess that continues earlier steps is taken if it lies on the
// branch of the last multipliers, and its solution if the first contraction of Newton's method says that there is no
// other near. Otherwise the step is grown from h = 0, where the solution is known, in pieces for which the same holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/method.hpp"
#include "solve/linear/saddle_point.hpp"

namespace hinge {

class BranchGuard {
 public:
  /// The largest change that counts as staying on the branch.
  static constexpr double allowed = 0.5;
  /// The largest first contraction of Newton's method with exact derivatives that counts as safe.
  static constexpr double safe_contraction = 0.25;
  /// Pieces of the step shorter than this mean that the branch ends.
  static constexpr double shortest_piece = 1.0 / 1024;

  BranchGuard(const System& system, LinearAlgebra choice);
  /// Is the reaction nonlinear in psi, or not known to be affine, or does it depend on z? Then steps have several
  /// solutions.
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
  std::vector<double> step_, right_, point_;
};

/// The message for a step whose multipliers leave the branch, or have no digit right because the step is too short.
StepResult left_the_branch(const System& system, const State& state, double h, const char* which);

}  // namespace hinge
