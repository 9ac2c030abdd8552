// Shared vocabulary of the linear solvers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hinge {

/// Where a matrix has entries, row by row (compressed sparse rows). A vector is a matrix of one column.
struct Pattern {
  int rows = 0, columns = 0;
  std::vector<int> row_start{0};
  std::vector<int> column;

  std::size_t entries() const { return column.size(); }
  bool empty() const { return column.empty(); }
  static Pattern dense(int rows, int columns);
};

/// Which factorisation linear systems get. `automatic` looks at size and number of entries.
enum class LinearAlgebra { automatic, dense, sparse };

}  // namespace hinge
