// [[joint]], [[spring]], and the forces on bodies: what connects the bodies of a [multibody].
#include <algorithm>

#include <fmt/format.h>

#include "expression/integral.hpp"
#include "expression/substitute.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

// `start`: of the run; a speed begins at angle 0 there
Expression distance_at(const Item& speed, double start, const Multibody& scene, const ValueReader& read) {
  Graph& graph = *read.scope().graph;
  const Node f = read.scalar(speed), t = scene.t().node_in(graph);
  if (graph.is_constant(f)) return graph.value(f) * (scene.t() - start);
  std::vector<Node> others;
  for (int k = 0; k < graph.variable_count(); ++k)
    if (graph.variable_node(k) != t) others.push_back(graph.variable_node(k));
  if (dependence(graph, others)[static_cast<std::size_t>(f)])
    speed.fail("the speed is a number or a function of t; what depends on the motion is driven by a torque or a force");
  const auto F = integral(graph, f, t);
  if (!F)
    speed.fail(
        "no integral of this speed is known in closed form; give the angle or position itself, as in angle = "
        "\"...\", with this speed as its derivative");
  const Node from = graph.constant(start);
  const Node at_start = substitute(graph, std::span(&*F, 1), std::span(&t, 1), std::span(&from, 1), graph)[0];
  return {scene.t().graph(), graph.subtract(*F, at_start)};
}

MotorOptions read_motor(const Item& motor, JointKind kind, double start, const Multibody& scene,
                        const ValueReader& read) {
  if (motor.size() != 1) motor.fail("a motor prescribes one thing: angle, speed, torque, position or force");
  MotorOptions o;
  const auto expression = [&](const char* key, std::optional<Expression>& into) {
    if (motor[key]) into = Expression(scene.t().graph(), read.scalar(motor[key]));
  };
  expression("angle", o.angle);
  expression("torque", o.torque);
  expression("position", o.position);
  expression("force", o.force);
  if (motor["speed"])
    (kind == JointKind::prismatic ? o.position : o.angle) = distance_at(motor["speed"], start, scene, read);
  return o;
}

// Keys that this joint would not look at.
void refuse_unused_keys(const Item& item, JointKind kind) {
  const bool rod = kind == JointKind::rod;
  if (rod && item["point"])
    item["point"].fail(
        "a rod has two ends: points = [[..], [..]], one on each body; without them it joins the centres of mass");
  const bool no_axis = rod || kind == JointKind::spherical || kind == JointKind::fixed;
  if (no_axis && item["axis"])
    item["axis"].fail(fmt::format("a {} joint has no axis; leave it out", item["type"].text()));
  if (kind != JointKind::universal && item["axis2"])
    item["axis2"].fail("only a universal joint has a second axis; leave it out");
  for (const char* key : {"radius", "normal"})
    if (item[key])
      item[key].fail(
          fmt::format("a {} joint has no {}; leave it out, or use type = \"rolling\"", item["type"].text(), key));
  if (!rod && item["length"]) item["length"].fail("only a rod has a length; leave it out, or use type = \"rod\"");
  if (item["point"] && item["points"])
    item["points"].fail("give 'point', which both bodies share, or 'points', not both");
}

JointKind read_kind(const Item& item) {
  JointKind kind = JointKind::rod;
  if (item.need("type").text() != "distance") read_choice(item["type"], kind);
  return kind;
}

// What joints are called, as far as expressions know it.
std::vector<std::string> joint_quantities(const Item& list, const ValueReader& read) {
  std::vector<std::string> names;
  for (const Item& item : list.entries())
    if (item["name"])
      each(item, read, [&] {
        const std::string name = read_name(item["name"], read);
        names.insert(names.end(), {name + "_angle", name + "_position"});
      });
  return names;
}

