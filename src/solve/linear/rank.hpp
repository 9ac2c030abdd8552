// Full matrices of any shape and rank: which columns are independent, what is in the kernel, the shortest solution.
#pragma once

#include <Eigen/QR>

namespace hinge {

/// A P = Q R, columns exchanged so that |R_00| >= |R_11| >= ...
class PivotedQr {
 public:
  PivotedQr() = default;
  explicit PivotedQr(const Eigen::MatrixXd& a) { factor(a); }
  /// `threshold`: a pivot this much smaller than the largest counts as zero.
  PivotedQr(const Eigen::MatrixXd& a, double threshold);
  void factor(const Eigen::MatrixXd& a);
  Eigen::Index rank() const;
  /// The columns of A in the order of their pivots.
  const Eigen::VectorXi& order() const { return qr_.colsPermutation().indices(); }
  /// R_00, R_11, ...
  Eigen::VectorXd pivots() const;
  /// |R_00 R_11 ...|, of the largest determinants that columns of a wide A have.
  double volume() const;
  /// Coefficients by which column order()[k] is a sum of the first `rank` columns in that order.
  Eigen::VectorXd combination(Eigen::Index k, Eigen::Index rank) const;
  Eigen::MatrixXd q() const;
  Eigen::MatrixXd q_transposed() const;
  /// Q^T b
  Eigen::MatrixXd q_transposed_times(const Eigen::MatrixXd& b) const;

 private:
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
};

/// b <- Q^T b, where a = Q R: the lower rows of b are then free of the columns of a.
void eliminate_columns(const Eigen::MatrixXd& a, Eigen::MatrixXd& b);

/// A basis of all x with A x = 0; no columns where A has full rank. One free variable is 1 in each column.
Eigen::MatrixXd kernel(const Eigen::MatrixXd& a, double threshold);

/// The shortest x with the smallest |A x - b|, whatever the rank of A.
class ShortestSolution {
 public:
  explicit ShortestSolution(const Eigen::MatrixXd& a);
  ShortestSolution(const Eigen::MatrixXd& a, double threshold);
  Eigen::VectorXd of(const Eigen::VectorXd& b) const;
  /// Several right-hand sides.
  Eigen::MatrixXd of_all(const Eigen::MatrixXd& b) const;

 private:
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition_;
};

}  // namespace hinge
