// Rigid bodies in directors: a body is the three unit vectors d1, d2, d3 of a frame fixed in it and, when it is free,
// its centre of mass x. Positions of body-fixed points are linear in these coordinates, so that the mass matrix is
// constant and joints between bodies are constraints of degree one or two.
//
//   hinge::Lagrangian top;
//   const hinge::RigidBody body(top, {.name = "top", .mass = 2, .inertia = hinge::principal_moments(0.4, 0.4, 0.1),
//                                     .center = {0, 0, 0.5}, .fixed = Eigen::Vector3d::Zero()});
//   top.potential(2 * 9.81 * body.center()[2]);
//
// With J the inertia about the centre of mass in the body frame, E = (tr J/2) I - J, m the mass:
//
//   free body      q = (x, d1, d2, d3)   T = m/2 |x'|^2 + 1/2 sum_ij E_ij d_i'.d_j'
//   fixed point    q = (d1, d2, d3)      x = fixed + sum_k r_k d_k,  T = 1/2 sum_ij (E_ij + m r_i r_j) d_i'.d_j'
//   both           0 = (d1.d1-1)/2, (d2.d2-1)/2, (d3.d3-1)/2, d1.d2, d1.d3, d2.d3      in this order
//
// after P. Betsch and P. Steinmann, "Constrained integration of rigid body dynamics", Comput. Methods Appl. Mech.
// Engrg. 191 (2001) 467-488.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "hinge/error.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// What is said about a body, or about its start, cannot be; `field` is the option that is wrong.
struct BodyError : InputError {
  BodyError(std::string which, const std::string& message) : InputError(message), field(std::move(which)) {}
  std::string field;
};

/// The inertia of a body whose frame lies in its principal axes.
Eigen::Matrix3d principal_moments(double j1, double j2, double j3);
/// The rotation about an axis, which need not have length one. Its columns are the directors.
Eigen::Matrix3d rotation(const Eigen::Vector3d& axis, double angle);

struct RigidBodyOptions {
  std::string name = "body";  ///< coordinates are called name_x, name_d1, name_d2, name_d3
  double mass = 1;
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Identity();  ///< about the centre of mass, in the body frame
  Eigen::Vector3d center = Eigen::Vector3d::Zero();  ///< the centre of mass from the fixed point, in the body frame
  std::optional<Eigen::Vector3d> fixed{};            ///< the point in space where the body is held; empty: it is free
  /// Throws BodyError.
  void validate() const;
};

/// Where a body is and how it moves.
struct BodyMotion {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();      ///< its columns are d1, d2, d3
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();  ///< in space
  std::optional<Eigen::Vector3d> angular_velocity_body{};      ///< instead: its components along d1, d2, d3
  std::optional<Eigen::Vector3d> position{}, velocity{};       ///< of the centre of mass; of free bodies only
};

/// A rigid body in a Lagrangian: declares its coordinates, adds its kinetic energy and its six internal constraints.
/// Everything it returns is an expression of that Lagrangian, for potentials, joints and observed quantities. The body
/// frame has its origin in the fixed point, or in the centre of mass of a free body.
class RigidBody {
 public:
  RigidBody(Lagrangian& system, const RigidBodyOptions& options);

  const RigidBodyOptions& options() const { return options_; }
  bool is_free() const { return !options_.fixed; }
  /// d1, d2, d3 for k = 0, 1, 2; their velocities.
  const Vector& director(std::size_t k) const { return d_.at(k); }
  const Vector& director_rate(std::size_t k) const { return d_rate_.at(k); }
  /// The centre of mass; its velocity.
  const Vector& center() const { return x_; }
  const Vector& center_velocity() const { return x_rate_; }
  /// A body-fixed vector in space: sum_k r_k d_k.
  Vector direction(const Eigen::Vector3d& r) const;
  /// A body-fixed point in space, r from the origin of the body frame; its velocity.
  Vector point(const Eigen::Vector3d& r) const;
  Vector point_velocity(const Eigen::Vector3d& r) const;
  /// In space: 1/2 sum_k d_k x d_k'.
  Vector angular_velocity() const;
  /// About the centre of mass, in space: sum_ij E_ij d_i x d_j'.
  Vector angular_momentum() const;
  const Expression& kinetic() const { return kinetic_; }

  /// The place of its first coordinate among those of the system, and their number: 12, or 9 with a fixed point.
  int first() const { return first_; }
  int size() const { return is_free() ? 12 : 9; }
  /// Writes the motion into the numbers of a Start, which grow as needed. A rotation that is typed, orthogonal to 1e-6,
  /// is replaced by the nearest one; others are a BodyError.
  void place(const BodyMotion& motion, std::vector<double>& position, std::vector<double>& velocity) const;

 private:
  RigidBodyOptions options_;
  int first_ = 0;
  Vector x_, x_rate_;
  std::array<Vector, 3> d_, d_rate_;
  Expression kinetic_;
};

}  // namespace hinge
