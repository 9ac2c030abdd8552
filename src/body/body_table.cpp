#include "body/body_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "body/multibody_system.hpp"
#include "body/shape_gaps.hpp"
#include "hinge/error.hpp"
#include "hinge/multibody.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

double thickness(const Shape& shape, int dimension) {
  switch (shape.kind) {
    case Shape::Kind::sphere:
    case Shape::Kind::capsule: return 2 * shape.radius;
    case Shape::Kind::cylinder: return std::min(2 * shape.radius, shape.length);
    case Shape::Kind::box: return shape.size.head(dimension).minCoeff();
    case Shape::Kind::mesh: {
      Eigen::Vector3d low = shape.vertices.front(), high = low;
      for (const Eigen::Vector3d& v : shape.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
      return (high - low).head(dimension).minCoeff();
    }
    case Shape::Kind::plane: break;
  }
  return INFINITY;
}

}  // namespace

double BodyTable::smallest() const {
  double smallest = INFINITY;
  for (const Collider& c : colliders)
    if (c.body >= 0) smallest = std::min(smallest, thickness(c.shape, dimension));
  return smallest;
}

bool BodyTable::has_joint_friction() const {
  return joint_contacts && std::any_of(joint_contacts->list.begin(), joint_contacts->list.end(),
                                       [](const JointContact& c) { return c.friction; });
}

bool BodyTable::can_collide() const {
  if (joint_contacts) return true;
  constexpr std::size_t many = 2000;  // among so many there will be a pair
  if (colliders.size() > many) return true;
  for (std::size_t i = 0; i < colliders.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (may_touch(*this, k, i)) return true;
  return false;
}

double BodyTable::fastest(const double* z) const {
  const int turns = dimension == 2 ? 1 : 3;
  return shared_largest(static_cast<int>(places.size()), [&](int b) {
    const BodyPlace& place = places[static_cast<std::size_t>(b)];
    double v = 0, w = 0;
    for (int k = 0; k < dimension; ++k) v += z[place.v + k] * z[place.v + k];
    for (int k = 0; k < turns; ++k) w += z[place.spin + k] * z[place.spin + k];
    return std::sqrt(v) + std::sqrt(w) * reach[static_cast<std::size_t>(b)];
  });
}

double BodyTable::thinnest() const {
  const auto half_width = [&](const Shape& s) {
    switch (s.kind) {
      case Shape::Kind::sphere:
      case Shape::Kind::capsule: return s.radius;
      case Shape::Kind::cylinder: return std::min(s.radius, s.length / 2);
      case Shape::Kind::box: return s.size.head(dimension).minCoeff() / 2;
      case Shape::Kind::mesh: {  // of all plates of this volume and reach R the area is at most pi R^2, in the plane 2
                                 // R
        const Eigen::Vector3d centre = s.centre_of_mass(dimension);
        double farthest = 0;
        for (const Eigen::Vector3d& v : s.vertices) farthest = std::max(farthest, (v - centre).norm());
        return s.volume(dimension) / (2 * (dimension == 2 ? 2 * farthest : std::numbers::pi * farthest * farthest));
      }
      case Shape::Kind::plane: break;
    }
    return std::numeric_limits<double>::infinity();
  };
  double least = std::numeric_limits<double>::infinity();
  for (const Collider& c : colliders) least = std::min(least, half_width(c.shape));
  return least;
}

BodyPose BodyTable::pose(const double* y, std::size_t body) const {
  const BodyPlace& p = places[body];
  const double *x = y + p.x, *r = y + p.rotation;
  if (dimension == 2) return {{x[0], x[1], 0}, Eigen::Quaterniond(std::cos(r[0] / 2), 0, 0, std::sin(r[0] / 2))};
  const double scale = 1 / std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  return {{x[0], x[1], x[2]}, Eigen::Quaterniond(r[0] * scale, r[1] * scale, r[2] * scale, r[3] * scale)};
}

const BodyTable* bodies_of(const System& system) {
  if (const auto* whole = dynamic_cast<const MultibodySystem*>(&system)) return &whole->table();
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  return symbolic ? symbolic->hooks().bodies.get() : nullptr;
}

std::vector<BodyPose> body_poses(const System& system, const State& state) {
  const BodyTable* table = bodies_of(system);
  if (!table) throw InputError("poses are those of a multibody system; this one has no bodies");
  std::vector<BodyPose> poses;
  for (std::size_t b = 0; b < table->places.size(); ++b) {
    BodyPose pose = table->pose(state.y.data(), b);
    if (b < table->frames.size()) {
      pose.position += pose.rotation * table->frames[b].position;
      pose.rotation = pose.rotation * table->frames[b].rotation;
    }
    poses.push_back(pose);
  }
  return poses;
}

void BodyTable::move(const double* y, const double* z, double h, double* out) const {
  for (const BodyTurn& turn : counted) {
    const auto spin = [&](int body) -> Eigen::Vector3d {
      if (body < 0) return Eigen::Vector3d::Zero();
      const auto at = static_cast<std::size_t>(body);
      return pose(y, at).rotation * Eigen::Map<const Eigen::Vector3d>(z + places[at].spin);
    };
    const Eigen::Vector3d axis =
        turn.a < 0 ? turn.axis : pose(y, static_cast<std::size_t>(turn.a)).rotation * turn.axis;
    out[turn.y] = y[turn.y] + h * axis.dot(spin(turn.b) - spin(turn.a));
  }
  shared_loop(static_cast<int>(places.size()), [&](int body) {
    const BodyPlace& p = places[static_cast<std::size_t>(body)];
    for (int k = 0; k < dimension; ++k) out[p.x + k] = y[p.x + k] + h * z[p.v + k];
    if (dimension == 2) {
      out[p.rotation] = y[p.rotation] + h * z[p.spin];
      return;
    }
    const double *q = y + p.rotation, *w = z + p.spin;
    const double speed = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), half = h * speed / 2;
    // sin(half)/speed, also where the speed is nearly zero
    const double c = std::cos(half), s = std::abs(half) < 1e-4 ? h / 2 * (1 - half * half / 6) : std::sin(half) / speed;
    const double a = s * w[0], b = s * w[1], d = s * w[2];
    const double r[4] = {q[0] * c - q[1] * a - q[2] * b - q[3] * d, q[1] * c + q[0] * a + q[2] * d - q[3] * b,
                         q[2] * c + q[0] * b + q[3] * a - q[1] * d, q[3] * c + q[0] * d + q[1] * b - q[2] * a};
    const double scale = 1 / std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    for (int k = 0; k < 4; ++k) out[p.rotation + k] = r[k] * scale;
  });
}

}  // namespace hinge
