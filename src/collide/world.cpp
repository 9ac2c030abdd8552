// The colliders of a scene, and one call that finds where they touch: broad phase, narrow phase, order.
//
// Broad phase: bounded colliders are sorted into levels by the radius of the ball around them, each level within a
// factor of two and with a grid of its own; pairs within a level come from its grid, pairs across levels by looking up
// the smaller one in the grid of the larger. Planes and the few colliders of sparse levels (a floor, walls, one big
// drum) are held against everything by their bounding boxes. Time O(n) for any mixture of sizes of which each is dense
// or few.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "collide/grid.hpp"
#include "collide/narrow.hpp"
#include "collide/seams.hpp"
#include "collide/sweep.hpp"
#include "hinge/error.hpp"
#include "hinge/shape.hpp"

namespace hinge {

using contact::Ball;
using contact::Geometry;
using contact::Grid;
using contact::Placed;
using contact::Touches;
using Eigen::Vector3d;

namespace {

/// A level with fewer colliders than this has no grid.
constexpr std::size_t sparse = 9;
/// Cosine between normals of one contact in a step.
constexpr double same_side = 0.5;

/// What is needed of every collider in every call, close together: what decides whether two may touch at all, and
/// whether one is a sphere about the origin of its body, which most colliders of large scenes are.
struct Filter {
  int body = -1;
  std::uint32_t group = 1, collides_with = 0xffffffffu;
  bool sphere = false, centred = false;
};

struct Level {
  std::vector<int> members{};
  double largest = 0;  ///< radius of the largest ball
  std::vector<Ball> balls{};
  Grid grid{};
};

struct Bounds {
  Vector3d low, high;
};

std::uint64_t key_of(int a, int b, std::uint32_t feature) {
  return static_cast<std::uint64_t>(a) << (contact::collider_bits + contact::feature_bits) |
         static_cast<std::uint64_t>(b) << contact::feature_bits | feature;
}
std::uint32_t feature_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key & ((1u << contact::feature_bits) - 1));
}

/// The box around a placed shape, parallel to the axes.
Bounds bounds_of(const Placed& placed) {
  const Geometry& g = *placed.geometry;
  Vector3d reach = Vector3d::Constant(g.reach);
  if (g.kind == Shape::Kind::box) reach = placed.rotation.cwiseAbs() * g.half;
  if (g.kind == Shape::Kind::mesh) {
    Bounds bounds{Vector3d::Constant(1e300), Vector3d::Constant(-1e300)};
    for (const Vector3d& v : g.hull.vertices) {
      const Vector3d x = placed.position + placed.rotation * v;
      bounds.low = bounds.low.cwiseMin(x);
      bounds.high = bounds.high.cwiseMax(x);
    }
    return bounds;
  }
  return {placed.position - reach, placed.position + reach};
}

std::string called(const Collider& collider, int number) {
  return collider.name.empty() ? fmt::format("collider {}", number) : fmt::format("collider '{}'", collider.name);
}

}  // namespace

struct CollisionWorld::Impl {
  explicit Impl(int d) : dimension(d) {}

  int dimension;
  std::vector<Collider> colliders{};
  std::vector<Geometry> geometry{};
  std::vector<Filter> filter{};
  std::vector<std::pair<int, int>> ignored{};  ///< of bodies, smaller first; sorted when not changed
  bool changed = true;

  std::vector<Level> levels{};  ///< the largest first
  std::vector<int> few{};
  std::vector<Placed> placed{};
  std::vector<ContactPoint> found{};
  Touches touches{};
  std::vector<int> count{}, order{};
  contact::Seams seams{};

  void arrange();
  Placed place(int collider, const std::vector<BodyPose>& poses) const;
  void place_all(const std::vector<BodyPose>& poses);
  bool may_touch(int i, int j) const;
  /// Which of the two is a: the smaller one, unless it is fixed.
  std::pair<int, int> ordered(int i, int j) const;
  void pair(int i, int j, double band);
  void pair(const Ball& x, const Ball& y, double band);
  void broad_phase(double band);
  void one_against_all(int i, std::size_t position_in_few, double band);
  void sort_into(std::vector<ContactPoint>& out);
  void find_seams() {
    std::vector<int> body;
    for (const Filter& f : filter) body.push_back(f.body);
    seams.prepare(placed, body, dimension);
  }
};

