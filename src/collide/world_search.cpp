// Where the colliders of a scene touch: broad phase, narrow phase, order.
//
// Broad phase: bounded colliders are sorted into levels by the radius of the ball around them, each level within a
// factor of two and with a grid of its own; pairs within a level come from its grid, pairs across levels by looking up
// the smaller one in the grid of the larger. Planes and the few colliders of sparse levels (a floor, walls, one big
// drum) are held against everything by their bounding boxes. Time O(n) for any mixture of sizes of which each is dense
// or few.
//
// With threads the search is cut into parts, whose findings stand one after the other in the order of the parts: the
// list is that of one thread.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "collide/world_parts.hpp"
#include "hinge/error.hpp"
#include "solve/parallel.hpp"

namespace hinge {

using contact::Ball, contact::called, contact::Filter, contact::Findings, contact::Geometry, contact::Grid,
    contact::Level, contact::Placed, contact::SearchPart;
using Eigen::Vector3d;

namespace {

/// A level with fewer colliders than this has no grid.
constexpr std::size_t sparse = 9;
/// Of a search in threads: balls or rows of cells, at least; and parts for each thread.
constexpr int least_balls = 64, least_rows = 1, parts_per_thread = 8;
/// Colliders, for which threads are worth it.
constexpr std::size_t worth_threads = 256;

struct Bounds {
  Vector3d low, high;
};

std::uint64_t key_of(int a, int b, std::uint32_t feature) {
  return static_cast<std::uint64_t>(a) << (contact::collider_bits + contact::feature_bits) |
         static_cast<std::uint64_t>(b) << contact::feature_bits | feature;
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

}  // namespace

std::string contact::called(const Collider& collider, int number) {
  return collider.name.empty() ? fmt::format("collider {}", number) : fmt::format("collider '{}'", collider.name);
}

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

bool CollisionWorld::Impl::place_at(int i, const std::vector<BodyPose>& poses) {
  Placed& p = placed[static_cast<std::size_t>(i)];
  const Filter& f = filter[static_cast<std::size_t>(i)];
  if (f.sphere && f.centred && f.body < static_cast<int>(poses.size())) {
    p.position = poses[static_cast<std::size_t>(f.body)].position;
    if (p.position.allFinite()) return true;
  }
  if (f.body >= static_cast<int>(poses.size())) return false;
  p = place(i, poses);
  return p.position.allFinite() && p.rotation.allFinite();
}

void CollisionWorld::Impl::place_all(const std::vector<BodyPose>& poses) {
  std::atomic<int> bad = static_cast<int>(colliders.size());  // the first
  shared_loop(static_cast<int>(colliders.size()), [&](int i) {
    if (place_at(i, poses)) return;
    for (int first = bad; i < first && !bad.compare_exchange_weak(first, i);) continue;
  });
  const int i = bad;
  if (i == static_cast<int>(colliders.size())) return;
  const Collider& c = colliders[static_cast<std::size_t>(i)];
  if (c.body >= static_cast<int>(poses.size()))
    throw InputError(fmt::format("{} belongs to body {}, but there are poses of {} bodies only", called(c, i), c.body,
                                 poses.size()));
  throw InputError(
      fmt::format("{}: the pose of body {} is not finite; the motion before this has failed, or a start "
                  "value is no number",
                  called(c, i), c.body));
}

void CollisionWorld::Impl::pair(int i, int j, double band, Findings& into) const {
  if (!may_touch(i, j)) return;
  const auto [a, b] = ordered(i, j);
  into.touches.clear();
  contact::collide(placed[static_cast<std::size_t>(a)], placed[static_cast<std::size_t>(b)], dimension, band,
                   into.touches);
  for (const contact::Touch& touch : into.touches)
    into.points.push_back({a, b, key_of(a, b, touch.feature), touch.gap, touch.point, touch.normal});
}

void CollisionWorld::Impl::pair(const Ball& x, const Ball& y, double band, Findings& into) const {
  if (!filter[static_cast<std::size_t>(x.id)].sphere || !filter[static_cast<std::size_t>(y.id)].sphere) {
    pair(x.id, y.id, band, into);
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
  into.points.push_back({a.id, b.id, key_of(a.id, b.id, 0), gap, centre + b.radius * normal, normal});
}

// Balls of one level, from first to last, and those of the few that come behind.
void CollisionWorld::Impl::one_against_all(int i, const SearchPart& part, double band, Findings& into) const {
  const Placed& one = placed[static_cast<std::size_t>(i)];
  const std::vector<Ball>& balls = levels[static_cast<std::size_t>(part.b)].balls;
  const auto begin = balls.begin() + part.first, end = balls.begin() + part.last;
  if (one.geometry->kind == Shape::Kind::plane) {
    const Vector3d normal = one.rotation * one.geometry->axis;
    const double offset = normal.dot(one.position);
    for (auto ball = begin; ball != end; ++ball)
      if (normal[0] * ball->x + normal[1] * ball->y + normal[2] * ball->z - offset <= ball->radius + band)
        pair(i, ball->id, band, into);
    return;
  }
  const Bounds bounds = bounds_of(one);
  const Vector3d low = bounds.low.array() - band, high = bounds.high.array() + band;
  for (auto ball = begin; ball != end; ++ball)
    if (ball->x + ball->radius >= low[0] && ball->x - ball->radius <= high[0] && ball->y + ball->radius >= low[1] &&
        ball->y - ball->radius <= high[1] && ball->z + ball->radius >= low[2] && ball->z - ball->radius <= high[2])
      pair(i, ball->id, band, into);
}

void CollisionWorld::Impl::search(const SearchPart& part, double band, Findings& into) const {
  switch (part.kind) {
    case SearchPart::few:
      for (int k = part.first; k < part.last; ++k)
        pair(few[static_cast<std::size_t>(part.a)], few[static_cast<std::size_t>(k)], band, into);
      break;
    case SearchPart::against_all: one_against_all(few[static_cast<std::size_t>(part.a)], part, band, into); break;
    case SearchPart::within_level:
      levels[static_cast<std::size_t>(part.a)].grid.pairs(
          part.first, part.last, band, [&](const Ball& x, const Ball& y) { pair(x, y, band, into); });
      break;
    case SearchPart::across_levels:
      for (int k = part.first; k < part.last; ++k) {
        const Ball& ball = levels[static_cast<std::size_t>(part.b)].balls[static_cast<std::size_t>(k)];
        levels[static_cast<std::size_t>(part.a)].grid.near(ball, band,
                                                           [&](const Ball& other) { pair(ball, other, band, into); });
      }
  }
}

void CollisionWorld::Impl::list_parts() {
  parts.clear();
  const int pieces = threads_here() > 1 && colliders.size() >= worth_threads ? parts_per_thread * threads_here() : 1;
  const auto cut = [&](SearchPart::Kind kind, std::size_t a, std::size_t b, int n, int least) {
    const int count = std::clamp(n / least, 1, pieces);
    for (int k = 0; k < count; ++k)
      parts.push_back({kind, static_cast<int>(a), static_cast<int>(b), static_cast<int>(1L * n * k / count),
                       static_cast<int>(1L * n * (k + 1) / count)});
  };
  for (std::size_t k = 0; k < few.size(); ++k) {
    parts.push_back({SearchPart::few, static_cast<int>(k), 0, static_cast<int>(k) + 1, static_cast<int>(few.size())});
    for (std::size_t level = 0; level < levels.size(); ++level)
      cut(SearchPart::against_all, k, level, static_cast<int>(levels[level].balls.size()), 16 * least_balls);
  }
  for (std::size_t coarse = 0; coarse < levels.size(); ++coarse) {
    cut(SearchPart::within_level, coarse, 0, levels[coarse].grid.rows(), least_rows);
    for (std::size_t fine = coarse + 1; fine < levels.size(); ++fine)
      cut(SearchPart::across_levels, coarse, fine, static_cast<int>(levels[fine].balls.size()), least_balls);
  }
}

void CollisionWorld::Impl::broad_phase(double band) {
  for (Level& level : levels) {
    shared_loop(static_cast<int>(level.balls.size()), [&](int i) {
      Ball& ball = level.balls[static_cast<std::size_t>(i)];
      const Vector3d& x = placed[static_cast<std::size_t>(ball.id)].position;
      ball.x = x[0], ball.y = x[1], ball.z = x[2];
    });
    level.grid.build(level.balls, 2 * level.largest + std::max(band, 0.0), dimension);
  }
  list_parts();
  const int threads = colliders.size() >= worth_threads ? threads_here() : 1;
  if (findings.size() < (threads > 1 ? parts.size() : 1)) findings.resize(threads > 1 ? parts.size() : 1);
  for (Findings& some : findings) some.points.clear();
  parallel_parts(static_cast<int>(parts.size()), threads, [&](int k) {
    search(parts[static_cast<std::size_t>(k)], band, findings[threads > 1 ? static_cast<std::size_t>(k) : 0]);
  });
  found.clear();
  if (threads <= 1) return found.swap(findings[0].points);
  for (const Findings& some : findings) found.insert(found.end(), some.points.begin(), some.points.end());
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
  shared_loop(static_cast<int>(colliders.size()), [&](int i) {
    const auto next = static_cast<std::size_t>(i) + 1;
    const auto first = order.begin() + count[next];
    const auto last = next < colliders.size() ? order.begin() + count[next + 1] : order.end();
    std::sort(first, last, before);
  });
  out.resize(found.size());
  shared_loop(static_cast<int>(found.size()), [&](int k) {
    out[static_cast<std::size_t>(k)] = found[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
  });
}

void CollisionWorld::Impl::find_seams() {
  std::vector<int> body;
  for (const Filter& f : filter) body.push_back(f.body);
  seams.prepare(placed, body, dimension);
}

}  // namespace hinge
