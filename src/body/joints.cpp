// Joints between body a and body b. Vectors fixed in a body are written with its letter; at the start the two frames
// (t1, t2, n) of a joint coincide, n along its axis.
//
//   spherical     P_b - P_a = 0
//   revolute      P_b - P_a = 0,  n_a.t1_b = 0,  n_a.t2_b = 0
//   universal     P_b - P_a = 0,  n_a.m_b = 0                               m: axis2, perpendicular to n
//   cylindrical   t1_a.(P_b - P_a) = 0,  t2_a.(P_b - P_a) = 0,  n_a.t1_b = 0,  n_a.t2_b = 0
//   prismatic     t1_a.(P_b - P_a) = 0,  t2_a.(P_b - P_a) = 0,  t1_a.t2_b = 0,  t2_a.n_b = 0,  n_a.t1_b = 0
//   fixed         P_b - P_a = 0,  t1_a.t2_b = 0,  t2_a.n_b = 0,  n_a.t1_b = 0
//   rod           (|P_b - P_a|^2/L - L)/2 = 0
//   planar        n_a.(P_b - P_a) = 0,  n_a.t1_b = 0,  n_a.t2_b = 0         n: the normal of the plane
//   point on line     t1_a.(P_b - P_a) = 0,  t2_a.(P_b - P_a) = 0           n: along the line
//   point on plane    n_a.(P_b - P_a) = 0
//   constant velocity P_b - P_a = 0,  t1_a.t2_b - t2_a.t1_b = 0             n_b: axis2 at the start, t_b goes with it
//   screw         as cylindrical,  n_a.(P_b - P_a) - pitch/(2 pi) angle = 0
//   gear          angle_2 - ratio angle_1 = 0                               between two joints
//   rack          position_2 - radius angle_1 = 0                           between two joints
//
// In the plane angles are coordinates: a revolute joint has the two rows of a point, a prismatic one t_a.(P_b - P_a)
// and the difference of angles, a point on a line the first of these.
//
// t1_a.t2_b - t2_a.t1_b is minus twice the sine of the relative rotation times what its axis has along n: shafts that
// bend without twist turn equally fast.
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "expression/suggest.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

const std::pair<JointKind, const char*> names[] = {{JointKind::spherical, "spherical"},
                                                   {JointKind::revolute, "revolute"},
                                                   {JointKind::prismatic, "prismatic"},
                                                   {JointKind::cylindrical, "cylindrical"},
                                                   {JointKind::universal, "universal"},
                                                   {JointKind::fixed, "fixed"},
                                                   {JointKind::rod, "rod"},
                                                   {JointKind::planar, "planar"},
                                                   {JointKind::point_on_line, "point-on-line"},
                                                   {JointKind::point_on_plane, "point-on-plane"},
                                                   {JointKind::constant_velocity, "constant-velocity"},
                                                   {JointKind::screw, "screw"},
                                                   {JointKind::gear, "gear"},
                                                   {JointKind::rack, "rack"},
                                                   {JointKind::rolling, "rolling"},
                                                   {JointKind::knife_edge, "knife-edge"}};

bool in_plane(JointKind kind) {
  for (const JointKind k : {JointKind::cylindrical, JointKind::universal, JointKind::planar, JointKind::point_on_plane,
                            JointKind::constant_velocity, JointKind::screw})
    if (k == kind) return false;
  return true;
}

Vector3d unit(const Vector3d& v, const char* field, bool plane = false) {
  const double length = v.norm();
  if (!(length > 0) || !std::isfinite(length))
    throw BodyError(field, fmt::format("'{}' has no direction; give a vector that is not zero, as {}", field,
                                       plane ? "[1, 0]" : "[0, 0, 1]"));
  return v / length;
}

// Two unit vectors that make a right-handed frame with n.
std::pair<Vector3d, Vector3d> across(const Vector3d& n) {
  Eigen::Index least = 0;
  n.cwiseAbs().minCoeff(&least);
  const Vector3d t1 = Vector3d::Unit(least).cross(n).normalized();
  return {t1, n.cross(t1)};
}

}  // namespace

const char* joint_name(JointKind kind) {
  for (const auto& [k, name] : names)
    if (k == kind) return name;
  return "";
}

