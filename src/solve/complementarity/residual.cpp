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

ContactResidual ResidualOfProblem::operator()(const Eigen::VectorXd& r) {
  const ContactProblem& p = problem_;
  compute_velocity(r);
  const int d = p.dimension, nc = p.contacts(), contact_rows = nc * d;
  ContactResidual result;
  double sum = 0, largest = 0;
  for (int i = 0; i < nc; ++i) {
    const double* ri = r.data() + i * d;
    const double* ui = u_.data() + i * d;
    const double mu = p.mu[i], shift = de_saxce_shift(p, mu, ui);
    // F = r - P_K(r - rho (u + shift n)), for rho = 1 and for rho_i
    const auto map = [&](double rho) {
      double x[3] = {}, square = 0;
      for (int k = 0; k < d; ++k) x[k] = ri[k] - rho * (ui[k] + (k == 0 ? shift : 0));
      project_on_model(p, mu, x);
      for (int k = 0; k < d; ++k) square += (ri[k] - x[k]) * (ri[k] - x[k]);
      return square;
    };
    sum += map(1);
    largest = std::max(largest, std::sqrt(map(rho_[i])) / rho_[i]);

    double rt = 0, ut = 0, rt_ut = 0;
    for (int k = 1; k < d; ++k) rt += ri[k] * ri[k], ut += ui[k] * ui[k], rt_ut += ri[k] * ui[k];
    rt = std::sqrt(rt), ut = std::sqrt(ut);
    const bool convex = p.friction == FrictionModel::convexified;
    result.penetration = std::max(result.penetration, convex ? mu * ut - ui[0] : -ui[0]);
    result.cone = std::max(result.cone, rt - mu * ri[0]);
    result.signorini = std::max(result.signorini, std::abs(ri[0] * ui[0] + (convex ? rt_ut : 0)));
    if (p.friction == FrictionModel::coulomb)
      result.dissipation = std::max(result.dissipation, std::abs(rt_ut + mu * ri[0] * ut));
  }
  // A bilateral row has K = R: F = rho u.
  double bilateral = 0;
  for (int k = contact_rows; k < p.rows(); ++k) {
    bilateral += u_[k] * u_[k];
    result.bilateral = std::max(result.bilateral, std::abs(u_[k]));
  }
  // u cannot be better than its rounding. Without this, r of 1e16 would "solve" problems that have no solution.
  const double noise = rounding * (diagonal_.array() * r.array().abs()).maxCoeff();
  const double contact_norm = std::sqrt(sum) + noise, q_norm = q_.norm();
  result.absolute = std::sqrt(sum + bilateral) + noise;
  const double scale = std::max({q_norm, r.norm(), u_.norm()});
  result.siconos = scale > 0 ? result.absolute / scale : result.absolute;
  result.fclib = contact_norm / (1 + std::sqrt(q_.head(contact_rows).norm())) +
                 std::sqrt(bilateral) / (1 + q_.tail(p.bilateral).norm());
  result.ours = (std::max(largest, result.bilateral) + noise) / std::max(q_.lpNorm<Eigen::Infinity>(), 1e-300);
  // Not a number compares with nothing; as infinity it cannot pass for converged.
  const auto honest = [](double& x) { x = std::isnan(x) ? HUGE_VAL : x; };
  if (!r.allFinite() || !u_.allFinite()) result.ours = result.siconos = result.fclib = result.absolute = HUGE_VAL;
  for (double* x : {&result.ours, &result.siconos, &result.fclib, &result.absolute}) honest(*x);
  return result;
}

ContactResidual contact_residual(const ContactProblem& problem, const Eigen::VectorXd& r) {
  validate(problem);
  if (r.size() != problem.rows())
    throw InputError("contact residual: r has " + std::to_string(r.size()) + " entries where " +
                     std::to_string(problem.rows()) + " are needed");
  return ResidualOfProblem(problem)(r);
}

}  // namespace hinge
