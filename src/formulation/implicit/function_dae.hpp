// A DAE F(t, x, x') = 0 that is a function of the user's, not expressions: nothing of it is differentiated but F_x and
// F_x', and so it is solved as it stands. That is right up to index 1, and for higher indices in Hessenberg's form
// where the index of every unknown is told; the start has to be consistent.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"

namespace hinge {

class FunctionDae final : public System {
 public:
  using Residual = std::function<void(double t, const double* x, const double* rate, double* out)>;
  /// F_x and F_x', row by row.
  using Jacobian = std::function<void(double t, const double* x, const double* rate, double* f_x, double* f_rate)>;

  /// `index`: of each unknown, 1 for those that are differential or of index 1. Without a Jacobian it is found by
  /// differences, one evaluation for each column.
  FunctionDae(std::vector<std::string> unknowns, Residual residual, std::vector<int> index, Jacobian jacobian = {});

  const Residual& residual() const { return residual_; }
  const Jacobian& jacobian() const { return jacobian_; }
  const std::vector<int>& index() const { return index_; }

 private:
  Residual residual_;
  Jacobian jacobian_;
  std::vector<int> index_;
};

std::unique_ptr<ImplicitProblem> make_function_dae_problem(std::shared_ptr<const FunctionDae> system);

}  // namespace hinge
