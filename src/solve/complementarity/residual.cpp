#include "solve/complementarity/residual.hpp"

#include <algorithm>
#include <cmath>

#include "solve/complementarity/cone.hpp"

namespace hinge {

namespace {

constexpr double rounding = 2.2e-16;

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

ResidualOfProblem::ResidualOfProblem(const ContactProblem& problem) : problem_(problem) {
  const int n = problem.rows(), d = problem.dimension, nc = problem.contacts();
  if (problem.matrix_free()) {
    mass_.emplace(problem.M);
    Ht_ = problem.H.transpose();
    v_ = problem.f;
    mass_->solve(v_);
    q_ = problem.w;
    q_ += problem.H * v_;
    diagonal_ = mass_->delassus_diagonal(problem.H);
  } else {
    q_ = problem.q;
    diagonal_ = problem.W.diagonal().cwiseAbs();
  }
  // rho_i = d / trace(W_ii); for a bilateral row 1/W_kk, which cancels.
  rho_.resize(nc + problem.bilateral);
  for (int i = 0; i < nc; ++i) rho_[i] = d / std::max(diagonal_.segment(i * d, d).sum(), 1e-300);
  for (int k = nc; k < rho_.size(); ++k) rho_[k] = 1;
  u_.resize(n);
  norms_.q = q_.norm();
  norms_.q_contacts = q_.head(nc * d).norm();
  norms_.q_bilateral = q_.tail(problem.bilateral).norm();
  norms_.q_largest = q_.lpNorm<Eigen::Infinity>();
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
  // F = r - P_K(r - rho (u + shift n)), for rho = 1 and for rho_i
  const auto map = [&](double rho) {
    double x[3] = {}, square = 0;
    for (int k = 0; k < d; ++k) x[k] = r[k] - rho * (u[k] + (k == 0 ? shift : 0));
    project_on_model(law_, mu, x);
    for (int k = 0; k < d; ++k) square += (r[k] - x[k]) * (r[k] - x[k]);
    return square;
  };
  sum_ += map(1);
  largest_ = std::max(largest_, std::sqrt(map(rho_i)) / rho_i);

  double rt = 0, ut = 0, rt_ut = 0;
  for (int k = 1; k < d; ++k) rt += r[k] * r[k], ut += u[k] * u[k], rt_ut += r[k] * u[k];
  rt = std::sqrt(rt), ut = std::sqrt(ut);
  const bool convex = law_.friction == FrictionModel::convexified;
  result_.penetration = std::max(result_.penetration, convex ? mu * ut - u[0] : -u[0]);
  result_.cone = std::max(result_.cone, rt - mu * r[0]);
  result_.signorini = std::max(result_.signorini, std::abs(r[0] * u[0] + (convex ? rt_ut : 0)));
  if (law_.friction == FrictionModel::coulomb)
    result_.dissipation = std::max(result_.dissipation, std::abs(rt_ut + mu * r[0] * ut));
}

// K = R: F = rho u.
void ResidualSum::bilateral(double u) {
  bilateral_ += u * u;
  result_.bilateral = std::max(result_.bilateral, std::abs(u));
}

ContactResidual ResidualSum::finish(const ResidualNorms& n) {
  // u cannot be better than its rounding. Without this, r of 1e16 would "solve" problems that have no solution.
  const double noise = rounding * n.noise;
  result_.absolute = std::sqrt(sum_ + bilateral_) + noise;
  const double scale = std::max({n.q, n.r, n.u});
  result_.siconos = scale > 0 ? result_.absolute / scale : result_.absolute;
  result_.fclib =
      (std::sqrt(sum_) + noise) / (1 + std::sqrt(n.q_contacts)) + std::sqrt(bilateral_) / (1 + n.q_bilateral);
  result_.ours = (std::max(largest_, result_.bilateral) + noise) / std::max(n.q_largest, 1e-300);
  // Not a number compares with nothing; as infinity it cannot pass for converged.
  const bool finite = std::isfinite(n.r) && std::isfinite(n.u);
  for (double* x : {&result_.ours, &result_.siconos, &result_.fclib, &result_.absolute})
    if (!finite || std::isnan(*x)) *x = HUGE_VAL;
  return result_;
}

ContactResidual ResidualOfProblem::operator()(const Eigen::VectorXd& r) {
  const ContactProblem& p = problem_;
  compute_velocity(r);
  const int d = p.dimension, nc = p.contacts(), contact_rows = nc * d;
  ResidualSum sum(p);
  for (int i = 0; i < nc; ++i) sum.contact(p.mu[i], rho_[i], r.data() + i * d, u_.data() + i * d);
  for (int k = contact_rows; k < p.rows(); ++k) sum.bilateral(u_[k]);
  norms_.r = r.norm();
  norms_.u = u_.norm();
  norms_.noise = (diagonal_.array() * r.array().abs()).maxCoeff();
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
