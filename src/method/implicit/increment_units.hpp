// In which units Newton's increments of an implicit problem are measured, whatever the units of its numbers.
//
// Unknowns of an error test: in units of their tolerance. Others (multipliers, accelerations, velocities of the
// formulation index-3) are determined by a row of  A = F_x + c F_x',  in which an increment of unknown k shows as
// A_ik dx_k, beside what the unknowns before it do. From the row i where that is largest come
//
//   noise_k    = (1/|A_ik|) sum_j |A_ij| noise_j,        noise_j = eps |x_j| for those of the error test
//   natural_k  = (1/|A_ik|) sum_j |A_ij| tolerance_j
//
// An unknown that is a result is measured in units of its own tolerance, or of a multiple of its noise where that is
// larger: a spring of stiffness 1e8 makes 1e-8 of the rounding of a length. One that is not, in natural units: what it
// does to the others counts.
#pragma once

#include <vector>

#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

class IncrementUnits {
 public:
  /// The first `results` unknowns, and all of index 1, are results.
  IncrementUnits(const ImplicitProblem& problem, int results);
  /// For matrices at a point: `tolerance` of each unknown.
  void update(const double* f_x, const double* f_rate, double c, const double* x, const std::vector<double>& tolerance);
  /// 1 / unit, for a tolerance that may have changed since; 0 for unknowns that vanish on every solution.
  double weight(std::size_t k, double tolerance) const;

 private:
  void spread(int level);

  const ImplicitProblem& problem_;
  std::vector<int> level_;  // in which order they are determined; -1: they vanish
  std::vector<char> result_;
  std::vector<double> noise_, unit_, row_noise_, row_unit_, entries_;  // entries: |A_ij|
};

}  // namespace hinge
