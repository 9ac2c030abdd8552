#include "model/body_section.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// Numbers of one of these shapes, or a complaint that says what is expected.
std::vector<double> numbers(const Item& item, const std::vector<std::vector<int>>& shapes, const char* expected,
                            const ValueReader& read, const Graph& graph) {
  if (item.is_table()) item.fail(fmt::format("expected {}, found a table", expected));
  const Value value = read.value(item);
  if (std::find(shapes.begin(), shapes.end(), value.shape) == shapes.end())
    item.fail(fmt::format("expected {}, but this is {}", expected, describe_shape(value.shape)));
  std::vector<double> x;
  for (const Node n : value.entries) {
    if (!graph.is_constant(n))
      item.fail("these are numbers, given by parameters; they cannot depend on t or coordinates");
    x.push_back(graph.value(n));
  }
  return x;
}

Vector3d vector(const Item& item, const ValueReader& read, const Graph& graph) {
  const std::vector<double> x = numbers(item, {{3}}, "three numbers, as in [0, 0, 1]", read, graph);
  return {x[0], x[1], x[2]};
}

Matrix3d rows(const std::vector<double>& x) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.data());
}

// An error of the library about a field becomes one about the key of that name, where there is one.
template <class Action>
auto located_field(const Item& table, Action&& action) {
  try {
    return action();
  } catch (const BodyError& e) {
    const Item item = table[e.field];
    (item ? item : table).fail(e.what());
  }
}

RigidBodyOptions read_options(const Item& item, const std::string& name, const ValueReader& read, const Graph& graph) {
  const auto need = [&](const char* key, const char* example) {
    if (!item[key]) item.fail(fmt::format("'{}' is missing, as in {}", key, example));
    return item[key];
  };
  RigidBodyOptions o;
  o.name = name;
  o.mass = read.number(need("mass", "mass = 1.5"));
  const std::vector<double> j = numbers(
      need("inertia", "inertia = [0.2, 0.2, 0.1], the principal moments about the centre of mass"), {{3}, {3, 3}},
      "three principal moments, as in [0.2, 0.2, 0.1], or the rows of a matrix with 3 rows and 3 columns", read, graph);
  o.inertia = j.size() == 9 ? rows(j) : principal_moments(j[0], j[1], j[2]);
  if (item["center"]) o.center = vector(item["center"], read, graph);
  if (item["fixed"] && item["fixed"].node->is_boolean())
    item["fixed"].fail(
        "this is the point in space where the body is held, as in fixed = [0, 0, 0]; leave it out for a "
        "free body");
  if (item["fixed"]) o.fixed = vector(item["fixed"], read, graph);
  return o;
}

Matrix3d read_rotation(const Item& item, const ValueReader& read, const Graph& graph) {
  if (!item.is_table())
    return rows(
        numbers(item, {{3, 3}}, "{ axis = [1, 0, 0], angle = \"pi/3\" }, or the three rows of a matrix", read, graph));
  item.expect_keys({"axis", "angle"});
  for (const char* key : {"axis", "angle"})
    if (!item[key]) item.fail(fmt::format("'{}' is missing, as in {{ axis = [1, 0, 0], angle = \"pi/3\" }}", key));
  return located_field(item, [&] { return rotation(vector(item["axis"], read, graph), read.number(item["angle"])); });
}

BodyMotion read_motion(const Item& item, const ValueReader& read, const Graph& graph) {
  item.expect_keys({"rotation", "directors", "angular_velocity", "angular_velocity_body", "position", "velocity"});
  BodyMotion motion;
  if (item["rotation"] && item["directors"])
    item["directors"].fail("give the rotation or the three directors, not both");
  if (item["angular_velocity"] && item["angular_velocity_body"])
    item["angular_velocity_body"].fail(
        "give the angular velocity in space or its components along the directors, not both");
  if (item["rotation"]) motion.rotation = read_rotation(item["rotation"], read, graph);
  if (item["directors"])
    motion.rotation = rows(numbers(item["directors"], {{3, 3}},
                                   "the three directors, as in [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", read, graph))
                          .transpose();
  if (item["angular_velocity"]) motion.angular_velocity = vector(item["angular_velocity"], read, graph);
  if (item["angular_velocity_body"]) motion.angular_velocity_body = vector(item["angular_velocity_body"], read, graph);
  if (item["position"]) motion.position = vector(item["position"], read, graph);
  if (item["velocity"]) motion.velocity = vector(item["velocity"], read, graph);
  return motion;
}

}  // namespace