Vector3d start_point(const std::optional<Vector3d>& first, const std::optional<Vector3d>& second, const PlacedBody& own,
                     const PlacedBody& other, const char* what) {
  if (first) return *first;
  if (second) return *second;
  if (own.options.name != "ground") return own.x;
  if (other.options.name != "ground") return other.x;
  throw BodyError("point", fmt::format("this {} needs a point", what));
}

JointEquations joint_equations(const JointOptions& o, const PlacedBody& a, const PlacedBody& b, int dimension) {
  JointEquations out;
  const bool plane = dimension == 2, rod = o.kind == JointKind::rod;
  if (plane && !in_plane(o.kind))
    throw BodyError("type", fmt::format("there are no {} joints in the plane; use revolute, prismatic, fixed, rod, "
                                        "point-on-line, gear or rack",
                                        joint_name(o.kind)));
  // A joint sits in b's centre of mass where nothing is said; a rod between the centres of mass.
  const Vector3d pa = o.point ? *o.point : rod ? start_point({}, {}, a, b, "rod") : start_point({}, {}, b, a, "joint");
  const Vector3d pb = o.point_b ? *o.point_b : rod ? start_point({}, {}, b, a, "rod") : pa;
  for (const double x : {pa.sum(), pb.sum(), o.axis.sum()})
    if (!std::isfinite(x)) throw BodyError("point", "a point or the axis of a joint is not finite");
  if (plane && (pa(2) != 0 || pb(2) != 0)) throw BodyError("point", "points of the plane have two coordinates");
  out.start_a = pa;
  out.start_b = pb;
  out.point_a = a.frame.point(a.local_point(pa));
  out.point_b = b.frame.point(b.local_point(pb));
  const Vector d = out.point_b - out.point_a;
  const auto row = [&](const Expression& g, const char* what) { out.rows.push_back({g, what}); };
  if (rod) {
    const double length = o.length ? *o.length : (pb - pa).norm();
    if (!(length > 0) || !std::isfinite(length))
      throw BodyError(o.length ? "length" : "point",
                      fmt::format("the rod has length {:g}; give two different points (or length = 0.5), or use a "
                                  "{} joint",
                                  length, plane ? "revolute" : "spherical"));
    row((dot(d, d) / length - length) / 2.0, "length");
    return out;
  }

  const bool along = o.kind == JointKind::prismatic || o.kind == JointKind::point_on_line;
  const Vector3d n = plane && !along ? Vector3d::UnitZ() : unit(o.axis, "axis", plane);
  if (plane && along && n(2) != 0)
    throw BodyError("axis", fmt::format("the axis of a {} joint in the plane has two components, as in [1, 0]",
                                        joint_name(o.kind)));
  auto [t1, t2] = across(n);
  if (plane && along) t1 = Vector3d(-n(1), n(0), 0), t2 = Vector3d::UnitZ();
  const auto in_a = [&](const Vector3d& v) { return a.frame.direction(a.local_direction(v)); };
  const auto in_b = [&](const Vector3d& v) { return b.frame.direction(b.local_direction(v)); };
  const Vector na = in_a(n), t1a = in_a(t1), t2a = in_a(t2), t1b = in_b(t1), t2b = in_b(t2);
  out.axis = na;
  const auto same_point = [&] {
    static const char* const what[] = {"point, x", "point, y", "point, z"};
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) row(d[k], what[k]);
  };
  const auto on_axis = [&] {
    row(dot(t1a, d), "off the axis");
    if (!plane) row(dot(t2a, d), "off the axis, across");
  };
  const auto parallel = [&] {
    row(dot(na, t1b), "tilt of the axis");
    row(dot(na, t2b), "tilt of the axis, across");
  };
  const Expression plane_angle = plane ? turned(b) - turned(a) : Expression(0.0);
  const auto same_rotation = [&] {
    if (plane) return row(plane_angle, "rotation");
    row(dot(t1a, t2b), "rotation about the axis");
    row(dot(t2a, in_b(n)), "rotation across the axis");
    row(dot(na, t1b), "rotation across the axis");
  };
  switch (o.kind) {
    case JointKind::spherical: same_point(); break;
    case JointKind::revolute:
      same_point();
      if (!plane) parallel();
      break;
    case JointKind::universal: {
      if (!o.axis2)
        throw BodyError("axis2",
                        "a universal joint needs 'axis2', the axis on the second body, perpendicular to 'axis'");
      const Vector3d m = unit(*o.axis2, "axis2");
      if (std::abs(m.dot(n)) > 1e-9)
        throw BodyError("axis2", fmt::format("the two axes of a universal joint are perpendicular; here the cosine of "
                                             "the angle between them is {:.3g}",
                                             m.dot(n)));
      same_point();
      out.axis2 = in_b(m);
      row(dot(na, out.axis2), "angle of the axes");
      break;
    }
    case JointKind::cylindrical:
      on_axis();
      parallel();
      break;
    case JointKind::prismatic:
      on_axis();
      same_rotation();
      break;
    case JointKind::fixed:
      same_point();
      same_rotation();
      break;
    case JointKind::planar:
      row(dot(na, d), "off the plane");
      parallel();
      break;
    case JointKind::point_on_line: on_axis(); break;
    case JointKind::point_on_plane: row(dot(na, d), "off the plane"); break;
    case JointKind::constant_velocity: {
      same_point();
      const Vector3d m = o.axis2 ? unit(*o.axis2, "axis2") : n;
      if (m.dot(n) < -0.9)
        throw BodyError(
            "axis2", "the two shafts point against each other; give both directions from the first body to the second");
      const Eigen::Quaterniond bend = Eigen::Quaterniond::FromTwoVectors(n, m);
      row(dot(t1a, in_b(bend * t2)) - dot(t2a, in_b(bend * t1)), "twist");
      break;
    }
    case JointKind::screw:
      on_axis();
      parallel();
      break;
    case JointKind::rod:
    case JointKind::gear:
    case JointKind::rack: break;
    case JointKind::rolling:
    case JointKind::knife_edge:
      throw BodyError("type", fmt::format("a {0} joint is made by {1}()", joint_name(o.kind),
                                          o.kind == JointKind::rolling ? "rolling" : "knife_edge"));
  }
  if (o.kind == JointKind::revolute || o.kind == JointKind::screw || o.kind == JointKind::planar ||
      o.kind == JointKind::cylindrical || (plane && o.kind == JointKind::spherical)) {
    out.sine = dot(t1b, t2a);
    out.cosine = dot(t1b, t1a);
    out.angle = plane ? plane_angle : atan2(out.sine, out.cosine);
    out.angle_rate = dot(na, b.frame.omega - a.frame.omega);
  }
  if (along || o.kind == JointKind::cylindrical || o.kind == JointKind::screw) {
    out.position = dot(na, d);
    // d/dt (n_a.d) = n_a.(P_b' - P_a') + (omega_a x n_a).d
    out.position_rate = dot(na, b.frame.point_velocity(b.local_point(pb)) - a.frame.point_velocity(a.local_point(pa))) +
                        dot(cross(a.frame.omega, na), d);
  }
  return out;
}

