// Coefficients of SPARK methods (s, st) for overdetermined DAEs with holonomic constraints, after L. O. Jay,
// "SPARK methods for systems of overdetermined DAEs with holonomic constraints", SIAM J. Numer. Anal. 45 (2007).
//
//   Y_i       = y0 + h sum_j a_ij v(Y_j, Z_j)                                             i = 1..s
//   p(Y_i,Z_i)= p0 + h sum_j ahat_ij f(Y_j, Z_j) + h sum_{j=0..st} atilde_ij r(Yt_j, L_j)
//   Yt_i      = y0 + h sum_j abar_ij v(Y_j, Z_j),   0 = g(Yt_i)                            i = 0..st
//   y1        = y0 + h sum_j b_j v(Y_j, Z_j)
//   p(y1,z1)  = p0 + h sum_j bhat_j f(Y_j, Z_j) + h sum_{j=0..st} btilde_j r(Yt_j, L_j),   0 = g_y v(y1, z1)
#pragma once

#include <string>
#include <vector>

#include <Eigen/Dense>

namespace hinge {

struct SparkTableau {
  std::string name;
  int order = 0;                   ///< classical order in y and z
  Eigen::VectorXd c, b, bhat;      ///< s
  Eigen::MatrixXd a, ahat;         ///< s x s
  Eigen::MatrixXd atilde;          ///< s x (st + 1)
  Eigen::MatrixXd abar;            ///< (st + 1) x s
  Eigen::VectorXd ctilde, btilde;  ///< st + 1

  int stages() const { return static_cast<int>(b.size()); }
  /// st: the number of multiplier nodes after node 0.
  int constraint_stages() const { return static_cast<int>(btilde.size()) - 1; }
};

}  // namespace hinge