bool CollisionWorld::Impl::may_touch(int i, int j) const {
  const Filter &a = filter[static_cast<std::size_t>(i)], &b = filter[static_cast<std::size_t>(j)];
  if (a.body == b.body || !(a.group & b.collides_with) || !(b.group & a.collides_with)) return false;
  return ignored.empty() ||
         !std::binary_search(ignored.begin(), ignored.end(), std::minmax({a.body, b.body}, std::less<int>{}));
}

std::pair<int, int> CollisionWorld::Impl::ordered(int i, int j) const {
  const auto [small, large] = std::minmax(i, j);
  return filter[static_cast<std::size_t>(small)].body < 0 ? std::pair(large, small) : std::pair(small, large);
}

void CollisionWorld::Impl::arrange() {
  if (!changed) return;
  std::sort(ignored.begin(), ignored.end());
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
  placed.assign(colliders.size(), {});
  levels.clear();
  few.clear();
  std::vector<int> bounded;
  for (int i = 0; i < static_cast<int>(colliders.size()); ++i) {
    placed[static_cast<std::size_t>(i)].geometry = &geometry[static_cast<std::size_t>(i)];
    filter[static_cast<std::size_t>(i)].centred =
        colliders[static_cast<std::size_t>(i)].body >= 0 && colliders[static_cast<std::size_t>(i)].position.isZero(0);
    (std::isfinite(geometry[static_cast<std::size_t>(i)].reach) ? bounded : few).push_back(i);
  }
  const auto reach = [&](int i) { return geometry[static_cast<std::size_t>(i)].reach; };
  std::stable_sort(bounded.begin(), bounded.end(), [&](int i, int j) { return reach(i) > reach(j); });
  for (std::size_t k = 0; k < bounded.size();) {
    Level level;
    level.largest = reach(bounded[k]);
    while (k < bounded.size() && reach(bounded[k]) >= 0.5 * level.largest) level.members.push_back(bounded[k++]);
    std::sort(level.members.begin(), level.members.end());
    if (level.members.size() < sparse)
      few.insert(few.end(), level.members.begin(), level.members.end());
    else {
      for (const int i : level.members) level.balls.push_back({0, 0, 0, reach(i), i});
      levels.push_back(std::move(level));
    }
  }
}

Placed CollisionWorld::Impl::place(int i, const std::vector<BodyPose>& poses) const {
  const Collider& c = colliders[static_cast<std::size_t>(i)];
  Placed result{&geometry[static_cast<std::size_t>(i)]};
  const bool round = c.shape.kind == Shape::Kind::sphere;
  if (c.body < 0) {
    result.position = c.position;
    if (!round) result.rotation = c.rotation.toRotationMatrix();
    return result;
  }
  const BodyPose& pose = poses[static_cast<std::size_t>(c.body)];
  const bool centred = c.position.isZero(0);
  result.position = pose.position;
  if (!round || !centred) {
    const Eigen::Matrix3d rotation = pose.rotation.normalized().toRotationMatrix();
    if (!centred) result.position += rotation * c.position;
    if (!round) result.rotation = rotation * c.rotation.toRotationMatrix();
  }
  return result;
}

void CollisionWorld::Impl::place_all(const std::vector<BodyPose>& poses) {
  for (int i = 0; i < static_cast<int>(colliders.size()); ++i) {
    Placed& p = placed[static_cast<std::size_t>(i)];
    const Filter& f = filter[static_cast<std::size_t>(i)];
    if (f.sphere && f.centred && f.body < static_cast<int>(poses.size())) {
      p.position = poses[static_cast<std::size_t>(f.body)].position;
      if (p.position.allFinite()) continue;
    }
    const Collider& c = colliders[static_cast<std::size_t>(i)];
    if (c.body >= static_cast<int>(poses.size()))
      throw InputError(fmt::format("{} belongs to body {}, but there are poses of {} bodies only", called(c, i), c.body,
                                   poses.size()));
    p = place(i, poses);
    if (!p.position.allFinite() || !p.rotation.allFinite())
      throw InputError(
          fmt::format("{}: the pose of body {} is not finite; the motion before this has failed, or a start "
                      "value is no number",
                      called(c, i), c.body));
  }
}

void CollisionWorld::Impl::pair(int i, int j, double band) {
  if (!may_touch(i, j)) return;
  const auto [a, b] = ordered(i, j);
  touches.clear();
  contact::collide(placed[static_cast<std::size_t>(a)], placed[static_cast<std::size_t>(b)], dimension, band, touches);
  for (const contact::Touch& touch : touches)
    found.push_back({a, b, key_of(a, b, touch.feature), touch.gap, touch.point, touch.normal});
}

