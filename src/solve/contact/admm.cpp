// Alternating direction method of multipliers, over-relaxed, with an adaptive penalty:
//
//   r = (W + rho I)^-1 (rho (z - y) - q - s)
//   z = P_K(1.6 r - 0.6 z + y),   y += 1.6 r - 0.6 z_old - z,   s = mu rho |y_T| n, since -rho y estimates u + s
//
// rho = sqrt(lambda_min lambda_max) to begin with (lambda_max/100 at least); doubled or halved (and W + rho I
// factorised anew) when the primal and the dual residual differ by a factor of ten.
//
// Solves: everything but pyramids with symmetric W; bilateral rows too (their z is r). Robust, some digits; slow where
// W is badly conditioned. Source: Boyd et al. (2011); Acary, Bremond, Huber (2018) for friction.
#include <algorithm>
#include <cmath>

#include "solve/contact/cone.hpp"
#include "solve/contact/gradient.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

namespace {

// x -> (W + rho I)^-1 x. With W = A A^T through velocities: (1 - A (rho I + A^T A)^-1 A^T)/rho.
class Shifted {
 public:
  explicit Shifted(Delassus& W) : W_(W) {
    if (W.factored())
      K_ = Eigen::SparseMatrix<double>(W.At() * W.A());
    else {
      K_ = W.matrix();
      K_ = Eigen::SparseMatrix<double>(0.5 * (K_ + Eigen::SparseMatrix<double>(K_.transpose())));
    }
    Eigen::SparseMatrix<double> identity(K_.rows(), K_.cols());
    identity.setIdentity();
    K_ = K_ + 0 * identity;
    solver_.analyse(K_);
  }
  // Estimates: a matrix that has filled up, or one of bodies of which few touch.
  double operations() const {
    const auto n = static_cast<double>(K_.rows());
    return W_.factored() ? 50.0 * static_cast<double>(K_.nonZeros()) : n * n * n / 3;
  }
  double operations_of_solve() const {
    const auto n = static_cast<double>(K_.rows());
    return W_.factored() ? 16.0 * static_cast<double>(K_.nonZeros()) : 4 * n * n;
  }
  bool factor(double rho) {
    rho_ = rho;
    Eigen::SparseMatrix<double> shifted = K_;
    shifted.diagonal().array() += rho;
    return solver_.factor(shifted);
  }
  void solve(const Eigen::VectorXd& b, Eigen::VectorXd& x) {
    if (!W_.factored()) {
      x = solver_.solve(b);
      return;
    }
    multiply_rows(W_.At(), b, v_, 1);
    v_ = solver_.solve(v_);
    multiply_rows(W_.A(), v_, x, 1);
    x = (b - x) / rho_;
  }

 private:
  Delassus& W_;
  Eigen::SparseMatrix<double> K_;
  SparseCholesky solver_;
  Eigen::VectorXd v_;
  double rho_ = 1;
};

// Inverse iteration with (W + shift I)^-1; 0 where W is singular to eight digits.
double smallest_eigenvalue(Shifted& system, Eigen::Index n, double largest) {
  const double shift = 1e-8 * largest;
  if (!system.factor(shift)) return 0;
  Eigen::VectorXd x(n), y;
  for (Eigen::Index k = 0; k < n; ++k) x[k] = 1 + static_cast<double>((k * 7919) % 101) / 101;
  double value = 0;
  for (int k = 0; k < 10; ++k) {
    x /= x.norm();
    system.solve(x, y);
    value = x.dot(y);
    x.swap(y);
  }
  const double least = value > 0 ? 1 / value - shift : 0;
  return least > shift ? least : 0;
}

}  // namespace

void solve_admm(Delassus& W, Judge& judge, Eigen::VectorXd z) {
  const ContactProblem& p = judge.problem();
  ConvexProblem f(W, p, judge.options().threads);
  if (judge.done(0, z)) return;
  Shifted system(W);
  const double largest = f.largest_eigenvalue(20);
  if (!(largest > 0)) return judge.stop(ContactStatus::failed, "W has no positive eigenvalue");
  double rho = std::max(std::sqrt(smallest_eigenvalue(system, W.rows(), largest) * largest), 1e-2 * largest);
  judge.factorised(system.operations());
  judge.factorised(system.operations());
  if (judge.out_of_time()) return;
  if (!system.factor(rho)) return judge.stop(ContactStatus::failed, "W + rho I is not positive definite");
  const Eigen::Index n = W.rows();
  Eigen::VectorXd y = Eigen::VectorXd::Zero(n), r = z, old = z, u;
  const bool exact = p.friction != FrictionModel::convexified && p.dimension > 1;
  Eigen::VectorXd s = Eigen::VectorXd::Zero(n);
  const int limit = judge.limit(20000);
  int check = 1;
  for (int k = 1; k <= limit; ++k) {
    if (exact)  // the dual variable is a velocity too: u + s = -rho y
      for (int i = 0; i < p.contacts(); ++i) {
        double square = 0;
        for (int j = 1; j < p.dimension; ++j) square += y[i * p.dimension + j] * y[i * p.dimension + j];
        s[i * p.dimension] = p.mu_of(i) * rho * std::sqrt(square);
      }
    system.solve(rho * (z - y) - W.q() - s, r);
    judge.spend(system.operations_of_solve());
    old = z;
    const Eigen::VectorXd relaxed = 1.6 * r - 0.6 * old;
    z = relaxed + y;
    f.project(z);
    y += relaxed - z;
    if (k < check && k < limit) continue;
    check = k + std::max(1, k / 40);
    if (judge.done(k, z)) return;
    // Primal |r - z| relative to reactions, dual rho |z - z_old| relative to velocities rho |y|.
    const double primal = (r - z).norm() / std::max(r.norm(), z.norm()), dual = (z - old).norm() / y.norm();
    const double ratio = primal > 0 && dual > 0 ? primal / dual : 1;
    if (k >= 10 && (ratio > 10 || ratio < 0.1)) {
      const double factor = ratio > 10 ? 2 : 0.5;
      rho *= factor;
      y /= factor;
      judge.factorised(system.operations());
      if (!system.factor(rho)) return judge.stop(ContactStatus::failed, "W + rho I is not positive definite");
    }
  }
}

}  // namespace hinge
