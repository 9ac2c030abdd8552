// DOP853 with projection, written by hand: one step loop, and a pendulum and a double spherical pendulum to put into
// it.
//
// The accelerations  [M G^T; G 0] [a; lambda] = [f; -c]  are spelt out in C++, with the Schur complement G M^-1 G^T.
// After every step positions (one or two Newton steps with the matrix of the last stage) and velocities are projected.
// Tolerances, error norm and step control are those of Hinge's `explicit`, so that the steps are the same.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "method/explicit/dormand_prince.hpp"

namespace bench {

// P: n and m; a, lambda of a point with the matrix factorised; g, rate; back to the constraints with this matrix.
template <class P>
struct ByHand {
  static constexpr int n = P::n;
  static constexpr std::size_t N = 2 * P::n;
  P problem;
  std::array<double, N> x{}, x1{}, stage{};
  std::array<std::array<double, N>, 13> k{};
  const hinge::ExplicitTableau* table = &hinge::dormand_prince(8);
  double t = 0;
  long steps = 0;

  void rates(const std::array<double, N>& at, std::array<double, N>& out) {
    for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(n + i)];
    problem.acceleration(at.data(), at.data() + n, out.data() + n);
  }
  template <class Row>
  void combine(const Row& row, double h, std::array<double, N>& out) {
    std::array<double, N> sum{};
    for (const auto& [j, w] : row)
      for (std::size_t i = 0; i < N; ++i) sum[i] += w * k[static_cast<std::size_t>(j)][i];
    for (std::size_t i = 0; i < N; ++i) out[i] = x[i] + h * sum[i];
  }
  double squared(const hinge::ExplicitTableau::Row& row, double tolerance) {
    double total = 0;
    for (std::size_t i = 0; i < N; ++i) {
      double e = 0;
      for (const auto& [j, w] : row) e += w * k[static_cast<std::size_t>(j)][i];
      const double r = e / (tolerance + tolerance * std::max(std::abs(x[i]), std::abs(x1[i])));
      total += r * r;
    }
    return total;
  }
  void run(double end, double tolerance, double first) {
    double h = first;
    bool rejected = false;
    rates(x, k[0]);
    while (t < end) {
      const bool last = t + 1.01 * h >= end;
      if (last) h = end - t;
      for (std::size_t i = 1; i < 12; ++i) {
        combine(table->a[i], h, stage);
        rates(stage, k[i]);
      }
      combine(table->b(), h, x1);
      const double e5 = h * h * squared(table->error, tolerance), e3 = h * h * squared(table->second_error, tolerance);
      const double error = e5 / std::sqrt((e5 + 0.01 * e3) * static_cast<double>(N));
      const double factor = 0.9 * std::pow(std::max(error, 1e-12), -1.0 / 8);
      if (error > 1) {
        h *= std::max(1.0 / 3, std::min(0.9, factor));
        rejected = true;
        continue;
      }
      problem.project(x1.data(), x1.data() + n);
      rates(x1, k[0]);
      x = x1;
      t = last ? end : t + h;
      ++steps;
      h *= std::clamp(factor, 1.0 / 3, rejected ? 1.0 : 6.0);
      rejected = false;
    }
  }
};

struct PendulumByHand {
  static constexpr int n = 2;
  double gx = 1, gy = 0, square = 1;
  void acceleration(const double* q, const double* v, double* a) {
    gx = q[0], gy = q[1], square = gx * gx + gy * gy;
    const double lambda = (v[0] * v[0] + v[1] * v[1] - 9.81 * gy) / square;
    a[0] = -gx * lambda;
    a[1] = -9.81 - gy * lambda;
  }
  void project(double* q, double* v) {
    for (int k = 0; k < 2; ++k) {
      const double mu = ((q[0] * q[0] + q[1] * q[1] - 1) / 2) / square;
      q[0] -= gx * mu, q[1] -= gy * mu;
    }
    const double mu = (q[0] * v[0] + q[1] * v[1]) / (q[0] * q[0] + q[1] * q[1]);
    v[0] -= q[0] * mu, v[1] -= q[1] * mu;
  }
};

struct DoublePendulumByHand {
  static constexpr int n = 6;
  std::array<double, 3> p{}, r{};
  double a11 = 1, a12 = 0, a22 = 1;
  static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  // G = [p 0; -r r], M = 1
  void matrix(const double* q) {
    for (std::size_t i = 0; i < 3; ++i) p[i] = q[i], r[i] = q[3 + i] - q[i];
    a11 = dot(p.data(), p.data()), a12 = -dot(p.data(), r.data()), a22 = 2 * dot(r.data(), r.data());
  }
  void multipliers(double b1, double b2, double& l1, double& l2) const {
    const double det = a11 * a22 - a12 * a12;
    l1 = (a22 * b1 - a12 * b2) / det, l2 = (a11 * b2 - a12 * b1) / det;
  }
  void acceleration(const double* q, const double* v, double* a) {
    matrix(q);
    const double w[] = {v[3] - v[0], v[4] - v[1], v[5] - v[2]};
    double l1, l2;
    multipliers(dot(v, v) - 9.81 * p[1], dot(w, w), l1, l2);
    for (std::size_t i = 0; i < 3; ++i) a[i] = -p[i] * l1 + r[i] * l2, a[3 + i] = -r[i] * l2;
    a[1] -= 9.81, a[4] -= 9.81;
  }
  void move(double* x, double l1, double l2) const {
    for (std::size_t i = 0; i < 3; ++i) x[i] += -p[i] * l1 + r[i] * l2, x[3 + i] -= r[i] * l2;
  }
  void project(double* q, double* v) {
    double l1, l2;
    for (int k = 0; k < 2; ++k) {
      const double d[] = {q[3] - q[0], q[4] - q[1], q[5] - q[2]};
      multipliers((dot(q, q) - 1) / 2, (dot(d, d) - 1) / 2, l1, l2);
      move(q, l1, l2);
    }
    matrix(q);
    const double w[] = {v[3] - v[0], v[4] - v[1], v[5] - v[2]};
    multipliers(dot(q, v), dot(r.data(), w), l1, l2);
    move(v, l1, l2);
  }
};

}  // namespace bench
