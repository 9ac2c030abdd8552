// Quantities of a System at one point as full matrices, and differences of them.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <vector>

#include "hinge/system.hpp"

namespace hinge::trial {

struct Point {
  double t = 0;
  std::vector<double> y, z, psi;
};

/// Away from zero, so that roots and quotients are smooth around it.
inline Point random_point(const System& system, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.4, 1.4);
  Point x;
  x.t = uniform(random);
  for (const auto& [part, size] : {std::pair{&x.y, system.ny()}, {&x.z, system.nz()}, {&x.psi, system.npsi()}})
    for (int k = 0; k < size; ++k) part->push_back(uniform(random));
  return x;
}

inline Eigen::MatrixXd values(const System& system, Quantity q, const Point& x) {
  const auto evaluation = system.evaluation({q});
  evaluation->at(x.t, x.y.data(), x.z.data(), x.psi.data());
  const double* value = (*evaluation)[q];
  const Pattern& p = system.pattern(q);
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(p.rows, p.columns);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      full(i, p.column[static_cast<std::size_t>(k)]) = value[k];
  return full;
}

/// d q / d (what `part` picks from a point), by differences of sixth order.
template <class Part>
Eigen::MatrixXd differences(const System& system, Quantity q, const Point& x, int columns, Part&& part) {
  constexpr double d = 0.01;
  Eigen::MatrixXd result(system.pattern(q).rows, columns);
  for (int j = 0; j < columns; ++j) {
    const auto at = [&](int k) {
      Point moved = x;
      part(moved)[j] += k * d;
      return values(system, q, moved);
    };
    result.col(j) = (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + (at(3) - at(-3))) / (60 * d);
  }
  return result;
}

inline Eigen::MatrixXd by_t(const System& s, Quantity q, const Point& x) {
  return differences(s, q, x, 1, [](Point& p) { return &p.t; });
}
inline Eigen::MatrixXd by_y(const System& s, Quantity q, const Point& x) {
  return differences(s, q, x, s.ny(), [](Point& p) { return p.y.data(); });
}
inline Eigen::MatrixXd by_z(const System& s, Quantity q, const Point& x) {
  return differences(s, q, x, s.nz(), [](Point& p) { return p.z.data(); });
}
inline Eigen::MatrixXd by_psi(const System& s, Quantity q, const Point& x) {
  return differences(s, q, x, s.npsi(), [](Point& p) { return p.psi.data(); });
}

inline double largest(const Eigen::MatrixXd& m) { return m.size() ? m.cwiseAbs().maxCoeff() : 0.0; }

/// Largest deviation of any derivative, and of the velocity level, from differences of what it is derived from.
inline double derivative_defect(const System& s, const Point& x) {
  using Q = Quantity;
  const auto get = [&](Q q) { return values(s, q, x); };
  double worst = 0;
  const auto compare = [&](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    worst = std::max(worst, a.rows() == b.rows() && a.cols() == b.cols() ? largest(a - b) : INFINITY);
  };
  compare(get(Q::velocity_y), by_y(s, Q::velocity, x));
  compare(get(Q::velocity_z), by_z(s, Q::velocity, x));
  compare(get(Q::momentum_y), by_y(s, Q::momentum, x));
  compare(get(Q::momentum_z), by_z(s, Q::momentum, x));
  compare(get(Q::momentum_t), by_t(s, Q::momentum, x));
  compare(get(Q::force_y), by_y(s, Q::force, x));
  compare(get(Q::force_z), by_z(s, Q::force, x));
  compare(get(Q::reaction_y), by_y(s, Q::reaction, x));
  compare(get(Q::reaction_z), by_z(s, Q::reaction, x));
  compare(get(Q::reaction_psi), by_psi(s, Q::reaction, x));
  compare(get(Q::constraint_y), by_y(s, Q::constraint, x));
  compare(get(Q::constraint_rate), by_t(s, Q::constraint, x) + by_y(s, Q::constraint, x) * get(Q::velocity));
  compare(get(Q::constraint_rate_y), by_y(s, Q::constraint_rate, x));
  compare(get(Q::constraint_rate_z), by_z(s, Q::constraint_rate, x));
  compare(get(Q::constraint_rate_t), by_t(s, Q::constraint_rate, x));
  return worst;
}

/// y'' from  p_z z' = f + r - p_t - p_y v,  for systems with v = z.
inline Eigen::VectorXd acceleration(const System& s, const Point& x) {
  using Q = Quantity;
  const auto get = [&](Q q) { return values(s, q, x); };
  const Eigen::VectorXd right =
      get(Q::force) + get(Q::reaction) - get(Q::momentum_t) - get(Q::momentum_y) * get(Q::velocity);
  return get(Q::momentum_z).partialPivLu().solve(right);
}

}  // namespace hinge::trial
