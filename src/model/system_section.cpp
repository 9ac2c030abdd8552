#include "model/system_section.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "model/dae_section.hpp"
#include "model/multibody_section.hpp"
#include "model/unilateral_section.hpp"

namespace hinge {

namespace {

Value as_value(const Vector& v, std::vector<int> shape, Graph& graph) {
  Value value{std::move(shape), {}};
  for (const Expression& e : v) value.entries.push_back(e.node_in(graph));
  return value;
}

Vector as_vector(const std::vector<Node>& nodes, const std::shared_ptr<Graph>& graph) {
  Vector v;
  for (const Node n : nodes) v.push_back({graph, n});
  return v;
}

// The first name among `names` that the text of `item` (or of a list in it) mentions; empty if none.
std::string mentioned(const Item& item, const std::vector<std::string>& names) {
  const std::string text = item.text();
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part(text[end])) ++end;
    if (std::find(names.begin(), names.end(), text.substr(at, end - at)) != names.end())
      return text.substr(at, end - at);
    at = end + 1;
  }
  if (item.is_array()) {
    for (std::size_t k = 0; k < item.size(); ++k)
      if (const std::string name = mentioned(item[k], names); !name.empty()) return name;
  }
  return "";
}

// None of the items `open` can be read: says which one is wrong in itself, or that they need each other.
[[noreturn]] void explain_unreadable(const Item& section, const std::vector<std::string>& open,
                                     const std::string& trouble, const ValueReader& read) {
  for (const std::string& name : open)
    if (mentioned(section[name], open).empty()) read.value(section[name]);  // throws
  std::vector<std::string> chain;
  for (std::string name = open.front(); !name.empty(); name = mentioned(section[name], open)) {
    const auto first = std::find(chain.begin(), chain.end(), name);
    if (first == chain.end()) {
      chain.push_back(name);
      continue;
    }
    std::string path;
    for (auto at = first; at != chain.end(); ++at) path += *at + " -> ";
    section[name].fail(
        fmt::format("'{0}' is defined by itself ({1}{0}); give one of these a value of its own", name, path));
  }
  throw LocatedError(trouble);
}

// Items that may use each other, in any order: repeated passes until nothing new can be read.
void read_named_values(const Item& section, Scope& scope, const ValueReader& read) {
  if (!section) return;
  if (!section.is_table()) section.fail("expected a table of names and values");
  std::vector<std::string> open = section.keys();
  for (const std::string& name : open) claim_name(section[name], name, scope);
  while (!open.empty()) {
    std::vector<std::string> later;
    std::string trouble;
    for (const std::string& name : open) {
      try {
        scope.names[name] = read.value(section[name]);
      } catch (const InputError& e) {
        scope.names.erase(name);
        if (trouble.empty()) trouble = e.what();
        later.push_back(name);
      }
    }
    if (later.size() == open.size()) explain_unreadable(section, open, trouble, read);
    open = std::move(later);
  }
}

// "q1[3]", "theta", "q[N][3]" -> name and shape.
struct Declaration {
  std::string name;
  std::vector<int> shape;
};

Declaration read_declaration(const Item& item, const Scope& scope) {
  const std::string text = item.expect_string("a declaration such as \"q[3]\"");
  Declaration d;
  std::size_t at = text.find('[');
  d.name = text.substr(0, at);
  d.name.erase(std::remove_if(d.name.begin(), d.name.end(), [](unsigned char c) { return std::isspace(c); }),
               d.name.end());
  claim_name(item, d.name, scope);
  constexpr double most_coordinates = 1e7;
  double total = 1;
  while (at != std::string::npos && at < text.size()) {
    if (text[at] != '[')
      item.fail(fmt::format("cannot read the declaration \"{}\"; write \"q[3]\" or \"q[N][3]\"", text));
    int depth = 0;
    std::size_t end = at;
    for (; end < text.size(); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && --depth == 0) break;
    }
    if (end == text.size()) item.fail(fmt::format("\"{}\" has a [ that is not closed", text));
    const double extent = item.located([&] { return parse_number(text.substr(at + 1, end - at - 1), scope); });
    if (!(extent >= 1) || extent != std::floor(extent))
      item.fail(fmt::format("the size in \"{}\" is {:g}; it must be a whole number, at least 1", text, extent));
    total *= extent;
    if (total > most_coordinates)
      item.fail(
          fmt::format("\"{}\" stands for {:g} numbers; at most {:g} are possible", text, total, most_coordinates));
    d.shape.push_back(static_cast<int>(extent));
    at = end + 1;
  }
  if (d.shape.size() > 2)
    item.fail(fmt::format("\"{}\" has too many indices; an array of vectors q[N][3] is the most", text));
  return d;
}

