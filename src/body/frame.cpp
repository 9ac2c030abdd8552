#include "body/frame.hpp"

#include "system/turning.hpp"

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

namespace {

template <std::size_t N>
std::array<Node, N> nodes_of(const Vector& v) {
  std::array<Node, N> nodes{};
  for (std::size_t k = 0; k < N; ++k) nodes[k] = v[k].node_in(*v[0].graph());
  return nodes;
}

}  // namespace

Frame space_frame(const Vector& x, const Vector& q, const Vector& x_rate, const Vector& spin) {
  const auto& graph = q[0].graph();
  const std::array<Node, 9> axes = rotation_axes(*graph, nodes_of<4>(q));
  Frame f;
  f.x = x;
  f.x_rate = x_rate;
  for (std::size_t k = 0; k < 3; ++k)
    f.axes[k] = {Expression(graph, axes[3 * k]), Expression(graph, axes[3 * k + 1]),
                 Expression(graph, axes[3 * k + 2])};
  f.omega = spin[0] * f.axes[0] + spin[1] * f.axes[1] + spin[2] * f.axes[2];
  return f;
}

Vector quaternion_rate(const Vector& q, const Vector& spin) {
  const auto& graph = q[0].graph();
  const std::array<Node, 4> rate = quaternion_rate(*graph, nodes_of<4>(q), nodes_of<3>(spin));
  return {Expression(graph, rate[0]), Expression(graph, rate[1]), Expression(graph, rate[2]),
          Expression(graph, rate[3])};
}

}  // namespace hinge
