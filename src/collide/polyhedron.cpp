// Boxes, convex meshes, capsules and spheres against boxes and convex meshes, in space.
//
// The signed distance of two convex bodies is the maximum over directions n of s(n) = min_a n.x - max_b n.x. For
// polyhedra it is taken at the normal of a face, or at the cross product of two edges, or, where they are apart, along
// the line from a corner to a corner or an edge. All of these are tried, which is exact and needs no iteration:
//
//   faces    every face of each against the corners of the other
//   edges    pairs whose arcs on the sphere of normals cross: only these can bound the Minkowski difference
//   corners  where the best of the above does not lead to a point on both bodies
//
// A face is answered with a whole patch of contact (see patch.cpp), the others with one point.
#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "collide/core.hpp"
#include "collide/features.hpp"
#include "collide/meeting_edges.hpp"
#include "collide/patch.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

struct EdgeAxis {
  double separation = -std::numeric_limits<double>::infinity();
  int a = -1, b = -1;
  Vector3d normal = Vector3d::Zero();  ///< from b to a
};

/// Do the arcs of normals n1, n2 (of the faces at an edge along u of a) and -m1, -m2 (at one along v of b) cross? The
/// arc of an edge is perpendicular to the edge. A segment has no faces: all normals perpendicular to it are its own.
bool arcs_cross(const Vector3d& n1, const Vector3d& n2, const Vector3d& u, const Vector3d& m1, const Vector3d& m2,
                const Vector3d& v) {
  const double a = -m1.dot(u), b = -m2.dot(u), c = n1.dot(v), d = n2.dot(v);
  // On opposite sides of each other's great circle, and on the same half of the sphere.
  return a * b < 0 && c * d < 0 && n1.cross(n2).dot(m1) * m1.cross(m2).dot(n2) < 0;
}

/// min_a n.x - max_b n.x
double separation_along(const Vector3d& n, const Core& a, const Core& b) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int i = 0; i < a.number_of_vertices(); ++i) low = std::min(low, n.dot(a.vertex(i)));
  for (int i = 0; i < b.number_of_vertices(); ++i) high = std::max(high, n.dot(b.vertex(i)));
  return low - high;
}

EdgeAxis best_edges(const Core& a, const Core& b, double stop_above) {
  EdgeAxis best;
  const bool solid = a.number_of_faces() > 0;
  for (int i = 0; i < a.number_of_edges(); ++i) {
    const Hull::Edge& ea = a.edge(i);
    const Vector3d u = a.vertex(ea.to) - a.vertex(ea.from);
    for (int j = 0; j < b.number_of_edges(); ++j) {
      const Hull::Edge& eb = b.edge(j);
      const Vector3d &m1 = b.normal(eb.left), &m2 = b.normal(eb.right);
      if (!(m1.dot(u) * m2.dot(u) < 0)) continue;
      const Vector3d v = b.vertex(eb.to) - b.vertex(eb.from);
      if (solid && !arcs_cross(a.normal(ea.left), a.normal(ea.right), u, m1, m2, v)) continue;
      Vector3d n = u.cross(v);
      const double length = n.norm();
      if (length < 1e-8 * u.norm() * v.norm()) continue;  // parallel: the faces beside them say the same
      n /= n.dot(m1 + m2) < 0 ? -length : length;
      const double s = n.dot(a.vertex(ea.from) - b.vertex(eb.from));
      if (!(s > best.separation)) continue;
      // Where faces are parallel up to rounding, the signs above mean nothing: s must be the separation along n.
      if (s > separation_along(n, a, b) + 1e-10 * (a.hull->size + b.hull->size)) continue;
      best = {s, i, j, n};
      if (s > stop_above) return best;
    }
  }
  return best;
}

/// Where two lines p + t u and q + r v come nearest to each other.
std::pair<double, double> nearest_on_lines(const Vector3d& p, const Vector3d& u, const Vector3d& q, const Vector3d& v) {
  const Vector3d w = p - q, n = u.cross(v);
  const double nn = n.squaredNorm();
  return {v.cross(w).dot(n) / nn, u.cross(w).dot(n) / nn};
}

