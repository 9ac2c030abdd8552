#include "solve/contact/residual.hpp"

#include <algorithm>
#include <cmath>

#include "solve/contact/cone.hpp"

namespace hinge {

namespace {

constexpr double rounding = 2.2e-16;

// Not a number compares with nothing; as infinity it is the largest.
void raise(double& largest, double value) {
  if (!(value <= largest)) largest = std::isnan(value) ? HUGE_VAL : value;
}

// |x|, also where the squares leave the range of doubles.
double norm(const Eigen::Ref<const Eigen::VectorXd>& x) {
  const double plain = x.norm();
  return plain > 1e-145 && plain < 1e145 ? plain : x.size() > 0 ? x.stableNorm() : 0;
}

}  // namespace

double ContactResidual::by(ResidualScaling scaling) const {
  switch (scaling) {
    case ResidualScaling::siconos: return siconos;
    case ResidualScaling::fclib: return fclib;
    case ResidualScaling::absolute: return absolute;
    case ResidualScaling::ours: break;
  }
  return ours;
}

double ContactResidual::judged(ResidualScaling scaling, double tolerance) const {
  if (scaling == ResidualScaling::ours) return ours;
  // u cannot be better than its rounding: without this r of 1e16 would "solve" problems that have no solution.
  const double share = absolute > 0 && std::isfinite(absolute) ? by(scaling) / absolute : 1;
  double value = by(scaling) + share * noise;
  // Relative to |r|, anything is small for an r that is large enough.
  if (scaling == ResidualScaling::siconos) value = std::max(value, std::sqrt(tolerance) * velocity);
  return std::isnan(value) ? HUGE_VAL : value;
}

ResidualOfProblem::ResidualOfProblem(const ContactProblem& problem) : problem_(problem) {
  const int n = problem.rows(), d = problem.dimension, nc = problem.contacts();
  if (problem.matrix_free()) {
    mass_.emplace(problem.M);
    Ht_ = problem.H.transpose();
    v_ = problem.f;
    mass_->solve(v_);
    q_ = problem.w;
    q_ += problem.H * v_;
    abs_A_ = mass_->scale(problem.H).cwiseAbs();
    abs_At_ = abs_A_.transpose();
    diagonal_.resize(n);
    for (int i = 0; i < n; ++i) diagonal_[i] = abs_A_.row(i).squaredNorm();
    // Cauchy and Schwarz: |W_ij|^2 <= W_ii W_jj
    column_ = diagonal_.cwiseSqrt();
    if (n > 0) column_ *= column_.maxCoeff();
  } else {
    q_ = problem.q;
    diagonal_ = problem.W.diagonal().cwiseAbs();
    column_ = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < n; ++i)
      for (SparseRows::InnerIterator entry(problem.W, i); entry; ++entry)
        column_[entry.col()] = std::max(column_[entry.col()], std::abs(entry.value()));
  }
  choose_rho();
  u_.resize(n);
  norms_.q = norm(q_);
  norms_.q_contacts = norm(q_.head(nc * d));
  norms_.q_bilateral = norm(q_.tail(problem.bilateral));
  norms_.q_largest = q_.size() > 0 ? q_.lpNorm<Eigen::Infinity>() : 0;
}

// 1/rho_i is what one unit of r_i does to velocities. For semidefinite W that is trace(W_ii)/d. An entry with |W_ij|^2
// > W_ii W_jj cannot be in such a W: there (linear programs, skew matrices: LCPs without a diagonal) it is the largest
// of these entries in the row and the column. Without the floor, a reaction that moves nothing would never be wrong.
void ResidualOfProblem::choose_rho() {
  const ContactProblem& p = problem_;
  const int d = p.dimension, nc = p.contacts();
  Eigen::VectorXd moves(nc);
  for (int i = 0; i < nc; ++i) moves[i] = diagonal_.segment(i * d, d).sum() / d;
  double largest = diagonal_.size() > 0 ? diagonal_.maxCoeff() : 0;
  if (!p.matrix_free()) {
    const Eigen::VectorXd root = (1 + 1e-6) * diagonal_.cwiseSqrt();
    for (int i = 0; i < p.rows(); ++i)
      for (SparseRows::InnerIterator entry(p.W, i); entry; ++entry) {
        const double size = std::abs(entry.value());
        largest = std::max(largest, size);
        if (size <= root[i] * root[entry.col()]) continue;
        for (const Eigen::Index k : {static_cast<Eigen::Index>(i), entry.col()})
          if (k < nc * d) moves[k / d] = std::max(moves[k / d], size);
      }
  }
  const double floor = largest > 0 ? 1e-8 * largest : 1;
  rho_ = moves.cwiseMax(floor).cwiseInverse();
}

