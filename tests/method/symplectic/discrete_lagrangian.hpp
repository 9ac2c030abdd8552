// Is a SPARK method variational? Its discrete Lagrangian is
//
//   A_d(q0, q1) = h sum_i b_i L(Q_i, V_i) - h sum_{i=0..st} bt_i L_i g(Qt_i),
//
// where for given end points the stages solve
//   Q_i = q0 + h sum_j a_ij V_j,  Qt_i = q0 + h sum_j ab_ij V_j,  q1 = q0 + h sum_j b_j V_j,
//   p(Q_i, V_i) = p(q0, v0) + h sum_j ah_ij f_j + h sum_j at_ij r_j,
//   p(q1, v1)   = p(q0, v0) + h sum_j bh_j f_j + h sum_j bt_j r_j,      f_j = L_q(Q_j, V_j), r_j = -g_q(Qt_j)^T L_j,
//   g(Qt_i) = 0 for 0 < i < st,   g_q(q0) v0 = 0,   g_q(q1) v1 = 0.
// The method is variational when its steps satisfy the discrete Euler-Lagrange equations
//   p0 = -D1 A_d(q0, q1),   p1 = D2 A_d(q0, q1)
// as gradients in all of R^n. The end points of a step of the library go in, and its momenta are compared; the
// equations above are solved here, in long double, by Newton's method with a numerical Jacobian, and A_d is
// differentiated by central differences of sixth order.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include <Eigen/Dense>

#include "method/properties.hpp"

namespace hinge::properties {

using Real = long double;
using Vector3 = Eigen::Matrix<Real, 3, 1>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

/// L(q, v) in R^3 with one constraint g(q) = 0, written out by hand: nothing of the library's expressions.
struct PlainLagrangian {
  std::function<Real(const Vector3& q, const Vector3& v)> lagrangian;
  std::function<Vector3(const Vector3&q, const Vector3&v)> momentum, force;  ///< L_v, L_q
  std::function<Real(const Vector3& q)> constraint;
  std::function<Vector3(const Vector3& q)> gradient;
};

inline PlainLagrangian plain_s2() {
  return {[](const Vector3& q, const Vector3& v) { return v.dot(v) / 2 - (q(1) * v(0) - q(0) * v(1)) + q(2); },
          [](const Vector3& q, const Vector3& v) { return Vector3(v(0) - q(1), v(1) + q(0), v(2)); },
          [](const Vector3&, const Vector3& v) { return Vector3(v(1), -v(0), 1); },
          [](const Vector3& q) { return q.norm() - 1; }, [](const Vector3& q) -> Vector3 { return q / q.norm(); }};
}

inline PlainLagrangian plain_relativistic() {
  const auto root = [](const Vector3& v) { return std::sqrt(1 - v.dot(v) / 4); };
  return {[root](const Vector3& q, const Vector3& v) { return -4 * root(v) - q(2) - q(0) * q(1); },
          [root](const Vector3&, const Vector3& v) -> Vector3 { return v / root(v); },
          [](const Vector3& q, const Vector3&) { return Vector3(-q(1), -q(0), -1); },
          [](const Vector3& q) { return (q(0) * q(0) + 2 * q(1) * q(1) + 3 * q(2) * q(2) - 1) / 2; },
          [](const Vector3& q) { return Vector3(q(0), 2 * q(1), 3 * q(2)); }};
}

class DiscreteLagrangian {
 public:
  DiscreteLagrangian(PlainLagrangian problem, const SparkTableau& t, Real h)
      : problem_(std::move(problem)),
        s_(t.stages()),
        st_(t.constraint_stages()),
        h_(h),
        a_(t.a.cast<Real>()),
        ahat_(t.ahat.cast<Real>()),
        atilde_(t.atilde.cast<Real>()),
        abar_(t.abar.cast<Real>()),
        b_(t.b.cast<Real>()),
        bhat_(t.bhat.cast<Real>()),
        btilde_(t.btilde.cast<Real>()) {}

  /// Solves for the stages of the step from q0 to q1; later solutions start from these.
  void prepare(const Vector3& q0, const Vector3& q1, Real multiplier) {
    x_ = RealVector::Constant(3 * s_ + 6 + st_ + 1, multiplier);
    for (int i = 0; i < s_ + 2; ++i) x_.segment<3>(3 * i) = (q1 - q0) / h_;
    for (int k = 0; k < 6; ++k) {
      jacobian_.compute(differentiate(q0, q1));
      x_ -= jacobian_.solve(residual(q0, q1, x_));
    }
    x_ = solve(q0, q1);
  }

  Real operator()(const Vector3& q0, const Vector3& q1) const {
    const RealVector x = solve(q0, q1);
    const Stages k = unpack(q0, x);
    Real sum = 0;
    for (int i = 0; i < s_; ++i) sum += h_ * b_(i) * problem_.lagrangian(k.q.col(i), k.v.col(i));
    for (int i = 0; i <= st_; ++i) sum -= h_ * btilde_(i) * k.psi(i) * problem_.constraint(k.node.col(i));
    return sum;
  }

