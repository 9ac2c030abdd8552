#include "formulation/discrete_gradient.hpp"

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "expression/polynomial.hpp"
#include "expression/substitute.hpp"

namespace hinge {

namespace {

// Changes of the invariants smaller than this (relative) make the bracket of (19) smaller than its own rounding: it is
// of third order in them.
constexpr double smallest_change = 2e-5;

Node sum_of_products(Graph& graph, std::span<const Node> a, std::span<const Node> b) {
  Node sum = graph.constant(0);
  for (std::size_t k = 0; k < a.size(); ++k) sum = graph.add(sum, graph.multiply(a[k], b[k]));
  return sum;
}

// ddF(pi0, pi1) by (19), from pi0 and the change.
std::vector<Node> gonzalez(Graph& source, Node function, const std::vector<Node>& parts, const std::vector<Node>& pi0,
                           const std::vector<Node>& change, Graph& graph) {
  std::vector<Node> s, middle, end;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    s.push_back(graph.variable(fmt::format("pi{}", graph.variable_count())));
    middle.push_back(graph.add(pi0[k], graph.multiply(graph.constant(0.5), change[k])));
    end.push_back(graph.add(pi0[k], change[k]));
  }
  const Node f = substitute(source, std::vector{function}, parts, s, graph)[0];
  const std::vector<Node> slope = substitute(graph, gradient(graph, f, s), s, middle, graph);
  const Node f0 = substitute(graph, std::vector{f}, s, pi0, graph)[0];
  const Node f1 = substitute(graph, std::vector{f}, s, end, graph)[0];
  const Node bracket = graph.subtract(graph.subtract(f1, f0), sum_of_products(graph, slope, change));
  const Node size = sum_of_products(graph, change, change);
  const Node limit = graph.multiply(graph.constant(smallest_change * smallest_change),
                                    graph.add(sum_of_products(graph, middle, middle), graph.constant(1e-290)));
  const Node tiny = graph.make(Op::less, size, limit);
  const Node share = graph.make(Op::select, tiny, graph.constant(0),
                                graph.divide(bracket, graph.make(Op::select, tiny, graph.constant(1), size)));
  std::vector<Node> result;
  for (std::size_t k = 0; k < parts.size(); ++k)
    result.push_back(graph.add(slope[k], graph.multiply(share, change[k])));
  return result;
}

}  // namespace

Increment::Increment(Graph& g, std::vector<Node> start, std::vector<Node> increment)
    : graph(g), q0(std::move(start)), u(std::move(increment)) {
  for (std::size_t k = 0; k < q0.size(); ++k)
    middle.push_back(graph.add(q0[k], graph.multiply(graph.constant(0.5), u[k])));
}

InvariantForm invariant_form(Graph& source, Node function, std::span<const Node> q, std::span<const Node> chosen) {
  std::vector<int> degree = polynomial_degree(source, q);
  if (!chosen.empty()) {
    // What contains a chosen invariant properly is not taken as one part.
    const std::vector<char> contains = dependence_on_nodes(source, chosen);
    for (std::size_t n = 0; n < degree.size(); ++n)
      if (contains[n] && degree[n] > 0) degree[n] = not_quadratic;
    for (const Node n : chosen) degree[static_cast<std::size_t>(n)] = 2;
  }
  InvariantForm form;
  const SplitSum sum = split_sum(source, function, degree);
  for (const Term& t : sum.quadratic) form.quadratic.push_back(source.multiply(source.constant(t.factor), t.node));
  for (const Term& t : sum.others) form.composed.push_back({t.factor, t.node, quadratic_parts(source, t.node, degree)});
  return form;
}

std::vector<Node> discrete_gradient(Graph& source, const InvariantForm& form, std::span<const Node> q,
                                    Increment& step) {
  Graph& graph = step.graph;
  Node quadratic = source.constant(0);
  for (const Node n : form.quadratic) quadratic = source.add(quadratic, n);
  std::vector<Node> dd = substitute(source, gradient(source, quadratic, q), q, step.middle, graph);
  for (const InvariantForm::Composed& term : form.composed) {
    const SparseExpressions slopes = jacobian(source, term.parts, q);
    const std::vector<Node> at_middle = substitute(source, slopes.entries, q, step.middle, graph);
    const std::vector<Node> pi0 = substitute(source, term.parts, q, step.q0, graph);
    const auto column = [&](int k) { return static_cast<std::size_t>(slopes.column[static_cast<std::size_t>(k)]); };
    std::vector<Node> change;
    for (std::size_t i = 0; i < term.parts.size(); ++i) {
      Node sum = graph.constant(0);
      for (int k = slopes.row_start[i]; k < slopes.row_start[i + 1]; ++k)
        sum = graph.add(sum, graph.multiply(at_middle[static_cast<std::size_t>(k)], step.u[column(k)]));
      change.push_back(sum);
    }
    const std::vector<Node> dd_f = gonzalez(source, term.function, term.parts, pi0, change, graph);
    for (std::size_t i = 0; i < term.parts.size(); ++i) {
      const Node weight = graph.multiply(graph.constant(term.factor), dd_f[i]);
      for (int k = slopes.row_start[i]; k < slopes.row_start[i + 1]; ++k)
        dd[column(k)] = graph.add(dd[column(k)], graph.multiply(weight, at_middle[static_cast<std::size_t>(k)]));
    }
  }
  return dd;
}

}  // namespace hinge
