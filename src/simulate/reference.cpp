// References for errors: the exact solution, a run with a small step, a recorded file.
#include "simulate/reference.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder.hpp"
#include "simulate/record/recorder_formats.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Second = Reference::Second;

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

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
  const Equations& equations = system.equations();
  std::vector<Node> nodes;
  for (const Expression& e : expressions) nodes.push_back(e.node_in(*equations.graph));
  const std::vector<Node> time[] = {{equations.t}};
  const auto tape = make_tape(*equations.graph, time, nodes);
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

}  // namespace

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
  Simulation run(problem.system, method.method, {.step = step, .start = problem.begin, .solver = problem.solver});
  run.start(problem.start);
  try {
    run.until(problem.end);
  } catch (const StepFailure& failure) {
    throw StepFailure(fmt::format("the reference, {} with step {:g}, failed: {}", method.name, step, failure.what()),
                      failure.time);
  }
  Reference reference = reference_of(*problem.system, run.state(), fmt::format("{}, step {:g}", method.name, step));
  reference.step = step;
  return reference;
}

Reference reference_of(const System& system, const State& end, std::string description) {
  Reference reference{Reference::Kind::method, std::move(description), 0, Second::z, end.y, end.z, {}};
  if (system.layout().kind == SystemKind::dae)
    reference.z.clear();  // derivatives follow from the unknowns
  else
    reference.psi = consistent_multipliers(system, end);
  return reference;
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
  StudiedMethod chosen{fmt::format("gauss-lobatto(stages={})", stages), gauss_lobatto(stages)};
  try {
    chosen.method.bind(problem.system, problem.solver);
  } catch (const UnsuitableMethod&) {
    chosen = *best;
  }
  return computed_reference(problem, chosen, step.value_or(reference_step(chosen.method, smallest_step)));
}

Reference recorded_reference(const System& system, const std::string& path, double t) {
  const Trajectory file = read_trajectory(path);
  const std::vector<std::string>& columns = file.header.columns;
  const auto column = [&](const std::string& name) {
    const auto at = std::find(columns.begin(), columns.end(), name);
    if (at != columns.end()) return static_cast<std::size_t>(at - columns.begin());
    std::string list;
    for (std::size_t k = 0; k < std::min<std::size_t>(columns.size(), 8); ++k) list += (k ? ", " : "") + columns[k];
    throw cannot_read(path, fmt::format("it has no column '{}' (it has {}{}); a reference is recorded from the same "
                                        "equations, with hinge run MODEL --out FILE",
                                        name, list, columns.size() > 8 ? ", ..." : ""));
  };
  const std::size_t time = column("t"), width = columns.size();
  std::vector<std::size_t> places;
  for (const std::string& name : state_columns(system.layout())) places.push_back(column(name));
  if (file.rows() == 0) throw cannot_read(path, "it has no rows; record a run until the end first");

  const auto time_of = [&](std::size_t row) { return file.values[row * width + time]; };
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
    for (int k = 0; k < count; ++k) part.push_back(file.values[nearest * width + *place++]);
    if (!all_finite(part))
      throw cannot_read(path, fmt::format("its row at t = {} holds something that is not a finite number", t));
  };
  take(reference.y, system.ny());
  take(reference.z, system.nz());
  take(reference.psi, system.npsi());
  return reference;
}

}  // namespace hinge
