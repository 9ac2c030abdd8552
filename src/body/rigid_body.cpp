// A rigid body in directors: its inertia as masses of the directors, its constraints, and what it starts with.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/frame.hpp"
#include "hinge/body.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// A rotation that is typed with a few digits, and one that is computed.
constexpr double typed_rotation = 1e-6, computed_rotation = 1e-14;
// Of moments of inertia, relative.
constexpr double round_off = 1e-10;

// E = (tr J/2) I - J: the integral of rho X X^T over the body, with which sum_ij E_ij d_i'.d_j' = omega.J omega. Of a
// flat body one entry is zero, and rounding is not to make a tiny mass, or a negative one, of it.
Matrix3d euler_tensor(const Matrix3d& inertia) {
  const double half = inertia.trace() / 2;
  const Matrix3d e = half * Matrix3d::Identity() - inertia;
  return (e.array().abs() < round_off * half).select(0.0, e);
}

Vector combination(const Vector3d& r, const std::array<Vector, 3>& d) {
  Vector sum{0.0, 0.0, 0.0};
  for (Eigen::Index k = 0; k < 3; ++k)
    if (r(k) != 0) sum = sum + r(k) * d[static_cast<std::size_t>(k)];
  return sum;
}

void refuse_infinite(const char* field, double largest) {
  if (!std::isfinite(largest)) throw BodyError(field, fmt::format("'{}' is not finite; give ordinary numbers", field));
}

Matrix3d checked_rotation(const Matrix3d& r) {
  const double defect = (r.transpose() * r - Matrix3d::Identity()).cwiseAbs().maxCoeff();
  if (!(defect <= typed_rotation))
    throw BodyError("rotation", fmt::format("this is not a rotation: its columns are not orthogonal unit vectors, by "
                                            "{:.2g}; give more digits, or an axis and an angle",
                                            defect));
  if (r.determinant() < 0)
    throw BodyError("rotation",
                    "this is a reflection: the three directors form a left-handed frame; change the sign of one");
  if (defect <= computed_rotation) return r;
  return nearest_orthogonal(r);
}

}  // namespace

Matrix3d principal_moments(double j1, double j2, double j3) { return Vector3d(j1, j2, j3).asDiagonal(); }

Matrix3d rotation(const Vector3d& axis, double angle) {
  const double length = axis.norm();
  if (!(length > 0) || !std::isfinite(length))
    throw BodyError("axis", "the axis of a rotation has no direction; give a vector that is not zero, as [0, 0, 1]");
  if (!std::isfinite(angle)) throw BodyError("angle", "the angle of a rotation is not finite");
  return Eigen::AngleAxisd(angle, axis / length).toRotationMatrix();
}

void RigidBodyOptions::validate() const {
  if (!(mass > 0) || !std::isfinite(mass))
    throw BodyError("mass", fmt::format("the mass is {:g}; give a positive number", mass));
  refuse_infinite("inertia", inertia.cwiseAbs().sum());
  refuse_infinite("center", center.cwiseAbs().sum());
  if (fixed) refuse_infinite("fixed", fixed->cwiseAbs().sum());
  if (!fixed && !center.isZero(0))
    throw BodyError("center",
                    "a free body is described by its centre of mass, which is the origin of its frame; leave 'center' "
                    "out, or give the 'fixed' point that it is measured from");

  const double size = inertia.cwiseAbs().maxCoeff();
  const double skew = (inertia - inertia.transpose()).cwiseAbs().maxCoeff();
  if (skew > round_off * size)
    throw BodyError("inertia", fmt::format("the inertia is not symmetric: two entries that should be equal differ by "
                                           "{:.3g}; the products of inertia appear twice, with the same sign",
                                           skew));
  const Vector3d j = principal_axes(inertia).values;
  if (!(j(0) > round_off * size))
    throw BodyError("inertia", fmt::format("the principal moments of inertia are {:g}, {:g}, {:g}; all must be "
                                           "positive: also a thin rod has a small moment about its axis",
                                           j(0), j(1), j(2)));
  if (j(0) + j(1) < j(2) * (1 - round_off))
    throw BodyError("inertia", fmt::format("no body has the principal moments of inertia {:g}, {:g}, {:g}: none can "
                                           "exceed the sum of the other two, {:g} here; check the numbers, and that "
                                           "they are about the centre of mass",
                                           j(0), j(1), j(2), j(0) + j(1)));
}

