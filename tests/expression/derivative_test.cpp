#include "expression/derivative.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/random_expression.hpp"

namespace hinge::derivative_test {
namespace {

using trial::at;
using trial::complex_step;
using trial::declare_variables;
using trial::evaluate;
using trial::evaluate_all;
using trial::random_expression;
using trial::random_point;

double relative(double difference, double size) { return std::abs(difference) / (1 + std::abs(size)); }

std::ptrdiff_t operations(const Graph& graph, const std::vector<Node>& outputs) {
  return std::ranges::count_if(cone_of(graph, outputs), [&](Node n) { return arity(graph[n].op) > 0; });
}

/// Largest relative deviation of the graph's gradient of f from the complex step, over random points.
double gradient_defect(Graph& graph, Node f, const std::vector<Node>& x, std::mt19937& random, int points = 3) {
  const std::vector<Node> df = gradient(graph, f, x);
  double worst = 0;
  for (int k = 0; k < points; ++k) {
    const std::vector<double> point = random_point(random, x.size());
    const std::vector<double> value = evaluate_all(graph, point);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double expected = complex_step(graph, f, point, j);
      worst = std::max(worst, relative(value[at(df[j])] - expected, expected));
    }
  }
  return worst;
}

// ---------------------------------------------------------------------------------------------- rules

/// One operation with both operands inside its domain.
struct Rule {
  const char* name;
  std::function<Node(Graph&, Node x, Node y)> build;
};

class DerivativeRule : public ::testing::TestWithParam<Rule> {};

TEST_P(DerivativeRule, AgreesWithTheComplexStep) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = GetParam().build(graph, x[0], x[1]);
  std::mt19937 random(1);
  EXPECT_LT(gradient_defect(graph, f, x, random, 50), 1e-14);  // measured 6e-16 at most
}

TEST_P(DerivativeRule, HasASecondDerivativeThatAgreesWithTheComplexStep) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = GetParam().build(graph, x[0], x[1]);
  std::mt19937 random(2);
  for (const Node df : gradient(graph, f, x))
    EXPECT_LT(gradient_defect(graph, df, x, random, 50), 1e-14);  // measured 9e-16 at most
}

Node inside_one(Graph& g, Node x) { return g.multiply(g.constant(0.45), x); }  // |.| < 0.9
Node above_zero(Graph& g, Node x) { return g.add(g.constant(2.5), x); }        // in (0.5, 4.5)
std::function<Node(Graph&, Node, Node)> unary(Op op) {
  return [op](Graph& g, Node x, Node) { return g.make(op, x); };
}
std::function<Node(Graph&, Node, Node)> unary_inside(Op op) {
  return [op](Graph& g, Node x, Node) { return g.make(op, inside_one(g, x)); };
}
std::function<Node(Graph&, Node, Node)> unary_above(Op op) {
  return [op](Graph& g, Node x, Node) { return g.make(op, above_zero(g, x)); };
}
std::function<Node(Graph&, Node, Node)> binary(Op op) {
  return [op](Graph& g, Node x, Node y) { return g.make(op, x, y); };
}
std::function<Node(Graph&, Node, Node)> power_of(double exponent) {
  return [exponent](Graph& g, Node x, Node) { return g.power(above_zero(g, x), g.constant(exponent)); };
}

