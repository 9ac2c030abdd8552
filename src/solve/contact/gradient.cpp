#include "solve/contact/gradient.hpp"

#include <algorithm>

#include "solve/contact/cone.hpp"
#include "solve/parallel.hpp"

namespace hinge {

ConvexProblem::ConvexProblem(Delassus& W, const ContactProblem& problem, int threads)
    : W_(W), problem_(problem), threads_(threads), q_(W.q()), rho_(W.contacts()) {
  for (int i = 0; i < W.contacts(); ++i) rho_[i] = W.trace(i) > 0 ? W.dimension() / W.trace(i) : 1;
}

void ConvexProblem::freeze(const Eigen::VectorXd& shift) { q_ = W_.q() + shift; }

void ConvexProblem::gradient(const Eigen::VectorXd& r, Eigen::VectorXd& g) {
  W_.multiply(r, g);
  g += q_;
}

void ConvexProblem::project(Eigen::VectorXd& r) const {
  const int d = problem_.dimension;
  parallel_ranges(problem_.contacts(), threads_, [&](int first, int last) {
    for (int i = first; i < last; ++i) project_on_model(problem_, problem_.mu_of(i), r.data() + i * d);
  });
}

double ConvexProblem::dot(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  return parallel_sum(static_cast<int>(a.size()), threads_, [&](int first, int last) {
    return a.segment(first, last - first).dot(b.segment(first, last - first));
  });
}

double ConvexProblem::largest_eigenvalue(int iterations) {
  Eigen::VectorXd x(W_.rows()), y;
  for (Eigen::Index k = 0; k < x.size(); ++k)
    x[k] = 1 + 0.5 * (k % 2 == 0 ? 1 : -1) * static_cast<double>((k * 7919) % 101) / 101;
  double value = 0;
  for (int k = 0; k < iterations; ++k) {
    x /= std::sqrt(dot(x, x));
    W_.multiply(x, y);
    value = dot(x, y);
    x.swap(y);
    if (!(value > 0)) break;
  }
  return value;
}

double ConvexProblem::residual(const Eigen::VectorXd& r, const Eigen::VectorXd& g) const {
  const int d = problem_.dimension;
  double largest = 0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    double x[3] = {}, square = 0;
    for (int k = 0; k < d; ++k) x[k] = r[i * d + k] - rho_[i] * g[i * d + k];
    project_on_model(problem_, problem_.mu_of(i), x);
    for (int k = 0; k < d; ++k) square += (r[i * d + k] - x[k]) * (r[i * d + k] - x[k]);
    largest = std::max(largest, std::sqrt(square) / rho_[i]);
  }
  for (int k = problem_.contacts() * d; k < problem_.rows(); ++k) largest = std::max(largest, std::abs(g[k]));
  return largest / std::max(W_.q().lpNorm<Eigen::Infinity>(), 1e-300);
}

Eigen::VectorXd friction_shift(Delassus& W, const ContactProblem& p, const Eigen::VectorXd& r) {
  Eigen::VectorXd u, shift = Eigen::VectorXd::Zero(W.rows());
  W.multiply(r, u);
  u += W.q();
  for (int i = 0; i < p.contacts(); ++i)
    shift[i * p.dimension] = de_saxce_shift(p, p.mu_of(i), u.data() + i * p.dimension);
  return shift;
}

void solve_by_convex_problems(Delassus& W, Judge& judge, Eigen::VectorXd r, int limit, const ConvexSolve& solve) {
  const ContactProblem& p = judge.problem();
  ConvexProblem f(W, p, judge.options().threads);
  limit = judge.limit(limit);
  if (judge.done(0, r)) return;
  const bool exact = p.friction != FrictionModel::convexified && !p.frictionless();
  int used = 0;
  if (!exact) {
    const auto watch = [&](int iterations, const Eigen::VectorXd& x) { return judge.done(iterations, x); };
    used = solve(f, r, 0, limit, watch);
    judge.done(used, r);
    return;
  }
  constexpr int outer_limit = 500;
  double inner = 0.1, best = HUGE_VAL;
  Eigen::VectorXd g;
  for (int outer = 0, without_progress = 0; outer < outer_limit && used < limit; ++outer) {
    f.freeze(friction_shift(W, p, r));
    f.gradient(r, g);
    // A tenth of what this freeze has to correct.
    inner = std::min(inner, 0.1 * f.residual(r, g));
    const auto stop = [&](int, const Eigen::VectorXd&) { return judge.out_of_time(); };
    used += std::max(1, solve(f, r, std::max(inner, 1e-15), limit - used, stop));
    if (judge.done(used, r)) return;
    without_progress = judge.best_residual() < 0.99 * best ? 0 : without_progress + 1;
    best = std::min(best, judge.best_residual());
    if (without_progress > 30)
      return judge.stop(ContactStatus::stalled,
                        "freezing the sliding speeds does not converge; take block-gauss-seidel");
  }
}

}  // namespace hinge
