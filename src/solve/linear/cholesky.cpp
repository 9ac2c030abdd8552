#include "solve/linear/cholesky.hpp"

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>

namespace hinge {

bool cholesky(const Eigen::MatrixXd& a, Eigen::MatrixXd& lower) {
  const Eigen::LLT<Eigen::MatrixXd> factor(a);
  if (factor.info() != Eigen::Success) return false;
  lower = factor.matrixL();
  return true;
}

bool invert_definite(Eigen::Matrix<double, 6, 6>& a) {
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  const Eigen::LLT<Matrix6> factor(a);
  if (factor.info() != Eigen::Success) return false;
  a = factor.solve(Matrix6::Identity());
  return true;
}

Eigen::Vector3d solve_definite(const Eigen::Matrix3d& a, const Eigen::Vector3d& b) { return a.ldlt().solve(b); }

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
