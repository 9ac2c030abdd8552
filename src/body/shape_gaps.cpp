#include "body/shape_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "body/frame.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

constexpr std::size_t most_gaps = 200;

struct Ball {
  Vector3d centre;  // in the frame of the body
  double radius;
  std::string name;
};

std::vector<Ball> balls_of(const Collider& c, int dimension) {
  const auto place = [&](const Vector3d& p) { return Vector3d(c.position + c.rotation * p); };
  std::vector<Ball> balls;
  const auto corner = [&](const Vector3d& p) {
    balls.push_back({place(p), 0, fmt::format("{}, corner {}", c.name, balls.size())});
  };
  switch (c.shape.kind) {
    case Shape::Kind::sphere: return {{c.position, c.shape.radius, c.name}};
    case Shape::Kind::capsule: {
      const Vector3d half = c.shape.length / 2 * (dimension == 2 ? Vector3d::UnitY() : Vector3d::UnitZ());
      return {{place(half), c.shape.radius, c.name + ", cap 0"}, {place(-half), c.shape.radius, c.name + ", cap 1"}};
    }
    case Shape::Kind::box:
      for (const double z : {-0.5, 0.5})
        for (const double y : {-0.5, 0.5})
          for (const double x : {-0.5, 0.5})
            if (dimension == 3 || z > 0)
              corner({x * c.shape.size.x(), y * c.shape.size.y(), dimension == 3 ? z * c.shape.size.z() : 0});
      return balls;
    case Shape::Kind::mesh:
      for (const Vector3d& v : c.shape.vertices) corner(v);
      return balls;
    case Shape::Kind::cylinder:
    case Shape::Kind::plane: break;
  }
  return {};
}

class Gaps {
 public:
  Gaps(const SymbolicSystem& system, const BodyTable& table, const char* method)
      : table_(table), eq_(system.equations()), method_(method), graph_(std::make_shared<Graph>(*eq_.graph)) {
    const auto numbers = [&](const std::vector<Node>& from, int first, int count) {
      Vector v;
      for (int k = first; k < first + count; ++k) v.push_back(Expression(graph_, from[at(k)]));
      return v;
    };
    for (const BodyPlace& p : table.places) {
      const int d = table.dimension;
      Vector x = numbers(eq_.y, p.x, d), v = numbers(eq_.z, p.v, d);
      if (d == 2)
        frames_.push_back(plane_frame(x, numbers(eq_.y, p.rotation, 1)[0], v, numbers(eq_.z, p.spin, 1)[0]));
      else
        frames_.push_back(space_frame(x, numbers(eq_.y, p.rotation, 4), v, numbers(eq_.z, p.spin, 3)));
    }
  }

  void add_pair(const Collider& a, const Collider& b) {
    if (b.shape.kind == Shape::Kind::plane && a.shape.kind != Shape::Kind::plane) return add_on_plane(a, b);
    if (a.shape.kind == Shape::Kind::plane && b.shape.kind != Shape::Kind::plane) return add_on_plane(b, a);
    if (a.shape.kind != Shape::Kind::sphere || b.shape.kind != Shape::Kind::sphere) refuse(a, b);
    const Frame fa = frame_of(a), fb = frame_of(b);
    const Vector d = fa.point(a.position) - fb.point(b.position);
    const Expression distance = norm(d);
    const Vector n = (1.0 / distance) * d;
    // velocities of the points where they touch
    const Vector va = fa.point_velocity(a.position) - a.shape.radius * cross(fa.omega, n),
                 vb = fb.point_velocity(b.position) + b.shape.radius * cross(fb.omega, n);
    add(a, b, fmt::format("{} - {}", a.name, b.name), distance - (a.shape.radius + b.shape.radius), n, va - vb);
    // the line between the centres turns with what they move across it, and is no shorter than the radii
    const Expression rolls_a = speed_about(fa, a.position), rolls_b = speed_about(fb, b.position);
    const Expression speed = norm(fa.x_rate - fb.x_rate) + rolls_a + rolls_b;
    bound(speed, (1 / (a.shape.radius + b.shape.radius)) * speed + turning(fa, a.position) + turning(fb, b.position));
  }

