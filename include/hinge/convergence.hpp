// Convergence: errors at the end of a run for several steps, and the orders that are observed.
//
//   const auto exact = hinge::exact_reference(*model.system, model.exact, model.end);
//   const auto study = hinge::convergence_study({model.system, model.start, 0, model.end}, exact,
//                                               {{"rattle", hinge::rattle()}}, {0.1, 0.05, 0.025});
//   std::cout << study;
#pragma once

#include <array>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

/// What is integrated again and again.
struct ConvergenceProblem {
  std::shared_ptr<const System> system;
  Start start;
  double begin = 0, end = 0;
  SolverOptions solver{};
  std::function<bool(double t)> referring{};  ///< asked while a reference is computed; false ends it with an Error
};

/// A method and the name it has in results: "gauss-lobatto(stages=2)".
struct StudiedMethod {
  std::string name;
  MethodChoice method;
};

/// What end states are compared with. A part that is empty is not compared.
struct Reference {
  enum class Kind { exact, method, file };
  enum class Second { z, velocity, momentum };
  Kind kind = Kind::exact;
  std::string description;    ///< after "errors against"
  double step = 0;            ///< of the method
  Second second = Second::z;  ///< what `z` holds: z itself, or v(t, y, z), or p(t, y, z)
  std::vector<double> y, z, psi;
  StateErrors own_error{};            ///< of y, z and psi, as estimated; empty where nothing is known about it
  std::vector<std::string> doubts{};  ///< a sentence each
};

/// The exact solution at t. An InputError where it is no finite number.
Reference exact_reference(const System& system, const ExactSolution& exact, double t);
/// The end of a run with a small step, with the multipliers that belong to its y and z. Throws StepFailure.
Reference computed_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double step);
/// Where nothing better is known: gauss-lobatto with many stages; or, for a system that it cannot treat, the method of
/// the highest order among `methods`. `step` is chosen by reference_step where it is not given.
Reference default_reference(const ConvergenceProblem& problem, const std::vector<StudiedMethod>& methods,
                            double smallest_step, std::optional<double> step = {});
/// The row at t of a file that a run recorded. An InputError where a column or the time is missing.
Reference recorded_reference(const System& system, const std::string& path, double t);
/// A step with which the error of `method` is no more than 1/64 of what it is with `smallest_step`.
double reference_step(const MethodChoice& method, double smallest_step);

/// One run of a study.
struct ConvergencePoint {
  double step = 0;
  long steps = 0;
  bool fitted = false;              ///< the last step was shorter than the others: `step` does not divide the time
  std::string failure;              ///< why the run failed; empty for one that reached the end
  StateErrors error;                ///< at the end
  StateErrors order;                ///< observed from the step before to this one
  std::array<bool, 3> round_off{};  ///< the error is that of the arithmetic, not of the method
  Counters counters;
  double wall_seconds = 0;
};

/// The slope of log error over log step, by least squares.
struct FittedOrder {
  std::optional<double> order;  ///< empty with fewer than two points
  int points = 0;               ///< finished, and above round-off
};

/// All runs of one method, with decreasing steps.
struct ConvergenceSeries {
  std::string name;
  int order = 0, multiplier_order = 0;  ///< as the method claims
  std::vector<ConvergencePoint> points;
  std::array<FittedOrder, 3> fitted;  ///< of y, z and the multipliers
};

/// Prints as one table per method.
struct ConvergenceStudy {
  Reference reference;
  double begin = 0, end = 0;
  std::array<std::string, 3> part_names;  ///< what the system calls y, z and the multipliers
  std::vector<ConvergenceSeries> series;
  bool stopped = false;  ///< by the progress callback; finished runs are there

  int failures() const;
  std::vector<std::string> notes() const;  ///< what to keep in mind when reading the orders, one sentence each
};
std::ostream& operator<<(std::ostream& out, const ConvergenceStudy& study);

/// Called about ten times a second; return false to end the study with the runs that are finished.
using ConvergenceProgress = std::function<bool(const std::string& method, double step, double t)>;

/// Runs every method with every step. A run that fails is noted in its place, and the others go on.
ConvergenceStudy convergence_study(const ConvergenceProblem& problem, const Reference& reference,
                                   const std::vector<StudiedMethod>& methods, std::vector<double> steps,
                                   const ConvergenceProgress& progress = {});

}  // namespace hinge
