// Spheres (disks), capsules, planes and cylinders on planes: gaps in closed form.
//
// A sphere or a capsule is a point or a segment with a radius r around it. With x and y the nearest points of the two
// cores and d = |x - y|,
//
//   gap = d - r_a - r_b,   normal = (x - y)/d,   point = y + r_b normal.
#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>

#include "collide/narrow.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

struct Segment {
  Vector3d from, to;
};

Segment segment_of(const Placed& p) {
  const Vector3d reach = p.rotation * (p.geometry->half_length * p.geometry->axis);
  return {p.position - reach, p.position + reach};
}

/// Parameter in [0, 1] of the point of the segment that is nearest to x.
double nearest_on(const Segment& s, const Vector3d& x) {
  const Vector3d along = s.to - s.from;
  return std::clamp(along.dot(x - s.from) / along.squaredNorm(), 0.0, 1.0);
}

/// Two round cores, nearest at x of a and y of b. Where these coincide the normal is `fallback`.
bool between_cores(const Vector3d& x, const Vector3d& y, double ra, double rb, const Vector3d& fallback,
                   std::uint32_t feature, double band, Touches& out) {
  const Vector3d between = x - y;
  const double d = between.norm(), gap = d - ra - rb;
  if (!(gap <= band)) return false;
  // Below 1e-150 the square in the norm underflows.
  const Vector3d normal = d > 1e-150 ? Vector3d(between / d) : fallback;
  out.push_back({gap, y + rb * normal, normal, feature});
  return true;
}

Vector3d normal_of_plane(const Placed& plane) { return plane.rotation * plane.geometry->axis; }

/// A point of a, with radius r around it, over the plane b.
void over_plane(const Vector3d& x, double r, const Placed& b, const Vector3d& normal, std::uint32_t feature,
                double band, Touches& out) {
  const double height = normal.dot(x - b.position);
  if (height - r <= band) out.push_back({height - r, x - height * normal, normal, feature});
}

}  // namespace

void sphere_sphere(const Placed& a, const Placed& b, int dimension, double band, Touches& out) {
  between_cores(a.position, b.position, a.geometry->radius, b.geometry->radius, any_direction(dimension), 0, band, out);
}

void sphere_plane(const Placed& a, const Placed& b, double band, Touches& out) {
  over_plane(a.position, a.geometry->radius, b, normal_of_plane(b), 0, band, out);
}

void sphere_capsule(const Placed& a, const Placed& b, int dimension, double band, Touches& out) {
  const Segment s = segment_of(b);
  const Vector3d along = (s.to - s.from).normalized();
  const Vector3d fallback = dimension == 2 ? Vector3d(-along[1], along[0], 0) : along.unitOrthogonal();
  const double t = nearest_on(s, a.position);
  between_cores(a.position, s.from + t * (s.to - s.from), a.geometry->radius, b.geometry->radius, fallback, 0, band,
                out);
}

void sphere_box(const Placed& a, const Placed& b, int dimension, double band, Touches& out) {
  const Vector3d x = b.rotation.transpose() * (a.position - b.position), &half = b.geometry->half;
  const double r = a.geometry->radius;
  Vector3d y = x.cwiseMax(-half).cwiseMin(half);
  if (dimension == 2) y[2] = x[2];
  double d = (x - y).norm();
  Vector3d n;
  if (d > 1e-150) {
    n = (x - y) / d;
  } else {  // the centre is inside: out through the nearest face
    int k = 0;
    for (int j = 1; j < dimension; ++j)
      if (half[j] - std::abs(x[j]) < half[k] - std::abs(x[k])) k = j;
    n = Vector3d::Zero();
    n[k] = x[k] < 0 ? -1 : 1;
    d = std::abs(x[k]) - half[k];
    y = x - d * n;
  }
  if (d - r <= band) out.push_back({d - r, b.position + b.rotation * y, b.rotation * n, 0});
}

void sphere_cylinder(const Placed& a, const Placed& b, double band, Touches& out) {
  const Vector3d x = b.rotation.transpose() * (a.position - b.position);
  const double R = b.geometry->radius, half = b.geometry->half_length, r = a.geometry->radius;
  const double rho = std::hypot(x[0], x[1]);
  const Vector3d radial = rho > 1e-150 ? Vector3d(x[0] / rho, x[1] / rho, 0) : Vector3d::UnitX();
  const double side = rho - R, top = std::abs(x[2]) - half;  // positive outside
  const Vector3d up(0, 0, x[2] < 0 ? -1 : 1);
  double d;
  Vector3d n;
  if (side > 0 && top > 0) {  // nearest to the rim
    d = std::hypot(side, top);
    n = (side * radial + top * up) / d;
  } else if (side > top) {
    d = side, n = radial;
  } else {
    d = top, n = up;
  }
  if (d - r <= band) out.push_back({d - r, b.position + b.rotation * (x - d * n), b.rotation * n, 0});
}