JointEquations coupling_equations(const JointOptions& o, const PlacedJoint& first, const PlacedJoint& second) {
  const bool gear = o.kind == JointKind::gear;
  const auto need = [](const PlacedJoint& joint, const std::optional<Expression>& q, const char* what) {
    if (q) return *q;
    throw BodyError("joints", fmt::format("joint '{}' is {} and has no {}; a gear needs two that turn, a rack one that "
                                          "turns and one that slides, in this order",
                                          joint.options.name, joint_name(joint.options.kind), what));
  };
  const Expression q1 = need(first, first.equations.angle, "angle");
  const Expression q2 =
      gear ? need(second, second.equations.angle, "angle") : need(second, second.equations.position, "position");
  const double factor = gear ? o.ratio : o.radius;
  if (!std::isfinite(factor) || factor == 0)
    throw BodyError(gear ? "ratio" : "radius",
                    fmt::format("{} = {:g}; {}", gear ? "ratio" : "radius", factor,
                                gear ? "give the turns of the second joint for one of the first, negative where they "
                                       "turn against each other"
                                     : "give the radius of the pinion, negative where the rack goes the other way"));
  JointEquations out;
  out.rows.push_back({q2 - factor * q1, gear ? "angles" : "angle and position"});
  out.axis = second.equations.axis;
  out.point_a = second.equations.point_a;
  out.point_b = second.equations.point_b;
  out.start_a = first.equations.start_b;
  out.start_b = second.equations.start_b;
  return out;
}

}  // namespace hinge
