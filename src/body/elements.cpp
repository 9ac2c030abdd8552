// Constraints of one's own, bushings, and forces at points.
//
// A bushing has the displacement d = P_b - P_a and the rotation vector theta of b against a, along axes of a:
//
//   x = (d, theta),   V = x.K x/2,   R = x'.D x'/2
//
// and what acts on a body follows from V and R, so that its energy is kept, or lost, to the last digit. The rotation
// vector is 2 atan2(|v|, w)/|v| v of the relative quaternion (w, v), which goes on where it passes half a turn, since
// quaternions do. At a full turn it has no direction: near there the run stops.
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_parts.hpp"
#include "expression/derivative.hpp"
#include "expression/graph.hpp"
#include "expression/table.hpp"
#include "expression/time_rate.hpp"
#include "hinge/error.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

using Eigen::Vector3d;

void Multibody::Parts::refuse_velocities(const Expression& g, const char* field) const {
  if (!g.graph()) return;
  std::vector<Node> velocities;
  for (const Expression& v : z) velocities.push_back(v.node_in(*g.graph()));
  if (dependence(*g.graph(), velocities)[static_cast<std::size_t>(g.node_in(*g.graph()))])
    throw BodyError(field,
                    "this contains a velocity, and prescribes positions, as a function of t and of what is where; "
                    "velocities are prescribed by a motor = { speed = ... }, and by rolling and knife-edge joints");
}

void Multibody::constraint(const std::string& name, const Expression& g) {
  parts_->refuse_velocities(g, "equation");
  for (const NamedRows& other : parts_->named_rows)
    if (!name.empty() && other.name == name)
      throw BodyError("name", fmt::format("there is a constraint '{}' already; choose another name", name));
  if (!name.empty()) parts_->named_rows.push_back({name, static_cast<int>(constraints_.size())});
  constrain(g, name.empty() ? "" : fmt::format("'{}'", name));
}

void Multibody::point_force(const PointForceOptions& o) {
  Parts& s = *parts_;
  PlacedBody& body = s.bodies[s.find(o.body, "body")];
  if (body.number < 0) throw BodyError("body", fmt::format("'{}' is fixed; a force cannot move it", o.body));
  PlacedBody& other = s.at(o.against, "against");
  if (&other == &body) throw BodyError("against", fmt::format("the reaction acts on another body than '{}'", o.body));
  const auto d = static_cast<std::size_t>(s.dimension);
  const std::size_t turns = d == 2 ? 1 : 3;
  if (o.force.size() == 0 && o.torque.size() == 0) throw BodyError("force", "give a force, a torque, or both");
  if (o.force.size() != 0 && o.force.size() != d)
    throw BodyError("force", fmt::format("a force has {} components; this has {}", d, o.force.size()));
  if (o.torque.size() != 0 && o.torque.size() != turns)
    throw BodyError("torque", fmt::format("a torque has {} component{}; this has {}", turns, turns == 1 ? "" : "s",
                                          o.torque.size()));
  const Vector3d at = o.point ? *o.point : body.x;
  if (!at.allFinite() || (d == 2 && at(2) != 0)) throw BodyError("point", "the point of the force is not a place here");
  const auto in_space = [&](const Vector& v) {
    if (!o.body_axes) return v;
    Vector sum{0.0, 0.0, 0.0};
    for (std::size_t k = 0; k < 3; ++k)
      sum = sum + v[k] * body.frame.direction(body.principal.transpose() * Vector3d::Unit(static_cast<int>(k)));
    return sum;
  };
  Vector force = o.force.size() ? o.force : Vector{0.0, 0.0, 0.0};
  if (force.size() == 2) force.push_back(0.0);
  const Vector torque = o.torque.size() == 3   ? o.torque
                        : o.torque.size() == 1 ? Vector{0.0, 0.0, o.torque[0]}
                                               : Vector{0.0, 0.0, 0.0};
  const Vector f = in_space(force), m = in_space(torque), point = body.frame.point(body.local_point(at));
  const auto wrench = [&](const PlacedBody& on) { return Wrench{f, m + cross(point - on.frame.x, f)}; };
  s.apply(body, wrench(body));
  const Wrench back = wrench(other);
  s.apply(other, {-back.force, -back.torque});
  s.applied_force = s.applied_force || !is_zero(force) || !is_zero(torque);
}

