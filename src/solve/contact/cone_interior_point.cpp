// Interior point method on second-order cones, with De Saxce's term inside Newton's method.
//
// In Lorentz form x = (mu r_N, r_T), y = (u_N/mu + |u_T|, u_T) a contact with exact friction is x in L _|_ y in L. With
// A_ the scaled rows (W = A A^T, normal rows over mu), v = v_free + A_^T x, and s = |y_T|:
//
//   y = A_ v + w_ + s n,   x o y = sigma gap e    (Jordan product)
//
// Newton's direction in Nesterov and Todd's scaling Theta (Theta y = Theta^-1 x = lambda), Mehrotra's predictor and
// corrector:
//
//   (I + A_^T Theta^2 E A_) dv = A_^T (a - Theta^2 r_y) - r_v,   a = Theta (lambda \ d),   dy = E A_ dv + r_y
//   dx = a - Theta^2 dy,          E = [1, y_T^T/|y_T|; 0, I]   (the identity for convexified friction)
//
// The derivative of |u_T| in E makes the matrix unsymmetric and the iteration a Newton method for the exact law instead
// of a sequence of convex problems. Formulated in velocities the matrix has the pattern of the bodies' contacts, not of
// W, and stays regular where W is not: hyperstatic problems cost no more than others. Where W is all there is, (I +
// Theta^2 E W_) dx. Bilateral rows enter as proximal steps with a large weight.
//
// Solves: exact and convexified friction, symmetric W; 10 to 40 factorisations whatever the size. Not proven for exact
// friction; to about 1e-9, since rounding in Theta grows like 1/gap. Not for: pyramids. Source: Alizadeh, Goldfarb
// (2003); Acary, Armand, Nguyen, Shpakovych (2023) for contact.
#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Core>

#include "solve/contact/body_fronts.hpp"
#include "solve/contact/cone.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/linear/lu.hpp"

namespace hinge {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Cone {
  Vector3d x, y, lambda, a, dx, dy, ry;
  Matrix3d theta, theta_inverse, theta_square, D;  // D = Theta^2 E
  double mu_scale = 1;                             // r_N = x_0 / mu_scale
  bool friction = false;
};

double determinant(const Vector3d& x) {
  const double t = std::hypot(x[1], x[2]);
  return (x[0] - t) * (x[0] + t);
}

Vector3d jordan(const Vector3d& a, const Vector3d& b) {
  return {a.dot(b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]};
}

// lambda \ d: the z with lambda o z = d
Vector3d divide(const Vector3d& lambda, const Vector3d& d) {
  Vector3d z;
  z[0] = (lambda[0] * d[0] - lambda[1] * d[1] - lambda[2] * d[2]) / determinant(lambda);
  z[1] = (d[1] - z[0] * lambda[1]) / lambda[0];
  z[2] = (d[2] - z[0] * lambda[2]) / lambda[0];
  return z;
}

// Largest a with x + a dx in the cone: smallest positive root of det(x + a dx) = 0.
double step_to_boundary(const Vector3d& x, const Vector3d& dx) {
  const double a = determinant(dx), b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2], c = std::max(determinant(x), 0.0);
  double step = HUGE_VAL;
  const double root = std::sqrt(std::max(b * b - a * c, 0.0)), p = -(b + (b >= 0 ? root : -root));
  for (const double t : {p / a, c / p})
    if (std::isfinite(t) && t > 0) step = std::min(step, t);
  if (dx[0] < 0) step = std::min(step, -x[0] / dx[0]);
  return step;
}

// Rounding may put a point that is almost on the boundary outside.
void keep_inside(Vector3d& x) { x[0] = std::max(x[0], (1 + 1e-14) * std::hypot(x[1], x[2])); }

bool scale(Cone& c) {
  const double dx = std::sqrt(determinant(c.x)), dy = std::sqrt(determinant(c.y));
  if (!(dx > 0) || !(dy > 0)) return false;
  const Vector3d x = c.x / dx, y = c.y / dy;
  const double gamma = std::sqrt(0.5 * (1 + x.dot(y))), eta = std::sqrt(dx / dy);
  const Vector3d w(0.5 * (x[0] + y[0]) / gamma, 0.5 * (x[1] - y[1]) / gamma, 0.5 * (x[2] - y[2]) / gamma);
  Matrix3d T;
  T(0, 0) = w[0];
  T.block<1, 2>(0, 1) = w.tail<2>().transpose();
  T.block<2, 1>(1, 0) = w.tail<2>();
  T.block<2, 2>(1, 1) = Eigen::Matrix2d::Identity() + w.tail<2>() * w.tail<2>().transpose() / (1 + w[0]);
  c.theta = eta * T;
  T.block<1, 2>(0, 1) *= -1;
  T.block<2, 1>(1, 0) *= -1;
  c.theta_inverse = T / eta;
  c.theta_square = eta * eta * (2 * w * w.transpose());
  c.theta_square(0, 0) -= eta * eta;
  c.theta_square(1, 1) += eta * eta;
  c.theta_square(2, 2) += eta * eta;
  c.lambda = c.theta * c.y;
  return true;
}

