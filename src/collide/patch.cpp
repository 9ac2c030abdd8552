// The facing polygon of y is clipped by the sides of the face of x. Each corner of what remains is one of
//
//   a vertex of y over the face of x        gap = n . (vertex - face)             n: the face's normal
//   a vertex of x over the face of y        gap = m . (vertex - face of y)        m: that face's normal
//   an edge of y across an edge of x        gap along the common perpendicular of the two edges
//
// (left out where its foot falls beside the other face or edge), and for each of these d gap/dt is exactly normal .
// (relative velocity), also where the two faces are not parallel. Two edges that are nearly parallel have no good
// common perpendicular; n is used for them, with an error of the order of (angle between the faces, at most 0.1) x
// (sliding velocity) in d gap/dt. Parallel faces give the corners of their overlap with equal gaps: two boxes upon each
// other rest on four points.
#include "collide/patch.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Geometry>

#include "collide/features.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

/// A corner of the polygon being clipped, and what the side from it to the next one lies on: edge e >= 0 of y, or, as
/// -1 - k, side k of the face of x.
struct Corner {
  Vector3d x;
  int vertex = -1;  ///< of y, where it is one
  int side = 0;
};
using Polygon = std::vector<Corner>;

/// The face of y at vertex v that faces n most.
int facing_face(const Core& y, int v, const Vector3d& n) {
  const Hull& hull = *y.hull;
  int best = -1;
  for (int k = hull.around_first[static_cast<std::size_t>(v)]; k < hull.around_first[static_cast<std::size_t>(v) + 1];
       ++k) {
    const int f = hull.around[static_cast<std::size_t>(k)];
    if (best < 0 || y.normal(f).dot(n) < y.normal(best).dot(n)) best = f;
  }
  return best;
}

/// What is to be clipped: a face, a segment (there and back), or a single point.
void begin(Polygon& polygon, const Core& y, int face) {
  polygon.clear();
  if (face >= 0) {
    const Hull::Face& f = y.face(face);
    for (int k = f.first; k < f.first + f.count; ++k) {
      const int v = y.hull->loop[static_cast<std::size_t>(k)];
      polygon.push_back({y.vertex(v), v, y.hull->loop_edge[static_cast<std::size_t>(k)]});
    }
  } else {
    for (int v = 0; v < y.number_of_vertices(); ++v) polygon.push_back({y.vertex(v), v, 0});
  }
}

/// Sutherland and Hodgman: keeps what lies on the inner side of one side of the face.
void clip(const Polygon& from, const Vector3d& outward, double offset, int side, double tolerance, Polygon& to) {
  to.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Corner &p = from[i], &q = from[(i + 1) % from.size()];
    const double dp = outward.dot(p.x) - offset, dq = outward.dot(q.x) - offset;
    const bool p_in = dp <= tolerance, q_in = dq <= tolerance;
    if (p_in) to.push_back(p);
    if (p_in == q_in) continue;
    const Vector3d crossing = p.x + std::clamp(dp / (dp - dq), 0.0, 1.0) * (q.x - p.x);
    to.push_back({crossing, -1, p_in ? -1 - side : p.side});
  }
}

struct Patch {
  Collector& to;
  const Core &x, &y;
  int face_x, face_y;  ///< face_y is -1 for a segment or a point
  bool x_is_a;
  double size;

  /// Does the foot of p in the plane of a face lie in the face?
  bool lies_over(const Core& z, int f, const Vector3d& p) const {
    const Hull::Face& face = z.face(f);
    for (int k = 0; k < face.count; ++k) {
      const Vector3d& q = z.vertex(z.hull->loop[static_cast<std::size_t>(face.first + k)]);
      const Vector3d& r = z.vertex(z.hull->loop[static_cast<std::size_t>(face.first + (k + 1) % face.count)]);
      if ((r - q).cross(z.normal(f)).normalized().dot(p - q) > overhang * size) return false;
    }
    return true;
  }
  void vertex_of_y(int v) const {
    const Vector3d& n = x.normal(face_x);
    const double h = n.dot(y.vertex(v)) - x.offset(face_x);
    to.add(x_is_a ? y.vertex(v) : Vector3d(y.vertex(v) - h * n), x_is_a ? Vector3d(-n) : n, h,
           vertex_feature(!x_is_a, v));
  }
  void vertex_of_x(int v) const {
    const Vector3d& m = y.normal(face_y);
    const double h = m.dot(x.vertex(v)) - y.offset(face_y);
    if (!lies_over(y, face_y, x.vertex(v))) return;
    to.add(x_is_a ? Vector3d(x.vertex(v) - h * m) : x.vertex(v), x_is_a ? m : Vector3d(-m), h,
           vertex_feature(x_is_a, v));
  }
  void crossing(const Vector3d& place, int edge_x, int edge_y) const {
    const Vector3d& n = x.normal(face_x);
    const Hull::Edge &ex = x.edge(edge_x), &ey = y.edge(edge_y);
    const Vector3d &p = x.vertex(ex.from), &q = y.vertex(ey.from);
    const Vector3d u = x.vertex(ex.to) - p, v = y.vertex(ey.to) - q;
    Vector3d m = u.cross(v);
    const double sine = m.norm() / (u.norm() * v.norm());
    double h = n.dot(place) - x.offset(face_x);
    Vector3d on_x = place - h * n, on_y = place;
    if (sine > 0.3) {
      m.normalize();
      if (m.dot(n) < 0) m = -m;
      h = m.dot(q - p);
      // The feet of the common perpendicular, p + t u and q + r v, must lie on the edges.
      const Vector3d w = p - q, c = u.cross(v);
      const double t = v.cross(w).dot(c) / c.squaredNorm(), r = u.cross(w).dot(c) / c.squaredNorm();
      if (t < -overhang || t > 1 + overhang || r < -overhang || r > 1 + overhang) return;
      on_x = p + t * u;
      on_y = on_x + h * m;
    } else {
      if (std::abs(v.dot(n)) > 0.1 * v.norm()) return;  // it rises too steeply for n
      m = n;
    }
    to.add(x_is_a ? on_y : on_x, x_is_a ? Vector3d(-m) : m, h,
           x_is_a ? edges_feature(edge_x, edge_y) : edges_feature(edge_y, edge_x));
  }
};

}  // namespace

