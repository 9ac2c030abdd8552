// Cylinders against capsules, cylinders, boxes and meshes.
//
// The direction n of contact is found to rounding (separation.cpp). Then the parts of both that face each other along n
// are points, segments (an edge, a side line) or flat (a face, a cap), and the contact is
//
//   flat on flat         corners of the one over the other, and where their borders cross
//   segment on flat      the ends of what lies over it
//   parallel segments    the ends of their overlap
//   anything else        the one nearest point
//
// Heights are taken over the flat part whose normal is n, or, for its own corners, over the other flat part. Corners
// fixed in their bodies (and the lowest point of a rim) have d gap/dt = normal . relative velocity exactly; crossings
// of borders do up to (angle between the parts, at most 0.1) x (sliding velocity).
#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Geometry>

#include "collide/features.hpp"
#include "collide/separation.hpp"

namespace hinge::contact {
namespace {

using Eigen::Vector3d;

struct Numbered {
  Vector3d at;
  int number = 0;
};

/// What a body shows in some direction.
struct Part {
  enum class Kind { point, segment, flat } kind = Kind::point;
  std::vector<Numbered> corners{};  ///< of a polygon in order; of a cap four points of its rim, or three and the lowest
  bool disk = false;
  Vector3d centre = Vector3d::Zero(), normal = Vector3d::UnitZ();  ///< of a flat part
  double radius = 0, offset = 0;

  bool holds(const Vector3d& p, double tolerance) const {
    if (disk) return (p - centre).cross(normal).norm() <= radius + tolerance;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Vector3d &q = corners[k].at, &r = corners[(k + 1) % corners.size()].at;
      if ((r - q).cross(normal).normalized().dot(p - q) > tolerance) return false;
    }
    return true;
  }
  /// The part [t0, t1] of the segment p, q that lies over it.
  std::array<double, 2> clip(const Vector3d& p, const Vector3d& q) const {
    std::array<double, 2> t{0, 1};
    if (disk) {
      const Vector3d d = (q - p).cross(normal), m = (p - centre).cross(normal);
      const double dd = d.squaredNorm(), dm = d.dot(m), root = dm * dm - dd * (m.squaredNorm() - radius * radius);
      if (root < 0 || dd == 0) return {1, 0};
      return {std::max(0.0, (-dm - std::sqrt(root)) / dd), std::min(1.0, (-dm + std::sqrt(root)) / dd)};
    }
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Vector3d &c = corners[k].at, &e = corners[(k + 1) % corners.size()].at;
      const Vector3d outward = (e - c).cross(normal);
      const double f = outward.dot(p - c), g = outward.dot(q - c);
      if (f > 0 && g > 0) return {1, 0};
      if (f > 0) t[0] = std::max(t[0], f / (f - g));
      if (g > 0) t[1] = std::min(t[1], f / (f - g));
    }
    return t;
  }
};

/// The rim of one end of a cylinder: four points fixed in it; the lowest along `down` takes the place of the nearest.
void list_rim(const Convex& c, int end, const Vector3d& down, std::vector<Numbered>& corners) {
  const Vector3d centre = c.centre + (end ? c.half_length : -c.half_length) * c.axis;
  const Vector3d lean = down - c.axis.dot(down) * c.axis;
  const double tilt = lean.norm();
  const bool flat = tilt < 1e-9;
  corners.clear();
  bool lowest_listed = flat;
  for (int k = 0; k < 4; ++k) {
    const Vector3d out = (k % 2 ? c.rotation.col(1) : c.rotation.col(0)) * (k < 2 ? 1.0 : -1.0);
    if (flat || out.dot(lean) < std::sqrt(0.5) * tilt) {
      corners.push_back({centre + c.radius * out, 8 * end + k});
    } else if (!lowest_listed) {
      corners.push_back({centre + c.radius / tilt * lean, 8 * end + 4});
      lowest_listed = true;
    }
  }
}

