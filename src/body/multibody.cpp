#include "hinge/multibody.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"

namespace hinge {

using Eigen::Vector3d;

BodyShape sphere(double radius) {
  BodyShape s;
  s.shape.kind = Shape::Kind::sphere;
  s.shape.radius = radius;
  return s;
}
BodyShape box(const Vector3d& size) {
  BodyShape s;
  s.shape.kind = Shape::Kind::box;
  s.shape.size = size;
  return s;
}
BodyShape capsule(double radius, double length) {
  BodyShape s;
  s.shape.kind = Shape::Kind::capsule;
  s.shape.radius = radius;
  s.shape.length = length;
  return s;
}
BodyShape cylinder(double radius, double length) {
  BodyShape s = capsule(radius, length);
  s.shape.kind = Shape::Kind::cylinder;
  return s;
}
BodyShape plane(const Vector3d& normal) {
  BodyShape s;
  s.shape.kind = Shape::Kind::plane;
  s.shape.normal = normal;
  return s;
}

Multibody::Multibody(int dimension) : parts_(std::make_unique<Parts>()) {
  if (dimension != 2 && dimension != 3)
    throw BodyError("dimension", fmt::format("dimension = {}; bodies live in the plane, 2, or in space, 3", dimension));
  parts_->dimension = dimension;
  parts_->ground.options.name = "ground";
  parts_->ground.options.fixed = true;
  parts_->ground.frame = resting_frame(Vector3d::Zero(), Eigen::Quaterniond::Identity());
}

Multibody::~Multibody() = default;
Multibody::Multibody(Multibody&&) noexcept = default;
Multibody& Multibody::operator=(Multibody&&) noexcept = default;

int Multibody::dimension() const { return parts_->dimension; }

void Multibody::gravity(const Vector3d& g) {
  if (!g.allFinite()) throw BodyError("gravity", "the gravity is not finite");
  if (parts_->dimension == 2 && g(2) != 0) throw BodyError("gravity", "in the plane gravity has two components");
  parts_->gravity = g;
}

void Multibody::allow_overlap(double depth) {
  if (!(depth >= 0) || !std::isfinite(depth))
    throw BodyError("overlap", fmt::format("overlap = {:g}; a depth is 0 or positive", depth));
  parts_->overlap = depth;
}

std::size_t Multibody::Parts::find(const std::string& name, const char* field) const {
  if (const auto at = place_of.find(name); at != place_of.end()) return at->second;
  std::vector<std::string> names;
  for (const PlacedBody& body : bodies) names.push_back(body.options.name);
  names.emplace_back("ground");
  std::string list;
  for (const std::string& n : names)
    if (list.size() < 200) list += (list.empty() ? "" : ", ") + n;
  for (const PlacedParticles& heap : heaps)
    if (heap.options.name == name)
      throw BodyError(field,
                      fmt::format("'{}' are particles; joints and springs connect bodies with names ({})", name, list));
  const std::string near = nearest_name(name, names);
  throw BodyError(field, fmt::format("there is no body '{}'{} (there are: {})", name,
                                     near.empty() ? "" : fmt::format(", did you mean '{}'?", near), list));
}

PlacedBody& Multibody::Parts::at(const std::string& name, const char* field) {
  return name == "ground" ? ground : bodies[find(name, field)];
}

void Multibody::Parts::apply(PlacedBody& body, const Vector3d& r, const Vector& force) {
  if (body.number < 0) return;
  body.force = body.force + force;
  body.torque = body.torque + cross(body.frame.direction(r), force);
}

void Multibody::Parts::apply_torque(PlacedBody& body, const Vector& torque) {
  if (body.number >= 0) body.torque = body.torque + torque;
}

namespace {

void refuse_name(const std::string& name, const std::unordered_map<std::string, std::size_t>& bodies,
                 const std::vector<PlacedParticles>& heaps) {
  if (name.empty()) throw BodyError("name", "a body needs a name");
  if (name == "ground") throw BodyError("name", "'ground' is what joints call space; choose another name");
  const auto taken = [&] {
    throw BodyError("name", fmt::format("there is a '{}' already; choose another name", name));
  };
  if (bodies.contains(name)) taken();
  for (const PlacedParticles& h : heaps)
    if (h.options.name == name) taken();
}

void refuse_material(double friction, double restitution) {
  if (!(friction >= 0) || !std::isfinite(friction))
    throw BodyError("friction", fmt::format("friction = {:g}; the coefficient is 0 or positive", friction));
  if (!(restitution >= 0 && restitution <= 1))
    throw BodyError("restitution", fmt::format("restitution = {:g}; it lies between 0 and 1", restitution));
}

}  // namespace

void Multibody::body(const BodyOptions& o) {
  Parts& s = *parts_;
  refuse_name(o.name, s.place_of, s.heaps);
  refuse_material(o.friction, o.restitution);
  if (s.dimension == 2) {
    if (o.position(2) != 0 || o.velocity(2) != 0 || o.rotation.x() != 0 || o.rotation.y() != 0 ||
        o.angular_velocity.head(2).any())
      throw BodyError("position", "this is a body in the plane: two coordinates, and an angle");
  }
  PlacedBody body = place_body(o, s.dimension);
  const std::string& name = o.name;
  if (o.fixed) {
    body.frame = resting_frame(body.x, body.q);
  } else {
    const bool plane = s.dimension == 2;
    body.place.x = s.ny;
    const Vector x = declare(s.y_blocks, s.ny, s.y, name, {s.dimension});
    body.place.rotation = s.ny;
    body.y_rotation = plane ? declare(s.y_blocks, s.ny, s.y, name + "_angle", {})
                            : declare(s.y_blocks, s.ny, s.y, name + "_rotation", {4});
    body.place.v = s.nz;
    const Vector v = declare(s.z_blocks, s.nz, s.z, name + "'", {s.dimension});
    body.place.spin = s.nz;
    body.z_spin = plane ? declare(s.z_blocks, s.nz, s.z, name + "_angle'", {})
                        : declare(s.z_blocks, s.nz, s.z, name + "_spin", {3});
    body.frame =
        plane ? plane_frame(x, body.y_rotation[0], v, body.z_spin[0]) : space_frame(x, body.y_rotation, v, body.z_spin);
    body.number = s.moving++;
  }
  s.place_of[name] = s.bodies.size();
  s.bodies.push_back(std::move(body));
}

void Multibody::particles(const ParticleOptions& o) {
  Parts& s = *parts_;
  refuse_name(o.name, s.place_of, s.heaps);
  refuse_material(o.friction, o.restitution);
  s.heaps.push_back(place_particles(o, s.dimension));
}

void Multibody::joint(const JointOptions& options) {
  Parts& s = *parts_;
  JointOptions o = options;
  PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a joint connects two bodies; here both are '{}'", o.a));
  if (a.number < 0 && b.number < 0)
    throw BodyError("bodies", fmt::format("neither '{}' nor '{}' moves; a joint needs a body that does", o.a, o.b));
  if (o.name.empty()) o.name = fmt::format("{} {}-{}", joint_name(o.kind), o.a, o.b);
  for (const PlacedJoint& j : s.joints)
    if (j.options.name == o.name && !options.name.empty())
      throw BodyError("name", fmt::format("there is a joint '{}' already; choose another name", o.name));
  PlacedJoint joint{o, joint_equations(o, a, b, s.dimension)};
  JointEquations& e = joint.equations;
  for (const JointRow& row : e.rows)
    constrain(row.g, fmt::format("of joint '{}' ({} - {}: {})", o.name, o.a, o.b, row.what));
  const bool counts = o.stiffness > 0 || (o.count_turns && !options.name.empty());
  if (e.angle && s.dimension == 3 && counts) {
    const std::string label = options.name.empty() ? fmt::format("joint{}", s.joints.size()) : o.name;
    const Expression turned = declare(s.turn_blocks, s.turn_count, s.turn_coordinates, label + "_turned", {})[0];
    e.angle =
        turned + atan2(e.sine * cos(turned) - e.cosine * sin(turned), e.cosine * cos(turned) + e.sine * sin(turned));
    const Vector3d axis = o.axis.normalized();
    s.turns.push_back({*e.angle_rate, a.number, b.number, a.number < 0 ? axis : a.local_direction(axis)});
  }
  s.joints.push_back(joint);
  const bool turns_or_slides = e.angle || e.position || o.kind == JointKind::universal;
  s.links.push_back({o.name, joint_name(o.kind), a.number, b.number, a.link_point(e.start_a), b.link_point(e.start_b),
                     turns_or_slides ? a.link_direction(o.axis) : Vector3d::Zero().eval()});
  motor(s.joints.size() - 1, {o.angle, o.torque, o.position, o.force});
  if (!(o.damping >= 0) || !std::isfinite(o.damping))
    throw BodyError("damping", fmt::format("damping = {:g}; it is 0 or positive", o.damping));
  if (!(o.stiffness >= 0) || !std::isfinite(o.stiffness))
    throw BodyError("stiffness", fmt::format("stiffness = {:g}; it is 0 or positive", o.stiffness));
  if (o.damping > 0) {
    if (e.angle_rate) s.drive_torque(joint, -o.damping * *e.angle_rate);
    if (e.position_rate) s.drive_force(joint, -o.damping * *e.position_rate);
    if (o.kind == JointKind::spherical && s.dimension == 3) {
      const Vector torque = o.damping * (b.frame.omega - a.frame.omega);
      s.apply_torque(b, -torque);
      s.apply_torque(a, torque);
      s.applied_force = true;
    } else if (!e.angle_rate && !e.position_rate) {
      throw BodyError("damping", fmt::format("a {} joint has no damping; revolute, prismatic, cylindrical and "
                                             "spherical ones have",
                                             joint_name(o.kind)));
    }
  }
  if (o.stiffness > 0) {
    if (!e.angle && !e.position)
      throw BodyError("stiffness", fmt::format("a {} joint has no stiffness; revolute, prismatic and cylindrical ones "
                                               "have; a [[spring]] connects two points",
                                               joint_name(o.kind)));
    const bool applied = s.applied_force;
    if (e.angle) {
      s.drive_torque(joint, -o.stiffness * *e.angle);
      s.potential += 0.5 * o.stiffness * *e.angle * *e.angle;
    }
    if (e.position) {
      s.drive_force(joint, -o.stiffness * *e.position);
      s.potential += 0.5 * o.stiffness * *e.position * *e.position;
    }
    s.applied_force = applied;
  }
}

void Multibody::Parts::drive_torque(const PlacedJoint& joint, const Expression& torque) {
  apply_torque(at(joint.options.b, "bodies"), torque * joint.equations.axis);
  apply_torque(at(joint.options.a, "bodies"), -(torque * joint.equations.axis));
  applied_force = true;
}

// Both act at b's point, so that the pair of forces has no torque.
void Multibody::Parts::drive_force(const PlacedJoint& joint, const Expression& force) {
  const auto act = [&](PlacedBody& body, const Vector& f) {
    if (body.number < 0) return;
    body.force = body.force + f;
    body.torque = body.torque + cross(joint.equations.point_b - body.frame.x, f);
  };
  act(at(joint.options.b, "bodies"), force * joint.equations.axis);
  act(at(joint.options.a, "bodies"), -(force * joint.equations.axis));
  applied_force = true;
}

void Multibody::motor(std::size_t number, const MotorOptions& o) {
  Parts& s = *parts_;
  if (number >= s.joints.size())
    throw BodyError("motor", fmt::format("there is no joint {}; there are {}", number, s.joints.size()));
  const PlacedJoint joint = s.joints[number];
  const JointEquations& e = joint.equations;
  const auto check = [&](const std::optional<Expression>& motion, const std::optional<Expression>& effort,
                         const char* motion_key, const char* effort_key, bool there, bool rotates) {
    if (!motion && !effort) return;
    if (!there)
      throw BodyError("motor", fmt::format("a {} joint has no {} that a motor could drive ({}); use a {} joint",
                                           joint_name(joint.options.kind), rotates ? "angle" : "translation",
                                           motion ? motion_key : effort_key, rotates ? "revolute" : "prismatic"));
    if (motion && effort)
      throw BodyError("motor", fmt::format("a motor prescribes the {} or the {}, not both", motion_key, effort_key));
  };
  check(o.angle, o.torque, "angle", "torque", e.angle.has_value(), true);
  check(o.position, o.force, "position", "force", e.position.has_value(), false);
  const std::string& name = joint.options.name;
  if (o.angle) {
    // sin(angle - wanted), which has no jumps
    const Expression pose = s.dimension == 2 ? *e.angle : atan2(e.sine, e.cosine);
    const Expression g = s.dimension == 2 ? pose - *o.angle : sin(pose) * cos(*o.angle) - cos(pose) * sin(*o.angle);
    constrain(g, fmt::format("of joint '{}' (motor: angle)", name));
  }
  if (o.position) constrain(*e.position - *o.position, fmt::format("of joint '{}' (motor: position)", name));
  if (o.torque) s.drive_torque(joint, *o.torque);
  if (o.force) s.drive_force(joint, *o.force);
}

// Along e from P_a to P_b at the distance d:  -(k (d - L) + c d') e on b
void Multibody::spring(const SpringOptions& o) {
  Parts& s = *parts_;
  PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a spring connects two bodies; here both are '{}'", o.a));
  if (a.number < 0 && b.number < 0)
    throw BodyError("bodies", fmt::format("neither '{}' nor '{}' moves; a spring needs a body that does", o.a, o.b));
  for (const auto& [field, x] : {std::pair{"stiffness", o.stiffness}, {"damping", o.damping}})
    if (!(x >= 0) || !std::isfinite(x)) throw BodyError(field, fmt::format("{} = {:g}; it is 0 or positive", field, x));
  if (o.stiffness == 0 && o.damping == 0) throw BodyError("stiffness", "a spring needs a stiffness, or a damping");
  const auto point = [&](const std::optional<Vector3d>& given, const PlacedBody& body) -> Vector3d {
    if (given) return *given;
    if (body.options.name == "ground")
      throw BodyError("points",
                      "say where the spring is held: points = [[0, 0, 1], [0, 0, 0]], in the order of the bodies");
    return body.x;
  };
  const Vector3d pa = point(o.point_a, a), pb = point(o.point_b, b);
  if (!pa.allFinite() || !pb.allFinite()) throw BodyError("points", "a point of the spring is not finite");
  const double length = o.length ? *o.length : (pb - pa).norm();
  if (!(length >= 0) || !std::isfinite(length))
    throw BodyError("length", fmt::format("length = {:g}; the length at rest is 0 or positive", length));
  const Vector3d ra = a.local_point(pa), rb = b.local_point(pb);
  const Vector d = b.frame.point(rb) - a.frame.point(ra);
  const Vector rate = b.frame.point_velocity(rb) - a.frame.point_velocity(ra);
  Vector force{0.0, 0.0, 0.0};  // on b
  if (length == 0) {
    force = -(o.stiffness * d) - o.damping * rate;  // also where the points coincide
    s.potential += 0.5 * o.stiffness * dot(d, d);
  } else {
    if ((pb - pa).norm() == 0)
      throw BodyError(
          "points",
          "the ends of the spring coincide, so that its force has no direction; give other points, or length = 0");
    const Expression distance = norm(d), stretch = distance - length;
    force = -((o.stiffness * stretch + o.damping * dot(rate, d) / distance) / distance * d);
    s.potential += 0.5 * o.stiffness * stretch * stretch;
  }
  s.apply(b, rb, force);
  s.apply(a, ra, -force);
  s.links.push_back({o.name, "spring", a.number, b.number, a.link_point(pa), b.link_point(pb)});
  if (o.damping > 0) s.applied_force = true;
}

void Multibody::force(const std::string& name, const Vector& force, const Vector& torque) {
  Parts& s = *parts_;
  PlacedBody& body = s.bodies[s.find(name, "force")];
  if (body.number < 0) throw BodyError("force", fmt::format("'{}' is fixed; a force cannot move it", name));
  const auto d = static_cast<std::size_t>(s.dimension);
  const std::size_t turns = d == 2 ? 1 : 3;
  if (force.size() != 0 && force.size() != d)
    throw BodyError("force", fmt::format("a force has {} components; this has {}", d, force.size()));
  if (torque.size() != 0 && torque.size() != turns)
    throw BodyError(
        "torque", fmt::format("a torque has {} component{}; this has {}", turns, turns == 1 ? "" : "s", torque.size()));
  for (std::size_t k = 0; k < force.size(); ++k) body.force[k] += force[k];
  for (std::size_t k = 0; k < torque.size(); ++k) body.torque[d == 2 ? 2 : k] += torque[k];
  s.applied_force = true;
}

namespace {

Vector shortened(const Vector& v, int dimension) { return v.segment(0, static_cast<std::size_t>(dimension)); }

}  // namespace

Vector Multibody::position(const std::string& body) const {
  return shortened(parts_->at(body, "name").frame.x, parts_->dimension);
}
Vector Multibody::velocity(const std::string& body) const {
  return shortened(parts_->at(body, "name").frame.x_rate, parts_->dimension);
}
Vector Multibody::rotation(const std::string& body) const { return parts_->at(body, "name").y_rotation; }
Vector Multibody::spin(const std::string& body) const { return parts_->at(body, "name").z_spin; }
Vector Multibody::angular_velocity(const std::string& body) const {
  const Frame& f = parts_->at(body, "name").frame;
  return parts_->dimension == 2 ? Vector{f.omega[2]} : f.omega;
}
Vector Multibody::axis(const std::string& name, int k) const {
  const PlacedBody& body = parts_->at(name, "name");
  return shortened(body.frame.direction(body.principal.transpose() * Vector3d::Unit(k)), parts_->dimension);
}

Expression Multibody::joint_angle(const std::string& name) const {
  for (const PlacedJoint& j : parts_->joints)
    if (j.options.name == name && j.equations.angle) return *j.equations.angle;
  throw BodyError("name", fmt::format("there is no joint '{}' with an angle", name));
}
Expression Multibody::joint_position(const std::string& name) const {
  for (const PlacedJoint& j : parts_->joints)
    if (j.options.name == name && j.equations.position) return *j.equations.position;
  throw BodyError("name", fmt::format("there is no joint '{}' with a position", name));
}

std::vector<std::string> Multibody::body_names() const {
  std::vector<std::string> names;
  for (const PlacedBody& b : parts_->bodies)
    if (b.number >= 0) names.push_back(b.options.name);
  return names;
}
std::vector<std::string> Multibody::joint_names() const {
  std::vector<std::string> names;
  for (const PlacedJoint& j : parts_->joints) names.push_back(j.options.name);
  return names;
}

}  // namespace hinge
