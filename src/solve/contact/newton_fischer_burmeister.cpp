// Semismooth Newton on Fischer and Burmeister's function, for LCPs:
//
//   phi(a, b) = sqrt(a^2 + b^2) - a - b = 0  <=>  0 <= a _|_ b >= 0,    a = z, b = M z + q
//   J = diag(da) + diag(db) M,   (da, db) = (a, b)/|(a, b)| - (1, 1),   1/sqrt(2) - 1 both at (0, 0)
//
// Armijo's rule on 1/2 |Phi|^2; a gradient step where J is singular or its step is no descent. A bilateral row has b =
// 0 for its equation.
//
// Solves: LCPs with any M (globally where M is P0 in practice), friction in 2D and pyramids as LCPs, with bilateral
// rows. Not for: round cones in 3D; pyramids of thousands of rows, since these LCPs are built as dense matrices.
// Source: De Luca, Facchinei, Kanzow (1996).
#include <cmath>

#include "solve/contact/pyramid.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/cholesky.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

namespace {

struct Lcp {
  SparseRows M;
  Eigen::VectorXd q;
  Eigen::Index free_from;  // rows from here on are bilateral
};

double phi(double a, double b) {
  // sqrt(a^2 + b^2) - (a + b) without cancellation where both are positive
  const double norm = std::hypot(a, b), sum = a + b;
  return sum > 0 ? -2 * a * b / (norm + sum) : norm - sum;
}

void evaluate(const Lcp& lcp, const Eigen::VectorXd& z, Eigen::VectorXd& b, Eigen::VectorXd& F) {
  b = lcp.q;
  b += lcp.M * z;
  F.resize(z.size());
  for (Eigen::Index i = 0; i < z.size(); ++i) F[i] = i < lcp.free_from ? phi(z[i], b[i]) : -b[i];
}

}  // namespace

void solve_newton_fischer_burmeister(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  const ContactProblem& p = judge.problem();
  if (judge.done(0, r)) return;
  Lcp lcp;
  Eigen::MatrixXd reaction;
  Eigen::VectorXd offset;
  if (p.dimension == 1) {
    lcp = {W.matrix(), W.q(), p.contacts()};
  } else {
    PyramidLcp pyramid = pyramid_lcp(W, p);
    lcp = {SparseRows(pyramid.M.sparseView(1, 0)), pyramid.q, pyramid.q.size()};
    reaction = std::move(pyramid.reaction);
    offset = std::move(pyramid.offset);
  }
  const Eigen::Index n = lcp.q.size();
  if (n == 0) {  // bilateral rows only, and eliminated
    judge.done(1, offset);
    return;
  }
  // The pattern of M with a full diagonal.
  SparseRows identity(n, n);
  identity.setIdentity();
  SparseRows J = lcp.M + 0 * identity;
  J.makeCompressed();
  Pattern pattern{static_cast<int>(n), static_cast<int>(n), {}, {}};
  pattern.row_start.assign(J.outerIndexPtr(), J.outerIndexPtr() + n + 1);
  pattern.column.assign(J.innerIndexPtr(), J.innerIndexPtr() + J.nonZeros());
  const SparseRows M = J;  // M with the same pattern
  const auto solver = make_linear_solver(pattern, LinearAlgebra::automatic);

  const auto to_reaction = [&](const Eigen::VectorXd& z) -> Eigen::VectorXd {
    Eigen::VectorXd clipped = z;
    clipped.head(lcp.free_from) = clipped.head(lcp.free_from).cwiseMax(0.0);
    return p.dimension == 1 ? clipped : Eigen::VectorXd(reaction * clipped + offset);
  };
  Eigen::VectorXd z = p.dimension == 1 ? r : Eigen::VectorXd::Zero(n), b, F, step, trial, trial_b, trial_F;
  evaluate(lcp, z, b, F);
  const int limit = judge.limit(500);
  for (int k = 1; k <= limit; ++k) {
    Eigen::VectorXd da(n), db(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double norm = std::hypot(z[i], b[i]);
      da[i] = i >= lcp.free_from ? 0 : norm > 0 ? z[i] / norm - 1 : std::sqrt(0.5) - 1;
      db[i] = i >= lcp.free_from ? -1 : norm > 0 ? b[i] / norm - 1 : std::sqrt(0.5) - 1;
    }
    for (Eigen::Index i = 0; i < n; ++i)
      for (SparseRows::InnerIterator entry(J, i), of(M, i); entry; ++entry, ++of)
        entry.valueRef() = db[i] * of.value() + (entry.col() == i ? da[i] : 0);
    const Eigen::VectorXd gradient = J.transpose() * F;
    const double merit = 0.5 * F.squaredNorm();
    if (judge.out_of_time()) return;
    judge.factorised(
        std::min(2.0 / 3 * std::pow(static_cast<double>(n), 3), 100.0 * static_cast<double>(J.nonZeros())));
    double t = 1, slope = 0;
    bool newton = solver->factor(J.valuePtr());
    if (newton) {
      step = -F;
      solver->solve(step.data());
      slope = gradient.dot(step);
      newton = step.allFinite() && slope < -1e-12 * gradient.norm() * step.norm();
    }
    if (!newton) {
      // Levenberg and Marquardt's step: regular, and downhill.
      const Eigen::SparseMatrix<double> normal = SparseRows(SparseRows(J.transpose()) * J);
      const Eigen::VectorXd ridge =
          Eigen::VectorXd::Constant(n, 1e-10 * std::max(1e-300, normal.diagonal().maxCoeff()));
      Eigen::SparseMatrix<double> A = normal;
      A += Eigen::SparseMatrix<double>(ridge.asDiagonal());
      SparseCholesky factor;
      factor.analyse(A);
      const bool definite = factor.factor(A);
      step = -factor.solve(gradient);
      slope = gradient.dot(step);
      if (!definite || !step.allFinite() || !(slope < 0)) step = -gradient, slope = -gradient.squaredNorm();
    }
    for (int halving = 0;; ++halving, t *= 0.5) {
      trial = z + t * step;
      evaluate(lcp, trial, trial_b, trial_F);
      if (0.5 * trial_F.squaredNorm() <= merit + 1e-4 * t * slope) break;
      if (halving == 50) {
        judge.done(k, to_reaction(z));
        return judge.stop(ContactStatus::stalled,
                          "its merit function has a stationary point that is no solution (perhaps there is none); take "
                          "lemke");
      }
    }
    z = trial, b = trial_b, F = trial_F;
    if (judge.done(k, to_reaction(z))) return;
  }
}

}  // namespace hinge