namespace {

// (w, v) of the rotation of b's frame against a's, both q0 at the start
Vector relative_quaternion(const PlacedBody& a, const PlacedBody& b, const Eigen::Quaterniond& axes) {
  const auto constant = [](const Eigen::Quaterniond& q) { return Vector{q.w(), q.x(), q.y(), q.z()}; };
  const auto times = [](const Vector& p, const Vector& q) {
    return Vector{
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
  };
  const auto of = [&](const PlacedBody& body) {
    if (body.number < 0) return constant(axes);
    return times(body.y_rotation, constant(body.q.conjugate() * axes));
  };
  const Vector qa = of(a), qb = of(b);
  return times({qa[0], -qa[1], -qa[2], -qa[3]}, qb);
}

void check_matrix(const Eigen::MatrixXd& m, int size, const char* field) {
  if (m.size() == 0) return;
  if (m.rows() != size || m.cols() != size)
    throw BodyError(field,
                    fmt::format("the {} is {} x {}; it has {} rows and columns", field, m.rows(), m.cols(), size));
  if (!m.allFinite()) throw BodyError(field, fmt::format("the {} is not finite", field));
  if (!m.isApprox(m.transpose(), 1e-9))
    throw BodyError(field,
                    fmt::format("the {} is not symmetric, so that it has no energy; write its symmetric part, and "
                                "the rest as a [[force]]",
                                field));
  const Eigen::VectorXd values = eigenvalues(m).real();
  if (values.minCoeff() < -1e-9 * std::max(values.cwiseAbs().maxCoeff(), 1e-300))
    throw BodyError(field,
                    fmt::format("the {} has the negative eigenvalue {:g}: it pushes away in some direction; make "
                                "it positive, or zero, in all of them",
                                field, values.minCoeff()));
}

// The angle as it is, and no number near a full turn; the name says why where a run ends for it.
Expression below_a_turn(const std::string& bushing, const Expression& angle) {
  const double ends[] = {-1, 6.2};
  const auto table = Table::through(
      fmt::format("the two bodies of bushing '{}' have turned against each other by 355 degrees: at a full turn its "
                  "rotation vector has no direction. Use a joint with stiffness, whose turns are counted, in the place "
                  "of its rotation",
                  bushing),
      ends, ends, Interpolation::linear, Beyond::error);
  const auto& graph = angle.graph();
  return {graph, graph->table(table, angle.node_in(*graph))};
}

bool turns_matter(const Eigen::MatrixXd& m) {
  return m.size() > 0 && (m.rightCols(3).cwiseAbs().maxCoeff() > 0 || m.bottomRows(3).cwiseAbs().maxCoeff() > 0);
}

Expression quadratic(const Eigen::MatrixXd& m, const Vector& x) {
  Expression sum = 0.0;
  for (int i = 0; i < m.rows(); ++i)
    for (int k = 0; k < m.cols(); ++k)
      if (m(i, k) != 0) sum += 0.5 * m(i, k) * x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(k)];
  return sum;
}

}  // namespace

