// Eigenvalues of symmetric matrices, and singular values through them.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

using Symmetric = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

}  // namespace

double largest_eigenvalue(const Eigen::MatrixXd& a) {
  return Symmetric(a, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

// The eigenvalues of [0 A; A^T 0] are +sigma, -sigma and zeros. Errors are eps |A|, those of Eigen's BDCSVD, which
// takes 20 s to compile.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) {
  const Eigen::Index m = a.rows(), n = a.cols();
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(m + n, m + n);
  both.bottomLeftCorner(n, m) = a.transpose();  // only the lower triangle is read
  const Eigen::VectorXd pairs = Symmetric(both, Eigen::EigenvaluesOnly).eigenvalues();
  return pairs.tail(std::min(m, n)).reverse().cwiseMax(0);
}

// The eigenvector of A^T A: fine where A is singular, and this is asked of such matrices.
Eigen::VectorXd weakest_direction(const Eigen::MatrixXd& a) {
  return Symmetric(a.transpose() * a).eigenvectors().col(0);
}

PrincipalAxes principal_axes(const Eigen::Matrix3d& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::Matrix3d nearest_orthogonal(const Eigen::Matrix3d& a) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

}  // namespace hinge
