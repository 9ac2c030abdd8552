#include "expression/integral.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "expression/derivative.hpp"
#include "expression/substitute.hpp"

namespace hinge {

namespace {

constexpr int deepest = 12;  // of parts within parts
constexpr std::size_t most_pieces = 256;
constexpr double infinity = std::numeric_limits<double>::infinity();

// What changes at a root of a - b, or of a where there is one operand.
bool is_switch(Op op) {
  return op == Op::min || op == Op::max || op == Op::abs || op == Op::sign || op == Op::less || op == Op::less_equal;
}

class Integration {
 public:
  Integration(Graph& graph, Node t) : graph_(graph), t_(t) {}

  std::optional<Node> of(Node f, int depth) {
    if (depth > deepest) return {};
    if (!depends(f)) return graph_.multiply(f, t_);
    if (f == t_) return scaled(graph_.multiply(t_, t_), 0.5);
    const Graph::Entry e = graph_[f];  // a copy: the arena grows
    switch (e.op) {
      case Op::negate: return mapped(of(e.a, depth + 1), [&](Node a) { return graph_.negate(a); });
      case Op::add:
      case Op::subtract: {
        const auto a = of(e.a, depth + 1), b = of(e.b, depth + 1);
        if (!a || !b) return {};
        return graph_.make(e.op, *a, *b);
      }
      case Op::multiply: return of_product(e.a, e.b, depth);
      case Op::divide:
        if (!depends(e.b)) return mapped(of(e.a, depth + 1), [&](Node a) { return graph_.divide(a, e.b); });
        if (!depends(e.a))
          if (const auto slope = slope_of(e.b)) return graph_.divide(graph_.multiply(e.a, log_of(e.b)), *slope);
        return {};
      case Op::select: return of_choice(e, depth);
      case Op::min:
      case Op::max: {
        const Node condition = graph_.make(Op::less, e.a, e.b);
        const bool least = e.op == Op::min;
        return of(graph_.make(Op::select, condition, least ? e.a : e.b, least ? e.b : e.a), depth + 1);
      }
      default: return of_linear(e);
    }
  }

  // Pieces between the places where something in f changes, one after the other:  sum F_k(min(max(t, c_k), c_k+1))
  std::optional<Node> of_pieces(Node f) {
    std::vector<Piece> pieces;
    if (!take_apart(f, -infinity, infinity, pieces)) return {};
    Node sum = graph_.constant(0);
    for (const Piece& piece : pieces) {
      Node at = t_;
      if (piece.from > -infinity) at = graph_.make(Op::max, at, graph_.constant(piece.from));
      if (piece.to < infinity) at = graph_.make(Op::min, at, graph_.constant(piece.to));
      sum = graph_.add(sum, with(piece.integral, t_, at));
    }
    return sum;
  }

 private:
  struct Piece {
    double from, to;
    Node integral;
  };

  bool take_apart(Node f, double from, double to, std::vector<Piece>& pieces) {
    const Node at = first_switch(f);
    if (at == no_node) {
      const auto F = of(f, 0);
      if (F) pieces.push_back({from, to, *F});
      return F && pieces.size() <= most_pieces;
    }
    const Graph::Entry e = graph_[at];
    const Node root = arity(e.op) == 1 ? e.a : graph_.subtract(e.a, e.b);
    const auto slope = slope_of(root);
    if (!slope || !graph_.is_constant(*slope)) return false;
    const Node at_zero = with(root, t_, graph_.constant(0));
    if (!graph_.is_constant(at_zero)) return false;
    const double c = -graph_.value(at_zero) / graph_.value(*slope);
    const bool rises = graph_.value(*slope) > 0;
    const auto side = [&](bool before, double begin, double end) {
      return take_apart(with(f, at, side_of(e, before == rises)), begin, end, pieces);
    };
    if (c <= from) return side(false, from, to);
    if (c >= to) return side(true, from, to);
    return side(true, from, c) && side(false, c, to);
  }

  // What a switch is where its root is negative, or positive.
  Node side_of(const Graph::Entry& e, bool negative) {
    switch (e.op) {
      case Op::min: return negative ? e.a : e.b;
      case Op::max: return negative ? e.b : e.a;
      case Op::abs: return negative ? graph_.negate(e.a) : e.a;
      case Op::sign: return graph_.constant(negative ? -1 : 1);
      default: return graph_.constant(negative ? 1 : 0);
    }
  }

  // The first one in f: it has no others in it.
  Node first_switch(Node f) {
    const std::vector<char> by_t = dependence(graph_, std::span(&t_, 1));
    for (const Node n : cone_of(graph_, std::span(&f, 1)))
      if (by_t[static_cast<std::size_t>(n)] && is_switch(graph_[n].op)) return n;
    return no_node;
  }