 private:
  struct Stages {
    RealMatrix v, q, node;  // columns V_i, Q_i, Qt_i
    Vector3 v0, v1;
    RealVector psi;
  };

  Stages unpack(const Vector3& q0, const RealVector& x) const {
    Stages k;
    k.v = Eigen::Map<const RealMatrix>(x.data(), 3, s_);
    k.q = (h_ * k.v * a_.transpose()).colwise() + q0;
    k.node = (h_ * k.v * abar_.transpose()).colwise() + q0;
    k.v0 = x.segment<3>(3 * s_);
    k.v1 = x.segment<3>(3 * s_ + 3);
    k.psi = x.tail(st_ + 1);
    return k;
  }

  RealVector residual(const Vector3& q0, const Vector3& q1, const RealVector& x) const {
    const Stages k = unpack(q0, x);
    RealMatrix f(3, s_), r(3, st_ + 1);
    for (int i = 0; i < s_; ++i) f.col(i) = problem_.force(k.q.col(i), k.v.col(i));
    for (int i = 0; i <= st_; ++i) r.col(i) = -problem_.gradient(k.node.col(i)) * k.psi(i);
    const Vector3 p0 = problem_.momentum(q0, k.v0);
    const RealMatrix kicks = h_ * (f * ahat_.transpose() + r * atilde_.transpose());
    RealVector out(x.size());
    for (int i = 0; i < s_; ++i) out.segment<3>(3 * i) = problem_.momentum(k.q.col(i), k.v.col(i)) - p0 - kicks.col(i);
    out.segment<3>(3 * s_) = problem_.momentum(q1, k.v1) - p0 - h_ * (f * bhat_ + r * btilde_);
    out.segment<3>(3 * s_ + 3) = q0 + h_ * k.v * b_ - q1;
    for (int i = 1; i < st_; ++i) out(3 * s_ + 5 + i) = problem_.constraint(k.node.col(i));
    out(3 * s_ + 5 + st_) = problem_.gradient(q0).dot(k.v0);
    out(3 * s_ + 6 + st_) = problem_.gradient(q1).dot(k.v1);
    return out;
  }

  RealMatrix differentiate(const Vector3& q0, const Vector3& q1) const {
    RealMatrix j(x_.size(), x_.size());
    const Real delta = 1e-6L;
    for (Eigen::Index k = 0; k < x_.size(); ++k) {
      RealVector plus = x_, minus = x_;
      plus(k) += delta, minus(k) -= delta;
      j.col(k) = (residual(q0, q1, plus) - residual(q0, q1, minus)) / (2 * delta);
    }
    return j;
  }

  // With the Jacobian of prepare(), until the increments no longer shrink.
  RealVector solve(const Vector3& q0, const Vector3& q1) const {
    RealVector x = x_;
    Real last = std::numeric_limits<Real>::infinity();
    for (int k = 0; k < 60; ++k) {
      const RealVector dx = jacobian_.solve(residual(q0, q1, x));
      x -= dx;
      const Real size = dx.norm();
      if (!std::isfinite(size)) break;
      if (size < 1e-13L && size > last / 2) return x;
      last = size;
    }
    throw std::runtime_error("the stages of the discrete Lagrangian were not found");
  }

  PlainLagrangian problem_;
  int s_, st_;
  Real h_;
  RealMatrix a_, ahat_, atilde_, abar_;
  RealVector b_, bhat_, btilde_;
  RealVector x_;
  Eigen::PartialPivLU<RealMatrix> jacobian_;
};

/// max(|p0 + D1 A_d|, |p1 - D2 A_d|) for the second step of a run; `plain` and `problem` are the same system.
inline double variational_defect(const PlainLagrangian& plain, const Problem& problem, const MethodChoice& method,
                                 const SparkTableau& tableau, double h) {
  Run run(problem, method);
  const auto real = [](const std::vector<double>& x) { return Vector3(x[0], x[1], x[2]); };
  run.step(h);
  const Vector3 q0 = real(run.state().y), p0 = real(run.momentum());
  run.step(h);
  const Vector3 q1 = real(run.state().y), p1 = real(run.momentum());

  DiscreteLagrangian action(plain, tableau, h);
  action.prepare(q0, q1, run.state().psi[0]);
  const Real delta = 1e-4L;
  const auto derivative = [&](const std::function<Real(const Vector3&)>& along, int k) {
    const auto d = [&](int i) { return along(i * delta * Vector3::Unit(k)) - along(-i * delta * Vector3::Unit(k)); };
    return (45 * d(1) - 9 * d(2) + d(3)) / (60 * delta);
  };
  Real worst = 0;
  for (int k = 0; k < 3; ++k) {
    const Real d1 = derivative([&](const Vector3& d) { return action(q0 + d, q1); }, k);
    const Real d2 = derivative([&](const Vector3& d) { return action(q0, q1 + d); }, k);
    for (const Real d : {p0(k) + d1, p1(k) - d2}) worst = std::abs(d) <= worst ? worst : std::abs(d);
  }
  return static_cast<double>(worst);
}

}  // namespace hinge::properties
