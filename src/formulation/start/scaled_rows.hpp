// The rows of G in units in which they can be compared: each coordinate in those of its inertia, each row of length
// one.
//
//   A_ij = G_ij c_j / |G_i c|,   c_j = (v_z / p_z)_jj^(1/2)
//
// Neither a factor in front of a constraint nor the units of a coordinate change A. For bodies in space G v_z stands in
// the place of G, so that columns are twists. On the velocity level, the rows of velocity constraints stand below.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hinge/system.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/sparse_ldlt.hpp"

namespace hinge {

enum class ConstraintLevel { position, velocity };

class ScaledRows {
 public:
  explicit ScaledRows(const System& system, ConstraintLevel level = ConstraintLevel::position);
  /// False where something is no number.
  bool at(double t, const double* y, const double* z);
  /// The same for length() alone.
  bool measure(double t, const double* y, const double* z);
  const Pattern& pattern() const { return pattern_; }
  const std::vector<double>& values() const { return values_; }
  /// |G_i c|; zero where the row is.
  const std::vector<double>& length() const { return length_; }
  const std::vector<double>& column_scale() const { return scale_; }
  /// g, as it is.
  const double* g() const { return (*e_)[Quantity::constraint]; }
  int rows() const { return pattern_.rows; }
  int columns() const { return pattern_.columns; }
  /// y moved by  c_j u_j  along the columns.
  void move(const double* y, const std::vector<double>& u, std::vector<double>& out) const;

 private:
  bool evaluate(double t, const double* y, const double* z);
  const System& system_;
  Quantity matrix_;
  Pattern pattern_;
  std::unique_ptr<Evaluation> e_;
  std::vector<double> values_, length_, scale_, psi_;
  mutable std::vector<double> step_;
};

/// A_I A_I^T + shift for chosen rows, factorised: by L D L^T with an order found once, or, where its pivots say that
/// rows are nearly dependent, by a solver that exchanges rows.
class RowGram {
 public:
  RowGram(const Pattern& rows, const std::vector<int>& chosen);
  /// `values` of all rows. False where it is singular.
  bool factor(const std::vector<double>& values, double shift = 0);
  /// x <- (A_I A_I^T + shift)^-1 x
  void solve(double* x);

 private:
  void prepare_ldlt(const Pattern& gram);
  std::vector<int> from_, back_;  // entries of A_I in A; of its transpose in A_I
  std::vector<int> diagonal_;
  std::vector<std::pair<int, int>> place_;  // of the products among the entries of the factorised matrix
  Pattern part_, transpose_;
  SparseProduct product_;
  std::unique_ptr<LinearSolver> solver_;
  SparseLdlt ldlt_;
  std::vector<int> ldlt_from_;  // of each of its entries the one of the matrix; -1: zero
  bool by_ldlt_ = false;
  std::vector<double> a_, a_transposed_, products_, gram_, ldlt_values_, ordered_;
};

}  // namespace hinge
