// Accelerated projected gradient descent (APGD): Nesterov's method with adaptive restart and backtracking.
//
//   G = W y + q;  r+ = P_K(y - G/L);  L *= 2 while f(r+) > f(y) + G.(r+ - y) + L/2 |r+ - y|^2
//   th+ = (-th^2 + th sqrt(th^2 + 4))/2;  y = r+ + th (1 - th)/(th^2 + th+) (r+ - r);  restart where G.(r+ - r) > 0
//
// Solves: LCP and convexified friction with symmetric positive semidefinite W; exact friction by frozen sliding speeds.
// One product with W per iteration (two where L grows); f(r+) - f(y) comes from the same product.
// Source: Mazhar, Heyn, Negrut, Tasora (2015).
#include <algorithm>
#include <cmath>

#include "solve/contact/gradient.hpp"
#include "solve/contact/solvers.hpp"

namespace hinge {

namespace {

int descend_accelerated(ConvexProblem& f, Eigen::VectorXd& r, double tolerance, int limit,
                        const std::function<bool(int, const Eigen::VectorXd&)>& watch) {
  Eigen::VectorXd y = r, G, next, step, Wstep;
  double L = std::max(f.largest_eigenvalue(3), 1e-300), theta = 1;
  int check = 1;
  for (int k = 1; k <= limit; ++k) {
    f.gradient(y, G);
    for (int doubling = 0;; ++doubling) {
      next = y - G / L;
      f.project(next);
      step = next - y;
      // f(next) - f(y) - G.step = 1/2 step.W step, which needs no cancellation
      f.product(step, Wstep);
      const double length = f.dot(step, step);
      if (0.5 * f.dot(step, Wstep) <= 0.5 * L * length * (1 + 1e-12) || doubling > 60) break;
      L *= 2;
    }
    const double next_theta = 0.5 * theta * (std::sqrt(theta * theta + 4) - theta);
    const double beta = theta * (1 - theta) / (theta * theta + next_theta);
    step = next - r;
    const bool uphill = f.dot(G, step) > 0;
    y = uphill ? next : Eigen::VectorXd(next + beta * step);
    theta = uphill ? 1 : next_theta;
    L *= 0.9;
    r = next;
    if (k < check && k < limit) continue;
    check = k + std::max(5, k / 40);
    if (watch(k, r)) return k;
    if (tolerance > 0) {
      f.gradient(r, G);
      if (f.residual(r, G) <= tolerance) return k;
    }
  }
  return limit;
}

}  // namespace

void solve_accelerated_gradient(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  solve_by_convex_problems(W, judge, std::move(r), 100000, descend_accelerated);
}

}  // namespace hinge
