// F(t, x, x') and its derivatives, however they are computed: what implicit problems are made of.
#pragma once

#include <memory>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

class ImplicitRows {
 public:
  virtual ~ImplicitRows() = default;
  /// Where F_x or F_x' have entries.
  const Pattern& pattern() const { return pattern_; }
  const std::vector<ImplicitProblem::Unknown>& unknowns() const { return unknowns_; }
  const std::vector<int>& row_scale() const { return row_scale_; }
  bool rate_matrix_is_constant() const { return rate_matrix_is_constant_; }

  virtual void residual(double t, const double* x, const double* rate, double* out) = 0;
  /// At `count` points: t, and x, x' and F of all points one after the other.
  virtual void residuals(int count, const double* t, const double* x, const double* rate, double* out) = 0;
  /// F_x and F_x', both in the order of the pattern.
  virtual void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) = 0;
  /// out[i] += what rounding within F_i may come to, as far as that is known.
  virtual void add_rounding(double /*t*/, const double* /*x*/, const double* /*rate*/, double* /*out*/) {}

 protected:
  ImplicitRows() = default;
  ImplicitRows(ImplicitRows&&) = default;
  ImplicitRows& operator=(ImplicitRows&&) = default;

  Pattern pattern_;
  std::vector<ImplicitProblem::Unknown> unknowns_;
  std::vector<int> row_scale_;
  bool rate_matrix_is_constant_ = false;
};

}  // namespace hinge