std::vector<Declaration> read_declarations(const Item& item, const char* what, const Scope& scope) {
  std::vector<Declaration> list;
  if (item.is_string()) {
    list.push_back(read_declaration(item, scope));
    return list;
  }
  if (!item.is_array()) item.fail(fmt::format("expected a list of {}, as in [\"q[3]\"]", what));
  if (item.size() == 0) item.fail(fmt::format("the list of {} is empty; name at least one, as in [\"q[3]\"]", what));
  for (std::size_t k = 0; k < item.size(); ++k) {
    list.push_back(read_declaration(item[k], scope));
    for (std::size_t j = 0; j < k; ++j)
      if (list[j].name == list[k].name) item[k].fail(fmt::format("'{}' is declared twice", list[k].name));
  }
  return list;
}

Item need(const Item& section, const char* key, const char* example) {
  const Item item = section[key];
  if (!item) section.fail(fmt::format("'{}' is missing, as in {}", key, example));
  return item;
}

std::string quoted(const std::string& text) {
  return text.size() <= 70 ? "\"" + text + "\"" : "\"" + text.substr(0, 67) + "...\"";
}

void read_constraints(const Item& section, const char* key, const ValueReader& read, SystemBuilder& builder) {
  const Item list = section[key];
  if (!list) return;
  const auto graph = builder.t().graph();
  const auto add = [&](const Item& item, const std::string& label) {
    if (item.is_string() && item.text().find('=') != std::string::npos)
      item.fail("a constraint is an expression that has to be zero; write \"a - b\" for a = b: " + quoted(item.text()));
    const Value v = read.value(item);
    for (std::size_t j = 0; j < v.entries.size(); ++j) {
      if (graph->is_constant(v.entries[j]))
        item.fail(
            fmt::format("this constraint is the number {:g}; a constraint is an expression of the coordinates that "
                        "shall be zero",
                        graph->value(v.entries[j])));
      std::string name = label + (v.scalar() ? "" : fmt::format(" component {}", j));
      if (item.is_string()) name += " " + quoted(item.text());
      builder.constrain({graph, v.entries[j]}, name);
    }
  };
  if (!list.is_array()) {
    add(list, "0");
    return;
  }
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Item item = list[k];
    if (!item.is_table()) {
      add(item, fmt::format("{}", k));
      continue;
    }
    item.expect_keys({"for", "from", "to", "constraint"});
    if (!item["constraint"]) item.fail("a family of constraints needs constraint = \"...\"");
    const std::string index = item["for"] && item["for"].is_string() ? item["for"].text() : "i";
    read.family(item, -1, {"constraint"},
                [&](int i) { add(item["constraint"], fmt::format("{} ({} = {})", k, index, i)); });
  }
}

// For methods with discrete derivatives. Each is tried alone, so that a complaint is about the right one.
void read_invariants(const Item& list, const ValueReader& read, SystemBuilder& builder) {
  if (!list) return;
  const auto graph = builder.t().graph();
  const auto add = [&](const Item& item) {
    for (const Node n : read.value(item).entries) builder.invariant({graph, n});
    item.located([&] { builder.build(); });
  };
  if (!list.is_array()) return add(list);
  for (std::size_t k = 0; k < list.size(); ++k) add(list[k]);
}

// A table keyed by coordinate, or a list with all entries, as one long list (zero where nothing is said).
std::vector<Node> read_per_coordinate(const Item& item, const std::vector<Declaration>& coordinates,
                                      const ValueReader& read, Graph& graph) {
  std::vector<Node> nodes;
  if (item.is_table()) {
    std::vector<std::string> names;
    for (const Declaration& d : coordinates) names.push_back(d.name);
    item.expect_keys(names);
  }
  for (const Declaration& d : coordinates) {
    const Block b{d.name, d.shape, 0};
    if (!item.is_table()) continue;
    if (const Item inner = item[d.name]) {
      const std::vector<Node> part = read.block(inner, d.shape);
      nodes.insert(nodes.end(), part.begin(), part.end());
    } else {
      nodes.insert(nodes.end(), static_cast<std::size_t>(b.size()), graph.constant(0));
    }
  }
  if (!item.is_table()) {
    nodes = read.list(item);
    int total = 0;
    for (const Declaration& d : coordinates) total += Block{d.name, d.shape, 0}.size();
    if (static_cast<int>(nodes.size()) != total)
      item.fail(
          fmt::format("this needs {} expressions, one for each number in the coordinates, or a table keyed by "
                      "coordinate; found {}",
                      total, nodes.size()));
  }
  return nodes;
}

