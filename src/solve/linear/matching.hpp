// Which rows go with which columns: what the pattern of a matrix alone says about linear equations.
//
// A matching pairs rows with columns where there are entries, each at most once. Where it leaves rows over, the rows
// that alternating paths reach from these, and their columns, are overdetermined; where it leaves columns over, those
// reached are underdetermined (Dulmage and Mendelsohn 1958). A full matching makes the columns' graph fall apart into
// strongly connected parts: blocks that can be solved one after the other (Tarjan 1972).
#pragma once

#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

struct Matching {
  std::vector<int> column_of_row, row_of_column;  // -1 where there is none
  int size = 0;
};

/// As many pairs as possible.
Matching maximum_matching(const Pattern& pattern);

/// The parts of a matrix that no choice of values makes regular.
struct SingularParts {
  std::vector<int> over_rows, over_columns;    // more rows than columns
  std::vector<int> under_rows, under_columns;  // fewer rows than columns
};
SingularParts singular_parts(const Pattern& pattern, const Matching& matching);

/// Of a square matrix with a full matching: lists of columns, each needing only those before it.
std::vector<std::vector<int>> triangular_blocks(const Pattern& pattern, const Matching& matching);

/// A full matching of largest weight and the smallest offsets c >= 0, d with  d_j - c_i >= weight_ij,  equal on the
/// matching. Weights stand in the order of the pattern.
struct Transversal {
  Matching matching;
  std::vector<int> c, d;
};
/// The pattern has a full matching.
Transversal best_transversal(const Pattern& pattern, const std::vector<int>& weight);

}  // namespace hinge
