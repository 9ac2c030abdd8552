#include "solve/contact/compliant.hpp"

#include <algorithm>
#include <cmath>

#include "solve/contact/cone.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double first_eps = 1, last_eps = 1e-3, least_eps = 1e-8, shrinking = 0.1;
constexpr double unit_rounding = 5e-16;
constexpr int most_newton_iterations = 25, most_proximal_steps = 20, most_factorisations = 100;

}  // namespace

// u, x, r = Phi(x) and F = v - A^T r for v; returns |F|.
double CompliantContacts::evaluate(const VectorXd& v, double eps) {
  rows_->multiply(v, u_);
  for (int i = 0; i < rows_->contacts(); ++i) {
    double *x = x_.data() + i * d_, *r = r_.data() + i * d_, square = 0;
    for (int k = 0; k < d_; ++k) {
      const std::size_t row = at(i * d_ + k);
      x[k] = around_[row] - (u_[row] + (*q_)[row]) / (eps * rows_->delta(i));
      if (k > 0) square += x[k] * x[k];
    }
    r[0] = std::max(0.0, x[0]);
    const double radius = rows_->mu(i) * r[0], length = std::sqrt(square);
    for (int k = 1; k < d_; ++k) r[k] = length > radius ? radius / length * x[k] : x[k];
  }
  rows_->multiply_transposed(r_, F_);
  F_ = v - F_;
  return F_.norm();
}

// -d Phi/d u
void CompliantContacts::derivative(int i, double eps, Matrix3d& C) const {
  const double *x = x_.data() + i * d_, mu = rows_->mu(i);
  C.setZero();
  if (x[0] <= 0) return;
  C(0, 0) = 1;
  const double t = d_ == 1 ? 0 : length(x[1], d_ == 3 ? x[2] : 0), radius = mu * x[0];
  if (t <= radius) {
    for (int k = 1; k < d_; ++k) C(k, k) = 1;
  } else {
    const Vector3d e(0, x[1] / t, d_ == 3 ? x[2] / t : 0);
    for (int k = 1; k < d_; ++k) {
      C(k, 0) = mu * e[k];
      for (int l = 1; l < d_; ++l) C(k, l) = radius / t * ((k == l ? 1 : 0) - e[k] * e[l]);
    }
  }
  C /= eps * rows_->delta(i);
}

// v for one eps. False where Newton's iteration does not get there.
bool CompliantContacts::relax(double eps, double accuracy) {
  double error = evaluate(v_, eps);
  for (int k = 0; k < most_newton_iterations; ++k) {
    rows_->absolute_transposed(r_, trial_);
    const double least = unit_rounding / eps * trial_.norm();  // u is divided by eps
    if (error <= std::max(accuracy * std::max(v_.norm(), (v_ - F_).norm()), least)) return true;
    if (judge_->out_of_time() || factorisations_++ == most_factorisations) return false;
    judge_->factorised(fronts_->operations());
    if (!fronts_->factor([&](int i, Matrix3d& C) { derivative(i, eps, C); })) return false;
    dv_ = -F_;
    fronts_->solve(dv_);
    if (!dv_.allFinite()) return false;
    const double before = error;
    double t = 1;
    bool good = false;
    for (int halving = 0; halving < 10 && !good; ++halving, t *= 0.5) {
      trial_ = v_ + t * dv_;
      error = evaluate(trial_, eps);
      good = error <= (1 - 1e-4 * t) * before;
    }
    if (!good) {
      const bool rounding = before <= 8 * least;
      evaluate(v_, eps);
      return rounding;
    }
    v_ = trial_;
  }
  return error <= std::max(accuracy, 1e-6) * v_.norm();
}

void CompliantContacts::solve(ContactRows& rows, const std::vector<double>& q, Judge& judge) {
  rows_ = &rows;
  q_ = &q;
  judge_ = &judge;
  factorisations_ = 0;
  d_ = rows.dimension();
  fronts_ = &rows.fronts();
  v_.setZero(rows.columns());
  around_.assign(at(rows.rows()), 0.0);
  for (auto* x : {&u_, &x_, &r_}) x->assign(at(rows.rows()), 0.0);
  for (double eps = first_eps; eps > 0.5 * last_eps; eps *= shrinking)
    if (!relax(eps, 1e-4)) return;
  // Heavy bodies on light ones need less, and so does slow slip, whose direction turns by little in a step.
  double eps = last_eps, larger = eps, before = HUGE_VAL;
  Eigen::VectorXd from;
  for (int k = 0; k < most_proximal_steps; ++k) {
    around_ = r_;
    from = v_;
    while (!relax(eps, 1e-15)) {
      if (!(eps < 0.8 * larger) || factorisations_ >= most_factorisations || judge.out_of_time()) return;
      eps = std::sqrt(eps * larger);
      v_ = from;
    }
    larger = eps;
    const bool done = judge.done(k, Eigen::Map<const VectorXd>(r_.data(), std::ssize(r_)));
    const double now = judge.last();
    if (now <= 4 * judge.rounding_level() || (done && now > 0.3 * before)) return;
    if (now > 0.3 * before) eps *= shrinking;
    if (eps < least_eps) return;
    before = std::min(before, now);
  }
}

}  // namespace hinge
