// [[joint]], [[spring]], and the forces on bodies: what connects the bodies of a [multibody].
#include <algorithm>

#include <fmt/format.h>

#include "expression/integral.hpp"
#include "expression/substitute.hpp"
#include "model/sections.hpp"
#include "model/units.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

struct Span {  // of time: the run
  double start = 0, end = 0;
};

// The integral of a speed that is a function of t, from the start of the run; none where it depends on the motion.
std::optional<Expression> distance_at(const Item& speed, double start, const Multibody& scene,
                                      const ValueReader& read) {
  Graph& graph = *read.scope().graph;
  const Node f = read.scalar(speed), t = scene.t().node_in(graph);
  if (graph.is_constant(f)) return graph.value(f) * (scene.t() - start);
  std::vector<Node> others;
  for (int k = 0; k < graph.variable_count(); ++k)
    if (graph.variable_node(k) != t) others.push_back(graph.variable_node(k));
  if (dependence(graph, others)[static_cast<std::size_t>(f)]) return std::nullopt;
  const auto F = integral(graph, f, t);
  if (!F)
    speed.fail(
        "no integral of this speed is known in closed form; give the angle or position itself, as in angle = "
        "\"...\", with this speed as its derivative");
  const Node from = graph.constant(start);
  const Node at_start = substitute(graph, std::span(&*F, 1), std::span(&t, 1), std::span(&from, 1), graph)[0];
  return Expression(scene.t().graph(), graph.subtract(*F, at_start));
}

MotorOptions read_motor(const Item& motor, JointKind kind, const Span& run, const Multibody& scene,
                        const ValueReader& read) {
  if (motor.size() != (motor["jump"] ? 2u : 1u))
    motor.fail("a motor prescribes one thing: angle, speed, torque, position or force");
  MotorOptions o;
  const auto expression = [&](const char* key, std::optional<Expression>& into) {
    if (motor[key]) into = Expression(scene.t().graph(), read.scalar(motor[key]));
  };
  expression("angle", o.angle);
  expression("torque", o.torque);
  expression("position", o.position);
  expression("force", o.force);
  if (const Item speed = motor["speed"]) {
    require_unit(speed, kind == JointKind::prismatic ? "length/time" : "1/time", read.scope());
    auto& motion = kind == JointKind::prismatic ? o.position : o.angle;
    motion = distance_at(speed, run.start, scene, read);
    if (!motion) {
      expression("speed", o.speed);
      return o;
    }
  }
  const bool smooth = motor["jump"].text() == "refuse";
  for (const char* key : {"angle", "position", "speed"})
    if (const Item item = motor[key])
      refuse_jumps(item, o.angle ? *o.angle : *o.position, scene.t(), run.start, run.end, smooth);
  return o;
}

bool couples(JointKind kind) { return kind == JointKind::gear || kind == JointKind::rack; }

// Keys that this joint would not look at.
void refuse_unused_keys(const Item& item, JointKind kind) {
  const auto only = [&](const char* key, bool used, const char* who) {
    if (item[key] && !used) item[key].fail(fmt::format("only {} has a {}; leave it out", who, key));
  };
  only("ratio", kind == JointKind::gear, "a gear");
  only("radius", kind == JointKind::rack, "a rack");
  only("pitch", kind == JointKind::screw, "a screw");
  if (item["joints"] && !couples(kind)) item["joints"].fail("only gear and rack connect joints; give two bodies");
  if (couples(kind)) {
    for (const char* key : {"bodies", "point", "points", "axis", "axis2", "length", "motor", "damping", "stiffness",
                            "collide", "limits", "friction"})
      if (item[key])
        item[key].fail(
            fmt::format("a {} connects two joints, which have bodies, axes and motors of their own; leave it "
                        "out",
                        item["type"].text()));
    return;
  }
  const bool rod = kind == JointKind::rod;
  if (rod && item["point"])
    item["point"].fail(
        "a rod has two ends: points = [[..], [..]], one on each body; without them it joins the centres of mass");
  const bool no_axis = rod || kind == JointKind::spherical || kind == JointKind::fixed;
  if (no_axis && item["axis"])
    item["axis"].fail(fmt::format("a {} joint has no axis; leave it out", item["type"].text()));
  if (item["normal"])
    item["normal"].fail(
        fmt::format("a {} joint has no normal; leave it out, or use type = \"rolling\"", item["type"].text()));
  if (kind != JointKind::universal && kind != JointKind::constant_velocity && item["axis2"])
    item["axis2"].fail("only universal and constant-velocity joints have a second axis; leave it out");
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
        for (const char* part : {"_angle", "_position", "_speed"}) names.push_back(name + part);
      });
  return names;
}

