// The matrix  F_x + c F_x'  of an implicit problem, scaled by powers of h so that its condition does not depend on h:
// row i is multiplied with h^a_i, and the unknown j is solved for as h^b_j x_j.
#pragma once

#include <memory>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

class IterationMatrix {
 public:
  IterationMatrix(ImplicitProblem& problem, LinearAlgebra choice);
  /// To be called when the problem's pattern has changed.
  void rebuild();
  /// New derivatives, at a point.
  void evaluate(double t, const double* x, const double* rate);
  /// Factorises F_x + c F_x' with the derivatives that were evaluated last. False where it is singular.
  bool factor(double h, double c);
  /// x <- (F_x + c F_x')^-1 x
  void solve(double* x);
  const double* f_x() const { return f_x_.data(); }
  const double* f_rate() const { return f_rate_.data(); }
  /// h^a_i and h^-b_j for this h.
  void scale(double h);
  const std::vector<double>& row_factor() const { return row_; }
  const std::vector<double>& column_factor() const { return column_; }

 private:
  ImplicitProblem& problem_;
  LinearAlgebra choice_;
  std::unique_ptr<LinearSolver> solver_;
  std::vector<double> f_x_, f_rate_, values_, row_, column_;
};

}  // namespace hinge
