// Which parts of an expression are polynomials of degree at most two?
#pragma once

#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// For every node its degree as a polynomial in the variables: 0, 1, 2, or `not_quadratic` where it is of a higher
/// degree or no polynomial.
inline constexpr int not_quadratic = 3;
std::vector<int> polynomial_degree(const Graph& graph, std::span<const Node> variables);

/// One term of a sum: factor * node.
struct Term {
  double factor;
  Node node;
};

/// A function as a sum of terms: `quadratic` are of degree at most two, `others` are not and cannot be split further.
struct SplitSum {
  std::vector<Term> quadratic, others;
};
SplitSum split_sum(const Graph& graph, Node function, const std::vector<int>& degree);

/// The largest sub-expressions of degree one or two that a function is made of: f = F(pi_1, pi_2, ...).
std::vector<Node> quadratic_parts(const Graph& graph, Node function, const std::vector<int>& degree);

}  // namespace hinge
