// Factorisations of symmetric positive definite matrices.
#pragma once

#include <memory>

#include <Eigen/SparseCore>

#include "hinge/solve.hpp"

namespace hinge {

/// The lower triangle L with A = L L^T. False where A is not positive definite.
bool cholesky(const Eigen::MatrixXd& a, Eigen::MatrixXd& lower);

/// A = L L^T of a semidefinite matrix, L with as many columns as A has rank: what is left of a diagonal entry is zero
/// where it is at most `threshold` of that entry. Rows are taken in the order of what is left of them.
Eigen::MatrixXd semidefinite_root(const Eigen::MatrixXd& a, double threshold);

/// A <- A^-1. False where A is not positive definite; then A is as it was.
bool invert_definite(Eigen::Matrix<double, 6, 6>& a);

/// A^-1 b
Eigen::Vector3d solve_definite(const Eigen::Matrix3d& a, const Eigen::Vector3d& b);

Eigen::SparseMatrix<double, Eigen::RowMajor> sparse_matrix(const Pattern& pattern, const double* values);

/// Of a sparse matrix; its lower triangle is read.
bool positive_definite(const Eigen::SparseMatrix<double>& a);

/// P A P^T = L D L^T of a sparse matrix, rows reordered for little fill.
class SparseCholesky {
 public:
  using Matrix = Eigen::SparseMatrix<double>;
  SparseCholesky();
  ~SparseCholesky();
  /// The pattern alone. Diagonal entries must be there.
  void analyse(const Matrix& a);
  /// A matrix with the pattern analysed last. False where a pivot vanishes.
  bool factor(const Matrix& a);
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;
  /// The diagonal of D.
  Eigen::VectorXd pivots() const;
  /// Which row of A pivot k stands for.
  int row(Eigen::Index k) const;
  /// x with L^T x = e_k, rows in the order of the pivots.
  Eigen::VectorXd combination(Eigen::Index k) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace hinge
