#include "expression/derivative.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "expression/graph_library.hpp"
#include "expression/table.hpp"
#include "expression/time_rate.hpp"

namespace hinge {

namespace {

// Reverse sweeps over one graph; the work arrays are shared between the rows of a Jacobian.
class ReverseSweep {
 public:
  ReverseSweep(Graph& graph, std::span<const Node> variables, bool finite_roots = false)
      : graph_(graph), finite_roots_(finite_roots) {
    column_.assign(static_cast<std::size_t>(graph.size()), -1);
    for (std::size_t j = 0; j < variables.size(); ++j)
      column_[static_cast<std::size_t>(variables[j])] = static_cast<int>(j);
  }

  // Nonzero derivatives of `function` as (column, node), ordered by column.
  const std::vector<std::pair<int, Node>>& run(Node function) {
    result_.clear();
    mark_dependent(function);
    adjoint_.resize(static_cast<std::size_t>(graph_.size()), no_node);
    collect_cone(function);
    if (cone_.empty()) return result_;
    adjoint_[static_cast<std::size_t>(function)] = graph_.constant(1);
    order_cone(function);
    for (const Node node : cone_) {
      const Node w = std::exchange(adjoint_[static_cast<std::size_t>(node)], no_node);
      if (w == no_node || graph_.is_constant(w, 0)) continue;
      const Graph::Entry entry = graph_[node];  // a copy: the arena grows below
      if (const int column = column_of(node); column >= 0)
        result_.emplace_back(column, w);
      else
        propagate(node, entry, w);
    }
    std::sort(result_.begin(), result_.end());
    return result_;
  }

  // Does it depend on one of the variables?
  bool reaches(Node function) {
    mark_dependent(function);
    return depends(function);
  }

 private:
  // dependent_[n]: does node n depend on a wanted variable? Extended to new nodes when they are met.
  void mark_dependent(Node up_to) {
    const auto known = static_cast<Node>(dependent_.size());
    if (up_to < known) return;
    dependent_.resize(static_cast<std::size_t>(up_to) + 1, 0);
    char* const wanted = dependent_.data();
    const Graph::Entry* const entries = &graph_[0];
    for (Node n = known; n <= up_to; ++n) {
      const Graph::Entry& e = entries[n];
      if (e.op > Op::variable) {
        wanted[n] = static_cast<char>(wanted[e.a] | (e.b >= 0 ? wanted[e.b] : 0) | (e.c >= 0 ? wanted[e.c] : 0));
        if (wanted[n] != 0) continue;
      }
      wanted[n] = column_of(n) >= 0;
    }
  }

  int column_of(Node n) const {
    return static_cast<std::size_t>(n) < column_.size() ? column_[static_cast<std::size_t>(n)] : -1;
  }
  bool depends(Node n) const { return dependent_[static_cast<std::size_t>(n)] != 0; }

  void collect_cone(Node function) {
    cone_.clear();
    if (!depends(function)) return;
    visited_.resize(static_cast<std::size_t>(graph_.size()), 0);
    ++stamp_;
    stack_.assign(1, function);
    visited_[static_cast<std::size_t>(function)] = stamp_;
    while (!stack_.empty()) {
      const Node n = stack_.back();
      stack_.pop_back();
      cone_.push_back(n);
      if (column_of(n) >= 0) continue;
      const Graph::Entry& e = graph_[n];
      const Node operands[] = {e.a, e.b, e.c};
      for (int k = 0; k < arity(e.op); ++k) {
        auto& seen = visited_[static_cast<std::size_t>(operands[k])];
        if (seen != stamp_ && depends(operands[k])) {
          seen = stamp_;
          stack_.push_back(operands[k]);
        }
      }
    }
  }

  // From the last node to the first. A cone that is a good part of all nodes below is read off their stamps.
  void order_cone(Node function) {
    constexpr std::size_t nodes_per_comparison = 16;
    const Node first = *std::min_element(cone_.begin(), cone_.end());
    if (static_cast<std::size_t>(function - first) > nodes_per_comparison * cone_.size() || cone_.size() < 64) {
      std::sort(cone_.begin(), cone_.end(), std::greater<>());
      return;
    }
    cone_.clear();
    for (Node n = function; n >= first; --n)
      if (visited_[static_cast<std::size_t>(n)] == stamp_) cone_.push_back(n);
  }

  void give(Node operand, Node contribution) {
    if (!depends(operand)) return;
    Node& w = adjoint_[static_cast<std::size_t>(operand)];
    if (w == no_node)
      w = contribution;
    else if (graph_[operand].op != Op::variable && graph_.switched(w) && graph_.switched(contribution))
      w = add_switched(w, contribution);
    else
      w = graph_.add(w, contribution);
  }

