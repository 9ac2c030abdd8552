// Semismooth Newton on Alart and Curnier's function, for friction:
//
//   x = r_N - rho_N u_N,  y = r_T - rho_T u_T
//   F = (r_N - max(0, x),  r_T - P_D(y)),   D the disk of radius mu max(0, x),   rho_N = 1/W_NN, rho_T =
//   1/lambda_max(W_TT)
//
// whose generalised Jacobian is A + B W with A and B block-diagonal. Convexified friction has F = r - P_K(r - rho u)
// with the cone's own projection. A little of the identity, eps = 1e-9, is added to A against redundant contacts; where
// the line search fails it grows to 1e-3, which turns the direction towards that of sweeps. Where W = A_ A_^T the step
// is found in the bodies' velocities, a small and sparse system:
//
//   (I + A_^T (A + eps)^-1 B A_) dv = -A_^T (A + eps)^-1 F,      dr = -(A + eps)^-1 (F + B A_ dv)
//
// Where W is all there is, (A + eps + B W) dr = -F. Armijo's rule on |F|^2; where that fails for all eps, sweeps of
// block Gauss-Seidel take over for a while.
//
// Solves: everything but pyramids; to rounding in 4 to 10 iterations, where it converges. Not globally convergent: on
// hyperstatic piles it spends its time in sweeps. Source: Alart, Curnier (1991).
#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "solve/contact/block_gauss_seidel.hpp"
#include "solve/contact/body_fronts.hpp"
#include "solve/contact/cone.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

// F of one contact in `rows` rows, and A = dF/dr with u held, B = dF/du.
void map_of_contact(int rows, bool convexified, double mu, double rho_n, double rho_t, const double* r, const double* u,
                    Vector3d& F, Matrix3d& A, Matrix3d& B) {
  Matrix3d P = Matrix3d::Zero();  // derivative of the projected point by r - rho u
  Vector3d z = Vector3d::Zero(), projected = Vector3d::Zero();
  z[0] = r[0] - rho_n * u[0];
  for (int k = 1; k < rows; ++k) z[k] = r[k] - rho_t * u[k];
  const double t = std::hypot(z[1], z[2]);
  const Vector3d e = t > 0 ? Vector3d(0, z[1] / t, z[2] / t) : Vector3d::Zero();
  Matrix3d tangent = Matrix3d::Zero();
  for (int k = 1; k < rows; ++k) tangent(k, k) = 1;
  if (rows == 1 || !convexified) {
    if (z[0] > 0) {
      projected[0] = z[0];
      P(0, 0) = 1;
      if (t <= mu * z[0]) {
        projected.tail<2>() = z.tail<2>();
        P += tangent;
      } else if (t > 0) {
        const double radius = mu * z[0];
        projected.tail<2>() = radius * e.tail<2>();
        P.col(0).tail<2>() = mu * e.tail<2>();
        P += radius / t * (tangent - e * e.transpose());
      }
    }
  } else if (mu * t > -z[0]) {
    if (t <= mu * z[0]) {
      projected = z;
      P = tangent;
      P(0, 0) = 1;
    } else {
      const double c = 1 / (1 + mu * mu), s = (z[0] + mu * t) * c;
      projected = s * (Vector3d::UnitX() + mu * e);
      const Vector3d edge = Vector3d::UnitX() + mu * e;
      P = c * edge * edge.transpose() + mu * s / t * (tangent - e * e.transpose());
    }
  }
  F.setZero();
  for (int k = 0; k < rows; ++k) F[k] = r[k] - projected[k];
  A = -P;
  for (int k = 0; k < rows; ++k) A(k, k) += 1;
  const Vector3d rho(rho_n, rho_t, rho_t);
  B = P * rho.asDiagonal();
}

class NewtonSystem {
 public:
  NewtonSystem(Delassus& W, const ContactProblem& p) : W_(W), p_(p), n_(W.rows()), d_(W.dimension()) {
    if (!W.factored()) prepare_reactions();
    rho_n_.resize(W.contacts());
    rho_t_.resize(W.contacts());
    for (int i = 0; i < W.contacts(); ++i) {
      const Eigen::MatrixXd block = W.block(i);
      rho_n_[i] = 1 / block(0, 0);
      rho_t_[i] = 1;
      if (d_ == 2) rho_t_[i] = 1 / block(1, 1);
      if (d_ == 3) {
        const double half = 0.5 * (block(1, 1) + block(2, 2)), diff = 0.5 * (block(1, 1) - block(2, 2));
        rho_t_[i] = 1 / (half + std::hypot(diff, 0.5 * (block(1, 2) + block(2, 1))));
      }
      if (p.friction == FrictionModel::convexified) rho_n_[i] = rho_t_[i] = d_ / W.trace(i);
    }
  }

