// References for errors: the exact solution, a run with a small step, a recorded file.
#include "simulate/reference.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/comparison.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder_formats.hpp"
#include "solve/linear/vectors.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Second = Reference::Second;

double distance(const double* a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// z is what the state holds; of a velocity and a momentum the one that is z is taken where both are given.
Second second_of(SystemKind kind, const ExactSolution& exact) {
  if (kind == SystemKind::hamiltonian) return exact.momentum.size() > 0 ? Second::z : Second::velocity;
  return exact.velocity.size() > 0 || exact.momentum.size() == 0 ? Second::z : Second::momentum;
}

std::vector<double> values_at(const SymbolicSystem& system, const Vector& expressions, double t) {
  Graph graph;
  const std::vector<Node> nodes = system.nodes_of({expressions.begin(), expressions.end()}, graph);
  const std::vector<Node> time[] = {{system.equations().t}};
  const auto tape = make_tape(graph, time, nodes);
  auto scratch = tape->make_scratch();
  std::vector<double> values(nodes.size());
  const double* const inputs[] = {&t};
  tape->evaluate(inputs, scratch.data(), values.data());
  return values;
}

// The multipliers that belong to y and z, from the acceleration level. Those of a method are of lower order, and with
// many small steps they carry the rounding of a division by the step.
std::vector<double> consistent_multipliers(const System& system, const State& s) {
  try {
    const StartCheck check = check_start(system, s.t, s.y, s.z, s.psi);
    if (check.position_found && check.velocity_found) return check.nearest.psi;
  } catch (const InputError&) {  // a singular position, say: what the method found is the best there is
  }
  return s.psi;
}

// The end of a run, as a reference; `setting` says how it was made.
Reference end_of_run(const ConvergenceProblem& problem, const StudiedMethod& method, const SimulationOptions& options,
                     const std::string& setting) {
  Simulation run(problem.system, method.method, options);
  if (problem.referring) run.on_progress(problem.referring);
  run.start(problem.start);
  try {
    run.until(problem.end);
    if (run.report().status == RunStatus::stopped) throw Error("stopped before the reference was known");
  } catch (const StepFailure& failure) {
    throw StepFailure(fmt::format("the reference, {} with {}, failed: {}", method.name, setting, failure.what()),
                      failure.time);
  }
  Reference reference;
  reference.kind = Reference::Kind::method;
  reference.description = fmt::format("{}, {}", method.name, setting);
  reference.y = run.state().y;
  reference.z = run.state().z;
  if (problem.system->structure().is_dae)
    reference.z.clear();  // derivatives follow from the unknowns
  else
    reference.psi = consistent_multipliers(*problem.system, run.state());
  return reference;
}

}  // namespace

SimulationOptions options_for(const ConvergenceProblem& problem, double tolerance, double step) {
  SimulationOptions options;
  options.start = problem.begin;
  options.solver = problem.solver;
  options.step = step;
  options.tolerance = {tolerance, tolerance};
  return options;
}

StudyRun run_once(const ConvergenceProblem& problem, const Reference& reference, const StudiedMethod& method,
                  const SimulationOptions& options, const ConvergenceProgress& progress) {
  StudyRun made;
  Simulation run(problem.system, method.method, options);
  if (progress)
    run.on_progress(
        [&](double t) { return progress(method.name, std::max(options.tolerance.relative, options.step), t); });
  run.start(problem.start);
  made.first = run.state();
  try {
    run.until(problem.end);
    made.error = errors_against(reference, *problem.system, run.state());
  } catch (const StepFailure& failure) {
    made.failure = failure.what();
  }
  made.report = run.report();
  return made;
}

std::vector<std::size_t> parts_of(const Reference& reference) {
  std::vector<std::size_t> parts;
  if (!reference.y.empty()) parts.push_back(0);
  if (!reference.z.empty()) parts.push_back(1);
  if (!reference.psi.empty()) parts.push_back(2);
  return parts;
}

std::string error_text(const std::optional<double>& error) { return error ? fmt::format("{:.2e}", *error) : "-"; }

double euclidean_norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

std::array<std::string, 3> part_names(const Layout& layout, Second second) {
  if (layout.kind == SystemKind::odae || layout.kind == SystemKind::own) return {"y", "z", "psi"};
  if (layout.kind == SystemKind::dae) return {"unknowns", "derivatives", ""};
  const bool momentum = second == Second::momentum || (second == Second::z && layout.kind == SystemKind::hamiltonian);
  return {"position", momentum ? "momentum" : "velocity", "multiplier"};
}

Reference evaluate_exact(const System& system, const ExactSolution& exact, double t) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic) throw InputError("an exact solution can be given for systems made of expressions only");
  Reference reference;
  reference.kind = Reference::Kind::exact;
  reference.description = "the exact solution";
  reference.second = second_of(system.layout().kind, exact);
  const bool hamiltonian = system.layout().kind == SystemKind::hamiltonian;
  const bool use_momentum = reference.second == Second::momentum || (hamiltonian && reference.second == Second::z);
  const auto part = [&](const char* name, const Vector& expressions, int size) -> std::vector<double> {
    if (expressions.size() == 0) return {};
    if (static_cast<int>(expressions.size()) != size)
      throw InputError(fmt::format("the exact {} has {} entries; the system has {}", name, expressions.size(), size));
    return values_at(*symbolic, expressions, t);
  };
  reference.y = part("position", exact.position, system.ny());
  if (use_momentum)
    reference.z = part("momentum", exact.momentum, system.nz());
  else
    reference.z = part("velocity", exact.velocity, hamiltonian ? system.ny() : system.nz());
  reference.psi = part("multiplier", exact.multiplier, system.npsi());
  return reference;
}

