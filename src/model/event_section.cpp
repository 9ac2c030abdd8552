#include "model/event_section.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hinge {

// [[event]] name = "floor", root = "q[1]", direction = "falling", velocity = { q = ["q'[0]", "-0.8*q'[1]"] }
std::vector<Event> read_events(const Item& list, SystemSection& system) {
  std::vector<Event> events;
  if (!list) return events;
  const ValueReader read(system.scope);
  const auto graph = system.builder->t().graph();
  const Layout& layout = system.system->layout();
  if (!list.is_array()) list.fail("events are written one by one, each under a line [[event]]");
  const char* key = layout.kind == SystemKind::hamiltonian ? "momentum"
                    : layout.kind == SystemKind::odae      ? "z"
                    : layout.kind == SystemKind::dae       ? "unknowns"
                                                           : "velocity";
  using Direction = Event::Direction;
  using Action = Event::Action;
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Item item = list[k];
    if (!item.is_table()) item.fail("expected a table, as in [[event]] followed by root = \"q[1]\"");
    item.expect_keys({"name", "root", "direction", "action", key});
    Event event;
    event.name = item["name"] ? item["name"].expect_string("a name") : fmt::format("event {}", k);
    if (!item["root"])
      item.fail("'root' is missing: a function of the motion whose sign changes, as in root = \"q[1]\"");
    event.root = {graph, read.scalar(item["root"])};
    if (graph->is_constant(event.root.node_in(*graph)))
      item["root"].fail("this is a number; an event is a function of t or the motion whose sign changes");
    if (item["direction"])
      event.direction = read_choice<Direction>(
          item["direction"],
          {{"both", Direction::both}, {"rising", Direction::rising}, {"falling", Direction::falling}});
    const Item values = item[key];
    event.action = values ? Action::change : Action::record;
    if (const Item action = item["action"]) {
      event.action =
          read_choice<Action>(action, {{"record", Action::record}, {"stop", Action::stop}, {"change", Action::change}});
      if (event.action == Action::change && !values)
        action.fail(fmt::format("a change needs the new values, as in {} = {{ ... }}", key));
      if (event.action != Action::change && values)
        values.fail("new values belong to action = \"change\"; leave one of the two out");
    }
    if (values) {
      // what is not mentioned stays as it is
      const bool dae = layout.kind == SystemKind::dae;
      const std::vector<Block>& blocks = layout.z;
      const std::vector<Node>& before = dae ? system.system->equations().y : system.system->equations().z;
      const std::vector<Block> named = dae ? layout.y
                                       : layout.kind == SystemKind::hamiltonian || layout.kind == SystemKind::odae
                                           ? layout.z
                                           : velocity_blocks(layout);
      std::vector<std::string> known;
      for (const Block& b : named) known.push_back(b.name);
      for (const Block& b : blocks)
        if (std::find(known.begin(), known.end(), b.name) == known.end()) known.push_back(b.name);
      if (!values.is_table()) values.fail(fmt::format("expected a table, as in {} = {{ {} = ... }}", key, known[0]));
      values.expect_keys(known);
      for (std::size_t b = 0; b < named.size(); ++b) {
        Item inner = values[named[b].name];
        if (!inner && !dae) inner = values[blocks[b].name];
        std::vector<Node> part(before.begin() + named[b].first, before.begin() + named[b].first + named[b].size());
        if (inner) part = read.block(inner, named[b].shape);
        for (const Node n : part) event.velocity.push_back({graph, n});
      }
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace hinge
