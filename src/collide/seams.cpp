#include "collide/seams.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Geometry>

#include "solve/parallel.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;
using Kind = Shape::Kind;

/// How far around a point its surface is looked at, and how far off it may be by rounding: a normal that leans by more
/// than on_surface/level sees an edge and not the face beside it.
constexpr double near = 1e-4, on_surface = 1e-11;

bool holds(const Placed& p, const Vector3d& x, double tolerance, int dimension) {
  const Geometry& g = *p.geometry;
  const Vector3d d = x - p.position;
  if (g.kind == Kind::plane) return (p.rotation * g.axis).dot(d) <= tolerance;
  const double reach = g.reach + tolerance;
  if (d.squaredNorm() > reach * reach) return false;
  const Vector3d y = p.rotation.transpose() * d;
  switch (g.kind) {
    case Kind::sphere: return true;
    case Kind::box:
      for (int k = 0; k < dimension; ++k)
        if (std::abs(y[k]) > g.half[k] + tolerance) return false;
      return true;
    case Kind::capsule: {
      const double along = std::clamp(y.dot(g.axis), -g.half_length, g.half_length);
      return (y - along * g.axis).norm() <= g.radius + tolerance;
    }
    case Kind::cylinder:
      return std::abs(y[2]) <= g.half_length + tolerance && std::hypot(y[0], y[1]) <= g.radius + tolerance;
    case Kind::mesh:
      return std::all_of(g.hull.faces.begin(), g.hull.faces.end(),
                         [&](const Hull::Face& f) { return f.normal.dot(y) <= f.offset + tolerance; });
    case Kind::plane: break;
  }
  return false;
}

/// max over the shape of n.y - n.x
double beyond(const Placed& p, const Vector3d& x, const Vector3d& n) {
  const Geometry& g = *p.geometry;
  const Vector3d m = p.rotation.transpose() * n;
  const double centre = n.dot(p.position - x);
  switch (g.kind) {
    case Kind::sphere: return centre + g.radius;
    case Kind::box: return centre + m.cwiseAbs().dot(g.half);
    case Kind::capsule: return centre + g.half_length * std::abs(m.dot(g.axis)) + g.radius;
    case Kind::cylinder: return centre + g.half_length * std::abs(m[2]) + g.radius * std::hypot(m[0], m[1]);
    case Kind::mesh: {
      double most = -std::numeric_limits<double>::infinity();
      for (const Vector3d& v : g.hull.vertices) most = std::max(most, m.dot(v));
      return centre + most;
    }
    case Kind::plane: return m.dot(g.axis) > 1 - 1e-12 ? centre : std::numeric_limits<double>::infinity();
  }
  return 0;
}

}  // namespace

/// A point of `own`, touched by `other`, with the normal out of `own`.
struct Seams::Spot {
  const Seams& seams;
  const std::vector<Placed>& placed;
  int own, other;
  Vector3d normal;
  double size = std::min(placed[static_cast<std::size_t>(own)].geometry->reach,
                         placed[static_cast<std::size_t>(other)].geometry->reach);

  bool hides(int c, const Vector3d& q) const {
    const Placed& p = placed[static_cast<std::size_t>(c)];
    return holds(p, q, level * size, seams.dimension_) && beyond(p, q, normal) > level * size;
  }
  template <class Neighbours>
  bool hidden(const Vector3d& x, Neighbours&& any) const {
    const auto covered = [&](const Vector3d& q) { return any([&](int c) { return hides(c, q); }); };
    if (!covered(x)) return false;
    // A corner of the one over a face of the other has that face's normal: nothing but it is seen along it.
    if (beyond(placed[static_cast<std::size_t>(own)], x, normal) > on_surface * size) return true;
    const bool plane = seams.dimension_ == 2;
    const Vector3d u = plane ? Vector3d(-normal[1], normal[0], 0) : normal.unitOrthogonal(), v = normal.cross(u);
    const int directions = plane ? 2 : 8;
    for (int k = 0; k < directions; ++k) {
      const double angle = 2 * 3.141592653589793 / directions * k;
      const Vector3d q = x + near * size * (std::cos(angle) * u + std::sin(angle) * (plane ? Vector3d::Zero() : v));
      if (holds(placed[static_cast<std::size_t>(own)], q, on_surface * size, seams.dimension_) && !covered(q))
        return false;
    }
    return true;
  }
};

