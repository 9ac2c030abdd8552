// [multibody] and [[body]]: bodies with shapes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/frame.hpp"
#include "model/sections.hpp"

namespace hinge {

using Eigen::Vector3d;

void at_field(const Item& table, const std::function<void()>& action) {
  table.located([&] {
    try {
      action();
    } catch (const BodyError& e) {
      for (const std::string& key : {e.field, e.field + "s"})  // shape or shapes, point or points
        if (const Item item = table[key]) item.fail(e.what());
      throw;
    }
  });
}

std::string read_name(const Item& item, const ValueReader& read) {
  const std::string text = item.expect_string("a name");
  std::string name;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      name += text[at];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) item.fail(fmt::format("\"{}\" has a {{ that is not closed", text));
    const double x = item.located([&] { return parse_number(text.substr(at + 1, end - at - 1), read.scope()); });
    if (x != std::floor(x)) item.fail(fmt::format("the index in \"{}\" is {:g}; it must be a whole number", text, x));
    name += fmt::format("{}", static_cast<long>(x));
    at = end;
  }
  return name;
}

// Each of them takes kilobytes, so they are counted before they are made.
void each(const Item& item, const ValueReader& read, const std::function<void()>& action) {
  constexpr long most = 1'000'000;
  const auto count = [&](long more) {
    if ((item.source->parts += more) > most)
      item.fail(
          "a scene has at most a million bodies, shapes, joints, springs and forces from families; [[particles]] "
          "have room for more");
  };
  if (!item["for"]) return action();
  const long from = item["from"] ? read.integer(item["from"]) : 0, to = item["to"] ? read.integer(item["to"]) : from;
  count(std::max(to - from + 1, 0L));
  read.family(item, -1, [&](int) { action(); });
}

Eigen::Matrix3d read_inertia(const Item& item, const ValueReader& read) {
  const std::vector<double> j =
      read.numbers(item, {{3}, {3, 3}},
                   "three principal moments, as in [0.2, 0.2, 0.1], or the rows of a matrix with 3 rows and 3 columns");
  if (j.size() == 3) return principal_moments(j[0], j[1], j[2]);
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(j.data());
}

namespace {

// In the plane.
double read_angle(const Item& item, const ValueReader& read) {
  if (item.is_table()) item.fail("in the plane a rotation is an angle, as in angle = \"pi/6\"");
  return read.number(item);
}

}  // namespace

