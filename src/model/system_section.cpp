// The one system section of a model: [lagrangian], [hamiltonian], [mechanical], [odae], [dae] or [multibody].
#include <algorithm>

#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

const char* const no_acceleration =
    "the time derivative of an expression with velocities would be an acceleration; only t and the coordinates can be "
    "differentiated. What multiplies an acceleration is a mass: it belongs to the kinetic energy, or to mass";

// Reads one kind of system into `out`. Each function declares the variables, reads [define], then the equations.
struct SystemReader {
  Item root, section;
  const Scope& parameters;
  SystemSection& out;
  ValueReader read{out.scope};
  std::shared_ptr<Graph> graph{};
  Item place = section;                  // of what is wrong with the system as a whole
  std::vector<std::string> of_forces{};  // keys of [define] that use forces of a [multibody]
  ReactionsInEquations reactions{};

  // The scope of a new system: its time, and the parameters as constants of its graph.
  template <class Builder>
  Builder& begin(std::unique_ptr<Builder> builder = std::make_unique<Builder>()) {
    Builder& made = *builder;
    graph = made.t().graph();
    Scope& scope = out.scope;
    scope.graph = graph.get();
    scope.names["t"] = scalar_value(made.t().node_in(*graph));
    scope.functions = parameters.functions;
    scope.tables = parameters.tables;
    for (const auto& [name, value] : parameters.names) {
      Value& own = scope.names[name];
      own.shape = value.shape;
      for (const Node n : value.entries) own.entries.push_back(graph->carried((*parameters.graph)[n].value));
    }
    out.builder = std::move(builder);
    declare_states(root["states"], out);
    return made;
  }

  // Variables that the list `key` declares; `add` makes them. Their nodes.
  template <class Add>
  std::vector<Block> declare(const char* key, const Add& add) const {
    std::vector<Block> blocks = read_declarations(section.need(key), key, read);
    for (const Block& b : blocks) define(b.name, add(b.name, b.shape), b.shape, out.scope);
    return blocks;
  }

  std::vector<Node> nodes(const std::vector<Block>& blocks) const {
    std::vector<Node> all;
    for (const Block& b : blocks) {
      const auto& entries = out.scope.names.find(b.name)->second.entries;
      all.insert(all.end(), entries.begin(), entries.end());
    }
    return all;
  }

  // What a prime means: all coordinates are declared.
  template <class Builder>
  void bind_rates(const std::vector<Block>& coordinates, const Builder& builder) const {
    const std::vector<Node> q = nodes(coordinates);
    std::vector<Node> v;
    for (const Expression& e : builder.velocity(as_vector(q, graph))) v.push_back(e.node_in(*graph));
    out.scope.rate = rate_or_refusal({*graph, builder.t().node_in(*graph), q, v, v}, no_acceleration);
  }

  void read_define() const { read_named_values(root["define"], read); }
  Expression expression(const char* key) const { return {graph, read.scalar(section.need(key))}; }
  // One for each coordinate, zero where nothing is said.
  Vector by_coordinate(const char* key, const std::vector<Block>& coordinates) const {
    return as_vector(BlockReader{read, coordinates, {}, zeros(*graph)}(section.need(key)), graph);
  }

  void read_own_multipliers(Lagrangian& system) const {
    const Item names = section["multipliers"], reaction = section["reaction"];
    if (names && !out.bodies.empty())
      names.fail(
          "own multipliers cannot be combined with bodies, whose six internal constraints have multipliers already");
    if (!names && reaction) reaction.fail("a reaction needs 'multipliers', the names it uses");
    if (names && !reaction) names.fail("'multipliers' come with a 'reaction' that uses them");
    if (names)
      declare("multipliers", [&](const std::string& name, const std::vector<int>& shape) {
        return system.multipliers(name, Block{name, shape}.size());
      });
  }

  // -D_v of Rayleigh's function
  Vector drag(const Item& item, const Vector& velocity) const {
    const Node d = read.scalar(item);
    std::vector<Node> v;
    for (const Expression& e : velocity) v.push_back(e.node_in(*graph));
    const std::vector<Node> by = gradient(*graph, d, v);
    if (std::all_of(by.begin(), by.end(), [&](Node n) { return graph->is_constant(n, 0); }))
      item.fail("this does not depend on a velocity; Rayleigh's function is c/2*dot(q',q'), say");
    Vector force;
    for (const Node n : by) force.push_back(-Expression(graph, n));
    return force;
  }

