// The frame of a body as expressions. Vectors have three components also in the plane, where the last one is zero.
#pragma once

#include <array>

#include <Eigen/Geometry>

#include "hinge/expression.hpp"

namespace hinge {

struct Frame {
  Vector x, x_rate;            ///< origin: the centre of mass
  std::array<Vector, 3> axes;  ///< in space
  Vector omega;                ///< angular velocity in space

  /// A vector and a point fixed in the body, given by components along its axes, in space.
  Vector direction(const Eigen::Vector3d& r) const;
  Vector point(const Eigen::Vector3d& r) const { return x + direction(r); }
  Vector point_velocity(const Eigen::Vector3d& r) const { return x_rate + cross(omega, direction(r)); }
};

/// A frame that does not move.
Frame resting_frame(const Eigen::Vector3d& x, const Eigen::Quaterniond& rotation);
/// x and the angle about e3 of a body in the plane.
Frame plane_frame(const Vector& x, const Expression& angle, const Vector& x_rate, const Expression& angle_rate);
/// x and a quaternion of any length; `spin` is the angular velocity along the axes.
Frame space_frame(const Vector& x, const Vector& q, const Vector& x_rate, const Vector& spin);
/// q' = q (0, spin)/2
Vector quaternion_rate(const Vector& q, const Vector& spin);

Vector constants(const Eigen::Vector3d& v);

}  // namespace hinge
