#include "model/multibody_section.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/frame.hpp"
#include "hinge/error.hpp"
#include "system/symbolic.hpp"

namespace hinge {

using Eigen::Vector3d;

const std::vector<std::string>& multibody_sections() {
  static const std::vector<std::string> names = {"body", "joint", "spring", "particles", "container", "contact"};
  return names;
}

std::vector<double> read_numbers(const Item& item, const std::vector<std::vector<int>>& shapes, const char* expected,
                                 const Scope& scope) {
  if (item.is_table()) item.fail(fmt::format("expected {}, found a table", expected));
  Scope copy = scope;
  const Value value = ValueReader(copy).value(item);
  const bool fits = shapes.empty() || std::find(shapes.begin(), shapes.end(), value.shape) != shapes.end();
  if (!fits) item.fail(fmt::format("expected {}, but this is {}", expected, describe_shape(value.shape)));
  std::vector<double> x;
  for (const Node n : value.entries) {
    if (!scope.graph->is_constant(n))
      item.fail("these are numbers, given by parameters; they cannot depend on t or the motion");
    x.push_back(scope.graph->value(n));
    if (!std::isfinite(x.back())) item.fail("a number here is not finite; give ordinary numbers");
  }
  return x;
}

Vector3d read_vector(const Item& item, int dimension, const Scope& scope) {
  const bool plane = dimension == 2;
  const std::vector<double> x =
      read_numbers(item, {{dimension}}, plane ? "two numbers, as in [0, 1]" : "three numbers, as in [0, 0, 1]", scope);
  return {x[0], x[1], plane ? 0.0 : x[2]};
}

void at_field(const Item& table, const std::function<void()>& action) {
  try {
    action();
  } catch (const LocatedError&) {
    throw;
  } catch (const BodyError& e) {
    for (const std::string& key : {e.field, e.field + "s"})  // shape or shapes, point or points
      if (const Item item = table[key]) item.fail(e.what());
    table.fail(e.what());
  } catch (const InputError& e) {
    table.fail(e.what());
  }
}

namespace {

// "link{i}" -> "link3": expressions in braces.
std::string read_name(const Item& item, const Scope& scope) {
  std::string text = item.expect_string("a name"), name;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      name += text[at];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) item.fail(fmt::format("\"{}\" has a {{ that is not closed", text));
    const double x = item.located([&] { return parse_number(text.substr(at + 1, end - at - 1), scope); });
    if (x != std::floor(x)) item.fail(fmt::format("the index in \"{}\" is {:g}; it must be a whole number", text, x));
    name += fmt::format("{}", static_cast<long>(x));
    at = end;
  }
  return name;
}

Eigen::Quaterniond read_turn(const Item& table, int dimension, const Scope& scope) {
  const Item angle = table["angle"], rotation = table["rotation"];
  Scope copy = scope;
  const ValueReader read(copy);
  const auto about = [](const Vector3d& axis, double a) {
    return Eigen::Quaterniond(Eigen::AngleAxisd(a, axis.normalized()));
  };
  if (dimension == 2) {
    if (rotation && rotation.is_table()) rotation.fail("in the plane a rotation is an angle, as in angle = \"pi/6\"");
    const Item item = angle ? angle : rotation;
    return item ? about(Vector3d::UnitZ(), read.number(item)) : Eigen::Quaterniond::Identity();
  }
  if (angle) angle.fail("in space a rotation has an axis too: rotation = { axis = [0, 0, 1], angle = \"pi/6\" }");
  if (!rotation) return Eigen::Quaterniond::Identity();
  if (rotation.is_table()) {
    rotation.expect_keys({"axis", "angle"});
    for (const char* key : {"axis", "angle"})
      if (!rotation[key])
        rotation.fail(fmt::format("'{}' is missing, as in {{ axis = [1, 0, 0], angle = \"pi/3\" }}", key));
    const Vector3d axis = read_vector(rotation["axis"], 3, scope);
    if (!(axis.norm() > 0)) rotation["axis"].fail("the axis has no direction; give a vector that is not zero");
    return about(axis, read.number(rotation["angle"]));
  }
  const std::vector<double> x = read_numbers(
      rotation, {{4}, {3, 3}},
      "{ axis = [1, 0, 0], angle = \"pi/3\" }, a unit quaternion [w, x, y, z], or the three rows of a matrix", scope);
  if (x.size() == 4) {
    const Eigen::Quaterniond q(x[0], x[1], x[2], x[3]);
    if (!(std::abs(q.norm() - 1) < 1e-6))
      rotation.fail(fmt::format("this quaternion has length {:g}; it must be 1", q.norm()));
    return q.normalized();
  }
  const Eigen::Matrix3d m = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x.data());
  if (!((m.transpose() * m - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() < 1e-6) || m.determinant() < 0)
    rotation.fail("this matrix is no rotation: its columns are not a right-handed frame of unit vectors");
  return Eigen::Quaterniond(m).normalized();
}