// d/dt of an expression in t and the coordinates; `rates` maps a coordinate's node to its velocity's.
std::function<Node(Node)> make_rate(Graph& graph, Node t, std::vector<Node> q, std::vector<Node> v) {
  std::unordered_map<Node, Node> direct;
  for (std::size_t k = 0; k < q.size(); ++k) direct.emplace(q[k], v[k]);
  return [&graph, t, q = std::move(q), v = std::move(v), direct = std::move(direct)](Node n) {
    if (const auto at = direct.find(n); at != direct.end()) return at->second;
    const std::vector<char> moving = dependence(graph, v);
    if (moving[static_cast<std::size_t>(n)])
      throw InputError(
          "the time derivative of an expression with velocities would be an acceleration; only t and the "
          "coordinates can be differentiated");
    return time_derivative(graph, std::span(&n, 1), t, q, v)[0];
  };
}

std::vector<Node> entries_of(const std::vector<Declaration>& declarations, const Scope& scope) {
  std::vector<Node> nodes;
  for (const Declaration& d : declarations) {
    const auto& e = scope.names.find(d.name)->second.entries;
    nodes.insert(nodes.end(), e.begin(), e.end());
  }
  return nodes;
}

// The scope of a new system: its time, and the parameters as constants of its graph.
Scope& adopt(const SystemBuilder& builder, const Scope& parameters, SystemSection& out) {
  Scope& scope = out.scope;
  scope.graph = builder.t().graph().get();
  scope.names["t"] = Value{{}, {builder.t().node_in(*scope.graph)}};
  for (const auto& [name, value] : parameters.names) {
    Value& own = scope.names[name];
    own.shape = value.shape;
    for (const Node n : value.entries) own.entries.push_back(scope.graph->constant(parameters.graph->value(n)));
  }
  return scope;
}

// Declares coordinates of a Lagrangian or mechanical system.
template <class Builder>
std::vector<Declaration> read_coordinates(const Item& list, Builder& builder, Scope& scope) {
  auto coordinates = read_declarations(list, "coordinates", scope);
  for (const Declaration& d : coordinates)
    scope.names[d.name] = as_value(builder.coordinates(d.name, d.shape), d.shape, *scope.graph);
  return coordinates;
}

// What a prime means: all coordinates are declared.
template <class Builder>
void bind_rates(const std::vector<Declaration>& coordinates, const Builder& builder, Scope& scope) {
  Graph& graph = *scope.graph;
  const std::vector<Node> q = entries_of(coordinates, scope);
  Vector expressions;
  for (const Node n : q) expressions.push_back({builder.t().graph(), n});
  scope.rate =
      make_rate(graph, builder.t().node_in(graph), q, as_value(builder.velocity(expressions), {}, graph).entries);
}

const char* const coordinates_example = "coordinates = [\"q[3]\"]";

// The coordinates of a Lagrangian: those of the list, then those of its bodies.
std::vector<Declaration> read_lagrangian_coordinates(const Item& section, Lagrangian& builder, const ValueReader& read,
                                                     SystemSection& out) {
  const Item list = section["coordinates"], bodies = section["bodies"];
  if (!bodies) need(section, "coordinates", coordinates_example);
  std::vector<Declaration> coordinates;
  if (list && !(bodies && list.is_array() && list.size() == 0))
    coordinates = read_coordinates(list, builder, out.scope);
  if (bodies) out.bodies = read_bodies(bodies, builder, read, out.scope);
  for (const RigidBody& body : out.bodies)
    for (const std::string& name : coordinate_names(body)) coordinates.push_back({name, {3}});
  bind_rates(coordinates, builder, out.scope);
  return coordinates;
}

