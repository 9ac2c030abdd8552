// hinge compare: what an error costs, method by method.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "cli/study.hpp"
#include "hinge/comparison.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

// Two digits more than the best run asks for, as far as rounding allows.
double reference_tolerance(const std::vector<double>& tolerances) {
  const double smallest = tolerances.empty() ? 1e-10 : *std::min_element(tolerances.begin(), tolerances.end());
  return std::max(smallest / 100, 1e-13);
}

Reference reference_for(const CompareArguments& arguments, const Model& model, const ConvergenceProblem& problem,
                        const std::vector<double>& tolerances, const std::vector<double>& steps) {
  const auto computed = [&](const StudiedMethod& method) {
    if (method.method.bind_adaptive) return adaptive_reference(problem, method, reference_tolerance(tolerances));
    const double smallest = steps.empty() ? model.simulation.step : *std::min_element(steps.begin(), steps.end());
    return computed_reference(problem, method, reference_step(method.method, smallest));
  };
  try {
    if (arguments.reference && names_a_file(*arguments.reference))
      return recorded_reference(*problem.system, *arguments.reference, problem.end);
    if (arguments.reference) return computed(reference_method(*arguments.reference, model));
  } catch (const InputError& e) {
    throw InputError(fmt::format("--reference: {}", e.what()));
  }
  Reference reference;
  located(model, [&] {
    reference = model.exact.empty() ? computed({"auto", make_method("auto", {})})
                                    : exact_reference(*problem.system, model.exact, problem.end);
  });
  return reference;
}

void write_csv(const std::string& path, const WorkPrecision& work) {
  std::ofstream file(path);
  file << "method,tolerance,step,steps,rejected,status,error_y,error_z,error_multiplier,newton_iterations,evaluations,"
          "factorisations,seconds\n";
  for (const WorkSeries& series : work.series) {
    const bool quote = series.name.find(',') != std::string::npos;
    for (const WorkPoint& p : series.points) {
      file << fmt::format("{0}{1}{0},{2},{3},{4},{5},{6}", quote ? "\"" : "", series.name,
                          p.tolerance > 0 ? fmt::format("{}", p.tolerance) : "",
                          p.step > 0 ? fmt::format("{}", p.step) : "", p.steps, p.counters.rejected + p.counters.failed,
                          p.failure.empty() ? "finished" : "failed");
      for (const auto& error : p.error) file << (error ? fmt::format(",{}", *error) : ",");
      file << fmt::format(",{},{},{},{}\n", p.counters.iterations, p.counters.evaluations, p.counters.factorisations,
                          p.seconds);
    }
  }
  file.close();
  if (!file)
    throw OutputError(fmt::format("--csv: cannot write '{}': {}; choose another file", path, std::strerror(errno)));
}

}  // namespace

int compare(const CompareArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.overrides);
  if (!(model.end > model.simulation.start))
    throw InputError(fmt::format(
        "{}: integrate: there is no end time after the start; add end = 10 to [integrate], or use --end", model.path));
  if (arguments.csv && (arguments.csv->empty() || arguments.csv == arguments.reference))
    throw InputError("--csv needs the name of a file of its own, as in --csv work.csv");
  const std::vector<double> tolerances =
      positive_numbers("--tolerances", arguments.tolerances.value_or("1e-4,1e-6,1e-8"), "1e-4,1e-6,1e-8");
  for (const double t : tolerances) {
    try {
      Tolerance{t, t}.validate();
    } catch (const InputError& e) {
      throw InputError(fmt::format("--tolerances: {}", e.what()));
    }
  }
  std::vector<double> steps;
  if (arguments.steps)
    steps = positive_numbers("--steps", *arguments.steps, "0.01,0.001");
  else if (model.simulation.step > 0)
    steps.push_back(model.simulation.step);
  const std::vector<StudiedMethod> methods = methods_of(arguments.methods, model);
  const ConvergenceProblem problem{model.system, model.start, model.simulation.start, model.end,
                                   model.simulation.solver};

  const StatusLine status(!arguments.json && !arguments.quiet && isatty(STDERR_FILENO));
  catch_interrupts();
  status.show("computing the reference");
  const Reference reference = reference_for(arguments, model, problem, tolerances, steps);
  WorkPrecision work;
  located(model, [&] {
    work = compare_methods(problem, reference, methods, tolerances, steps,
                           [&](const std::string& name, double setting, double t) {
                             status.show(fmt::format("{}, {:g}: t = {:.4g} of {:g}", name, setting, t, model.end));
                             return !stop_asked();
                           });
  });
  status.show("");
  if (arguments.csv) write_csv(*arguments.csv, work);
  if (arguments.json)
    std::cout << to_json(work, model.title).dump(2) << '\n';
  else if (!arguments.quiet)
    std::cout << model.title << '\n' << work;
  if (work.failures() > 0) std::cerr << fmt::format("hinge: {} of the runs failed\n", work.failures());
  if (work.stopped) return interrupted;
  return work.failures() > 0 ? numerics_failed : done;
}

}  // namespace hinge::cli
