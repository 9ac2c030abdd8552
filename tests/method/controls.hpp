// Methods that lack a property, to show that its measurement notices. They declare honestly what they keep.
//
// RungeKutta4: the classical method for  y' = v, z' = p_z^-1 (f + r(psi) - p_y v - p_t)  with psi from
//   0 = rate_t + rate_y v + rate_z z',   rate = g_t + g_y v,
// and, with projection, after each step the nearest y with g = 0 and the nearest z with rate = 0 (Euclidean).
#pragma once

#include <cmath>
#include <memory>
#include <utility>

#include <Eigen/Dense>

#include "hinge/hinge.hpp"
#include "method/symplectic/spark.hpp"

namespace hinge::controls {

inline Eigen::MatrixXd dense(const Pattern& pattern, const double* values) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(pattern.rows, pattern.columns);
  for (int i = 0; i < pattern.rows; ++i)
    for (int k = pattern.row_start[static_cast<std::size_t>(i)]; k < pattern.row_start[static_cast<std::size_t>(i) + 1];
         ++k)
      m(i, pattern.column[static_cast<std::size_t>(k)]) = values[k];
  return m;
}

class RungeKutta4 final : public Stepper {
 public:
  RungeKutta4(std::shared_ptr<const System> system, bool project)
      : system_(std::move(system)),
        project_(project),
        e_(system_->evaluation({Q::velocity, Q::force, Q::reaction, Q::momentum_y, Q::momentum_z, Q::momentum_t,
                                Q::reaction_psi, Q::constraint, Q::constraint_y, Q::constraint_rate,
                                Q::constraint_rate_y, Q::constraint_rate_z, Q::constraint_rate_t})) {}

  StepResult step(State& state, double h) override {
    const Eigen::VectorXd y0 = map(state.y), z0 = map(state.z);
    y_ = y0, z_ = z0, psi_ = map(state.psi);
    Eigen::VectorXd y_sum = Eigen::VectorXd::Zero(y0.size()), z_sum = Eigen::VectorXd::Zero(z0.size());
    const double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int i = 0; i < 4; ++i) {
      if (i > 0) y_ = y0 + h * node[i] * v_, z_ = z0 + h * node[i] * slope_;
      differentiate(state.t + node[i] * h);
      y_sum += weight[i] * v_;
      z_sum += weight[i] * slope_;
    }
    y_ = y0 + h * y_sum;
    z_ = z0 + h * z_sum;
    if (project_) project(state.t + h);
    differentiate(state.t + h);
    if (!y_.allFinite() || !z_.allFinite() || !psi_.allFinite()) return {false, "not finite"};
    map(state.y) = y_, map(state.z) = z_, map(state.psi) = psi_;
    state.t += h;
    ++counters_.steps;
    return {};
  }
  void reset() override {}

 private:
  using Q = Quantity;
  static Eigen::Map<Eigen::VectorXd> map(std::vector<double>& x) {
    return {x.data(), static_cast<Eigen::Index>(x.size())};
  }
  Eigen::MatrixXd matrix(Quantity q) const { return dense(system_->pattern(q), (*e_)[q]); }
  void evaluate(double t) { e_->at(t, y_.data(), z_.data(), psi_.data()); }

  // v_ and slope_ = z' at (y_, z_), by Newton's method for (z', psi).
  void differentiate(double t) {
    const int nz = system_->nz(), m = system_->ng();
    slope_ = Eigen::VectorXd::Zero(nz);
    for (int iteration = 0; iteration < 30; ++iteration) {
      evaluate(t);
      v_ = matrix(Q::velocity);
      const Eigen::MatrixXd p_z = matrix(Q::momentum_z), rate_z = matrix(Q::constraint_rate_z);
      Eigen::MatrixXd a(nz + m, nz + m);
      a << p_z, -matrix(Q::reaction_psi), rate_z, Eigen::MatrixXd::Zero(m, m);
      Eigen::VectorXd b(nz + m);
      b << matrix(Q::force) + matrix(Q::reaction) - matrix(Q::momentum_y) * v_ - matrix(Q::momentum_t) - p_z * slope_,
          -matrix(Q::constraint_rate_t) - matrix(Q::constraint_rate_y) * v_ - rate_z * slope_;
      const Eigen::VectorXd x = a.partialPivLu().solve(b);
      slope_ += x.head(nz);
      psi_ += x.tail(m);
      if (!(x.norm() > 1e-13 * (1 + slope_.norm() + psi_.norm()))) return;
    }
  }

  void project(double t) {
    for (int iteration = 0; iteration < 6; ++iteration) {
      evaluate(t);
      const Eigen::MatrixXd g_y = matrix(Q::constraint_y);
      y_ -= g_y.transpose() * (g_y * g_y.transpose()).partialPivLu().solve(matrix(Q::constraint));
    }
    for (int iteration = 0; iteration < 6; ++iteration) {
      evaluate(t);
      const Eigen::MatrixXd rate_z = matrix(Q::constraint_rate_z);
      z_ -= rate_z.transpose() * (rate_z * rate_z.transpose()).partialPivLu().solve(matrix(Q::constraint_rate));
    }
  }

  std::shared_ptr<const System> system_;
  bool project_;
  std::unique_ptr<Evaluation> e_;
  Eigen::VectorXd y_, z_, psi_, v_, slope_;
};

inline MethodChoice runge_kutta_4(bool project) {
  MethodChoice choice;
  choice.info.name = project ? "runge-kutta-4-projected" : "runge-kutta-4";
  choice.info.preserves.position_level = choice.info.preserves.velocity_level = project;
  choice.order = choice.multiplier_order = 4;
  choice.make = [project](std::shared_ptr<const System> system, const SolverOptions&, const StepOptions&) {
    return std::make_unique<RungeKutta4>(std::move(system), project);
  };
  return choice;
}

/// A SPARK method that declares what it is told to.
inline MethodChoice spark_with(const SparkTableau& tableau, Preserves preserves = {}, int order = 0,
                               int multiplier_order = 0) {
  MethodChoice choice;
  choice.info.name = tableau.name;
  choice.info.preserves = preserves;
  choice.order = order;
  choice.multiplier_order = multiplier_order;
  choice.make = [tableau](std::shared_ptr<const System> system, const SolverOptions& options, const StepOptions&) {
    return make_spark(std::move(system), tableau, options);
  };
  return choice;
}

/// Gauss-Lobatto with two stages and one wrong row of abar: still symmetric, but (3.3c) and (4.1c) do not hold. Order 2
/// where the reaction is affine in psi, else none.
inline SparkTableau broken_gauss_lobatto() {
  SparkTableau t = gauss_lobatto_tableau(2);
  t.abar(1, 0) += 0.05;
  t.abar(1, 1) -= 0.05;
  return t;
}

}  // namespace hinge::controls
