// Convex polygons, capsules and disks in the plane.
//
// The signed distance of two convex bodies is the maximum over directions n of s(n) = min_a n.x - max_b n.x. For
// polygons it is taken at the normal of an edge, or, where they are apart, along the line between two corners. For an
// edge the points of contact are the ends of the part of the facing edge that lies over it, and each of them is a
// corner of one polygon over an edge of the other:
//
//   gap = m . (corner - edge) - radii,   m the outward normal of that edge,
//
// so that d gap/dt is exactly m . (relative velocity there), also where the two edges are not parallel.
#include <algorithm>
#include <cmath>

#include "collide/core.hpp"
#include "collide/features.hpp"
#include "collide/meeting_edges.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

/// Corner `v` of one over edge `f` of the other, x; a is the one that has the corner, or the other.
void add_corner(Collector& to, const Core& x, int f, const Vector3d& corner, int v, bool corner_of_a) {
  const Vector3d& m = x.normal(f);
  const double h = m.dot(corner) - x.offset(f);
  to.add(corner_of_a ? Vector3d(corner - h * m) : corner, corner_of_a ? m : Vector3d(-m), h,
         vertex_feature(corner_of_a, v));
}

/// The edge of y at vertex v that faces n most.
int facing_edge(const Core& y, int v, const Vector3d& n) {
  const int count = y.number_of_faces(), before = (v + count - 1) % count;
  return y.normal(v).dot(n) <= y.normal(before).dot(n) ? v : before;
}

/// Edge f of x against y. Returns the least height over it that was found.
double over_edge(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a, double tolerance) {
  const double infinity = std::numeric_limits<double>::infinity();
  const int f = axis.face, next = (f + 1) % x.number_of_vertices();
  const Vector3d &p = x.vertex(f), &n = x.normal(f);
  const Vector3d along(-n[1], n[0], 0);
  const double length = along.dot(x.vertex(next) - p);
  const auto place = [&](const Vector3d& c) { return along.dot(c - p); };
  const auto height = [&](const Vector3d& c) { return n.dot(c) - x.offset(f); };

  if (y.number_of_vertices() == 1) {
    const double t = place(y.vertex(0));
    if (t < 0 || t > length) return infinity;
    add_corner(to, x, f, y.vertex(0), 0, !x_is_a);
    return height(y.vertex(0));
  }
  const int g = facing_edge(y, axis.vertex, n), h = (g + 1) % y.number_of_vertices();
  const double tg = place(y.vertex(g)), th = place(y.vertex(h));  // tg > th when they face each other
  const Vector3d along_y(-y.normal(g)[1], y.normal(g)[0], 0);
  const double length_y = along_y.dot(y.vertex(h) - y.vertex(g));
  double least = infinity;
  const auto end = [&](int vertex, double t, double t_other, double y_height, double other_height) {
    if (t >= -tolerance && t <= length + tolerance) {
      add_corner(to, x, f, y.vertex(vertex), vertex, !x_is_a);
      least = std::min(least, y_height);
      return;
    }
    // Beyond the edge of x: its own corner there, if the edge of y passes over it, and it lies over the edge of y.
    const double border = t < 0 ? 0 : length;
    if ((t - border) * (t_other - border) >= 0) return;
    const int corner = t < 0 ? f : next;
    if (const double s = along_y.dot(x.vertex(corner) - y.vertex(g)); s < -tolerance || s > length_y + tolerance)
      return;
    add_corner(to, y, g, x.vertex(corner), corner, x_is_a);
    least = std::min(least, y_height + (other_height - y_height) * (border - t) / (t_other - t));
  };
  const double hg = height(y.vertex(g)), hh = height(y.vertex(h));
  end(g, tg, th, hg, hh);
  end(h, th, tg, hh, hg);
  return least;
}

/// Two polygons apart, nearest in two corners.
void nearest_corners(Collector& to) {
  int va = 0, vb = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < to.a.number_of_vertices(); ++i)
    for (int j = 0; j < to.b.number_of_vertices(); ++j)
      if (const double d = (to.a.vertex(i) - to.b.vertex(j)).squaredNorm(); d < least) least = d, va = i, vb = j;
  const double d = std::sqrt(least);
  if (d > 0) to.add(to.b.vertex(vb), (to.a.vertex(va) - to.b.vertex(vb)) / d, d, corner_feature(true, va, vb));
}

}  // namespace

void polygon_polygon(const Placed& a, const Placed& b, double band, Touches& out) {
  thread_local Core ca, cb;
  ca.place(a, b.position);
  cb.place(b, b.position);
  const FaceAxis of_a = best_face(ca, cb), of_b = best_face(cb, ca);
  const double size = std::max(ca.hull->size, cb.hull->size);
  const double separation = std::max(of_a.separation, of_b.separation);
  if (separation - ca.radius - cb.radius > band) return;
  Collector to{ca, cb, b.position, band, out};
  const std::size_t first = out.size();
  const bool prefer_a = of_a.separation + preference * size >= of_b.separation;
  const FaceAxis& axis = prefer_a ? of_a : of_b;
  const Core &base = prefer_a ? ca : cb, &other = prefer_a ? cb : ca;
  if (slide_past(ca, cb, base.normal(axis.face), separation)) return;
  if (add_meeting_corners(to, base, axis, other, prefer_a)) return;
  const double least = over_edge(to, base, axis, other, prefer_a, overhang * size);
  drop_deeper(out, first, axis.separation - ca.radius - cb.radius - 2 * overhang * size);
  if (least <= axis.separation + 2 * overhang * size) return;
  // Nothing of the other lies over the edge where it should be nearest.
  if (separation > 0)
    nearest_corners(to);
  else if (prefer_a)
    add_corner(to, ca, of_a.face, cb.vertex(of_a.vertex), of_a.vertex, false);
  else
    add_corner(to, cb, of_b.face, ca.vertex(of_b.vertex), of_b.vertex, true);
}

}  // namespace hinge::contact
