// Each body is, near the direction it is looked at from, one of
//
//   a point      p                          a vertex; the centre of a rim, with R |n x u| to be added
//   a line       n perpendicular to it      an edge, a capsule's segment, the side of a cylinder
//   a flat part  n given                    a face, a cap
//
// and s(n) = n.(p_a - p_b) - R_a |n x u_a| - R_b |n x u_b| - radii, on the sphere, or on the great circle perpendicular
// to a line. On either, with tangents T (T^T n = 0), Newton's method for the maximum of a function homogeneous of
// degree one solves (T^T H T - s I) d = -T^T g, where g, H are its gradient and Hessian in space and s = g.n.
#include "collide/separation.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "solve/newton/newton.hpp"

namespace hinge::contact {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// A vertex or the centre of a rim.
struct Point {
  Vector3d at;
  double rim = 0;
  Vector3d axis = Vector3d::UnitZ();
};
struct Line {
  Point from;  ///< any point of it, with the rim it carries along: none
  Vector3d along;
};

void list(const Convex& body, std::vector<Point>& points, std::vector<Line>& lines, std::vector<Vector3d>& flats) {
  points.clear();
  lines.clear();
  flats.clear();
  if (body.cylinder) {
    const Vector3d reach = body.half_length * body.axis;
    points = {{body.centre - reach, body.radius, body.axis}, {body.centre + reach, body.radius, body.axis}};
    lines = {{{body.centre, 0, body.axis}, body.axis}};
    flats = {body.axis, -body.axis};
    return;
  }
  const Core& core = body.core;
  for (const Vector3d& v : core.vertices) points.push_back({v});
  for (const Hull::Edge& e : core.hull->edges)
    lines.push_back({{core.vertex(e.from)}, (core.vertex(e.to) - core.vertex(e.from)).normalized()});
  flats = core.normals;
}

struct Search {
  const Convex &a, &b;
  Direction best{};
  void consider(const Vector3d& n) {
    const double length = n.norm();
    if (!(length > 1e-14) || !std::isfinite(length)) return;
    const Vector3d unit = n / length;
    if (const double s = separation(a, b, unit); s > best.separation) best = {s, unit};
  }
  void consider_both(const Vector3d& n) {
    consider(n);
    consider(-n);
  }
};

/// Newton's method for the maximum of n.(p - q) - rims, from n; with `line`, among n perpendicular to it.
Vector3d climb(const Point& p, const Point& q, const Vector3d* line, Vector3d n) {
  if (line) n -= line->dot(n) * *line;
  if (!(n.norm() > 1e-9)) return Vector3d::Zero();
  n.normalize();
  const Vector3d w = p.at - q.at;
  const double scale = w.norm() + p.rim + q.rim;
  const auto height = [&](const Vector3d& m) {
    return m.dot(w) - p.rim * p.axis.cross(m).norm() - q.rim * q.axis.cross(m).norm();
  };
  newton(Settling(newton_policy::separation), [&]() -> Increment {
    Vector3d g = w;
    Matrix3d hessian = Matrix3d::Zero();
    for (const Point* point : {&p, &q}) {
      if (point->rim == 0) continue;
      const Vector3d m = n - point->axis.dot(n) * point->axis;
      const double length = m.norm();
      if (length < 1e-10) return already_solved;  // the cap: a flat part
      g -= point->rim / length * m;
      hessian -= point->rim / length *
                 (Matrix3d::Identity() - point->axis * point->axis.transpose() - m * m.transpose() / (length * length));
    }
    const double s = g.dot(n);
    const Vector3d t1 = line ? Vector3d(line->cross(n)) : n.unitOrthogonal(), t2 = n.cross(t1);
    const double g1 = t1.dot(g), g2 = line ? 0 : t2.dot(g);
    const double h11 = t1.dot(hessian * t1) - s;
    const double h12 = line ? 0 : t1.dot(hessian * t2), h22 = line ? -1 : t2.dot(hessian * t2) - s;
    // Where it is not concave the sign of that curvature is turned, which leads uphill: |H|^-1 g by eigenvectors.
    const double mean = (h11 + h22) / 2, half = std::hypot((h11 - h22) / 2, h12);
    const double c = half > 0 ? (h11 - h22) / 2 / half : 1,
                 e = half > 0 ? h12 / half : 0;  // cos, sin of twice the angle
    const double least = 1e-12 * scale;
    const double p1 = 1 / std::max(std::abs(mean + half), least), p2 = 1 / std::max(std::abs(mean - half), least);
    const double d1 = ((p1 + p2) / 2 + (p1 - p2) / 2 * c) * g1 + (p1 - p2) / 2 * e * g2;
    const double d2 = (p1 - p2) / 2 * e * g1 + ((p1 + p2) / 2 - (p1 - p2) / 2 * c) * g2;
    const double step = std::hypot(d1, d2), value = height(n);
    const double longest = step > 0.4 ? 0.4 / step : 1;
    Vector3d next = n;
    damping(21, [&](double part) {
      next = (n + part * longest * (d1 * t1 + d2 * t2)).normalized();
      return !(height(next) < value - 1e-15 * scale);
    });
    n = next;
    return step;
  });
  return n;
}

}  // namespace

