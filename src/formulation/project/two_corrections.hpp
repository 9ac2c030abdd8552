// Back onto the constraints by two corrections d1, d2 with one matrix, of the point where they begin. From d1 to d2 an
// error shrinks by |d2|/|d1|, and so it will once more: what is left after d2 is about |d2|^2/|d1|. Two corrections are
// enough where that is rounding, with a margin for a contraction that was seen once; where d2 itself is; or where both
// are. Sizes are sums of absolute values. Said twice: for numbers, and for expressions that machine code is made of.
#pragma once

#include <cmath>
#include <span>

#include "expression/graph.hpp"

namespace hinge::two_corrections {

inline constexpr double nearby = 1e-5;     // of x: after a larger first correction the matrix is that of another point
inline constexpr double rounding = 4e-16;  // of x
inline constexpr double stagnation = 1e-12;  // of x: a correction that does not shrink any more is rounding, too
inline constexpr double margin = 30;

inline double size(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::abs(x[i]);
  return sum;
}

inline bool are_enough(double first, double second, double x) {
  if (!(first <= nearby * x)) return false;
  return margin * (second * second) <= rounding * (x * first) || second <= rounding * x ||
         (second <= stagnation * x && first <= 2 * second);
}

inline Node size(Graph& graph, std::span<const Node> x) {
  Node sum = graph.constant(0);
  for (const Node n : x) sum = graph.add(sum, graph.make(Op::abs, n));
  return sum;
}

inline Node are_enough(Graph& graph, Node first, Node second, Node x) {
  const auto at_most = [&](Node a, Node b) { return graph.make(Op::less_equal, a, b); };
  const auto times = [&](double factor, Node a) { return graph.multiply(graph.constant(factor), a); };
  const auto either = [&](Node a, Node b) { return graph.make(Op::logical_or, a, b); };
  const Node shrinks =
      at_most(times(margin, graph.multiply(second, second)), times(rounding, graph.multiply(x, first)));
  const Node stays = graph.multiply(at_most(second, times(stagnation, x)), at_most(first, times(2, second)));
  return graph.multiply(at_most(first, times(nearby, x)),
                        either(shrinks, either(at_most(second, times(rounding, x)), stays)));
}

}  // namespace hinge::two_corrections