  double evaluate(const Eigen::VectorXd& r, Eigen::VectorXd& F) {
    W_.multiply(r, u_);
    u_ += W_.q();
    F.resize(n_);
    Vector3d part;
    Matrix3d A, B;
    for (int i = 0; i < W_.contacts(); ++i) {
      contact(i, r, part, A, B);
      F.segment(i * d_, d_) = part.head(d_);
    }
    for (int k = W_.contacts() * d_; k < n_; ++k) F[k] = u_[k];
    return F.squaredNorm();
  }

  /// Of a step: the factorisation, and the evaluations around it.
  double operations() const {
    return (W_.factored() ? W_.fronts().operations() : 2.0 / 3 * n_ * n_ * n_) + 1500.0 * W_.contacts();
  }

  // dr = -J^-1 F at the r evaluated last; `ridge` is added to A's diagonal.
  bool step(const Eigen::VectorXd& r, const Eigen::VectorXd& F, double ridge, Eigen::VectorXd& dr) {
    return W_.factored() ? step_in_velocities(r, F, ridge, dr) : step_in_reactions(r, F, ridge, dr);
  }

 private:
  bool step_in_velocities(const Eigen::VectorXd& r, const Eigen::VectorXd& F, double ridge, Eigen::VectorXd& dr) {
    const double eps = ridge;
    const auto blocks = static_cast<std::size_t>(W_.contacts() + W_.bilateral());
    inverse_.resize(blocks);
    B_.resize(blocks);
    Vector3d part;
    Matrix3d A;
    dr.resize(n_);
    for (int b = 0; b < W_.contacts() + W_.bilateral(); ++b) {
      const int rows = size(b);
      Matrix3d& inverse = inverse_[static_cast<std::size_t>(b)];
      Matrix3d& B = B_[static_cast<std::size_t>(b)];
      if (b < W_.contacts()) {
        contact(b, r, part, A, B);
        for (int k = 0; k < 3; ++k) A(k, k) += k < rows ? eps : 1;
        inverse = A.inverse();
      } else {
        B.setIdentity();
        inverse.setZero();
        const double diagonal = W_.diagonal(first(b));  // 0: nothing moves with this row
        inverse(0, 0) = diagonal > 0 ? 1 / (eps * diagonal) : 0;
      }
      // (A + eps)^-1 F
      dr.segment(first(b), rows).noalias() = inverse.topLeftCorner(rows, rows) * F.segment(first(b), rows);
    }
    if (!W_.fronts().factor(
            [&](int e, Matrix3d& C) { C = inverse_[static_cast<std::size_t>(e)] * B_[static_cast<std::size_t>(e)]; }))
      return false;
    multiply_rows(W_.At(), dr, v_, 1);
    v_ = -v_;
    W_.fronts().solve(v_);
    multiply_rows(W_.A(), v_, w_, 1);
    for (int b = 0; b < W_.contacts() + W_.bilateral(); ++b) {
      const int rows = size(b), row = first(b);
      dr.segment(row, rows) =
          -inverse_[static_cast<std::size_t>(b)].topLeftCorner(rows, rows) *
          (F.segment(row, rows) + B_[static_cast<std::size_t>(b)].topLeftCorner(rows, rows) * w_.segment(row, rows));
    }
    return dr.allFinite();
  }

  void prepare_reactions() {
    const SparseRows& C = W_.matrix();
    PatternBuilder builder(n_, n_);
    for (int b = 0; b < W_.contacts() + W_.bilateral(); ++b)
      for (int k = 0; k < size(b); ++k)
        for (int l = 0; l < size(b); ++l) {
          builder.add(first(b) + k, first(b) + l);  // A
          for (SparseRows::InnerIterator entry(C, first(b) + l); entry; ++entry)
            builder.add(first(b) + k, static_cast<int>(entry.col()));
        }
    pattern_ = builder.build(place_);
    values_.resize(pattern_.entries());
    solver_ = make_linear_solver(pattern_, LinearAlgebra::automatic);
  }

