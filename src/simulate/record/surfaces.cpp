#include "simulate/record/surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "collide/hull.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

void add_hull(const contact::Hull& hull, int dimension, Surface& s) {
  s.points = hull.vertices;
  if (dimension == 2) {  // the faces are edges, in order
    std::vector<std::int64_t> loop;
    for (const auto& face : hull.faces) loop.push_back(hull.loop[static_cast<std::size_t>(face.first)]);
    s.polygons.push_back(loop);
    return;
  }
  for (const auto& face : hull.faces)
    s.polygons.emplace_back(hull.loop.begin() + face.first, hull.loop.begin() + face.first + face.count);
}

// Rings of `around` points along z, closed by the first and the last one.
void add_rings(const std::vector<std::pair<double, double>>& radius_and_height, Surface& s) {
  constexpr int around = 24;
  for (const auto& [r, z] : radius_and_height)
    for (int k = 0; k < around; ++k) {
      const double a = 2 * std::numbers::pi * k / around;
      s.points.emplace_back(r * std::cos(a), r * std::sin(a), z);
    }
  const auto rings = static_cast<std::int64_t>(radius_and_height.size());
  for (std::int64_t i = 0; i + 1 < rings; ++i)
    for (std::int64_t k = 0; k < around; ++k) {
      const std::int64_t next = (k + 1) % around;
      s.polygons.push_back({i * around + k, i * around + next, (i + 1) * around + next, (i + 1) * around + k});
    }
  std::vector<std::int64_t> bottom, top;
  for (std::int64_t k = 0; k < around; ++k) {
    bottom.push_back(around - 1 - k);
    top.push_back((rings - 1) * around + k);
  }
  s.polygons.push_back(bottom);
  s.polygons.push_back(top);
}

void add_capsule(const Shape& shape, int dimension, Surface& s) {
  const double r = shape.radius, half = shape.length / 2;
  constexpr int steps = 6;
  if (dimension == 2) {  // a stadium along y
    std::vector<std::int64_t> loop;
    for (int k = 0; k <= 4 * steps + 1; ++k) {
      const bool upper = k <= 2 * steps;
      const double a = std::numbers::pi * (upper ? k : k - 1) / (2 * steps);
      loop.push_back(static_cast<std::int64_t>(s.points.size()));
      s.points.emplace_back(r * std::cos(a), r * std::sin(a) + (upper ? half : -half), 0);
    }
    s.polygons.push_back(loop);
    return;
  }
  std::vector<std::pair<double, double>> rings;
  for (int k = -steps; k <= steps + 1; ++k) {
    const bool upper = k > 0;
    const double a = std::numbers::pi / 2 * (upper ? k - 1 : k) / steps;
    rings.emplace_back(std::max(r * std::cos(a), 1e-3 * r), r * std::sin(a) + (upper ? half : -half));
  }
  add_rings(rings, s);
}

// The piece of a plane that the scene lies over, with a margin. `at`: a point of it, in space.
void add_plane(const Vector3d& normal, const Vector3d& at, int dimension, const Extent& scene, Surface& s) {
  const Vector3d n = normal.normalized();
  Eigen::Index least = 0;
  n.cwiseAbs().minCoeff(&least);
  const Vector3d a = dimension == 2 ? Vector3d(-n(1), n(0), 0) : Vector3d(Vector3d::Unit(least).cross(n).normalized());
  const Vector3d b = n.cross(a);
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int corner = 0; corner < 8; ++corner) {
    Vector3d p = scene.low;
    for (int k = 0; k < 3; ++k)
      if (corner >> k & 1) p(k) = scene.high(k);
    for (int k = 0; k < 2; ++k) {
      const double x = (p - at).dot(k == 0 ? a : b);
      low[k] = std::min(low[k], x);
      high[k] = std::max(high[k], x);
    }
  }
  const double margin = 0.05 * std::max(high[0] - low[0], dimension == 2 ? 0 : high[1] - low[1]);
  const Vector3d left = at + (low[0] - margin) * a, right = at + (high[0] + margin) * a;
  if (dimension == 2) {  // a strip behind it
    const Vector3d thick = -0.02 * (high[0] - low[0] + 2 * margin) * n;
    s.points = {left, right, right + thick, left + thick};
  } else {
    const Vector3d front = (low[1] - margin) * b, back = (high[1] + margin) * b;
    s.points = {left + front, right + front, right + back, left + back};
  }
  s.polygons.push_back({0, 1, 2, 3});
}

