#include "collide/meeting_edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <Eigen/Geometry>

#include "collide/features.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

/// The normals from b to a that two edges along u, or two corners, have in common.
struct Arc {
  Vector3d e1, e2;
  double low = 0, high = 0;
  Vector3d at(double angle) const { return std::cos(angle) * e1 + std::sin(angle) * e2; }
};

/// From the normals of the faces beside each. None where there is no more than one, or two faces lie in one plane.
std::optional<Arc> common_normals(const std::array<Vector3d, 2>& of_a, const std::array<Vector3d, 2>& of_b,
                                  const Vector3d& u) {
  constexpr double narrow = 1e-3, parallel = 1e-5;
  const Vector3d middle = (of_b[0] + of_b[1]).normalized() - (of_a[0] + of_a[1]).normalized();
  Arc arc;
  arc.e1 = middle - u.dot(middle) * u;
  if (!(arc.e1.norm() > 1e-6)) return {};
  arc.e1.normalize();
  arc.e2 = u.cross(arc.e1);
  const auto angle = [&](const Vector3d& n) { return std::atan2(arc.e2.dot(n), arc.e1.dot(n)); };
  const std::array a{angle(-of_a[0]), angle(-of_a[1])}, b{angle(of_b[0]), angle(of_b[1])};
  for (const double x : a)
    for (const double y : b)
      if (std::abs(x - y) < parallel) return {};
  arc.low = std::max(std::min(a[0], a[1]), std::min(b[0], b[1]));
  arc.high = std::min(std::max(a[0], a[1]), std::max(b[0], b[1]));
  if (!(arc.high - arc.low > narrow)) return {};
  return arc;
}

std::optional<Vector3d> normal_between(const Arc& arc, const Vector3d& w, double rho) {
  const double d = w.norm();
  if (d > 3 * rho) return {};
  const double middle = (arc.low + arc.high) / 2;
  const Vector3d towards = w + rho * (1 - d / (3 * rho)) * arc.at(middle);
  const double angle = std::atan2(arc.e2.dot(towards), arc.e1.dot(towards));
  if (!(angle > arc.low && angle < arc.high)) return {};
  return arc.at(angle);
}

std::array<Vector3d, 2> beside(const Core& core, const Hull::Edge& e) {
  return {core.normal(e.left), core.normal(e.right)};
}

/// Edges ea and eb, nearly parallel.
bool add_pair(Collector& to, int ea, int eb, double rho) {
  const Core &a = to.a, &b = to.b;
  const Vector3d &p = a.vertex(a.edge(ea).from), &q = b.vertex(b.edge(eb).from);
  const Vector3d along_a = a.vertex(a.edge(ea).to) - p, along_b = b.vertex(b.edge(eb).to) - q;
  const double length = along_b.norm();
  const Vector3d u = along_b / length;
  // Places along b's edge where both are: [first, last]
  const double s0 = u.dot(p - q), s1 = s0 + u.dot(along_a);
  const double first = std::max(0.0, std::min(s0, s1)), last = std::min(length, std::max(s0, s1));
  if (!(last > first)) return false;
  const auto arc = common_normals(beside(a, a.edge(ea)), beside(b, b.edge(eb)), u);
  if (!arc) return false;
  std::array<Vector3d, 2> points, apart, normals;
  for (const int k : {0, 1}) {
    const auto i = static_cast<std::size_t>(k);
    const double s = k ? last : first;
    points[i] = q + s * u;
    apart[i] = p + (s - s0) / (s1 - s0) * along_a - points[i];
    apart[i] -= u.dot(apart[i]) * u;
    const auto n = normal_between(*arc, apart[i], rho);
    if (!n) return false;
    normals[i] = *n;
  }
  for (const std::size_t i : {0u, 1u}) to.add(points[i], normals[i], normals[i].dot(apart[i]), edges_feature(ea, eb));
  return true;
}

double rho_of(const Collector& to) { return blunt * std::min(to.a.hull->size, to.b.hull->size); }

}  // namespace

bool slide_past(const Core& a, const Core& b, const Vector3d& n, double separation) {
  constexpr double aside = 0.9, parallel = 1e-5;
  const double tolerance = level * std::min(a.hull->size, b.hull->size);
  if (separation < -tolerance || a.radius + b.radius > 0) return false;
  for (int f = 0; f < a.number_of_faces(); ++f) {
    if (std::abs(a.apart[static_cast<std::size_t>(f)]) > tolerance || std::abs(a.normal(f).dot(n)) > aside) continue;
    for (int g = 0; g < b.number_of_faces(); ++g)
      if (a.normal(f).dot(b.normal(g)) < 0 && (a.normal(f) + b.normal(g)).squaredNorm() < parallel * parallel)
        return true;
  }
  return false;
}

bool add_meeting_edges(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a) {
  constexpr double parallel = 1e-4;
  if (x.number_of_faces() == 0 || y.number_of_faces() == 0) return false;
  const double rho = rho_of(to);
  const Hull::Face& face = x.face(axis.face);
  for (int ey = 0; ey < y.number_of_edges(); ++ey) {
    if (y.edge(ey).from != axis.vertex && y.edge(ey).to != axis.vertex) continue;
    const Vector3d v = y.vertex(y.edge(ey).to) - y.vertex(y.edge(ey).from);
    if (std::abs(v.dot(x.normal(axis.face))) > parallel * v.norm()) continue;
    for (int k = face.first; k < face.first + face.count; ++k) {
      const int ex = x.hull->loop_edge[static_cast<std::size_t>(k)];
      const Vector3d &p = x.vertex(x.edge(ex).from), u = x.vertex(x.edge(ex).to) - p, c = u.cross(v);
      if (c.squaredNorm() > parallel * parallel * u.squaredNorm() * v.squaredNorm()) continue;
      const Vector3d between = y.vertex(axis.vertex) - p;
      if ((between - u.dot(between) / u.squaredNorm() * u).norm() > 4 * rho) continue;
      if (x_is_a ? add_pair(to, ex, ey, rho) : add_pair(to, ey, ex, rho)) return true;
    }
  }
  return false;
}

bool add_meeting_corners(Collector& to, const Core& x, const FaceAxis& axis, const Core& y, bool x_is_a) {
  if (x.number_of_vertices() < 3 || y.number_of_vertices() < 3) return false;
  const auto around = [](const Core& core, int v) {
    const int n = core.number_of_faces();
    return std::array{core.normal((v + n - 1) % n), core.normal(v)};
  };
  for (const int corner : {axis.face, (axis.face + 1) % x.number_of_vertices()}) {
    const int va = x_is_a ? corner : axis.vertex, vb = x_is_a ? axis.vertex : corner;
    const Vector3d w = to.a.vertex(va) - to.b.vertex(vb);
    const auto arc = common_normals(around(to.a, va), around(to.b, vb), Vector3d::UnitZ());
    const auto n = arc ? normal_between(*arc, w, rho_of(to)) : std::nullopt;
    if (!n) continue;
    to.add(to.b.vertex(vb), *n, n->dot(w), corner_feature(true, va, vb));
    return true;
  }
  return false;
}

}  // namespace hinge::contact