// { sphere = 0.5 }, { box = [1, 1, 1] }, { capsule = { radius = 0.1, length = 1 } }, ... with position and rotation
BodyShape read_shape(const Item& item, int dimension, const Scope& scope) {
  if (!item.is_table()) item.fail("expected a shape, as in { sphere = 0.5 } or { box = [1, 1, 1] }");
  static const std::vector<std::string> kinds = {"sphere",   "disk", "box",     "rectangle", "capsule",
                                                 "cylinder", "mesh", "polygon", "plane"};
  std::vector<std::string> keys = kinds, given;
  keys.insert(keys.end(), {"position", "rotation", "angle", "for", "from", "to"});
  item.expect_keys(keys);
  for (const std::string& kind : kinds)
    if (item[kind]) given.push_back(kind);
  if (given.size() != 1)
    item.fail(given.empty()
                  ? "this says where, but not which shape; add one, as in sphere = 0.5"
                  : fmt::format("'{}' and '{}' are two shapes; make them a list of shapes", given[0], given[1]));
  const std::string& kind = given[0];
  const Item size = item[kind];
  Scope copy = scope;
  const ValueReader read(copy);
  BodyShape shape;
  if ((kind == "disk" || kind == "rectangle" || kind == "polygon") && dimension == 3)
    size.fail(fmt::format("a {} is a shape of the plane (dimension = 2); in space use a sphere, cylinder, box or mesh",
                          kind));
  if (kind == "sphere" || kind == "disk") shape = sphere(read.number(size));
  if (kind == "box" || kind == "rectangle") shape = box(read_vector(size, dimension, scope));
  if (kind == "plane") shape = plane(read_vector(size, dimension, scope));
  if (kind == "capsule" || kind == "cylinder") {
    if (!size.is_table()) size.fail(fmt::format("expected {} = {{ radius = 0.1, length = 1 }}", kind));
    size.expect_keys({"radius", "length"});
    for (const char* key : {"radius", "length"})
      if (!size[key]) size.fail(fmt::format("'{}' is missing, as in {{ radius = 0.1, length = 1 }}", key));
    const double r = read.number(size["radius"]), l = read.number(size["length"]);
    shape = kind == "capsule" ? capsule(r, l) : cylinder(r, l);
  }
  if (kind == "mesh" || kind == "polygon") {
    shape.shape.kind = Shape::Kind::mesh;
    const Value value = read.value(size);
    if (value.shape.size() != 2 || value.shape[1] != dimension)
      size.fail(fmt::format("expected a list of points with {} coordinates each, but this is {}", dimension,
                            describe_shape(value.shape)));
    const std::vector<double> x = read_numbers(size, {}, "", scope);
    const auto d = static_cast<std::size_t>(dimension);
    for (std::size_t k = 0; k + d <= x.size(); k += d)
      shape.shape.vertices.emplace_back(x[k], x[k + 1], dimension == 2 ? 0 : x[k + 2]);
  }
  if (item["position"]) shape.position = read_vector(item["position"], dimension, scope);
  shape.rotation = read_turn(item, dimension, scope);
  size.located([&] { shape.shape.validate(dimension); });
  return shape;
}