  void add_stop(const JointContact& c) {
    Equations::Gap g;
    g.gap = c.gap_node;
    g.restitution = c.restitution;
    g.name = c.name;
    list_.push_back(std::move(g));
  }

  Equations equations() {
    if (list_.size() > most_gaps)
      throw UnsuitableMethod(
          fmt::format("{} follows each contact by itself, up to {} of them, and these shapes have "
                      "{}; use moreau-jean",
                      method_, most_gaps, list_.size()));
    Equations eq = eq_;
    eq.graph = graph_;
    eq.source = nullptr;
    eq.gaps = list_;
    return eq;
  }

 private:
  [[noreturn]] void refuse(const Collider& a, const Collider& b) const {
    throw UnsuitableMethod(fmt::format(
        "{} follows spheres, capsules and the corners of boxes and meshes on planes, and spheres on spheres; {} and {} "
        "may touch otherwise; use moreau-jean, or collide = false for bodies that need not touch",
        method_, a.name, b.name));
  }

  Frame frame_of(const Collider& c) const {
    return c.body < 0 ? resting_frame(Vector3d::Zero(), Eigen::Quaterniond::Identity()) : frames_[at(c.body)];
  }

  void add_on_plane(const Collider& a, const Collider& plane) {
    if (a.shape.kind == Shape::Kind::cylinder || plane.body >= 0) refuse(a, plane);
    const Vector3d n = (plane.rotation * plane.shape.normal).normalized();
    const Frame frame = frame_of(a);
    for (const Ball& ball : balls_of(a, table_.dimension)) {
      const Vector centre = frame.point(ball.centre);
      const Expression gap = dot(constants(n), centre) - (n.dot(plane.position) + ball.radius);
      const Vector v = frame.point_velocity(ball.centre) - ball.radius * cross(frame.omega, constants(n));
      add(a, plane, fmt::format("{} - {}", ball.name, plane.name), gap, constants(n), v);
      bound(norm(frame.x_rate) + speed_about(frame, ball.centre), turning(frame, ball.centre));
    }
  }

  // Of a point of a body about its centre of mass, and how quickly the way to it turns
  static Expression speed_about(const Frame& frame, const Vector3d& point) {
    return point.norm() > 0 ? point.norm() * norm(frame.omega) : Expression(0.0);
  }
  static Expression turning(const Frame& frame, const Vector3d& point) {
    return point.norm() > 0 ? norm(frame.omega) : Expression(0.0);
  }

  // Of the gap that was added last
  void bound(const Expression& speed, const Expression& turn) {
    list_.back().speed = speed.node_in(*graph_);
    list_.back().turn = turn.node_in(*graph_);
  }

  // `v`: of a's point against b's
  void add(const Collider& a, const Collider& b, std::string name, const Expression& gap, const Vector& n,
           const Vector& v) {
    Equations::Gap g;
    g.gap = gap.node_in(*graph_);
    g.friction = std::sqrt(a.friction * b.friction);
    g.restitution = std::max(a.restitution, b.restitution);
    g.name = std::move(name);
    if (g.friction > 0) {
      if (table_.dimension == 2) {
        g.slip = {(n[1] * v[0] - n[0] * v[1]).node_in(*graph_)};
      } else {  // the frame of the tangent plane that turns least
        const Expression side = choose(n[2] >= 0.0, 1.0, -1.0), c = -1.0 / (side + n[2]), m = n[0] * n[1] * c;
        g.slip = {((1.0 + side * n[0] * n[0] * c) * v[0] + side * m * v[1] - side * n[0] * v[2]).node_in(*graph_),
                  (m * v[0] + (side + n[1] * n[1] * c) * v[1] - n[1] * v[2]).node_in(*graph_)};
      }
    }
    list_.push_back(std::move(g));
  }

  const BodyTable& table_;
  const Equations& eq_;
  const char* method_;
  std::shared_ptr<Graph> graph_;
  std::vector<Frame> frames_;
  std::vector<Equations::Gap> list_;
};

