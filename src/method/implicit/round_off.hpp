// What rounding makes of each unknown of an implicit problem, whatever the units of its numbers: Newton's increments
// are followed down to that.
//
//   y, z             eps times the largest of all positions, and of all z; of z where it is well scaled as h z, not
//   less
//                    than eps |y|/h
//   multipliers ...  eps times their own size, and what the rows of A = F_x + c F_x' make of the noise of the others:
//                    of the rows in which unknown k occurs, the one that determines it best,
//                    noise_k = min_i (1/|A_ik|) sum_j |A_ij| noise_j
//   unknowns that vanish on every solution (mu, tau) are not measured: what they do shows in the others
//
// Unknowns of a DAE stand for themselves, and for a thousandth of the largest.
//
// Far from the origin what is differences of positions, such as the force of a spring, is uncertain by far more than
// eps of z: where iterations do not get below that, z counts with the most that the rows of p' make of the noise of y;
// where they do not get below that either, with eps |y|/h, as far as that is little beside z.
//
// In the origin positions may be less than rounding of what constraints are made of, as x^2 + (y - 1)^2 - 1: where
// iterations have gone on for long, they count with what the rounding of such rows makes of them, w_i / |A_i|.
#pragma once

#include <vector>

#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

class RoundOff {
 public:
  RoundOff(const System& system, const ImplicitProblem& problem);
  /// A step of length h from x with the slope x'.
  void begin(double h, const double* x, const double* rate);
  /// With new derivatives, in the order of the problem's pattern.
  void spread(const double* f_x, const double* f_rate, double c);
  /// Where the motion begins at zero, at rest, sizes are those of where it comes to.
  void raise(const double* x);
  /// `within` is the rounding within each row; derivatives as above. Of this step.
  void raise_by_rows(const double* within, const double* f_x, const double* f_rate);
  /// What z counts with from now on.
  enum class Far { own, rows, positions };
  void count(Far far) { far_ = far; }
  Far counted() const { return far_; }
  /// Of unknown k; infinite where it is not measured.
  double operator[](std::size_t k) const { return noise_[k]; }

 private:
  void set(double y, double z);
  void spread();
  void spread_to_z();

  const ImplicitProblem& problem_;
  std::size_t ny_, nz_;
  bool dae_;
  Far far_ = Far::own;
  double h_ = 0, y_ = 0, z_ = 0;
  std::vector<double> reach_, noise_, best_, matrix_, row_;  // matrix_: |A|, empty before the first one
};

}  // namespace hinge
