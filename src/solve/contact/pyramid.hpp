// Friction pyramids as linear complementarity problems (Stewart, Trinkle 1996; Anitescu, Potra 1997).
//
// With nd balanced directions D per contact and z = (r_N, beta, lambda), r_T = D beta:
//
//       [ W_NN       W_NT D       0 ]        [ q_N     ]
//   M = [ D^T W_TN   D^T W_TT D   E ],   q = [ D^T q_T ]
//       [ diag(mu)   -E^T         0 ]        [ 0       ]
//
// M is copositive, so Lemke's method succeeds. In 2D the pyramid with two directions is the exact cone; in 1D the
// problem is an LCP already. Bilateral rows are eliminated before: with W = [C B; D E] over contacts and bilateral
// rows,
//
//   l = -E^+ (D r + q_b),   W_c = C - B E^+ D,   q_c = q - B E^+ q_b
//
// where the pseudoinverse E^+ serves rows that depend on each other.
#pragma once

#include <Eigen/Core>

#include "solve/contact/delassus.hpp"

namespace hinge {

struct PyramidLcp {
  Eigen::MatrixXd M;
  Eigen::VectorXd q;
  Eigen::MatrixXd reaction;  ///< r = reaction z + offset
  Eigen::VectorXd offset;
};

/// Rows of that LCP.
Eigen::Index pyramid_rows(const ContactProblem& problem);

PyramidLcp pyramid_lcp(Delassus& W, const ContactProblem& problem);

/// Is the problem an LCP, or can it be written as one: no friction, friction in 2D, pyramids?
bool lcp_like(const ContactProblem& problem);

}  // namespace hinge
