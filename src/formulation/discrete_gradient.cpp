#include "formulation/discrete_gradient.hpp"

#include <limits>
#include <map>

#include <fmt/format.h>

#include "expression/polynomial.hpp"
#include "expression/substitute.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

// Gauss' five points between -1 and 1, but the one in the middle: half their weights, and the weights that three of
// them need to be right for cubic functions.
constexpr struct {
  double at, weight, low_weight;
} gauss[] = {{0.5384693101056831, 0.23931433524968324, 0.57481333922979460},
             {0.9061798459386640, 0.11846344252809454, 0}};
// The integral is used where its points are close enough: the two rules differ by less than this, relative to f and its
// change. For smooth f the better rule, exact to degree nine, is then off by less than a rounding of f. (A constant
// error of the same sign would make the energy drift.)
constexpr double rules_differ = 5e-8;
// And it must agree with the difference to this many roundings of the latter.
constexpr double roundings = 16;
// Squared changes below this underflow. Larger ones are taken as they are, however small beside the arguments: one
// argument may be large and hardly move, while others are small and do.
constexpr double no_change = 1e-280;

Node sum_of_sizes(Graph& graph, std::span<const Node> a, std::span<const Node> b) {
  Node sum = graph.constant(0);
  for (std::size_t k = 0; k < a.size(); ++k) sum = graph.add(sum, graph.make(Op::abs, graph.multiply(a[k], b[k])));
  return sum;
}

// a/b, or 0 where b underflows.
Node quotient_or_zero(Graph& graph, Node a, Node b) {
  const Node tiny = graph.make(Op::less, b, graph.constant(no_change));
  return graph.make(Op::select, tiny, graph.constant(0),
                    graph.divide(a, graph.make(Op::select, tiny, graph.constant(1), b)));
}

// ddF(pi0, pi1), from pi0 and the change.
std::vector<Node> mean_derivative(Graph& source, Node function, const std::vector<Node>& parts,
                                  const std::vector<Node>& pi0, const std::vector<Node>& change, Graph& graph) {
  const Remainder r = remainder(source, function, parts, pi0, change, graph);
  if (parts.size() == 1) {  // the mean of F', or the quotient of differences
    const Node nothing = graph.make(Op::equal, change[0], graph.constant(0));
    const Node quotient = graph.divide(r.difference, graph.make(Op::select, nothing, graph.constant(1), change[0]));
    return {graph.add(r.slope[0], graph.make(Op::select, r.integral_serves, r.mean_slope[0], quotient))};
  }
  // What Gauss' points have missed of the difference, given to each argument by its share in it, (slope change)^2; to
  // all alike where F is flat at these points.
  const Node missed = graph.make(Op::select, r.integral_serves, graph.constant(0),
                                 graph.subtract(r.difference, dot_product(graph, r.mean_slope, change)));
  Node weighted = graph.constant(0);
  for (std::size_t k = 0; k < parts.size(); ++k)
    weighted = graph.add(weighted, graph.multiply(r.square_slope[k], graph.multiply(change[k], change[k])));
  const Node flat = graph.make(Op::less, weighted, graph.constant(no_change));
  const Node by_slope = quotient_or_zero(graph, missed, weighted);
  const Node alike = quotient_or_zero(graph, missed, dot_product(graph, change, change));
  std::vector<Node> result;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Node share = graph.make(Op::select, flat, alike, graph.multiply(by_slope, r.square_slope[k]));
    result.push_back(graph.add(graph.add(r.slope[k], r.mean_slope[k]), graph.multiply(share, change[k])));
  }
  return result;
}

}  // namespace

StateIncrement::StateIncrement(Graph& g, std::vector<Node> start, std::vector<Node> increment)
    : graph(g), q0(std::move(start)), u(std::move(increment)) {
  for (std::size_t k = 0; k < q0.size(); ++k)
    middle.push_back(graph.add(q0[k], graph.multiply(graph.constant(0.5), u[k])));
}