void read_lagrangian(const Item& section, const Item& define, const Scope& parameters, SystemSection& out) {
  section.expect_keys({"coordinates", "bodies", "kinetic", "potential", "lagrangian", "force", "constraints",
                       "unilateral", "multipliers", "reaction", "invariants"});
  auto builder = std::make_unique<Lagrangian>();
  const auto graph = builder->t().graph();
  Scope& scope = adopt(*builder, parameters, out);
  const ValueReader read(scope);
  const auto coordinates = read_lagrangian_coordinates(section, *builder, read, out);
  if (section["multipliers"] && !out.bodies.empty())
    section["multipliers"].fail(
        "own multipliers cannot be combined with bodies, whose six internal constraints have multipliers already");
  if (section["multipliers"] || section["reaction"]) {
    if (!section["multipliers"]) section["reaction"].fail("a reaction needs 'multipliers', the names it uses");
    if (!section["reaction"]) section["multipliers"].fail("'multipliers' come with a 'reaction' that uses them");
    for (const Declaration& d : read_declarations(section["multipliers"], "multipliers", scope)) {
      const int size = Block{d.name, d.shape, 0}.size();
      scope.names[d.name] = as_value(builder->multipliers(d.name, size), d.shape, *graph);
    }
  }
  read_named_values(define, scope, read);

  const auto expression = [&](const char* key) { return Expression(graph, read.scalar(section[key])); };
  if (section["lagrangian"]) {
    if (section["kinetic"] || section["potential"])
      section["lagrangian"].fail("give either 'lagrangian' or 'kinetic' and 'potential', not both");
    builder->lagrangian(expression("lagrangian"));
  } else {
    if (!section["kinetic"] && out.bodies.empty())
      section.fail("'kinetic' is missing, as in kinetic = \"m/2*dot(q',q')\" (or give 'lagrangian')");
    if (section["kinetic"]) builder->kinetic(expression("kinetic"));
    if (section["potential"]) builder->potential(expression("potential"));
  }
  read_constraints(section, "constraints", read, *builder);
  const Vector all = as_vector(entries_of(coordinates, scope), graph);
  if (section["force"])
    builder->force(all, as_vector(read_per_coordinate(section["force"], coordinates, read, *graph), graph));
  if (section["reaction"])
    builder->reaction(as_vector(read_per_coordinate(section["reaction"], coordinates, read, *graph), graph));
  read_invariants(section["invariants"], read, *builder);
  read_unilateral(section["unilateral"], read, *builder);
  out.builder = std::move(builder);
}

void read_hamiltonian(const Item& section, const Item& define, const Scope& parameters, SystemSection& out) {
  section.expect_keys({"coordinates", "momenta", "hamiltonian", "constraints", "invariants"});
  auto builder = std::make_unique<Hamiltonian>();
  const auto graph = builder->t().graph();
  Scope& scope = adopt(*builder, parameters, out);
  const ValueReader read(scope);
  const auto q = read_declarations(need(section, "coordinates", coordinates_example), "coordinates", scope);
  for (const Declaration& d : q) scope.names[d.name] = as_value(builder->coordinates(d.name, d.shape), d.shape, *graph);
  const auto p = read_declarations(need(section, "momenta", "momenta = [\"p[3]\"]"), "momenta", scope);
  for (const Declaration& d : p) scope.names[d.name] = as_value(builder->momenta(d.name, d.shape), d.shape, *graph);
  scope.rate = [](Node) -> Node {
    throw InputError("a Hamiltonian is a function of coordinates and momenta; there are no velocities in it");
  };
  read_named_values(define, scope, read);
  builder->hamiltonian({graph, read.scalar(need(section, "hamiltonian", "hamiltonian = \"dot(p,p)/(2*m)\""))});
  read_constraints(section, "constraints", read, *builder);
  read_invariants(section["invariants"], read, *builder);
  out.builder = std::move(builder);
}

void read_mechanical(const Item& section, const Item& define, const Scope& parameters, SystemSection& out) {
  section.expect_keys({"coordinates", "mass", "force", "constraints", "unilateral"});
  auto builder = std::make_unique<Mechanical>();
  const auto graph = builder->t().graph();
  Scope& scope = adopt(*builder, parameters, out);
  const ValueReader read(scope);
  const auto coordinates = read_coordinates(need(section, "coordinates", coordinates_example), *builder, scope);
  bind_rates(coordinates, *builder, scope);
  read_named_values(define, scope, read);
  const Item mass = need(section, "mass", "mass = [[\"m\", 0], [0, \"m\"]]");
  const Value matrix = read.value(mass);
  const int n = static_cast<int>(entries_of(coordinates, scope).size());
  const bool one = n == 1 && matrix.scalar();
  if (!one && matrix.shape != std::vector<int>{n} && matrix.shape != std::vector<int>{n, n})
    mass.fail(
        fmt::format("expected a matrix of {0} rows and {0} columns, or its diagonal with {0} entries; this is {1}", n,
                    describe_shape(matrix.shape)));
  builder->mass(as_vector(matrix.entries, graph));
  const Item force = need(section, "force", "force = [\"-k*x\", 0]");
  builder->force(as_vector(read_per_coordinate(force, coordinates, read, *graph), graph));
  read_constraints(section, "constraints", read, *builder);
  read_unilateral(section["unilateral"], read, *builder);
  out.builder = std::move(builder);
}

