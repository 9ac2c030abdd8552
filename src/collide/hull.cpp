#include "collide/hull.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <Eigen/Geometry>

#include "hinge/error.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;
using Points = std::vector<Vector3d>;

/// Thickness under which points count as lying in one plane, relative to the extent of the hull.
constexpr double flat = 1e-10;

double extent_of(const Points& points) {
  double extent = 0;
  for (const Vector3d& p : points) extent = std::max(extent, (p - points.front()).norm());
  return extent;
}

/// The convex polygon of the points `chosen`, counter-clockwise in the frame (u, v): Andrew's monotone chain.
std::vector<int> polygon_of(const Points& points, std::vector<int> chosen, const Vector3d& u, const Vector3d& v,
                            double tolerance) {
  const auto at = [&](int i) {
    const Vector3d& p = points[static_cast<std::size_t>(i)];
    return Eigen::Vector2d(u.dot(p), v.dot(p));
  };
  std::sort(chosen.begin(), chosen.end(), [&](int i, int j) {
    const Eigen::Vector2d p = at(i), q = at(j);
    return std::tuple(p[0], p[1], i) < std::tuple(q[0], q[1], j);
  });
  // Is j to the left of i -> k by no more than the tolerance? Then it is no corner.
  const auto is_corner = [&](int i, int j, int k) {
    const Eigen::Vector2d a = at(j) - at(i), b = at(k) - at(i);
    return a[0] * b[1] - a[1] * b[0] > tolerance * b.norm();
  };
  std::vector<int> ring;
  const auto chain = [&](auto begin, auto end) {
    const std::size_t base = ring.size();
    for (auto it = begin; it != end; ++it) {
      if (ring.size() > base && (at(*it) - at(ring.back())).norm() <= tolerance) continue;  // the same point twice
      while (ring.size() >= base + 2 && !is_corner(ring[ring.size() - 2], ring.back(), *it)) ring.pop_back();
      ring.push_back(*it);
    }
    ring.pop_back();  // it begins the other chain
  };
  chain(chosen.begin(), chosen.end());
  chain(chosen.rbegin(), chosen.rend());
  return ring;
}

struct Triangle {
  std::array<int, 3> v{};
  Vector3d normal;
  double offset = 0;
  bool alive = true;
};

Triangle triangle(const Points& points, int a, int b, int c) {
  const auto at = [&](int i) -> const Vector3d& { return points[static_cast<std::size_t>(i)]; };
  Triangle t;
  t.v = {a, b, c};
  t.normal = (at(b) - at(a)).cross(at(c) - at(a)).normalized();
  t.offset = t.normal.dot(at(a));
  return t;
}

/// Four points that span the most, greedily.
std::array<int, 4> first_tetrahedron(const Points& points, double extent) {
  const auto farthest = [&](auto&& measure) {
    int best = 0;
    double most = -1;
    for (int i = 0; i < static_cast<int>(points.size()); ++i)
      if (const double m = measure(points[static_cast<std::size_t>(i)]); m > most) most = m, best = i;
    return std::pair(best, most);
  };
  const auto at = [&](int i) -> const Vector3d& { return points[static_cast<std::size_t>(i)]; };
  const int a = farthest([&](const Vector3d& p) { return (p - points.front()).norm(); }).first;
  const int b = farthest([&](const Vector3d& p) { return (p - at(a)).norm(); }).first;
  const Vector3d ab = (at(b) - at(a)).normalized();
  const auto [c, width] = farthest([&](const Vector3d& p) { return (p - at(a)).cross(ab).norm(); });
  const Vector3d n = ab.cross(at(c) - at(a)).normalized();
  const auto [d, height] = farthest([&](const Vector3d& p) { return std::abs(n.dot(p - at(a))); });
  if (!(width > flat * extent))
    throw InputError("mesh: all points lie on one line, so they enclose nothing; give points that span a body");
  if (!(height > flat * extent))
    throw InputError("mesh: all points lie in one plane, so they enclose nothing; give points that span a body");
  return n.dot(at(d) - at(a)) < 0 ? std::array{a, b, c, d} : std::array{a, c, b, d};
}