Remainder remainder(Graph& source, Node function, std::span<const Node> arguments, std::span<const Node> start,
                    std::span<const Node> change, Graph& graph) {
  std::vector<Node> s, end;
  Graph own;                              // of f and Df
  const auto along = [&](double share) {  // -1 is the start and 1 the end
    std::vector<Node> point;
    for (std::size_t k = 0; k < start.size(); ++k)
      point.push_back(graph.add(start[k], graph.multiply(graph.constant(0.5 + 0.5 * share), change[k])));
    return point;
  };
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    s.push_back(own.variable(fmt::format("pi{}", k)));
    end.push_back(graph.add(start[k], change[k]));
  }
  const std::vector<Node> f = substitute(source, std::vector{function}, arguments, s, own);
  const std::vector<Node> df = gradient(own, f[0], s);
  Remainder r;
  r.slope = substitute(own, df, s, along(0), graph);
  r.mean_slope.assign(s.size(), graph.constant(0));
  for (const Node slope : r.slope) r.square_slope.push_back(graph.multiply(slope, slope));
  std::vector<Node> low = r.mean_slope;
  const auto accumulate = [&](Node& sum, double weight, Node value) {
    sum = graph.add(sum, graph.multiply(graph.constant(weight), value));
  };
  for (const auto& point : gauss)
    for (const double side : {-1.0, 1.0}) {
      const std::vector<Node> there = substitute(own, df, s, along(side * point.at), graph);
      for (std::size_t k = 0; k < s.size(); ++k) {
        const Node more = graph.subtract(there[k], r.slope[k]);
        r.square_slope[k] = graph.add(r.square_slope[k], graph.multiply(there[k], there[k]));
        accumulate(r.mean_slope[k], point.weight, more);
        accumulate(low[k], point.low_weight, more);
      }
    }
  const Node integral = dot_product(graph, r.mean_slope, change);
  const Node f0 = substitute(own, f, s, start, graph)[0];
  const Node f1 = substitute(own, f, s, end, graph)[0];
  r.difference = graph.subtract(graph.subtract(f1, f0), dot_product(graph, r.slope, change));
  const Node size =
      graph.add(graph.add(graph.make(Op::abs, f0), graph.make(Op::abs, f1)), sum_of_sizes(graph, r.slope, change));
  const Node rounded = graph.add(size, sum_of_sizes(graph, r.slope, start));  // arguments are rounded as well
  const auto within = [&](Node a, Node b, double share, Node scale) {
    return graph.make(Op::less_equal, graph.make(Op::abs, graph.subtract(a, b)),
                      graph.multiply(graph.constant(share), scale));
  };
  r.integral_serves =
      graph.make(Op::logical_and, within(integral, dot_product(graph, low, change), rules_differ, size),
                 within(integral, r.difference, roundings * std::numeric_limits<double>::epsilon(), rounded));
  r.value = graph.make(Op::select, r.integral_serves, integral, r.difference);
  return r;
}

namespace {

// hypot(a, b) of linear a and b is sqrt(a^2 + b^2), which contains a quadratic function.
std::vector<Node> with_squares_of_hypot(Graph& source, std::span<const Node> functions, std::span<const Node> q) {
  const std::vector<int> degree = polynomial_degree(source, q);
  const auto linear = [&](Node n) { return degree[static_cast<std::size_t>(n)] < 2; };
  std::vector<Node> found, images;
  for (Node n = 0, end = source.size(); n < end; ++n)
    if (const Graph::Entry e = source[n]; e.op == Op::hypot && linear(e.a) && linear(e.b)) {
      found.push_back(n);
      images.push_back(source.make(Op::sqrt, source.add(source.multiply(e.a, e.a), source.multiply(e.b, e.b))));
    }
  if (found.empty()) return {functions.begin(), functions.end()};
  return substitute(source, functions, found, images, source);
}

}  // namespace

