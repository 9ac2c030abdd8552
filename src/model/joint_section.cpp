// [[joint]], [[spring]], and the forces on bodies: what connects the bodies of a [multibody].
#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

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

// `start`: of the run; a speed begins at angle 0 there
void read_motor(const Item& motor, const ValueReader& read, const Multibody& scene, double start, JointOptions& o) {
  if (!motor) return;
  if (motor.size() != 1) motor.fail("a motor prescribes one thing: angle, speed, torque, position or force");
  const auto expression = [&](const char* key, std::optional<Expression>& into) {
    if (motor[key]) into = Expression(scene.t().graph(), read.scalar(motor[key]));
  };
  expression("angle", o.angle);
  expression("torque", o.torque);
  expression("position", o.position);
  expression("force", o.force);
  if (motor["speed"])
    (o.kind == JointKind::prismatic ? o.position : o.angle) = read.number(motor["speed"]) * (scene.t() - start);
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
  if (!rod && item["length"]) item["length"].fail("only a rod has a length; leave it out, or use type = \"rod\"");
  if (item["point"] && item["points"])
    item["points"].fail("give 'point', which both bodies share, or 'points', not both");
}

void read_joint(const Item& item, double start, Multibody& scene, const ValueReader& read) {
  JointOptions o;
  if (item.need("type").text() == "distance")
    o.kind = JointKind::rod;
  else
    read_choice(item["type"], o.kind);
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
  read_motor(item["motor"], read, scene, start, o);
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

void read_connections(const Item& root, Multibody& scene, const ValueReader& read) {
  double start = 0;
  read.number(root["integrate"]["start"], start);
  for (const Item& item : root["joint"].entries()) each(item, read, [&] { read_joint(item, start, scene, read); });
  for (const Item& item : root["spring"].entries()) each(item, read, [&] { read_spring(item, scene, read); });
  for (const Item& item : root["body"].entries())
    if (item["force"] || item["torque"]) each(item, read, [&] { read_force(item, scene, read); });
}

}  // namespace hinge
