// [initial] and [exact]: where a motion starts, and what it is, if that is known.
#include <algorithm>

#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

using Blocks = std::vector<Block>;

const char* const initial_numbers = "initial values are numbers; they cannot depend on t or coordinates";

std::string example_of_motion(const RigidBody& body) {
  return fmt::format("bodies = {{ {} = {{ {}rotation = {{ axis = [1, 0, 0], angle = \"pi/3\" }} }} }}",
                     body.options().name, body.is_free() ? "position = [0, 0, 0], " : "");
}

[[noreturn]] void refuse_missing_section(const Item& root, const SystemSection& system) {
  const Layout& layout = system.system->layout();
  if (layout.kind == SystemKind::dae)
    root.fail(fmt::format(
        "there is no section [initial]; give initial values, at least some, as in unknowns = {{ {} = ... }}",
        layout.y[0].name));
  root.fail("there is no section [initial]; give the initial " +
            (layout.kind == SystemKind::odae ? "y and z"
             : system.bodies.empty()         ? "position, as in position = { q = [1, 0] }"
                                             : "values, as in " + example_of_motion(system.bodies[0])));
}

// [initial] bodies: reads them into the start. The names of the coordinates that this gives.
std::vector<std::string> read_initial_bodies(const Item& section, const SystemSection& system, const ValueReader& read,
                                             Start& start) {
  const Item table = section["bodies"];
  if (!table) return {};
  if (system.bodies.empty())
    table.fail("this system has no bodies; describe them in [lagrangian.bodies], or leave this out");
  if (section["momentum"])
    section["momentum"].fail("initial values of bodies are velocities; give the others by 'velocity' too");
  const auto n = static_cast<std::size_t>(system.declared.ny);
  start.position.resize(n);
  start.velocity.resize(n);
  return read_body_motions(table, system.bodies, read, start);
}

[[noreturn]] void refuse_missing_position(const Item& section, const SystemSection& system, const std::string& first) {
  if (!system.bodies.empty() && !section["bodies"])
    section.fail("'bodies' is missing, as in " + example_of_motion(system.bodies[0]));
  section.fail(fmt::format("there are no initial values for '{}'; give them in 'bodies' or 'position'", first));
}

// Positions, and velocities or momenta.
void read_motion(const Item& section, SystemSection& system, Start& start) {
  const Layout& layout = system.declared;
  const ValueReader read(system.scope);
  const bool odae = layout.kind == SystemKind::odae;
  const std::vector<std::string> by_bodies = read_initial_bodies(section, system, read, start);
  const auto others = [&](Blocks blocks) {  // what the motions of bodies do not give
    std::erase_if(blocks, [&](const Block& b) {
      return std::find(by_bodies.begin(), by_bodies.end(), b.name) != by_bodies.end();
    });
    return blocks;
  };
  const auto numbers = [&](const Item& item, const Blocks& blocks, const std::vector<std::string>& aliases, bool all) {
    const auto missing = all ? nullptr : zeros(*system.scope.graph);
    return read.carried(item, BlockReader{read, blocks, aliases, missing}(item), initial_numbers);
  };
  const auto numbers_into = [&](std::vector<double>& all, const Item& item, const Blocks& blocks, const char* suffix,
                                bool needed) {
    if (blocks.empty()) item.fail("the motions of the bodies say everything; leave this out");
    const std::vector<double> values = numbers(item, blocks, names_of(blocks, suffix), needed);
    if (by_bodies.empty()) {
      all = values;
      return;
    }
    auto from = values.begin();
    for (const Block& b : blocks) {
      std::copy_n(from, b.size(), all.begin() + b.first);
      from += b.size();
    }
  };
  const Item position = section[odae ? "y" : "position"];
  const Blocks open = others(layout.y);
  const bool assembles = start.consistent == Consistency::project && !layout.constraints.empty();
  if (!position && !open.empty() && !assembles) {
    if (!system.bodies.empty()) refuse_missing_position(section, system, open[0].name);
    section.need(odae ? "y" : "position");
  }
  if (position) numbers_into(start.position, position, open, "", !assembles);
  if (assembles) {  // what is left out is found, from 0
    start.position.resize(static_cast<std::size_t>(layout.ny));
    start.given.assign(start.position.size(), 1);
    for (const Block& b : open)
      if (!position || (position.is_table() && !position[b.name]))
        std::fill_n(start.given.begin() + b.first, b.size(), 0);
    if (std::find(start.given.begin(), start.given.end(), 0) == start.given.end()) start.given.clear();
  }
  if (odae) start.velocity = numbers(section.need("z"), layout.z, {}, true);
  const Item velocity = section["velocity"], momentum = section["momentum"];
  if (velocity && momentum) momentum.fail("give the initial velocity or the initial momentum, not both");
  if (velocity) numbers_into(start.velocity, velocity, others(velocity_blocks(layout)), "'", false);
  if (momentum)
    start.momentum = layout.kind == SystemKind::hamiltonian ? numbers(momentum, layout.z, names_of(layout.y), false)
                                                            : numbers(momentum, velocity_blocks(layout), {}, false);
  if (const Item psi = section[odae ? "psi" : "multiplier"]) start.multiplier = numbers(psi, layout.psi, {}, true);
}

