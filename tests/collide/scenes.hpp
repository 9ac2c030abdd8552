// Random shapes and poses for the tests of collision, with a generator that is the same everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <Eigen/Geometry>

#include "hinge/shape.hpp"

namespace hinge::scenes {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Kind = Shape::Kind;

/// SplitMix64.
struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform(double a = 0, double b = 1) { return a + (b - a) * 0x1p-53 * static_cast<double>(next() >> 11); }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  Vector3d vector(int dimension = 3) { return {normal(), normal(), dimension == 2 ? 0 : normal()}; }
  Quaterniond rotation(int dimension = 3) {
    if (dimension == 2) {
      const double angle = uniform(-std::numbers::pi, std::numbers::pi);
      return {std::cos(angle / 2), 0, 0, std::sin(angle / 2)};
    }
    return Quaterniond(normal(), normal(), normal(), normal()).normalized();
  }
};

inline Shape sphere(double r) { return {.kind = Kind::sphere, .radius = r}; }
inline Shape box(double x, double y, double z = 0) { return {.kind = Kind::box, .size = {x, y, z}}; }
inline Shape capsule(double r, double l) { return {.kind = Kind::capsule, .radius = r, .length = l}; }
inline Shape cylinder(double r, double l) { return {.kind = Kind::cylinder, .radius = r, .length = l}; }
inline Shape plane(const Vector3d& n) { return {.kind = Kind::plane, .normal = n}; }
inline Shape mesh(std::vector<Vector3d> points) { return {.kind = Kind::mesh, .vertices = std::move(points)}; }

/// A convex body with n points on a sphere (a circle) of about unit radius.
inline Shape random_mesh(Random& random, int dimension, int n) {
  std::vector<Vector3d> points;
  for (int i = 0; i < n; ++i) points.push_back(random.vector(dimension).normalized() * random.uniform(0.8, 1.2));
  return mesh(points);
}

inline Shape random_shape(Random& random, Kind kind, int dimension) {
  switch (kind) {
    case Kind::sphere: return sphere(random.uniform(0.3, 1));
    case Kind::box:
      return box(random.uniform(0.5, 2), random.uniform(0.5, 2), dimension == 2 ? 0 : random.uniform(0.5, 2));
    case Kind::capsule: return capsule(random.uniform(0.2, 0.6), random.uniform(0.5, 2));
    case Kind::cylinder: return cylinder(random.uniform(0.3, 1), random.uniform(0.5, 2));
    case Kind::mesh: return random_mesh(random, dimension, dimension == 2 ? 7 : 12);
    case Kind::plane: return plane(random.vector(dimension));
  }
  return {};
}

/// h(n) = max n.x over the shape, in its own frame.
inline double support(const Shape& s, int dimension, const Vector3d& n) {
  switch (s.kind) {
    case Kind::sphere: return s.radius * n.norm();
    case Kind::box: return s.size.cwiseProduct(n.cwiseAbs()).head(dimension).sum() / 2;
    case Kind::capsule: return s.radius * n.norm() + s.length / 2 * std::abs(n[dimension - 1]);
    case Kind::cylinder: return s.radius * std::hypot(n[0], n[1]) + s.length / 2 * std::abs(n[2]);
    case Kind::mesh: {
      double most = -1e300;
      for (const Vector3d& v : s.vertices) most = std::max(most, n.dot(v));
      return most;
    }
    case Kind::plane: break;
  }
  return 1e300;
}

/// s(n) = min over a of n.x - max over b of n.x: the signed distance is its maximum over all directions.
inline double separation(const Shape& a, const BodyPose& pa, const Shape& b, const BodyPose& pb, int dimension,
                         const Vector3d& n) {
  return n.dot(pa.position - pb.position) - support(a, dimension, pa.rotation.conjugate() * -n) -
         support(b, dimension, pb.rotation.conjugate() * n);
}

/// Many directions, evenly spread.
inline std::vector<Vector3d> directions(int dimension) {
  std::vector<Vector3d> all;
  const int samples = dimension == 2 ? 720 : 3000;
  for (int i = 0; i < samples; ++i) {
    const double angle = 2 * std::numbers::pi * i * (dimension == 2 ? 1.0 / samples : (3 - std::sqrt(5.0)) / 2);
    const double z = dimension == 2 ? 0 : 1 - (2.0 * i + 1) / samples;  // Fibonacci's sphere
    all.emplace_back(std::sqrt(1 - z * z) * std::cos(angle), std::sqrt(1 - z * z) * std::sin(angle), z);
  }
  return all;
}

/// The signed distance by brute force, from below: many directions, then random steps from the best few.
inline double signed_distance(const Shape& a, const BodyPose& pa, const Shape& b, const BodyPose& pb, int dimension) {
  const auto s = [&](const Vector3d& n) { return separation(a, pa, b, pb, dimension, n); };
  std::vector<std::pair<double, Vector3d>> tried;
  static const std::vector<Vector3d> sampled[] = {directions(2), directions(3)};
  for (const Vector3d& n : sampled[dimension - 2]) tried.emplace_back(s(n), n);
  const auto best_few = tried.begin() + 8;
  std::partial_sort(tried.begin(), best_few, tried.end(),
                    [](const auto& x, const auto& y) { return x.first > y.first; });
  double best = -1e300;
  Random random{17};
  for (auto it = tried.begin(); it != best_few; ++it) {
    auto [value, n] = *it;
    for (double step = 0.05; step > 1e-5; step *= 0.6)
      for (int k = 0; k < 8; ++k) {
        const Vector3d m = (n + step * random.vector(dimension)).normalized();
        if (const double v = s(m); v > value) value = v, n = m;
      }
    best = std::max(best, value);
  }
  return best;
}

/// How far x lies outside a shape, from below; negative inside.
inline double outside(const Shape& s, const BodyPose& pose, int dimension, const Vector3d& x) {
  static const std::vector<Vector3d> sampled[] = {directions(2), directions(3)};
  double most = -1e300;
  for (const Vector3d& n : sampled[dimension - 2])
    most = std::max(most, n.dot(pose.rotation.conjugate() * (x - pose.position)) - support(s, dimension, n));
  return most;
}

/// A world with two bodies.
struct Pair {
  Pair(int dimension, const Shape& a, const Shape& b) : world(dimension) {
    world.add({.body = 0, .shape = a});
    world.add({.body = 1, .shape = b});
  }
  std::vector<ContactPoint> find(const BodyPose& a, const BodyPose& b, double band) {
    std::vector<ContactPoint> out;
    world.find({a, b}, band, out);
    return out;
  }
  CollisionWorld world;
};

}  // namespace hinge::scenes