// In the frame of the body; of a shape that is no plane.
Surface surface_of(const Collider& c, int dimension) {
  Surface s;
  s.body = c.body;
  s.name = c.name;
  switch (c.shape.kind) {
    case Shape::Kind::sphere:
    case Shape::Kind::plane: return s;
    case Shape::Kind::box: add_hull(contact::box_hull(c.shape.size, dimension), dimension, s); break;
    case Shape::Kind::mesh: add_hull(contact::convex_hull(c.shape.vertices, dimension), dimension, s); break;
    case Shape::Kind::capsule: add_capsule(c.shape, dimension, s); break;
    case Shape::Kind::cylinder:
      add_rings({{c.shape.radius, -c.shape.length / 2}, {c.shape.radius, c.shape.length / 2}}, s);
      break;
  }
  for (Vector3d& p : s.points) p = c.position + c.rotation * p;
  return s;
}

// Planes of one fixed body that are the walls of a box, as those of a [container]: their positions are opposite corners
// of it, and each is drawn as a face.
struct Walls {
  Vector3d low = Vector3d::Constant(INFINITY), high = Vector3d::Constant(-INFINITY);
  bool closed = true;
};

std::map<std::string, Walls> walls_of(const BodyTable& t) {
  std::map<std::string, Walls> all;
  for (const Collider& c : t.colliders) {
    if (c.body >= 0) continue;
    Walls& w = all[c.name];
    const Vector3d n = c.rotation * c.shape.normal.normalized();
    w.closed = w.closed && c.shape.kind == Shape::Kind::plane && n.cwiseAbs().maxCoeff() > 1 - 1e-12;
    w.low = w.low.cwiseMin(c.position);
    w.high = w.high.cwiseMax(c.position);
  }
  for (const Collider& c : t.colliders) {
    if (c.body >= 0 || c.shape.kind != Shape::Kind::plane) continue;
    Walls& w = all[c.name];
    Eigen::Index k = 0;
    const Vector3d n = c.rotation * c.shape.normal.normalized();
    n.cwiseAbs().maxCoeff(&k);
    w.closed = w.closed && c.position(k) == (n(k) > 0 ? w.low(k) : w.high(k));
  }
  std::erase_if(all, [&](const auto& entry) {
    const Walls& w = entry.second;
    return !w.closed || !((w.high - w.low).head(t.dimension).minCoeff() > 0);
  });
  return all;
}

Surface face_of(const Collider& c, const Walls& w, int dimension) {
  Surface s;
  Eigen::Index k = 0;
  const Vector3d n = c.rotation * c.shape.normal.normalized();
  n.cwiseAbs().maxCoeff(&k);
  const Eigen::Index i = dimension == 2 ? 1 - k : (k + 1) % 3, j = (k + 2) % 3;
  Vector3d a = w.low, b = w.high - w.low;
  a(k) = c.position(k);
  const Vector3d u = b(i) * Vector3d::Unit(i);
  const Vector3d v = dimension == 2 ? Vector3d(-0.02 * b.head(2).maxCoeff() * n)  // a strip outside of it
                                    : Vector3d(b(j) * Vector3d::Unit(j));
  s.points = {a, a + u, a + u + v, a + v};
  s.polygons.push_back({0, 1, 2, 3});
  return s;
}

}  // namespace

std::vector<Surface> moving_surfaces(const BodyTable& table) {
  std::vector<Surface> all;
  for (const auto* list : {&table.colliders, &table.ghosts})
    for (const Collider& c : *list)
      if (c.body >= 0 && c.shape.kind != Shape::Kind::sphere) all.push_back(surface_of(c, table.dimension));
  return all;
}

std::vector<Surface> fixed_surfaces(const BodyTable& table, const Extent& moving) {
  const std::map<std::string, Walls> walls = walls_of(table);
  std::vector<Surface> all;
  std::vector<const Collider*> planes;
  Extent scene = moving;
  for (const auto* list : {&table.colliders, &table.ghosts})
    for (const Collider& c : *list) {
      if (c.body >= 0 || c.shape.kind == Shape::Kind::sphere) continue;
      if (const auto box = walls.find(c.name); box != walls.end()) {
        all.push_back(face_of(c, box->second, table.dimension));
        all.back().name = c.name;
      } else if (c.shape.kind == Shape::Kind::plane) {
        planes.push_back(&c);
        continue;
      } else {
        all.push_back(surface_of(c, table.dimension));
      }
      for (const Vector3d& p : all.back().points) scene.include(p);
    }
  if (scene.empty()) scene.include(Vector3d::Zero(), table.length);
  for (const Collider* c : planes) {
    Surface s;
    s.name = c->name;
    add_plane(c->rotation * c->shape.normal, c->position, table.dimension, scene, s);
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace hinge