// Names of given values that a projection must not change; of a body, its position and its rotation.
void read_fixed(const Item& list, const Layout& layout, Start& start) {
  if (!list) return;
  if (layout.kind != SystemKind::dae && start.consistent != Consistency::project)
    list.fail("only a projection changes values: write consistent = \"project\", or leave this out");
  const bool bodies = layout.kind == SystemKind::multibody;
  start.fixed.assign(static_cast<std::size_t>(layout.ny), 0);
  for (const Item& item : list.entries()) {
    const std::string name = item.expect_string(bodies ? "the name of a body" : "the name of a coordinate");
    bool found = false;
    for (const Block& b : layout.y)
      for (int i = 0; i < b.size(); ++i) {
        const bool turns = bodies && (b.name == name + "_rotation" || b.name == name + "_angle");
        if (name != b.name && name != b.entry_name(i) && !turns) continue;
        const auto place = static_cast<std::size_t>(b.first + i);
        if (!start.given.empty() && !start.given[place])
          item.fail(fmt::format("'{}' is fixed, but no value is given for it", name));
        start.fixed[place] = 1;
        found = true;
      }
    const std::string others =
        bodies ? "; name a body that moves" : fmt::format("; there are {}", fmt::join(names_of(layout.y), ", "));
    if (!found)
      item.fail(fmt::format("there is no {} '{}'{}", layout.kind == SystemKind::dae ? "unknown" : "coordinate", name,
                            suggestion(name, names_of(layout.y), others.c_str())));
  }
}

// Of a DAE: some values are given, others are guesses.
void read_unknowns(const Item& section, SystemSection& system, Start& start) {
  const Layout& layout = system.system->layout();
  const ValueReader read(system.scope);
  const auto n = static_cast<std::size_t>(layout.ny);
  const auto fill = [&](const char* key, std::vector<double>& values, std::vector<char>& given, const char* suffix) {
    const Item item = section[key];
    if (!item) return;
    values.resize(n, 0.0);
    given.resize(n, 0);
    const auto nothing = [](const Block& b) { return std::vector<Node>(static_cast<std::size_t>(b.size()), no_node); };
    const std::vector<Node> nodes = BlockReader{read, layout.y, names_of(layout.y, suffix), nothing}(item);
    for (std::size_t k = 0; k < n; ++k) {
      if (nodes[k] == no_node) continue;
      values[k] = read.carried(item, {nodes[k]}, "initial values are numbers; they cannot depend on t or unknowns")[0];
      given[k] = 1;
    }
  };
  start.position.assign(n, 0.0);
  start.given.assign(n, 0);
  std::vector<char> guessed;
  fill("guess", start.position, guessed, "");
  fill("unknowns", start.position, start.given, "");
  fill("derivatives", start.velocity, start.given_velocity, "'");
  read_fixed(section["fixed"], layout, start);
}

}  // namespace

void read_initial(const Item& root, SystemSection& system, Model& model) {
  const Item section = root["initial"];
  const SystemKind kind = system.system->layout().kind;
  model.start = system.start;  // bodies of a scene say themselves where they start
  if (kind != SystemKind::multibody && !section) refuse_missing_section(root, system);
  read_choice(section["consistent"], model.start.consistent);
  if (kind == SystemKind::dae) return read_unknowns(section, system, model.start);
  if (kind != SystemKind::multibody) read_motion(section, system, model.start);
  append_states(system, model.start);
  read_fixed(section["fixed"], system.whole->layout(), model.start);
}

void read_exact(const Item& section, SystemSection& system, Model& model) {
  if (!section) return;
  const Layout& layout = system.system->layout();
  if (layout.kind == SystemKind::multibody)
    section.fail("an exact solution cannot be given for bodies; compare with another run");
  if (!system.states.empty())
    section.fail("an exact solution cannot be given beside [states]; make the difference a quantity in [output]");
  const ValueReader read(system.scope);
  const auto graph = system.builder->t().graph();
  const Equations& eq = system.system->equations();
  std::vector<Node> motion = eq.y;
  for (const auto* more : {&eq.z, &eq.psi}) motion.insert(motion.end(), more->begin(), more->end());
  const bool odae = layout.kind == SystemKind::odae, dae = layout.kind == SystemKind::dae;
  const auto part = [&](const char* key, const Blocks& blocks, const std::vector<std::string>& others, Vector& into) {
    const Item item = section[key];
    if (!item) return;
    const std::vector<Node> nodes = BlockReader{read, blocks, others}(item);
    const std::vector<char> depends = dependence(*graph, motion);
    if (std::any_of(nodes.begin(), nodes.end(), [&](Node n) { return depends[static_cast<std::size_t>(n)] != 0; }))
      item.fail("a solution is a function of t alone; write it with t and parameters, without coordinates");
    into = as_vector(nodes, graph);
  };
  part(dae ? "unknowns" : odae ? "y" : "position", layout.y, {}, model.exact.position);
  if (dae) return part("derivatives", layout.y, names_of(layout.y, "'"), model.exact.velocity);
  part(odae ? "psi" : "multiplier", layout.psi, {}, model.exact.multiplier);
  if (odae) return part("z", layout.z, {}, model.exact.velocity);
  part("velocity", velocity_blocks(layout), names_of(layout.y, "'"), model.exact.velocity);
  part("momentum", layout.kind == SystemKind::hamiltonian ? layout.z : velocity_blocks(layout), names_of(layout.y),
       model.exact.momentum);
}

}  // namespace hinge
