// Eigenvalues of matrices that are not symmetric.
#include <Eigen/Eigenvalues>

#include "solve/linear/spectrum.hpp"

namespace hinge {

Eigenpairs eigenpairs(const Eigen::MatrixXd& a) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(a, false).eigenvalues();
}

}  // namespace hinge