Eigen::Quaterniond read_turn(const Item& table, int dimension, const ValueReader& read) {
  const Item angle = table["angle"], rotation = table["rotation"];
  const auto about = [](const Vector3d& axis, double a) {
    return Eigen::Quaterniond(Eigen::AngleAxisd(a, axis.normalized()));
  };
  if (dimension == 2) {
    const Item item = angle ? angle : rotation;
    return item ? about(Vector3d::UnitZ(), read_angle(item, read)) : Eigen::Quaterniond::Identity();
  }
  if (angle) angle.fail("in space a rotation has an axis too: rotation = { axis = [0, 0, 1], angle = \"pi/6\" }");
  if (!rotation) return Eigen::Quaterniond::Identity();
  if (rotation.is_table()) {
    const Vector3d axis = read.vector(rotation.need("axis"));
    if (!(axis.norm() > 0)) rotation["axis"].fail("the axis has no direction; give a vector that is not zero");
    return about(axis, read.number(rotation.need("angle")));
  }
  const std::vector<double> x = read.numbers(
      rotation, {{4}, {3, 3}},
      "{ axis = [1, 0, 0], angle = \"pi/3\" }, a unit quaternion [w, x, y, z], or the three rows of a matrix");
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

namespace {

// { sphere = 0.5 }, { box = [1, 1, 1] }, { capsule = { radius = 0.1, length = 1 } }, ... with position and rotation
BodyShape read_shape(const Item& item, int dimension, const ValueReader& read) {
  if (!item.is_table()) item.fail("expected a shape, as in { sphere = 0.5 } or { box = [1, 1, 1] }");
  std::vector<std::string> given;
  for (const char* kind : {"sphere", "disk", "box", "rectangle", "capsule", "cylinder", "mesh", "polygon", "plane"})
    if (item[kind]) given.emplace_back(kind);
  if (given.size() != 1)
    item.fail(given.empty()
                  ? "this says where, but not which shape; add one, as in sphere = 0.5"
                  : fmt::format("'{}' and '{}' are two shapes; make them a list of shapes", given[0], given[1]));
  const std::string& kind = given[0];
  const Item size = item[kind];
  BodyShape shape;
  if ((kind == "disk" || kind == "rectangle" || kind == "polygon") && dimension == 3)
    size.fail(fmt::format("a {} is a shape of the plane (dimension = 2); in space use a sphere, cylinder, box or mesh",
                          kind));
  if (kind == "sphere" || kind == "disk") shape = sphere(read.number(size));
  if (kind == "box" || kind == "rectangle") shape = box(read.vector(size, dimension));
  if (kind == "plane") shape = plane(read.vector(size, dimension));
  if (kind == "capsule" || kind == "cylinder") {
    if (!size.is_table()) size.fail(fmt::format("expected {} = {{ radius = 0.1, length = 1 }}", kind));
    const double r = read.number(size.need("radius")), l = read.number(size.need("length"));
    shape = kind == "capsule" ? capsule(r, l) : cylinder(r, l);
  }
  if (kind == "mesh" || kind == "polygon") {
    shape.shape.kind = Shape::Kind::mesh;
    shape.shape.vertices = read.points(size, dimension);
  }
  read.vector(item["position"], dimension, shape.position);
  shape.rotation = read_turn(item, dimension, read);
  size.located([&] { shape.shape.validate(dimension); });
  return shape;
}

BodyOptions read_body(const Item& item, int dimension, const BodyOptions& contact, const ValueReader& read) {
  BodyOptions o = contact;
  o.name = read_name(item.need("name"), read);
  claim_name(item["name"], o.name, read.scope());
  read.number(item["mass"], o.mass);
  read.number(item["density"], o.density);
  read.number(item["friction"], o.friction);
  read.number(item["restitution"], o.restitution);
  read.flag(item["fixed"], o.fixed);
  read.flag(item["collide"], o.collide);
  if (const Item inertia = item["inertia"]; inertia && dimension == 3) {
    o.inertia = read_inertia(inertia, read);
  } else if (inertia) {
    const char* const expected = "one number, the moment of inertia about the centre of mass";
    o.inertia = Eigen::Matrix3d(read.numbers(inertia, {{}}, expected)[0] * Eigen::Matrix3d::Identity());
  }
  if (item["shape"] && item["shapes"]) item["shapes"].fail("give 'shape' or 'shapes', not both");
  for (const Item& one : (item["shape"] ? item["shape"] : item["shapes"]).entries()) {
    const auto add = [&] { o.shapes.push_back(read_shape(one, dimension, read)); };
    one.is_table() ? each(one, read, add) : add();
  }
  read.vector(item["center"], dimension, o.center);
  read.vector(item["position"], dimension, o.position);
  const Item angle = item["angle"] ? item["angle"] : item["rotation"];
  if (dimension == 2 && angle)
    o.angle = read_angle(angle, read);
  else
    o.rotation = read_turn(item, dimension, read);
  read.vector(item["velocity"], dimension, o.velocity);
  if (const Item w = item["angular_velocity"])
    o.angular_velocity = dimension == 2 ? Vector3d(0, 0, read.number(w)) : read.vector(w);
  if (o.fixed && (o.velocity.any() || o.angular_velocity.any()))
    item.fail("a fixed body has no velocity; leave it out, or drive the body by a motor in a joint to the ground");
  return o;
}

void bind_names(const Multibody& scene, const std::string& name, Scope& scope) {
  const auto bind = [&](const std::string& part, const Vector& v, bool scalar = false) {
    define(name + part, v, scalar ? std::vector<int>{} : std::vector<int>{static_cast<int>(v.size())}, scope);
  };
  const bool plane = scene.dimension() == 2;
  bind("", scene.position(name));
  bind(plane ? "_angle" : "_rotation", scene.rotation(name), plane);
  if (!plane) bind("_spin", scene.spin(name));
  bind("_angular_velocity", scene.angular_velocity(name), plane);
  bind("_e1", scene.axis(name, 0));
  bind("_e2", scene.axis(name, 1));
  if (!plane) bind("_e3", scene.axis(name, 2));
}

// What a prime means: d/dt of an expression of t and the pose.
void bind_rates(const Multibody& scene, Scope& scope) {
  Graph& graph = *scope.graph;
  std::vector<Node> y, v, z;
  const auto append = [&graph](std::vector<Node>& list, const Vector& part) {
    for (const Expression& e : part) list.push_back(e.node_in(graph));
  };
  for (const std::string& name : scene.body_names()) {
    const Vector q = scene.rotation(name), spin = scene.spin(name);
    append(y, scene.position(name));
    append(y, q);
    append(v, scene.velocity(name));
    append(v, q.size() == 1 ? spin : quaternion_rate(q, spin));
    append(z, scene.velocity(name));
    append(z, spin);
  }
  const Node t = scope.names.find("t")->second.entries[0];
  scope.rate = rate_or_refusal({graph, t, y, v, z},
                               "the time derivative of an expression with velocities would be an acceleration");
}

}  // namespace

std::unique_ptr<Multibody> begin_multibody(const Item& section, const ValueReader& read) {
  const Item gravity = section["gravity"], given = section["dimension"];
  std::vector<double> g{0, 0, 0};
  if (gravity)
    g = read.numbers(gravity, {{2}, {3}}, "the vector of gravity, as in [0, 0, -9.81], or [0, -9.81] in the plane");
  const int dimension = given ? read.integer(given) : static_cast<int>(g.size());
  if (dimension != 2 && dimension != 3) given.fail("bodies live in the plane, 2, or in space, 3");
  if (gravity && static_cast<int>(g.size()) != dimension)
    gravity.fail(fmt::format("gravity has {} components, but dimension = {}", g.size(), dimension));
  auto scene = std::make_unique<Multibody>(dimension);
  if (gravity) scene->gravity({g[0], g[1], dimension == 3 ? g[2] : 0});
  return scene;
}

void read_scene(const Item& root, Multibody& scene, const ValueReader& read) {
  BodyOptions contact;
  read.number(root["contact"]["friction"], contact.friction);
  read.number(root["contact"]["restitution"], contact.restitution);
  for (const Item& item : root["body"].entries())
    each(item, read, [&] {
      const BodyOptions o = read_body(item, scene.dimension(), contact, read);
      at_field(item, [&] { scene.body(o); });
      if (!o.fixed) bind_names(scene, o.name, read.scope());
    });
  if (root["container"]) read_container(root["container"], contact, scene, read);
  read_particles(root, contact, scene, read);
  bind_rates(scene, read.scope());
}

}  // namespace hinge
