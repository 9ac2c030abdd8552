// The derivative array as an implicit problem; see dae_problem.hpp.
#pragma once

#include <vector>

#include <Eigen/Dense>

#include "formulation/implicit/derivative_array.hpp"
#include "formulation/implicit/implicit_problem.hpp"
#include "solve/linear/lu.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

class ArrayProblem final : public ImplicitProblem {
 public:
  explicit ArrayProblem(DaeStructure& structure);

  void residual(double t, const double* x, const double* rate, double* out) override;
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override;
  bool rate_matrix_is_constant() const override { return true; }
  bool from_state(const State& state, double* x, double* rate) override;
  void to_state(double t, const double* x, const double* rate, State& state) const override;
  void show(double t, const double* x, const double* rate, State& state) override;
  Change accepted(double t, const double* x) override;
  /// Places in X whose derivatives are integrated.
  const std::vector<int>& integrated() const { return integrated_; }

 private:
  bool factor(double t, const double* x);
  void choose();
  void rebuild();

  DerivativeArray array_;
  std::vector<int> low_, high_;  // columns: highest derivatives, and the others
  std::vector<int> dependent_;   // among low_
  std::vector<int> integrated_;  // places in X
  std::vector<double> values_;
  Eigen::MatrixXd top_, rest_, free_, own_;
  PivotedQr free_qr_;
  Lu<double> own_lu_;
  std::vector<double> full_, full_rate_, scale_;
  std::vector<char> free_unknowns_;
};

}  // namespace hinge