/// What the body shows towards d. Parts that lean less than 0.1 from the plane perpendicular to d count as facing it.
void facing_part(const Convex& c, const Vector3d& d, Part& part) {
  constexpr double lean = 0.1, upright = 0.995;
  part.kind = Part::Kind::point;
  part.disk = false;
  part.corners.clear();
  if (c.cylinder) {
    const double along = c.axis.dot(d);
    const int end = along > 0;
    if (std::abs(along) > upright) {
      part.kind = Part::Kind::flat;
      part.disk = true;
      part.normal = end ? c.axis : Vector3d(-c.axis);
      part.centre = c.centre + c.half_length * part.normal;
      part.radius = c.radius;
      part.offset = part.normal.dot(part.centre);
      list_rim(c, end, d, part.corners);
    } else if (std::abs(along) < lean) {
      part.kind = Part::Kind::segment;
      const Vector3d side = c.radius * (d - along * c.axis).normalized();
      part.corners = {{c.centre + side - c.half_length * c.axis, 4}, {c.centre + side + c.half_length * c.axis, 12}};
    }
    return;
  }
  const Core& core = c.core;
  const int v = core.lowest(-d);
  int face = -1;
  for (int f = 0; f < core.number_of_faces(); ++f)
    if (core.normal(f).dot(d) > upright && (face < 0 || core.normal(f).dot(d) > core.normal(face).dot(d))) face = f;
  if (face >= 0) {
    part.kind = Part::Kind::flat;
    part.normal = core.normal(face);
    part.offset = core.offset(face);
    for (int k = 0; k < core.face(face).count; ++k) {
      const int i = core.hull->loop[static_cast<std::size_t>(core.face(face).first + k)];
      part.corners.push_back({core.vertex(i), i});
    }
    return;
  }
  int flattest = -1;
  double least = lean;
  for (int e = 0; e < core.number_of_edges(); ++e) {
    if (core.edge(e).from != v && core.edge(e).to != v) continue;
    const Vector3d along = (core.vertex(core.edge(e).to) - core.vertex(core.edge(e).from)).normalized();
    if (std::abs(along.dot(d)) < least) least = std::abs(along.dot(d)), flattest = e;
  }
  if (flattest < 0) return;
  part.kind = Part::Kind::segment;
  const Hull::Edge& e = core.edge(flattest);
  part.corners = {{core.vertex(e.from) + core.radius * d, e.from}, {core.vertex(e.to) + core.radius * d, e.to}};
}

/// Where a body reaches farthest along n: one point, or a straight line (of a flat part some line in it).
struct Extreme {
  Vector3d from, to;
  bool single = true;
};
Extreme extreme(const Convex& c, const Vector3d& n) {
  constexpr double level = 1e-9;
  const Vector3d x = c.support_point(n);
  if (c.cylinder) {
    const double along = c.axis.dot(n);
    if (std::abs(along) < level) {
      const Vector3d side = c.centre + c.radius * (n - along * c.axis).normalized(), reach = c.half_length * c.axis;
      return {side - reach, side + reach, false};
    }
    return {x, x, c.axis.cross(n).norm() > level};
  }
  const int v = c.core.lowest(-n);
  for (int i = 0; i < c.core.number_of_vertices(); ++i)
    if (i != v && n.dot(c.core.vertex(v) - c.core.vertex(i)) < level * c.size())
      return {x, c.core.vertex(i) + c.core.radius * n, false};
  return {x, x, true};
}

struct Meeting {
  const Convex &a, &b;
  Vector3d origin, normal;  ///< from b to a
  double separation, size, band;
  Touches& out;
  Part &part_a, &part_b;  ///< what faces the other

  /// A point of `on` (a or b), at height h over the other along `n`, which points out of the other.
  void add(bool of_a, const Vector3d& p, double h, const Vector3d& n, std::uint32_t feature) {
    if (h <= band) out.push_back({h, origin + (of_a ? Vector3d(p - h * n) : p), of_a ? n : Vector3d(-n), feature});
  }
  void corners_over(bool of_a) {
    const Part &part = of_a ? part_a : part_b, &base = of_a ? part_b : part_a;
    for (const Numbered& c : part.corners)
      if (base.holds(c.at, overhang * size))
        add(of_a, c.at, base.normal.dot(c.at) - base.offset, base.normal, vertex_feature(of_a, c.number));
  }
  /// Where the side p, q of a part enters and leaves the flat part below it.
  void side_over(bool of_a, const Numbered& p, const Numbered& q) {
    const Part& base = of_a ? part_b : part_a;
    const auto t = base.clip(p.at, q.at);
    if (t[0] > t[1]) return;
    for (const int k : {0, 1}) {
      const double at = t[static_cast<std::size_t>(k)];
      const Vector3d x = p.at + at * (q.at - p.at);
      const bool is_corner = at <= overhang || at >= 1 - overhang;
      if (!is_corner)
        add(of_a, x, base.normal.dot(x) - base.offset, base.normal,
            edges_feature(p.number % 256, 256 + 2 * (q.number % 128) + k));
    }
  }
  void sides_over(bool of_a) {
    const std::vector<Numbered>& corners = (of_a ? part_a : part_b).corners;
    const std::size_t n = corners.size() == 2 ? 1 : corners.size();
    for (std::size_t k = 0; k < n; ++k) side_over(of_a, corners[k], corners[(k + 1) % corners.size()]);
  }
  /// Where two caps upon each other cross with their rims.
  void rims_cross() {
    const Vector3d &n = part_b.normal, between = part_a.centre - part_b.centre;
    const Vector3d along = between - n.dot(between) * n;
    const double d = along.norm(), ra = part_a.radius, rb = part_b.radius;
    if (!(d > 1e-9 * size) || d >= ra + rb || d <= std::abs(ra - rb)) return;
    const double x = (d * d + rb * rb - ra * ra) / (2 * d), y = std::sqrt(std::max(0.0, rb * rb - x * x));
    const Vector3d u = along / d, v = n.cross(u);
    for (const int k : {0, 1}) {
      const Vector3d on_b = part_b.centre + x * u + (k ? y : -y) * v;
      // Up to the plane of a along n.
      const double h = (part_a.offset - part_a.normal.dot(on_b)) / part_a.normal.dot(n);
      add(true, on_b + h * n, h, n, edges_feature(511, k));
    }
  }
  /// Two parallel segments: the ends of each beside the other.
  void segments() {
    for (const bool of_a : {true, false}) {
      const auto &own = (of_a ? part_a : part_b).corners, &other = (of_a ? part_b : part_a).corners;
      const Vector3d along = other[1].at - other[0].at;
      for (const Numbered& c : own) {
        const double t = along.dot(c.at - other[0].at) / along.squaredNorm();
        if (t < -overhang || t > 1 + overhang) continue;
        const double h = normal.dot(c.at - other[0].at - t * along) * (of_a ? 1 : -1);
        add(of_a, c.at, h, of_a ? normal : Vector3d(-normal), vertex_feature(of_a, c.number));
      }
    }
  }
  void nearest() {
    // One of the two supports is a single point, unless two straight lines cross.
    const Extreme of_a = extreme(a, -normal), of_b = extreme(b, normal);
    Vector3d on_b = of_b.from;
    if (!of_b.single && of_a.single) on_b = of_a.from - separation * normal;
    if (!of_b.single && !of_a.single) {
      const Vector3d &p = of_a.from, &q = of_b.from, u = of_a.to - p, v = of_b.to - q, c = u.cross(v);
      if (c.norm() > 1e-9 * u.norm() * v.norm()) {
        on_b = q + std::clamp(u.cross(p - q).dot(c) / c.squaredNorm(), 0.0, 1.0) * v;
      } else {  // side by side: the middle of what they have in common, or the end that is next to the other
        const auto place = [&](const Vector3d& x) { return std::clamp(v.dot(x - q) / v.squaredNorm(), 0.0, 1.0); };
        on_b = q + (place(p) + place(of_a.to)) / 2 * v;
      }
    }
    add(false, on_b, separation, -normal, corner_feature(true, 255, 511));
  }
};

}  // namespace

