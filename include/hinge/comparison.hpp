// Work against precision: what an error costs, method by method.
//
//   const auto work = hinge::compare_methods({model.system, model.start, 0, model.end}, reference,
//                                            {{"explicit", hinge::make_method("explicit", {})}}, {1e-6, 1e-9}, {});
//   std::cout << work;
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hinge/convergence.hpp"

namespace hinge {

/// One run.
struct WorkPoint {
  double tolerance = 0, step = 0;  ///< one of these
  long steps = 0;
  std::string failure;          ///< why the run failed; empty for one that reached the end
  StateErrors error;            ///< at the end; no less than the reference's own
  std::array<bool, 3> below{};  ///< less than the reference's own error, which `error` then is: a bound, no measurement
  Counters counters;
  double seconds = 0;  ///< of the integration alone: the shortest of a few runs
};

struct WorkSeries {
  std::string name;
  std::vector<WorkPoint> points;
};

/// Prints as one table.
struct WorkPrecision {
  Reference reference;
  double begin = 0, end = 0;
  std::array<std::string, 3> part_names;
  std::vector<WorkSeries> series;
  bool stopped = false;
  int failures() const;
};
std::ostream& operator<<(std::ostream& out, const WorkPrecision& work);

/// The end of a run to a tight tolerance, with the multipliers that belong to its y and z. Throws StepFailure.
Reference adaptive_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double tolerance);

/// A run of the method with the estimate of its own error, from a second one: to ten times the tolerance, or with twice
/// the step. Throws as the runs do.
Reference doubled_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double tolerance,
                            double step);
/// That of the candidates with the smallest error of its own; doubts where two of them contradict each other. Those
/// with steps of given length take part where `smallest_step`, the smallest that is compared, is positive.
Reference best_reference(const ConvergenceProblem& problem, const std::vector<StudiedMethod>& candidates,
                         double tolerance, double smallest_step);

/// Runs every method that chooses its steps with every tolerance, and every other one with every step.
WorkPrecision compare_methods(const ConvergenceProblem& problem, const Reference& reference,
                              const std::vector<StudiedMethod>& methods, const std::vector<double>& tolerances,
                              const std::vector<double>& steps, const ConvergenceProgress& progress = {});

}  // namespace hinge
