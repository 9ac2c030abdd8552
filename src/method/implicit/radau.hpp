// Radau IIA methods: a step of given length (radau_fixed.cpp has the equations, the order and what is preserved), and
// steps that are chosen to meet a tolerance (radau_adaptive.cpp).
#pragma once

#include <memory>
#include <optional>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "method/consistent_row.hpp"

namespace hinge {

/// From the unknowns of a formulation to a state, with the multipliers that the options ask for.
class RadauReport {
 public:
  /// `shown`: the levels that the state is put onto.
  RadauReport(std::shared_ptr<const System> system, const ImplicitProblem& problem, const RadauOptions& options,
              Projection shown = Projection::none);
  /// The multipliers are the formulation's where those that belong to y and z cannot be computed.
  void fill(double t, const double* x, const double* rate, State& state) const;

 private:
  const ImplicitProblem& problem_;
  mutable std::optional<ConsistentRow> multipliers_;  // where they are recomputed
};

std::unique_ptr<Stepper> make_radau_stepper(std::shared_ptr<const System> system, const RadauOptions& radau,
                                            const SolverOptions& solver);
std::unique_ptr<Stepper> make_radau_adaptive(std::shared_ptr<const System> system, const RadauOptions& radau,
                                             const SolverOptions& solver, const StepOptions& adaptive);

}  // namespace hinge
