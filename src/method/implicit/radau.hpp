// Radau IIA methods: a step of given length (radau_fixed.cpp has the equations, the order and what is preserved), and
// steps that are chosen to meet a tolerance (radau_adaptive.cpp).
#pragma once

#include <memory>
#include <vector>

#include "formulation/acceleration.hpp"
#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"

namespace hinge {

/// From the unknowns of a formulation to a state, with the multipliers that the options ask for.
class RadauReport {
 public:
  RadauReport(std::shared_ptr<const System> system, const ImplicitProblem& problem, const RadauOptions& options);
  /// The multipliers are the formulation's where those that belong to y and z cannot be computed.
  void fill(double t, const double* x, const double* rate, State& state) const;

 private:
  const ImplicitProblem& problem_;
  std::unique_ptr<Acceleration> acceleration_;  // where multipliers are recomputed
  mutable std::vector<double> psi_, v_, a_;
};

std::unique_ptr<Stepper> make_radau_stepper(std::shared_ptr<const System> system, const RadauOptions& radau,
                                            const SolverOptions& solver);
std::unique_ptr<Stepper> make_radau_adaptive(std::shared_ptr<const System> system, const RadauOptions& radau,
                                             const SolverOptions& solver, const StepOptions& adaptive);

}  // namespace hinge