  // The sum of two adjoints that conditions can switch off is off where both are: there the operand's own derivative
  // may be infinite, and must not be multiplied by 0.
  Node add_switched(Node x, Node y) {
    Graph& g = graph_;
    const Graph::Entry s = g[x], r = g[y];
    if (s.a == r.a) return g.make(Op::select, s.a, g.add(s.b, r.b), g.add(s.c, r.c));
    const auto is_on = [&g](const Graph::Entry& e) {
      return g.is_constant(e.c, 0) ? e.a : g.make(Op::logical_not, e.a);
    };
    return g.make(Op::select, g.make(Op::logical_or, is_on(s), is_on(r)), g.add(x, y), g.constant(0));
  }

  // What the slope of a length is divided by: the length n itself.
  Node divisor(Node n) {
    constexpr double least = 1e-150;  // its square is a number, too
    return finite_roots_ ? graph_.make(Op::max, n, graph_.constant(least)) : n;
  }

  // The slope of a root, or of a power below 1, of what is 0 is left out. A huge one would make any increment of an
  // iteration next to nothing, as if it had been solved; so its first step goes on to where there is a slope.
  Node slope_beside_zero(Node a, Node slope) {
    Graph& g = graph_;
    const Node zero = g.constant(0);
    return finite_roots_ ? g.make(Op::select, g.make(Op::equal, a, zero), zero, slope) : slope;
  }

  bool is_root(Node exponent) const {
    return graph_.is_constant(exponent) && graph_.passes([](double x) { return x > 0 && x < 1; }, exponent);
  }

  void propagate(Node n, const Graph::Entry& e, Node w) {
    Graph& g = graph_;
    const Node a = e.a, b = e.b, c = e.c;
    const auto number = [&g](double x) { return g.constant(x); };
    const auto times = [&g](Node x, Node y) { return g.multiply(x, y); };
    switch (e.op) {
      case Op::negate: give(a, g.negate(w)); break;
      case Op::sin: give(a, times(w, g.make(Op::cos, a))); break;
      case Op::cos: give(a, g.negate(times(w, g.make(Op::sin, a)))); break;
      case Op::tan: give(a, times(w, g.add(number(1), times(n, n)))); break;
      case Op::asin: give(a, g.divide(w, g.make(Op::sqrt, g.subtract(number(1), times(a, a))))); break;
      case Op::acos: give(a, g.negate(g.divide(w, g.make(Op::sqrt, g.subtract(number(1), times(a, a)))))); break;
      case Op::atan: give(a, g.divide(w, g.add(number(1), times(a, a)))); break;
      case Op::sinh: give(a, times(w, g.make(Op::cosh, a))); break;
      case Op::cosh: give(a, times(w, g.make(Op::sinh, a))); break;
      case Op::tanh: give(a, times(w, g.subtract(number(1), times(n, n)))); break;
      case Op::exp: give(a, times(w, n)); break;
      case Op::log: give(a, g.divide(w, a)); break;
      case Op::sqrt: give(a, slope_beside_zero(a, g.divide(times(number(0.5), w), n))); break;
      case Op::abs: give(a, times(w, g.make(Op::sign, a))); break;
      case Op::add:
        give(a, w);
        give(b, w);
        break;
      case Op::subtract:
        give(a, w);
        if (depends(b)) give(b, g.negate(w));
        break;
      case Op::multiply:  // what nobody asks for is not made
        if (depends(a)) give(a, times(w, b));
        if (depends(b)) give(b, times(w, a));
        break;
      case Op::divide:
        if (depends(a)) give(a, g.divide(w, b));
        if (depends(b)) give(b, g.negate(g.divide(times(w, n), b)));
        break;
      case Op::power:
        if (const Node slope = times(w, times(b, g.power(a, g.subtract(b, number(1))))); is_root(b))
          give(a, slope_beside_zero(a, slope));
        else
          give(a, slope);
        if (depends(b)) give(b, times(w, times(n, g.make(Op::log, a))));
        break;
      case Op::atan2: {  // atan2(a, b): da = b / (a^2 + b^2), db = -a / (a^2 + b^2)
        const Node square = g.add(times(a, a), times(b, b));
        give(a, g.divide(times(w, b), square));
        give(b, g.negate(g.divide(times(w, a), square)));
        break;
      }
      case Op::hypot:
        give(a, g.divide(times(w, a), divisor(n)));
        give(b, g.divide(times(w, b), divisor(n)));
        break;
      case Op::min:
      case Op::max: {
        const Node takes_b = e.op == Op::min ? g.make(Op::less, b, a) : g.make(Op::less, a, b);
        give(a, g.make(Op::select, takes_b, number(0), w));
        give(b, g.make(Op::select, takes_b, w, number(0)));
        break;
      }
      case Op::select:
        give(b, g.make(Op::select, a, w, number(0)));
        give(c, g.make(Op::select, a, number(0), w));
        break;
      case Op::table:
        if (const auto& slope = g.table(e)->derivative()) give(a, times(w, g.table(slope, a)));
        break;
      // piecewise constant: derivative zero wherever there is one
      case Op::sign:
      case Op::logical_not:
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
      case Op::logical_and:
      case Op::logical_or:
      case Op::constant:
      case Op::variable: break;
    }
  }

