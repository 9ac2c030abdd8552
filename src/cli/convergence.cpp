// hinge convergence: errors over several steps, and the orders that are observed.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/study.hpp"
#include "cli/terminal.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

std::vector<double> steps_of(const StudyArguments& arguments, const Model& model) {
  if (arguments.steps) return positive_numbers("--steps", *arguments.steps, "0.1,0.05,0.025");
  const double h = model.simulation.step;
  if (!(h > 0))
    throw InputError(fmt::format(
        "{}: integrate: there is no step; use --steps 0.1,0.05,0.025, or add step = 0.01 to [integrate]", model.path));
  return {h, h / 2, h / 4, h / 8};
}

void refuse_unsuitable(const Study& study, std::ostream& complaints) {
  const ConvergenceProblem& problem = study.problem;
  for (const StudiedMethod& m : study.methods) {
    try {
      m.method.bind(problem.system, problem.solver);
    } catch (const UnsuitableMethod& e) {
      throw InputError(fmt::format("{}: {}: {}; choose others with --methods", study.model.path, m.name, e.what()));
    }
    if (!m.method.warnings) continue;
    for (const std::string& warning : m.method.warnings(*problem.system))
      complaints << fmt::format("hinge: warning: {}: {}: {}\n", study.model.path, m.name, warning);
  }
}

Reference reference_of(const Study& study, double smallest_step) {
  const StudyArguments& arguments = study.arguments;
  std::optional<double> step;
  if (arguments.reference_step) step = positive_number("--reference-step", *arguments.reference_step, "0.001");
  const bool file = arguments.reference && names_a_file(*arguments.reference);
  if (step && (file || (!arguments.reference && !study.model.exact.empty())))
    throw InputError(
        fmt::format("--reference-step: the reference is {}, which has no step; leave it out, or give a "
                    "method, as in --reference gauss-lobatto",
                    file ? "a file" : "[exact] of the model"));
  return study.reference(
      [&](const StudiedMethod& method) {
        return computed_reference(study.problem, method, step.value_or(reference_step(method.method, smallest_step)));
      },
      [&] { return default_reference(study.problem, study.methods, smallest_step, step); });
}

void write_csv(CsvTable& csv, const ConvergenceStudy& result) {
  for (const ConvergenceSeries& series : result.series)
    for (const ConvergencePoint& p : series.points)
      csv.row(series.name,
              {fmt::format("{}", p.step), fmt::format("{}", p.steps), p.failure.empty() ? "finished" : "failed",
               cell(p.error[0]), cell(p.order[0]), cell(p.error[1]), cell(p.order[1]), cell(p.error[2]),
               cell(p.order[2]), fmt::format("{}", p.counters.iterations), fmt::format("{}", p.counters.evaluations),
               fmt::format("{}", p.wall_seconds)});
  csv.close();
}

int print(const ConvergenceStudy& result, const Model& model, const StudyArguments& arguments) {
  const bool table = !arguments.json && !arguments.quiet;
  if (arguments.json)
    std::cout << json_text(result, model.title) << '\n';
  else if (table)
    std::cout << model.title << '\n' << result;
  if (result.failures() > 0 && table)
    std::cerr << fmt::format("hinge: {} of the runs failed; why is said below the table\n", result.failures());
  if (!table)
    for (const ConvergenceSeries& series : result.series)
      for (const ConvergencePoint& p : series.points)
        if (!p.failure.empty()) std::cerr << fmt::format("hinge: {}, step {:g}: {}\n", series.name, p.step, p.failure);
  if (result.stopped) return interrupted;
  return result.failures() > 0 ? numerics_failed : done;
}

}  // namespace

ConvergenceStudy convergence_runs(const Study& study, std::ostream& complaints, const std::function<void()>& begun,
                                  const ConvergenceProgress& progress) {
  const std::vector<double> steps = steps_of(study.arguments, study.model);
  refuse_unsuitable(study, complaints);
  const Reference reference = reference_of(study, *std::min_element(steps.begin(), steps.end()));
  begun();
  return located(study.model,
                 [&] { return convergence_study(study.problem, reference, study.methods, steps, progress); });
}

int convergence(const StudyArguments& arguments) {
  const Study study(arguments);
  StatusLine status(!arguments.json && !arguments.quiet);
  status.show("computing the reference");
  std::optional<CsvTable> csv;
  const auto begun = [&] {
    csv.emplace(arguments,
                "method,step,steps,status,error_y,order_y,error_z,order_z,error_multiplier,order_multiplier,"
                "newton_iterations,evaluations,seconds");
    catch_interrupts();
  };
  const ConvergenceStudy result =
      convergence_runs(study, std::cerr, begun, [&](const std::string& name, double h, double t) {
        status.show(fmt::format("{}, step {:g}: t = {:.4g} of {:g}", name, h, t, study.problem.end));
        return !stop_asked();
      });
  status.show("");
  write_csv(*csv, result);
  return print(result, study.model, arguments);
}

}  // namespace hinge::cli
