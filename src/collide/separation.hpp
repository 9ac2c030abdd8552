// s(n) = min_a n.x - max_b n.x for two bodies of which one or both are cylinders, and its local maxima.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "collide/core.hpp"

namespace hinge::contact {

/// A cylinder in space, or a hull with a radius; coordinates relative to a point near by.
struct Convex {
  bool cylinder = false;
  Core core{};  ///< when it is none
  Eigen::Vector3d centre = Eigen::Vector3d::Zero(), axis = Eigen::Vector3d::UnitZ();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  double radius = 0, half_length = 0;

  void place(const Placed& placed, const Eigen::Vector3d& origin);
  double size() const { return cylinder ? radius + half_length : core.hull->size; }
  /// max n.x, the round part of a capsule included.
  double support(const Eigen::Vector3d& n) const;
  /// A point where n.x is largest: where that is a whole edge or face, one of its ends.
  Eigen::Vector3d support_point(const Eigen::Vector3d& n) const;
};

inline double separation(const Convex& a, const Convex& b, const Eigen::Vector3d& n) {
  return -a.support(-n) - b.support(n);
}

struct Direction {
  double separation = -std::numeric_limits<double>::infinity();
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
};
/// A direction in which s is large, to begin with: the best of 26 over the sphere, then uphill in ever shorter steps.
Direction coarse_direction(const Convex& a, const Convex& b);
/// The direction in which two bodies are farthest apart, or least deep in each other. Tried are the normals of all flat
/// parts, of all pairs of straight lines, from corners to straight lines and rims, and, with Newton's method from the
/// given starts, those of rims against edges, lines and rims. Every value of s is a lower bound of the distance, so
/// what is not found can make it smaller, never too large.
Direction best_direction(const Convex& a, const Convex& b, const std::vector<Eigen::Vector3d>& starts);

}  // namespace hinge::contact
