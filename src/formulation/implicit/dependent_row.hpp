// A row of a Jacobian of expressions that depends on the others wherever one looks, and by which coefficients:
//
//   A_l + sum_i u_i A_i = 0,     u_i expressions, i among the rows of the level of l and higher ones.
//
// Elimination on expressions, beside which the numbers at some points are carried along: what vanishes at all of them
// is zero. Pivots are constant where they can be: others may vanish elsewhere on the way of a solution.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "expression/graph.hpp"
#include "hinge/solve.hpp"

namespace hinge {

struct DependentRow {
  int row = -1;                              ///< none where this is negative
  std::vector<std::pair<int, Node>> others;  ///< i and u_i
};

struct ExpressionMatrix {
  const Pattern& pattern;
  const std::vector<Node>& entries;
  const std::vector<Eigen::MatrixXd>& values;  ///< at some points
};

/// The first dependent row that `fits`, from the highest `level` down. `avoid`, of each row: variables that pivots
/// should not contain.
DependentRow find_dependent_row(Graph& graph, const ExpressionMatrix& matrix, const std::vector<int>& level,
                                const std::vector<std::vector<Node>>& avoid,
                                const std::function<bool(DependentRow&)>& fits);

}  // namespace hinge