INSTANTIATE_TEST_SUITE_P(
    Every, DerivativeRule,
    ::testing::
        Values(
            Rule{"negate", unary(Op::negate)}, Rule{"sin", unary(Op::sin)}, Rule{"cos", unary(Op::cos)},
            Rule{"tan", unary_inside(Op::tan)}, Rule{"asin", unary_inside(Op::asin)},
            Rule{"acos", unary_inside(Op::acos)}, Rule{"atan", unary(Op::atan)}, Rule{"sinh", unary(Op::sinh)},
            Rule{"cosh", unary(Op::cosh)}, Rule{"tanh", unary(Op::tanh)}, Rule{"exp", unary(Op::exp)},
            Rule{"log", unary_above(Op::log)}, Rule{"sqrt", unary_above(Op::sqrt)}, Rule{"abs", unary(Op::abs)},
            Rule{"sign", unary(Op::sign)}, Rule{"logical_not", unary(Op::logical_not)}, Rule{"add", binary(Op::add)},
            Rule{"subtract", binary(Op::subtract)}, Rule{"multiply", binary(Op::multiply)},
            Rule{"divide", [](Graph& g, Node x, Node y) { return g.divide(x, above_zero(g, y)); }},
            Rule{"power", [](Graph& g, Node x, Node y) { return g.power(above_zero(g, x), y); }},
            Rule{"power_with_constant_base", [](Graph& g, Node, Node y) { return g.power(g.constant(1.7), y); }},
            Rule{"power_with_equal_base_and_exponent",
                 [](Graph& g, Node x, Node) { return g.power(above_zero(g, x), above_zero(g, x)); }},
            Rule{"power_2", power_of(2)}, Rule{"power_7", power_of(7)}, Rule{"power_minus_3", power_of(-3)},
            Rule{"power_half", power_of(0.5)}, Rule{"power_1_7", power_of(1.7)}, Rule{"power_minus_12", power_of(-12)},
            Rule{"atan2", binary(Op::atan2)}, Rule{"hypot", binary(Op::hypot)}, Rule{"min", binary(Op::min)},
            Rule{"max", binary(Op::max)}, Rule{"less", binary(Op::less)}, Rule{"less_equal", binary(Op::less_equal)},
            Rule{"equal", binary(Op::equal)}, Rule{"not_equal", binary(Op::not_equal)},
            Rule{"logical_and", binary(Op::logical_and)}, Rule{"logical_or", binary(Op::logical_or)},
            Rule{"min_of_products",
                 [](Graph& g, Node x, Node y) { return g.make(Op::min, g.multiply(x, y), g.make(Op::sin, x)); }},
            Rule{
                "select",
                [](Graph& g, Node x, Node y) {
                  return g.make(Op::select, g.make(Op::less, x, y), g.multiply(x, g.make(Op::exp, y)),
                                g.make(Op::cos, x));
                }}),
    [](const auto& rule) { return rule.param.name; });

// ---------------------------------------------------------------------------------------------- graphs

TEST(Derivative, OfRandomExpressionsAgreesWithTheComplexStep) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 4);
    const Node f = random_expression(graph, x, 40, random);
    EXPECT_LT(gradient_defect(graph, f, x, random), 2e-13)  // measured 1e-14
        << "seed " << seed << ": " << to_text(graph, f);
  }
}

TEST(Derivative, OfRandomGradientsAgreesWithTheComplexStep) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(1000 + seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 3);
    const Node f = random_expression(graph, x, 20, random);
    for (const Node df : gradient(graph, f, x))
      EXPECT_LT(gradient_defect(graph, df, x, random), 5e-14) << "seed " << seed;  // measured 2e-15
  }
}

TEST(Derivative, HessianIsSymmetric) {
  double worst = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(2000 + seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 4);
    const Node f = random_expression(graph, x, 25, random);
    const std::vector<Node> df = gradient(graph, f, x);
    std::vector<std::vector<Node>> hessian;
    for (const Node entry : df) hessian.push_back(gradient(graph, entry, x));
    const std::vector<double> value = evaluate_all(graph, random_point(random, x.size()));
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        worst =
            std::max(worst, relative(value[at(hessian[i][j])] - value[at(hessian[j][i])], value[at(hessian[i][j])]));
  }
  EXPECT_LT(worst, 1e-14);  // measured 4e-16
}