void read_inertia(const Item& item, int dimension, const Scope& scope, BodyOptions& o) {
  if (!item) return;
  if (dimension == 2) {
    o.inertia = Eigen::Matrix3d(
        read_numbers(item, {{}}, "one number, the moment of inertia about the centre of mass", scope)[0] *
        Eigen::Matrix3d::Identity());
    return;
  }
  const std::vector<double> j = read_numbers(
      item, {{3}, {3, 3}},
      "three principal moments, as in [0.2, 0.2, 0.1], or the rows of a matrix with 3 rows and 3 columns", scope);
  o.inertia = j.size() == 9 ? Eigen::Matrix3d(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(j.data()))
                            : principal_moments(j[0], j[1], j[2]);
}

bool read_flag(const Item& item, bool fallback) {
  if (!item) return fallback;
  const auto* flag = item.node->as_boolean();
  if (!flag) item.fail("expected true or false");
  return flag->get();
}

const std::vector<std::string> body_keys = {
    "name",   "mass",     "density",  "inertia",     "center",   "shape",
    "shapes", "position", "rotation", "angle",       "velocity", "angular_velocity",
    "fixed",  "collide",  "friction", "restitution", "force",    "torque",
    "for",    "from",     "to"};

BodyOptions read_body(const Item& item, int dimension, const Scope& scope, double friction, double restitution) {
  Scope copy = scope;
  const ValueReader read(copy);
  BodyOptions o;
  if (!item["name"]) item.fail("'name' is missing, as in name = \"ball\"");
  o.name = read_name(item["name"], scope);
  claim_name(item["name"], o.name, scope);
  const auto number = [&](const char* key, double fallback) { return item[key] ? read.number(item[key]) : fallback; };
  o.mass = number("mass", 0);
  o.density = number("density", 0);
  o.friction = number("friction", friction);
  o.restitution = number("restitution", restitution);
  o.fixed = read_flag(item["fixed"], false);
  o.collide = read_flag(item["collide"], true);
  read_inertia(item["inertia"], dimension, scope, o);
  if (item["shape"] && item["shapes"]) item["shapes"].fail("give 'shape' or 'shapes', not both");
  if (const Item shapes = item["shape"] ? item["shape"] : item["shapes"]) {
    const auto add = [&](const Item& one) {
      if (!one.is_table() || !one["for"]) return o.shapes.push_back(read_shape(one, dimension, copy));
      read.family(one, -1, one.keys(), [&](int) { o.shapes.push_back(read_shape(one, dimension, copy)); });
    };
    if (!shapes.is_array()) add(shapes);
    for (std::size_t k = 0; shapes.is_array() && k < shapes.size(); ++k) add(shapes[k]);
  }
  if (item["center"]) o.center = read_vector(item["center"], dimension, scope);
  if (item["position"]) o.position = read_vector(item["position"], dimension, scope);
  o.rotation = read_turn(item, dimension, scope);
  if (item["velocity"]) o.velocity = read_vector(item["velocity"], dimension, scope);
  if (const Item w = item["angular_velocity"])
    o.angular_velocity = dimension == 2 ? Vector3d(0, 0, read.number(w)) : read_vector(w, 3, scope);
  if (o.fixed && (o.velocity.any() || o.angular_velocity.any()))
    item.fail("a fixed body has no velocity; leave it out, or drive the body by a motor in a joint to the ground");
  return o;
}

// Runs `action` for each member of a family { for = "i", ... }, or once.
void each(const Item& item, Scope& scope, const std::vector<std::string>& keys, const std::function<void()>& action) {
  if (!item.is_table()) item.fail("expected a table; write [[body]], with two brackets, for each one");
  item.expect_keys(keys);
  if (!item["for"]) return action();
  ValueReader(scope).family(item, -1, keys, [&](int) { action(); });
}

