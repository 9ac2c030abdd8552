// Coefficients of SPARK methods (s, st) for overdetermined DAEs with holonomic constraints, after L. O. Jay,
// "SPARK methods for systems of overdetermined DAEs with holonomic constraints", SIAM J. Numer. Anal. 45 (2007).
//
//   Y_i       = y0 + h sum_j a_ij v(Y_j, Z_j)                                             i = 1..s
//   p(Y_i,Z_i)= p0 + h sum_j ahat_ij f(Y_j, Z_j) + h sum_{j=0..st} atilde_ij r(Yt_j, L_j)
//   Yt_i      = y0 + h sum_j abar_ij v(Y_j, Z_j),   0 = g(Yt_i)                            i = 0..st
//   y1        = y0 + h sum_j b_j v(Y_j, Z_j)
//   p(y1,z1)  = p0 + h sum_j bhat_j f(Y_j, Z_j) + h sum_{j=0..st} btilde_j r(Yt_j, L_j),   0 = g_y v(y1, z1)
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <Eigen/Dense>

namespace hinge {

/// For coefficients of one's own a, b, abar and btilde are needed. What is left empty is filled in by hinge::spark():
/// c and ctilde are the row sums of a and abar, bhat = b, ahat and atilde solve (4.1b) and (4.1c).
struct SparkTableau {
  std::string name{};
  int order = 0;                        ///< classical order in y and z; 0 where it is not stated
  Eigen::VectorXd c{}, b{}, bhat{};     ///< s
  Eigen::MatrixXd a{}, ahat{};          ///< s x s
  Eigen::MatrixXd atilde{};             ///< s x (st + 1)
  Eigen::MatrixXd abar{};               ///< (st + 1) x s
  Eigen::VectorXd ctilde{}, btilde{};   ///< st + 1
  std::vector<std::string> violates{};  ///< conditions that are knowingly not satisfied: "(3.3c)", "(4.1a)" to "(4.1c)"

  int stages() const { return static_cast<int>(b.size()); }
  /// st: the number of multiplier nodes after node 0.
  int constraint_stages() const { return static_cast<int>(btilde.size()) - 1; }
  /// The same shapes and the same numbers.
  friend bool operator==(const SparkTableau& x, const SparkTableau& y);
};

/// Gauss-Lobatto (s, s): order 2s, symmetric, symplectic. s from 1 to 12.
SparkTableau gauss_lobatto_tableau(int s);
/// Lobatto IIIA-IIIB (s, s - 1): order 2s - 2, symmetric, symplectic. s from 2 to 12; s = 2 is RATTLE.
SparkTableau lobatto_iiia_iiib_tableau(int s);
/// The natural symplectic Euler method and its conjugate, alpha not 0 or 1: order 1, symplectic, for reactions affine
/// in psi, since they violate (3.3c).
SparkTableau natural_euler_tableau(double alpha);
SparkTableau natural_conjugate_euler_tableau(double alpha);

/// One condition on the coefficients and by how much it is violated (maximum norm).
struct TableauCondition {
  std::string name;     ///< e.g. "(4.1b)"
  std::string formula;  ///< e.g. "bhat_i a_ij + b_j ahat_ji = bhat_i b_j"
  double defect;
  std::string worst{};  ///< where it is violated most: "i = 2, j = 1"; stages count from 1, constraint nodes from 0
  bool holds() const;   ///< to 1e-12
};

/// What is known of a method from its coefficients alone. Prints as a few lines.
struct TableauReport {
  std::vector<TableauCondition> consistency;    ///< weights, (3.3a)-(3.3d), (4.2), (4.3)
  std::vector<TableauCondition> symplecticity;  ///< (4.1a)-(4.1c)
  std::vector<TableauCondition> symmetry;
  /// Largest p with sum_i w_i x_i^(k-1) = 1/k for k = 1..p: of (b, c), (bhat, c), (btilde, ctilde).
  int order_b = 0, order_bhat = 0, order_btilde = 0;
  /// Largest q with sum_j a_ij c_j^(k-1) = c_i^k / k for k = 1..q; abar with ctilde_i on the right; atilde with
  /// ctilde_j on the left.
  int stage_order_a = 0, stage_order_ahat = 0, stage_order_atilde = 0, stage_order_abar = 0;
  bool symplectic() const;
  bool symmetric() const;
  /// The same as sentences.
  std::vector<std::string> facts() const;
};
/// Checks shapes (an InputError says what is wrong with them), fills in what is empty, and measures.
TableauReport check_tableau(const SparkTableau& tableau);
std::ostream& operator<<(std::ostream& out, const TableauReport& report);

}  // namespace hinge