RigidBody::RigidBody(Lagrangian& system, const RigidBodyOptions& options) : options_(options) {
  options_.validate();
  const std::string& name = options_.name;
  first_ = system.coordinate_count();
  if (is_free()) {
    x_ = system.coordinates(name + "_x", 3);
    x_rate_ = system.velocity(x_);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    d_[k] = system.direction(fmt::format("{}_d{}", name, k + 1));
    d_rate_[k] = system.velocity(d_[k]);
  }

  // T = m/2 |x'|^2 + 1/2 sum_ij E_ij d_i'.d_j'; with a fixed point x' = sum_k r_k d_k'
  Matrix3d c = euler_tensor(options_.inertia);
  if (is_free()) {
    kinetic_ = options_.mass / 2 * dot(x_rate_, x_rate_);
  } else {
    c += options_.mass * options_.center * options_.center.transpose();
    x_ = constants(*options_.fixed) + combination(options_.center, d_);
    x_rate_ = combination(options_.center, d_rate_);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i; j < 3; ++j) {
      const double weight = c(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * (i == j ? 0.5 : 1.0);
      if (weight != 0) kinetic_ += weight * dot(d_rate_[i], d_rate_[j]);
    }
  }
  system.add_kinetic(kinetic_);

  for (std::size_t k = 0; k < 3; ++k)
    system.constrain(0.5 * (dot(d_[k], d_[k]) - 1.0), fmt::format("\"{}: |d{}| = 1\"", name, k + 1));
  for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}})
    system.constrain(dot(d_[i], d_[j]), fmt::format("\"{}: d{}.d{} = 0\"", name, i + 1, j + 1));
}

Vector RigidBody::direction(const Vector3d& r) const { return combination(r, d_); }

Vector RigidBody::point(const Vector3d& r) const {
  return (is_free() ? x_ : constants(*options_.fixed)) + combination(r, d_);
}

Vector RigidBody::point_velocity(const Vector3d& r) const {
  const Vector turning = combination(r, d_rate_);
  return is_free() ? x_rate_ + turning : turning;
}

Vector RigidBody::angular_velocity() const {
  Vector sum{0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < 3; ++k) sum = sum + 0.5 * cross(d_[k], d_rate_[k]);
  return sum;
}

Vector RigidBody::angular_momentum() const {
  const Matrix3d e = euler_tensor(options_.inertia);
  Vector sum{0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (const double weight = e(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)); weight != 0)
        sum = sum + weight * cross(d_[i], d_rate_[j]);
  return sum;
}

void RigidBody::place(const BodyMotion& motion, std::vector<double>& position, std::vector<double>& velocity) const {
  const Matrix3d r = checked_rotation(motion.rotation);
  if (motion.angular_velocity_body && !motion.angular_velocity.isZero(0))
    throw BodyError("angular_velocity_body",
                    "give the angular velocity in space or its components along the directors, not both");
  if (is_free() && !motion.position)
    throw BodyError("position",
                    fmt::format("'position' is missing: the centre of mass of the free body '{}'", options_.name));
  for (const char* field : {"position", "velocity"})
    if (!is_free() && (field[0] == 'p' ? motion.position : motion.velocity))
      throw BodyError(field,
                      fmt::format("the body '{}' is held at a point, and so its rotation and its angular velocity "
                                  "say where its centre of mass is and how it moves; leave '{}' out",
                                  options_.name, field));
  const Vector3d omega =
      motion.angular_velocity_body ? Vector3d(r * *motion.angular_velocity_body) : motion.angular_velocity;
  refuse_infinite(motion.angular_velocity_body ? "angular_velocity_body" : "angular_velocity", omega.cwiseAbs().sum());

  const auto end = static_cast<std::size_t>(first_ + size());
  if (position.size() < end) position.resize(end, 0.0);
  if (velocity.size() < end) velocity.resize(end, 0.0);
  auto at = static_cast<std::size_t>(first_);
  const auto write = [&](const Vector3d& value, const Vector3d& rate) {
    for (Eigen::Index k = 0; k < 3; ++k, ++at) {
      position[at] = value(k);
      velocity[at] = rate(k);
    }
  };
  if (is_free()) write(*motion.position, motion.velocity.value_or(Vector3d::Zero()));
  for (Eigen::Index k = 0; k < 3; ++k) write(r.col(k), omega.cross(r.col(k)));  // d_k' = omega x d_k
}

}  // namespace hinge