void read_odae(const Item& section, const Item& define, const Scope& parameters, SystemSection& out) {
  section.expect_keys({"y", "z", "psi", "v", "p", "f", "r", "g"});
  auto builder = std::make_unique<Odae>();
  const auto graph = builder->t().graph();
  Scope& scope = adopt(*builder, parameters, out);
  const ValueReader read(scope);
  std::size_t ny = 0, nz = 0;
  for (const Declaration& d : read_declarations(need(section, "y", "y = [\"y[2]\"]"), "y", scope)) {
    scope.names[d.name] = as_value(builder->y(d.name, d.shape), d.shape, *graph);
    ny += scope.names[d.name].entries.size();
  }
  for (const Declaration& d : read_declarations(need(section, "z", "z = [\"z[2]\"]"), "z", scope)) {
    scope.names[d.name] = as_value(builder->z(d.name, d.shape), d.shape, *graph);
    nz += scope.names[d.name].entries.size();
  }
  if (section["psi"])
    for (const Declaration& d : read_declarations(section["psi"], "psi", scope))
      scope.names[d.name] = as_value(builder->psi(d.name, d.shape), d.shape, *graph);
  read_named_values(define, scope, read);
  const auto list = [&](const char* key, const char* partner, std::size_t wanted) {
    const std::vector<Node> nodes = read.list(section[key]);
    if (nodes.size() != wanted)
      section[key].fail(
          fmt::format("this needs {} expressions, one for each number in {}; found {}", wanted, partner, nodes.size()));
    return as_vector(nodes, graph);
  };
  need(section, "v", "v = [\"z[0]\", \"z[1]\"]");
  need(section, "f", "f = [0, \"-gravity\"]");
  if (section["g"]) {
    need(section, "psi", "psi = [\"psi\"]: the constraints g need multipliers, as many as there are constraints");
    need(section, "r", "r = [\"-2*y[0]*psi\", \"-2*y[1]*psi\"]: the reaction that keeps the constraints g");
  }
  builder->v(list("v", "y", ny));
  builder->f(list("f", "z", nz));
  if (section["p"]) builder->p(list("p", "z", nz));
  if (section["r"]) builder->r(list("r", "z", nz));
  read_constraints(section, "g", read, *builder);
  out.builder = std::move(builder);
}

void read_dae(const Item& section, const Item& define, const Scope& parameters, SystemSection& out) {
  section.expect_keys({"unknowns", "equations", "noise", "complementarity"});
  auto builder = std::make_unique<Dae>();
  const auto graph = builder->t().graph();
  Scope& scope = adopt(*builder, parameters, out);
  const ValueReader read(scope);
  const auto unknowns = read_declarations(need(section, "unknowns", "unknowns = [\"x\", \"y[3]\"]"), "unknowns", scope);
  for (const Declaration& d : unknowns)
    scope.names[d.name] = as_value(builder->unknowns(d.name, d.shape), d.shape, *graph);
  const std::vector<Node> x = entries_of(unknowns, scope);
  const std::vector<Node> rates = as_value(builder->derivative(as_vector(x, graph)), {}, *graph).entries;
  const auto rate = make_rate(*graph, builder->t().node_in(*graph), x, rates);
  scope.rate = [rate, g = graph.get(), rates](Node n) {
    if (dependence(*g, rates)[static_cast<std::size_t>(n)])
      throw InputError(
          "equations contain x and x' only; for x'' make x' an unknown of its own, with the equation x' = v");
    return rate(n);
  };
  read_named_values(define, scope, read);
  // with pairs for all unknowns there may be no equation at all: a complementarity problem by itself
  if (section["equations"] || !section["complementarity"])
    read_equations(need(section, "equations", "equations = [\"x' + y\", \"x - y^3\"]"), read, scope, *builder);
  read_pairs(section["complementarity"], read, *builder);
  read_noise(section["noise"], read, *graph, *builder);
  (section["equations"] ? section["equations"] : section["complementarity"]).located([&] { builder->build(); });
  out.builder = std::move(builder);
}

