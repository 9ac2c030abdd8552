#include "simulate/recording.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "simulate/record/recorder_vtk.hpp"

namespace hinge {

void ObservedQuantities::compile(const System& system) {
  if (expressions.empty()) return;
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!symbolic) throw InputError("quantities can be observed on systems made of expressions only");
  contact_forces = ContactForces(system);
  const auto& source = symbolic->equations().source;
  FunctionKey key{-1};  // besides the kinds of GraphLibrary::Making
  for (const Expression& e : expressions)
    if (e.graph() && e.graph() == source) key.push_back(e.node_in(*e.graph()));
  if (key.size() == expressions.size() + 1 && contact_forces.empty()) {
    functions = StateFunctions(symbolic->function(key, [&](const SymbolicSystem& s) {
      const Equations& eq = s.equations();
      return FunctionDraft{*eq.source, {{eq.t}, eq.y, eq.z, eq.psi}, {key.begin() + 1, key.end()}};
    }));
    return;
  }
  Graph graph;
  const std::vector<Node> nodes = symbolic->nodes_of(expressions, graph);
  functions = StateFunctions(*symbolic, graph, nodes, contact_forces.variables());
}

const std::vector<double>& ObservedQuantities::values(const State& state, const ContactImpulses* impulses) {
  const std::vector<double>& values = functions.at(state, contact_forces.of(impulses).data());
  if (undefined >= 0) return values;
  const auto bad = std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
  if (bad == values.end()) return values;
  undefined = static_cast<int>(bad - values.begin());
  undefined_at = state.t;
  return values;
}

void ObservedQuantities::doubts(std::vector<Doubt>& doubts) const {
  if (undefined < 0) return;
  int first = 0;
  for (const Report::Observed& item : items) {
    const Block b{item.name, item.shape, 0};
    if (undefined < first + b.size()) {
      doubts.push_back(
          {fmt::format("the quantity {} has no value at t = {:.9g}", b.entry_name(undefined - first), undefined_at),
           undefined_at,
           "its expression is not defined there (a table beyond its points, a division by zero, a root or a logarithm "
           "of "
           "a negative number): say with if(...), or beyond of the table, what holds there"});
      return;
    }
    first += b.size();
  }
}

std::vector<Report::Observed> ObservedQuantities::at(const State& state, const ContactImpulses* impulses) {
  std::vector<Report::Observed> list = items;
  auto value = values(state, impulses).begin();
  for (Report::Observed& item : list) {
    const int n = Block{item.name, item.shape, 0}.size();
    item.value.assign(value, value + n);
    value += n;
  }
  return list;
}

void Schedule::begin(const SimulationOptions& options) {
  options_ = options;
  count_ = 0;
  next_multiple_ = options.start;
  next_of_list_ = 0;
}

double Schedule::next_time() const {
  if (options_.interval > 0) return next_multiple_;
  return next_of_list_ < options_.times.size() ? options_.times[next_of_list_] : INFINITY;
}

// The first multiple behind t; where the interval is shorter than the resolution of t, the next time there is.
void Schedule::recorded(double t) {
  if (options_.interval > 0) {
    constexpr double countable = 9e15;
    if (due_time() <= t) ++count_;
    const double passed = std::floor((t - options_.start) / options_.interval);
    count_ = std::max(count_, static_cast<long>(std::clamp(passed, 0.0, countable)));
    for (int k = 0; k < 2 && multiple(count_) - slack() <= t; ++k) ++count_;  // the quotient is rounded
    next_multiple_ = std::max(multiple(count_), std::nextafter(t, INFINITY));
  } else {
    while (due_time() <= t) ++next_of_list_;
  }
}

std::vector<std::string> record_columns(const System& system) {
  const Layout& l = system.layout();
  std::vector<std::string> columns = {"t"};
  for (const std::string& name : state_columns(l)) columns.push_back(name);
  const bool taken = std::any_of(l.y.begin(), l.y.end(), [](const Block& b) { return b.name == "energy"; });
  if (system.structure().has_energy) columns.push_back(taken ? "total_energy" : "energy");
  return columns;
}

std::vector<std::string> Recording::columns_of(const System& system, const Watch& watch) const {
  std::vector<std::string> columns = record_columns(system);
  for (const WatchedMomentum& m : watch.momenta()) columns.push_back(m.name);
  for (const auto& q : quantities.items) {
    const Block b{q.name, q.shape, 0};
    for (int k = 0; k < b.size(); ++k) columns.push_back(b.entry_name(k));
  }
  return columns;
}

