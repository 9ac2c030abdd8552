// Singular values and eigenvalues of full matrices.
#pragma once

#include <Eigen/Core>

namespace hinge {

/// The largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);
/// The unit vector x for which |A x| is smallest, of a matrix that is singular or nearly so.
Eigen::VectorXd weakest_direction(const Eigen::MatrixXd& a);

/// A v = lambda v; the vectors are columns.
struct Eigenpairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};
Eigenpairs eigenpairs(const Eigen::MatrixXd& a);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a);

/// Of a symmetric matrix.
double largest_eigenvalue(const Eigen::MatrixXd& a);

/// A symmetric matrix of three rows: its eigenvalues, the smallest first, and its eigenvectors, as columns.
struct PrincipalAxes {
  Eigen::Vector3d values;
  Eigen::Matrix3d axes;
};
PrincipalAxes principal_axes(const Eigen::Matrix3d& a);

/// U V^T of the singular value decomposition A = U S V^T: the orthogonal matrix that is nearest to A.
Eigen::Matrix3d nearest_orthogonal(const Eigen::Matrix3d& a);

}  // namespace hinge
