#include "expression/polynomial.hpp"

#include <algorithm>
#include <set>

namespace hinge {

std::vector<int> polynomial_degree(const Graph& graph, std::span<const Node> variables) {
  std::vector<int> degree(static_cast<std::size_t>(graph.size()), 0);
  for (const Node v : variables) degree[static_cast<std::size_t>(v)] = 1;
  const auto of = [&](Node n) { return degree[static_cast<std::size_t>(n)]; };
  for (Node n = 0; n < graph.size(); ++n) {
    const Graph::Entry& e = graph[n];
    int d = of(n);
    switch (e.op) {
      case Op::constant:
      case Op::variable: break;
      case Op::negate: d = of(e.a); break;
      case Op::add:
      case Op::subtract: d = std::max(of(e.a), of(e.b)); break;
      case Op::multiply: d = of(e.a) + of(e.b); break;
      case Op::divide: d = of(e.b) == 0 ? of(e.a) : not_quadratic; break;
      case Op::select: d = of(e.a) == 0 ? std::max(of(e.b), of(e.c)) : not_quadratic; break;
      default: {
        const Node operands[] = {e.a, e.b, e.c};
        for (int k = 0; k < arity(e.op); ++k)
          if (of(operands[k]) > 0) d = not_quadratic;
      }
    }
    degree[static_cast<std::size_t>(n)] = std::min(d, not_quadratic);
  }
  return degree;
}

SplitSum split_sum(const Graph& graph, Node function, const std::vector<int>& degree) {
  SplitSum sum;
  std::vector<Term> stack = {{1.0, function}};
  while (!stack.empty()) {
    const Term t = stack.back();
    stack.pop_back();
    const Graph::Entry& e = graph[t.node];
    if (degree[static_cast<std::size_t>(t.node)] < not_quadratic) {
      sum.quadratic.push_back(t);
    } else if (e.op == Op::add || e.op == Op::subtract) {
      stack.push_back({e.op == Op::add ? t.factor : -t.factor, e.b});
      stack.push_back({t.factor, e.a});
    } else if (e.op == Op::negate) {
      stack.push_back({-t.factor, e.a});
    } else if (e.op == Op::multiply && graph.is_constant(e.a)) {
      stack.push_back({t.factor * graph.value(e.a), e.b});
    } else if (e.op == Op::multiply && graph.is_constant(e.b)) {
      stack.push_back({t.factor * graph.value(e.b), e.a});
    } else if (e.op == Op::divide && graph.is_constant(e.b)) {
      stack.push_back({t.factor / graph.value(e.b), e.a});
    } else {
      sum.others.push_back(t);
    }
  }
  return sum;
}

std::vector<Node> quadratic_parts(const Graph& graph, Node function, const std::vector<int>& degree) {
  std::set<Node> seen, parts;
  std::vector<Node> stack = {function};
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    const int d = degree[static_cast<std::size_t>(n)];
    if (d == 0 || !seen.insert(n).second) continue;
    if (d < not_quadratic) {
      parts.insert(n);
      continue;
    }
    const Graph::Entry& e = graph[n];
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < arity(e.op); ++k) stack.push_back(operands[k]);
  }
  return {parts.begin(), parts.end()};
}

}  // namespace hinge
