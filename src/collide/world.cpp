// The colliders of a scene, and one call that finds where they touch. How: world_search.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "collide/sweep.hpp"
#include "collide/world_parts.hpp"
#include "hinge/error.hpp"

namespace hinge {

using contact::called, contact::feature_of, contact::Placed, contact::Touches;
using Eigen::Vector3d;

namespace {

/// Cosine between normals of one contact in a step.
constexpr double same_side = 0.5;

}  // namespace

CollisionWorld::CollisionWorld(int dimension) : impl_(std::make_unique<Impl>(dimension)) {
  if (dimension != 2 && dimension != 3)
    throw InputError(fmt::format("a world has 2 or 3 dimensions, not {}", dimension));
}
CollisionWorld::~CollisionWorld() = default;
CollisionWorld::CollisionWorld(CollisionWorld&&) noexcept = default;
CollisionWorld& CollisionWorld::operator=(CollisionWorld&&) noexcept = default;

int CollisionWorld::dimension() const { return impl_->dimension; }
const std::vector<Collider>& CollisionWorld::colliders() const { return impl_->colliders; }

int CollisionWorld::add(Collider collider) {
  const int number = static_cast<int>(impl_->colliders.size());
  const std::string name = called(collider, number);
  if (number >= 1 << contact::collider_bits)
    throw InputError(fmt::format("{} is one too many: a world holds {} colliders", name, 1 << contact::collider_bits));
  try {
    collider.shape.validate(impl_->dimension);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
  const double turn = collider.rotation.norm();
  if (!collider.position.allFinite() || !std::isfinite(turn) || !(turn > 0))
    throw InputError(fmt::format("{}: its position or rotation is not finite, or the rotation is zero", name));
  collider.rotation.coeffs() /= turn;
  if (impl_->dimension == 2 && (collider.position[2] != 0 || collider.rotation.x() != 0 || collider.rotation.y() != 0))
    throw InputError(fmt::format("{}: in the plane, positions have z = 0 and rotations turn about z", name));
  if (!(collider.friction >= 0) || !std::isfinite(collider.friction))
    throw InputError(
        fmt::format("{}: the friction coefficient is {}, but must be zero or positive", name, collider.friction));
  if (!(collider.restitution >= 0 && collider.restitution <= 1))
    throw InputError(
        fmt::format("{}: the restitution is {}, but must lie between 0 and 1", name, collider.restitution));
  collider.body = std::max(collider.body, -1);
  impl_->geometry.push_back(contact::prepare(collider.shape, impl_->dimension));
  impl_->filter.push_back(
      {collider.body, collider.group, collider.collides_with, collider.shape.kind == Shape::Kind::sphere});
  impl_->colliders.push_back(std::move(collider));
  impl_->changed = true;
  return number;
}

void CollisionWorld::ignore(int body_a, int body_b) {
  impl_->ignored.emplace_back(std::min(body_a, body_b), std::max(body_a, body_b));
  impl_->changed = true;
}

double CollisionWorld::friction(int a, int b) const {
  const auto& all = impl_->colliders;
  return std::sqrt(all.at(static_cast<std::size_t>(a)).friction * all.at(static_cast<std::size_t>(b)).friction);
}

double CollisionWorld::restitution(int a, int b) const {
  const auto& all = impl_->colliders;
  return std::max(all.at(static_cast<std::size_t>(a)).restitution, all.at(static_cast<std::size_t>(b)).restitution);
}

void CollisionWorld::find(const std::vector<BodyPose>& poses, double band, std::vector<ContactPoint>& out) {
  if (!std::isfinite(band)) throw InputError(fmt::format("the band in which contacts are sought is {}", band));
  impl_->arrange();
  impl_->place_all(poses);
  if (std::exchange(impl_->changed, false)) impl_->find_seams();
  impl_->broad_phase(band);
  impl_->seams.drop_hidden(impl_->placed, impl_->found);
  impl_->sort_into(out);
}

double CollisionWorld::gap(const std::vector<BodyPose>& poses, const ContactPoint& point) const {
  const Placed a = impl_->place(point.a, poses), b = impl_->place(point.b, poses);
  const Placed &a0 = impl_->placed[static_cast<std::size_t>(point.a)],
               &b0 = impl_->placed[static_cast<std::size_t>(point.b)];
  const auto moved = [](const Placed& from, const Placed& to, const Vector3d& x) {
    return Vector3d(to.position + to.rotation * (from.rotation.transpose() * (x - from.position)));
  };
  thread_local Touches touches;
  touches.clear();
  contact::collide(a, b, impl_->dimension, std::numeric_limits<double>::infinity(), touches);
  const std::uint32_t feature = feature_of(point.key);
  for (const contact::Touch& touch : touches) {
    // Another side of a thin body, or an edge that a neighbour hides, is another contact.
    if (touch.feature != feature || touch.normal.dot(point.normal) < same_side) continue;
    const auto hidden = [&](int own, int other, const Placed& now, const Placed& before, const Vector3d& x,
                            const Vector3d& outward) {
      return impl_->seams.hidden(impl_->placed, other, own, moved(now, before, x),
                                 before.rotation * (now.rotation.transpose() * outward));
    };
    if (!hidden(point.b, point.a, b, b0, touch.point, touch.normal) &&
        !hidden(point.a, point.b, a, a0, touch.point + touch.gap * touch.normal, -touch.normal))
      return touch.gap;
  }
  // Seen from another side: past each other, or through?
  const bool bounded = std::isfinite(a.geometry->reach) && std::isfinite(b.geometry->reach);
  if (bounded && point.gap > 0 && std::none_of(touches.begin(), touches.end(), [&](const contact::Touch& t) {
        return t.normal.dot(point.normal) >= same_side;
      })) {
    thread_local contact::FirstTouch last;
    if (!contact::first_touch({a0, a}, {b0, b}, impl_->dimension, last) && !last.points.empty())
      return last.points.front().gap;
  }
  // The points of both surfaces that faced each other, carried along with their bodies; round ones turn below them.
  const auto carried = [&](const Placed& from, const Placed& to, const Vector3d& x, const Vector3d& outward) {
    const Vector3d round = contact::round_radius(from, outward) * outward;
    return Vector3d(moved(from, to, x - round) + round);
  };
  return point.normal.dot(carried(a0, a, point.point + point.gap * point.normal, -point.normal) -
                          carried(b0, b, point.point, point.normal));
}

}  // namespace hinge
