// Exact derivatives by graph transformation, in reverse mode.
//
// The gradient of one function costs a small multiple of the function, whatever the number of variables: walking
// the function's own nodes from the last to the first, each node n hands its adjoint  w = df/dn  on to its operands,
// w_a += w * dn/da. The result is again a set of nodes, so second derivatives are the same operation once more.
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// A sparse matrix of expressions, row by row; structural zeros are not stored.
struct SparseExpressions {
  int rows = 0, columns = 0;
  std::vector<int> row_start{0};
  std::vector<int> column;
  std::vector<Node> entries;
};

/// d functions[i] / d variables[j]. `variables` are variable nodes of the graph.
SparseExpressions jacobian(Graph& graph, std::span<const Node> functions, std::span<const Node> variables);

/// The same as a matrix for Newton's method. Where a root is 0 its slope is a number so large that norm(v) has the
/// slope 0 where v is 0, as a drag -norm(v) v has; values of the functions themselves are not changed by this.
SparseExpressions newton_matrix(Graph& graph, std::span<const Node> functions, std::span<const Node> variables);

/// The dense gradient of one function, with constant zeros where it does not depend on a variable.
std::vector<Node> gradient(Graph& graph, Node function, std::span<const Node> variables);

/// For every node of the graph: does it depend on any of the variables?
std::vector<char> dependence(const Graph& graph, std::span<const Node> variables);

}  // namespace hinge
