// Work against precision, and its table.
#include "hinge/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/reference.hpp"

namespace hinge {

namespace {

// A run is repeated until its shortest time can be trusted, but never for long.
constexpr int most_repeats = 7;
constexpr double enough_seconds = 0.1;

// An error below that of the reference is not measured: it is as small as that, or smaller.
void bound_below(const Reference& reference, WorkPoint& point) {
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& own = reference.own_error[k];
    point.below[k] = point.error[k] && own && *point.error[k] < *own;
    if (point.below[k]) point.error[k] = own;
  }
}

// False when it was stopped.
bool measure(const ConvergenceProblem& problem, const Reference& reference, const StudiedMethod& method,
             WorkPoint& point, const ConvergenceProgress& progress) {
  double total = 0;
  for (int k = 0; k < most_repeats && (k == 0 || total < enough_seconds) && point.failure.empty(); ++k) {
    const StudyRun run =
        run_once(problem, reference, method, options_for(problem, point.tolerance, point.step), progress);
    if (run.report.status == RunStatus::stopped) return false;
    point.steps = run.report.steps;
    point.counters = run.report.counters;
    point.seconds = k == 0 ? run.report.wall_seconds : std::min(point.seconds, run.report.wall_seconds);
    point.failure = run.failure;
    point.error = run.error;
    bound_below(reference, point);
    total += run.report.wall_seconds;
  }
  return true;
}

}  // namespace

WorkPrecision compare_methods(const ConvergenceProblem& problem, const Reference& reference,
                              const std::vector<StudiedMethod>& methods, const std::vector<double>& tolerances,
                              const std::vector<double>& steps, const ConvergenceProgress& progress) {
  if (methods.empty()) throw InputError("there is no method to compare");
  WorkPrecision work;
  work.reference = reference;
  work.begin = problem.begin;
  work.end = problem.end;
  work.part_names = part_names(problem.system->layout(), reference.second);
  // A method that cannot treat the system is refused before anything is computed.
  for (const StudiedMethod& m : methods) {
    if (m.method.info.can.chosen_steps && tolerances.empty())
      throw InputError(fmt::format("{} chooses its steps; give tolerances, as in 1e-4, 1e-6, 1e-8", m.name));
    if (!m.method.info.can.chosen_steps && steps.empty())
      throw InputError(fmt::format("{} takes steps of given length; give steps, as in 0.01, 0.001", m.name));
    Simulation(
        problem.system, m.method,
        m.method.info.can.chosen_steps ? options_for(problem, tolerances[0], 0) : options_for(problem, 0, steps[0]));
  }
  for (const StudiedMethod& m : methods) {
    WorkSeries& series = work.series.emplace_back(WorkSeries{m.name, {}});
    for (const double setting : m.method.info.can.chosen_steps ? tolerances : steps) {
      WorkPoint point;
      (m.method.info.can.chosen_steps ? point.tolerance : point.step) = setting;
      work.stopped = !measure(problem, reference, m, point, progress);
      if (work.stopped) return work;
      series.points.push_back(std::move(point));
    }
  }
  return work;
}

int WorkPrecision::failures() const {
  int count = 0;
  for (const WorkSeries& s : series)
    count += static_cast<int>(
        std::count_if(s.points.begin(), s.points.end(), [](const WorkPoint& p) { return !p.failure.empty(); }));
  return count;
}

std::ostream& operator<<(std::ostream& out, const WorkPrecision& work) {
  out << fmt::format("Errors at t = {:g} against {}\n", work.end, work.reference.description);
  const std::vector<std::size_t> parts = parts_of(work.reference);
  std::string own;
  for (const std::size_t part : parts)
    if (const auto& e = work.reference.own_error[part])
      own += fmt::format("{}{:.1e} ({})", own.empty() ? "" : ", ", *e, work.part_names[part]);
  if (!own.empty()) out << fmt::format("whose own error is about {}; smaller ones are not measured\n", own);
  for (const std::string& doubt : work.reference.doubts) out << fmt::format("doubtful: {}\n", doubt);
  for (const WorkSeries& series : work.series) {
    out << fmt::format("\n{}\n{:>12} {:>8} {:>9}", series.name,
                       !series.points.empty() && series.points[0].step > 0 ? "step" : "tolerance", "steps", "rejected");
    for (const std::size_t part : parts) out << fmt::format(" {:>11}", work.part_names[part]);
    out << fmt::format(" {:>12} {:>10} {:>14} {:>10}\n", "evaluations", "iterations", "factorisations", "seconds");
    for (const WorkPoint& p : series.points) {
      out << fmt::format("{:>12.3g} {:>8} {:>9}", std::max(p.tolerance, p.step), p.steps,
                         p.counters.rejected + p.counters.failed);
      if (!p.failure.empty()) {
        out << "      failed\n";
        continue;
      }
      for (const std::size_t part : parts)
        out << fmt::format(" {:>11}", (p.below[part] ? "< " : "") + error_text(p.error[part]));
      out << fmt::format(" {:>12} {:>10} {:>14} {:>10.3g}\n", p.counters.evaluations, p.counters.iterations,
                         p.counters.factorisations, p.seconds);
    }
    for (const WorkPoint& p : series.points)
      if (!p.failure.empty()) out << fmt::format("  {:g} failed: {}\n", std::max(p.tolerance, p.step), p.failure);
  }
  if (work.stopped) out << "\nnote: stopped; only finished runs are shown\n";
  return out;
}

}  // namespace hinge