void CollisionWorld::Impl::pair(const Ball& x, const Ball& y, double band) {
  if (!filter[static_cast<std::size_t>(x.id)].sphere || !filter[static_cast<std::size_t>(y.id)].sphere) {
    pair(x.id, y.id, band);
    return;
  }
  if (!may_touch(x.id, y.id)) return;
  // As contact::sphere_sphere, without fetching the shapes.
  const bool in_order = ordered(x.id, y.id).first == x.id;
  const Ball &a = in_order ? x : y, &b = in_order ? y : x;
  const Vector3d centre(b.x, b.y, b.z), between(a.x - b.x, a.y - b.y, a.z - b.z);
  const double d = between.norm(), gap = d - a.radius - b.radius;
  if (!(gap <= band)) return;
  const Vector3d normal = d > 1e-150 ? Vector3d(between / d) : contact::any_direction(dimension);
  found.push_back({a.id, b.id, key_of(a.id, b.id, 0), gap, centre + b.radius * normal, normal});
}

void CollisionWorld::Impl::one_against_all(int i, std::size_t position_in_few, double band) {
  const Placed& one = placed[static_cast<std::size_t>(i)];
  for (std::size_t k = position_in_few + 1; k < few.size(); ++k) pair(i, few[k], band);
  if (one.geometry->kind == Shape::Kind::plane) {
    const Vector3d normal = one.rotation * one.geometry->axis;
    const double offset = normal.dot(one.position);
    for (const Level& level : levels)
      for (const Ball& ball : level.balls)
        if (normal[0] * ball.x + normal[1] * ball.y + normal[2] * ball.z - offset <= ball.radius + band)
          pair(i, ball.id, band);
    return;
  }
  const Bounds bounds = bounds_of(one);
  const Vector3d low = bounds.low.array() - band, high = bounds.high.array() + band;
  for (const Level& level : levels)
    for (const Ball& ball : level.balls)
      if (ball.x + ball.radius >= low[0] && ball.x - ball.radius <= high[0] && ball.y + ball.radius >= low[1] &&
          ball.y - ball.radius <= high[1] && ball.z + ball.radius >= low[2] && ball.z - ball.radius <= high[2])
        pair(i, ball.id, band);
}

void CollisionWorld::Impl::broad_phase(double band) {
  for (Level& level : levels) {
    for (Ball& ball : level.balls) {
      const Vector3d& x = placed[static_cast<std::size_t>(ball.id)].position;
      ball.x = x[0], ball.y = x[1], ball.z = x[2];
    }
    level.grid.build(level.balls, 2 * level.largest + std::max(band, 0.0), dimension);
  }
  for (std::size_t k = 0; k < few.size(); ++k) one_against_all(few[k], k, band);
  for (std::size_t coarse = 0; coarse < levels.size(); ++coarse) {
    const Grid& grid = levels[coarse].grid;
    grid.pairs(band, [&](const Ball& x, const Ball& y) { pair(x, y, band); });
    for (std::size_t fine = coarse + 1; fine < levels.size(); ++fine)
      for (const Ball& ball : levels[fine].balls)
        grid.near(ball, band, [&](const Ball& other) { pair(ball, other, band); });
  }
}

void CollisionWorld::Impl::sort_into(std::vector<ContactPoint>& out) {
  // Counting sort by collider a, then the few points of each by key.
  count.assign(colliders.size() + 1, 0);
  for (const ContactPoint& c : found) ++count[static_cast<std::size_t>(c.a) + 1];
  for (std::size_t i = 0; i < colliders.size(); ++i) count[i + 1] += count[i];
  order.resize(found.size());
  for (std::size_t k = found.size(); k-- > 0;)
    order[static_cast<std::size_t>(--count[static_cast<std::size_t>(found[k].a) + 1])] = static_cast<int>(k);
  const auto before = [&](int i, int j) {
    return found[static_cast<std::size_t>(i)].key < found[static_cast<std::size_t>(j)].key;
  };
  for (std::size_t i = 0; i < colliders.size(); ++i) {
    const auto first = order.begin() + count[i + 1];
    const auto last = i + 1 < colliders.size() ? order.begin() + count[i + 2] : order.end();
    std::sort(first, last, before);
  }
  out.resize(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) out[k] = found[static_cast<std::size_t>(order[k])];
}

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
  impl_->found.clear();
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
