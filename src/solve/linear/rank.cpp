#include "solve/linear/rank.hpp"

#include <cmath>

#include <Eigen/LU>

namespace hinge {

PivotedQr::PivotedQr(const Eigen::MatrixXd& a, double threshold) {
  qr_.setThreshold(threshold);
  factor(a);
}

void PivotedQr::factor(const Eigen::MatrixXd& a) { qr_.compute(a); }
Eigen::Index PivotedQr::rank() const { return qr_.rank(); }
Eigen::VectorXd PivotedQr::pivots() const { return qr_.matrixQR().diagonal(); }
double PivotedQr::volume() const { return std::abs(qr_.matrixQR().diagonal().prod()); }

Eigen::VectorXd PivotedQr::combination(Eigen::Index k, Eigen::Index rank) const {
  const Eigen::VectorXd b = qr_.matrixR().col(k).head(rank);
  return qr_.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(b);
}

Eigen::MatrixXd PivotedQr::q() const { return qr_.householderQ(); }
Eigen::MatrixXd PivotedQr::q_transposed() const { return qr_.householderQ().adjoint(); }
Eigen::MatrixXd PivotedQr::q_transposed_times(const Eigen::MatrixXd& b) const {
  return qr_.householderQ().adjoint() * b;
}

void eliminate_columns(const Eigen::MatrixXd& a, Eigen::MatrixXd& b) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);
  b.applyOnTheLeft(qr.householderQ().adjoint());
}

Eigen::MatrixXd kernel(const Eigen::MatrixXd& a, double threshold) {
  Eigen::FullPivLU<Eigen::MatrixXd> lu(a);
  lu.setThreshold(threshold);
  if (lu.rank() == a.cols()) return Eigen::MatrixXd(a.cols(), 0);
  return lu.kernel();
}

ShortestSolution::ShortestSolution(const Eigen::MatrixXd& a) { decomposition_.compute(a); }

ShortestSolution::ShortestSolution(const Eigen::MatrixXd& a, double threshold) {
  decomposition_.setThreshold(threshold);
  decomposition_.compute(a);
}

Eigen::VectorXd ShortestSolution::of(const Eigen::VectorXd& b) const { return decomposition_.solve(b); }
// Eigen goes through right-hand sides that are not there, and computes addresses in them.
Eigen::MatrixXd ShortestSolution::of_all(const Eigen::MatrixXd& b) const {
  if (b.cols() == 0) return Eigen::MatrixXd(decomposition_.cols(), 0);
  return decomposition_.solve(b);
}

}  // namespace hinge