std::vector<InvariantForm> invariant_forms(Graph& source, std::span<const Node> functions, std::span<const Node> q,
                                           std::span<const Node> chosen) {
  const std::vector<Node> written = with_squares_of_hypot(source, functions, q);
  std::vector<int> degree = polynomial_degree(source, q);
  if (!chosen.empty()) {
    // What contains a chosen invariant properly is not taken as one part.
    const std::vector<char> contains = dependence(source, chosen);
    for (std::size_t n = 0; n < degree.size(); ++n)
      if (contains[n] && degree[n] > 0) degree[n] = not_quadratic;
    for (const Node n : chosen) degree[static_cast<std::size_t>(n)] = 2;
  }
  std::vector<InvariantForm> forms;
  for (const Node f : written) {
    InvariantForm& form = forms.emplace_back();
    const SplitSum sum = split_sum(source, f, degree);
    for (const Term& t : sum.quadratic) form.quadratic.push_back(source.multiply(source.constant(t.factor), t.node));
    for (const Term& t : sum.others)
      form.composed.push_back({t.factor, t.node, quadratic_parts(source, t.node, degree)});
  }
  return forms;
}

SparseExpressions discrete_gradients(Graph& source, std::span<const InvariantForm> forms, std::span<const Node> q,
                                     StateIncrement& step) {
  Graph& graph = step.graph;
  // The quadratic terms of each function, then the parts of all others: differentiated and moved in one go.
  std::vector<Node> functions, parts;
  for (const InvariantForm& form : forms) {
    Node sum = source.constant(0);
    for (const Node n : form.quadratic) sum = source.add(sum, n);
    functions.push_back(sum);
    for (const InvariantForm::Composed& term : form.composed)
      parts.insert(parts.end(), term.parts.begin(), term.parts.end());
  }
  functions.insert(functions.end(), parts.begin(), parts.end());
  const SparseExpressions slopes = jacobian(source, functions, q);
  const std::vector<Node> at_middle = substitute(source, slopes.entries, q, step.middle, graph);
  const std::vector<Node> all_pi0 = substitute(source, parts, q, step.q0, graph);
  const auto each_slope = [&](std::size_t row, auto&& take) {
    for (int k = slopes.row_start[row]; k < slopes.row_start[row + 1]; ++k)
      take(slopes.column[static_cast<std::size_t>(k)], at_middle[static_cast<std::size_t>(k)]);
  };

  SparseExpressions result;
  result.rows = static_cast<int>(forms.size());
  result.columns = static_cast<int>(q.size());
  std::size_t first_part = 0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    std::map<int, Node> row;
    const auto add = [&](int column, Node value) {
      const auto [at, is_new] = row.emplace(column, value);
      if (!is_new) at->second = graph.add(at->second, value);
    };
    each_slope(i, add);
    for (const InvariantForm::Composed& term : forms[i].composed) {
      const std::size_t first_row = forms.size() + first_part;
      std::vector<Node> change;
      for (std::size_t k = 0; k < term.parts.size(); ++k) {
        Node sum = graph.constant(0);
        each_slope(first_row + k, [&](int column, Node value) {
          sum = graph.add(sum, graph.multiply(value, step.u[static_cast<std::size_t>(column)]));
        });
        change.push_back(sum);
      }
      const std::vector<Node> pi0(all_pi0.begin() + static_cast<std::ptrdiff_t>(first_part),
                                  all_pi0.begin() + static_cast<std::ptrdiff_t>(first_part + term.parts.size()));
      const std::vector<Node> dd_f = mean_derivative(source, term.function, term.parts, pi0, change, graph);
      for (std::size_t k = 0; k < term.parts.size(); ++k) {
        const Node weight = graph.multiply(graph.constant(term.factor), dd_f[k]);
        each_slope(first_row + k, [&](int column, Node value) { add(column, graph.multiply(weight, value)); });
      }
      first_part += term.parts.size();
    }
    for (const auto& [column, value] : row) {
      result.column.push_back(column);
      result.entries.push_back(value);
    }
    result.row_start.push_back(static_cast<int>(result.entries.size()));
  }
  return result;
}

}  // namespace hinge