/// Of many points the nearest one and those farthest out in eight directions: enough to carry any load a flat patch
/// can.
void thin_out(Touches& out, std::size_t first) {
  constexpr std::size_t most = 8;
  if (out.size() - first <= most) return;
  const Vector3d n = out[first].normal, u = n.unitOrthogonal(), v = n.cross(u);
  const auto farthest = [&](auto&& measure) {
    std::size_t best = first;
    for (std::size_t k = first + 1; k < out.size(); ++k)
      if (measure(out[k]) > measure(out[best])) best = k;
    return best;
  };
  std::array<std::size_t, most + 1> kept{};
  kept[most] = farthest([](const Touch& t) { return -t.gap; });
  for (std::size_t k = 0; k < most; ++k) {
    const double angle = 0.7853981633974483 * (static_cast<double>(k) + 0.1);
    const Vector3d direction = std::cos(angle) * u + std::sin(angle) * v;
    kept[k] = farthest([&](const Touch& t) { return direction.dot(t.point); });
  }
  std::sort(kept.begin(), kept.end());
  const auto end = std::unique(kept.begin(), kept.end());
  std::size_t next = first;
  for (auto it = kept.begin(); it != end; ++it) out[next++] = out[*it];
  out.resize(next);
}

bool add_patch(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a, double size,
               bool in_any_case) {
  thread_local Polygon polygon, rest;
  const Vector3d& n = x.normal(axis.face);
  const Hull::Face& face = x.face(axis.face);
  const int face_y = y.number_of_faces() > 0 ? facing_face(y, axis.vertex, n) : -1;
  begin(polygon, y, face_y);
  const auto loop = [&](int k) {
    return x.hull->loop[static_cast<std::size_t>(face.first + (k + face.count) % face.count)];
  };
  for (int k = 0; k < face.count && !polygon.empty(); ++k) {
    const Vector3d& p = x.vertex(loop(k));
    const Vector3d outward = (x.vertex(loop(k + 1)) - p).cross(n).normalized();
    clip(polygon, outward, outward.dot(p), k, overhang * size, rest);
    std::swap(polygon, rest);
  }

  const Patch patch{to, x, y, axis.face, face_y, x_is_a, size};
  const std::size_t first = to.out.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner& corner = polygon[i];
    const int before = polygon[(i + polygon.size() - 1) % polygon.size()].side, after = corner.side;
    least = std::min(least, n.dot(corner.x) - x.offset(axis.face));
    if (corner.vertex >= 0) {
      patch.vertex_of_y(corner.vertex);
    } else if (before < 0 && after < 0) {  // two sides of x's face: the vertex between them
      const int k = -1 - before, l = -1 - after;
      const int v = loop(l == (k + 1) % face.count ? l : k);
      if (face_y >= 0 && y.normal(face_y).dot(n) < 0) patch.vertex_of_x(v);
    } else {
      const int k = -1 - std::min(before, after), e = std::max(before, after);
      patch.crossing(corner.x, x.hull->loop_edge[static_cast<std::size_t>(face.first + k)], e);
    }
  }
  // A segment was clipped there and back: each of its points came twice.
  for (std::size_t i = first; i < to.out.size(); ++i)
    for (std::size_t j = to.out.size(); j-- > i + 1;)
      if (to.out[j].feature == to.out[i].feature) to.out.erase(to.out.begin() + static_cast<std::ptrdiff_t>(j));
  drop_deeper(to.out, first, axis.separation - x.radius - y.radius - 2 * overhang * size);
  thin_out(to.out, first);
  if (least <= axis.separation + 2 * overhang * size) return true;
  if (in_any_case) patch.vertex_of_y(axis.vertex);
  return in_any_case;
}

}  // namespace hinge::contact