void Recording::open(const std::shared_ptr<const System>& system, const MethodChoice& method,
                     const SimulationOptions& options, const Watch& watch) {
  goals_.clear();
  rows_ = 0;
  quantities.undefined = -1;
  event_rows_.clear();
  event_names_.clear();
  schedule.begin(options);
  if (output.path.empty() && picture_path.empty() && !keep_rows && callbacks.empty()) return;
  has_energy_ = system->structure().has_energy;
  header_ = {columns_of(*system, watch),
             {{"title", output.title},
              {"method", method.description},
              {"step", fmt::format("{}", options.step)},
              {"program", "hinge " + version()}},
             output.model};
  if (!output.settings.empty()) header_.about.emplace_back("set", output.settings);
  values_.resize(header_.columns.size());

  const auto add = [this](std::unique_ptr<Recorder> recorder) { goals_.push_back({std::move(recorder), NAN}); };
  if (!output.path.empty()) add(open_recorder(output.path, header_));
  const bool thinned = !schedule.at_times() && options.every == 1;
  if (!picture_path.empty())
    add(open_pictures(picture_path, system, thinned, options.tolerance.given() ? 0 : options.step));
  if (keep_rows) add(keep_in_memory(kept, header_));
  for (const auto& callback : callbacks) add(tell(callback));
}

void Recording::exchange(Memory& memory) {
  if (!goals_.empty()) last_time_ = goals_.front().last_time;
  schedule.exchange(memory);
  memory(rows_, last_time_, event_rows_, event_names_);
}

void Recording::reopen(const std::shared_ptr<const System>& system, const MethodChoice& method,
                       const SimulationOptions& options, const Watch& watch) {
  const long rows = rows_;
  const double last_time = last_time_;
  const std::vector<long> event_rows = event_rows_;
  const std::vector<std::string> events = event_names_;
  const Schedule reached = schedule;
  if (!picture_path.empty())
    throw InputError("pictures for ParaView cannot be continued from a checkpoint; leave them out, or begin anew");
  Trajectory before;
  namespace fs = std::filesystem;
  const std::string old = output.path + ".before";
  if (!output.path.empty() && rows > 0) {
    // a run that was killed while it came to this place has left the rows there
    before = read_record(fs::exists(old) ? old : output.path);
    if (static_cast<long>(before.rows()) < rows)
      throw InputError(
          fmt::format("'{}' has {} rows, but the checkpoint was written after {}; give the file that the run "
                      "has written, or begin it anew",
                      output.path, before.rows(), rows));
    if (!fs::exists(old)) fs::rename(output.path, old);
  }
  open(system, method, options, watch);
  schedule.continue_from(reached);
  std::size_t event = 0;  // an HDF5 file gets its events at the end only: they are in the checkpoint
  for (long k = 0; k < rows && !before.header.columns.empty() && !goals_.empty(); ++k) {
    Row row{.values = before.row(static_cast<std::size_t>(k)), .columns = header_.columns};
    if (event < events.size() && event_rows[event] == k) row.event = events[event++];
    goals_.front().recorder->record(row);
  }
  rows_ = rows;
  event_rows_ = event_rows;
  event_names_ = events;
  if (!goals_.empty()) goals_.front().last_time = last_time;
  std::error_code ignored;
  fs::remove(old, ignored);
}

void Recording::expect(double now, double end) {
  for (Goal& goal : goals_) goal.recorder->expect(now, end);
}

Row Recording::make_row(const Shown& shown) {
  const State& s = shown.state;
  auto out = values_.begin();
  *out++ = s.t;
  for (const auto* part : {&s.y, &s.z, &s.psi}) out = std::copy(part->begin(), part->end(), out);
  if (has_energy_) *out++ = shown.watched.energy;
  out = std::copy(shown.watched.momenta.begin(), shown.watched.momenta.end(), out);
  const Stepper& stepper = shown.stepper;
  const std::vector<double>& observed = quantities.values(s, stepper.contact_impulses());
  std::copy(observed.begin(), observed.end(), out);
  return {values_,
          header_.columns,
          shown.event,
          &s,
          stepper.contact_impulses(),
          shown.step,
          &stepper.counters(),
          stepper.contact_statistics()};
}

template <typename Wanted>
void Recording::give(const Shown& shown, Wanted wanted) {
  if (std::none_of(goals_.begin(), goals_.end(), wanted)) return;
  const Row row = make_row(shown);
  for (Goal& goal : goals_) {
    if (!wanted(goal)) continue;
    goal.recorder->record(row);
    goal.last_time = shown.state.t;
    if (&goal != &goals_.front()) continue;
    if (!shown.event.empty()) {
      event_rows_.push_back(rows_);
      event_names_.emplace_back(shown.event);
    }
    ++rows_;
  }
}

void Recording::record(const Shown& shown) {
  give(shown, [&](const Goal& goal) { return goal.recorder->due(shown.state.t); });
}

void Recording::conclude(const Shown& shown) {
  give(shown, [&](const Goal& goal) { return goal.last_time != shown.state.t; });
}

void Recording::close(const std::string& status) {
  std::exception_ptr first;
  for (const Goal& goal : std::exchange(goals_, {})) {
    try {
      goal.recorder->finish(status);
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace hinge
