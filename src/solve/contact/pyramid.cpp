#include "solve/contact/pyramid.hpp"

#include <cmath>
#include <numbers>

#include "solve/linear/rank.hpp"

namespace hinge {

bool lcp_like(const ContactProblem& p) {
  if (p.frictionless()) return true;
  return p.dimension == 2 ? p.friction != FrictionModel::convexified : p.friction == FrictionModel::polyhedral;
}

namespace {

// Without bilateral rows.
PyramidLcp contacts_lcp(const Eigen::MatrixXd& W, const Eigen::VectorXd& q, const ContactProblem& p) {
  const int nc = p.contacts(), d = p.dimension;
  if (d == 1) return {W, q, Eigen::MatrixXd::Identity(nc, nc), {}};
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
  lcp.M = B.transpose() * (W * B);
  lcp.q = B.transpose() * q;
  for (int i = 0; i < nc; ++i) {
    const int lambda = nc * (1 + nd) + i;
    lcp.M(lambda, i) = p.mu_of(i);
    for (int j = 0; j < nd; ++j) {
      lcp.M(nc + i * nd + j, lambda) = 1;
      lcp.M(lambda, nc + i * nd + j) = -1;
    }
  }
  lcp.reaction = std::move(B);
  return lcp;
}

}  // namespace

Eigen::Index pyramid_rows(const ContactProblem& p) {
  const Eigen::Index nc = p.contacts();
  return p.dimension == 1 ? nc : nc * (2 + (p.dimension == 2 ? 2 : p.facets));
}

PyramidLcp pyramid_lcp(Delassus& W, const ContactProblem& p) {
  const int nc = p.contacts(), d = p.dimension, nb = p.bilateral, rows = nc * d;
  Eigen::MatrixXd C(W.matrix()), eliminate(nb, rows);
  Eigen::VectorXd q = W.q(), shift(nb);
  if (nb > 0) {
    const ShortestSolution E(C.bottomRightCorner(nb, nb));
    eliminate = -E.of_all(C.bottomLeftCorner(nb, rows));
    shift = -E.of(q.tail(nb));
    q = (q.head(rows) + C.topRightCorner(rows, nb) * shift).eval();
    C = (C.topLeftCorner(rows, rows) + C.topRightCorner(rows, nb) * eliminate).eval();
  }
  PyramidLcp lcp = contacts_lcp(C, q, p);
  lcp.offset = Eigen::VectorXd::Zero(rows + nb);
  if (nb == 0) return lcp;
  lcp.offset.tail(nb) = shift;
  const Eigen::MatrixXd contacts = std::move(lcp.reaction);
  lcp.reaction.resize(rows + nb, contacts.cols());
  lcp.reaction << contacts, eliminate * contacts;
  return lcp;
}

}  // namespace hinge