void read_multibody(const Item& root, Scope& parameters, SystemSection& out) {
  auto scene = begin_multibody(root["multibody"], parameters);
  Scope& scope = adopt(*scene, parameters, out);
  const ValueReader read(scope);
  read_scene(root, *scene, scope);
  read_named_values(root["define"], scope, read);
  read_connections(root, *scene, scope);
  if (const Item contact = root["contact"]) {
    out.contact = read_contact_options(contact, read);
    if (contact["overlap"]) at_field(contact, [&] { scene->allow_overlap(read.number(contact["overlap"])); });
  }
  root["multibody"].located([&] { out.start = scene->start(0); });
  out.builder = std::move(scene);
}

// Names for output quantities: the multipliers, and in a Hamiltonian system q' = H_p.
void complete_scope(const std::string& kind, SystemSection& out) {
  const Equations& eq = out.system->equations();
  const Layout& layout = out.system->layout();
  for (const Block& b : layout.psi) {
    if (out.scope.names.count(b.name)) continue;
    const auto first = eq.psi.begin() + b.first;
    out.scope.names[b.name] = Value{b.shape, {first, first + b.size()}};
  }
  if (kind == "hamiltonian" || kind == "odae") {
    const Equations* equations = &eq;
    out.scope.rate = [equations](Node n) {
      const std::vector<char> moving = dependence(*equations->graph, equations->z);
      if (moving[static_cast<std::size_t>(n)])
        throw InputError("only t and the coordinates can be differentiated by time");
      return time_derivative(*equations->graph, std::span(&n, 1), equations->t, equations->y, equations->v)[0];
    };
  }
}

}  // namespace

const std::vector<std::string>& system_sections() {
  static const std::vector<std::string> names = {"lagrangian", "hamiltonian", "mechanical", "odae", "dae", "multibody"};
  return names;
}

std::vector<Block> velocity_blocks(const Layout& layout) {
  return layout.kind == SystemKind::hamiltonian ? layout.y : [&] {
    std::vector<Block> blocks = layout.z;
    for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k].name = layout.y[k].name;
    return blocks;
  }();
}

SystemSection read_system(const Item& root) {
  std::vector<std::string> present;
  for (const std::string& name : system_sections())
    if (root[name]) present.push_back(name);
  if (present.empty() && root["body"])
    root["body"].fail("bodies need a section [multibody], with gravity = [0, 0, -9.81] say");
  if (present.empty())
    root.fail(
        "there is no system in this file: one of the sections [lagrangian], [hamiltonian], [mechanical], [odae], "
        "[dae] or [multibody] is needed");
  if (present.size() > 1)
    root[present[1]].fail(
        fmt::format("there are two systems in this file, [{}] and [{}]; keep one", present[0], present[1]));
  const std::string kind = present[0];
  const Item section = root[kind];
  if (kind != "multibody")
    for (const std::string& name : multibody_sections())
      if (root[name])
        root[name].fail(fmt::format("[{}] belongs to a [multibody] model; this one is a [{}]", name, kind));
  if (!section.is_table()) section.fail(fmt::format("expected a section [{}]", kind));

  // Parameters are numbers, worked out before there is a system; then moved into the system's own graph.
  Graph numbers;
  Scope parameters;
  parameters.graph = &numbers;
  read_named_values(root["parameters"], parameters, ValueReader(parameters));

  SystemSection out;
  const Item define = root["define"];
  if (kind == "lagrangian") read_lagrangian(section, define, parameters, out);
  if (kind == "hamiltonian") read_hamiltonian(section, define, parameters, out);
  if (kind == "mechanical") read_mechanical(section, define, parameters, out);
  if (kind == "odae") read_odae(section, define, parameters, out);
  if (kind == "dae") read_dae(section, define, parameters, out);
  if (kind == "multibody") read_multibody(root, parameters, out);
  section.located([&] {
    out.whole = out.builder->build();
    out.system = {out.whole, symbolic_part(*out.whole)};
  });
  complete_scope(kind, out);
  return out;
}

}  // namespace hinge
