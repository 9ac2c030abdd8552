// [output] and [[event]]: what is recorded, and what is noticed on the way.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "expression/printable.hpp"
#include "model/sections.hpp"
#include "simulate/momentum_map.hpp"
#include "simulate/record/recorder_vtk.hpp"
#include "simulate/recording.hpp"

namespace hinge {

namespace {

// A name for a column of its own: not one of those that every recorded file has, and not one of the quantities.
void claim_column(const Item& item, const std::string& name, const Model& model) {
  const auto base_of = [](const std::string& column) { return column.substr(0, column.find('[')); };
  const std::vector<std::string> columns = record_columns(*model.system);
  bool taken = std::any_of(columns.begin(), columns.end(),
                           [&](const std::string& column) { return base_of(column) == base_of(name); });
  for (const Model::Quantity& q : model.quantities) taken = taken || q.name == name;
  if (taken) item.fail(fmt::format("'{}' is recorded anyway, under this name; choose another name", name));
}

// [output] momentum = { L = { axis = [0, 1, 0], point = [0, 0, 0] }, P = { direction = [1, 0, 0] } }
MomentumMap read_momentum_map(const Item& item, const ValueReader& read, const Layout& layout) {
  if (!item.is_table()) item.fail("expected { axis = [0, 1, 0] } or { direction = [1, 0, 0] }");
  MomentumMap map;
  Item place = item;
  const auto part = [&](const char* key, std::vector<double>& into) {
    const Item inner = item[key];
    if (item.source->overridden.contains(inner.key)) place = inner;  // by --set
    if (!inner) return;
    into = read.constants(inner, read.list(inner),
                          "this is a number only for given coordinates; write it with parameters");
    if (into.empty()) inner.fail(fmt::format("expected three numbers, as in {} = [0, 1, 0]", key));
  };
  part("axis", map.axis);
  part("point", map.point);
  part("direction", map.direction);
  place.located([&] { motion_of(layout, map); });
  return map;
}

// Times at the start and at the end are meant where sums such as 0.1 + 0.1 + ... miss them by rounding.
void round_times(std::vector<double>& times, double start, double end) {
  const double rounding = 1e-12 * std::max(std::abs(start), std::abs(end));
  for (double& t : times)
    for (const double limit : {start, end})
      if (std::abs(t - limit) <= rounding) t = limit;
}

// Those of the file after an end that was moved since are left out; others are a mistake.
void refuse_late_times(const Item& times, Model& model) {
  const std::vector<double>& all = model.simulation.times;
  if (std::isnan(model.end)) return;
  const auto late = std::upper_bound(all.begin(), all.end(), model.end);
  if (late == all.end()) return;
  if (times.source->overrides("output.times") || !times.source->overrides("integrate.end"))
    times.fail(
        fmt::format("t = {} lies after the end, {}; leave it out, or choose a later end", all.back(), model.end));
  model.warnings.push_back(fmt::format("output.times: {} of {} times lie after the end, {}, and are not recorded",
                                       all.end() - late, all.size(), model.end));
}

void read_times(const Item& times, const ValueReader& read, Model& model) {
  if (!times) return;
  SimulationOptions& o = model.simulation;
  o.times = read.constants(times, read.list(times),
                           "times to record at are numbers, as in [0.5, 1]; they may use parameters, but not t or "
                           "coordinates");
  if (o.times.empty()) times.fail("there is no time in this list; give some, or leave it out to record every step");
  round_times(o.times, o.start, model.end);
  std::sort(o.times.begin(), o.times.end());
  o.times.erase(std::unique(o.times.begin(), o.times.end()), o.times.end());
  if (!o.times.empty() && o.times.front() < o.start)
    times.fail(fmt::format("t = {} lies before the start, {}", o.times.front(), o.start));
  refuse_late_times(times, model);
}

// The new velocities of a change; what is not mentioned stays as it is.
Vector read_change(const Item& values, SystemSection& system) {
  const ValueReader read(system.scope);
  const Layout& layout = system.system->layout();
  const bool dae = layout.kind == SystemKind::dae;
  const bool by_z = layout.kind == SystemKind::hamiltonian || layout.kind == SystemKind::odae;
  const std::vector<Node>& before = dae ? system.system->equations().y : system.system->equations().z;
  const std::vector<Block> named = dae ? layout.y : by_z ? layout.z : velocity_blocks(layout);
  if (!values.is_table())
    values.fail(fmt::format("expected a table, as in {} = {{ {} = ... }}", values.row->option.name, named[0].name));
  const auto kept = [&](const Block& b) {
    return std::vector<Node>(before.begin() + b.first, before.begin() + b.first + b.size());
  };
  const std::vector<std::string> aliases = dae ? std::vector<std::string>{} : names_of(layout.z);
  return as_vector(BlockReader{read, named, aliases, kept}(values), system.builder->t().graph());
}

// In the folder of the model, unless --set has said it.
std::string read_path(const Item& item, const Model& model) {
  const std::string path = item.text();
  if (path.empty() || item.source->overridden.contains(item.key)) return path;
  return (std::filesystem::path(model.path).parent_path() / path).string();
}

}  // namespace

// Links are followed: it is where they lead to that counts.
std::string why_outside(const Model& model, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code trouble;
  const fs::path parent = fs::path(model.path).parent_path();
  const fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, trouble);
  if (trouble) return fmt::format("the folder of the model cannot be found: {}", trouble.message());
  const bool link = fs::is_symlink(fs::symlink_status(path, trouble));
  const fs::path real =
      link ? fs::canonical(path, trouble) : fs::weakly_canonical(fs::absolute(path, trouble), trouble);
  if (trouble) return fmt::format("'{}' cannot be found: {}", path, trouble.message());
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  if (end == folder.end()) return "";
  return fmt::format("'{}' lies outside of the folder of the model, '{}'", real.string(), folder.string());
}

