// hinge convergence: errors over several steps, and the orders that are observed.
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
#include "hinge/convergence.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

std::vector<double> steps_of(const ConvergenceArguments& arguments, const Model& model) {
  std::vector<double> steps;
  if (!arguments.steps) {
    if (!(model.simulation.step > 0))
      throw InputError(
          fmt::format("{}: integrate: there is no step; use --steps 0.1,0.05,0.025, or add step = 0.01 to [integrate]",
                      model.path));
    for (const double factor : {1.0, 2.0, 4.0, 8.0}) steps.push_back(model.simulation.step / factor);
    return steps;
  }
  return positive_numbers("--steps", *arguments.steps, "0.1,0.05,0.025");
}

void refuse_unsuitable(const std::vector<StudiedMethod>& methods, const ConvergenceProblem& problem,
                       const Model& model) {
  for (const StudiedMethod& m : methods) {
    try {
      m.method.bind(problem.system, problem.solver);
    } catch (const UnsuitableMethod& e) {
      throw InputError(fmt::format("{}: {}: {}; choose others with --methods", model.path, m.name, e.what()));
    }
    if (!m.method.warnings) continue;
    for (const std::string& warning : m.method.warnings(*problem.system))
      std::cerr << fmt::format("hinge: warning: {}: {}: {}\n", model.path, m.name, warning);
  }
}

Reference chosen_method_reference(const std::string& text, std::optional<double> step, const Model& model,
                                  const ConvergenceProblem& problem, double smallest_step) {
  const StudiedMethod method = reference_method(text, model);
  Reference reference;
  located(model, [&] {
    try {
      reference = computed_reference(problem, method, step.value_or(reference_step(method.method, smallest_step)));
    } catch (const UnsuitableMethod& e) {
      throw InputError(fmt::format("--reference: {}; choose another one", e.what()));
    }
  });
  return reference;
}

Reference reference_for(const ConvergenceArguments& arguments, const Model& model, const ConvergenceProblem& problem,
                        const std::vector<StudiedMethod>& methods, double smallest_step) {
  std::optional<double> step;
  if (arguments.reference_step) step = positive_number("--reference-step", *arguments.reference_step, "0.001");
  const bool file = arguments.reference && names_a_file(*arguments.reference);
  if (step && (file || (!arguments.reference && !model.exact.empty())))
    throw InputError(
        fmt::format("--reference-step: the reference is {}, which has no step; leave it out, or give a "
                    "method, as in --reference gauss-lobatto",
                    file ? "a file" : "[exact] of the model"));
  try {
    if (file) return recorded_reference(*problem.system, *arguments.reference, problem.end);
  } catch (const InputError& e) {
    throw InputError(fmt::format("--reference: {}", e.what()));
  }
  if (arguments.reference) return chosen_method_reference(*arguments.reference, step, model, problem, smallest_step);
  Reference reference;
  located(model, [&] {
    reference = model.exact.empty() ? default_reference(problem, methods, smallest_step, step)
                                    : exact_reference(*problem.system, model.exact, problem.end);
  });
  return reference;
}

// One row per method and step. Opened before the study: a name that cannot be written is refused while nothing is lost.
class CsvTable {
 public:
  explicit CsvTable(const std::optional<std::string>& path) {
    if (!path) return;
    path_ = *path;
    file_.open(path_);
    if (!file_) fail();
  }

  void write(const ConvergenceStudy& study) {
    if (path_.empty()) return;
    file_ << "method,step,steps,status,error_y,order_y,error_z,order_z,error_multiplier,order_multiplier,"
             "newton_iterations,evaluations,seconds\n";
    for (const ConvergenceSeries& series : study.series)
      for (const ConvergencePoint& p : series.points) write_row(series.name, p);
    file_.close();
    if (!file_) fail();
  }

 private:
  void write_row(const std::string& name, const ConvergencePoint& p) {
    const bool quote = name.find(',') != std::string::npos;
    file_ << fmt::format("{0}{1}{0},{2},{3},{4}", quote ? "\"" : "", name, p.step, p.steps,
                         p.failure.empty() ? "finished" : "failed");
    for (std::size_t k = 0; k < 3; ++k)
      for (const std::optional<double>& value : {p.error[k], p.order[k]})
        file_ << (value ? fmt::format(",{}", *value) : ",");
    file_ << fmt::format(",{},{},{}\n", p.counters.iterations, p.counters.evaluations, p.wall_seconds);
  }

  [[noreturn]] void fail() const {
    throw OutputError(fmt::format("--csv: cannot write '{}': {}; choose another file", path_, std::strerror(errno)));
  }

  std::string path_;
  std::ofstream file_;
};

int print(const ConvergenceStudy& study, const Model& model, const ConvergenceArguments& arguments) {
  const bool table = !arguments.json && !arguments.quiet;
  if (arguments.json)
    std::cout << to_json(study, model.title).dump(2) << '\n';
  else if (table)
    std::cout << model.title << '\n' << study;
  if (study.failures() > 0 && table)
    std::cerr << fmt::format("hinge: {} of the runs failed; why is said below the table\n", study.failures());
  if (!table)
    for (const ConvergenceSeries& series : study.series)
      for (const ConvergencePoint& p : series.points)
        if (!p.failure.empty()) std::cerr << fmt::format("hinge: {}, step {:g}: {}\n", series.name, p.step, p.failure);
  if (study.stopped) return interrupted;
  return study.failures() > 0 ? numerics_failed : done;
}

}  // namespace

int convergence(const ConvergenceArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.overrides);
  if (!(model.end > model.simulation.start))
    throw InputError(fmt::format(
        "{}: integrate: there is no end time after the start; add end = 10 to [integrate], or use --end", model.path));
  if (arguments.csv && (arguments.csv->empty() || arguments.csv == arguments.reference))
    throw InputError("--csv needs the name of a file of its own, as in --csv orders.csv");
  const std::vector<double> steps = steps_of(arguments, model);
  const std::vector<StudiedMethod> methods = methods_of(arguments.methods, model);
  const ConvergenceProblem problem{model.system, model.start, model.simulation.start, model.end,
                                   model.simulation.solver};
  refuse_unsuitable(methods, problem, model);

  const StatusLine status(!arguments.json && !arguments.quiet && isatty(STDERR_FILENO));
  status.show("computing the reference");
  const double smallest = *std::min_element(steps.begin(), steps.end());
  const Reference reference = reference_for(arguments, model, problem, methods, smallest);
  CsvTable csv(arguments.csv);
  catch_interrupts();
  ConvergenceStudy study;
  located(model, [&] {
    study = convergence_study(problem, reference, methods, steps, [&](const std::string& name, double h, double t) {
      status.show(fmt::format("{}, step {:g}: t = {:.4g} of {:g}", name, h, t, model.end));
      return !stop_asked();
    });
  });
  status.show("");
  csv.write(study);
  return print(study, model, arguments);
}

}  // namespace hinge::cli