TEST(Derivative, WithRespectToUnusedVariablesIsZero) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 3);
  const Node f = graph.multiply(x[0], x[0]);
  const std::vector<Node> df = gradient(graph, f, x);
  EXPECT_EQ(df[0], graph.multiply(graph.constant(2), x[0]));
  EXPECT_EQ(df[1], graph.constant(0));
  EXPECT_EQ(df[2], graph.constant(0));
  EXPECT_EQ(gradient(graph, graph.constant(3), x), std::vector(3, graph.constant(0)));
  EXPECT_EQ(gradient(graph, x[1], x)[1], graph.constant(1));
}

TEST(Derivative, DependenceFollowsOperands) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node a = graph.make(Op::sin, x[0]), b = graph.make(Op::cos, x[1]), c = graph.add(a, b);
  const std::vector<char> depends = dependence(graph, std::vector{x[1]});
  EXPECT_FALSE(depends[at(a)]);
  EXPECT_TRUE(depends[at(b)]);
  EXPECT_TRUE(depends[at(c)]);
}

// ---------------------------------------------------------------------------------------------- branches

/// Gradient of f(x) at a point where some branch that is not taken is not a number.
double slope(Graph& graph, Node f, Node x, double point) {
  return evaluate(graph, gradient(graph, f, std::vector{x})[0], {point});
}

// A drag -|v| v has the slope 0 at rest, in a matrix; elsewhere the matrix is the derivative, to the last bit.
TEST(Derivative, NewtonMatrixHasASlopeWhereALengthIsZero) {
  Graph graph;
  const std::vector<Node> x{graph.variable("x"), graph.variable("y")};
  const Node squares = graph.add(graph.multiply(x[0], x[0]), graph.multiply(x[1], x[1]));
  for (const Node length :
       {graph.make(Op::sqrt, squares), graph.power(squares, graph.constant(0.5)), graph.make(Op::hypot, x[0], x[1])}) {
    const std::vector<Node> drag{graph.multiply(length, x[0]), graph.multiply(length, x[1])};
    const auto values = [&](const SparseExpressions& m, double a, double b) {
      const std::vector<Node> inputs[] = {x};
      const auto tape = make_tape(graph, inputs, m.entries);
      std::vector<double> scratch = tape->make_scratch(), out(m.entries.size());
      const double point[] = {a, b};
      const double* const at[] = {point};
      tape->evaluate(at, scratch.data(), out.data());
      return out;
    };
    const SparseExpressions exact = jacobian(graph, drag, x), matrix = newton_matrix(graph, drag, x);
    for (const double entry : values(matrix, 0, 0)) EXPECT_EQ(entry, 0);
    for (const double entry : values(exact, 0, 0)) EXPECT_TRUE(std::isnan(entry));
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-60, 60), unit(-1, 1);
    for (int k = 0; k < 100; ++k) {
      const double a = unit(random) * std::pow(10, exponent(random)), b = unit(random) * std::pow(10, exponent(random));
      EXPECT_EQ(values(exact, a, b), values(matrix, a, b));
    }
  }
}

TEST(Derivative, BranchNotTakenDoesNotLetNotANumberThrough) {
  Graph graph;
  const Node x = graph.variable("x");
  const Node zero = graph.constant(0);
  const Node positive = graph.make(Op::less, zero, x);
  const Node root = graph.make(Op::sqrt, x);
  const Node f = graph.make(Op::select, positive, root, zero);
  EXPECT_EQ(slope(graph, f, x, -1), 0);
  EXPECT_EQ(slope(graph, f, x, 4), 0.25);
  EXPECT_EQ(slope(graph, graph.make(Op::select, graph.make(Op::less_equal, x, zero), zero, root), x, -1), 0);
  EXPECT_EQ(slope(graph, graph.multiply(f, f), x, -1), 0);
  EXPECT_EQ(slope(graph, graph.divide(graph.negate(f), graph.constant(3)), x, -1), 0);
  const Node deep = graph.make(Op::log, graph.make(Op::sin, graph.make(Op::sqrt, x)));
  EXPECT_EQ(slope(graph, graph.make(Op::select, positive, deep, x), x, -1), 1);
  const Node nested = graph.make(Op::select, graph.make(Op::less, x, graph.constant(9)),
                                 graph.make(Op::select, positive, root, zero), graph.constant(3));
  EXPECT_EQ(slope(graph, nested, x, -1), 0);
  EXPECT_EQ(slope(graph, nested, x, 4), 0.25);
}

