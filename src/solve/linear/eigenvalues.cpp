// Eigenvalues: the one place that instantiates Eigen's.
#include <Eigen/Eigenvalues>

#include "solve/linear/spectrum.hpp"

namespace hinge {

Eigenpairs eigenpairs(const Eigen::MatrixXd& a) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

GeneralisedEigenvalues generalised_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const Eigen::GeneralizedEigenSolver<Eigen::MatrixXd> solver(a, b, false);
  return {solver.alphas(), solver.betas()};
}

double largest_eigenvalue(const Eigen::MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

PrincipalAxes principal_axes(const Eigen::Matrix3d& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace hinge