std::vector<std::string> coordinate_names(const RigidBody& body) {
  const std::string& name = body.options().name;
  std::vector<std::string> names = {name + "_d1", name + "_d2", name + "_d3"};
  if (body.is_free()) names.insert(names.begin(), name + "_x");
  return names;
}

std::vector<RigidBody> read_bodies(const Item& item, Lagrangian& system, const ValueReader& read, Scope& scope) {
  if (!item.is_table() && !item.is_array())
    item.fail("expected a section for each body, as in [lagrangian.bodies.top] with mass and inertia");
  if (item.size() == 0) item.fail("there is no body here; describe at least one, or leave 'bodies' out");
  std::vector<RigidBody> bodies;
  const auto add = [&](const Item& table, const Item& named, const std::string& name) {
    for (const RigidBody& other : bodies)
      if (other.options().name == name)
        named.fail(fmt::format("there is a body '{}' already; choose another name", name));
    for (const char* part : {"_x", "_d1", "_d2", "_d3", "_angular_velocity", "_angular_momentum"})
      claim_name(named, name + part, scope);
    const RigidBodyOptions options = read_options(table, name, read, *scope.graph);
    const RigidBody& body = bodies.emplace_back(located_field(table, [&] { return RigidBody(system, options); }));
    const auto define = [&](const char* part, const Vector& v) {
      Value& value = scope.names[name + part];
      value.shape = {3};
      for (const Expression& e : v) value.entries.push_back(e.node_in(*scope.graph));
    };
    define("_x", body.center());
    define("_d1", body.director(0));
    define("_d2", body.director(1));
    define("_d3", body.director(2));
    define("_angular_velocity", body.angular_velocity());
    define("_angular_momentum", body.angular_momentum());
  };
  const std::vector<std::string> keys = {"mass", "inertia", "center", "fixed"};
  if (item.is_table()) {
    for (const std::string& name : item.keys()) {
      if (!item[name].is_table() && std::find(keys.begin(), keys.end(), name) != keys.end())
        item[name].fail(fmt::format("a body needs a name: write [lagrangian.bodies.top], and there {} = ...", name));
      item[name].expect_keys(keys);
      add(item[name], item[name], name);
    }
    return bodies;
  }
  for (std::size_t k = 0; k < item.size(); ++k) {
    item[k].expect_keys({"name", "mass", "inertia", "center", "fixed"});
    if (!item[k]["name"]) item[k].fail("'name' is missing, as in name = \"top\"");
    add(item[k], item[k]["name"], item[k]["name"].expect_string("a name"));
  }
  return bodies;
}

std::vector<std::string> read_body_motions(const Item& table, const std::vector<RigidBody>& bodies,
                                           const ValueReader& read, const Graph& graph, std::vector<double>& position,
                                           std::vector<double>& velocity) {
  std::vector<std::string> names;
  for (const RigidBody& body : bodies) names.push_back(body.options().name);
  table.expect_keys(names);
  std::vector<std::string> given;
  for (const RigidBody& body : bodies) {
    const Item item = table[body.options().name];
    if (!item) continue;
    const BodyMotion motion = read_motion(item, read, graph);
    try {
      body.place(motion, position, velocity);
    } catch (const BodyError& e) {
      const Item directors = item["directors"], field = item[e.field];
      (e.field == "rotation" && directors ? directors : field ? field : item).fail(e.what());
    }
    given.push_back(body.options().name);
  }
  return given;
}

}  // namespace hinge