  void lagrangian() {
    Lagrangian& system = begin<Lagrangian>();
    const Item list = section["coordinates"], bodies = section["bodies"];
    std::vector<Block> coordinates;
    if (!bodies || (list && !(list.is_array() && list.size() == 0)))
      coordinates = declare("coordinates", [&](const auto&... d) { return system.coordinates(d...); });
    if (bodies) out.bodies = read_bodies(bodies, system, read);
    for (const RigidBody& body : out.bodies)
      for (const std::string& name : coordinate_names(body)) coordinates.push_back({name, {3}});
    bind_rates(coordinates, system);
    read_own_multipliers(system);
    read_define();
    if (section["lagrangian"]) {
      if (section["kinetic"] || section["potential"])
        section["lagrangian"].fail("give either 'lagrangian' or 'kinetic' and 'potential', not both");
      system.lagrangian(expression("lagrangian"));
    } else {
      if (!section["kinetic"] && out.bodies.empty())
        section.fail("'kinetic' is missing, as in kinetic = \"m/2*dot(q',q')\" (or give 'lagrangian')");
      if (section["kinetic"]) system.kinetic(expression("kinetic"));
      if (section["potential"]) system.potential(expression("potential"));
    }
    read_constraints(section["constraints"], read, system);
    read_velocity_constraints(section["velocity_constraints"], read, system);
    if (section["force"]) system.force(as_vector(nodes(coordinates), graph), by_coordinate("force", coordinates));
    if (section["dissipation"]) {
      const Vector q = as_vector(nodes(coordinates), graph);
      system.force(q, drag(section["dissipation"], system.velocity(q)));
    }
    if (section["reaction"]) system.reaction(by_coordinate("reaction", coordinates));
    read_invariants(section["invariants"], read, system);
    read_unilateral(section["unilateral"], read, system);
  }

  void hamiltonian() {
    Hamiltonian& system = begin<Hamiltonian>();
    declare("coordinates", [&](const auto&... d) { return system.coordinates(d...); });
    declare("momenta", [&](const auto&... d) { return system.momenta(d...); });
    out.scope.rate = [](Node) -> Node {
      throw InputError("a Hamiltonian is a function of coordinates and momenta; there are no velocities in it");
    };
    read_define();
    system.hamiltonian(expression("hamiltonian"));
    read_constraints(section["constraints"], read, system);
    read_invariants(section["invariants"], read, system);
  }

  void mechanical() {
    Mechanical& system = begin<Mechanical>();
    const auto coordinates = declare("coordinates", [&](const auto&... d) { return system.coordinates(d...); });
    bind_rates(coordinates, system);
    read_define();
    const Item mass = section.need("mass");
    const Value matrix = read.value(mass);
    const int n = static_cast<int>(nodes(coordinates).size());
    const bool one = n == 1 && matrix.scalar();
    if (!one && matrix.shape != std::vector<int>{n} && matrix.shape != std::vector<int>{n, n})
      mass.fail(
          fmt::format("expected a matrix of {0} rows and {0} columns, or its diagonal with {0} entries; this is {1}", n,
                      describe_shape(matrix.shape)));
    system.mass(as_vector(matrix.entries, graph));
    system.force(by_coordinate("force", coordinates));
    read_constraints(section["constraints"], read, system);
    read_velocity_constraints(section["velocity_constraints"], read, system);
    read_unilateral(section["unilateral"], read, system);
  }

  void odae() {
    Odae& system = begin<Odae>();
    const std::size_t ny = nodes(declare("y", [&](const auto&... d) { return system.y(d...); })).size();
    const std::size_t nz = nodes(declare("z", [&](const auto&... d) { return system.z(d...); })).size();
    if (section["psi"]) declare("psi", [&](const auto&... d) { return system.psi(d...); });
    read_define();
    const auto list = [&](const char* key, const char* partner, std::size_t wanted) {
      const Item item = section.need(key);
      const std::vector<Node> found = read.list(item);
      if (found.size() != wanted)
        item.fail(fmt::format("this needs {} expressions, one for each number in {}; found {}", wanted, partner,
                              found.size()));
      return as_vector(found, graph);
    };
    for (const char* key : {"v", "f"}) section.need(key);
    if (section["g"]) {
      for (const char* key : {"psi", "r"})
        if (!section[key])
          section.fail(
              fmt::format("'{0}' is missing, as in {0} = {1}: the constraints g need multipliers, as many as "
                          "there are constraints, and a reaction that keeps them",
                          key, section[key].row->example));
    }
    system.v(list("v", "y", ny));
    system.f(list("f", "z", nz));
    if (section["p"]) system.p(list("p", "z", nz));
    if (section["r"]) system.r(list("r", "z", nz));
    read_constraints(section["g"], read, system);
  }