void cylinder_any(const Placed& a, const Placed& b, double band, Touches& out) {
  thread_local Convex ca, cb;
  thread_local std::vector<Vector3d> starts;
  ca.place(a, b.position);
  cb.place(b, b.position);
  starts.clear();
  const Vector3d between = a.position - b.position;
  if (between.norm() > 1e-9 * (a.geometry->reach + b.geometry->reach)) {
    starts.push_back(between.normalized());
    if (separation(ca, cb, starts[0]) > band) return;
  }
  const Direction coarse = coarse_direction(ca, cb);
  if (coarse.separation > band) return;
  starts.push_back(coarse.normal);
  const Direction best = best_direction(ca, cb, starts);
  if (!(best.separation <= band)) return;

  thread_local Part part_a, part_b;
  Meeting meeting{ca,   cb,  b.position, best.normal, best.separation, std::max(ca.size(), cb.size()),
                  band, out, part_a,     part_b};
  facing_part(ca, -best.normal, meeting.part_a);
  facing_part(cb, best.normal, meeting.part_b);
  // The lowest point of a rim is lowest over the flat part it stands on.
  if (meeting.part_b.kind == Part::Kind::flat) facing_part(ca, -Vector3d(meeting.part_b.normal), meeting.part_a);
  if (meeting.part_a.kind == Part::Kind::flat) facing_part(cb, -Vector3d(meeting.part_a.normal), meeting.part_b);
  const std::size_t first = out.size();
  using Kind = Part::Kind;
  const Part &pa = meeting.part_a, &pb = meeting.part_b;
  if (pa.kind == Kind::flat && pb.kind == Kind::flat) {
    meeting.corners_over(true);
    meeting.corners_over(false);
    if (pa.disk && pb.disk)
      meeting.rims_cross();
    else
      meeting.sides_over(!pa.disk);  // the straight sides over the disk
  } else if (pa.kind == Kind::segment && pb.kind == Kind::flat) {
    meeting.corners_over(true);
    meeting.sides_over(true);
  } else if (pb.kind == Kind::segment && pa.kind == Kind::flat) {
    meeting.corners_over(false);
    meeting.sides_over(false);
  } else if (pa.kind == Kind::segment && pb.kind == Kind::segment) {
    const Vector3d u = (pa.corners[1].at - pa.corners[0].at).normalized();
    const Vector3d v = (pb.corners[1].at - pb.corners[0].at).normalized();
    if (u.cross(v).norm() < 1e-6) meeting.segments();
  }
  drop_deeper(out, first, best.separation - 2 * overhang * meeting.size);
  thin_out(out, first);
  const bool reached = std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), [&](const Touch& t) {
    return t.gap <= best.separation + 2 * overhang * meeting.size && (t.normal - best.normal).norm() < 1e-7;
  });
  if (!reached) meeting.nearest();
}

}  // namespace hinge::contact
