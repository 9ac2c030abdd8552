// What end states are compared with, and how far off they are.
#pragma once

#include "hinge/convergence.hpp"

namespace hinge {

/// What the system calls y, z and the multipliers; `second` says what stands in the place of z.
std::array<std::string, 3> part_names(const Layout& layout, Reference::Second second);

/// The exact solution at t, finite or not. An InputError where it does not fit the system or depends on more than t.
Reference evaluate_exact(const System& system, const ExactSolution& exact, double t);

/// Euclidean norms of the differences, for the parts that the reference has.
StateErrors errors_against(const Reference& reference, const System& system, const State& state);

/// For one run of a study: to a tolerance or, where that is zero, with a step.
SimulationOptions options_for(const ConvergenceProblem& problem, double tolerance, double step);

/// One run of a study, from the start to the end or to where it fails.
struct StudyRun {
  State first;
  Report report;
  std::string failure;  ///< why it failed; empty where it reached the end
  StateErrors error;    ///< against the reference, at the end
};
/// `progress` gets the tolerance or the step of the run.
StudyRun run_once(const ConvergenceProblem& problem, const Reference& reference, const StudiedMethod& method,
                  const SimulationOptions& options, const ConvergenceProgress& progress);

/// Which of y, z and the multipliers the reference has.
std::vector<std::size_t> parts_of(const Reference& reference);
/// "1.23e-05", or "-" where there is none.
std::string error_text(const std::optional<double>& error);

double euclidean_norm(const std::vector<double>& x);

}  // namespace hinge
