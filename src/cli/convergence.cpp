// hinge convergence: errors over several steps, and the orders that are observed.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/json.hpp"
#include "hinge/convergence.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

double positive_number(const std::string& option, const std::string& text, const char* example) {
  const auto first = text.find_first_not_of(' ');
  const std::string trimmed =
      first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
  double value = 0;
  const char* const end = trimmed.data() + trimmed.size();
  const auto [stop, error] = std::from_chars(trimmed.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || !std::isfinite(value))
    throw InputError(fmt::format("{}: '{}' is not a positive number; write {} {}", option, text, option, example));
  return value;
}

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
  std::string rest = *arguments.steps;
  while (true) {
    const auto comma = rest.find(',');
    steps.push_back(positive_number("--steps", rest.substr(0, comma), "0.1,0.05,0.025"));
    for (std::size_t k = 0; k + 1 < steps.size(); ++k)
      if (steps[k] == steps.back())
        throw InputError(fmt::format("--steps: {:g} is given twice; keep one of them", steps[k]));
    if (comma == std::string::npos) return steps;
    rest = rest.substr(comma + 1);
  }
}

// What the model gives in [integrate] holds for every method that has such an option, unless the text says otherwise.
StudiedMethod method_of(MethodName method, const Model& model) {
  const Options given = method.options;
  for (const auto& [key, value] : known_options(method.name, given, model.method_options))
    method.options.emplace(key, value);
  return {method.text(), make_method(method.name, method.options)};
}

std::vector<StudiedMethod> methods_of(const ConvergenceArguments& arguments, const Model& model) {
  if (!arguments.methods) return {method_of({model.method, model.method_options}, model)};
  std::vector<StudiedMethod> methods;
  try {
    for (const MethodName& name : parse_method_names(*arguments.methods)) methods.push_back(method_of(name, model));
  } catch (const InputError& e) {
    throw InputError(fmt::format("--methods: {}", e.what()));
  }
  return methods;
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

bool names_a_file(const std::string& text) {
  for (const std::string ending : {".csv", ".h5", ".hdf5", ".CSV", ".H5", ".HDF5"})
    if (text.size() > ending.size() && text.ends_with(ending)) return true;
  return false;
}

StudiedMethod reference_method(const std::string& text, const Model& model) {
  try {
    const std::vector<MethodName> names = parse_method_names(text);
    if (names.size() != 1) throw InputError(fmt::format("'{}' names {} methods; give one", text, names.size()));
    return method_of(names.front(), model);
  } catch (const InputError& e) {
    const bool path = text.find_first_of("./") != std::string::npos;
    throw InputError(fmt::format("--reference: {}{}", e.what(), path ? "; a file ends in .csv, .h5 or .hdf5" : ""));
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

// On a terminal: which run is going on.
class StatusLine {
 public:
  explicit StatusLine(bool visible) : visible_(visible) {}
  ~StatusLine() { show(""); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  void show(const std::string& text) const {
    if (visible_) std::cerr << fmt::format("\r{:<78}\r{}", "", text.substr(0, 78)) << std::flush;
  }

 private:
  bool visible_;
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
  const std::vector<StudiedMethod> methods = methods_of(arguments, model);
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
