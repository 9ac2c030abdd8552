// Linear systems on the bodies' velocities, (I + A^T C A) v = b, with one small block of C per contact.
//
// The pattern is that of the bodies that touch, not that of W; redundant contacts change nothing about its size, and a
// contact that is off (C = 0) drops out. Factorised by FrontalLu, whose elements are the contacts.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "hinge/contact.hpp"
#include "solve/linear/frontal_lu.hpp"

namespace hinge {

class BodyFronts {
 public:
  BodyFronts() = default;
  /// A has `rows` rows for each contact, then one for each bilateral row.
  BodyFronts(const SparseRows& A, int contacts, int rows, int bilateral);

  /// weight(e, C) writes the block of contact e, or (behind them) the number of a bilateral row as C(0, 0).
  template <class Weight>
  bool factor(Weight&& weight) {
    Eigen::Matrix3d C;
    return fronts_.factor(1, [&](int e, Eigen::MatrixXd& K) {
      const Eigen::MatrixXd& A = elements_[static_cast<std::size_t>(e)];
      C.setZero();
      weight(e, C);
      CA_.noalias() = C.topLeftCorner(A.rows(), A.rows()) * A;
      K.noalias() = A.transpose() * CA_;
    });
  }
  void solve(Eigen::VectorXd& x) { fronts_.solve(x); }
  /// Of a factorisation.
  double operations() const { return fronts_.operations(); }

 private:
  std::vector<Eigen::MatrixXd> elements_;
  FrontalLu fronts_;
  Eigen::MatrixXd CA_;
};

}  // namespace hinge
