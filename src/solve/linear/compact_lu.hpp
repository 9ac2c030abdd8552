// LU of small sparse matrices: P A Q = L U with pivots that are chosen once and kept while they are good.
//
// The matrices of small mechanisms have 10 to 40 rows with 3 to 6 entries each. Dense LU multiplies mostly zeros there,
// and a library for large sparse matrices spends more time on its bookkeeping than on numbers. Here pivots are chosen
// by Markowitz' rule among entries of at least a quarter of their column (least fill first, then the largest), on a
// dense array; from then on lists say which entries are touched, until a pivot falls below 3 % of its column:
// then pivots are chosen anew, with the numbers at hand. Nothing is allocated after construction.
#pragma once

#include <cstddef>
#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

class CompactLu {
 public:
  explicit CompactLu(const Pattern& pattern);
  /// `values` in the pattern's order, rows and columns of comparable size. False when the matrix is singular, that is,
  /// when its smallest pivot is less than `singular_ratio` times its largest.
  bool factor(const double* values, double singular_ratio);
  /// x <- C A^-1 R x with diagonal matrices R and C.
  void solve(double* x, const double* r, const double* c);
  /// Sign of the determinant: 1 or -1.
  int determinant_sign();

 private:
  bool choose_pivots(const double* values);
  bool refactor(const double* values);
  void make_lists();
  void gather();

  std::size_t n_;
  Pattern pattern_;
  bool chosen_ = false;
  std::vector<double> a_;                // n x n, in the order of the pivots
  std::vector<char> there_;              // where a_ may have entries, fill included
  std::vector<int> row_, column_;        // pivot k stands in row row_[k] and column column_[k] of A
  std::vector<int> row_of_, column_of_;  // their inverses
  std::vector<std::size_t> place_;       // of each entry of the pattern in a_
  std::vector<std::size_t> entries_;     // all places with entries
  // Entries below each pivot, entries right of each pivot: for the factorisation. Rows of L and U: for the solution.
  std::vector<int> below_, below_start_, right_, right_start_;
  std::vector<int> lower_, lower_start_;
  std::vector<double> lower_value_, upper_value_, inverse_;
  std::vector<double> work_;
  std::vector<char> visited_;
};

}  // namespace hinge