  bool may_jump(Node u) const {
    for (const Node n : cone_of(graph_, std::span(&u, 1))) {
      const Op op = graph_[n].op;
      const bool jumps =
          op == Op::table || op == Op::sign || op == Op::logical_not || (op >= Op::less && op <= Op::select);
      if (jumps && depends(n)) return true;
    }
    return false;
  }

  Node with(Node f, Node replaced, Node image) {
    return substitute(graph_, std::span(&f, 1), std::span(&replaced, 1), std::span(&image, 1), graph_)[0];
  }

  bool depends(Node n) const { return dependence(graph_, std::span(&t_, 1))[static_cast<std::size_t>(n)]; }
  Node scaled(Node n, double by) { return graph_.multiply(graph_.constant(by), n); }
  Node log_of(Node n) { return graph_.make(Op::log, graph_.make(Op::abs, n)); }
  template <class F>
  static std::optional<Node> mapped(std::optional<Node> n, F f) {
    return n ? std::optional(f(*n)) : std::nullopt;
  }

  // Of a linear function of t; not zero. What jumps has a constant slope, too, and is none.
  std::optional<Node> slope_of(Node u) {
    if (may_jump(u)) return {};
    const Node slope = gradient(graph_, u, std::span(&t_, 1))[0];
    if (depends(slope) || graph_.is_constant(slope, 0)) return {};
    return slope;
  }

  // g(u) with u linear:  G(u)/u'
  std::optional<Node> of_linear(const Graph::Entry& e) {
    const Node u = e.a;
    const auto slope = arity(e.op) == 1 || !depends(e.b) ? slope_of(u) : std::nullopt;
    if (!slope) return {};
    const auto over = [&](Node n) { return graph_.divide(n, *slope); };
    switch (e.op) {
      case Op::sin: return over(graph_.negate(graph_.make(Op::cos, u)));
      case Op::cos: return over(graph_.make(Op::sin, u));
      case Op::exp: return over(graph_.make(Op::exp, u));
      case Op::sinh: return over(graph_.make(Op::cosh, u));
      case Op::cosh: return over(graph_.make(Op::sinh, u));
      case Op::tanh: return over(graph_.make(Op::log, graph_.make(Op::cosh, u)));
      case Op::sqrt: return over(scaled(graph_.multiply(u, graph_.make(Op::sqrt, u)), 2.0 / 3));
      case Op::abs: return over(scaled(graph_.multiply(u, graph_.make(Op::abs, u)), 0.5));
      case Op::sign: return over(graph_.make(Op::abs, u));
      case Op::power: {
        const Node next = graph_.add(e.b, graph_.constant(1));
        if (graph_.is_constant(next, 0)) return over(log_of(u));
        return over(graph_.divide(graph_.power(u, next), next));
      }
      default: return {};
    }
  }

  bool is_wave(Op op) const { return op == Op::sin || op == Op::cos; }

  std::optional<Node> of_product(Node a, Node b, int depth) {
    if (!depends(a)) return mapped(of(b, depth + 1), [&](Node n) { return graph_.multiply(a, n); });
    if (!depends(b)) return mapped(of(a, depth + 1), [&](Node n) { return graph_.multiply(b, n); });
    for (const auto& [one, other] : {std::pair{a, b}, {b, a}}) {  // constant factors, and signs, go in front
      const Graph::Entry e = graph_[one];
      if (e.op == Op::negate)
        return mapped(of(graph_.multiply(e.a, other), depth + 1), [&](Node n) { return graph_.negate(n); });
      if (e.op == Op::divide && !depends(e.b))
        return mapped(of(graph_.multiply(e.a, other), depth + 1),
                      [&, by = e.b](Node n) { return graph_.divide(n, by); });
      if (e.op == Op::multiply && !depends(e.a))
        return mapped(of(graph_.multiply(e.b, other), depth + 1),
                      [&, by = e.a](Node n) { return graph_.multiply(by, n); });
    }
    const Graph::Entry x = graph_[a], y = graph_[b];
    if (x.op == Op::exp && is_wave(y.op)) return of_damped_wave(a, b);
    if (y.op == Op::exp && is_wave(x.op)) return of_damped_wave(b, a);
    if (is_wave(x.op) && is_wave(y.op)) {  // as a sum
      const Node plus = graph_.add(x.a, y.a), minus = graph_.subtract(x.a, y.a);
      const auto wave = [&](Op op, Node u) { return graph_.make(op, u); };
      Node sum;
      if (x.op == y.op) {
        const Node p = wave(Op::cos, plus), m = wave(Op::cos, minus);
        sum = x.op == Op::sin ? graph_.subtract(m, p) : graph_.add(m, p);
      } else {
        const Node m = wave(Op::sin, minus);
        sum = x.op == Op::sin ? graph_.add(wave(Op::sin, plus), m) : graph_.subtract(wave(Op::sin, plus), m);
      }
      return of(scaled(sum, 0.5), depth + 1);
    }
    for (const auto& [sums, other] : {std::pair{a, b}, {b, a}}) {  // (p + q) r
      const Graph::Entry e = graph_[sums];
      if (e.op != Op::add && e.op != Op::subtract) continue;
      const auto p = of(graph_.multiply(e.a, other), depth + 1), q = of(graph_.multiply(e.b, other), depth + 1);
      if (p && q) return graph_.make(e.op, *p, *q);
    }
    for (const auto& [power, other] : {std::pair{a, b}, {b, a}}) {  // by parts: p g = (p G)' - p' G
      if (const auto whole = by_parts(power, other, depth)) return whole;
    }
    return {};
  }