TEST(Derivative, BranchesNotTakenThatShareATermDoNotLetNotANumberThrough) {
  Graph graph;
  const Node x = graph.variable("x");
  const Node zero = graph.constant(0);
  const Node root = graph.make(Op::sqrt, x);
  const auto when = [&](double above, Node term) {
    return graph.make(Op::select, graph.make(Op::less, graph.constant(above), x), term, zero);
  };
  const Node same = graph.add(when(0, root), when(0, graph.multiply(graph.constant(3), root)));
  EXPECT_EQ(slope(graph, same, x, -1), 0);
  EXPECT_EQ(slope(graph, same, x, 4), 1);
  const Node different = graph.add(graph.add(when(0, root), when(1, graph.multiply(root, root))),
                                   graph.make(Op::select, graph.make(Op::less, x, graph.constant(2)), zero, root));
  EXPECT_EQ(slope(graph, different, x, -1), 0);
  EXPECT_EQ(slope(graph, different, x, 0.25), 1);
  EXPECT_EQ(slope(graph, different, x, 1.96), 1 / 2.8 + 1);
  EXPECT_EQ(slope(graph, different, x, 4), 0.25 + 1 + 0.25);
}

TEST(Derivative, SecondDerivativeOfABranchNotTakenIsZero) {
  Graph graph;
  const Node x = graph.variable("x");
  const Node zero = graph.constant(0);
  const Node f = graph.make(Op::select, graph.make(Op::less, zero, x), graph.make(Op::sqrt, x), zero);
  const Node df = gradient(graph, f, std::vector{x})[0];
  EXPECT_EQ(slope(graph, df, x, -1), 0);
  EXPECT_DOUBLE_EQ(slope(graph, df, x, 4), -0.25 / 8);
}

TEST(Derivative, MinAndMaxFollowTheOperandTaken) {
  Graph graph;
  const Node x = graph.variable("x");
  const Node square = graph.multiply(x, x), root = graph.make(Op::sqrt, graph.subtract(x, graph.constant(3)));
  const Node low = graph.make(Op::min, square, x), high = graph.make(Op::max, square, x);
  EXPECT_EQ(slope(graph, low, x, 0.5), 1);
  EXPECT_EQ(slope(graph, low, x, -0.5), -1 + 2.0);
  EXPECT_EQ(slope(graph, high, x, 0.5), 1 + 0.0);
  EXPECT_EQ(slope(graph, high, x, 3), 6);
  EXPECT_EQ(slope(graph, graph.make(Op::select, graph.make(Op::less, graph.constant(3), x), root, x), x, 0), 1);
}

TEST(Derivative, NotANumberInTheFunctionIsNotHidden) {
  Graph graph;
  const Node x = graph.variable("x");
  const Node f = graph.make(Op::sqrt, x);
  EXPECT_TRUE(std::isnan(slope(graph, f, x, -1)));
  EXPECT_TRUE(std::isnan(slope(graph, graph.multiply(graph.constant(NAN), x), x, 1)));
}

// ---------------------------------------------------------------------------------------------- cost and structure