/// Triangles of the hull, by adding one point after another: those it sees go, the horizon is joined to it.
std::vector<Triangle> triangulated_hull(const Points& points, double extent) {
  const auto [a, b, c, d] = first_tetrahedron(points, extent);
  std::vector<Triangle> all = {triangle(points, a, b, c), triangle(points, a, d, b), triangle(points, b, d, c),
                               triangle(points, c, d, a)};
  std::map<std::pair<int, int>, int> seen_edges;
  for (int i = 0; i < static_cast<int>(points.size()); ++i) {
    if (i == a || i == b || i == c || i == d) continue;
    seen_edges.clear();
    for (Triangle& t : all)
      if (t.normal.dot(points[static_cast<std::size_t>(i)]) - t.offset > flat * extent) {
        t.alive = false;
        for (std::size_t k = 0; k < 3; ++k) seen_edges[{t.v[k], t.v[(k + 1) % 3]}] = 1;
      }
    if (seen_edges.empty()) continue;
    std::erase_if(all, [](const Triangle& t) { return !t.alive; });
    for (const auto& [edge, one] : seen_edges)
      if (!seen_edges.count({edge.second, edge.first})) all.push_back(triangle(points, edge.first, edge.second, i));
  }
  return all;
}

double area_of(const Points& points, const Triangle& t) {
  const auto at = [&](std::size_t k) -> const Vector3d& { return points[static_cast<std::size_t>(t.v[k])]; };
  return (at(1) - at(0)).cross(at(2) - at(0)).norm();
}

struct PlaneFace {
  Vector3d normal;
  std::vector<int> ring;
};

/// Coplanar triangles become one polygon: all points of the hull near the plane of the largest one left.
std::vector<PlaneFace> merged_faces(const Points& points, std::vector<Triangle> triangles, double extent) {
  std::stable_sort(triangles.begin(), triangles.end(),
                   [&](const Triangle& s, const Triangle& t) { return area_of(points, s) > area_of(points, t); });
  std::vector<int> on_hull;
  for (const Triangle& t : triangles) on_hull.insert(on_hull.end(), t.v.begin(), t.v.end());
  std::sort(on_hull.begin(), on_hull.end());
  on_hull.erase(std::unique(on_hull.begin(), on_hull.end()), on_hull.end());

  std::vector<PlaneFace> faces;
  std::vector<char> near(points.size());
  for (const Triangle& t : triangles) {
    if (!t.alive) continue;
    std::vector<int> chosen;
    std::fill(near.begin(), near.end(), 0);
    for (const int i : on_hull)
      if (std::abs(t.normal.dot(points[static_cast<std::size_t>(i)]) - t.offset) <= 10 * flat * extent) {
        chosen.push_back(i);
        near[static_cast<std::size_t>(i)] = 1;
      }
    for (Triangle& other : triangles)
      if (near[static_cast<std::size_t>(other.v[0])] && near[static_cast<std::size_t>(other.v[1])] &&
          near[static_cast<std::size_t>(other.v[2])])
        other.alive = false;
    const Vector3d u = t.normal.unitOrthogonal(), v = t.normal.cross(u);
    std::vector<int> ring = polygon_of(points, std::move(chosen), u, v, flat * extent);
    if (ring.size() >= 3) faces.push_back({t.normal, std::move(ring)});
  }
  return faces;
}

