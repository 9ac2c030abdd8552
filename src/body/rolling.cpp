// What rolls without slipping on a plane, and what moves along a blade. The plane, its normal n and the directions t1,
// t2 in it are fixed in body a; the centre C, the axis u of a wheel and the direction e of a blade in body b.
//
//   sphere   arm = -R n                            n.(C - P) - R = 0
//   wheel    arm = -R (n - c u)/s                  n.(C - P) - R s = 0         c = n.u,  s = sqrt(1 - c^2)
//   both     X = C + arm, the point that touches;  t_k.(v_b(X) - v_a(X)) = 0   v(X): of the body's matter at X
//   blade    m = n x e/|n x e|                     m.(v_b(P) - v_a(P)) = 0
//
// The multipliers of all these rows are forces, along -n, -t_k and -m on b. In the plane rolling is a position
// constraint as well, t.(C - P) + R (angle_b - angle_a) = what it is at the start, where t is n turned clockwise.
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "hinge/error.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

Vector3d direction_of(const Vector3d& v, const char* field, const char* example = "[0, 0, 1]") {
  const double length = v.norm();
  if (!(length > 0) || !std::isfinite(length))
    throw BodyError(field, fmt::format("'{}' has no direction; give a vector that is not zero, as {}", field, example));
  return v / length;
}

void refuse_not_finite(const std::optional<Vector3d>& p, const char* field) {
  if (p && !p->allFinite()) throw BodyError(field, fmt::format("'{}' is not finite", field));
}

// Of the matter of a body at a point of space.
Vector velocity_at(const PlacedBody& body, const Vector& point) {
  return body.frame.x_rate + cross(body.frame.omega, point - body.frame.x);
}

}  // namespace