void read_output(const Item& section, SystemSection& system, Model& model) {
  if (!section) return;
  const ValueReader read(system.scope);
  const Item every = section["every"], interval = section["interval"], times = section["times"];
  if (every && interval) interval.fail("give 'every' or 'interval', not both");
  if (times && (every || interval)) times.fail("give 'times', 'every' or 'interval', not several");
  read_times(times, read, model);
  if (every) model.simulation.every = read.integer(every);
  read.number(interval, model.simulation.interval);
  model.output_file = read_path(section["file"], model);
  model.picture_file = read_path(section["vtk"], model);
  if (!model.picture_file.empty() && !is_picture_path(model.picture_file)) model.picture_file += ".pvd";
  const Layout& layout = system.system->layout();
  const Item quantities = section["quantities"], momenta = section["momentum"];
  const std::vector<std::string> names = quantities ? quantities.keys() : std::vector<std::string>{};
  for (const std::string& name : names)
    system.scope.elsewhere.emplace(name,
                                   "is a quantity, which others do not know; give its expression a name of "
                                   "its own in [define], and use that in both");
  for (const std::string& name : names) {
    claim_column(quantities[name], name, model);
    const Value value = read.value(quantities[name]);
    model.quantities.push_back({name, as_vector(value.entries, system.builder->t().graph()), value.shape});
  }
  for (const std::string& name : momenta ? momenta.keys() : std::vector<std::string>{}) {
    claim_column(momenta[name], name, model);
    model.momentum_maps.emplace_back(name, read_momentum_map(momenta[name], read, layout));
  }
}

// [[event]] name = "floor", root = "q[1]", direction = "falling", velocity = { q = ["q'[0]", "-0.8*q'[1]"] }
void read_events(const Item& list, SystemSection& system, Model& model) {
  const ValueReader read(system.scope);
  const auto graph = system.builder->t().graph();
  for (const Item& item : list.entries()) {
    Event event;
    event.name = item["name"] ? printable(item["name"].text()) : fmt::format("event {}", model.events.size());
    event.root = {graph, read.scalar(item.need("root"))};
    for (const std::string& force : system.forces)
      if (force.ends_with("_contact_force") && !mentioned(item["root"], {force}).empty())
        item["root"].fail(
            fmt::format("'{}' is the mean over a step, and jumps; an event needs a function of the motion, "
                        "a gap say",
                        force));
    if (graph->is_constant(event.root.node_in(*graph)))
      item["root"].fail("this is a number; an event is a function of t or the motion whose sign changes");
    if (const Op op = (*graph)[event.root.node_in(*graph)].op; op == Op::less || op == Op::less_equal)
      item["root"].fail(
          "a condition has no sign that changes; write the difference of its two sides, a - b for a < b, and the "
          "direction in which it changes");
    read_choice(item["direction"], event.direction);
    const KeyInfo& changed = item.section->keys.back();  // velocity, momentum, z or unknowns
    const Item values = item[changed.option.name], action = item["action"];
    event.action = values ? Event::Action::change : Event::Action::record;
    read_choice(action, event.action);
    if (event.action == Event::Action::change && !values)
      action.fail(fmt::format("a change needs the new values, as in {} = {{ ... }}", changed.option.name));
    if (event.action != Event::Action::change && values)
      values.fail("new values belong to action = \"change\"; leave one of the two out");
    if (values) event.velocity = read_change(values, system);
    model.events.push_back(std::move(event));
  }
}

}  // namespace hinge