void connect_edges(Hull& hull) {
  std::map<std::pair<int, int>, int> edge_of;
  hull.loop_edge.resize(hull.loop.size());
  for (int f = 0; f < static_cast<int>(hull.faces.size()); ++f) {
    const Hull::Face& face = hull.faces[static_cast<std::size_t>(f)];
    for (int k = 0; k < face.count; ++k) {
      const int from = hull.loop[static_cast<std::size_t>(face.first + k)];
      const int to = hull.loop[static_cast<std::size_t>(face.first + (k + 1) % face.count)];
      const auto [it, is_new] =
          edge_of.try_emplace({std::min(from, to), std::max(from, to)}, static_cast<int>(hull.edges.size()));
      if (is_new)
        hull.edges.push_back({from, to, f, -1});
      else
        hull.edges[static_cast<std::size_t>(it->second)].right = f;
      hull.loop_edge[static_cast<std::size_t>(face.first + k)] = it->second;
    }
  }
}

void list_faces_around_vertices(Hull& hull) {
  hull.around_first.assign(hull.vertices.size() + 1, 0);
  for (const int v : hull.loop) ++hull.around_first[static_cast<std::size_t>(v) + 1];
  std::partial_sum(hull.around_first.begin(), hull.around_first.end(), hull.around_first.begin());
  hull.around.resize(hull.loop.size());
  std::vector<int> next(hull.around_first.begin(), hull.around_first.end() - 1);
  for (int f = 0; f < static_cast<int>(hull.faces.size()); ++f)
    for (int k = 0; k < hull.faces[static_cast<std::size_t>(f)].count; ++k) {
      const int v = hull.loop[static_cast<std::size_t>(hull.faces[static_cast<std::size_t>(f)].first + k)];
      hull.around[static_cast<std::size_t>(next[static_cast<std::size_t>(v)]++)] = f;
    }
}

void finish(Hull& hull, bool solid) {
  for (const Vector3d& v : hull.vertices) hull.size = std::max(hull.size, v.norm());
  if (!solid) return;
  connect_edges(hull);
  list_faces_around_vertices(hull);
}

/// The polygon of the vertices in their order, as a hull in the plane.
Hull planar_hull(const Points& ring, std::vector<int> source) {
  Hull hull;
  hull.vertices = ring;
  hull.source = std::move(source);
  const int n = static_cast<int>(ring.size());
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    const Vector3d along = ring[static_cast<std::size_t>(j)] - ring[static_cast<std::size_t>(i)];
    const Vector3d normal = Vector3d(along[1], -along[0], 0).normalized();
    hull.faces.push_back({normal, normal.dot(ring[static_cast<std::size_t>(i)]), 2 * i, 2});
    hull.loop.insert(hull.loop.end(), {i, j});
  }
  finish(hull, false);
  return hull;
}

}  // namespace

