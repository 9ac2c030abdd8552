#include "cli/reproduce/measure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::cli {

namespace {

// "largest(height)": function and argument; without brackets the function is empty.
std::pair<std::string, std::string> parts_of(const std::string& what) {
  const auto open = what.find('(');
  if (open == std::string::npos || !what.ends_with(')')) return {"", what};
  return {what.substr(0, open), what.substr(open + 1, what.size() - open - 2)};
}

const std::vector<std::string> of_states{"error", "distance", "relative", "farthest"},
    of_columns{"final", "largest", "smallest", "size", "change"};

bool one_of(const std::string& name, const std::vector<std::string>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::size_t part(const std::string& name) {
  if (name == "y") return 0;
  if (name == "z") return 1;
  if (name == "psi") return 2;
  throw InputError(fmt::format("'{}' is no part of a state; say y, z or psi", name));
}

const std::vector<double>& part(const State& state, const std::string& name) {
  const std::vector<double>* const parts[] = {&state.y, &state.z, &state.psi};
  return *parts[part(name)];
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = a.size() == b.size() ? 0 : NAN;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

double length(std::span<const double> a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum);
}

const MadeRun& wanted(const MadeRun* reference, const std::string& what) {
  if (!reference) throw InputError(fmt::format("{}: there is no reference to measure from", what));
  return *reference;
}

std::vector<double> column(const MadeRun& run, const std::string& name) {
  const std::vector<std::string>& known = run.rows.header.columns;
  if (std::find(known.begin(), known.end(), name) != known.end()) return run.rows.column(name);
  const std::string near = nearest_name(name, known);
  throw InputError(fmt::format("{}: a run has no column '{}'{} it has {}", run.model.path, name,
                               near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
}

double of_report(const std::string& name, const MadeRun& run) {
  const Report& r = run.report;
  const double steps = static_cast<double>(std::max(r.steps, 1L));
  const std::pair<const char*, double> known[] = {
      {"constraint", r.constraint},
      {"hidden_constraint", r.hidden_constraint},
      {"energy_error", r.energy_error.value_or(NAN)},
      {"discrete_energy_error", r.discrete_energy_error.value_or(NAN)},
      {"momentum_error", r.momentum_maps.empty() ? NAN : r.momentum_maps[0].error},
      {"condition", r.condition.value_or(NAN)},
      {"steps", static_cast<double>(r.steps)},
      {"iterations", static_cast<double>(r.counters.iterations) / steps},
      {"augmentations", static_cast<double>(r.counters.augmentations) / steps},
      {"violation", run.violation},
      {"coordinates", run.model.system->ny()},
      {"multipliers", run.model.system->npsi()},
      {"penetration", r.contacts ? r.contacts->penetration : NAN},
      {"failed", run.failure.empty() ? 0.0 : 1.0}};
  std::vector<std::string> names;
  for (const auto& [n, value] : known) {
    if (name == n) return value;
    names.emplace_back(n);
  }
  for (const Report::Observed& q : r.quantities)
    if (q.name == name && q.value.size() == 1) return q.value[0];
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("'{}' cannot be measured{} there are {}, functions of columns ({}) and of states ({})",
                               name, near.empty() ? ";" : fmt::format(", did you mean '{}'?", near),
                               fmt::join(names, ", "), fmt::join(of_columns, ", "), fmt::join(of_states, ", ")));
}

// A step that is set takes the place of the file's tolerance.
bool sets(const RunDefinition& run, const char* key) {
  return std::any_of(run.set.begin(), run.set.end(), [&](const Override& o) { return o.key == key; });
}

std::string key_of(const RunDefinition& run, bool with_rows, bool with_condition) {
  std::string key = fmt::format("{}{}{}", run.model, with_rows ? " rows" : "", with_condition ? " condition" : "");
  for (const Override& o : run.set) key += fmt::format(" {}={}", o.key, o.value);
  return key;
}

// The columns of y, z or psi.
std::vector<std::string> columns_of(const MadeRun& run, const std::string& name) {
  const std::vector<std::string> all = state_columns(run.model.system->layout());
  const std::size_t sizes[] = {run.report.final.y.size(), run.report.final.z.size(), run.report.final.psi.size()};
  std::size_t first = 0;
  for (std::size_t k = 0; k < part(name); ++k) first += sizes[k];
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(std::min(first, all.size()));
  const auto to = all.begin() + static_cast<std::ptrdiff_t>(std::min(first + sizes[part(name)], all.size()));
  return {from, to};
}

std::vector<double> distance_of_rows(const MadeRun& run, const MadeRun& from, const std::string& name, bool relative) {
  const std::size_t rows = std::min(run.rows.rows(), from.rows.rows());
  std::vector<double> sum(rows, 0.0), size(rows, 0.0);
  for (const std::string& c : columns_of(run, name)) {
    const std::vector<double> a = column(run, c), b = column(from, c);
    for (std::size_t k = 0; k < rows; ++k) {
      sum[k] += (a[k] - b[k]) * (a[k] - b[k]);
      size[k] += b[k] * b[k];
    }
  }
  for (std::size_t k = 0; k < rows; ++k) sum[k] = std::sqrt(relative ? sum[k] / size[k] : sum[k]);
  return sum;
}

}  // namespace

const MadeRun& Runs::made(const RunDefinition& run, bool with_rows, bool with_condition) {
  std::unique_ptr<MadeRun>& place = made_[key_of(run, with_rows, with_condition)];
  if (place) return *place;
  auto made = std::make_unique<MadeRun>();
  made->model = load_model(run.model, run.set);
  Model& model = made->model;
  if (sets(run, "integrate.step") && !sets(run, "integrate.tolerance")) model.simulation.tolerance = {};
  if (!(model.end >= model.simulation.start))
    throw InputError(fmt::format("{}: integrate: there is no end time; add end = 10 to [integrate]", run.model));
  located(model, [&] {
    Simulation simulation = model.simulation_for("");
    simulation.on_progress([](double) { return !stop_asked(); });
    if (with_rows) simulation.keep_rows();
    if (with_condition) simulation.observe_condition();
    simulation.start(model.start);
    try {
      simulation.until(model.end);
    } catch (const StepFailure& e) {
      made->failure = e.what();
    }
    made->report = simulation.report();
    if (with_rows) made->rows = simulation.trajectory();
  });
  place = std::move(made);
  return *place;
}

std::pair<MadeRun, MadeRun> Runs::step(const RunDefinition& run, const RunDefinition& reference, double from) {
  RunDefinition before = reference;
  before.set.push_back({"integrate.end", fmt::format("{}", from)});
  const MadeRun& start = made(before, false, false);
  const auto one = [&](const RunDefinition& definition) {
    MadeRun made;
    made.model = load_model(definition.model, definition.set);
    const Model& model = made.model;
    located(model, [&] {
      const auto stepper = model.choice.bind(model.system, model.simulation.solver);
      State state = start.report.final;
      stepper->reset();
      if (const StepResult result = stepper->step(state, model.simulation.step); !result) made.failure = result.reason;
      made.report.final = state;
      made.report.counters = stepper->counters();
      made.report.steps = 1;
      const auto evaluation = model.system->evaluation({Quantity::constraint});
      evaluation->at(state.t, state.y.data(), state.z.data(), state.psi.data());
      const auto count = static_cast<std::size_t>(model.system->ng());
      made.violation = length({(*evaluation)[Quantity::constraint], count});
    });
    return made;
  };
  return {one(run), one(reference)};
}

double measure(const std::string& what, const MadeRun& run, const MadeRun* reference) {
  const auto [function, name] = parts_of(what);
  if (what == "failed") return of_report(what, run);
  if (!run.failure.empty() && !one_of(function, of_columns)) return NAN;
  if (function.empty()) return of_report(name, run);
  if (function == "error") return run.report.exact_error[part(name)].value_or(NAN);
  if (function == "distance" || function == "relative") {
    const std::vector<double>& to = part(wanted(reference, what).report.final, name);
    const double far = distance(part(run.report.final, name), to);
    return function == "distance" ? far : far / length(to);
  }
  if (function == "farthest") {
    const std::vector<double> far = distance_of_rows(run, wanted(reference, what), name, true);
    return far.empty() ? NAN : *std::max_element(far.begin(), far.end());
  }
  if (!one_of(function, of_columns))
    throw InputError(fmt::format("'{}' is no measure of a run; there are {} and {}", function,
                                 fmt::join(of_columns, ", "), fmt::join(of_states, ", ")));
  const std::vector<double> values = column(run, name);
  if (function == "final") return values.back();
  if (function == "largest") return *std::max_element(values.begin(), values.end());
  if (function == "smallest") return *std::min_element(values.begin(), values.end());
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(function == "change" ? v - values[0] : v));
  return most;
}

std::vector<double> measure_rows(const std::string& what, const MadeRun& run, const MadeRun* reference) {
  const auto [function, name] = parts_of(what);
  if (function == "distance" || function == "relative")
    return distance_of_rows(run, wanted(reference, what), name, function == "relative");
  std::vector<double> values = column(run, function.empty() ? what : name);
  if (function.empty()) return values;
  if (function == "change") {
    for (std::size_t k = values.size(); k-- > 0;) values[k] -= values[0];
  } else if (function == "highest") {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = std::max(std::abs(values[k]), k > 0 ? values[k - 1] : 0.0);
  } else {
    throw InputError(
        fmt::format("'{}' is no function of rows; there are change, highest, distance and relative", what));
  }
  return values;
}

bool needs_rows(const std::string& what) {
  const std::string function = parts_of(what).first;
  return function == "farthest" || one_of(function, of_columns);
}
bool needs_condition(const std::string& what) { return what == "condition"; }

}  // namespace hinge::cli