// The gaps of a system, and friction of joints, with as many rows as the bodies have dimensions.
class GapsAndBearings final : public ContactFinder {
 public:
  GapsAndBearings(const SymbolicSystem& system, std::shared_ptr<const JointContacts> bearings)
      : gaps_(system.contact_finder()), bearings_(std::move(bearings)) {}

  int dimension() const override { return bearings_.contacts().dimension; }
  std::string name(std::uint64_t key) const override {
    return JointContacts::has(key) ? bearings_.contacts().of(key).name : gaps_->name(key);
  }

  void find(double t, const double* y, double band, ContactList& out) override {
    const auto d = static_cast<std::size_t>(dimension());
    out.clear(dimension());
    if (gaps_) {
      gaps_->find(t, y, band, list_);
      out.count = list_.count;
      out.key = list_.key;
      out.gap = list_.gap;
      out.friction = list_.friction;
      out.restitution = list_.restitution;
      out.column = list_.column;
      out.first = list_.first;
      widen(list_.drift, d, out.drift);
      widen(list_.H, d, out.H);
    }
    bearings_.find(t, y, band, out);
  }

  void gaps(double t, const double* y, const ContactList& list, double* out) override {
    list_.clear(1);
    for (const std::uint64_t key : list.key)
      if (!JointContacts::has(key)) list_.key.push_back(key);
    list_.count = static_cast<int>(list_.key.size());  // which come first
    if (gaps_) gaps_->gaps(t, y, list_, out);
    std::fill(out + list_.count, out + list.count, 0.0);
  }

 private:
  void widen(const std::vector<double>& from, std::size_t d, std::vector<double>& to) const {
    const auto own = static_cast<std::size_t>(list_.dimension);
    to.assign(from.size() / own * d, 0.0);
    for (std::size_t k = 0; k < from.size(); ++k) to[k / own * d + k % own] = from[k];
  }

  std::unique_ptr<ContactFinder> gaps_;
  JointContactFinder bearings_;
  ContactList list_;
};

}  // namespace

bool may_touch(const BodyTable& table, std::size_t i, std::size_t k) {
  const Collider &a = table.colliders[i], &b = table.colliders[k];
  if (a.body == b.body || !(a.group & b.collides_with) || !(b.group & a.collides_with)) return false;
  const auto left_out = [&](const Collider& moves, std::size_t still) {
    return std::binary_search(table.apart.begin(), table.apart.end(), std::pair(moves.body, static_cast<int>(still)));
  };
  if (left_out(a, k) || left_out(b, i)) return false;
  const std::pair<int, int> pair = std::minmax(a.body, b.body);
  return std::find(table.ignored.begin(), table.ignored.end(), pair) == table.ignored.end();
}

std::shared_ptr<const System> with_gaps_of_shapes(const System& system, const char* method) {
  const BodyTable& table = *bodies_of(system);
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic)
    throw UnsuitableMethod(fmt::format("{} knows no particles, which are no expressions; use moreau-jean", method));
  Gaps gaps(*symbolic, table, method);
  if (table.joint_contacts)
    for (const JointContact& c : table.joint_contacts->list)
      if (!c.friction) gaps.add_stop(c);
  for (std::size_t i = 0; i < table.colliders.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (may_touch(table, k, i)) gaps.add_pair(table.colliders[k], table.colliders[i]);
  auto with_gaps = std::make_shared<SymbolicSystem>(system.layout(), gaps.equations());
  if (!table.has_joint_friction()) return with_gaps;
  auto bearings = std::make_shared<JointContacts>(*table.joint_contacts);
  std::erase_if(bearings->list, [](const JointContact& c) { return !c.friction; });
  auto rest = std::make_shared<BodyTable>();
  rest->dimension = table.dimension;
  rest->length = table.length;
  rest->joint_contacts = bearings;
  SystemHooks hooks;
  hooks.bodies = rest;
  hooks.contacts = [with_gaps, bearings] { return std::make_unique<GapsAndBearings>(*with_gaps, bearings); };
  return std::make_shared<SymbolicSystem>(with_gaps->layout(), with_gaps->equations(), std::move(hooks));
}

}  // namespace hinge