void Convex::place(const Placed& placed, const Vector3d& origin) {
  const Geometry& g = *placed.geometry;
  cylinder = g.kind == Shape::Kind::cylinder;
  if (!cylinder) {
    core.place(placed, origin);
    return;
  }
  centre = placed.position - origin;
  rotation = placed.rotation;
  axis = rotation.col(2);
  radius = g.radius;
  half_length = g.half_length;
}

double Convex::support(const Vector3d& n) const {
  if (cylinder) return n.dot(centre) + radius * axis.cross(n).norm() + half_length * std::abs(axis.dot(n));
  double most = -std::numeric_limits<double>::infinity();
  for (const Vector3d& v : core.vertices) most = std::max(most, n.dot(v));
  return most + core.radius;
}

Vector3d Convex::support_point(const Vector3d& n) const {
  if (!cylinder) return core.vertex(core.lowest(-n)) + core.radius * n;
  const Vector3d m = n - axis.dot(n) * axis;
  const double length = m.norm();
  Vector3d x = centre + (axis.dot(n) < 0 ? -half_length : half_length) * axis;
  if (length > 1e-12) x += radius / length * m;
  return x;
}

Direction coarse_direction(const Convex& a, const Convex& b) {
  Search search{a, b};
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z) search.consider(Vector3d(x, y, z));
  double step = 0.3;
  for (int k = 0; k < 60 && step > 0.01; ++k) {
    const Direction from = search.best;
    const Vector3d u = step * from.normal.unitOrthogonal(), v = from.normal.cross(u);
    for (const Vector3d& aside : {u, v, Vector3d(-u), Vector3d(-v)}) search.consider(from.normal + aside);
    if (search.best.separation == from.separation) step /= 2;
  }
  return search.best;
}

Direction best_direction(const Convex& a, const Convex& b, const std::vector<Vector3d>& starts) {
  thread_local std::vector<Point> points_a, points_b;
  thread_local std::vector<Line> lines_a, lines_b;
  thread_local std::vector<Vector3d> flats_a, flats_b;
  list(a, points_a, lines_a, flats_a);
  list(b, points_b, lines_b, flats_b);
  Search search{a, b};
  for (const Vector3d& n : starts) search.consider(n);
  for (const Vector3d& n : flats_a) search.consider(-n);
  for (const Vector3d& n : flats_b) search.consider(n);
  for (const Line& x : lines_a)
    for (const Line& y : lines_b) search.consider_both(x.along.cross(y.along));
  // Corners against straight lines, and against corners: n along what is between them.
  const auto across = [](const Line& line, const Vector3d& p) {
    const Vector3d between = p - line.from.at;
    return Vector3d(between - line.along.dot(between) * line.along);
  };
  for (const Line& x : lines_a)
    for (const Point& y : points_b)
      if (y.rim == 0) search.consider(-across(x, y.at));
  for (const Line& y : lines_b)
    for (const Point& x : points_a)
      if (x.rim == 0) search.consider(across(y, x.at));
  if (a.cylinder && b.cylinder) search.consider_both(across(lines_b[0], a.centre));  // axes side by side

  // Rims: corners in closed form, everything else by Newton's method from the starts and from the best so far.
  const auto from_rim = [&](const Point& rim, const Vector3d& p) {
    const Vector3d between = p - rim.at, m = between - rim.axis.dot(between) * rim.axis;
    const double length = m.norm();
    return Vector3d(length > 1e-14 ? Vector3d(p - rim.at - rim.rim / length * m) : between);
  };
  const Vector3d first = search.best.normal;
  const auto climb_from_all = [&](const Point& p, const Point& q, const Vector3d* line) {
    for (const Vector3d& n : starts) search.consider(climb(p, q, line, n));
    search.consider(climb(p, q, line, first));
    if (!(a.cylinder && b.cylinder)) return;
    // Two rims deep in each other can have several maxima.
    const Vector3d u = 0.7 * first.unitOrthogonal(), v = first.cross(u);
    for (const Vector3d& aside : {u, v, Vector3d(-u), Vector3d(-v)}) search.consider(climb(p, q, line, first + aside));
  };
  for (const Point& x : points_a)
    for (const Point& y : points_b) {
      if (x.rim > 0 && y.rim == 0) search.consider(-from_rim(x, y.at));
      if (y.rim > 0 && x.rim == 0) search.consider(from_rim(y, x.at));
      if (x.rim > 0 && y.rim > 0) climb_from_all(x, y, nullptr);
    }
  for (const Point& x : points_a)
    if (x.rim > 0)
      for (const Line& y : lines_b) climb_from_all(x, y.from, &y.along);
  for (const Point& y : points_b)
    if (y.rim > 0)
      for (const Line& x : lines_a) climb_from_all(x.from, y, &x.along);
  return search.best;
}

}  // namespace hinge::contact
