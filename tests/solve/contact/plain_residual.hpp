// The residual of a contact problem written once more, with dense matrices and nothing of the library's.
#pragma once

#include <cmath>
#include <numbers>

#include <Eigen/Dense>

#include "hinge/contact.hpp"

namespace hinge::trial {

inline Eigen::VectorXd plain_velocity(const ContactProblem& p, const Eigen::VectorXd& r) {
  if (!p.matrix_free()) return Eigen::MatrixXd(p.W) * r + p.q;
  const Eigen::MatrixXd M(p.M), H(p.H);
  return H * M.ldlt().solve(Eigen::VectorXd(p.f + H.transpose() * r)) + p.w;
}

/// |F| of the natural map with rho = 1. Round cones, and LCPs.
inline double plain_residual(const ContactProblem& p, const Eigen::VectorXd& r) {
  const Eigen::VectorXd u = plain_velocity(p, r);
  double sum = 0;
  const int d = p.dimension;
  for (int i = 0; i < p.contacts(); ++i) {
    Eigen::VectorXd x = r.segment(i * d, d) - u.segment(i * d, d);
    const double mu = p.mu_of(i);
    if (d > 1 && p.friction != FrictionModel::convexified) x[0] -= mu * u.segment(i * d + 1, d - 1).norm();
    const double t = d > 1 ? x.tail(d - 1).norm() : 0, n = x[0];
    Eigen::VectorXd projected = x;
    if (d == 1)
      projected[0] = std::max(0.0, n);
    else if (mu * t <= -n)
      projected.setZero();
    else if (t > mu * n) {
      projected[0] = (n + mu * t) / (1 + mu * mu);
      projected.tail(d - 1) *= mu * projected[0] / t;
    }
    sum += (r.segment(i * d, d) - projected).squaredNorm();
  }
  return std::sqrt(sum + u.tail(p.bilateral).squaredNorm());
}

/// The largest violation of the laws themselves: of Signorini's, of the cone or pyramid, of maximal dissipation.
inline double plain_violation(const ContactProblem& p, const Eigen::VectorXd& r) {
  const Eigen::VectorXd u = plain_velocity(p, r);
  const int d = p.dimension;
  const bool pyramid = d == 3 && p.friction == FrictionModel::polyhedral;
  double worst = p.bilateral > 0 ? u.tail(p.bilateral).lpNorm<Eigen::Infinity>() : 0;
  for (int i = 0; i < p.contacts(); ++i) {
    const double rn = r[i * d], un = u[i * d], mu = p.mu_of(i);
    const Eigen::VectorXd rt = r.segment(i * d + 1, d - 1), ut = u.segment(i * d + 1, d - 1);
    double cone = rt.norm(), slip = ut.norm(), width = 1;
    if (pyramid) {  // distance from the faces, whose normals lie between the edges; best of the edges against u_T
      cone = slip = 0;
      width = std::cos(std::numbers::pi / p.facets);
      for (int j = 0; j < p.facets; ++j) {
        const double edge = 2 * std::numbers::pi * j / p.facets, face = edge + std::numbers::pi / p.facets;
        cone = std::max(cone, rt[0] * std::cos(face) + rt[1] * std::sin(face));
        slip = std::max(slip, -ut[0] * std::cos(edge) - ut[1] * std::sin(edge));
      }
    }
    worst = std::max({worst, -rn, cone - width * mu * rn});
    if (p.friction == FrictionModel::convexified)
      worst = std::max({worst, mu * slip - un, std::abs(rn * un + rt.dot(ut))});
    else
      worst = std::max({worst, -un, std::abs(rn * un), std::abs(rt.dot(ut) + mu * rn * slip)});
  }
  return worst;
}

}  // namespace hinge::trial
