// Projected Gauss-Jacobi: r = P_K(r - w u/L), all contacts at once, L an estimate of the largest eigenvalue of W.
//
// A projected gradient step, so w/L must stay below 2/lambda_max; steps 1/W_ii instead can cycle for ever. A baseline
// that runs in parallel, no more. Solves: symmetric positive semidefinite problems, convexified and (in practice) exact
// friction.
#include <algorithm>

#include "solve/contact/cone.hpp"
#include "solve/contact/gradient.hpp"
#include "solve/contact/solvers.hpp"

namespace hinge {

void solve_projected_jacobi(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  const ContactProblem& p = judge.problem();
  ConvexProblem f(W, p, judge.options().threads);
  const int d = W.dimension(), limit = judge.limit(50000);
  // Ten power iterations come from below; the margin covers what they miss.
  const double step = judge.options().relaxation / (1.1 * f.largest_eigenvalue(10));
  if (judge.done(0, r)) return;
  Eigen::VectorXd u;
  int next = 1;
  for (int k = 1; k <= limit; ++k) {
    f.gradient(r, u);
    for (int i = 0; i < W.contacts(); ++i) u[i * d] += de_saxce_shift(p, p.mu_of(i), u.data() + i * d);
    r -= step * u;
    f.project(r);
    if (k < next && k < limit) continue;
    if (judge.done(k, r)) return;
    next = k + std::max(1, k / 40);
  }
}

}  // namespace hinge
