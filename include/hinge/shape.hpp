// Geometry of contact: shapes on bodies, and the points where they touch or nearly do.
//
// A collider is a shape fixed to a body, or to the world (body -1). A CollisionWorld holds colliders; asked with the
// poses of the bodies it lists contact points,
//
//   gap = signed distance, negative when they overlap;  the normal points from b to a, so that gap grows when a moves
//   along it;  point lies on b's surface, point + gap * normal on a's
//
// in increasing order of keys, each key naming two colliders and a feature (corner, edge, face) from step to step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Geometry>

namespace hinge {

struct Shape {
  /// In the plane a sphere is a disk and a box a rectangle; capsules and polygons (mesh) exist there, cylinders not.
  enum class Kind { sphere, box, capsule, cylinder, mesh, plane };
  Kind kind = Kind::sphere;
  double radius = 0;  ///< sphere, capsule, cylinder
  double length = 0;  ///< capsule (between the centres of its caps), cylinder: along z, in the plane y
  Eigen::Vector3d size = Eigen::Vector3d::Zero();  ///< box: full edge lengths
  Eigen::Vector3d normal{0, 0, 1};                 ///< plane: the half space below it is solid
  std::vector<Eigen::Vector3d> vertices{};         ///< mesh: the convex hull of these points
  /// Throws InputError for what is no shape: a radius that is not positive, fewer than four points of a mesh, ...
  void validate(int dimension) const;
  /// For uniform density; area in the plane. Throws InputError for a plane, which has none.
  double volume(int dimension) const;
  /// Zero but for a mesh, whose points may lie anywhere about the origin: shift the collider by minus this where the
  /// body's origin is its centre of mass.
  Eigen::Vector3d centre_of_mass(int dimension) const;
  /// About the centre of mass, of a thin plate in the plane: entry (2, 2) is the one that turns it there.
  Eigen::Matrix3d inertia_per_mass(int dimension) const;
};

struct Collider {
  int body = -1;  ///< -1: fixed in space
  Shape shape{};
  Eigen::Vector3d position = Eigen::Vector3d::Zero();            ///< of the shape in the body frame
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();  //
  double friction = 0, restitution = 0;                          ///< combined by geometric mean and maximum
  std::uint32_t group = 1, collides_with = 0xffffffffu;          ///< bits
  std::string name{};
};

struct BodyPose {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
};

struct ContactPoint {
  int a = 0, b = 0;  ///< colliders; a is the smaller one unless b is fixed
  std::uint64_t key = 0;
  double gap = 0;
  Eigen::Vector3d point, normal;
};

class CollisionWorld {
 public:
  explicit CollisionWorld(int dimension);
  ~CollisionWorld();
  CollisionWorld(CollisionWorld&&) noexcept;
  CollisionWorld& operator=(CollisionWorld&&) noexcept;

  int dimension() const;
  /// Returns its number.
  int add(Collider collider);
  const std::vector<Collider>& colliders() const;
  /// Two bodies that a joint connects do not collide.
  void ignore(int body_a, int body_b);
  double friction(int collider_a, int collider_b) const;
  double restitution(int collider_a, int collider_b) const;

  /// All points with gap <= band. Deterministic, whatever the order of memory or the number of threads.
  void find(const std::vector<BodyPose>& poses, double band, std::vector<ContactPoint>& out);
  /// The gap of one such point's pair and feature at other poses: by motion of both surfaces along the normal where the
  /// feature cannot be found again.
  double gap(const std::vector<BodyPose>& poses, const ContactPoint& point) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hinge