void Multibody::bushing(const BushingOptions& o) {
  Parts& s = *parts_;
  PlacedBody &a = s.at(o.a, "bodies"), &b = s.at(o.b, "bodies");
  if (&a == &b) throw BodyError("bodies", fmt::format("a bushing connects two bodies; here both are '{}'", o.a));
  if (a.number < 0 && b.number < 0)
    throw BodyError("bodies", fmt::format("neither '{}' nor '{}' moves; a bushing needs a body that does", o.a, o.b));
  for (const PlacedBushing& other : s.bushings)
    if (other.name == o.name)
      throw BodyError("name", fmt::format("there is a bushing '{}' already; choose another name", o.name));
  for (const PlacedJoint& joint : s.joints)
    if (joint.named && joint.options.name == o.name)
      throw BodyError("name", fmt::format("there is a joint '{}' already; choose another name", o.name));
  const bool plane = s.dimension == 2;
  check_matrix(o.stiffness, plane ? 3 : 6, "stiffness");
  check_matrix(o.damping, plane ? 3 : 6, "damping");
  if (o.stiffness.size() == 0 && o.damping.size() == 0)
    throw BodyError("stiffness", "a bushing needs a stiffness, or a damping");
  const Vector3d at = start_point(o.point, {}, b, a, "bushing");
  if (!at.allFinite()) throw BodyError("point", "the point of the bushing is not finite");
  const Vector d = b.frame.point(b.local_point(at)) - a.frame.point(a.local_point(at));
  Vector x;
  for (int k = 0; k < s.dimension; ++k)
    x.push_back(dot(d, a.frame.direction(a.local_direction(o.axes * Vector3d::Unit(k)))));
  if (plane) {
    x.push_back(turned(b) - turned(a));
  } else if (turns_matter(o.stiffness) || turns_matter(o.damping)) {
    const Vector q = relative_quaternion(a, b, o.axes);
    // where theta is small the factor is 2/w (1 - (|v|/w)^2/3)
    const Expression square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3], small = square < 1e-12,
                     v = sqrt(choose(small, 1.0, square)), ratio = square / (q[0] * q[0]),
                     near = 2.0 / q[0] * (1.0 - ratio / 3.0),
                     factor = choose(small, near,
                                     below_a_turn(o.name.empty() ? o.a + "-" + o.b : o.name, 2.0 * atan2(v, q[0])) / v);
    for (std::size_t k = 1; k < 4; ++k) x.push_back(factor * q[k]);
  } else {
    for (int k = 0; k < 3; ++k) x.push_back(0.0);
  }
  const PlacedBody& on = b.number >= 0 ? b : a;
  Wrench sum{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  const auto act = [&](PlacedBody& body, const Wrench& w) {
    s.apply(body, w);
    if (&body == &on) sum = {sum.force + w.force, sum.torque + w.torque};
  };
  if (o.stiffness.size() > 0) {
    const Expression potential = quadratic(o.stiffness, x);
    s.potential += potential;
    s.by_potential = true;
    for (PlacedBody* body : {&a, &b}) act(*body, wrench_of(potential, *body, plane));
    s.by_potential = false;
  }
  if (o.damping.size() > 0) {
    std::vector<Node> y, v;
    for (const PlacedBody* body : {&a, &b}) {
      if (body->number < 0) continue;
      const Vector turn = plane ? body->z_spin : quaternion_rate(body->y_rotation, body->z_spin);
      for (std::size_t k = 0; k < (plane ? 2u : 3u); ++k) {
        y.push_back(body->frame.x[k].node_in(*graph_));
        v.push_back(body->frame.x_rate[k].node_in(*graph_));
      }
      for (std::size_t k = 0; k < turn.size(); ++k) {
        y.push_back(body->y_rotation[k].node_in(*graph_));
        v.push_back(turn[k].node_in(*graph_));
      }
    }
    TimeRate rate(*graph_, t_.node_in(*graph_), y, v, {});
    Vector x_rate;
    for (const Expression& e : x) x_rate.push_back({graph_, rate(e.node_in(*graph_))});
    const Expression dissipation = quadratic(o.damping, x_rate);
    for (PlacedBody* body : {&a, &b}) act(*body, drag_of(dissipation, *body, plane));
    s.applied_force = true;
  }
  if (!o.name.empty()) {
    const Vector torque = sum.torque - cross(b.frame.point(b.local_point(at)) - on.frame.x, sum.force);
    s.bushings.push_back(&on == &b ? PlacedBushing{o.name, sum.force, torque}
                                   : PlacedBushing{o.name, -sum.force, -torque});
  }
  s.links.push_back({o.name, "bushing", a.number, b.number, a.link_point(at), b.link_point(at)});
}

}  // namespace hinge