Hull convex_hull(const Points& points, int dimension) {
  const int needed = dimension == 2 ? 3 : 4;
  if (static_cast<int>(points.size()) < needed)
    throw InputError(
        fmt::format("mesh: {} points cannot enclose a body; at least {} are needed", points.size(), needed));
  const double extent = extent_of(points);
  if (!(extent > 0)) throw InputError("mesh: all points are the same; give points that span a body");

  if (dimension == 2) {
    std::vector<int> all(points.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int> ring = polygon_of(points, all, Vector3d::UnitX(), Vector3d::UnitY(), flat * extent);
    if (ring.size() < 3)
      throw InputError("mesh: all points lie on one line, so they enclose nothing; give points that span a body");
    Points corners;
    for (const int i : ring) corners.push_back(points[static_cast<std::size_t>(i)]);
    return planar_hull(corners, ring);
  }

  const std::vector<PlaneFace> polygons = merged_faces(points, triangulated_hull(points, extent), extent);
  Hull hull;
  std::vector<int> number(points.size(), -1);
  for (const PlaneFace& polygon : polygons) {
    Hull::Face face{polygon.normal, 0, static_cast<int>(hull.loop.size()), static_cast<int>(polygon.ring.size())};
    for (const int i : polygon.ring) {
      int& n = number[static_cast<std::size_t>(i)];
      if (n < 0) {
        n = hull.number_of_vertices();
        hull.vertices.push_back(points[static_cast<std::size_t>(i)]);
        hull.source.push_back(i);
      }
      hull.loop.push_back(n);
      face.offset += polygon.normal.dot(points[static_cast<std::size_t>(i)]) / static_cast<double>(polygon.ring.size());
    }
    hull.faces.push_back(face);
  }
  finish(hull, true);
  // Euler's formula, and two faces at each edge: otherwise rounding has torn the surface.
  const bool closed =
      std::all_of(hull.edges.begin(), hull.edges.end(), [](const Hull::Edge& e) { return e.right >= 0; });
  if (!closed || hull.vertices.size() + hull.faces.size() != hull.edges.size() + 2)
    throw InputError(
        fmt::format("mesh: the hull of these {} points is too thin or too finely divided to be told from "
                    "rounding ({} vertices, {} edges, {} faces); leave out points that are nearly the same",
                    points.size(), hull.vertices.size(), hull.edges.size(), hull.faces.size()));
  return hull;
}

Hull box_hull(const Vector3d& size, int dimension) {
  const Vector3d h = size / 2;
  if (dimension == 2)
    return planar_hull({{-h[0], -h[1], 0}, {h[0], -h[1], 0}, {h[0], h[1], 0}, {-h[0], h[1], 0}}, {0, 1, 2, 3});
  Hull hull;
  for (int i = 0; i < 8; ++i) {  // corner i: bit k says on which side of axis k it lies
    hull.vertices.emplace_back(i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]);
    hull.source.push_back(i);
  }
  static constexpr int rings[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (int f = 0; f < 6; ++f) {
    Vector3d normal = Vector3d::Zero();
    normal[f / 2] = f % 2 ? 1 : -1;
    hull.faces.push_back({normal, h[f / 2], 4 * f, 4});
    hull.loop.insert(hull.loop.end(), std::begin(rings[f]), std::end(rings[f]));
  }
  finish(hull, true);
  return hull;
}

Hull segment_hull(double half, const Vector3d& axis, int dimension) {
  if (dimension == 2) return planar_hull({-half * axis, half * axis}, {0, 1});
  Hull hull;
  hull.vertices = {-half * axis, half * axis};
  hull.source = {0, 1};
  hull.edges = {{0, 1, -1, -1}};
  finish(hull, false);
  return hull;
}

MassProperties mass_properties(const Hull& hull, int dimension) {
  // Sum over simplices with one corner at c, the mean of the vertices: with s the sum of the n+1 corners (relative to
  // c)
  //   int x = V s/(n+1),   int x x^T = V (s s^T + sum_k x_k x_k^T)/((n+1)(n+2))
  MassProperties result;
  Vector3d c = Vector3d::Zero();
  for (const Vector3d& v : hull.vertices) c += v / static_cast<double>(hull.vertices.size());
  Vector3d first = Vector3d::Zero();
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();
  const auto at = [&](int k) {
    return Vector3d(hull.vertices[static_cast<std::size_t>(hull.loop[static_cast<std::size_t>(k)])] - c);
  };
  for (const Hull::Face& face : hull.faces)
    for (int k = 1; k + 1 < face.count || (dimension == 2 && k < 2); ++k) {
      const Vector3d p = at(face.first), q = at(face.first + k);
      const Vector3d r = dimension == 2 ? Vector3d::Zero() : at(face.first + k + 1);
      const double n = dimension;
      const double volume = dimension == 2 ? (p[0] * q[1] - p[1] * q[0]) / 2 : p.dot(q.cross(r)) / 6;
      const Vector3d s = p + q + r;
      result.volume += volume;
      first += volume / (n + 1) * s;
      second += volume / ((n + 1) * (n + 2)) *
                (s * s.transpose() + p * p.transpose() + q * q.transpose() + r * r.transpose());
    }
  const Vector3d shift = first / result.volume;
  second -= result.volume * shift * shift.transpose();
  result.centre = c + shift;
  result.inertia = second.trace() * Eigen::Matrix3d::Identity() - second;
  return result;
}

}  // namespace hinge::contact