void for_list(const Item& root, const char* section, const std::function<void(const Item&)>& action) {
  const Item list = root[section];
  if (!list) return;
  if (!list.is_array()) list.fail(fmt::format("write [[{0}]], with two brackets: each of them is one {0}", section));
  for (std::size_t k = 0; k < list.size(); ++k) action(list[k]);
}

void bind_names(const Multibody& scene, const std::string& name, Scope& scope) {
  const auto define = [&](const std::string& part, const Vector& v, bool scalar = false) {
    Value& value = scope.names[name + part];
    value.shape = scalar ? std::vector<int>{} : std::vector<int>{static_cast<int>(v.size())};
    value.entries.clear();
    for (const Expression& e : v) value.entries.push_back(e.node_in(*scope.graph));
  };
  const bool plane = scene.dimension() == 2;
  define("", scene.position(name));
  define(plane ? "_angle" : "_rotation", scene.rotation(name), plane);
  if (!plane) define("_spin", scene.spin(name));
  define("_angular_velocity", scene.angular_velocity(name), plane);
  define("_e1", scene.axis(name, 0));
  define("_e2", scene.axis(name, 1));
  if (!plane) define("_e3", scene.axis(name, 2));
}

std::vector<Node> nodes(const Vector& v, Graph& graph) {
  std::vector<Node> list;
  for (const Expression& e : v) list.push_back(e.node_in(graph));
  return list;
}

// What a prime means: d/dt of an expression of t and the pose.
void bind_rates(const Multibody& scene, Scope& scope) {
  Graph& graph = *scope.graph;
  std::vector<Node> y, v, z;
  for (const std::string& name : scene.body_names()) {
    const Vector q = scene.rotation(name), spin = scene.spin(name);
    for (const Vector& part : {scene.position(name), q})
      for (const Node n : nodes(part, graph)) y.push_back(n);
    for (const Vector& part : {scene.velocity(name), q.size() == 1 ? spin : quaternion_rate(q, spin)})
      for (const Node n : nodes(part, graph)) v.push_back(n);
    for (const Vector& part : {scene.velocity(name), spin})
      for (const Node n : nodes(part, graph)) z.push_back(n);
  }
  const Node t = scope.names.find("t")->second.entries[0];
  scope.rate = [&graph, t, y, v, z](Node n) {
    for (std::size_t k = 0; k < y.size(); ++k)
      if (y[k] == n) return v[k];
    if (dependence(graph, z)[static_cast<std::size_t>(n)])
      throw InputError("the time derivative of an expression with velocities would be an acceleration");
    return time_derivative(graph, std::span(&n, 1), t, y, v)[0];
  };
}

Vector as_vector(const Item& item, const ValueReader& read, const std::shared_ptr<Graph>& graph) {
  Vector v;
  for (const Node n : read.value(item).entries) v.push_back({graph, n});
  return v;
}

const std::vector<std::string> joint_keys = {"name",      "type",    "bodies", "point", "points",
                                             "axis",      "axis2",   "length", "motor", "damping",
                                             "stiffness", "collide", "for",    "from",  "to"};

std::pair<std::string, std::string> read_pair(const Item& item, const char* what, const Scope& scope) {
  const Item bodies = item["bodies"];
  if (!bodies) item.fail("'bodies' is missing, as in bodies = [\"ground\", \"arm\"]");
  if (!bodies.is_array() || bodies.size() != 2)
    bodies.fail(fmt::format("a {} connects two bodies, as in [\"ground\", \"arm\"]", what));
  return {read_name(bodies[0], scope), read_name(bodies[1], scope)};
}

void read_points(const Item& item, int dimension, const Scope& scope, std::optional<Vector3d>& a,
                 std::optional<Vector3d>& b) {
  const Item points = item["points"];
  if (!points) return;
  if (!points.is_array() || points.size() != 2)
    points.fail("expected two points in space, in the order of the bodies, as in [[0, 0, 1], [0, 0, 0]]");
  a = read_vector(points[0], dimension, scope);
  b = read_vector(points[1], dimension, scope);
}