bool add_edges(Collector& to, const EdgeAxis& axis, bool in_any_case) {
  const Hull::Edge &ea = to.a.edge(axis.a), &eb = to.b.edge(axis.b);
  const Vector3d &p = to.a.vertex(ea.from), &q = to.b.vertex(eb.from);
  const Vector3d u = to.a.vertex(ea.to) - p, v = to.b.vertex(eb.to) - q;
  const auto [t, r] = nearest_on_lines(p, u, q, v);
  const auto inside = [](double x) { return x >= -overhang && x <= 1 + overhang; };
  if (!in_any_case && !(inside(t) && inside(r))) return false;
  to.add(q + std::clamp(r, 0.0, 1.0) * v, axis.normal, axis.separation, edges_feature(axis.a, axis.b));
  return true;
}

/// Two polyhedra apart, nearest in a corner and an edge (or its end). All that are equally near: edges may be parallel.
void nearest_corner_and_edge(Collector& to, double size) {
  const auto each = [&](auto&& use) {
    for (const bool vertex_of_a : {true, false}) {
      const Core &x = vertex_of_a ? to.a : to.b, &y = vertex_of_a ? to.b : to.a;
      for (int i = 0; i < x.number_of_vertices(); ++i)
        for (int j = 0; j < y.number_of_edges(); ++j) {
          const Vector3d &c = x.vertex(i), &p = y.vertex(y.edge(j).from), along = y.vertex(y.edge(j).to) - p;
          const double t = std::clamp(along.dot(c - p) / along.squaredNorm(), 0.0, 1.0);
          const Vector3d foot = p + t * along;
          use(vertex_of_a, i, j, c, foot, (c - foot).norm());
        }
    }
  };
  double least = std::numeric_limits<double>::infinity();
  each([&](bool, int, int, const Vector3d&, const Vector3d&, double d) { least = std::min(least, d); });
  if (!(least > 0) || least - to.a.radius - to.b.radius > to.band) return;
  const std::size_t first = to.out.size();
  each([&](bool vertex_of_a, int i, int j, const Vector3d& c, const Vector3d& foot, double d) {
    if (d > least + preference * size) return;
    const Vector3d &on_a = vertex_of_a ? c : foot, &on_b = vertex_of_a ? foot : c;
    const Vector3d normal = (on_a - on_b) / d, place = to.origin + on_b + to.b.radius * normal;
    for (std::size_t k = first; k < to.out.size(); ++k)
      if ((to.out[k].point - place).norm() < 1e-6 * size) return;
    to.add(on_b, normal, d, corner_feature(vertex_of_a, i, j));
  });
}

}  // namespace

void polyhedron_polyhedron(const Placed& a, const Placed& b, double band, Touches& out) {
  thread_local Core ca, cb;
  ca.place(a, b.position);
  cb.place(b, b.position);
  const double size = std::max(ca.hull->size, cb.hull->size), radii = ca.radius + cb.radius;
  const FaceAxis of_a = best_face(ca, cb);
  if (of_a.separation - radii > band) return;
  const FaceAxis of_b = best_face(cb, ca);
  if (of_b.separation - radii > band) return;
  const EdgeAxis edges = best_edges(ca, cb, band + radii);
  if (edges.separation - radii > band) return;

  Collector to{ca, cb, b.position, band, out};
  const double faces = std::max(of_a.separation, of_b.separation);
  const bool apart = std::max(faces, edges.separation) > 0;
  const bool a_is_base = of_a.separation + preference * size >= of_b.separation;
  const Core &base = a_is_base ? ca : cb, &other = a_is_base ? cb : ca;
  const FaceAxis& axis = a_is_base ? of_a : of_b;
  if (slide_past(ca, cb, base.normal(axis.face), faces)) return;
  if (add_meeting_edges(to, base, axis, other, a_is_base)) return;
  const bool reached = edges.separation > faces + preference * size
                           ? add_edges(to, edges, !apart)
                           : add_patch(to, base, axis, other, a_is_base, size, !apart);
  if (!reached) nearest_corner_and_edge(to, size);
}

}  // namespace hinge::contact
