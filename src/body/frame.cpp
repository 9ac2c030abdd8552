#include "body/frame.hpp"

namespace hinge {

Vector constants(const Eigen::Vector3d& v) { return {v(0), v(1), v(2)}; }

Vector Frame::direction(const Eigen::Vector3d& r) const {
  Vector sum{0.0, 0.0, 0.0};
  for (Eigen::Index k = 0; k < 3; ++k)
    if (r(k) != 0) sum = sum + r(k) * axes[static_cast<std::size_t>(k)];
  return sum;
}

Frame resting_frame(const Eigen::Vector3d& x, const Eigen::Quaterniond& rotation) {
  const Eigen::Matrix3d r = rotation.toRotationMatrix();
  const Vector zero{0.0, 0.0, 0.0};
  return {constants(x), zero, {constants(r.col(0)), constants(r.col(1)), constants(r.col(2))}, zero};
}

Frame plane_frame(const Vector& x, const Expression& angle, const Vector& x_rate, const Expression& angle_rate) {
  const Expression c = cos(angle), s = sin(angle);
  return {{x[0], x[1], 0.0},
          {x_rate[0], x_rate[1], 0.0},
          {Vector{c, s, 0.0}, Vector{-s, c, 0.0}, Vector{0.0, 0.0, 1.0}},
          {0.0, 0.0, angle_rate}};
}

// R of q/|q|, column by column
Frame space_frame(const Vector& x, const Vector& q, const Vector& x_rate, const Vector& spin) {
  const Expression s = 2.0 / dot(q, q);
  const Expression &w = q[0], &a = q[1], &b = q[2], &c = q[3];
  Frame f;
  f.x = x;
  f.x_rate = x_rate;
  f.axes = {Vector{1.0 - s * (b * b + c * c), s * (a * b + w * c), s * (a * c - w * b)},
            Vector{s * (a * b - w * c), 1.0 - s * (a * a + c * c), s * (b * c + w * a)},
            Vector{s * (a * c + w * b), s * (b * c - w * a), 1.0 - s * (a * a + b * b)}};
  f.omega = spin[0] * f.axes[0] + spin[1] * f.axes[1] + spin[2] * f.axes[2];
  return f;
}

Vector quaternion_rate(const Vector& q, const Vector& spin) {
  const Expression &w = q[0], &a = q[1], &b = q[2], &c = q[3];
  const Expression &x = spin[0], &y = spin[1], &z = spin[2];
  return {-0.5 * (a * x + b * y + c * z), 0.5 * (w * x + b * z - c * y), 0.5 * (w * y + c * x - a * z),
          0.5 * (w * z + a * y - b * x)};
}

}  // namespace hinge