StateErrors errors_against(const Reference& reference, const System& system, const State& state) {
  StateErrors errors;
  if (!reference.y.empty()) errors[0] = distance(state.y.data(), reference.y);
  if (!reference.psi.empty()) errors[2] = distance(state.psi.data(), reference.psi);
  if (reference.z.empty()) return errors;
  if (reference.second == Second::z) {
    errors[1] = distance(state.z.data(), reference.z);
  } else {
    const Quantity quantity = reference.second == Second::velocity ? Quantity::velocity : Quantity::momentum;
    const auto evaluation = system.evaluation({quantity});
    evaluation->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    errors[1] = distance((*evaluation)[quantity], reference.z);
  }
  return errors;
}

Reference exact_reference(const System& system, const ExactSolution& exact, double t) {
  if (exact.empty()) throw InputError("the exact solution has no parts; give the position, say");
  Reference reference = evaluate_exact(system, exact, t);
  const auto names = part_names(system.layout(), reference.second);
  const std::vector<double>* const parts[] = {&reference.y, &reference.z, &reference.psi};
  for (std::size_t k = 0; k < 3; ++k)
    if (!all_finite(*parts[k]))
      throw InputError(
          fmt::format("the exact {} is not a finite number at t = {:g}; choose an end where it is", names[k], t));
  return reference;
}

Reference computed_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double step) {
  Reference reference = end_of_run(problem, method, options_for(problem, 0, step), fmt::format("step {:g}", step));
  reference.step = step;
  return reference;
}

Reference adaptive_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double tolerance) {
  return end_of_run(problem, method, options_for(problem, tolerance, 0), fmt::format("tolerance {:g}", tolerance));
}

double reference_step(const MethodChoice& method, double smallest_step) {
  double factor = 2;
  while (std::pow(factor, std::max(method.order, 1)) < 64) factor *= 2;
  return smallest_step / factor;
}

Reference default_reference(const ConvergenceProblem& problem, const std::vector<StudiedMethod>& methods,
                            double smallest_step, std::optional<double> step) {
  if (methods.empty()) throw InputError("there is no method to study");
  const auto best = std::max_element(methods.begin(), methods.end(),
                                     [](const auto& a, const auto& b) { return a.method.order < b.method.order; });
  // Better than what is studied, also where that has many stages itself.
  const int stages = std::clamp(best->method.order / 2 + 2, 6, 12);
  StudiedMethod chosen{"", gauss_lobatto(stages)};
  chosen.name = fmt::format("{}(stages={})", chosen.method.info.name, stages);
  try {
    chosen.method.bind(problem.system, problem.solver);
  } catch (const UnsuitableMethod&) {
    chosen = *best;
  }
  return computed_reference(problem, chosen, step.value_or(reference_step(chosen.method, smallest_step)));
}

Reference recorded_reference(const System& system, const std::string& path, double t) {
  const Trajectory file = read_record(path);
  const auto column = [&](const std::string& name) {
    try {
      return column_of(file.header.columns, name);
    } catch (const InputError& e) {
      throw cannot_read(path, fmt::format("{}; a reference is a recorded run of the same equations", e.what()));
    }
  };
  const std::size_t time = column("t");
  std::vector<std::size_t> places;
  for (const std::string& name : state_columns(system.layout())) places.push_back(column(name));
  if (file.rows() == 0) throw cannot_read(path, "it has no rows; record a run until the end first");

  const auto time_of = [&](std::size_t row) { return file.row(row)[time]; };
  std::size_t nearest = 0;
  double size = std::abs(t);
  for (std::size_t row = 0; row < file.rows(); ++row) {
    if (std::abs(time_of(row) - t) < std::abs(time_of(nearest) - t)) nearest = row;
    size = std::max(size, std::abs(time_of(row)));
  }
  // Times are multiples of a step, so they are exact up to a few roundings.
  if (!(std::abs(time_of(nearest) - t) <= 1e-13 * size))
    throw cannot_read(path, fmt::format("it has no row at the end time {}; the nearest is at t = {}. Record the "
                                        "reference until {}, or choose another end",
                                        t, time_of(nearest), t));
  Reference reference;
  reference.kind = Reference::Kind::file;
  reference.description = path;
  auto take = [&, place = places.begin()](std::vector<double>& part, int count) mutable {
    for (int k = 0; k < count; ++k) part.push_back(file.row(nearest)[*place++]);
    if (!all_finite(part))
      throw cannot_read(path, fmt::format("its row at t = {} holds something that is not a finite number", t));
  };
  take(reference.y, system.ny());
  take(reference.z, system.nz());
  take(reference.psi, system.npsi());
  return reference;
}

}  // namespace hinge
