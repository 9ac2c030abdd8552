#include "solve/linear/cholesky.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>

namespace hinge {

bool cholesky(const Eigen::MatrixXd& a, Eigen::MatrixXd& lower) {
  const Eigen::LLT<Eigen::MatrixXd> factor(a);
  if (factor.info() != Eigen::Success) return false;
  lower = factor.matrixL();
  return true;
}

Eigen::MatrixXd semidefinite_root(const Eigen::MatrixXd& a, double threshold) {
  const Eigen::Index n = a.rows();
  Eigen::MatrixXd L(n, n);
  Eigen::VectorXd left = a.diagonal();
  Eigen::Index rank = 0;
  for (; rank < n; ++rank) {
    Eigen::Index pivot = 0;
    double largest = threshold;
    for (Eigen::Index i = 0; i < n; ++i)
      if (left[i] > largest * a(i, i)) largest = left[i] / a(i, i), pivot = i;
    if (!(largest > threshold)) break;
    L.col(rank) = a.col(pivot);
    if (rank > 0) L.col(rank).noalias() -= L.leftCols(rank) * L.row(pivot).head(rank).transpose();
    L.col(rank) /= std::sqrt(left[pivot]);
    left -= L.col(rank).cwiseAbs2();
    left[pivot] = 0;
  }
  return L.leftCols(rank);
}

bool invert_definite(Eigen::Matrix<double, 6, 6>& a) {
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  const Eigen::LLT<Matrix6> factor(a);
  if (factor.info() != Eigen::Success) return false;
  a = factor.solve(Matrix6::Identity());
  return true;
}

Eigen::Vector3d solve_definite(const Eigen::Matrix3d& a, const Eigen::Vector3d& b) { return a.ldlt().solve(b); }

Eigen::SparseMatrix<double, Eigen::RowMajor> sparse_matrix(const Pattern& p, const double* values) {
  return Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>(p.rows, p.columns, std::ssize(p.column),
                                                                        p.row_start.data(), p.column.data(), values);
}

bool positive_definite(const Eigen::SparseMatrix<double>& a) {
  return Eigen::SimplicialLLT<Eigen::SparseMatrix<double>>(a).info() == Eigen::Success;
}

struct SparseCholesky::Factors : Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> {};

SparseCholesky::SparseCholesky() : factors_(std::make_unique<Factors>()) {}
SparseCholesky::~SparseCholesky() = default;

void SparseCholesky::analyse(const Matrix& a) { factors_->analyzePattern(a); }

bool SparseCholesky::factor(const Matrix& a) {
  factors_->factorize(a);
  return factors_->info() == Eigen::Success;
}

Eigen::VectorXd SparseCholesky::solve(const Eigen::VectorXd& b) const { return factors_->solve(b); }
Eigen::VectorXd SparseCholesky::pivots() const { return factors_->vectorD(); }
int SparseCholesky::row(Eigen::Index k) const { return factors_->permutationPinv().indices()[k]; }

Eigen::VectorXd SparseCholesky::combination(Eigen::Index k) const {
  Eigen::VectorXd x = Eigen::VectorXd::Unit(factors_->rows(), k);
  factors_->matrixU().solveInPlace(x);
  return x;
}

}  // namespace hinge