void Seams::Lists::build(std::size_t shapes, const std::vector<std::pair<int, int>>& pairs) {
  first.assign(shapes + 1, 0);
  for (const auto& [i, j] : pairs) ++first[static_cast<std::size_t>(i) + 1], ++first[static_cast<std::size_t>(j) + 1];
  for (std::size_t k = 0; k < shapes; ++k) first[k + 1] += first[k];
  of.resize(2 * pairs.size());
  // Filled from the back of each list, so that `first` is the beginning in the end.
  for (std::size_t k = shapes; k > 0; --k) first[k] = first[k - 1];
  for (const auto& [i, j] : pairs) {
    of[static_cast<std::size_t>(first[static_cast<std::size_t>(i) + 1]++)] = j;
    of[static_cast<std::size_t>(first[static_cast<std::size_t>(j) + 1]++)] = i;
  }
}

void Seams::prepare(const std::vector<Placed>& placed, const std::vector<int>& body, int dimension) {
  dimension_ = dimension;
  body_ = body;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto low = [&](int i) { return placed[at(i)].position[0] - placed[at(i)].geometry->reach; };
  std::vector<int> order(placed.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int i, int j) {
    return body[at(i)] != body[at(j)] ? body[at(i)] < body[at(j)] : low(i) != low(j) ? low(i) < low(j) : i < j;
  });
  std::vector<std::pair<int, int>> pairs;
  Touches touches;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int i = order[k];
    const Geometry& g = *placed[at(i)].geometry;
    for (std::size_t l = k + 1; l < order.size() && body[at(order[l])] == body[at(i)]; ++l) {
      const int j = order[l];
      const Geometry& other = *placed[at(j)].geometry;
      if (g.kind == Kind::sphere && other.kind == Kind::sphere) continue;  // no faces, no edges
      const double tolerance = level * std::min(g.reach, other.reach), reach = g.reach + other.reach + tolerance;
      if (low(j) > placed[at(i)].position[0] + g.reach + tolerance) break;
      if (!std::isfinite(tolerance) || (placed[at(i)].position - placed[at(j)].position).norm() > reach) continue;
      touches.clear();
      collide(placed[at(i)], placed[at(j)], dimension, tolerance, touches);
      if (!touches.empty()) pairs.emplace_back(i, j);
    }
  }
  fixed_.build(placed.size(), pairs);
}

template <class Use>
bool Seams::any_neighbour(int own, int other, Use&& use) const {
  for (const Lists* lists : {&fixed_, &touching_}) {
    if (lists->empty()) continue;
    for (const int* c = lists->begin(own); c != lists->end(own); ++c)
      if (body_[static_cast<std::size_t>(*c)] != body_[static_cast<std::size_t>(other)] && use(*c)) return true;
  }
  return false;
}

bool Seams::hidden(const std::vector<Placed>& placed, int a, int b, const Vector3d& x, const Vector3d& normal) const {
  return (!fixed_.empty() || !touching_.empty()) &&
         Spot{*this, placed, b, a, normal}.hidden(x, [&](auto&& use) { return any_neighbour(b, a, use); });
}

void Seams::list_pairs(const std::vector<ContactPoint>& found) {
  pairs_.clear();
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (pairs_.empty() || pairs_.back().a != found[k].a || pairs_.back().b != found[k].b)
      pairs_.push_back({found[k].a, found[k].b, k, 0});
    ++pairs_.back().count;
  }
}

void Seams::list_touching(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found) {
  touching_pairs_.clear();
  for (const Pair& pair : pairs_) {
    if (pair.count < static_cast<std::size_t>(dimension_)) continue;
    const double size = std::min(placed[static_cast<std::size_t>(pair.a)].geometry->reach,
                                 placed[static_cast<std::size_t>(pair.b)].geometry->reach);
    int close = 0;
    for (std::size_t k = pair.first; k < pair.first + pair.count; ++k) close += found[k].gap <= level * size;
    if (close >= dimension_) touching_pairs_.emplace_back(pair.a, pair.b);
  }
  touching_.of.clear();
  if (!touching_pairs_.empty()) touching_.build(placed.size(), touching_pairs_);
}

