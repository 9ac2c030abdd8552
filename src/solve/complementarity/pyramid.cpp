#include "solve/complementarity/pyramid.hpp"

#include <cmath>
#include <numbers>

namespace hinge {

bool lcp_like(const ContactProblem& p) {
  if (p.dimension == 1 || p.mu.size() == 0 || p.mu.maxCoeff() == 0) return true;
  return p.dimension == 2 ? p.friction != FrictionModel::convexified : p.friction == FrictionModel::polyhedral;
}

PyramidLcp pyramid_lcp(Delassus& W, const ContactProblem& p) {
  const int nc = p.contacts(), d = p.dimension;
  if (d == 1) return {Eigen::MatrixXd(W.matrix()), W.q(), Eigen::MatrixXd::Identity(nc, nc)};
  const int nd = d == 2 ? 2 : p.facets, n = nc * (2 + nd);
  // r = B z over the first nc (1 + nd) entries; lambda comes last.
  Eigen::MatrixXd B = Eigen::MatrixXd::Zero(nc * d, n);
  for (int i = 0; i < nc; ++i) {
    B(i * d, i) = 1;
    for (int j = 0; j < nd; ++j) {
      const int column = nc + i * nd + j;
      if (d == 2) {
        B(i * d + 1, column) = j == 0 ? 1 : -1;
      } else {
        const double angle = 2 * std::numbers::pi * j / nd;
        B(i * d + 1, column) = std::cos(angle);
        B(i * d + 2, column) = std::sin(angle);
      }
    }
  }
  PyramidLcp lcp;
  lcp.M = B.transpose() * (W.matrix() * B);
  lcp.q = B.transpose() * W.q();
  for (int i = 0; i < nc; ++i) {
    const int lambda = nc * (1 + nd) + i;
    lcp.M(lambda, i) = p.mu[i];
    for (int j = 0; j < nd; ++j) {
      lcp.M(nc + i * nd + j, lambda) = 1;
      lcp.M(lambda, nc + i * nd + j) = -1;
    }
  }
  lcp.reaction = std::move(B);
  return lcp;
}

}  // namespace hinge
