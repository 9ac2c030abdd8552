// [lagrangian.bodies] and [initial.bodies]: rigid bodies in directors.
#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;

Matrix3d read_rows(const Item& item, const ValueReader& read, const char* expected) {
  const std::vector<double> x = read.numbers(item, {{3, 3}}, expected);
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.data());
}

RigidBodyOptions read_options(const Item& item, const std::string& name, const ValueReader& read) {
  RigidBodyOptions o;
  o.name = name;
  o.mass = read.number(item.need("mass"));
  o.inertia = read_inertia(item.need("inertia"), read);
  read.vector(item["center"], 3, o.center);
  if (item["fixed"] && item["fixed"].is_boolean())
    item["fixed"].fail(
        "this is the point in space where the body is held, as in fixed = [0, 0, 0]; leave it out for a "
        "free body");
  read.vector(item["fixed"], 3, o.fixed);
  return o;
}

Matrix3d read_rotation(const Item& item, const ValueReader& read) {
  if (!item.is_table())
    return read_rows(item, read, "{ axis = [1, 0, 0], angle = \"pi/3\" }, or the three rows of a matrix");
  Matrix3d turned;
  at_field(item, [&] { turned = rotation(read.vector(item.need("axis")), read.number(item.need("angle"))); });
  return turned;
}

BodyMotion read_motion(const Item& item, const ValueReader& read) {
  BodyMotion motion;
  if (item["rotation"] && item["directors"])
    item["directors"].fail("give the rotation or the three directors, not both");
  if (item["angular_velocity"] && item["angular_velocity_body"])
    item["angular_velocity_body"].fail(
        "give the angular velocity in space or its components along the directors, not both");
  if (item["rotation"]) motion.rotation = read_rotation(item["rotation"], read);
  if (item["directors"])
    motion.rotation =
        read_rows(item["directors"], read, "the three directors, as in [[1, 0, 0], [0, 1, 0], [0, 0, 1]]").transpose();
  read.vector(item["angular_velocity"], 3, motion.angular_velocity);
  read.vector(item["angular_velocity_body"], 3, motion.angular_velocity_body);
  read.vector(item["position"], 3, motion.position);
  read.vector(item["velocity"], 3, motion.velocity);
  return motion;
}

}  // namespace

std::vector<std::string> coordinate_names(const RigidBody& body) {
  const std::string& name = body.options().name;
  std::vector<std::string> names = {name + "_d1", name + "_d2", name + "_d3"};
  if (body.is_free()) names.insert(names.begin(), name + "_x");
  return names;
}

std::vector<RigidBody> read_bodies(const Item& item, Lagrangian& system, const ValueReader& read) {
  if (!item.is_table() && !item.is_array())
    item.fail("expected a section for each body, as in [lagrangian.bodies.top] with mass and inertia");
  if (item.size() == 0) item.fail("there is no body here; describe at least one, or leave 'bodies' out");
  Scope& scope = read.scope();
  std::vector<RigidBody> bodies;
  const auto add = [&](const Item& table, const Item& named, const std::string& name) {
    for (const RigidBody& other : bodies)
      if (other.options().name == name)
        named.fail(fmt::format("there is a body '{}' already; choose another name", name));
    for (const char* part : {"_x", "_d1", "_d2", "_d3", "_angular_velocity", "_angular_momentum"})
      claim_name(named, name + part, scope);
    const RigidBodyOptions options = read_options(table, name, read);
    at_field(table, [&] { bodies.emplace_back(system, options); });
    const RigidBody& body = bodies.back();
    define(name + "_x", body.center(), {3}, scope);
    define(name + "_d1", body.director(0), {3}, scope);
    define(name + "_d2", body.director(1), {3}, scope);
    define(name + "_d3", body.director(2), {3}, scope);
    define(name + "_angular_velocity", body.angular_velocity(), {3}, scope);
    define(name + "_angular_momentum", body.angular_momentum(), {3}, scope);
  };
  if (item.is_array()) {
    for (const Item& table : item.entries()) add(table, table.need("name"), table["name"].text());
    return bodies;
  }
  for (const std::string& name : item.keys()) {
    if (!item[name].is_table())
      item[name].fail(fmt::format("a body needs a name: write [lagrangian.bodies.top], and there {} = ...", name));
    add(item[name], item[name], name);
  }
  return bodies;
}

std::vector<std::string> read_body_motions(const Item& table, const std::vector<RigidBody>& bodies,
                                           const ValueReader& read, Start& start) {
  std::vector<std::string> names, given;
  for (const RigidBody& body : bodies) names.push_back(body.options().name);
  table.expect_names(names);
  for (const RigidBody& body : bodies) {
    const Item item = table[body.options().name];
    if (!item) continue;
    const BodyMotion motion = read_motion(item, read);
    try {
      body.place(motion, start.position, start.velocity);
    } catch (const BodyError& e) {
      const Item directors = item["directors"], field = item[e.field];
      (e.field == "rotation" && directors ? directors : field ? field : item).fail(e.what());
    }
    const std::vector<std::string> own = coordinate_names(body);
    given.insert(given.end(), own.begin(), own.end());
  }
  return given;
}

}  // namespace hinge
