// Sparse matrices with a pattern that never changes: everything about positions is worked out once, and a numeric
// operation is a loop over flat arrays.
#pragma once

#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

/// y += factor * A x
void multiply_add(const Pattern& a, const double* values, const double* x, double factor, double* y);

/// C = A B for fixed patterns.
class SparseProduct {
 public:
  SparseProduct() = default;
  SparseProduct(const Pattern& a, const Pattern& b);
  const Pattern& pattern() const { return pattern_; }
  void multiply(const double* a, const double* b, double* c) const;

 private:
  struct Term {
    int a, b, c;
  };
  Pattern pattern_;
  std::vector<Term> terms_;
};

/// Collects entries (row, column) in any order; afterwards knows the pattern and where each entry went.
class PatternBuilder {
 public:
  PatternBuilder(int rows, int columns) : rows_(rows), columns_(columns) {}
  /// Returns the number of this entry; repeated positions are allowed and share a place.
  int add(int row, int column);
  /// The pattern, and for each entry in order of add() its place in the values.
  Pattern build(std::vector<int>& place) const;

 private:
  int rows_, columns_;
  std::vector<int> row_, column_;
};

/// Some rows of a pattern, one after the other; their values begin at p.row_start[first].
Pattern row_range(const Pattern& p, int first, int count);

/// Pattern of the transpose; `from`: for each of its entries the entry of the original.
Pattern transposed(const Pattern& p, std::vector<int>& from);

/// The connected components of a square pattern: lists of rows, each in order, the lists in the order of their first.
std::vector<std::vector<int>> independent_blocks(const Pattern& pattern);

/// Inverse of a matrix that falls apart into independent square blocks (after reordering): a mass matrix of point
/// masses or bodies.
class BlockInverse {
 public:
  BlockInverse() = default;
  explicit BlockInverse(const Pattern& pattern);
  /// Size of the largest block.
  int largest() const { return largest_; }
  /// Pattern of the inverse: every block full.
  const Pattern& pattern() const { return inverse_pattern_; }
  /// Computes the inverse; false if a block is singular (then singular_row() is one of its rows).
  bool compute(const double* values, double* inverse);
  int singular_row() const { return singular_row_; }

 private:
  struct Place {
    int value, inverse;
  };
  Pattern pattern_, inverse_pattern_;
  std::vector<std::vector<int>> blocks_;  // rows of each block larger than one
  std::vector<Place> single_;             // 1 x 1 blocks: position in values and in the inverse
  std::vector<int> single_row_;
  std::vector<double> work_;
  std::vector<int> local_;
  int largest_ = 0, singular_row_ = -1;
};

}  // namespace hinge