  bool step_in_reactions(const Eigen::VectorXd& r, const Eigen::VectorXd& F, double ridge, Eigen::VectorXd& dr) {
    const SparseRows& C = W_.matrix();
    std::fill(values_.begin(), values_.end(), 0.0);
    std::size_t at = 0;
    const auto put = [&](double value) { values_[static_cast<std::size_t>(place_[at++])] += value; };
    Vector3d part;
    Matrix3d A, B;
    for (int b = 0; b < W_.contacts() + W_.bilateral(); ++b) {
      if (b < W_.contacts()) {
        contact(b, r, part, A, B);
      } else {
        // u = 0; a row without entries leaves its reaction where it is.
        A.setZero();
        B.setIdentity();
        if (W_.diagonal(first(b)) == 0 && C.row(first(b)).squaredNorm() == 0) A.setIdentity();
      }
      for (int k = 0; k < size(b); ++k)
        for (int l = 0; l < size(b); ++l) {
          put(A(k, l) + (k == l ? ridge : 0));
          for (SparseRows::InnerIterator entry(C, first(b) + l); entry; ++entry) put(B(k, l) * entry.value());
        }
    }
    if (!solver_->factor(values_.data())) return false;
    dr = -F;
    solver_->solve(dr.data());
    return dr.allFinite();
  }

  int first(int block) const {
    return block < W_.contacts() ? block * d_ : W_.contacts() * d_ + (block - W_.contacts());
  }
  int size(int block) const { return block < W_.contacts() ? d_ : 1; }
  void contact(int i, const Eigen::VectorXd& r, Vector3d& F, Matrix3d& A, Matrix3d& B) const {
    map_of_contact(d_, p_.friction == FrictionModel::convexified, p_.mu_of(i), rho_n_[i], rho_t_[i], r.data() + i * d_,
                   u_.data() + i * d_, F, A, B);
  }

  Delassus& W_;
  const ContactProblem& p_;
  int n_, d_;
  Pattern pattern_;
  std::vector<int> place_;
  std::vector<double> values_;
  std::unique_ptr<LinearSolver> solver_;
  std::vector<Matrix3d> inverse_, B_;  // (A + eps)^-1 and B of every contact
  Eigen::VectorXd u_, v_, w_, rho_n_, rho_t_;
};

constexpr double contact_ridge = 1e-9;  // against redundant contacts

// Newton's iteration from r while the line search succeeds. Where it does not, more of the identity is added, which
// turns the direction towards that of sweeps.
void iterate(NewtonSystem& system, Judge& judge, int& iteration, int limit, const Eigen::VectorXd& r) {
  const ContactProblem& p = judge.problem();
  Eigen::VectorXd F, dr, trial, trial_F;
  double merit = system.evaluate(r, F);
  Eigen::VectorXd newton = r;
  double ridge = contact_ridge;
  while (iteration < limit) {
    if (judge.out_of_time()) return;
    ++iteration;
    double t = 1, trial_merit = HUGE_VAL;
    bool good = false;
    judge.factorised(system.operations());
    if (system.step(newton, F, ridge, dr))
      for (int halving = 0; halving < 8 && !good; ++halving, t *= 0.5) {
        trial = newton + t * dr;
        trial_merit = system.evaluate(trial, trial_F);
        good = trial_merit <= (1 - 1e-4 * t) * merit;
      }
    if (!good) {
      ridge *= 1000;
      if (ridge > 0.1) break;
      merit = system.evaluate(newton, F);  // u of `newton` again
      continue;
    }
    if (t == 0.5) ridge = std::max(contact_ridge, ridge / 1000);  // full step
    newton = trial, F = trial_F, merit = trial_merit;
    Eigen::VectorXd projected = newton;
    for (int i = 0; i < p.contacts(); ++i) project_on_model(p, p.mu_of(i), projected.data() + i * p.dimension);
    if (judge.done(iteration, projected) || judge.done(iteration, newton)) return;
  }
}

}  // namespace

void solve_newton_alart_curnier(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  if (judge.done(0, r)) return;
  NewtonSystem system(W, judge.problem());
  BlockGaussSeidel sweeps(W, judge.problem(), judge.options().threads);
  const int limit = judge.limit(100);
  int iteration = 0;
  // Who limits the iterations is in a hurry: few sweeps then.
  const bool hurry = judge.is_limited();
  for (int round = 0; iteration < limit && (round < 12 || !hurry); ++round) {
    // Sweeps bring r near: a few at first, more after every failure.
    sweeps.set(r);
    const int count = std::min(10 << std::min(round, 12), hurry ? 2000 : 20000);
    for (int k = 0; k < count && (k % 10 != 0 || !judge.out_of_time()); ++k) judge.swept(sweeps.sweep(), sweeps.cost());
    sweeps.get(r);
    if (judge.done(iteration, r)) return;
    iterate(system, judge, iteration, limit, r);
    if (judge.converged() || judge.out_of_time()) return;
    r = judge.best();
  }
}

void finish_by_newton(Delassus& W, Judge& judge, const Eigen::VectorXd& r) {
  NewtonSystem system(W, judge.problem());
  int iteration = 0;
  iterate(system, judge, iteration, judge.limit(20), r);
}

}  // namespace hinge