// The linear system of a direction: in velocities where W = A A^T, in reactions where there is only W.
class DirectionSystem {
 public:
  DirectionSystem(Delassus& W, const std::vector<Cone>& cones) : W_(W), d_(W.dimension()), nc_(W.contacts()) {
    // Scaled rows, three for every contact (missing tangents stay empty), one for a bilateral row.
    const SparseRows& C = W.factored() ? W.A() : W.matrix();
    std::vector<Eigen::Triplet<double>> entries;
    const auto scale = [&](int row) {
      return row < nc_ * d_ && row % d_ == 0 ? 1 / cones[static_cast<std::size_t>(row / d_)].mu_scale : 1.0;
    };
    const auto padded = [&](int row) { return row < nc_ * d_ ? row / d_ * 3 + row % d_ : nc_ * 3 + row - nc_ * d_; };
    const auto used = [&](int row) {
      return row >= nc_ * d_ || row % d_ == 0 || cones[static_cast<std::size_t>(row / d_)].friction;
    };
    rows_ = nc_ * 3 + W.bilateral();
    for (int i = 0; i < C.outerSize(); ++i)
      for (SparseRows::InnerIterator entry(C, i); entry; ++entry) {
        if (!used(i)) continue;
        const int column = static_cast<int>(entry.col());
        if (W.factored())
          entries.emplace_back(padded(i), column, entry.value() * scale(i));
        else if (used(column))
          entries.emplace_back(padded(i), padded(column), entry.value() * scale(i) * scale(column));
      }
    A_.resize(rows_, W.factored() ? C.cols() : rows_);
    A_.setFromTriplets(entries.begin(), entries.end());
    const VectorXd& offset = W.factored() ? W.w() : W.q();
    w_ = VectorXd::Zero(rows_);
    for (int i = 0; i < W.rows(); ++i)
      if (used(i)) w_[padded(i)] = offset[i] * scale(i);
    if (W.factored()) {
      At_ = A_.transpose();
      fronts_.bind(A_, nc_, 3, W.bilateral());
    }
  }

  int rows() const { return rows_; }
  double operations() const {
    return (in_velocities() ? fronts_.operations() : 2.0 / 3 * rows_ * rows_ * rows_) + 1500.0 * nc_;
  }
  const SparseRows& A() const { return A_; }
  const VectorXd& w() const { return w_; }
  bool in_velocities() const { return W_.factored(); }
  VectorXd velocity_of(const VectorXd& x) const {
    VectorXd v = W_.v_free();
    v += At_ * x;
    return v;
  }

  bool factor(const std::vector<Cone>& cones, double weight) {
    weight_ = weight;
    if (!in_velocities()) return factor_reactions(cones);
    return fronts_.factor([&](int e, Matrix3d& C) {
      if (e < nc_)
        C = cones[static_cast<std::size_t>(e)].D;
      else
        C(0, 0) = weight_;
    });
  }

  // dv from (I + A^T D A) dv = A^T b - rv; or dx from (I + D W) dx = b.
  void solve(VectorXd& x) {
    if (in_velocities())
      fronts_.solve(x);
    else
      dense_.solve(x.data());
  }
  VectorXd transposed(const VectorXd& b) const { return At_ * b; }

 private:
  bool factor_reactions(const std::vector<Cone>& cones) {
    Eigen::MatrixXd K = Eigen::MatrixXd::Identity(rows_, rows_);
    const Eigen::MatrixXd W(A_);
    for (int i = 0; i < nc_; ++i)
      K.middleRows(3 * i, 3).noalias() += cones[static_cast<std::size_t>(i)].D * W.middleRows(3 * i, 3);
    for (int k = 3 * nc_; k < rows_; ++k) K.row(k) += weight_ * W.row(k);
    dense_.factor(K);
    return true;
  }