TEST(Derivative, GradientCostsASmallMultipleOfTheFunction) {
  for (const int n : {10, 100, 1000, 10000}) {
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, n + 1);
    const auto ratio = [&](Node f) {
      std::vector<Node> both = gradient(graph, f, x);
      both.push_back(f);
      return static_cast<double>(operations(graph, both)) / static_cast<double>(operations(graph, {f}));
    };
    Node squares = graph.constant(0), chain = squares, springs = squares, waves = squares;
    for (std::size_t k = 0; k < at(n); ++k) {
      const Node gap = graph.subtract(x[k + 1], x[k]);
      squares = graph.add(squares, graph.multiply(x[k], x[k]));
      chain = graph.add(chain, graph.multiply(x[k], x[k + 1]));
      const Node stretch = graph.subtract(graph.make(Op::sqrt, graph.add(graph.constant(1), graph.multiply(gap, gap))),
                                          graph.constant(1));
      springs = graph.add(springs, graph.multiply(stretch, stretch));
      waves = graph.add(waves, graph.make(Op::exp, graph.multiply(graph.make(Op::sin, x[k]), x[k + 1])));
    }
    EXPECT_LE(ratio(squares), 6) << n;  // measured 1.5
    EXPECT_LE(ratio(chain), 6) << n;    // measured 1.5
    EXPECT_LE(ratio(springs), 6) << n;  // measured 1.7
    EXPECT_LE(ratio(waves), 6) << n;    // measured 2.3
  }
}

TEST(Derivative, JacobianOfAChainHasExactlyItsBand) {
  constexpr int n = 50;
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, n);
  std::vector<Node> f;
  for (std::size_t k = 0; k + 1 < n; ++k) f.push_back(graph.make(Op::sin, graph.subtract(x[k + 1], x[k])));
  f.push_back(graph.constant(1));  // a row without entries
  const SparseExpressions j = jacobian(graph, f, x);
  ASSERT_EQ(j.rows, n);
  ASSERT_EQ(j.columns, n);
  ASSERT_EQ(j.entries.size(), 2u * (n - 1));
  for (int i = 0; i < n - 1; ++i) {
    ASSERT_EQ(j.row_start[at(i)], 2 * i);
    EXPECT_EQ(j.column[at(2 * i)], i);
    EXPECT_EQ(j.column[at(2 * i + 1)], i + 1);
  }
  EXPECT_EQ(j.row_start[n - 1], 2 * (n - 1));
  EXPECT_EQ(j.row_start[n], 2 * (n - 1));
}

TEST(Derivative, TermsThatCancelLeaveNoEntry) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = graph.add(graph.subtract(x[0], x[1]), x[1]);  // f_x1 = -1 + 1
  const SparseExpressions j = jacobian(graph, std::vector{f}, x);
  EXPECT_EQ(j.column, std::vector{0});
  EXPECT_EQ(j.entries, std::vector{graph.constant(1)});
}

TEST(Derivative, JacobianRowsAreGradients) {
  std::mt19937 random(5);
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 4);
  std::vector<Node> f;
  for (int k = 0; k < 10; ++k) f.push_back(random_expression(graph, x, 15, random));
  const SparseExpressions j = jacobian(graph, f, x);
  for (std::size_t i = 0; i < f.size(); ++i) {
    std::vector<Node> row(x.size(), graph.constant(0));
    for (auto k = at(j.row_start[i]); k < at(j.row_start[i + 1]); ++k) row[at(j.column[k])] = j.entries[k];
    EXPECT_EQ(row, gradient(graph, f[i], x)) << i;
  }
}

TEST(Derivative, OfASumOfAHundredThousandTerms) {
  constexpr int n = 100000;
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, n);
  Node sum = graph.constant(0);
  for (const Node v : x) sum = graph.add(sum, graph.multiply(v, graph.make(Op::sin, v)));
  const std::vector<Node> df = gradient(graph, sum, x);
  const auto tape = make_tape(graph, std::vector<std::vector<Node>>{x}, df);
  std::mt19937 random(9);
  const std::vector<double> point = random_point(random, n);
  std::vector<double> scratch = tape->make_scratch(), value(n);
  const double* inputs[] = {point.data()};
  tape->evaluate(inputs, scratch.data(), value.data());
  double worst = 0;
  for (std::size_t k = 0; k < n; ++k)
    worst = std::max(worst, std::abs(value[k] - (std::sin(point[k]) + point[k] * std::cos(point[k]))));
  EXPECT_LT(worst, 1e-14);  // measured 0: the same operations
}

}  // namespace
}  // namespace hinge::derivative_test
