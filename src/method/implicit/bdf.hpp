// Backward differentiation formulas on F(t, x, x') = 0: what the two steppers share, and how they are made.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

struct BdfOptions {
  FormulationOptions form{};
  double keep_partition = 0.5;  ///< as in formulate()
  int order = 5;                ///< with chosen steps the largest, else the order
  /// "extended" with steps of given length: Newton's iteration for the overdetermined system, in which mu and tau are
  /// the multipliers of a symmetric saddle point instead of unknowns.
  bool ssf = false;
  /// After every step. Where nothing is asked for: none with steps of given length, which leave round-off; with chosen
  /// steps both levels where the formulation has both, since Newton's iteration leaves a part of the tolerance.
  std::optional<Projection> projection{};
};

/// Steps of given length. Defined in bdf_fixed.cpp.
std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver);
/// The same with a history of the user's: `order` states, h apart, the last of which is where the next step begins.
/// What starting values cost in accuracy is thus left to whoever gives them.
std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver, const std::vector<State>& history, double h);

/// Steps that are chosen to meet a tolerance. Defined in bdf_adaptive.cpp.
std::unique_ptr<Stepper> make_adaptive_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                           const SolverOptions& solver, const StepOptions& adaptive);

/// Why the equations of a step could not be solved, with the likely cause.
StepResult bdf_failure(const System& system, const State& state, double h, NewtonTrouble trouble);

}  // namespace hinge