// Largest sum_j |W_kj| |r_j|; an upper bound where that is below `enough`.
double ResidualOfProblem::noise(const Eigen::VectorXd& r, double enough) {
  const double bound = column_.dot(r.cwiseAbs());
  if (bound <= enough) return bound;
  abs_r_ = r.cwiseAbs();
  double largest = 0;
  if (problem_.matrix_free()) {
    v_.noalias() = abs_At_ * abs_r_;
    for (int i = 0; i < abs_A_.rows(); ++i) {
      double sum = 0;
      for (SparseRows::InnerIterator entry(abs_A_, i); entry; ++entry) sum += entry.value() * v_[entry.col()];
      largest = std::max(largest, sum);
    }
  } else {
    for (int i = 0; i < problem_.W.rows(); ++i) {
      double sum = 0;
      for (SparseRows::InnerIterator entry(problem_.W, i); entry; ++entry)
        sum += std::abs(entry.value()) * abs_r_[entry.col()];
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

void ResidualOfProblem::compute_velocity(const Eigen::VectorXd& r) {
  if (problem_.matrix_free()) {
    v_ = problem_.f;
    v_ += Ht_ * r;
    mass_->solve(v_);
    u_ = problem_.w;
    u_ += problem_.H * v_;
  } else {
    u_ = problem_.q;
    u_ += problem_.W * r;
  }
}

void ResidualSum::contact(double mu, double rho_i, const double* r, const double* u) {
  const int d = law_.dimension;
  const double shift = de_saxce_shift(law_, mu, u);
  // F = r - P_K(r - rho (u + shift n)), for rho = 1 and for rho_i. Its length:
  const auto map = [&](double rho) {
    if (d == 1) return std::abs(std::min(r[0], rho * u[0]));
    double x[3] = {};
    for (int k = 0; k < d; ++k) x[k] = r[k] - rho * (u[k] + (k == 0 ? shift : 0));
    project_on_model(law_, mu, x);
    return length(r[0] - x[0], r[1] - x[1], d == 3 ? r[2] - x[2] : 0);
  };
  const double plain = map(1);
  raise(longest_, plain);
  sum_ += plain / unit_ * (plain / unit_);
  raise(largest_, map(rho_i) / rho_i);

  const double rt = d == 1 ? 0 : length(r[1], d == 3 ? r[2] : 0), ut = d == 1 ? 0 : length(u[1], d == 3 ? u[2] : 0);
  double rt_ut = 0;
  for (int k = 1; k < d; ++k) rt_ut += r[k] * u[k];
  const bool convex = law_.friction == FrictionModel::convexified;
  raise(result_.penetration, convex ? mu * ut - u[0] : -u[0]);
  raise(result_.cone, rt - mu * r[0]);
  raise(result_.signorini, std::abs(r[0] * u[0] + (convex ? rt_ut : 0)));
  if (law_.friction == FrictionModel::coulomb) raise(result_.dissipation, std::abs(rt_ut + mu * r[0] * ut));
}

// K = R: F = rho u.
void ResidualSum::bilateral(double u) {
  bilateral_ += u / unit_ * (u / unit_);
  raise(longest_, std::abs(u));
  raise(result_.bilateral, std::abs(u));
}

double ResidualSum::better_unit() const {
  const bool good = longest_ == 0 || !std::isfinite(longest_) || unit_ != 1 || (longest_ > 1e-140 && longest_ < 1e140);
  return good ? 0 : longest_;
}

double ResidualSum::least() const { return std::min(largest_, unit_ * std::sqrt(sum_ + bilateral_)); }

ContactResidual ResidualSum::finish(const ResidualNorms& n) {
  result_.noise = rounding * n.noise;
  result_.absolute = unit_ * std::sqrt(sum_ + bilateral_);
  const double scale = std::max({n.q, n.r, n.u});
  result_.siconos = scale > 0 ? result_.absolute / scale : result_.absolute;
  result_.fclib =
      unit_ * (std::sqrt(sum_) / (1 + std::sqrt(n.q_contacts)) + std::sqrt(bilateral_) / (1 + n.q_bilateral));
  const double q = std::max(n.q_largest, 1e-300);
  result_.ours = (std::max(largest_, result_.bilateral) + result_.noise) / q;
  result_.velocity = (std::max(result_.penetration, result_.bilateral) + result_.noise) / q;
  // Not a number compares with nothing; as infinity it cannot pass for converged.
  const bool finite = std::isfinite(n.r) && std::isfinite(n.u);
  for (double* x : {&result_.ours, &result_.siconos, &result_.fclib, &result_.absolute, &result_.velocity})
    if (!finite || std::isnan(*x)) *x = HUGE_VAL;
  return result_;
}

ContactResidual ResidualOfProblem::operator()(const Eigen::VectorXd& r) {
  const ContactProblem& p = problem_;
  compute_velocity(r);
  const int d = p.dimension, nc = p.contacts(), contact_rows = nc * d;
  const auto added = [&](double unit) {
    ResidualSum sum(p, unit);
    for (int i = 0; i < nc; ++i) sum.contact(p.mu[i], rho_[i], r.data() + i * d, u_.data() + i * d);
    for (int k = contact_rows; k < p.rows(); ++k) sum.bilateral(u_[k]);
    return sum;
  };
  norms_.r = norm(r);
  norms_.u = norm(u_);
  ResidualSum sum = added(1);
  if (const double unit = sum.better_unit(); unit > 0) {
    ResidualSum anew = added(unit);
    norms_.noise = noise(r, 0);
    return anew.finish(norms_);
  }
  norms_.noise = noise(r, 0.01 * sum.least() / rounding);
  return sum.finish(norms_);
}

ContactResidual contact_residual(const ContactProblem& problem, const Eigen::VectorXd& r) {
  validate(problem);
  if (r.size() != problem.rows())
    throw InputError("contact residual: r has " + std::to_string(r.size()) + " entries where " +
                     std::to_string(problem.rows()) + " are needed");
  return ResidualOfProblem(problem)(r);
}

}  // namespace hinge