// `start`: of the run; a speed begins at angle 0 there
void read_motor(const Item& motor, const ValueReader& read, const Multibody& scene, double start, JointOptions& o) {
  if (!motor) return;
  if (!motor.is_table())
    motor.fail(
        "expected { angle = \"...\" }, { speed = 2 }, { torque = \"...\" }, { position = "
        "\"...\" } or { force = \"...\" }");
  motor.expect_keys({"angle", "speed", "torque", "position", "force"});
  if (motor.size() != 1) motor.fail("a motor prescribes one thing: angle, speed, torque, position or force");
  const auto graph = scene.t().graph();
  const auto expression = [&](const char* key, std::optional<Expression>& into) {
    if (motor[key]) into = Expression(graph, read.scalar(motor[key]));
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
    item["axis"].fail(fmt::format("a {} joint has no axis; leave it out", rod                        ? "rod"
                                                                          : kind == JointKind::fixed ? "fixed"
                                                                                                     : "spherical"));
  if (kind != JointKind::universal && item["axis2"])
    item["axis2"].fail("only a universal joint has a second axis; leave it out");
  if (!rod && item["length"]) item["length"].fail("only a rod has a length; leave it out, or use type = \"rod\"");
}

void read_joint(const Item& item, double start, Multibody& scene, Scope& scope) {
  const ValueReader read(scope);
  JointOptions o;
  if (!item["type"]) item.fail("'type' is missing, as in type = \"revolute\"");
  o.kind = read_choice<JointKind>(item["type"], {{"spherical", JointKind::spherical},
                                                 {"revolute", JointKind::revolute},
                                                 {"prismatic", JointKind::prismatic},
                                                 {"cylindrical", JointKind::cylindrical},
                                                 {"universal", JointKind::universal},
                                                 {"fixed", JointKind::fixed},
                                                 {"rod", JointKind::rod},
                                                 {"distance", JointKind::rod}});
  refuse_unused_keys(item, o.kind);
  if (item["name"]) o.name = read_name(item["name"], scope);
  std::tie(o.a, o.b) = read_pair(item, "joint", scope);
  const int d = scene.dimension();
  if (item["point"] && item["points"])
    item["points"].fail("give 'point', which both bodies share, or 'points', not both");
  if (item["point"]) o.point = read_vector(item["point"], d, scope);
  read_points(item, d, scope, o.point, o.point_b);
  if (item["axis"]) {
    if (d == 2 && o.kind != JointKind::prismatic)
      item["axis"].fail("only a prismatic joint has an axis in the plane; leave it out");
    o.axis = read_vector(item["axis"], d, scope);
  } else if (o.kind != JointKind::spherical && o.kind != JointKind::fixed && o.kind != JointKind::rod &&
             !(d == 2 && o.kind == JointKind::revolute)) {
    item.fail(d == 2 ? "'axis' is missing, as in axis = [1, 0]" : "'axis' is missing, as in axis = [0, 0, 1]");
  }
  if (item["axis2"]) o.axis2 = read_vector(item["axis2"], d, scope);
  if (item["length"]) o.length = read.number(item["length"]);
  if (item["damping"]) o.damping = read.number(item["damping"]);
  if (item["stiffness"]) o.stiffness = read.number(item["stiffness"]);
  o.collide = read_flag(item["collide"], false);
  read_motor(item["motor"], read, scene, start, o);
  at_field(item, [&] { scene.joint(o); });
  if (o.name.empty()) return;
  const auto define = [&](const char* part, const auto& get) {
    try {
      const Expression e = get();
      claim_name(item["name"], o.name + part, scope);
      scope.names[o.name + part] = scalar_value(e.node_in(*scope.graph));
    } catch (const BodyError&) {  // a joint without that motion
    }
  };
  define("_angle", [&] { return scene.joint_angle(o.name); });
  define("_position", [&] { return scene.joint_position(o.name); });
}

void read_spring(const Item& item, Multibody& scene, Scope& scope) {
  const ValueReader read(scope);
  SpringOptions o;
  std::tie(o.a, o.b) = read_pair(item, "spring", scope);
  read_points(item, scene.dimension(), scope, o.point_a, o.point_b);
  if (item["stiffness"]) o.stiffness = read.number(item["stiffness"]);
  if (item["damping"]) o.damping = read.number(item["damping"]);
  if (item["length"]) o.length = read.number(item["length"]);
  at_field(item, [&] { scene.spring(o); });
}

}  // namespace