  Graph& graph_;
  bool finite_roots_;
  std::vector<int> column_;      // by node: column in the result, or -1
  std::vector<char> dependent_;  // by node
  std::vector<Node> adjoint_;    // by node; no_node where nothing has arrived
  std::vector<int> visited_;     // by node: stamp of the last cone it was in
  std::vector<Node> cone_, stack_;
  std::vector<std::pair<int, Node>> result_;
  int stamp_ = 0;
};

}  // namespace

namespace {

SparseExpressions derivatives(ReverseSweep& sweep, std::span<const Node> functions, std::span<const Node> variables) {
  SparseExpressions result;
  result.rows = static_cast<int>(functions.size());
  result.columns = static_cast<int>(variables.size());
  for (const Node function : functions) {
    for (const auto& [column, entry] : sweep.run(function)) {
      result.column.push_back(column);
      result.entries.push_back(entry);
    }
    result.row_start.push_back(static_cast<int>(result.entries.size()));
  }
  return result;
}

}  // namespace

namespace {

using Making = GraphLibrary::Making;

SparseExpressions matrix(Making making, Graph& graph, std::span<const Node> functions,
                         std::span<const Node> variables) {
  const std::vector<int> made =
      GraphLibrary::once(graph, GraphLibrary::Key(making).with(functions).with(variables), [&] {
        ReverseSweep sweep(graph, variables, making == Making::newton_matrix);
        SparseExpressions d = derivatives(sweep, functions, variables);
        std::vector<int> all = std::move(d.row_start);
        all.insert(all.end(), d.column.begin(), d.column.end());
        all.insert(all.end(), d.entries.begin(), d.entries.end());
        return all;
      });
  const auto column = made.begin() + std::ssize(functions) + 1, entry = column + (made.end() - column) / 2;
  return {static_cast<int>(functions.size()),
          static_cast<int>(variables.size()),
          {made.begin(), column},
          {column, entry},
          {entry, made.end()}};
}

}  // namespace

SparseExpressions jacobian(Graph& graph, std::span<const Node> functions, std::span<const Node> variables) {
  return matrix(Making::jacobian, graph, functions, variables);
}

SparseExpressions newton_matrix(Graph& graph, std::span<const Node> functions, std::span<const Node> variables) {
  return matrix(Making::newton_matrix, graph, functions, variables);
}

std::vector<Node> gradient(Graph& graph, Node function, std::span<const Node> variables) {
  return GraphLibrary::once(graph, GraphLibrary::Key(Making::gradient).with(std::span(&function, 1)).with(variables),
                            [&] {
                              std::vector<Node> result(variables.size(), graph.constant(0));
                              ReverseSweep sweep(graph, variables);
                              for (const auto& [column, entry] : sweep.run(function))
                                result[static_cast<std::size_t>(column)] = entry;
                              return result;
                            });
}

struct TimeRate::Sweeps {
  Graph& graph;
  std::vector<Node> v;
  std::unordered_map<Node, Node> direct;
  ReverseSweep by_y, by_t, by_moving;
};

TimeRate::TimeRate(Graph& graph, Node t, const std::vector<Node>& y, std::vector<Node> v,
                   std::span<const Node> moving) {
  std::unordered_map<Node, Node> direct;
  for (std::size_t k = 0; k < y.size(); ++k) direct.emplace(y[k], v[k]);
  sweeps_ = std::make_shared<Sweeps>(Sweeps{graph, std::move(v), std::move(direct), ReverseSweep(graph, y),
                                            ReverseSweep(graph, std::span(&t, 1)), ReverseSweep(graph, moving)});
}

bool TimeRate::depends_on_moving(Node e) { return sweeps_->by_moving.reaches(e); }

Node TimeRate::operator()(Node e) {
  Sweeps& s = *sweeps_;
  if (const auto at = s.direct.find(e); at != s.direct.end()) return at->second;
  const std::vector<std::pair<int, Node>> by_y = s.by_y.run(e), by_t = s.by_t.run(e);
  Node sum = s.graph.constant(0);
  for (const auto& [column, entry] : by_y)
    sum = s.graph.add(sum, s.graph.multiply(entry, s.v[static_cast<std::size_t>(column)]));
  for (const auto& [column, entry] : by_t) sum = s.graph.add(sum, entry);
  return sum;
}

std::vector<char> dependence(const Graph& graph, std::span<const Node> variables) {
  std::vector<char> depends(static_cast<std::size_t>(graph.size()), 0);
  for (const Node v : variables) depends[static_cast<std::size_t>(v)] = 1;
  char* const by = depends.data();
  const Graph::Entry* const entries = &graph[0];
  for (Node n = 0, end = graph.size(); n < end; ++n) {
    const Graph::Entry& e = entries[n];
    if (e.op <= Op::variable) continue;
    by[n] = static_cast<char>(by[n] | by[e.a] | (e.b >= 0 ? by[e.b] : 0) | (e.c >= 0 ? by[e.c] : 0));
  }
  return depends;
}

}  // namespace hinge
