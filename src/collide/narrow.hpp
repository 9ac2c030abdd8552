// Where two placed shapes touch or nearly do.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "collide/hull.hpp"
#include "hinge/shape.hpp"

namespace hinge::contact {

/// A shape prepared for collision, in its own frame.
struct Geometry {
  Shape::Kind kind = Shape::Kind::sphere;
  double radius = 0;       ///< sphere, capsule, cylinder; what is to be added to `hull` all around for the first two
  double half_length = 0;  ///< capsule, cylinder
  Eigen::Vector3d half = Eigen::Vector3d::Zero();  ///< box
  Eigen::Vector3d axis{0, 0, 1};                   ///< capsule, cylinder; the normal of a plane
  Hull hull{};                                     ///< box, mesh; the segment of a capsule, the centre of a sphere
  double reach = 0;  ///< largest distance of its points from its origin; of a plane infinite
};
Geometry prepare(const Shape& shape, int dimension);

/// A shape in space.
struct Placed {
  const Geometry* geometry = nullptr;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
};

/// gap, normal from b to a, point on b; `feature` (below 2^20) tells the points of one pair apart.
struct Touch {
  double gap = 0;
  Eigen::Vector3d point, normal;
  std::uint32_t feature = 0;
};
using Touches = std::vector<Touch>;

/// Relative to the smaller one of two shapes: steps and gaps below this are none.
inline constexpr double level = 1e-6;

/// The largest number of a feature, and of a collider.
inline constexpr int feature_bits = 20, collider_bits = 22;

/// The two colliders that the key of a contact names.
inline std::size_t first_collider(std::uint64_t key) { return key >> (collider_bits + feature_bits); }
inline std::size_t second_collider(std::uint64_t key) {
  return (key >> feature_bits) & ((std::uint64_t{1} << collider_bits) - 1);
}

/// The radius around a point or line of the shape that is seen along n: of a sphere, a capsule, the side of a cylinder.
inline double round_radius(const Placed& shape, const Eigen::Vector3d& n) {
  const Geometry& g = *shape.geometry;
  const bool side = g.kind == Shape::Kind::cylinder && std::abs(shape.rotation.col(2).dot(n)) < 1e-3;
  return side || g.kind == Shape::Kind::sphere || g.kind == Shape::Kind::capsule ? g.radius : 0;
}

/// Appends all points with gap <= band. Pairs that nothing here can treat give none.
void collide(const Placed& a, const Placed& b, int dimension, double band, Touches& out);

// The parts of `collide`; the order of their arguments is that of a and b.
void sphere_sphere(const Placed& a, const Placed& b, int dimension, double band, Touches& out);
void sphere_plane(const Placed& a, const Placed& b, double band, Touches& out);
void sphere_capsule(const Placed& a, const Placed& b, int dimension, double band, Touches& out);
void sphere_box(const Placed& a, const Placed& b, int dimension, double band, Touches& out);
void sphere_cylinder(const Placed& a, const Placed& b, double band, Touches& out);
void capsule_capsule(const Placed& a, const Placed& b, double band, Touches& out);
/// Boxes, meshes, capsules: their vertices and radius.
void hull_plane(const Placed& a, const Placed& b, double band, Touches& out);
void cylinder_plane(const Placed& a, const Placed& b, double band, Touches& out);
/// Boxes, meshes and capsules (and, as a, spheres) against boxes and meshes.
void polygon_polygon(const Placed& a, const Placed& b, double band, Touches& out);
void polyhedron_polyhedron(const Placed& a, const Placed& b, double band, Touches& out);

/// A cylinder against a capsule, a cylinder, a box or a mesh; either may be a.
void cylinder_any(const Placed& a, const Placed& b, double band, Touches& out);

/// A direction where there is none to choose: that of the last axis.
inline Eigen::Vector3d any_direction(int dimension) {
  return dimension == 2 ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitZ();
}

}  // namespace hinge::contact
