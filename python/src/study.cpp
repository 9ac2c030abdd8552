// hinge.compare() and hinge.convergence(): the runs of these commands, as the JSON that they print.
#include <sstream>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "cli/json.hpp"
#include "cli/study.hpp"
#include "core.hpp"

namespace hinge::python {

namespace {

using Text = std::optional<std::string>;

// How far the runs are, and Ctrl-C.
ConvergenceProgress study_progress(const nb::object& callback) {
  return [&callback](const std::string& name, double setting, double t) {
    const WithLock lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return callback.is_none() || !says_stop(nb::object(callback(name, setting, t)));
  };
}

cli::StudyArguments arguments_of(const Text& methods, const Text& steps, const Text& reference) {
  cli::StudyArguments arguments;
  arguments.methods = methods;
  arguments.steps = steps;
  arguments.reference = reference;
  return arguments;
}

// References, which may take longer than the rest, are told of as a method of this name with a step of 0.
cli::Study study_of(const cli::StudyArguments& arguments, const Model& model, const ConvergenceProgress& told) {
  cli::Study study(arguments, model);
  study.problem.referring = [&told](double t) { return told("reference", 0, t); };
  return study;
}

template <class Study>
nb::tuple answer(const Study& study, const std::string& title, const std::string& warnings) {
  std::ostringstream table;
  table << title << '\n' << study;
  return nb::make_tuple(cli::json_text(study, title), table.str(), warnings);
}

nb::tuple compare(const HeldModel& held, const Text& methods, const Text& tolerances, const Text& steps,
                  const Text& reference, const nb::object& progress) {
  cli::StudyArguments arguments = arguments_of(methods, steps, reference);
  arguments.tolerances = tolerances;
  WorkPrecision work;
  {
    const WithoutLock free;
    const auto told = study_progress(progress);
    work = cli::compare_runs(
        study_of(arguments, *held.model, told), [] {}, told);
  }
  return answer(work, held.model->title, "");
}

nb::tuple convergence(const HeldModel& held, const Text& methods, const Text& steps, const Text& reference,
                      const Text& reference_step, const nb::object& progress) {
  cli::StudyArguments arguments = arguments_of(methods, steps, reference);
  arguments.reference_step = reference_step;
  std::ostringstream warnings;
  ConvergenceStudy study;
  {
    const WithoutLock free;
    const auto told = study_progress(progress);
    study = cli::convergence_runs(
        study_of(arguments, *held.model, told), warnings, [] {}, told);
  }
  return answer(study, held.model->title, warnings.str());
}

}  // namespace

void bind_study(nb::module_& m) {
  m.def("compare", &compare, nb::arg("model"), nb::arg("methods").none(), nb::arg("tolerances").none(),
        nb::arg("steps").none(), nb::arg("reference").none(), nb::arg("progress").none());
  m.def("convergence", &convergence, nb::arg("model"), nb::arg("methods").none(), nb::arg("steps").none(),
        nb::arg("reference").none(), nb::arg("reference_step").none(), nb::arg("progress").none());
}

}  // namespace hinge::python