  Delassus& W_;
  int d_, nc_, rows_;
  double weight_ = 1;
  SparseRows A_, At_;
  VectorXd w_;
  BodyFronts fronts_;
  Lu<double> dense_;
};

class ConeInteriorPoint {
 public:
  ConeInteriorPoint(Delassus& W, Judge& judge)
      : W_(W), judge_(judge), nc_(W.contacts()), cones_(start(W, judge.problem())), system_(W, cones_) {
    const ContactProblem& p = judge.problem();
    exact_ = p.friction != FrictionModel::convexified && p.dimension > 1;
    bilateral_ = VectorXd::Zero(W.bilateral());
    dbilateral_ = bilateral_;
    double least = HUGE_VAL;
    for (int k = nc_ * W.dimension(); k < W.rows(); ++k)
      if (W.diagonal(k) > 0) least = std::min(least, W.diagonal(k));
    if (std::isfinite(least)) weight_ = 1e6 / std::max(least, 1e-12);
    if (system_.in_velocities()) v_ = W.v_free();
  }

  void run() {
    const int limit = judge_.limit(150), patience = judge_.options().stepping ? 8 : 25;
    double& best = best_residual_;
    for (int k = 1, without_progress = 0; k <= limit; ++k) {
      const double gap = complementarity(0);
      for (Cone& c : cones_) {
        if (!scale(c)) return judge_.stop(ContactStatus::stalled, reached_the_boundary);
        differentiate(c);
      }
      compute_residuals();
      if (judge_.out_of_time()) return;
      judge_.factorised(system_.operations());
      if (!system_.factor(cones_, weight_)) return judge_.stop(ContactStatus::failed, "its linear system is singular");
      // predictor: towards x o y = 0
      find_direction([](const Cone& c) { return Vector3d(-jordan(c.lambda, c.lambda)); });
      const double affine = complementarity(std::min(1.0, step(1)));
      const double sigma = gap > 0 ? std::pow(std::clamp(affine / gap, 0.0, 1.0), 3) : 0;
      // corrector: towards x o y = sigma gap e, with the predictor's second-order term
      find_direction([&](const Cone& c) {
        return Vector3d(sigma * gap * Vector3d::UnitX() - jordan(c.lambda, c.lambda) -
                        jordan(c.theta_inverse * c.dx, c.theta * c.dy));
      });
      const double t = std::min(1.0, step(0.995));
      if (!(t > 0)) return judge_.stop(ContactStatus::stalled, reached_the_boundary);
      for (Cone& c : cones_) {
        c.x += t * c.dx;
        c.y += t * c.dy;
        keep_inside(c.x);
        keep_inside(c.y);
      }
      if (system_.in_velocities()) v_ += t * dv_;
      bilateral_ += t * dbilateral_;
      const VectorXd r = reaction();
      if (judge_.done(k, r)) return;
      // Small problems are finished by semismooth Newton, in one or two steps, as soon as rounding slows this down.
      const bool small = nc_ <= 500 && best < 1e-6;
      without_progress = judge_.last() < (small ? 0.6 : 0.95) * best ? 0 : without_progress + 1;
      if (judge_.last() < best) best = judge_.last(), best_ = r;
      if (without_progress > (small ? 0 : best < 1e-5 ? 4 : patience))
        return judge_.stop(ContactStatus::stalled, "it makes no progress; take block-gauss-seidel or newton-ac");
    }
  }

  // Its own, whatever was known before.
  double best_residual() const { return best_residual_; }
  const VectorXd& best() const { return best_; }

 private:
  static constexpr const char* reached_the_boundary =
      "rounding ends it near the boundary of the cones; newton-ac may finish";

  static std::vector<Cone> start(Delassus& W, const ContactProblem& p) {
    const double size = std::max(W.q().lpNorm<Eigen::Infinity>(), 1e-300);
    std::vector<Cone> cones(static_cast<std::size_t>(W.contacts()));
    for (int i = 0; i < W.contacts(); ++i) {
      Cone& c = cones[static_cast<std::size_t>(i)];
      c.friction = p.dimension > 1 && p.mu_of(i) > 0;
      c.mu_scale = c.friction ? p.mu_of(i) : 1;
      c.x = Vector3d(size * p.dimension / std::max(W.trace(i), 1e-8) * c.mu_scale, 0, 0);
      c.y = Vector3d(size / c.mu_scale, 0, 0);
    }
    return cones;
  }

