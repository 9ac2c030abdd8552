// One step of Radau IIA with three stages on F(t, x, x') = 0, by Newton's iteration with the whole matrix of all
// stages: starting values for multistep methods, not meant to be fast.
//
//   F(t0 + c_i h, X_i, (1/h) sum_j Gamma_ij (X_j - x0)) = 0, i = 1..3;   x1 = X_3
//
// Order 5 for positions and velocities on the formulation projected-invariants.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "method/implicit/bdf.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

class RadauStart {
 public:
  RadauStart(ImplicitProblem& problem, LinearAlgebra choice);
  /// Advances the state by h; it is unchanged where there is trouble.
  NewtonTrouble step(State& state, double h, Counters& counters);

 private:
  static constexpr std::size_t stages = 3;
  void rebuild();
  bool factor(double t, double h);
  void rates(std::size_t stage, double h);

  ImplicitProblem& problem_;
  LinearAlgebra choice_;
  std::size_t n_;
  std::array<std::array<double, stages>, stages> gamma_;
  std::unique_ptr<LinearSolver> solver_;
  Pattern pattern_, of_stage_;  // of all stages, and what it was made of: that of one
  std::vector<double> x0_, rate_, x_, increment_, f_x_, f_rate_, values_;
};

}  // namespace hinge
