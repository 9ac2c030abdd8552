// Singular values, and what is nearest in their sense: the one place that instantiates Eigen's.
#include <Eigen/SVD>

#include "solve/linear/spectrum.hpp"

namespace hinge {

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) { return Eigen::BDCSVD<Eigen::MatrixXd>(a).singularValues(); }

Eigen::VectorXd weakest_direction(const Eigen::MatrixXd& a) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(a, Eigen::ComputeFullV).matrixV().col(a.cols() - 1);
}

Eigen::Matrix3d nearest_orthogonal(const Eigen::Matrix3d& a) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return svd.matrixU() * svd.matrixV().transpose();
}

}  // namespace hinge