  // Mean of x.y after a step of length a.
  double complementarity(double a) const {
    double sum = 0;
    for (const Cone& c : cones_) sum += a > 0 ? (c.x + a * c.dx).dot(c.y + a * c.dy) : c.x.dot(c.y);
    return sum / std::max(nc_, 1);
  }

  // D = Theta^2 E
  void differentiate(Cone& c) const {
    c.D = c.theta_square;
    const double t = std::hypot(c.y[1], c.y[2]);
    if (!exact_ || !c.friction || !(t > 0)) return;
    c.D.col(1) += c.y[1] / t * c.theta_square.col(0);
    c.D.col(2) += c.y[2] / t * c.theta_square.col(0);
  }

  VectorXd stacked_x() const {
    VectorXd x(system_.rows());
    for (int i = 0; i < nc_; ++i) x.segment<3>(3 * i) = cones_[static_cast<std::size_t>(i)].x;
    x.tail(bilateral_.size()) = bilateral_;
    return x;
  }

  // r_y = A v + w + |y_T| n - y, r_v = v - v_free - A^T x
  void compute_residuals() {
    const VectorXd x = stacked_x();
    ry_ = system_.w();
    ry_ += system_.A() * (system_.in_velocities() ? v_ : x);
    if (system_.in_velocities()) rv_ = v_ - system_.velocity_of(x);
    for (int i = 0; i < nc_; ++i) {
      Cone& c = cones_[static_cast<std::size_t>(i)];
      c.ry = ry_.segment<3>(3 * i) - c.y;
      if (exact_ && c.friction) c.ry[0] += std::hypot(c.y[1], c.y[2]);
    }
  }

  template <class Target>
  void find_direction(Target target) {
    VectorXd b(system_.rows()), Av;
    for (int i = 0; i < nc_; ++i) {
      Cone& c = cones_[static_cast<std::size_t>(i)];
      c.a = c.theta * divide(c.lambda, target(c));
      b.segment<3>(3 * i) = c.a - c.theta_square * c.ry;
    }
    const auto free = static_cast<Eigen::Index>(bilateral_.size());
    b.tail(free) = -weight_ * ry_.tail(free);
    if (system_.in_velocities()) {
      dv_ = system_.transposed(b) - rv_;
      system_.solve(dv_);
      Av = system_.A() * dv_;
    } else {
      system_.solve(b);
      Av = system_.A() * b;
    }
    for (int i = 0; i < nc_; ++i) {
      Cone& c = cones_[static_cast<std::size_t>(i)];
      c.dy = Av.segment<3>(3 * i) + c.ry;
      const double t = std::hypot(c.y[1], c.y[2]);
      if (exact_ && c.friction && t > 0) c.dy[0] += (c.y[1] * Av[3 * i + 1] + c.y[2] * Av[3 * i + 2]) / t;
      c.dx = c.a - c.theta_square * c.dy;
    }
    dbilateral_ = -weight_ * (ry_.tail(free) + Av.tail(free));
  }

  double step(double fraction) const {
    double a = HUGE_VAL;
    for (const Cone& c : cones_) a = std::min({a, step_to_boundary(c.x, c.dx), step_to_boundary(c.y, c.dy)});
    return fraction * a;
  }

  VectorXd reaction() const {
    const int d = W_.dimension();
    VectorXd r(W_.rows());
    for (int i = 0; i < nc_; ++i) {
      const Cone& c = cones_[static_cast<std::size_t>(i)];
      r[i * d] = c.x[0] / c.mu_scale;
      for (int k = 1; k < d; ++k) r[i * d + k] = c.friction ? c.x[k] : 0;
    }
    r.tail(bilateral_.size()) = bilateral_;
    return r;
  }

  Delassus& W_;
  Judge& judge_;
  int nc_;
  bool exact_ = false;
  double weight_ = 1;
  std::vector<Cone> cones_;
  DirectionSystem system_;
  VectorXd v_, dv_, ry_, rv_, bilateral_, dbilateral_, best_;
  double best_residual_ = HUGE_VAL;
};

}  // namespace

void solve_cone_interior_point(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  if (judge.done(0, r)) return;
  ConeInteriorPoint method(W, judge);
  method.run();
  // Sliding contacts cost digits in Theta: a result that is nearly there is finished by semismooth Newton, whose own
  // iterations are counted too.
  if (judge.converged() || judge.out_of_time() || method.best_residual() > 1e-4) return;
  judge.next_stage();
  finish_by_newton(W, judge, method.best());
}

}  // namespace hinge