  // exp(u) sin(w), u' = a, w' = b:  exp(u) (a sin(w) - b cos(w))/(a^2 + b^2);  of cos(w): (a cos(w) + b sin(w))
  std::optional<Node> of_damped_wave(Node exp, Node wave) {
    const Graph::Entry y = graph_[wave];
    const auto a = slope_of(graph_[exp].a), b = slope_of(y.a);
    if (!a || !b) return {};
    const Node sine = graph_.make(Op::sin, y.a), cosine = graph_.make(Op::cos, y.a);
    const Node turned = y.op == Op::sin ? graph_.subtract(graph_.multiply(*a, sine), graph_.multiply(*b, cosine))
                                        : graph_.add(graph_.multiply(*a, cosine), graph_.multiply(*b, sine));
    return graph_.divide(graph_.multiply(exp, turned), graph_.add(graph_.multiply(*a, *a), graph_.multiply(*b, *b)));
  }

  std::optional<Node> by_parts(Node p, Node g, int depth) {
    const Op op = graph_[g].op;
    if (p != t_ && graph_[p].op != Op::multiply) return {};
    if (!is_wave(op) && op != Op::exp && g != t_ && graph_[g].op != Op::multiply) return {};
    if (g == t_ && p == t_) return scaled(graph_.multiply(t_, graph_.multiply(t_, t_)), 1.0 / 3);
    const auto G = of(g, depth + 1);
    if (!G) return {};
    const Node rate = gradient(graph_, p, std::span(&t_, 1))[0];
    if (is_wave(op) || op == Op::exp) {
      const auto rest = of(graph_.multiply(rate, *G), depth + 1);
      return rest ? std::optional(graph_.subtract(graph_.multiply(p, *G), *rest)) : std::nullopt;
    }
    return power_of_t(graph_.multiply(p, g));
  }

  // t^n, as a product
  std::optional<Node> power_of_t(Node f) {
    int n = 0;
    std::vector<Node> open{f};
    while (!open.empty()) {
      const Node m = open.back();
      open.pop_back();
      if (m == t_)
        ++n;
      else if (graph_[m].op == Op::multiply)
        open.insert(open.end(), {graph_[m].a, graph_[m].b});
      else
        return {};
    }
    return scaled(graph_.multiply(f, t_), 1.0 / (n + 1));
  }

  // A before t = c, B after it:  F_A(min(t, c)) + F_B(max(t, c))
  std::optional<Node> of_choice(const Graph::Entry& e, int depth) {
    const Graph::Entry condition = graph_[e.a];
    if (condition.op != Op::less && condition.op != Op::less_equal) return {};
    const Node root = graph_.subtract(condition.a, condition.b);  // true where it is negative
    const auto slope = slope_of(root);
    const auto yes = of(e.b, depth + 1), no = of(e.c, depth + 1);
    if (!slope || !graph_.is_constant(*slope) || !yes || !no) return {};
    const Node at_zero = with(root, t_, graph_.constant(0));
    const Node c = graph_.negate(graph_.divide(at_zero, *slope));
    const bool first = graph_.value(*slope) > 0;  // true before c
    const auto moved = [&](Node f, Op op) { return with(f, t_, graph_.make(op, t_, c)); };
    return graph_.add(moved(first ? *yes : *no, Op::min), moved(first ? *no : *yes, Op::max));
  }

  Graph& graph_;
  Node t_;
};

}  // namespace

std::optional<Node> integral(Graph& graph, Node f, Node t) {
  Integration integration(graph, t);
  const std::optional<Node> whole = integration.of(f, 0);
  return whole ? whole : integration.of_pieces(f);
}

}  // namespace hinge