void capsule_capsule(const Placed& a, const Placed& b, double band, Touches& out) {
  const Segment s = segment_of(a), t = segment_of(b);
  const double ra = a.geometry->radius, rb = b.geometry->radius;
  const Vector3d u = s.to - s.from, v = t.to - t.from, w = s.from - t.from;
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm(), uw = u.dot(w), vw = v.dot(w);
  // sin^2 of the angle between the axes; uu vv - uv^2 would lose it to cancellation.
  const double sine2 = u.cross(v).squaredNorm() / (uu * vv);
  const bool parallel = sine2 < 1e-20;
  const Vector3d fallback = parallel ? v.unitOrthogonal() : u.cross(v).normalized();
  const std::size_t before = out.size();

  // Feature 0: the nearest points of both, min |w + p u - q v|.
  if (!parallel) {
    double p = std::clamp((uv * vw - vv * uw) / (sine2 * uu * vv), 0.0, 1.0);
    double q = (uv * p + vw) / vv;
    if (q < 0 || q > 1) {
      q = std::clamp(q, 0.0, 1.0);
      p = std::clamp((uv * q - uw) / uu, 0.0, 1.0);
    }
    if (!between_cores(s.from + p * u, t.from + q * v, ra, rb, fallback, 0, band, out)) return;
  }
  // Features 1 to 4: an end of one beside the other, where the two lie along each other (angle below 0.1). The ends of
  // a first, so that of two capsules of equal length exactly side by side it is these that count.
  if (sine2 >= 0.01) return;
  const auto add_end = [&](bool of_a, bool last) {
    const Vector3d x = of_a ? (last ? s.to : s.from) : (last ? t.to : t.from);
    const Segment& other = of_a ? t : s;
    const double q = nearest_on(other, x);
    const Vector3d y = other.from + q * (other.to - other.from);
    const bool beside = parallel || (q > 0 && q < 1);
    if (!beside) return;
    const Vector3d &on_a = of_a ? x : y, &on_b = of_a ? y : x;
    const Vector3d normal_guess = on_a - on_b;
    for (std::size_t k = before; k < out.size(); ++k)  // not twice the same place
      if ((out[k].point - (on_b + (rb / std::max(normal_guess.norm(), 1e-150)) * normal_guess)).norm() <
          1e-9 * std::sqrt(vv))
        return;
    // Parallel, but one behind the other: the ends that face each other are the nearest ones; the far ones are not.
    between_cores(on_a, on_b, ra, rb, fallback, 1u + (of_a ? 0u : 2u) + (last ? 1u : 0u), band, out);
  };
  for (const bool of_a : {true, false})
    for (const bool last : {false, true}) add_end(of_a, last);
}

void hull_plane(const Placed& a, const Placed& b, double band, Touches& out) {
  const Vector3d normal = normal_of_plane(b);
  const double r = a.geometry->kind == Shape::Kind::capsule ? a.geometry->radius : 0;
  const Hull& hull = a.geometry->hull;
  for (std::size_t i = 0; i < hull.vertices.size(); ++i)
    over_plane(a.position + a.rotation * hull.vertices[i], r, b, normal, static_cast<std::uint32_t>(i), band, out);
}

void cylinder_plane(const Placed& a, const Placed& b, double band, Touches& out) {
  // Each end has four points fixed in it (features 0 to 3, at 0, 90, 180 and 270 degrees) and its lowest point (4),
  // which is left out where the end is parallel to the plane; fixed points within 45 degrees of it give way to it.
  const Vector3d normal = normal_of_plane(b);
  const Vector3d down = -(a.rotation.transpose() * normal);
  const double r = a.geometry->radius, tilt = std::hypot(down[0], down[1]);
  for (const int end : {0, 1}) {
    const double z = end ? a.geometry->half_length : -a.geometry->half_length;
    const std::uint32_t first = end ? 8 : 0;
    const bool flat = tilt < 1e-9;
    const bool whole_end = (end ? down[2] : -down[2]) > 0.5;  // otherwise it leans so much that its lowest point is all
    if (whole_end)
      for (std::uint32_t k = 0; k < 4; ++k) {
        const Vector3d out_there((k == 0) - (k == 2), (k == 1) - (k == 3), 0);
        if (flat || out_there.dot(down) < std::sqrt(0.5) * tilt)
          over_plane(a.position + a.rotation * (r * out_there + Vector3d(0, 0, z)), 0, b, normal, first + k, band, out);
      }
    if (!flat)
      over_plane(a.position + a.rotation * Vector3d(r * down[0] / tilt, r * down[1] / tilt, z), 0, b, normal, first + 4,
                 band, out);
  }
}

}  // namespace hinge::contact