// Motors that use what becomes known with the joints are left for later.
void read_joint(const Item& item, const Item& root, double start, const std::vector<std::string>& later,
                Multibody& scene, const ValueReader& read) {
  JointOptions o;
  o.kind = read_kind(item);
  if (o.kind == JointKind::rolling || o.kind == JointKind::knife_edge) return read_rolling(item, o.kind, scene, read);
  refuse_unused_keys(item, o.kind);
  if (item["name"]) o.name = read_name(item["name"], read);
  read_pair(item, "joint", read, o.a, o.b);
  const int d = scene.dimension();
  read.vector(item["point"], d, o.point);
  read_points(item["points"], d, read, o.point, o.point_b);
  if (item["axis"]) {
    if (d == 2 && o.kind != JointKind::prismatic)
      item["axis"].fail("only a prismatic joint has an axis in the plane; leave it out");
    o.axis = read.vector(item["axis"], d);
  } else if (o.kind != JointKind::spherical && o.kind != JointKind::fixed && o.kind != JointKind::rod &&
             !(d == 2 && o.kind == JointKind::revolute)) {
    item.fail(d == 2 ? "'axis' is missing, as in axis = [1, 0]" : "'axis' is missing, as in axis = [0, 0, 1]");
  }
  read.vector(item["axis2"], d, o.axis2);
  read.number(item["length"], o.length);
  read.number(item["damping"], o.damping);
  read.number(item["stiffness"], o.stiffness);
  read.flag(item["collide"], o.collide);
  if (!o.name.empty()) o.count_turns = !mentioned(root, {o.name + "_angle"}).empty();
  if (item["motor"] && mentioned(item["motor"], later).empty()) {
    const MotorOptions motor = read_motor(item["motor"], o.kind, start, scene, read);
    o.angle = motor.angle;
    o.torque = motor.torque;
    o.position = motor.position;
    o.force = motor.force;
  }
  at_field(item, [&] { scene.joint(o); });
  if (o.name.empty()) return;
  const auto bind = [&](const char* part, const auto& get) {
    try {
      const Expression e = get();
      claim_name(item["name"], o.name + part, read.scope());
      read.scope().names[o.name + part] = scalar_value(e.node_in(*read.scope().graph));
    } catch (const BodyError&) {  // a joint without that motion
    }
  };
  bind("_angle", [&] { return scene.joint_angle(o.name); });
  bind("_position", [&] { return scene.joint_position(o.name); });
}

void read_spring(const Item& item, Multibody& scene, const ValueReader& read) {
  SpringOptions o;
  read_pair(item, "spring", read, o.a, o.b);
  read_points(item["points"], scene.dimension(), read, o.point_a, o.point_b);
  read.number(item["stiffness"], o.stiffness);
  read.number(item["damping"], o.damping);
  read.number(item["length"], o.length);
  at_field(item, [&] { scene.spring(o); });
}

void read_force(const Item& item, Multibody& scene, const ValueReader& read) {
  const auto part = [&](const char* key) {
    return item[key] ? as_vector(read.value(item[key]).entries, scene.t().graph()) : Vector{};
  };
  const std::string name = read_name(item["name"], read);
  const Vector force = part("force"), torque = part("torque");
  at_field(item, [&] { scene.force(name, force, torque); });
}

}  // namespace

void read_pair(const Item& item, const char* what, const ValueReader& read, std::string& a, std::string& b) {
  const Item bodies = item.need("bodies");
  if (!bodies.is_array() || bodies.size() != 2)
    bodies.fail(fmt::format("a {} connects two bodies, as in [\"ground\", \"arm\"]", what));
  a = read_name(bodies[0], read);
  b = read_name(bodies[1], read);
}

void read_points(const Item& points, int dimension, const ValueReader& read, std::optional<Vector3d>& a,
                 std::optional<Vector3d>& b) {
  if (!points) return;
  if (!points.is_array() || points.size() != 2)
    points.fail("expected two points in space, in the order of the bodies, as in [[0, 0, 1], [0, 0, 0]]");
  a = read.vector(points[0], dimension);
  b = read.vector(points[1], dimension);
}

void read_connections(const Item& root, Multibody& scene, const ValueReader& read) {
  double start = 0;
  read.number(root["integrate"]["start"], start);
  // Joints may use what [define] says, and that may use the angles and positions of joints.
  const Item defined = root["define"], joints = root["joint"];
  std::vector<std::string> later = joint_quantities(joints, read);
  const std::vector<std::string> after = keys_that_mention(defined, later);
  std::vector<std::string> before = defined ? defined.keys() : std::vector<std::string>{};
  std::erase_if(before, [&](const std::string& key) { return std::count(after.begin(), after.end(), key) > 0; });
  read_named_values(defined, before, read);
  later.insert(later.end(), after.begin(), after.end());
  for (const Item& item : joints.entries())
    each(item, read, [&] { read_joint(item, root, start, later, scene, read); });
  read_named_values(defined, after, read);
  std::size_t number = 0;
  for (const Item& item : joints.entries())
    each(item, read, [&] {
      const Item motor = item["motor"];
      if (motor && !mentioned(motor, later).empty())
        at_field(item, [&] { scene.motor(number, read_motor(motor, read_kind(item), start, scene, read)); });
      ++number;
    });
  for (const Item& item : root["spring"].entries()) each(item, read, [&] { read_spring(item, scene, read); });
  for (const Item& item : root["body"].entries())
    if (item["force"] || item["torque"]) each(item, read, [&] { read_force(item, scene, read); });
}

}  // namespace hinge
