// Mehrotra's predictor-corrector interior point method, for LCPs:
//
//   w = M z + q,  z_i w_i = sigma mu:   (M + Z^-1 W) dz = r_c/z - r_p... solved twice with one factorisation
//
// predictor with sigma = 0, sigma = (mu_affine/mu)^3, corrector with the predictor's second-order term, steps to
// 0.99995 of the boundary.
//
// Solves: LCPs with positive semidefinite M (symmetric or not), with bilateral rows. 5 to 20 iterations, whatever the
// size. Not for: friction (cone-interior-point), indefinite M. Source: Mehrotra (1992); Wright (1997).
#include <algorithm>
#include <cmath>

#include "solve/contact/solvers.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

namespace {

// Largest step in (0, 1] that keeps x + a dx above a fraction of the boundary.
double step_length(const Eigen::VectorXd& x, const Eigen::VectorXd& dx, double fraction) {
  double a = 1;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (dx[i] < 0) a = std::min(a, -fraction * x[i] / dx[i]);
  return a;
}

}  // namespace

void solve_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  const ContactProblem& p = judge.problem();
  const Eigen::Index n = W.rows(), nc = p.contacts();
  if (judge.done(0, r)) return;
  SparseRows identity(n, n);
  identity.setIdentity();
  SparseRows J = W.matrix() + 0 * identity;
  J.makeCompressed();
  const SparseRows M = J;
  Pattern pattern{static_cast<int>(n), static_cast<int>(n), {}, {}};
  pattern.row_start.assign(J.outerIndexPtr(), J.outerIndexPtr() + n + 1);
  pattern.column.assign(J.innerIndexPtr(), J.innerIndexPtr() + J.nonZeros());
  const auto solver = make_linear_solver(pattern, LinearAlgebra::automatic);

  const Eigen::VectorXd& q = W.q();
  const double size_w = std::max(q.lpNorm<Eigen::Infinity>(), 1e-300);
  // By the largest entry of every row: M may have no diagonal.
  double entries = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    double largest = 0;
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry) largest = std::max(largest, std::abs(entry.value()));
    entries += largest;
  }
  const double size_z = size_w * static_cast<double>(n) / std::max(entries, 1e-300);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);  // z, then the bilateral reactions
  x.head(nc).setConstant(size_z);
  Eigen::VectorXd w = Eigen::VectorXd::Constant(nc, size_w);
  const int limit = judge.limit(200);
  double best_gap = HUGE_VAL;
  for (int k = 1, without_progress = 0; k <= limit; ++k) {
    const auto z = x.head(nc);
    Eigen::VectorXd rp = q;  // M x + q - w, and M x + q on bilateral rows
    rp += M * x;
    rp.head(nc) -= w;
    const double gap = nc > 0 ? z.dot(w) / static_cast<double>(nc) : 0;
    for (Eigen::Index i = 0; i < n; ++i)
      for (SparseRows::InnerIterator entry(J, i), of(M, i); entry; ++entry, ++of)
        entry.valueRef() = of.value() + (entry.col() == i && i < nc ? w[i] / z[i] : 0);
    if (judge.out_of_time()) return;
    judge.factorised(
        std::min(2.0 / 3 * std::pow(static_cast<double>(n), 3), 100.0 * static_cast<double>(J.nonZeros())));
    if (!solver->factor(J.valuePtr()))
      return judge.stop(ContactStatus::failed,
                        "its linear system is singular; the bilateral rows depend on each other?");
    Eigen::VectorXd dx, dw;
    // rc = target - z w:  z dw + w dz = rc,  M dx - dw = -rp
    const auto direction = [&](const Eigen::VectorXd& rc) {
      dx = -rp;
      dx.head(nc) += rc.cwiseQuotient(z);
      solver->solve(dx.data());
      dw = (rc - w.cwiseProduct(dx.head(nc))).cwiseQuotient(z);
    };
    const Eigen::VectorXd zw = z.cwiseProduct(w);
    direction(-zw);
    const Eigen::VectorXd dz = dx.head(nc);
    const double a = std::min(step_length(z, dz, 1), step_length(w, dw, 1));
    const double affine = nc > 0 ? (z + a * dz).dot(w + a * dw) / static_cast<double>(nc) : 0;
    const double sigma = gap > 0 ? std::pow(std::clamp(affine / gap, 0.0, 1.0), 3) : 0;
    direction(Eigen::VectorXd::Constant(nc, sigma * gap) - zw - dz.cwiseProduct(dw));
    if (!dx.allFinite() || !dw.allFinite())
      return judge.stop(ContactStatus::failed, "its iterates are no longer finite; the problem may have no solution");
    const double t = std::min(step_length(x.head(nc), dx.head(nc), 0.99995), step_length(w, dw, 0.99995));
    x += t * dx;
    w += t * dw;
    // The smaller of z and w is what rounding and centring leave of zero.
    Eigen::VectorXd candidate = x;
    for (Eigen::Index i = 0; i < nc; ++i)
      if (x[i] / size_z < w[i] / size_w * 1e-3) candidate[i] = 0;
    if (judge.done(k, x) || judge.done(k, candidate)) return;
    without_progress = judge.best_residual() < 0.9 * best_gap ? 0 : without_progress + 1;
    best_gap = std::min(best_gap, judge.best_residual());
    if (without_progress > 30)
      return judge.stop(ContactStatus::stalled,
                        "it makes no progress; the problem may have no solution, or M is indefinite");
  }
}

}  // namespace hinge