  void dae() {
    Dae& system = begin<Dae>();
    const std::vector<Node> x = nodes(declare("unknowns", [&](const auto&... d) { return system.unknowns(d...); }));
    std::vector<Node> rates;
    for (const Expression& e : system.derivative(as_vector(x, graph))) rates.push_back(e.node_in(*graph));
    out.scope.rate = rate_or_refusal(
        {*graph, system.t().node_in(*graph), x, rates, rates},
        "equations contain x and x' only; for x'' make x' an unknown of its own, with the equation x' = v");
    read_define();
    // with pairs for all unknowns there may be no equation at all: a complementarity problem by itself
    const Item equations = section["equations"], pairs = section["complementarity"];
    read_equations(equations || pairs ? equations : section.need("equations"), read, system);
    read_pairs(pairs, read, system);
    read_noise(section["noise"], read, system);
    place = equations ? equations : pairs;
  }

  void multibody() {
    Scope numbers = parameters;
    Multibody& scene = begin(begin_multibody(section, ValueReader(numbers)));
    read_scene(root, scene, read);
    const std::vector<std::string> forces = force_names(root, read);
    of_forces = keys_that_mention(root["define"], forces);
    reactions = reactions_in_equations(root, forces, of_forces, read);
    read_connections(root, of_forces, reactions, scene, read);
    declare_contact_forces(root, scene);
    const Item contact = root["contact"], overlap = contact["overlap"];
    if (overlap) at_field(contact, [&] { scene.allow_overlap(read.number(overlap)); });
    out.start = scene.start();
  }
};

using Read = void (SystemReader::*)();
const std::vector<std::pair<std::string, Read>> kinds = {
    {"lagrangian", &SystemReader::lagrangian},
    {"hamiltonian", &SystemReader::hamiltonian},
    {"mechanical", &SystemReader::mechanical},
    {"odae", &SystemReader::odae},
    {"dae", &SystemReader::dae},
    {"multibody", &SystemReader::multibody},
};

// Names for output quantities: the multipliers, and in a Hamiltonian system q' = H_p.
void complete_scope(SystemSection& out) {
  const Equations& eq = out.system->equations();
  const Layout& layout = out.system->layout();
  for (const Block& b : layout.psi) {
    if (out.scope.names.count(b.name)) continue;
    const auto first = eq.psi.begin() + b.first;
    out.scope.names[b.name] = Value{b.shape, {first, first + b.size()}};
  }
  if (layout.kind != SystemKind::dae) {
    std::vector<Node> moving = eq.z;
    moving.insert(moving.end(), eq.psi.begin(), eq.psi.end());
    out.scope.rate =
        rate_or_refusal({*out.builder->t().graph(), eq.t, eq.y, eq.v, moving},
                        "only t and the coordinates can be differentiated by time: of a velocity that would be "
                        "an acceleration, and of forces it is not known");
  }
}

// Exactly one system; bodies, joints and the like belong to a [multibody].
const std::pair<std::string, Read>& the_system(const Item& root) {
  std::vector<const std::pair<std::string, Read>*> present;
  for (const auto& kind : kinds)
    if (root[kind.first]) present.push_back(&kind);
  if (present.empty() && root["body"])
    root["body"].fail("bodies need a section [multibody], with gravity = [0, 0, -9.81] say");
  if (present.empty())
    root.fail(
        "there is no system in this file: one of the sections [lagrangian], [hamiltonian], [mechanical], [odae], "
        "[dae] or [multibody] is needed");
  const std::string& kind = present[0]->first;
  if (present.size() > 1)
    root[present[1]->first].fail(
        fmt::format("there are two systems in this file, [{}] and [{}]; keep one", kind, present[1]->first));
  for (const char* name :
       {"body", "joint", "spring", "bushing", "constraint", "force", "particles", "container", "contact"})
    if (root[name] && kind != "multibody")
      root[name].fail(fmt::format("[{}] belongs to a [multibody] model; this one is a [{}]", name, kind));
  if (root["states"] && kind == "dae")
    root["states"].fail("a [dae] has unknowns for this: declare it there, with the equation \"x' = ...\"");
  return *present[0];
}

}  // namespace

SystemSection read_system(const Item& root) {
  const auto& [kind, read] = the_system(root);
  // Parameters are numbers, worked out before there is a system; then moved into the system's own graph.
  Graph numbers;
  Scope parameters;
  parameters.graph = &numbers;
  read_functions(root["functions"], parameters);
  read_named_values(root["parameters"], ValueReader(parameters));
  read_tables(root["tables"], parameters);
  SystemSection out;
  SystemReader reader{root, root[kind], parameters, out};
  (reader.*read)();
  reader.place.located([&] {
    out.whole = out.builder->build();
    out.system = {out.whole, symbolic_part(*out.whole)};
  });
  complete_scope(out);
  out.declared = out.whole->layout();
  read_states(root["states"], out);
  if (kind == "multibody") bind_forces(root, reader.of_forces, reader.reactions, out);
  return out;
}

}  // namespace hinge