PlacedJoint Multibody::Parts::begin_rolling(JointKind kind, std::string name, const std::string& a_name,
                                            const std::string& b_name, bool collide) {
  PlacedBody &a = at(a_name, "bodies"), &b = at(b_name, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a joint connects two bodies; here both are '{}'", a_name));
  if (b.number < 0)
    throw BodyError("bodies", fmt::format("'{}', the second body, is the one that {}, and it does not move; the plane "
                                          "belongs to the first body",
                                          b_name, kind == JointKind::rolling ? "rolls" : "has the blade"));
  for (const PlacedJoint& j : joints)
    if (j.options.name == name && !name.empty())
      throw BodyError("name", fmt::format("there is a joint '{}' already; choose another name", name));
  PlacedJoint joint{};
  joint.named = !name.empty();
  if (name.empty()) name = fmt::format("{} {}-{}", joint_name(kind), a_name, b_name);
  joint.options.kind = kind;
  joint.options.name = std::move(name);
  joint.options.a = a_name;
  joint.options.b = b_name;
  joint.options.collide = collide;
  return joint;
}

void Multibody::Parts::end_rolling(PlacedJoint joint, const Vector3d& start_a, const Vector3d& start_b,
                                   const Vector3d& axis) {
  const PlacedBody &a = at(joint.options.a, "bodies"), &b = at(joint.options.b, "bodies");
  JointEquations& e = joint.equations;
  e.start_a = start_a;
  e.start_b = start_b;
  e.point_a = a.frame.point(a.local_point(start_a));
  e.point_b = b.frame.point(b.local_point(start_b));
  links.push_back({joint.options.name, joint_name(joint.options.kind), a.number, b.number, a.link_point(start_a),
                   b.link_point(start_b), b.link_direction(axis)});
  joints.push_back(std::move(joint));
}

void Multibody::rolling(const RollingOptions& o) {
  Parts& s = *parts_;
  const bool plane = s.dimension == 2;
  PlacedJoint joint = s.begin_rolling(JointKind::rolling, o.name, o.a, o.b, o.collide);
  const PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (!(o.radius > 0) || !std::isfinite(o.radius))
    throw BodyError("radius", fmt::format("the radius is {:g}; it is a positive length, as in radius = 0.3", o.radius));
  for (const auto& [p, field] : {std::pair{o.point, "point"}, {o.center, "points"}}) refuse_not_finite(p, field);
  if (plane && o.axis) throw BodyError("axis", "what rolls in the plane is a disk, whose axis is known; leave it out");
  const Vector3d n = direction_of(o.normal.value_or(plane ? Vector3d::UnitY() : Vector3d::UnitZ()), "normal",
                                  plane ? "[0, 1]" : "[0, 0, 1]");
  const Vector3d center = o.center.value_or(b.x);
  Vector3d down = n;  // from where it touches to the centre, at the start
  Vector3d u = Vector3d::Zero();
  if (o.axis) {
    u = direction_of(*o.axis, "axis");
    if (std::abs(n.dot(u)) > 1 - 1e-9)
      throw BodyError("axis",
                      "the axis of the wheel is normal to the plane: the wheel lies flat on it and touches it "
                      "everywhere; start with another axis");
    down = (n - n.dot(u) * u).normalized();
  }
  const Vector3d touch = center - o.radius * down, from = o.point.value_or(touch);
  const auto in_a = [&](const Vector3d& v) { return a.frame.direction(a.local_direction(v)); };
  const auto say = [&](const char* what) {
    return fmt::format("of joint '{}' ({} - {}: {})", joint.options.name, o.a, o.b, what);
  };
  const Vector na = in_a(n), C = b.frame.point(b.local_point(center)), P = a.frame.point(a.local_point(from));
  if (plane) {
    const Vector3d t(n(1), -n(0), 0);
    const int row = static_cast<int>(constraints_.size());
    joint.contact = RollingRows{{{row, na}, {row + 1, in_a(t)}}, {}, -o.radius * na};
    constrain(dot(na, C - P) - o.radius, say("off the line"));
    constrain(dot(in_a(t), C - P) + o.radius * (turned(b) - turned(a)) - t.dot(center - from), say("slip"));
    return s.end_rolling(std::move(joint), from, center, Vector3d::UnitZ());
  }
  const Vector3d t1 = o.axis ? u.cross(n).normalized() : Vector3d(n.unitOrthogonal()), t2 = n.cross(t1);
  Vector arm = -o.radius * na;
  Expression height = o.radius;
  if (o.axis) {
    const Vector ub = b.frame.direction(b.local_direction(u));
    const Expression c = dot(na, ub), sine = sqrt(1.0 - c * c);
    arm = (-o.radius / sine) * (na - c * ub);
    height = o.radius * sine;
  }
  const Vector X = C + arm, slip = velocity_at(b, X) - velocity_at(a, X);
  const int row = static_cast<int>(constraints_.size()), slip_row = static_cast<int>(velocity_constraints_.size());
  joint.contact = RollingRows{{{row, na}}, {{slip_row, in_a(t1)}, {slip_row + 1, in_a(t2)}}, arm};
  constrain(dot(na, C - P) - height, say("off the plane"));
  constrain_velocity(dot(in_a(t1), slip), say("slip"));
  constrain_velocity(dot(in_a(t2), slip), say("slip, across"));
  s.end_rolling(std::move(joint), from, center, u);
}

void Multibody::knife_edge(const KnifeEdgeOptions& o) {
  Parts& s = *parts_;
  const bool plane = s.dimension == 2;
  PlacedJoint joint = s.begin_rolling(JointKind::knife_edge, o.name, o.a, o.b, o.collide);
  const PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  refuse_not_finite(o.point, "point");
  if (plane && o.normal) throw BodyError("normal", "a blade in the plane moves in that plane; leave the normal out");
  const Vector3d n = direction_of(o.normal.value_or(Vector3d::UnitZ()), "normal"),
                 e = direction_of(o.axis, "axis", plane ? "[1, 0]" : "[1, 0, 0]");
  if (plane && e(2) != 0) throw BodyError("axis", "the axis of a blade in the plane has two components, as in [1, 0]");
  if (!(n.cross(e).norm() > 1e-9))
    throw BodyError("axis",
                    "the blade points along the normal of the plane; it has to lie along it, as in axis = "
                    "[1, 0, 0] with normal = [0, 0, 1]");
  const Vector3d at = o.point.value_or(b.x);
  const Vector eb = b.frame.direction(b.local_direction(e)), na = a.frame.direction(a.local_direction(n));
  const Vector P = b.frame.point(b.local_point(at)), across = cross(na, eb);
  const Vector velocity = velocity_at(b, P) - velocity_at(a, P);
  // in the plane n x e has length one; in space it has while the blade lies along the plane
  const Expression slip = plane ? dot(across, velocity) : dot(across, velocity) / norm(across);
  joint.contact =
      RollingRows{{},
                  {{static_cast<int>(velocity_constraints_.size()), plane ? across : (1.0 / norm(across)) * across}},
                  {0.0, 0.0, 0.0}};
  constrain_velocity(slip, fmt::format("of joint '{}' ({} - {}: across the blade)", joint.options.name, o.a, o.b));
  s.end_rolling(std::move(joint), at, at, e);
}

}  // namespace hinge
