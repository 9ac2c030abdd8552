#include "expression/polynomial.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/random_expression.hpp"

namespace hinge::polynomial_test {
namespace {

using trial::at;
using trial::declare_variables;
using trial::evaluate_all;
using trial::random_expression;
using trial::random_point;

class Polynomial : public ::testing::Test {
 protected:
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 4);
  const Node parameter = x[3];
  const std::vector<Node> q = {x[0], x[1], x[2]};

  Node number(double value) { return graph.constant(value); }
  int degree(Node n) { return polynomial_degree(graph, q)[at(n)]; }
  Node dot(const std::vector<Node>& a, const std::vector<Node>& b) {
    Node sum = number(0);
    for (std::size_t k = 0; k < a.size(); ++k) sum = graph.add(sum, graph.multiply(a[k], b[k]));
    return sum;
  }
  std::vector<Node> parts(Node f) {
    const std::vector<int> degrees = polynomial_degree(graph, q);
    return quadratic_parts(graph, f, degrees);
  }
};

TEST_F(Polynomial, HasTheDegreeThatArithmeticGives) {
  const Node product = graph.multiply(q[0], q[1]);
  EXPECT_EQ(degree(number(3)), 0);
  EXPECT_EQ(degree(parameter), 0);
  EXPECT_EQ(degree(graph.make(Op::sin, parameter)), 0);
  EXPECT_EQ(degree(q[0]), 1);
  EXPECT_EQ(degree(graph.negate(q[1])), 1);
  EXPECT_EQ(degree(graph.multiply(graph.make(Op::exp, parameter), q[2])), 1);
  EXPECT_EQ(degree(graph.divide(q[2], parameter)), 1);
  EXPECT_EQ(degree(product), 2);
  EXPECT_EQ(degree(graph.subtract(q[2], product)), 2);
  EXPECT_EQ(degree(graph.power(q[0], number(2))), 2);
  EXPECT_EQ(degree(graph.make(Op::select, graph.make(Op::less, parameter, number(0)), product, q[0])), 2);
  EXPECT_EQ(degree(graph.multiply(product, q[2])), not_quadratic);
  EXPECT_EQ(degree(graph.multiply(product, product)), not_quadratic);
  EXPECT_EQ(degree(graph.divide(number(1), q[0])), not_quadratic);
  EXPECT_EQ(degree(graph.make(Op::sqrt, product)), not_quadratic);
  EXPECT_EQ(degree(graph.make(Op::max, q[0], q[1])), not_quadratic);
  EXPECT_EQ(degree(graph.make(Op::select, graph.make(Op::less, q[0], q[1]), q[0], q[1])), not_quadratic);
}

// What is said to be quadratic has constant second derivatives: f(w + d) + f(w - d) - 2 f(w) does not depend on w.
TEST_F(Polynomial, IsQuadraticOnlyWhereSecondDifferencesAreConstant) {
  std::mt19937 random(3);
  int seen = 0;
  for (int trial = 0; trial < 200; ++trial) {
    random_expression(graph, x, 3, random);
    const std::vector<int> degrees = polynomial_degree(graph, q);
    const std::vector<double> d = random_point(random, 3), one = random_point(random, 4);
    std::vector<double> two = random_point(random, 4);
    two[3] = one[3];
    const auto second = [&](const std::vector<double>& w) {
      std::vector<double> up = w, down = w;
      for (std::size_t k = 0; k < 3; ++k) up[k] += d[k], down[k] -= d[k];
      std::vector<double> sum = evaluate_all(graph, up);
      const std::vector<double> below = evaluate_all(graph, down), middle = evaluate_all(graph, w);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += below[k] - 2 * middle[k];
      return sum;
    };
    const std::vector<double> a = second(one), b = second(two);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (degrees[k] == not_quadratic) continue;
      ++seen;
      EXPECT_NEAR(a[k], b[k], 1e-13 * (1 + std::abs(a[k])));
    }
  }
  EXPECT_GT(seen, 1000);
}

TEST_F(Polynomial, SplitsASumIntoQuadraticTermsAndOthers) {
  // -(3 (x0 x1 - exp(x2)) - x0) + sin(x1)/4
  const Node e = graph.make(Op::exp, q[2]), s = graph.make(Op::sin, q[1]), product = graph.multiply(q[0], q[1]);
  const Node inner = graph.multiply(number(3), graph.subtract(product, e));
  const Node f = graph.add(graph.negate(graph.subtract(inner, q[0])), graph.divide(s, number(4)));
  const SplitSum sum = split_sum(graph, f, polynomial_degree(graph, q));
  const auto factor_of = [](const std::vector<Term>& terms, Node n) {
    const auto t = std::find_if(terms.begin(), terms.end(), [n](const Term& term) { return term.node == n; });
    return t == terms.end() ? 0.0 : t->factor;
  };
  EXPECT_EQ(sum.quadratic.size(), 2u);
  EXPECT_EQ(sum.others.size(), 2u);
  EXPECT_EQ(factor_of(sum.quadratic, product), -3);
  EXPECT_EQ(factor_of(sum.quadratic, q[0]), 1);
  EXPECT_EQ(factor_of(sum.others, e), 3);
  EXPECT_EQ(factor_of(sum.others, s), 0.25);
}

TEST_F(Polynomial, SplitSumsAddUp) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    Node f = number(0);
    for (int k = 0; k < 4; ++k) {
      const Node term = random_expression(graph, x, 3, random);
      f = random() % 2 ? graph.add(f, graph.multiply(number(-1.5), term)) : graph.negate(graph.subtract(f, term));
    }
    const SplitSum sum = split_sum(graph, f, polynomial_degree(graph, q));
    const std::vector<double> value = evaluate_all(graph, random_point(random, 4));
    double total = 0, size = 1;
    for (const auto* terms : {&sum.quadratic, &sum.others})
      for (const Term& t : *terms) {
        total += t.factor * value[at(t.node)];
        size += std::abs(t.factor * value[at(t.node)]);
      }
    EXPECT_NEAR(total, value[at(f)], 1e-15 * size);
  }
}

TEST_F(Polynomial, FindsTheLargestQuadraticParts) {
  const Node square = dot(q, q);
  const Node length = graph.make(Op::sqrt, square);
  EXPECT_EQ(parts(square), std::vector{square});
  EXPECT_EQ(parts(graph.subtract(length, number(1.5))), std::vector{square});
  EXPECT_EQ(parts(graph.make(Op::exp, graph.negate(square))), std::vector{graph.negate(square)});
  EXPECT_EQ(parts(graph.multiply(square, square)), std::vector{square});
  EXPECT_TRUE(parts(graph.make(Op::exp, parameter)).empty());
  const Node angle = graph.make(Op::atan2, q[1], q[0]);
  EXPECT_EQ(parts(angle), (std::vector{q[0], q[1]}));
}

TEST_F(Polynomial, KnowsWhatContainsAPart) {
  const Node square = dot(q, q), f = graph.make(Op::exp, square), other = graph.multiply(q[0], q[1]);
  const std::vector<char> contains = dependence(graph, std::vector{square});
  EXPECT_TRUE(contains[at(square)]);
  EXPECT_TRUE(contains[at(f)]);
  EXPECT_FALSE(contains[at(other)]);
  EXPECT_FALSE(contains[at(q[0])]);
}

}  // namespace
}  // namespace hinge::polynomial_test