bool Seams::hidden_by_some(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found, const Pair& pair,
                           bool on_b) const {
  const int own = on_b ? pair.b : pair.a, other = on_b ? pair.a : pair.b;
  if ((fixed_.empty() || fixed_.empty(own)) && (touching_.empty() || touching_.empty(own))) return false;
  Spot spot{*this, placed, own, other, Vector3d::Zero()};
  for (std::size_t k = pair.first; k < pair.first + pair.count; ++k) {
    const ContactPoint& c = found[k];
    spot.normal = on_b ? c.normal : Vector3d(-c.normal);
    if (!spot.hidden(on_b ? c.point : Vector3d(c.point + c.gap * c.normal),
                     [&](auto&& use) { return any_neighbour(own, other, use); }))
      return false;
  }
  return true;
}

const Seams::Pair* Seams::find_pair(int i, int j) const {
  const auto key = [](int x, int y) { return std::minmax({x, y}); };
  const auto wanted = key(i, j);
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), wanted, [&](std::size_t k, const auto& want) {
    return key(pairs_[k].a, pairs_[k].b) < want;
  });
  if (found == sorted_.end() || key(pairs_[*found].a, pairs_[*found].b) != wanted) return nullptr;
  return &pairs_[*found];
}

bool Seams::neighbour_touches(const std::vector<Placed>& placed, const std::vector<ContactPoint>& found,
                              const Pair& pair, bool on_b) const {
  const int own = on_b ? pair.b : pair.a, other = on_b ? pair.a : pair.b;
  Spot spot{*this, placed, own, other, Vector3d::Zero()};
  return any_neighbour(own, other, [&](int c) {
    const Pair* instead = find_pair(c, other);
    if (!instead || !instead->answered) return false;
    for (std::size_t k = pair.first; k < pair.first + pair.count; ++k) {
      spot.normal = on_b ? found[k].normal : Vector3d(-found[k].normal);
      if (spot.hides(c, on_b ? found[k].point : Vector3d(found[k].point + found[k].gap * found[k].normal))) return true;
    }
    return false;
  });
}

void Seams::drop_hidden(const std::vector<Placed>& placed, std::vector<ContactPoint>& found) {
  list_pairs(found);
  list_touching(placed, found);
  if (fixed_.empty() && touching_.empty()) return;
  std::atomic<bool> any = false;
  shared_loop(
      static_cast<int>(pairs_.size()),
      [&](int k) {
        Pair& pair = pairs_[static_cast<std::size_t>(k)];
        pair.hidden = hidden_by_some(placed, found, pair, true) || hidden_by_some(placed, found, pair, false);
        pair.answered = !pair.hidden;
        if (pair.hidden) any = true;
      },
      128);
  if (!any) return;
  sorted_.resize(pairs_.size());
  for (std::size_t k = 0; k < sorted_.size(); ++k) sorted_[k] = k;
  std::sort(sorted_.begin(), sorted_.end(), [&](std::size_t k, std::size_t l) {
    return std::minmax({pairs_[k].a, pairs_[k].b}) < std::minmax({pairs_[l].a, pairs_[l].b});
  });
  // A row of narrow ones: the neighbour that touches may be a neighbour of neighbours.
  for (bool more = true; std::exchange(more, false);)
    for (Pair& pair : pairs_)
      if (!pair.answered &&
          (neighbour_touches(placed, found, pair, true) || neighbour_touches(placed, found, pair, false)))
        pair.answered = more = true;
  std::size_t kept = 0;
  for (const Pair& pair : pairs_) {
    if (pair.hidden && pair.answered) continue;
    for (std::size_t k = pair.first; k < pair.first + pair.count; ++k) found[kept++] = found[k];
  }
  found.resize(kept);
}

}  // namespace hinge::contact