std::unique_ptr<Multibody> begin_multibody(const Item& section, Scope& parameters) {
  section.expect_keys({"gravity", "dimension"});
  const ValueReader read(parameters);
  int dimension = 3;
  const Item gravity = section["gravity"];
  std::vector<double> g;
  if (gravity)
    g = read_numbers(gravity, {{2}, {3}}, "the vector of gravity, as in [0, 0, -9.81], or [0, -9.81] in the plane",
                     parameters);
  if (section["dimension"]) {
    dimension = read.integer(section["dimension"]);
    if (dimension != 2 && dimension != 3) section["dimension"].fail("bodies live in the plane, 2, or in space, 3");
    if (gravity && static_cast<int>(g.size()) != dimension)
      gravity.fail(fmt::format("gravity has {} components, but dimension = {}", g.size(), dimension));
  } else if (gravity) {
    dimension = static_cast<int>(g.size());
  }
  auto scene = std::make_unique<Multibody>(dimension);
  if (gravity) scene->gravity({g[0], g[1], dimension == 3 ? g[2] : 0});
  return scene;
}

void read_scene(const Item& root, Multibody& scene, Scope& scope) {
  const ValueReader read(scope);
  double friction = 0, restitution = 0;
  if (const Item contact = root["contact"]) {
    if (!contact.is_table()) contact.fail("expected a section [contact]");
    if (contact["friction"]) friction = read.number(contact["friction"]);
    if (contact["restitution"]) restitution = read.number(contact["restitution"]);
    if (!(friction >= 0))
      contact["friction"].fail(fmt::format("friction = {:g}; the coefficient is 0 or positive", friction));
    if (!(restitution >= 0 && restitution <= 1))
      contact["restitution"].fail(fmt::format("restitution = {:g}; it lies between 0 and 1", restitution));
  }
  for_list(root, "body", [&](const Item& item) {
    each(item, scope, body_keys, [&] {
      const BodyOptions o = read_body(item, scene.dimension(), scope, friction, restitution);
      at_field(item, [&] { scene.body(o); });
      if (!o.fixed) bind_names(scene, o.name, scope);
    });
  });
  if (root["container"]) read_container(root["container"], scene, scope, friction, restitution);
  for_list(root, "particles",
           [&](const Item& item) { read_particles(item, root["container"], scene, scope, friction, restitution); });
  bind_rates(scene, scope);
}

void read_connections(const Item& root, Multibody& scene, Scope& scope) {
  const ValueReader read(scope);
  const Item integrate = root["integrate"];
  const double start = integrate && integrate.is_table() && integrate["start"] ? read.number(integrate["start"]) : 0;
  for_list(root, "joint",
           [&](const Item& item) { each(item, scope, joint_keys, [&] { read_joint(item, start, scene, scope); }); });
  for_list(root, "spring", [&](const Item& item) {
    each(item, scope, {"name", "bodies", "points", "stiffness", "damping", "length", "for", "from", "to"},
         [&] { read_spring(item, scene, scope); });
  });
  const auto graph = scene.t().graph();
  for_list(root, "body", [&](const Item& item) {
    if (!item["force"] && !item["torque"]) return;
    each(item, scope, body_keys, [&] {
      const std::string name = read_name(item["name"], scope);
      const Vector force = item["force"] ? as_vector(item["force"], read, graph) : Vector{};
      const Vector torque = item["torque"] ? as_vector(item["torque"], read, graph) : Vector{};
      at_field(item, [&] { scene.force(name, force, torque); });
    });
  });
}

}  // namespace hinge
