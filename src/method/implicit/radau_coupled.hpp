// Newton's iteration on the stage equations of a Radau IIA step with the derivatives of each stage, not of one point
// for all of them: one matrix of s n rows,
//
//   (1/h) gamma_ij F_x'(stage i) + delta_ij F_x(stage i),      i, j = 1..s
//
// It costs much more than the simplified iteration of radau_stages.hpp and is for steps in which that does not
// contract: stabilised constraints in units in which their multipliers mu and tau do much more to some unknowns than to
// others.
#pragma once

#include <memory>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "method/implicit/radau_tableau.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

class RadauCoupled {
 public:
  RadauCoupled(ImplicitProblem& problem, const RadauTableau& tableau, LinearAlgebra choice, Counters& counters)
      : problem_(problem), tableau_(tableau), choice_(choice), counters_(counters) {}
  enum class Outcome { improved, singular, not_finite };
  /// Z, stage after stage, is improved; dz is what was added.
  Outcome iterate(double t0, const double* x0, double h, double* z, double* dz);

 private:
  void match_pattern();

  ImplicitProblem& problem_;
  const RadauTableau& tableau_;
  LinearAlgebra choice_;
  Counters& counters_;
  Pattern pattern_;  // of one stage, that everything below is made for
  std::unique_ptr<LinearSolver> solver_;
  std::vector<double> f_x_, f_rate_, values_, x_, rate_;
};

}  // namespace hinge
