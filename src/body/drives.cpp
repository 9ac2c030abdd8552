// What drives and pulls: motors, springs, forces.
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "hinge/error.hpp"

namespace hinge {

using Eigen::Vector3d;

void Multibody::Parts::drive_torque(const PlacedJoint& joint, const Expression& torque) {
  apply_torque(at(joint.options.b, "bodies"), torque * joint.equations.axis);
  apply_torque(at(joint.options.a, "bodies"), -(torque * joint.equations.axis));
  applied_force = true;
}

// Both act at b's point, so that the pair of forces has no torque.
void Multibody::Parts::drive_force(const PlacedJoint& joint, const Expression& force) {
  const auto act = [&](PlacedBody& body, const Vector& f) {
    if (body.number < 0) return;
    push(body, f);
    turn(body, cross(joint.equations.point_b - body.frame.x, f));
  };
  act(at(joint.options.b, "bodies"), force * joint.equations.axis);
  act(at(joint.options.a, "bodies"), -(force * joint.equations.axis));
  applied_force = true;
}

void Multibody::Parts::resist(const PlacedJoint& joint) {
  const JointOptions& o = joint.options;
  const JointEquations& e = joint.equations;
  if (!(o.damping >= 0) || !std::isfinite(o.damping))
    throw BodyError("damping", fmt::format("damping = {:g}; it is 0 or positive", o.damping));
  if (!(o.stiffness >= 0) || !std::isfinite(o.stiffness))
    throw BodyError("stiffness", fmt::format("stiffness = {:g}; it is 0 or positive", o.stiffness));
  if (o.damping > 0) {
    if (e.angle_rate) drive_torque(joint, -o.damping * *e.angle_rate);
    if (e.position_rate) drive_force(joint, -o.damping * *e.position_rate);
    if (o.kind == JointKind::spherical && dimension == 3) {
      PlacedBody &a = at(o.a, "bodies"), &b = at(o.b, "bodies");
      const Vector torque = o.damping * (b.frame.omega - a.frame.omega);
      apply_torque(b, -torque);
      apply_torque(a, torque);
      applied_force = true;
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
    const bool applied = applied_force;
    by_potential = true;
    if (e.angle) {
      drive_torque(joint, -o.stiffness * *e.angle);
      potential += 0.5 * o.stiffness * *e.angle * *e.angle;
    }
    if (e.position) {
      drive_force(joint, -o.stiffness * *e.position);
      potential += 0.5 * o.stiffness * *e.position * *e.position;
    }
    by_potential = false;
    applied_force = applied;
  }
}

void Multibody::motor(std::size_t number, const MotorOptions& o) {
  Parts& s = *parts_;
  if (number >= s.joints.size())
    throw BodyError("motor", fmt::format("there is no joint {}; there are {}", number, s.joints.size()));
  PlacedJoint& joint = s.joints[number];
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
  if (o.speed) {
    const bool turns = e.angle_rate.has_value();
    if (!turns && !e.position_rate)
      throw BodyError("motor", fmt::format("a {} joint neither turns nor slides, so that it has no speed; use a "
                                           "revolute or a prismatic joint",
                                           joint_name(joint.options.kind)));
    if (o.angle || o.torque || o.position || o.force)
      throw BodyError("motor", "a motor prescribes one thing: the speed, or something else");
    joint.motor_velocity_row = static_cast<int>(velocity_constraints_.size());
    joint.motor = Expression(1.0);
    joint.motor_turns = turns;
    constrain_velocity((turns ? *e.angle_rate : *e.position_rate) - *o.speed,
                       fmt::format("of joint '{}' (motor: speed)", joint.options.name));
    return;
  }
  if (o.angle) s.refuse_velocities(*o.angle, "motor");
  if (o.position) s.refuse_velocities(*o.position, "motor");
  const std::string& name = joint.options.name;
  const auto prescribe = [&](const Expression& g, const char* what, const Expression& slope) {
    joint.motor_row = static_cast<int>(constraints_.size());
    joint.motor = slope;
    constrain(g, fmt::format("of joint '{}' (motor: {})", name, what));
  };
  if (o.angle && s.dimension == 2) prescribe(*e.angle - *o.angle, "angle", 1.0);
  if (o.angle && s.dimension == 3) {
    // sin(angle - wanted), which has no jumps
    const Expression pose = atan2(e.sine, e.cosine), s1 = sin(pose), c1 = cos(pose), s2 = sin(*o.angle),
                     c2 = cos(*o.angle);
    prescribe(s1 * c2 - c1 * s2, "angle", c1 * c2 + s1 * s2);
  }
  if (o.position) prescribe(*e.position - *o.position, "position", 1.0);
  if (o.torque) s.drive_torque(joint, *o.torque);
  if (o.force) s.drive_force(joint, *o.force);
  if (o.torque || o.force) joint.motor = o.torque ? *o.torque : *o.force;
  joint.motor_turns = o.angle || o.torque;
}

namespace {

// The line between the two points of a spring.
struct SpringLine {
  PlacedBody &a, &b;
  Vector3d pa, pb, ra, rb;  // in space at the start, and from the centres of mass
  double length;            // at rest
  Vector d, rate;           // from a to b

  bool pulls_together(const SpringOptions& o) const { return length == 0 && !o.tension; }
  PlacedSpring measures(const SpringOptions& o) const {
    PlacedSpring spring{o.name, norm(d), 0.0, 0.0};
    const Expression along = dot(rate, d) / spring.length;
    spring.rate = pulls_together(o) ? choose(spring.length > 0.0, along, 0.0) : along;
    return spring;
  }
};

SpringLine line_of(auto& s, const SpringOptions& o) {
  PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a spring connects two bodies; here both are '{}'", o.a));
  if (a.number < 0 && b.number < 0)
    throw BodyError("bodies", fmt::format("neither '{}' nor '{}' moves; a spring needs a body that does", o.a, o.b));
  for (const auto& [field, x] : {std::pair{"stiffness", o.stiffness}, {"damping", o.damping}})
    if (!(x >= 0) || !std::isfinite(x)) throw BodyError(field, fmt::format("{} = {:g}; it is 0 or positive", field, x));
  if (o.tension && (o.stiffness != 0 || o.damping != 0 || o.length))
    throw BodyError("tension", "the tension says all; leave out stiffness, damping and length");
  if (!o.tension && o.stiffness == 0 && o.damping == 0)
    throw BodyError("stiffness", "a spring needs a stiffness, a damping, or a tension");
  for (const PlacedSpring& other : s.springs)
    if (!o.name.empty() && other.name == o.name && !other.announced)
      throw BodyError("name", fmt::format("there is a spring '{}' already; choose another name", o.name));
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
  if ((length != 0 || o.tension) && (pb - pa).norm() == 0)
    throw BodyError(
        "points",
        "the ends of the spring coincide, so that its force has no direction; give other points, or length = 0");
  const Vector3d ra = a.local_point(pa), rb = b.local_point(pb);
  return {a,
          b,
          pa,
          pb,
          ra,
          rb,
          length,
          b.frame.point(rb) - a.frame.point(ra),
          b.frame.point_velocity(rb) - a.frame.point_velocity(ra)};
}

}  // namespace

void Multibody::announce_spring(const SpringOptions& o) {
  PlacedSpring spring = line_of(*parts_, o).measures(o);
  for (const PlacedSpring& other : parts_->springs)
    if (other.name == o.name)
      throw BodyError("name", fmt::format("there is a spring '{}' already; choose another name", o.name));
  spring.announced = true;
  parts_->springs.push_back(spring);
}

// Along e from P_a to P_b at the distance d:  -(k (d - L) + c d') e on b
void Multibody::spring(const SpringOptions& o) {
  Parts& s = *parts_;
  const SpringLine line = line_of(s, o);
  const Vector& d = line.d;
  PlacedSpring spring = line.measures(o);
  Vector force{0.0, 0.0, 0.0}, damping{0.0, 0.0, 0.0};  // on b
  if (line.pulls_together(o)) {
    damping = -(o.damping * line.rate);
    force = -(o.stiffness * d) - o.damping * line.rate;  // also where the points coincide, and across the line
    spring.tension = o.stiffness * spring.length + o.damping * spring.rate;
    s.potential += 0.5 * o.stiffness * dot(d, d);
  } else {
    const Expression stretch = spring.length - line.length;
    spring.tension =
        o.tension ? o.tension(spring.length, spring.rate) : o.stiffness * stretch + o.damping * spring.rate;
    force = -(spring.tension / spring.length * d);
    damping = -(o.damping * spring.rate / spring.length * d);
    if (!o.tension) s.potential += 0.5 * o.stiffness * stretch * stretch;
  }
  std::erase_if(s.springs, [&](const PlacedSpring& other) { return other.announced && other.name == o.name; });
  s.springs.push_back(spring);
  s.by_potential = !o.tension;
  s.apply(line.b, line.rb, force);
  s.apply(line.a, line.ra, -force);
  s.by_potential = false;
  if (o.damping > 0) {
    s.has_no_potential(line.b, line.rb, damping);
    s.has_no_potential(line.a, line.ra, -damping);
  }
  s.links.push_back(
      {o.name, "spring", line.a.number, line.b.number, line.a.link_point(line.pa), line.b.link_point(line.pb)});
  if (o.damping > 0 || o.tension) s.applied_force = true;
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
  Vector push{0.0, 0.0, 0.0}, turn{0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < force.size(); ++k) push[k] = force[k];
  for (std::size_t k = 0; k < torque.size(); ++k) turn[d == 2 ? 2 : k] = torque[k];
  s.push(body, push);
  s.turn(body, turn);
  s.applied_force = s.applied_force || !is_zero(force) || !is_zero(torque);
}

}  // namespace hinge
