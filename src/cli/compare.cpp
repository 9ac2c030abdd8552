// hinge compare: what an error costs, method by method.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/study.hpp"
#include "cli/terminal.hpp"
#include "hinge/comparison.hpp"
#include "hinge/error.hpp"
#include "method/default_method.hpp"

namespace hinge::cli {

namespace {

std::vector<double> tolerances_of(const StudyArguments& arguments) {
  const char* const usual = "1e-4,1e-6,1e-8";
  std::vector<double> tolerances = positive_numbers("--tolerances", arguments.tolerances.value_or(usual), usual);
  for (const double t : tolerances) {
    try {
      Tolerance{t, t}.validate();
    } catch (const InputError& e) {
      throw InputError(fmt::format("--tolerances: {}", e.what()));
    }
  }
  return tolerances;
}

std::vector<double> fixed_steps_of(const StudyArguments& arguments, const Model& model) {
  if (arguments.steps) return positive_numbers("--steps", *arguments.steps, "0.01,0.001");
  return model.simulation.step > 0 ? std::vector<double>{model.simulation.step} : std::vector<double>{};
}

Reference reference_of(const Study& study, const std::vector<double>& tolerances, const std::vector<double>& steps) {
  // Two digits more than the best run asks for, as far as rounding allows.
  const double tolerance = std::max(*std::min_element(tolerances.begin(), tolerances.end()) / 100, 1e-13);
  const double smallest = steps.empty() ? study.model.simulation.step : *std::min_element(steps.begin(), steps.end());
  const auto computed = [&](const StudiedMethod& method) {
    return doubled_reference(study.problem, method, tolerance,
                             smallest > 0 ? reference_step(method.method, smallest) : 0);
  };
  return study.reference(computed, [&] {
    std::vector<StudiedMethod> candidates = study.methods;
    const std::string usual = default_method({}, true);
    if (std::none_of(candidates.begin(), candidates.end(), [&](const StudiedMethod& m) { return m.name == usual; }))
      candidates.push_back({usual, make_method(usual, {})});
    return best_reference(study.problem, candidates, tolerance, smallest);
  });
}

void write_csv(CsvTable& csv, const WorkPrecision& work) {
  const auto positive = [](double x) { return x > 0 ? fmt::format("{}", x) : ""; };
  for (const WorkSeries& series : work.series)
    for (const WorkPoint& p : series.points)
      csv.row(series.name,
              {positive(p.tolerance), positive(p.step), fmt::format("{}", p.steps),
               fmt::format("{}", p.counters.rejected + p.counters.failed), p.failure.empty() ? "finished" : "failed",
               cell(p.error[0]), cell(p.error[1]), cell(p.error[2]), fmt::format("{}", p.counters.iterations),
               fmt::format("{}", p.counters.evaluations), fmt::format("{}", p.counters.factorisations),
               fmt::format("{}", p.seconds), fmt::format("{:d}{:d}{:d}", p.below[0], p.below[1], p.below[2])});
  csv.close();
}

}  // namespace

WorkPrecision compare_runs(const Study& study, const std::function<void()>& begun,
                           const ConvergenceProgress& progress) {
  const std::vector<double> tolerances = tolerances_of(study.arguments),
                            steps = fixed_steps_of(study.arguments, study.model);
  const Reference reference = reference_of(study, tolerances, steps);
  begun();
  return located(study.model,
                 [&] { return compare_methods(study.problem, reference, study.methods, tolerances, steps, progress); });
}

int compare(const StudyArguments& arguments) {
  const Study study(arguments);
  StatusLine status(!arguments.json && !arguments.quiet);
  catch_interrupts();
  status.show("computing the reference");
  std::optional<CsvTable> csv;
  const auto open_csv = [&] {
    csv.emplace(arguments,
                "method,tolerance,step,steps,rejected,status,error_y,error_z,error_multiplier,newton_iterations,"
                "evaluations,factorisations,seconds,below_reference");
  };
  const WorkPrecision work = compare_runs(study, open_csv, [&](const std::string& name, double setting, double t) {
    status.show(fmt::format("{}, {:g}: t = {:.4g} of {:g}", name, setting, t, study.problem.end));
    return !stop_asked();
  });
  status.show("");
  write_csv(*csv, work);
  if (arguments.json)
    std::cout << json_text(work, study.model.title) << '\n';
  else if (!arguments.quiet)
    std::cout << study.model.title << '\n' << work;
  if (work.failures() > 0) std::cerr << fmt::format("hinge: {} of the runs failed\n", work.failures());
  if (work.stopped) return interrupted;
  return work.failures() > 0 ? numerics_failed : done;
}

}  // namespace hinge::cli
