// [states]: numbers beside a mechanical system that follow equations of their own.
#include <algorithm>

#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

// Rates and updates are functions of t, positions, velocities and states.
void refuse_multipliers(const Item& item, const SymbolicSystem& system, const Graph& graph, Node n) {
  std::vector<Node> others = system.equations().psi;
  for (const auto& gap : system.equations().gaps)
    if (gap.multiplier != no_node) others.push_back(gap.multiplier);
  if (dependence(graph, others)[static_cast<std::size_t>(n)])
    item.fail("this depends on a multiplier; it may use t, positions, velocities and states");
}

}  // namespace

void declare_states(const Item& section, SystemSection& system) {
  if (!section) return;
  Graph& graph = *system.scope.graph;
  graph.constant(0);  // the rate of a sampled one; with_states() relies on it
  std::vector<Node> variables;
  for (const std::string& name : section.keys()) {
    const Item item = section[name];
    if (!item.is_table())
      item.fail(fmt::format("expected a table, as in {} = {{ rate = \"r - x\", initial = 0 }}; found {}", name,
                            item.found()));
    for (const std::string& own : {name, integral_name(name)}) claim_name(item, own, system.scope);
    AddedState state;
    state.name = name;
    state.integral = graph.variable(integral_name(name));
    state.value = graph.variable(name);
    variables.push_back(state.value);
    system.scope.names[name] = scalar_value(state.value);
    system.scope.names[integral_name(name)] = scalar_value(state.integral);
    system.states.push_back(std::move(state));
  }
  for (const AddedState& state : system.states) variables.push_back(state.integral);
  TimeRate among(graph, system.builder->t().node_in(graph), {}, {}, variables);
  system.scope.why_no_rate = [among](Node n) mutable -> std::string {
    return among.depends_on_moving(n) ? "a state has no prime; write its rate" : "";
  };
}

void read_states(const Item& section, SystemSection& system) {
  if (!section) return;
  if (system.system.get() != system.whole.get())
    section.fail("[states] cannot stand beside [[particles]], which are no expressions; make them [[body]]s");
  const ValueReader read(system.scope);
  Graph& graph = *system.scope.graph;
  for (AddedState& state : system.states) {
    const Item item = section[state.name], rate = item["rate"], update = item["update"], every = item["every"];
    if (static_cast<bool>(rate) == static_cast<bool>(update))
      item.fail(
          "give 'rate', the time derivative, or 'update' and 'every', the value after each sample; one of the two");
    if (static_cast<bool>(update) != static_cast<bool>(every))
      (every ? every : update)
          .fail("a sampled state needs both 'every' and 'update', as in every = 0.01, update = \"x\"");
    if (item["offset"] && !update) item["offset"].fail("only a sampled state has an 'offset'; remove it");
    const Item given = rate ? rate : update;
    const Node n = read.scalar(given);
    refuse_multipliers(given, *system.system, graph, n);
    (rate ? state.rate : state.update) = n;
    if (every) state.every = read.number(every);
    read.number(item["offset"], state.offset);
    system.state_start.push_back(item["initial"] ? read.number(item["initial"]) : 0);
  }
  section.located([&] { system.system = with_states(*system.system, system.states); });
  system.whole = system.system;
}

void append_states(const SystemSection& system, Start& start) {
  if (system.states.empty()) return;
  const std::vector<double>& s = system.state_start;
  start.position.insert(start.position.end(), s.size(), 0.0);
  if (start.velocity.empty() && start.momentum.empty()) {
    auto& z = system.system->structure().z_is_momentum ? start.momentum : start.velocity;
    z.assign(static_cast<std::size_t>(system.declared.nz), 0.0);
  }
  for (std::vector<double>* z : {&start.velocity, &start.momentum})
    if (!z->empty()) z->insert(z->end(), s.begin(), s.end());
}

}  // namespace hinge
