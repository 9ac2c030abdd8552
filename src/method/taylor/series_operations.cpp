// From the nodes of a graph to operations on series.
#include <cmath>
#include <stdexcept>

#include "expression/table.hpp"
#include "method/taylor/series_builder.hpp"

namespace hinge {

int SeriesBuilder::new_slot() {
  slots_.emplace_back();
  return static_cast<int>(slots_.size()) - 1;
}
int SeriesBuilder::add(Draft op) {
  op.result = op.result < 0 ? new_slot() : op.result;
  slots_[at(op.result)].op = static_cast<int>(ops_.size());
  ops_.push_back(std::move(op));
  return ops_.back().result;
}
int SeriesBuilder::constant_slot(double value) {
  const auto [found, fresh] = constants_.try_emplace(value, -1);
  if (fresh) {
    found->second = new_slot();
    slots_.back().constant = true;
  }
  return found->second;
}

void SeriesBuilder::make_variables() {
  program_.t_slot = slot_of_[at(f_.t)] = new_slot();
  for (const auto& x : f_.unknowns) {
    const int s = slot_of_[at(x.node)] = new_slot();
    slots_[at(s)].reach = slots_[at(s)].level = x.d;
    slots_[at(s)].open = true;
  }
  for (const auto& y : f_.integrals) {
    const int s = slot_of_[at(y.node)] = add({.kind = Kind::integral});
    slots_[at(s)].level = y.d;
  }
  for (const auto& v : f_.derived) slot_of_[at(v.node)] = add({.kind = Kind::derivative});
}

void SeriesBuilder::make_operations() {
  std::vector<Node> roots;
  for (const auto& e : f_.equations) roots.push_back(e.node);
  for (const auto& y : f_.integrals) roots.push_back(y.rate);
  for (const auto& v : f_.derived) roots.push_back(v.of);
  const std::vector<Node> cone = cone_of(graph_, roots);
  for (const Node n : cone) {
    const Graph::Entry& e = graph_[n];
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < arity(e.op); ++k) ++uses_[at(operands[k])];
  }
  for (const Node n : roots) uses_[at(n)] += 2;  // others look at these: they stay
  for (const Node n : cone)
    if (slot_of_[at(n)] < 0 && graph_[n].op != Op::constant) slot_of_[at(n)] = make(n);
  for (const auto& y : f_.integrals) ops_[at(producer(slot_of_[at(y.node)]))].linear = {{1.0, slot(y.rate), -1}};
  for (const auto& v : f_.derived) ops_[at(producer(slot_of_[at(v.node)]))].a = slot(v.of);
}

