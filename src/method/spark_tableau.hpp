// Coefficients of SPARK methods (s, st) for overdetermined DAEs with holonomic constraints, after L. O. Jay,
// "SPARK methods for systems of overdetermined DAEs with holonomic constraints", SIAM J. Numer. Anal. 45 (2007).
//
//   Y_i       = y0 + h sum_j a_ij v(Y_j, Z_j)                                             i = 1..s
//   p(Y_i,Z_i)= p0 + h sum_j ahat_ij f(Y_j, Z_j) + h sum_{j=0..st} atilde_ij r(Yt_j, L_j)
//   Yt_i      = y0 + h sum_j abar_ij v(Y_j, Z_j),   0 = g(Yt_i)                            i = 0..st
//   y1        = y0 + h sum_j b_j v(Y_j, Z_j)
//   p(y1,z1)  = p0 + h sum_j bhat_j f(Y_j, Z_j) + h sum_{j=0..st} btilde_j r(Yt_j, L_j),   0 = g_y v(y1, z1)
//
// Coefficients are computed, never tabulated: nodes as roots of Legendre polynomials, weights and matrices by
// integrating Lagrange polynomials with a Gauss rule that is exact for them.
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

/// Gauss-Lobatto (s, s): order 2s, symmetric, symplectic. s from 1 to 12.
SparkTableau gauss_lobatto_tableau(int s);

/// Lobatto IIIA-IIIB (s, s - 1): order 2s - 2, symmetric, symplectic. s from 2 to 12; s = 2 is RATTLE.
SparkTableau lobatto_iiia_iiib_tableau(int s);

/// One-stage members with parameter alpha, not 0 or 1: the natural symplectic Euler method, its conjugate, and the
/// implicit Euler member, which is NOT symplectic and serves as a control in tests.
SparkTableau natural_euler_tableau(double alpha);
SparkTableau natural_conjugate_euler_tableau(double alpha);
SparkTableau implicit_euler_tableau(double alpha);

/// One condition on the coefficients and by how much it is violated (maximum norm).
struct TableauCondition {
  std::string name;     ///< e.g. "(4.1b)"
  std::string formula;  ///< e.g. "bhat_i a_ij + b_j ahat_ji = bhat_i b_j"
  double defect;
};

/// Conditions (3.3a)-(3.3c) for consistency, with (4.2) and (4.3) for the splitting into two blocks. (3.3d) is
/// reported with defect 0 when the matrix is well conditioned and infinity when it is singular.
std::vector<TableauCondition> consistency_conditions(const SparkTableau& t);
/// Conditions (4.1a)-(4.1c) for symplecticity.
std::vector<TableauCondition> symplecticity_conditions(const SparkTableau& t);
/// Symmetry under reversal of the stages.
std::vector<TableauCondition> symmetry_conditions(const SparkTableau& t);

/// Gauss and Lobatto points and weights on [0, 1].
struct Quadrature {
  Eigen::VectorXd nodes, weights;
};
Quadrature gauss_quadrature(int points);
Quadrature lobatto_quadrature(int points);

}  // namespace hinge
