// A convergence study: every method with every step, errors at the end, observed and fitted orders.
//
// What counts as round-off. An error below 100 eps times the size of the solution does. So does one that falls off
// slower than half the method's order where rounding can reach: the sums of n steps collect it, and a multiplier is
// found by dividing by the step, at worst twice. Once the arithmetic wins, smaller steps do not change that. A level
// that lies higher than this is a wrong reference (or a wrong method), and stays in the fit, where it shows.
#include "hinge/convergence.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/grid.hpp"
#include "simulate/reference.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr double always_rounding = 100 * epsilon;
constexpr double perhaps_rounding = 1e-10;

double reach_of_rounding(std::size_t part, long steps) {
  const double n = static_cast<double>(steps);
  return std::max(perhaps_rounding, part == 2 ? 100 * epsilon * n * n : 10 * epsilon * n);
}

std::vector<double> checked(std::vector<double> steps, double begin, double end) {
  if (!std::isfinite(begin) || !std::isfinite(end) || !(end > begin))
    throw InputError(fmt::format("there is nothing to measure from t = {} to {}; choose a later end", begin, end));
  if (steps.empty()) throw InputError("there are no steps; give two or more, as in 0.1, 0.05, 0.025");
  std::sort(steps.begin(), steps.end(), std::greater<>());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (!(steps[k] > 0) || !std::isfinite(steps[k]))
      throw InputError(fmt::format("a step of {}; steps are positive numbers, as in 0.1, 0.05, 0.025", steps[k]));
    if (k > 0 && steps[k] == steps[k - 1])
      throw InputError(fmt::format("the step {} is given twice; keep one of them", steps[k]));
    if ((end - begin) / steps[k] > most_steps)
      throw InputError(
          fmt::format("{:g} steps of {:g} are too many; choose longer steps", (end - begin) / steps[k], steps[k]));
  }
  return steps;
}

// A last step that is shorter by more than what rounding, or an observed order, could notice.
bool last_step_is_fitted(double time, double h) { return std::abs(time / h - std::round(time / h)) > 1e-6; }

void keep_sizes(std::array<double, 3>& sizes, const State& s, Reference::Second second) {
  sizes[0] = std::max(sizes[0], euclidean_norm(s.y));
  if (second == Reference::Second::z) sizes[1] = std::max(sizes[1], euclidean_norm(s.z));
  sizes[2] = std::max(sizes[2], euclidean_norm(s.psi));
}

double observed_order(const ConvergencePoint& before, const ConvergencePoint& now, std::size_t part) {
  return std::log(*before.error[part] / *now.error[part]) / std::log(before.step / now.step);
}

void observe_orders(ConvergenceSeries& series, std::size_t part, double size) {
  const int claimed = part == 2 && series.multiplier_order > 0 ? series.multiplier_order : series.order;
  bool rounding = false;
  for (std::size_t k = 0; k < series.points.size(); ++k) {
    ConvergencePoint& now = series.points[k];
    if (!now.error[part]) continue;
    const double error = *now.error[part];
    if (k > 0 && series.points[k - 1].error[part] && error > 0 && *series.points[k - 1].error[part] > 0)
      now.order[part] = observed_order(series.points[k - 1], now, part);
    rounding =
        rounding || error <= always_rounding * size ||
        (error <= reach_of_rounding(part, now.steps) * size && now.order[part] && *now.order[part] < 0.5 * claimed);
    now.round_off[part] = rounding;
  }
}

// Slope of log e = order * log h + constant.
FittedOrder fit(const ConvergenceSeries& series, std::size_t part) {
  std::vector<double> x, y;
  for (const ConvergencePoint& p : series.points) {
    if (!p.error[part] || p.round_off[part]) continue;
    x.push_back(std::log(p.step));
    y.push_back(std::log(*p.error[part]));
  }
  FittedOrder result{{}, static_cast<int>(x.size())};
  if (x.size() < 2) return result;
  const double n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) mean_x += x[k] / n, mean_y += y[k] / n;
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    xy += (x[k] - mean_x) * (y[k] - mean_y);
  }
  result.order = xy / xx;
  return result;
}

// One run; empty when it was stopped.
std::optional<ConvergencePoint> measure(const ConvergenceProblem& problem, const Reference& reference,
                                        const StudiedMethod& method, double h, const ConvergenceProgress& progress,
                                        std::array<double, 3>& sizes) {
  ConvergencePoint point;
  point.step = h;
  point.fitted = last_step_is_fitted(problem.end - problem.begin, h);
  const StudyRun run = run_once(problem, reference, method, options_for(problem, 0, h), progress);
  keep_sizes(sizes, run.first, reference.second);
  if (run.report.status == RunStatus::stopped) return {};
  point.steps = run.report.steps;
  point.counters = run.report.counters;
  point.wall_seconds = run.report.wall_seconds;
  point.failure = run.failure;
  point.error = run.error;
  for (std::size_t k = 0; k < 3; ++k)
    if (point.error[k] && !std::isfinite(*point.error[k])) point.error[k].reset();
  return point;
}

}  // namespace

ConvergenceStudy convergence_study(const ConvergenceProblem& problem, const Reference& reference,
                                   const std::vector<StudiedMethod>& methods, std::vector<double> steps,
                                   const ConvergenceProgress& progress) {
  steps = checked(std::move(steps), problem.begin, problem.end);
  if (methods.empty()) throw InputError("there is no method to study");
  // A method that cannot treat the system is refused before anything is computed, not in the middle.
  for (const StudiedMethod& m : methods) m.method.bind(problem.system, problem.solver);

  ConvergenceStudy study;
  study.reference = reference;
  study.begin = problem.begin;
  study.end = problem.end;
  study.part_names = part_names(problem.system->layout(), reference.second);
  std::array<double, 3> sizes = {euclidean_norm(reference.y), euclidean_norm(reference.z),
                                 euclidean_norm(reference.psi)};
  for (const StudiedMethod& m : methods) {
    if (study.stopped) break;
    ConvergenceSeries& series =
        study.series.emplace_back(ConvergenceSeries{m.name, m.method.order, m.method.multiplier_order, {}, {}});
    for (const double h : steps) {
      const auto point = measure(problem, reference, m, h, progress, sizes);
      study.stopped = !point;
      if (!point) break;
      series.points.push_back(*point);
    }
    for (std::size_t part = 0; part < 3; ++part) {
      observe_orders(series, part, sizes[part] > 0 ? sizes[part] : 1.0);
      series.fitted[part] = fit(series, part);
    }
  }
  return study;
}

int ConvergenceStudy::failures() const {
  int count = 0;
  for (const ConvergenceSeries& s : series)
    for (const ConvergencePoint& p : s.points) count += p.failure.empty() ? 0 : 1;
  return count;
}

std::vector<std::string> ConvergenceStudy::notes() const {
  std::vector<std::string> list;
  std::string fitted;
  if (!series.empty())
    for (const ConvergencePoint& p : series.front().points)
      if (p.fitted) fitted += fmt::format("{}{:g}", fitted.empty() ? "" : ", ", p.step);
  if (!fitted.empty())
    list.push_back(
        fmt::format("step {} does not divide the time {:g}: the last step was "
                    "shorter; orders observed there can mislead",
                    fitted, end - begin));
  if (stopped) list.push_back(fmt::format("the study was stopped; only finished runs are shown"));
  return list;
}

}  // namespace hinge