// Adds factor * node to a sum; sums that nobody else uses become a part of it.
void SeriesBuilder::expand(Node n, double factor, Draft& sum) {
  if (graph_.is_constant(n)) {
    sum.constant += factor * graph_.value(n);
    return;
  }
  const int s = slot_of_[at(n)];
  if (const int o = producer(s); o >= 0 && ops_[at(o)].kind == Kind::sum && uses_[at(n)] == 1) {
    Draft& part = ops_[at(o)];
    sum.constant += factor * part.constant;
    for (Term t : part.linear) t.factor *= factor, sum.linear.push_back(t);
    for (Term t : part.products) t.factor *= factor, sum.products.push_back(t);
    part.dead = true;
    return;
  }
  sum.linear.push_back({factor, s, -1});
}
int SeriesBuilder::sum_of(Node a, double fa, Node b, double fb) {
  Draft sum{.kind = Kind::sum};
  expand(a, fa, sum);
  if (b != no_node) expand(b, fb, sum);
  return add(std::move(sum));
}
// A factor times a slot: numbers in front of a single term are taken out of it.
int SeriesBuilder::factored(Node n, double& factor) {
  const int s = slot(n);
  if (const int o = producer(s); o >= 0 && uses_[at(n)] == 1) {
    Draft& part = ops_[at(o)];
    if (part.kind == Kind::sum && part.constant == 0 && part.products.empty() && part.linear.size() == 1) {
      factor *= part.linear[0].factor;
      part.dead = true;
      return part.linear[0].a;
    }
  }
  return s;
}
int SeriesBuilder::multiply(Node a, Node b) {
  if (graph_.is_constant(a)) return sum_of(b, graph_.value(a));
  if (graph_.is_constant(b)) return sum_of(a, graph_.value(b));
  double factor = 1;
  if (a == b) return product(slot(a), slot(a));
  const int x = factored(a, factor), y = factored(b, factor);
  return product(x, y, factor);
}
int SeriesBuilder::derivative(int a) {
  const auto [found, fresh] = derivatives_.try_emplace(a, -1);
  if (fresh) found->second = add({.kind = Kind::derivative, .a = a});
  return found->second;
}
// r' = factor a' u, r = function(a)
int SeriesBuilder::primitive(Op function, int a, int u, double factor, int result) {
  const int da = derivative(a);
  return add({.kind = Kind::integral,
              .function = function,
              .has_value = true,
              .result = result,
              .a = a,
              .products = {{factor, da, u}},
              .reach = a});
}
// sin and cos, sinh and cosh: made together
int SeriesBuilder::pair(Op first, Op second, bool want_first, int a, double sign) {
  const auto [found, fresh] = pairs_.try_emplace({first, a}, std::pair{-1, -1});
  if (fresh) {
    const int one = new_slot(), other = new_slot();
    found->second = {one, other};
    primitive(first, a, other, 1, one);
    primitive(second, a, one, sign, other);
  }
  return want_first ? found->second.first : found->second.second;
}
int SeriesBuilder::exponential(int a) {
  const int r = new_slot();
  return primitive(Op::exp, a, r, 1, r);
}
// r' = a' (1 + sign r^2)
int SeriesBuilder::tangent(Op function, int a, double sign) {
  const int r = new_slot(), u = sum_of_products(1, {{sign, r, r}});
  return primitive(function, a, u, 1, r);
}
int SeriesBuilder::arc(Op function, int a) {
  if (function == Op::atan) return primitive(function, a, quotient(constant_slot(1), squares(1, 1, a)), 1);
  const int root = square_root(squares(1, -1, a));
  return primitive(function, a, quotient(constant_slot(1), root), function == Op::asin ? 1 : -1);
}
// (y, x)' of the angle: (x y' - y x') / (x^2 + y^2)
int SeriesBuilder::angle(int y, int x) {
  const int turned = sum_of_products(0, {{1, x, derivative(y)}, {-1, y, derivative(x)}});
  const int rate = quotient(turned, sum_of_products(0, {{1, x, x}, {1, y, y}}));
  return add(
      {.kind = Kind::integral, .function = Op::atan2, .has_value = true, .a = y, .b = x, .linear = {{1, rate, -1}}});
}
int SeriesBuilder::whole_power(int a, int n) {
  if (n == 1) return a;
  const int half = whole_power(a, n / 2), square = product(half, half);
  return n % 2 == 0 ? square : product(square, a);
}
int SeriesBuilder::power(Node base, Node exponent) {
  if (!graph_.is_constant(exponent)) return exponential(product(slot(exponent), logarithm_of(base)));
  const double p = graph_.value(exponent);
  if (p == std::round(p) && std::abs(p) <= largest_power && p != 0) {
    const int r = whole_power(slot(base), static_cast<int>(std::abs(p)));
    return p > 0 ? r : quotient(constant_slot(1), r);
  }
  // r' = p a' r / a
  const int a = slot(base), r = new_slot(), rate = quotient(product(derivative(a), r), a);
  return add({.kind = Kind::integral,
              .function = Op::power,
              .has_value = true,
              .result = r,
              .a = a,
              .b = constant_slot(p),
              .linear = {{p, rate, -1}},
              .reach = a});
}
int SeriesBuilder::logarithm_of(Node n) {
  return graph_.is_constant(n) ? constant_slot(std::log(graph_.value(n))) : logarithm(slot(n));
}
int SeriesBuilder::new_state(std::shared_ptr<const Table> table) {
  program_.tables.push_back(std::move(table));
  return program_.states() - 1;
}
int SeriesBuilder::table(const Graph::Entry& e) {
  const int state = new_state(graph_.table(e));
  const int u = add({.kind = Kind::offset, .a = slot(e.a), .state = state});
  const int u2 = product(u, u), u3 = product(u2, u);
  return add({.kind = Kind::cubic, .a = u, .b = u2, .c = u3, .state = state});
}

int SeriesBuilder::make(Node n) {
  const Graph::Entry& e = graph_[n];
  switch (e.op) {
    case Op::negate: return sum_of(e.a, -1);
    case Op::add: return sum_of(e.a, 1, e.b, 1);
    case Op::subtract: return sum_of(e.a, 1, e.b, -1);
    case Op::multiply: return multiply(e.a, e.b);
    case Op::divide:
      return graph_.is_constant(e.b) ? sum_of(e.a, 1 / graph_.value(e.b)) : quotient(slot(e.a), slot(e.b));
    case Op::power: return power(e.a, e.b);
    case Op::sqrt: return square_root(slot(e.a));
    case Op::hypot: {
      const int a = slot(e.a), b = slot(e.b);
      return square_root(sum_of_products(0, {{1, a, a}, {1, b, b}}));
    }
    case Op::sin:
    case Op::cos: return pair(Op::sin, Op::cos, e.op == Op::sin, slot(e.a), -1);
    case Op::sinh:
    case Op::cosh: return pair(Op::sinh, Op::cosh, e.op == Op::sinh, slot(e.a), 1);
    case Op::tan: return tangent(e.op, slot(e.a), 1);
    case Op::tanh: return tangent(e.op, slot(e.a), -1);
    case Op::asin:
    case Op::acos:
    case Op::atan: return arc(e.op, slot(e.a));
    case Op::atan2: return angle(slot(e.a), slot(e.b));
    case Op::exp: return exponential(slot(e.a));
    case Op::log: return logarithm(slot(e.a));
    case Op::table: return table(e);
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::select:
      return add({.kind = Kind::choose,
                  .function = e.op,
                  .a = slot(e.a),
                  .b = e.b != no_node ? slot(e.b) : -1,
                  .c = e.c != no_node ? slot(e.c) : -1,
                  .state = new_state()});
    case Op::variable: throw std::logic_error("a series depends on a variable that is not given");
    default:  // sign, comparisons, and, or, not
      return add({.kind = Kind::step, .function = e.op, .a = slot(e.a), .b = e.b != no_node ? slot(e.b) : -1});
  }
}

}  // namespace hinge
