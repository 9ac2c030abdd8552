// Projected Gauss-Seidel and successive over-relaxation:
//
//   LCP       z_i = max(0, z_i - w (M z + q)_i / M_ii)
//   contact   r_i = P_K(r_i - w (d / trace W_ii) (u_i + mu_i |u_Ti| n)),    one projection, no local solve
//   bilateral r_k = r_k - w u_k / W_kk
//
// with 0 < w < 2: 1 for Gauss-Seidel, 1.3 for SOR unless the options say otherwise. Relaxation is inside the
// projection, so that r stays in the cones. Solves: symmetric positive semidefinite problems with a positive diagonal
// (converges), exact friction (in practice). Not for: polyhedral friction. Source: Cottle, Pang, Stone (1992); Tasora,
// Anitescu (2011).
// Where a block's largest eigenvalue is nearly its trace, d/trace is too long a step, and 1/lambda_max(W_ii) is taken.
#include <algorithm>

#include <Eigen/Core>

#include "solve/contact/cone.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

// u_row = (W r + q)_row and its change, either from W or, matrix-free, from v = A^T r.
class Rows {
 public:
  Rows(Delassus& W, const Eigen::VectorXd& r) : W_(W), r_(r) { refresh(); }
  /// v anew: what rounding added is dropped.
  void refresh() {
    if (W_.factored())
      multiply_rows(W_.At(), r_, v_, 1);
    else
      W_.matrix();
  }
  double velocity(int row) const {
    double u = W_.q()[row];
    if (W_.factored()) {
      for (SparseRows::InnerIterator entry(W_.A(), row); entry; ++entry) u += entry.value() * v_[entry.col()];
    } else {
      for (SparseRows::InnerIterator entry(W_.matrix(), row); entry; ++entry) u += entry.value() * r_[entry.col()];
    }
    return u;
  }
  void change(int row, double value) {
    if (W_.factored())
      for (SparseRows::InnerIterator entry(W_.A(), row); entry; ++entry)
        v_[entry.col()] += entry.value() * (value - r_[row]);
    r_[row] = value;
  }
  const Eigen::VectorXd& r() const { return r_; }

 private:
  Delassus& W_;
  Eigen::VectorXd r_, v_;
};

void iterate(Delassus& W, Judge& judge, const Eigen::VectorXd& start, double omega) {
  const ContactProblem& p = judge.problem();
  const int d = W.dimension(), nc = W.contacts(), limit = judge.limit(20000);
  Rows rows(W, start);
  Eigen::VectorXd steps(nc);
  for (int i = 0; i < nc; ++i) {
    steps[i] = d / W.trace(i);
    const Eigen::MatrixXd block = W.block(i);
    const double largest = largest_eigenvalue(0.5 * (block + block.transpose()));
    if (steps[i] * largest > 1.5) steps[i] = 1 / largest;
  }
  if (judge.done(0, start)) return;
  int next = 1, without_progress = 0;
  double before = HUGE_VAL;
  for (int k = 1; k <= limit; ++k) {
    for (int i = 0; i < nc; ++i) {
      double u[3] = {}, x[3] = {};
      for (int j = 0; j < d; ++j) u[j] = rows.velocity(i * d + j);
      u[0] += de_saxce_shift(p, p.mu_of(i), u);
      const double step = omega * steps[i];
      for (int j = 0; j < d; ++j) x[j] = rows.r()[i * d + j] - step * u[j];
      project_on_model(p, p.mu_of(i), x);
      for (int j = 0; j < d; ++j) rows.change(i * d + j, x[j]);
    }
    for (int row = nc * d; row < W.rows(); ++row)
      if (W.diagonal(row) > 0) rows.change(row, rows.r()[row] - omega * rows.velocity(row) / W.diagonal(row));
    if (k < next && k < limit) continue;
    if (judge.done(k, rows.r())) return;
    rows.refresh();
    next = k + std::max(1, k / 40);
    without_progress = judge.best_residual() < 0.999 * before ? 0 : without_progress + 1;
    before = std::min(before, judge.best_residual());
    if (without_progress > 200)
      return judge.stop(ContactStatus::stalled, "the residual no longer decreases; take block-gauss-seidel or lemke");
  }
}

}  // namespace

void solve_projected_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  iterate(W, judge, r, judge.options().relaxation);
}

void solve_projected_sor(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  const double omega = judge.options().relaxation;
  iterate(W, judge, r, omega == 1 ? 1.3 : omega);
}

}  // namespace hinge
