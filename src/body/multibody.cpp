#include "hinge/multibody.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
  if (name == "ground") throw BodyError(field, "the ground is space, which nothing moves; name a body");
  const std::string near = nearest_name(name, names);
  throw BodyError(field, fmt::format("there is no body '{}'{} (there are: {})", name,
                                     near.empty() ? "" : fmt::format(", did you mean '{}'?", near), list));
}

PlacedBody& Multibody::Parts::at(const std::string& name, const char* field) {
  return name == "ground" ? ground : bodies[find(name, field)];
}

void Multibody::Parts::apply(PlacedBody& body, const Vector3d& r, const Vector& force) {
  if (body.number < 0) return;
  push(body, force);
  turn(body, cross(body.frame.direction(r), force));
}

void Multibody::Parts::apply_torque(PlacedBody& body, const Vector& torque) {
  if (body.number >= 0) turn(body, torque);
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
  if (s.dimension != 2 && o.angle) throw BodyError("angle", "in space a rotation has an axis too: give the rotation");
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

namespace {

void refuse_joint_name(const std::string& name, const std::vector<PlacedJoint>& joints) {
  for (const PlacedJoint& j : joints)
    if (!name.empty() && j.options.name == name)
      throw BodyError("name", fmt::format("there is a joint '{}' already; choose another name", name));
}

}  // namespace

void Multibody::joint(const JointOptions& options) {
  if (options.kind == JointKind::gear || options.kind == JointKind::rack) return couple(options);
  Parts& s = *parts_;
  JointOptions o = options;
  PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a joint connects two bodies; here both are '{}'", o.a));
  if (a.number < 0 && b.number < 0)
    throw BodyError(
        "bodies",
        fmt::format("neither '{0}' nor '{1}' moves; a joint needs a body that does{2}", o.a, o.b,
                    o.b == "ground" ? ""
                                    : fmt::format(". Take 'fixed = true' away from body '{}': the joint holds "
                                                  "it, and a motor moves it",
                                                  o.b)));
  if (o.name.empty()) o.name = fmt::format("{} {}-{}", joint_name(o.kind), o.a, o.b);
  refuse_joint_name(options.name, s.joints);
  PlacedJoint joint{o, joint_equations(o, a, b, s.dimension)};
  joint.named = !options.name.empty();
  JointEquations& e = joint.equations;
  const bool counts = o.stiffness > 0 || o.limits || o.kind == JointKind::screw || (o.count_turns && joint.named);
  if (e.angle && s.dimension == 3 && counts) {
    const std::string label = options.name.empty() ? fmt::format("joint{}", s.joints.size()) : o.name;
    const Expression turned = declare(s.turn_blocks, s.turn_count, s.turn_coordinates, label + "_turned", {})[0];
    e.angle =
        turned + atan2(e.sine * cos(turned) - e.cosine * sin(turned), e.cosine * cos(turned) + e.sine * sin(turned));
    const Vector3d axis = o.axis.normalized();
    s.turns.push_back({*e.angle_rate, a.number, b.number, a.number < 0 ? axis : a.local_direction(axis)});
  }
  if (o.kind == JointKind::screw) {
    if (!std::isfinite(o.pitch) || o.pitch == 0)
      throw BodyError("pitch",
                      fmt::format("pitch = {:g}; give how far the screw slides in one turn, negative for a left "
                                  "thread",
                                  o.pitch));
    e.rows.push_back({*e.position - o.pitch / (2 * std::numbers::pi) * *e.angle, "pitch"});
  }
  s.check_contacts(joint);
  joint.first_row = static_cast<int>(constraints_.size());
  for (const JointRow& row : e.rows) {
    constrain(row.g, fmt::format("of joint '{}' ({} - {}: {})", o.name, o.a, o.b, row.what));
    joint.held.push_back(row.g);
  }
  s.joints.push_back(joint);
  const bool turns_or_slides = e.angle || e.position || o.kind == JointKind::universal;
  s.links.push_back({o.name, joint_name(o.kind), a.number, b.number, a.link_point(e.start_a), b.link_point(e.start_b),
                     turns_or_slides ? a.link_direction(o.axis) : Vector3d::Zero().eval()});
  motor(s.joints.size() - 1, {o.angle, o.torque, o.position, o.force});
  s.resist(joint);
}

void Multibody::couple(const JointOptions& options) {
  Parts& s = *parts_;
  JointOptions o = options;
  refuse_joint_name(o.name, s.joints);
  if (o.first == o.second)
    throw BodyError("joints", fmt::format("a {} connects two joints; here both are '{}'", joint_name(o.kind), o.first));
  const PlacedJoint &first = s.joint(o.first), &second = s.joint(o.second);
  o.a = second.options.a;
  o.b = second.options.b;
  if (o.name.empty()) o.name = fmt::format("{} {}-{}", joint_name(o.kind), o.first, o.second);
  o.collide = true;  // it connects no bodies
  PlacedJoint joint{o, coupling_equations(o, first, second)};
  joint.named = !options.name.empty();
  joint.first_row = static_cast<int>(constraints_.size());
  joint.held = {o.kind == JointKind::gear ? *second.equations.angle : *second.equations.position};
  constrain(joint.equations.rows[0].g,
            fmt::format("of joint '{}' ({} - {}: {})", o.name, o.first, o.second, joint.equations.rows[0].what));
  s.joints.push_back(std::move(joint));
}

PlacedJoint& Multibody::Parts::joint(const std::string& name) {
  std::vector<std::string> names;
  for (PlacedJoint& j : joints) {
    if (j.options.name == name) return j;
    if (j.named) names.push_back(j.options.name);
  }
  const std::string near = nearest_name(name, names);
  throw BodyError("joints", fmt::format("there is no joint '{}'{}", name,
                                        near.empty() ? "; give the one that is meant a name (in C++ it is added first)"
                                                     : fmt::format(", did you mean '{}'?", near)));
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

namespace {

Expression motion_of_joint(const std::vector<PlacedJoint>& joints, const std::string& name,
                           std::optional<Expression> JointEquations::*part, const char* what) {
  for (const PlacedJoint& j : joints)
    if (j.options.name == name && j.equations.*part) return *(j.equations.*part);
  throw BodyError("name", fmt::format("there is no joint '{}' with {}", name, what));
}

const PlacedSpring& spring_of(const std::vector<PlacedSpring>& springs, const std::string& name) {
  for (const PlacedSpring& spring : springs)
    if (spring.name == name) return spring;
  throw BodyError("name", fmt::format("there is no spring '{}'", name));
}

}  // namespace

Expression Multibody::joint_angle(const std::string& name) const {
  return motion_of_joint(parts_->joints, name, &JointEquations::angle, "an angle");
}
Expression Multibody::joint_position(const std::string& name) const {
  return motion_of_joint(parts_->joints, name, &JointEquations::position, "a position");
}
Expression Multibody::joint_angle_rate(const std::string& name) const {
  return motion_of_joint(parts_->joints, name, &JointEquations::angle_rate, "an angle");
}
Expression Multibody::joint_position_rate(const std::string& name) const {
  return motion_of_joint(parts_->joints, name, &JointEquations::position_rate, "a position");
}
Expression Multibody::spring_length(const std::string& name) const { return spring_of(parts_->springs, name).length; }
Expression Multibody::spring_length_rate(const std::string& name) const {
  return spring_of(parts_->springs, name).rate;
}
Expression Multibody::spring_tension(const std::string& name) const { return spring_of(parts_->springs, name).tension; }

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