// Is this joint one of those that a gear or rack connects? Its turns are counted then.
bool is_coupled(const Item& root, const std::string& name) {
  for (const Item& item : root["joint"].entries())
    if (item["joints"] && !mentioned(item["joints"], {name}).empty()) return true;
  return false;
}

// Names that the file gives a meaning of its own keep it.
void bind_scalar(const Item& root, const std::string& name, const Expression& e, const ValueReader& read) {
  if (root["parameters"][name] || root["define"][name] || read.scope().names.count(name)) return;
  read.scope().names[name] = scalar_value(e.node_in(*read.scope().graph));
}

void bind_motion(const Item& item, const Item& root, const std::string& name, Multibody& scene,
                 const ValueReader& read) {
  const auto bind = [&](const char* part, const auto& get) {
    try {
      const Expression e = get();
      claim_name(item["name"], name + part, read.scope());
      read.scope().names[name + part] = scalar_value(e.node_in(*read.scope().graph));
    } catch (const BodyError&) {  // a joint without that motion
    }
  };
  const auto rate = [&](const auto& get) {
    try {
      bind_scalar(root, name + "_speed", get(), read);
    } catch (const BodyError&) {
    }
  };
  bind("_angle", [&] { return scene.joint_angle(name); });
  bind("_position", [&] { return scene.joint_position(name); });
  rate([&] { return scene.joint_angle_rate(name); });  // of a joint that has both it is that of the angle
  rate([&] { return scene.joint_position_rate(name); });
}

// The units of keys that are of lengths or of angles.
void require_joint_units(const Item& item, JointKind kind, const Scope& scope) {
  const bool turns = kind == JointKind::revolute || kind == JointKind::spherical;
  if (!turns && kind != JointKind::prismatic) {
    if (kind == JointKind::cylindrical) require_unit(item["limits"], "length", scope);
    return;
  }
  require_unit(item["limits"], turns ? "radian" : "length", scope);
  require_unit(item["stiffness"], turns ? "force length" : "force/length", scope);
  require_unit(item["damping"], turns ? "force length time" : "force time/length", scope);
}

void read_resistance(const Item& item, JointOptions& o, const ValueReader& read) {
  if (const Item limits = item["limits"]) {
    const std::vector<double> pair = read.numbers(limits, {{2}}, "two numbers, as in limits = [-1.5, 1.5]");
    o.limits = JointLimits{pair[0], pair[1], 0};
    read.number(item["restitution"], o.limits->restitution);
  } else if (item["restitution"]) {
    item["restitution"].fail("this is the restitution of limits, which are missing, as in limits = [-1.5, 1.5]");
  }
  const Item friction = item["friction"];
  if (!friction) return;
  o.friction.emplace();
  if (!friction.is_table()) {
    o.friction->coefficient = read.number(friction);
    if (o.friction->coefficient == 0) o.friction.reset();  // none, as a parameter may say
    return;
  }
  read.number(friction["coefficient"], o.friction->coefficient);
  read.number(friction["radius"], o.friction->radius);
  read.number(friction["span"], o.friction->span);
  const bool turns = o.kind != JointKind::prismatic;
  const Item own = friction[turns ? "torque" : "force"], other = friction[turns ? "force" : "torque"];
  if (other)
    other.fail(turns ? "this joint turns; its constant friction is a torque, as in { torque = 0.5 }"
                     : "this joint slides; its constant friction is a force, as in { force = 5 }");
  read.number(own, o.friction->constant);
  if ((own || friction["coefficient"]) && o.friction->coefficient == 0 && o.friction->constant == 0) o.friction.reset();
}

