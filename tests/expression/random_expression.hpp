// Random expressions, and two ways to evaluate a graph that share nothing with the tape: node by node with apply_op,
// and with complex numbers for derivatives by the complex step.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "expression/graph.hpp"

namespace hinge::trial {

inline std::size_t at(Node n) { return static_cast<std::size_t>(n); }

inline std::vector<Node> declare_variables(Graph& graph, int count) {
  std::vector<Node> variables;
  for (int k = 0; k < count; ++k) variables.push_back(graph.variable(fmt::format("x{}", k)));
  return variables;
}

inline std::vector<double> random_point(std::mt19937& random, std::size_t size, double low = -2, double high = 2) {
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> x(size);
  for (double& entry : x) entry = uniform(random);
  return x;
}

/// Values of all nodes; variable k has the value x[k].
inline std::vector<double> evaluate_all(const Graph& graph, const std::vector<double>& x) {
  std::vector<double> value(at(graph.size()));
  const auto get = [&](Node n) { return n == no_node ? 0.0 : value[at(n)]; };
  for (Node n = 0; n < graph.size(); ++n) {
    const auto& e = graph[n];
    value[at(n)] = e.op == Op::constant   ? e.value
                   : e.op == Op::variable ? x[at(e.a)]
                                          : graph.apply(e, get(e.a), get(e.b), get(e.c));
  }
  return value;
}

inline double evaluate(const Graph& graph, Node node, const std::vector<double>& x) {
  return evaluate_all(graph, x)[at(node)];
}

using Complex = std::complex<double>;

/// Analytic continuation of an operation to a neighbourhood of the real line; branches look at the real part.
inline Complex apply_complex(Op op, Complex a, Complex b, Complex c) {
  switch (op) {
    case Op::negate: return -a;
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tan: return std::sin(a) / std::cos(a);
    case Op::asin: return std::asin(a);
    case Op::acos: return std::acos(a);
    case Op::atan: return std::atan(a);
    case Op::sinh: return std::sinh(a);
    case Op::cosh: return std::cosh(a);
    case Op::tanh: return std::sinh(a) / std::cosh(a);
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::sqrt: return std::sqrt(a);
    case Op::abs: return a.real() < 0 ? -a : a;
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::power: return std::exp(b * std::log(a));
    case Op::atan2: {  // half angles, the form without cancellation
      const Complex r = std::sqrt(a * a + b * b);
      return 2.0 * (b.real() > 0 ? std::atan(a / (r + b)) : std::atan((r - b) / a));
    }
    case Op::hypot: return std::sqrt(a * a + b * b);
    case Op::min: return b.real() < a.real() ? b : a;
    case Op::max: return a.real() < b.real() ? b : a;
    case Op::select: return a.real() != 0 ? b : c;
    default: return apply_op(op, a.real(), b.real(), c.real());
  }
}

/// d node / d variable k at x, exact to rounding: Im f(x + i h) / h with a tiny h.
inline double complex_step(const Graph& graph, Node node, const std::vector<double>& x, std::size_t k) {
  constexpr double h = 1e-30;
  std::vector<Complex> value(at(graph.size()));
  const auto get = [&](Node n) { return n == no_node ? Complex() : value[at(n)]; };
  for (Node n = 0; n <= node; ++n) {
    const auto& e = graph[n];
    value[at(n)] = e.op == Op::constant   ? Complex(e.value)
                   : e.op == Op::variable ? Complex(x[at(e.a)], at(e.a) == k ? h : 0.0)
                                          : apply_complex(e.op, get(e.a), get(e.b), get(e.c));
  }
  return value[at(node)].imag() / h;
}

/// Grows an expression of `operations` random operations over the variables. Operands are brought into the domain of
/// the operation, so that every value is finite; everything is smooth almost everywhere.
inline Node random_expression(Graph& graph, const std::vector<Node>& variables, int operations, std::mt19937& random) {
  std::vector<Node> pool = variables;
  const auto number = [&](double x) { return graph.constant(x); };
  const auto pick = [&] {  // often something recent, so that expressions grow deep
    const std::size_t recent = random() % 2 ? std::min<std::size_t>(pool.size(), 4) : pool.size();
    return pool[pool.size() - 1 - random() % recent];
  };
  const auto bounded = [&] { return graph.make(Op::sin, pick()); };            // in [-1, 1]
  const auto inner = [&] { return graph.multiply(number(0.75), bounded()); };  // in [-0.75, 0.75]
  const auto positive = [&] { return graph.add(number(1.5), bounded()); };     // in [0.5, 2.5]
  const auto condition = [&] { return graph.make(random() % 2 ? Op::less : Op::less_equal, bounded(), inner()); };
  constexpr Op unary_bounded[] = {Op::sinh, Op::cosh, Op::exp, Op::tan};
  constexpr Op unary_any[] = {Op::negate, Op::sin, Op::cos, Op::atan, Op::tanh, Op::abs};
  constexpr Op unary_positive[] = {Op::log, Op::sqrt};
  for (int k = 0; k < operations; ++k) {
    switch (random() % 14) {
      case 0: pool.push_back(graph.make(unary_bounded[random() % 4], inner())); break;
      case 1: pool.push_back(graph.make(unary_any[random() % 6], pick())); break;
      case 2: pool.push_back(graph.make(unary_positive[random() % 2], positive())); break;
      case 3: pool.push_back(graph.make(random() % 2 ? Op::asin : Op::acos, inner())); break;
      case 4: pool.push_back(graph.add(pick(), pick())); break;
      case 5: pool.push_back(graph.subtract(pick(), pick())); break;
      case 6: pool.push_back(graph.multiply(bounded(), pick())); break;
      case 7: pool.push_back(graph.divide(pick(), positive())); break;
      case 8: pool.push_back(graph.power(positive(), bounded())); break;
      case 9: pool.push_back(graph.power(positive(), number(static_cast<double>(random() % 9) - 4))); break;
      case 10: pool.push_back(graph.make(Op::atan2, positive(), bounded())); break;
      case 11: pool.push_back(graph.make(Op::hypot, positive(), bounded())); break;
      case 12: pool.push_back(graph.make(random() % 2 ? Op::min : Op::max, pick(), pick())); break;
      default: {
        const Node yes = pick(), no = bounded();
        pool.push_back(graph.make(Op::select, condition(), yes, no));
      }
    }
  }
  return pool.back();
}

}  // namespace hinge::trial
