// S = L D L^T for symmetric positive definite matrices with one pattern: the order of elimination (AMD's) and the
// entries of L are found once, after that a factorisation is a loop over flat arrays.
//
// Where S is that of a path, or of several (a chain of bodies: each constraint meets the next), rows are taken along it
// and S is tridiagonal. It is then eliminated from both ends at a time: two recurrences in the place of one that waits
// for itself.
#pragma once

#include <vector>

namespace hinge {

class SparseLdlt {
 public:
  /// A pivot this much smaller than the diagonal entry it came from: the matrix is not used. Above the second bound
  /// solutions are as good as those of the matrix in which S was hidden; between the two they want a refinement.
  static constexpr double weak = 1e-9, doubtful = 1e-4;

  SparseLdlt() = default;
  /// `neighbours[k]` for begin[i] <= k < begin[i+1]: the rows that row i meets, itself left out; symmetric, each once.
  /// Gives up, and is not usable(), where a factorisation would take more than `most` multiplications.
  SparseLdlt(const std::vector<int>& begin, const std::vector<int>& neighbours, double most);

  bool usable() const { return usable_; }
  int rows() const { return rows_; }
  bool tridiagonal() const { return tridiagonal_; }
  double multiplications() const { return multiplications_; }
  /// Which row of S is the k-th one to be eliminated.
  const std::vector<int>& order() const { return order_; }

  /// The lower triangle of S in the order of elimination, entry (i, j) with j <= i one row after the other, the
  /// diagonal last in each: `row_start()` and `column()` say where. Every row of a tridiagonal S but the first has two
  /// entries, also where a path begins: there the first of them is zero.
  const std::vector<int>& row_start() const { return row_start_; }
  const std::vector<int>& column() const { return column_; }
  /// Takes `values` (and may change them). False where a pivot is weak.
  bool factor(double* values);
  /// The smallest pivot over its diagonal entry, of the last factorisation.
  double weakest() const { return weakest_; }
  /// x <- S^-1 x, both in the order of elimination.
  void solve(double* x) const;

 private:
  bool along_paths(const std::vector<int>& begin, const std::vector<int>& neighbours);
  bool by_minimum_degree(const std::vector<int>& begin, const std::vector<int>& neighbours, double most);
  void place_entries(const std::vector<int>& begin, const std::vector<int>& neighbours);
  bool factor_tridiagonal(const double* values);
  void solve_tridiagonal(double* x) const;

  int rows_ = 0;
  bool usable_ = false, tridiagonal_ = false;
  double multiplications_ = 0, weakest_ = 1;
  std::vector<int> order_, row_start_{0}, column_;
  // L without its diagonal, by columns; of each row its columns in ascending order
  std::vector<int> l_start_, l_row_, pattern_start_, pattern_, l_end_;
  std::vector<double> l_, inverse_;  // and the inverse of D
  std::vector<double> work_;
};

}  // namespace hinge