// Motors are left for later: they may use what becomes known with the joints.
void read_joint(const Item& item, const Item& root, Multibody& scene, const ValueReader& read) {
  JointOptions o;
  o.kind = read_kind(item);
  if (o.kind == JointKind::rolling || o.kind == JointKind::knife_edge) return read_rolling(item, o.kind, scene, read);
  refuse_unused_keys(item, o.kind);
  if (item["name"]) o.name = read_name(item["name"], read);
  read_pair(item, "joint", read, o.a, o.b);
  const int d = scene.dimension();
  read.vector(item["point"], d, o.point);
  read_points(item["points"], d, read, o.point, o.point_b);
  const bool slides = o.kind == JointKind::prismatic || o.kind == JointKind::point_on_line;
  if (item["axis"]) {
    if (d == 2 && !slides) item["axis"].fail("only joints that slide have an axis in the plane; leave it out");
    o.axis = read.vector(item["axis"], d);
  } else if (o.kind != JointKind::spherical && o.kind != JointKind::fixed && o.kind != JointKind::rod &&
             (d == 3 || slides)) {
    item.fail(d == 2 ? "'axis' is missing, as in axis = [1, 0]" : "'axis' is missing, as in axis = [0, 0, 1]");
  }
  require_joint_units(item, o.kind, read.scope());
  read.vector(item["axis2"], d, o.axis2);
  read.number(item["length"], o.length);
  read.number(item["damping"], o.damping);
  read.number(item["stiffness"], o.stiffness);
  if (o.kind == JointKind::screw) item.need("pitch");
  read.number(item["pitch"], o.pitch);
  read.flag(item["collide"], o.collide);
  read_resistance(item, o, read);
  if (!o.name.empty()) o.count_turns = !mentioned(root, {o.name + "_angle"}).empty() || is_coupled(root, o.name);
  at_field(item, [&] { scene.joint(o); });
  if (!o.name.empty()) bind_motion(item, root, o.name, scene, read);
}

void read_coupling(const Item& item, Multibody& scene, const ValueReader& read) {
  JointOptions o;
  o.kind = read_kind(item);
  refuse_unused_keys(item, o.kind);
  if (item["name"]) o.name = read_name(item["name"], read);
  const Item joints = item.need("joints");
  if (!joints.is_array() || joints.size() != 2)
    joints.fail("expected the names of two joints, as in joints = [\"sun\", \"wheel\"]");
  o.first = read_name(joints[0], read);
  o.second = read_name(joints[1], read);
  if (o.kind == JointKind::gear)
    o.ratio = read.number(item.need("ratio"));
  else
    o.radius = read.number(item.need("radius"));
  at_field(item, [&] { scene.joint(o); });
}

// A tension may use the spring's own `length` and `rate`.
SpringOptions spring_options(const Item& item, const Multibody& scene, const ValueReader& read) {
  SpringOptions o;
  if (item["name"]) o.name = read_name(item["name"], read);
  read_pair(item, "spring", read, o.a, o.b);
  read_points(item["points"], scene.dimension(), read, o.point_a, o.point_b);
  require_unit(item["stiffness"], "force/length", read.scope());
  require_unit(item["damping"], "force time/length", read.scope());
  read.number(item["stiffness"], o.stiffness);
  read.number(item["damping"], o.damping);
  read.number(item["length"], o.length);
  if (const Item tension = item["tension"])
    o.tension = [&, tension](const Expression& length, const Expression& rate) {
      Scope inner = read.scope();
      inner.names["length"] = scalar_value(length.node_in(*inner.graph));
      inner.names["rate"] = scalar_value(rate.node_in(*inner.graph));
      return Expression(scene.t().graph(), ValueReader(inner).scalar(tension));
    };
  return o;
}

void bind_spring(const Item& root, const std::string& name, const Multibody& scene, const ValueReader& read) {
  bind_scalar(root, name + "_length", scene.spring_length(name), read);
  bind_scalar(root, name + "_rate", scene.spring_length_rate(name), read);
}

