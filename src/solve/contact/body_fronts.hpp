// Linear systems on the bodies' velocities, (I + A^T C A) v = b, with one small block of C per contact.
//
// The pattern is that of the bodies that touch, not that of W; redundant contacts change nothing about its size, and a
// contact that is off (C = 0) drops out. Factorised by FrontalLu, whose elements are the contacts. Where every row
// moves everything, as those of a root of W do, there is one front, and what goes into it is one product of matrices.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "hinge/contact.hpp"
#include "solve/linear/frontal_lu.hpp"

namespace hinge {

class BodyFronts {
 public:
  /// A has `rows` rows for each contact, then one for each bilateral row. Who touches whom is looked at again only
  /// where that is not what it was.
  void bind(const SparseRows& A, int contacts, int rows, int bilateral);

  /// weight(e, C) writes the block of contact e, or (behind them) the number of a bilateral row as C(0, 0).
  template <class Weight>
  bool factor(Weight&& weight) {
    Eigen::Matrix3d C;
    if (whole_)
      return fronts_.factor(1, [&](int, Eigen::MatrixXd& K) {
        for (int e = 0; e < elements(); ++e) {
          C.setZero();
          weight(e, C);
          weigh(e, C);
        }
        multiply_whole(K);
      });
    return fronts_.factor(1, [&](int e, Eigen::MatrixXd& K) {
      C.setZero();
      weight(e, C);
      multiply(e, C, K);
    });
  }
  void solve(Eigen::VectorXd& x) { fronts_.solve(x); }
  /// Of a factorisation, elements included.
  double operations() const { return operations_; }

 private:
  int elements() const { return static_cast<int>(first_.size()) - 1; }
  bool list_nodes(const SparseRows& A, int size);
  void weigh(int e, const Eigen::Matrix3d& C);
  void multiply(int e, const Eigen::Matrix3d& C, Eigen::MatrixXd& K) const;
  void multiply_whole(Eigen::MatrixXd& K) const;

  bool whole_ = false;  // A has no zeros
  int columns_ = 0;
  std::vector<int> first_;  // rows of the elements
  std::vector<std::vector<int>> nodes_, listed_;
  std::vector<double> values_;     // A^T of the elements, one after the other by columns
  std::vector<std::size_t> part_;  // where each begins
  std::vector<double> weighed_;    // -C A of a whole A, by columns
  FrontalLu fronts_;
  double operations_ = 0;
};

}  // namespace hinge
