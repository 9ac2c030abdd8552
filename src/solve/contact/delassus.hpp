// What solvers need of a contact problem: u = W r + q as a product, as diagonal blocks, or as a matrix.
//
// A problem with H and M becomes u = A A^T r + q with A = H L^-T, M = L L^T. W itself is formed only when asked for.
#pragma once

#include <optional>

#include "hinge/contact.hpp"
#include "solve/contact/body_fronts.hpp"

namespace hinge {

class Delassus {
 public:
  /// `threads` is how many a product may use; its bits do not depend on it. `multiplied_out`: W is all that is kept.
  explicit Delassus(const ContactProblem& problem, int threads = 1, bool multiplied_out = false);

  /// Changes units by powers of two, so that the largest entries of W and q are near 1; r = reaction_unit() times the
  /// r of these units. Solvers may then use thresholds that make sense for numbers near 1 only.
  void normalise();
  double reaction_unit() const { return reaction_unit_; }

  int rows() const { return n_; }
  int dimension() const { return d_; }
  int contacts() const { return nc_; }
  int bilateral() const { return nb_; }
  bool factored() const { return A_.rows() > 0; }
  const Eigen::VectorXd& q() const { return q_; }

  /// y = W x
  void multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y);
  /// A of W = A A^T, and its transpose; empty where the problem gives W.
  const SparseRows& A() const { return A_; }
  const SparseRows& At() const { return At_; }
  /// With A, made at the first call.
  BodyFronts& fronts();
  /// v with u = A v + w, scaled by the root of the mass: v_free = L^-1 f, and w.
  const Eigen::VectorXd& v_free() const { return v_free_; }
  const Eigen::VectorXd& w() const { return w_; }
  /// W as a matrix, formed at the first call.
  const SparseRows& matrix();
  /// W_ii of contact i (d x d), or the diagonal entry of bilateral row k as 1 x 1.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 3, 3> block(int contact) const;
  double diagonal(int row) const { return diagonal_[row]; }
  double trace(int contact) const;

 private:
  int d_, nc_, nb_, n_, threads_;
  double reaction_unit_ = 1;
  SparseRows A_, At_, W_;
  BodyFronts fronts_;
  bool has_fronts_ = false;
  Eigen::VectorXd q_, v_free_, w_, v_, diagonal_;
  Eigen::VectorXd blocks_;  // d x d of every contact, row by row
};

/// Largest |W_ij - W_ji| relative to the largest |W_ij|; 0 for a problem with H and M.
double asymmetry(const ContactProblem& problem);

/// y = A x, rows shared out among threads.
void multiply_rows(const SparseRows& A, const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::VectorXd& y, int threads);

}  // namespace hinge