void read_spring(const Item& item, const Item& root, Multibody& scene, const ValueReader& read) {
  const SpringOptions o = spring_options(item, scene, read);
  at_field(item, [&] { scene.spring(o); });
  if (!o.name.empty()) bind_spring(root, o.name, scene, read);
}

std::vector<std::string> spring_quantities(const Item& root, const ValueReader& read) {
  std::vector<std::string> names;
  for (const Item& item : root["spring"].entries())
    if (item["name"])
      each(item, read, [&] {
        const std::string name = read_name(item["name"], read);
        for (const char* part : {"_length", "_rate"})
          if (!root["parameters"][name + part] && !root["define"][name + part]) names.push_back(name + part);
      });
  return names;
}

// Lengths and rates for what is read before the springs: [define], motors, tensions of other springs.
void announce_springs(const Item& root, const std::vector<std::string>& quantities, bool wanted, Multibody& scene,
                      const ValueReader& read) {
  if (quantities.empty()) return;
  for (const char* section : {"define", "joint", "spring"})
    if (const Item list = root[section]) wanted = wanted || !mentioned(list, quantities).empty();
  if (!wanted) return;
  for (const Item& item : root["spring"].entries())
    if (item["name"])
      each(item, read, [&] {
        const SpringOptions o = spring_options(item, scene, read);
        at_field(item, [&] { scene.announce_spring(o); });
        bind_spring(root, o.name, scene, read);
      });
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

void read_connections(const Item& root, const std::vector<std::string>& of_forces,
                      const ReactionsInEquations& reactions, Multibody& scene, const ValueReader& read) {
  Span run;
  read.number(root["integrate"]["start"], run.start);
  run.end = run.start;
  read.number(root["integrate"]["end"], run.end);
  // Joints may use what [define] says, and that may use the angles and positions of joints, and lengths of springs.
  const Item defined = root["define"], joints = root["joint"];
  const std::vector<std::string> of_springs = spring_quantities(root, read);
  std::vector<std::string> of_motions = joint_quantities(joints, read);
  of_motions.insert(of_motions.end(), of_springs.begin(), of_springs.end());
  std::vector<std::string> after = keys_that_mention(defined, std::move(of_motions));
  std::vector<std::string> before = defined ? defined.keys() : std::vector<std::string>{};
  const auto without = [](std::vector<std::string>& keys, const std::vector<std::string>& others) {
    std::erase_if(keys, [&](const std::string& key) { return std::count(others.begin(), others.end(), key) > 0; });
  };
  without(before, after);
  without(before, of_forces);
  without(after, of_forces);
  // What cannot be read now is complained about when the names of joints are known, one of which may be misspelt.
  bool misspelt = false;
  try {
    read_named_values(defined, before, read);
  } catch (const InputError&) {
    misspelt = true;
    for (const std::string& key : before)
      if (!read.scope().names.count(key)) after.push_back(key);
  }
  for (const Item& item : joints.entries())
    if (!couples(read_kind(item))) each(item, read, [&] { read_joint(item, root, scene, read); });
  const std::size_t joint_count = scene.joint_names().size();
  for (const Item& item : joints.entries())
    if (couples(read_kind(item))) each(item, read, [&] { read_coupling(item, scene, read); });
  announce_springs(root, of_springs, misspelt, scene, read);
  read_named_values(defined, after, read);
  bind_reactions(root, reactions, scene, read);
  std::size_t number = 0;
  for (const Item& item : joints.entries()) {
    if (couples(read_kind(item))) continue;
    each(item, read, [&] {
      const Item motor = item["motor"];
      if (motor && number < joint_count)
        at_field(item, [&] { scene.motor(number, read_motor(motor, read_kind(item), run, scene, read)); });
      ++number;
    });
  }
  for (const Item& item : root["spring"].entries()) each(item, read, [&] { read_spring(item, root, scene, read); });
  for (const Item& item : root["body"].entries())
    if (item["force"] || item["torque"]) each(item, read, [&] { read_force(item, scene, read); });
  read_elements(root, scene, read);
}

}  // namespace hinge
