#include "expression/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/parse.hpp"
#include "expression/random_expression.hpp"
#include "expression/tape_plan.hpp"
#include "hinge/error.hpp"

namespace hinge::graph_test {
namespace {

using trial::at;
using trial::declare_variables;
using trial::evaluate;
using trial::evaluate_all;
using trial::random_expression;
using trial::random_point;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool same_number(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

/// Two variables and short names for building.
struct Two {
  Graph graph;
  Node x = graph.variable("x"), y = graph.variable("y");
  Node number(double value) { return graph.constant(value); }
  Node operator()(Op op, Node a, Node b = no_node, Node c = no_node) { return graph.make(op, a, b, c); }
};

// ---------------------------------------------------------------------------------------------- nodes

TEST(Graph, EqualExpressionsExistOnce) {
  Two g;
  const Node first = g(Op::sin, g(Op::add, g.x, g.y));
  const Node size = g.graph.size();
  EXPECT_EQ(g(Op::sin, g(Op::add, g.x, g.y)), first);
  EXPECT_EQ(g(Op::sin, g(Op::add, g.y, g.x)), first);
  EXPECT_EQ(g.graph.size(), size);
  EXPECT_NE(g(Op::subtract, g.x, g.y), g(Op::subtract, g.y, g.x));
  EXPECT_NE(g(Op::less, g.x, g.y), g(Op::less_equal, g.x, g.y));
  for (const Op op :
       {Op::multiply, Op::min, Op::max, Op::hypot, Op::equal, Op::not_equal, Op::logical_and, Op::logical_or})
    EXPECT_EQ(g(op, g.x, g.y), g(op, g.y, g.x));
  for (const Op op : {Op::divide, Op::power, Op::atan2, Op::less}) EXPECT_NE(g(op, g.x, g.y), g(op, g.y, g.x));
}

TEST(Graph, EqualVariableNamesAreDifferentVariables) {
  Graph graph;
  EXPECT_NE(graph.variable("x"), graph.variable("x"));
  EXPECT_EQ(graph.variable_count(), 2);
  EXPECT_EQ(graph.variable_name(1), "x");
}

TEST(Graph, ManyNodesStayDistinct) {  // beyond several enlargements of the table
  Graph graph;
  std::vector<Node> nodes;
  for (int k = 0; k < 20000; ++k) nodes.push_back(graph.constant(k));
  for (int k = 0; k < 20000; ++k) {
    ASSERT_EQ(graph.constant(k), nodes[at(k)]);
    ASSERT_EQ(graph.value(nodes[at(k)]), k);
  }
  EXPECT_EQ(graph.size(), 20000);
}

TEST(Graph, OperandsComeBeforeTheirOperation) {
  std::mt19937 random(3);
  Graph graph;
  random_expression(graph, declare_variables(graph, 3), 500, random);
  for (Node n = 0; n < graph.size(); ++n) {
    const auto& e = graph[n];
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < arity(e.op); ++k) EXPECT_LT(operands[k], n);
  }
}

TEST(Graph, ConstantsFold) {
  Graph graph;
  const auto folds_to = [&](Op op, double a, double b, double c) {
    const Node node = graph.make(op, graph.constant(a), arity(op) > 1 ? graph.constant(b) : no_node,
                                 arity(op) > 2 ? graph.constant(c) : no_node);
    const double expected = apply_op(op, a, b, c);
    EXPECT_TRUE(graph.is_constant(node)) << static_cast<int>(op);
    EXPECT_TRUE(same_number(graph.value(node), expected))
        << static_cast<int>(op) << ": " << graph.value(node) << " instead of " << expected;
  };
  for (int op = static_cast<int>(Op::negate); op <= static_cast<int>(Op::select); ++op)
    for (const double a : {-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, not_a_number, infinity})
      for (const double b : {-1.0, 0.0, 0.5, 2.0, not_a_number}) folds_to(static_cast<Op>(op), a, b, 7);
}

TEST(Graph, ThereIsOneZero) {
  Graph graph;
  EXPECT_EQ(graph.constant(0.0), graph.constant(-0.0));
  EXPECT_FALSE(std::signbit(graph.value(graph.constant(-0.0))));
}

// ---------------------------------------------------------------------------------------------- simplification

TEST(Graph, SumsAndDifferencesSimplify) {
  Two g;
  const Node zero = g.number(0);
  EXPECT_EQ(g(Op::add, g.x, zero), g.x);
  EXPECT_EQ(g(Op::add, zero, g.x), g.x);
  EXPECT_EQ(g(Op::add, g.x, g.x), g(Op::multiply, g.number(2), g.x));
  EXPECT_EQ(g(Op::add, g.x, g(Op::negate, g.y)), g(Op::subtract, g.x, g.y));
  EXPECT_EQ(g(Op::add, g(Op::negate, g.x), g.y), g(Op::subtract, g.y, g.x));
  EXPECT_EQ(g(Op::add, g.x, g(Op::negate, g.x)), zero);
  EXPECT_EQ(g(Op::subtract, g.x, zero), g.x);
  EXPECT_EQ(g(Op::subtract, zero, g.x), g(Op::negate, g.x));
  EXPECT_EQ(g(Op::subtract, g.x, g.x), zero);
  EXPECT_EQ(g(Op::subtract, g.x, g(Op::negate, g.y)), g(Op::add, g.x, g.y));
  EXPECT_EQ(g(Op::negate, g(Op::negate, g.x)), g.x);
  EXPECT_EQ(g(Op::negate, g(Op::subtract, g.x, g.y)), g(Op::subtract, g.y, g.x));
}

TEST(Graph, ProductsAndQuotientsSimplify) {
  Two g;
  const Node zero = g.number(0), one = g.number(1), minus = g.number(-1);
  EXPECT_EQ(g(Op::multiply, g.x, zero), zero);
  EXPECT_EQ(g(Op::multiply, g.x, one), g.x);
  EXPECT_EQ(g(Op::multiply, minus, g.x), g(Op::negate, g.x));
  EXPECT_EQ(g(Op::multiply, g(Op::negate, g.x), g(Op::negate, g.y)), g(Op::multiply, g.x, g.y));
  EXPECT_EQ(g(Op::multiply, g.number(3), g(Op::multiply, g.number(2), g.x)), g(Op::multiply, g.x, g.number(6)));
  EXPECT_EQ(g(Op::multiply, g.number(3), g(Op::negate, g.x)), g(Op::multiply, g.number(-3), g.x));
  EXPECT_EQ(g(Op::negate, g(Op::multiply, g.number(3), g.x)), g(Op::multiply, g.number(-3), g.x));
  EXPECT_EQ(g(Op::divide, g.x, one), g.x);
  EXPECT_EQ(g(Op::divide, g.x, minus), g(Op::negate, g.x));
  EXPECT_EQ(g(Op::divide, zero, g.x), zero);
  EXPECT_EQ(g(Op::divide, g.x, g.x), one);
}

TEST(Graph, ChoicesSimplify) {
  Two g;
  const Node condition = g(Op::less, g.x, g.y);
  EXPECT_EQ(g(Op::select, g.number(1), g.x, g.y), g.x);
  EXPECT_EQ(g(Op::select, g.number(0), g.x, g.y), g.y);
  EXPECT_EQ(g(Op::select, condition, g.x, g.x), g.x);
  EXPECT_EQ(g(Op::min, g.x, g.x), g.x);
  EXPECT_EQ(g(Op::max, g.x, g.x), g.x);
  const Node term = g(Op::select, condition, g.x, g.number(0));
  EXPECT_TRUE(g.graph.switched(term));
  EXPECT_EQ(g(Op::multiply, term, g.y), g(Op::select, condition, g(Op::multiply, g.x, g.y), g.number(0)));
  EXPECT_EQ(g(Op::multiply, g.y, term), g(Op::multiply, term, g.y));
  EXPECT_EQ(g(Op::divide, term, g.y), g(Op::select, condition, g(Op::divide, g.x, g.y), g.number(0)));
}

TEST(Graph, SmallIntegerPowersAreProducts) {
  Two g;
  const auto power = [&](double exponent) { return g.graph.power(g.x, g.number(exponent)); };
  EXPECT_EQ(power(0), g.number(1));
  EXPECT_EQ(power(1), g.x);
  EXPECT_EQ(power(2), g(Op::multiply, g.x, g.x));
  EXPECT_EQ(power(0.5), g(Op::sqrt, g.x));
  EXPECT_EQ(power(-1), g(Op::divide, g.number(1), g.x));
  EXPECT_EQ(g.graph[power(9)].op, Op::power);
  EXPECT_EQ(g.graph[power(1.5)].op, Op::power);
  EXPECT_EQ(g.graph[g.graph.power(g.x, g.y)].op, Op::power);
  for (int n = -9; n <= 9; ++n) {
    const double expected = std::pow(-1.3, n);
    EXPECT_NEAR(evaluate(g.graph, power(n), {-1.3, 0}) / expected, 1, 1e-15) << n;  // measured 3e-16
  }
}

TEST(Graph, NotANumberIsNotSimplifiedAway) {
  Two g;
  const Node nan = g.number(not_a_number);
  EXPECT_EQ(g.number(not_a_number), nan);  // it exists once, like every constant
  for (const Node node : {g(Op::add, nan, g.x), g(Op::subtract, g.x, nan), g(Op::multiply, nan, g.x),
                          g(Op::multiply, nan, g(Op::multiply, g.number(2), g.x)), g(Op::divide, g.x, nan),
                          g(Op::negate, g(Op::multiply, nan, g.x)), g(Op::hypot, nan, g.x), g.graph.power(g.x, nan),
                          g.graph.power(nan, g.x), g(Op::min, nan, g.x), g(Op::min, g.x, nan), g(Op::max, nan, g.x),
                          g(Op::max, g.x, nan)}) {
    EXPECT_FALSE(g.graph.is_constant(node));
    EXPECT_TRUE(std::isnan(evaluate(g.graph, node, {2, 3}))) << to_text(g.graph, node);
  }
  for (const Node node : {g(Op::subtract, nan, nan), g(Op::multiply, nan, g.number(0)), g(Op::divide, nan, nan),
                          g(Op::divide, g.number(0), g.number(0)), g(Op::add, nan, g.number(0)), g(Op::negate, nan)})
    EXPECT_TRUE(g.graph.is_constant(node) && std::isnan(g.graph.value(node)));
}

TEST(Graph, MinAndMaxPassNotANumberOn) {
  for (const Op op : {Op::min, Op::max}) {
    EXPECT_TRUE(std::isnan(apply_op(op, not_a_number, 1)));
    EXPECT_TRUE(std::isnan(apply_op(op, 1, not_a_number)));
  }
}

TEST(Graph, SimplificationsKeepTheValue) {
  // The same random expression without any simplification: every operation is applied to numbers alone.
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 3);
    const std::vector<double> point = random_point(random, 3);
    std::vector<Node> nodes = x;
    std::vector<double> values = point;
    for (const double c : {0.0, 1.0, -1.0, 2.0, 0.3, -0.7}) {
      nodes.push_back(graph.constant(c));
      values.push_back(c);
    }
    constexpr Op ops[] = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::negate, Op::select, Op::min, Op::max};
    for (int k = 0; k < 60; ++k) {
      const Op op = ops[random() % 8];
      const std::size_t a = random() % nodes.size(), b = random() % nodes.size(), c = random() % nodes.size();
      const double value = apply_op(op, values[a], values[b], values[c]);
      if (!std::isfinite(value) || std::abs(value) > 1e6 || (op == Op::divide && std::abs(values[b]) < 1e-3)) continue;
      nodes.push_back(graph.make(op, nodes[a], arity(op) > 1 ? nodes[b] : no_node, arity(op) > 2 ? nodes[c] : no_node));
      values.push_back(value);
    }
    const std::vector<double> simplified = evaluate_all(graph, point);
    for (std::size_t k = 0; k < nodes.size(); ++k)
      EXPECT_LT(std::abs(simplified[at(nodes[k])] - values[k]) / (1 + std::abs(values[k])), 1e-15)  // measured 9e-17
          << seed;
  }
}

// ---------------------------------------------------------------------------------------------- text

TEST(Graph, TextIsReadable) {
  Two g;
  const auto text = [&](Node node) { return to_text(g.graph, node); };
  const Node sum = g(Op::add, g.x, g.y), condition = g(Op::less, g.x, g.y);
  EXPECT_EQ(text(g.x), "x");
  EXPECT_EQ(text(g.number(0.5)), "0.5");
  EXPECT_EQ(text(sum), "x + y");
  EXPECT_EQ(text(g(Op::multiply, g.number(2), sum)), "2*(x + y)");
  EXPECT_EQ(text(g(Op::subtract, g.x, g(Op::subtract, g.y, g.number(1)))), "x - (y - 1)");
  EXPECT_EQ(text(g(Op::divide, g.x, g(Op::multiply, g.x, g.y))), "x/(x*y)");
  EXPECT_EQ(text(g(Op::negate, sum)), "-(x + y)");
  EXPECT_EQ(text(g(Op::power, g(Op::negate, g.x), g.y)), "(-x)^y");
  EXPECT_EQ(text(g(Op::power, g(Op::power, g.x, g.y), g.y)), "(x^y)^y");
  EXPECT_EQ(text(g(Op::multiply, g.number(-3), g.x)), "(-3)*x");
  EXPECT_EQ(text(g(Op::atan2, g.y, g(Op::sin, g.x))), "atan2(y, sin(x))");
  EXPECT_EQ(text(g(Op::select, condition, g.x, g.number(0))), "if(x < y, x, 0)");
  EXPECT_EQ(text(g(Op::logical_not, condition)), "not x < y");
  EXPECT_EQ(text(g(Op::equal, g(Op::logical_not, g.x), g.y)), "y == (not x)");
  EXPECT_EQ(text(g(Op::less_equal, condition, g.y)), "(x < y) <= y");
  EXPECT_EQ(text(g(Op::logical_and, g(Op::logical_or, g.x, g.y), condition)), "x < y and (x or y)");
}

TEST(Graph, TextReadsBackAsTheSameFunction) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 3);
    Scope scope{.graph = &graph, .names = {}, .rate = {}};
    for (const Node v : x) scope.names[graph.variable_name(graph[v].a)] = scalar_value(v);
    const Node f = random_expression(graph, x, 12, random);
    const Node condition = graph.make(Op::less, f, x[0]);
    const Node g = graph.make(Op::logical_or, graph.make(Op::logical_not, condition),
                              graph.make(Op::not_equal, graph.make(Op::logical_and, condition, x[1]), condition));
    for (const Node node : {f, g}) {
      const std::string text = to_text(graph, node, 100000);
      const Node again = parse(text, scope).node();
      const std::vector<double> value = evaluate_all(graph, random_point(random, 3));
      // Text shows six digits of a constant: measured 1e-6. A bracket in the wrong place changes the first digit.
      EXPECT_NEAR(value[at(again)], value[at(node)], 1e-5 * (1 + std::abs(value[at(node)]))) << text;
    }
  }
}

TEST(Graph, LongTextIsCut) {
  Graph graph;
  Node sum = graph.variable("x");
  for (int k = 0; k < 100000; ++k) sum = graph.make(Op::sin, graph.add(sum, graph.constant(1)));
  const std::string text = to_text(graph, sum, 100);
  EXPECT_LT(text.size(), 120u);
  EXPECT_EQ(text.substr(text.size() - 4), " ...");
}

// ---------------------------------------------------------------------------------------------- tape

/// Outputs of a tape whose inputs are the variables of the graph, split into two blocks.
std::vector<double> run_tape(const Graph& graph, const std::vector<Node>& outputs, const std::vector<double>& x) {
  const std::size_t first = x.size() / 2;
  std::vector<std::vector<Node>> blocks(2);
  for (int k = 0; k < graph.variable_count(); ++k) blocks[at(k) < first ? 0 : 1].push_back(graph.variable_node(k));
  const auto tape = make_tape(graph, blocks, outputs);
  const double* inputs[] = {x.data(), x.data() + first};
  std::vector<double> scratch = tape->make_scratch(), values(outputs.size());
  tape->evaluate(inputs, scratch.data(), values.data());
  std::vector<double> again(outputs.size());
  tape->evaluate(inputs, scratch.data(), again.data());  // nothing is left over from the first pass
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_TRUE(same_number(values[k], again[k]));
  return values;
}

TEST(Tape, AgreesWithNodeByNodeEvaluation) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 5);
    std::vector<Node> outputs;
    for (int k = 0; k < 6; ++k) outputs.push_back(random_expression(graph, x, 30, random));
    for (int k = 0; k < 10; ++k) outputs.push_back(static_cast<Node>(random() % at(graph.size())));
    const std::vector<double> point = random_point(random, 5);
    const std::vector<double> expected = evaluate_all(graph, point);
    const std::vector<double> got = run_tape(graph, outputs, point);
    for (std::size_t k = 0; k < outputs.size(); ++k) EXPECT_EQ(got[k], expected[at(outputs[k])]) << seed;
  }
}

TEST(Tape, KnowsEveryOperation) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 3);
  std::vector<Node> outputs;
  for (int op = static_cast<int>(Op::negate); op <= static_cast<int>(Op::select); ++op) {
    const int count = arity(static_cast<Op>(op));
    outputs.push_back(graph.make(static_cast<Op>(op), x[0], count > 1 ? x[1] : no_node, count > 2 ? x[2] : no_node));
  }
  for (const std::vector<double>& point :
       {std::vector{0.7, 0.4, -3.0}, {-0.7, 0.0, 2.0}, {0.0, 0.5, 1.0}, {0.3, 0.3, 1}}) {
    const std::vector<double> expected = evaluate_all(graph, point), got = run_tape(graph, outputs, point);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      EXPECT_TRUE(same_number(got[k], expected[at(outputs[k])])) << to_text(graph, outputs[k]);
  }
}

TEST(Tape, OutputsMayBeInputsConstantsOrRepeated) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node sum = graph.add(x[0], x[1]), root = graph.make(Op::sqrt, sum);
  const std::vector<Node> outputs = {x[1], graph.constant(7), root, sum, root, x[1], graph.constant(7), x[0]};
  EXPECT_EQ(run_tape(graph, outputs, {1, 8}), (std::vector<double>{8, 7, 3, 9, 3, 8, 7, 1}));
  EXPECT_TRUE(run_tape(graph, {}, {1, 8}).empty());
}

TEST(Tape, ComputesSharedPartsOnceAndNothingElse) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node shared = graph.make(Op::exp, graph.add(x[0], x[1]));
  graph.make(Op::cos, x[0]);  // not asked for
  const std::vector<Node> outputs = {graph.make(Op::sin, shared), graph.multiply(shared, shared)};
  EXPECT_EQ(TapePlan(graph, outputs).steps.size(), 4u);
}

TEST(Tape, NullIsAllowedForABlockThatIsNotUsed) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const std::vector<std::vector<Node>> blocks = {{x[0]}, {x[1]}};
  const auto tape = make_tape(graph, blocks, std::vector{graph.multiply(x[0], x[0])});
  const double point = 3;
  const double* inputs[] = {&point, nullptr};
  std::vector<double> scratch = tape->make_scratch();
  double value = 0;
  tape->evaluate(inputs, scratch.data(), &value);
  EXPECT_EQ(value, 9);
}

TEST(Tape, RefusesAVariableThatIsNoInput) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const std::vector<std::vector<Node>> blocks = {{x[0]}};
  EXPECT_THROW(make_tape(graph, blocks, std::vector{graph.add(x[0], x[1])}), InputError);
  EXPECT_THROW(make_tape(graph, blocks, std::vector{x[1]}), InputError);
}

TEST(Tape, LongSumsNeedFewSlots) {
  constexpr int n = 50000;  // 150,000 nodes; operations are regrouped in windows of 4096, which keeps some alive longer
  const auto temporaries = [](const Graph& graph, const std::vector<Node>& x, Node f) {
    return make_tape(graph, std::vector<std::vector<Node>>{x}, std::vector{f})->make_scratch().size() - x.size();
  };
  {  // term after term
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, n);
    Node sum = graph.constant(0);
    for (const Node v : x) sum = graph.add(sum, graph.multiply(v, graph.make(Op::sin, v)));
    EXPECT_LE(temporaries(graph, x, sum), 5000u);  // measured 4099: one window
  }
  {  // all terms made first, and added from either end
    for (const bool reversed : {false, true}) {
      Graph graph;
      const std::vector<Node> x = declare_variables(graph, n);
      std::vector<Node> terms;
      for (const Node v : x) terms.push_back(graph.multiply(v, graph.make(Op::sin, v)));
      if (reversed) std::reverse(terms.begin(), terms.end());
      Node sum = graph.constant(0);
      for (const Node term : terms) sum = graph.add(sum, term);
      EXPECT_LE(temporaries(graph, x, sum), 5000u);  // measured 4099: one window
    }
  }
  {  // pairwise, a tree of depth 16
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, n);
    std::vector<Node> level;
    for (const Node v : x) level.push_back(graph.make(Op::sin, v));
    while (level.size() > 1) {
      std::vector<Node> next;
      for (std::size_t k = 0; k + 1 < level.size(); k += 2) next.push_back(graph.add(level[k], level[k + 1]));
      if (level.size() % 2) next.push_back(level.back());
      level = next;
    }
    EXPECT_LE(temporaries(graph, x, level[0]), 4500u);  // measured 2054
  }
}

// What is made after a mark gets the same numbers again and again, and what was there before is found.
TEST(Graph, ReturnsToAMarkAsIfNothingHadBeen) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> variables = declare_variables(graph, 5);
    const int operations = static_cast<int>(random() % 200);
    random_expression(graph, variables, operations, random);
    const Graph before = graph;
    const Graph::Mark mark = graph.mark();
    const std::mt19937 from = random;
    for (int repeat = 0; repeat < 3; ++repeat) {
      Graph fresh = before;
      std::mt19937 one = from, other = from;
      const Node in_fresh = random_expression(fresh, variables, 300, one);
      EXPECT_EQ(random_expression(graph, variables, 300, other), in_fresh);
      ASSERT_EQ(graph.size(), fresh.size());
      for (Node n = 0; n < graph.size(); ++n) {
        EXPECT_EQ(graph[n].op, fresh[n].op);
        EXPECT_EQ(graph[n].a, fresh[n].a);
        EXPECT_EQ(graph[n].b, fresh[n].b);
        EXPECT_EQ(graph[n].c, fresh[n].c);
      }
      graph.return_to(mark);
      ASSERT_EQ(graph.size(), before.size());
    }
    for (Node n = 0; n < graph.size(); ++n) {
      const Graph::Entry e = graph[n];
      if (e.op > Op::variable) {
        EXPECT_EQ(graph.remake(graph, e, e.a, e.b, e.c), n);
      }
    }
    EXPECT_EQ(graph.size(), before.size());
  }
}

// Some of what a copy has more, in two portions of which the second uses the images of the first.
TEST(Graph, AdoptsWhatIsNeededAndNothingElse) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> variables = declare_variables(graph, 4);
    random_expression(graph, variables, 50, random);
    Graph copy = graph;
    const Node common = graph.size();
    std::vector<Node> wanted;
    for (int k = 0; k < 4; ++k) wanted.push_back(random_expression(copy, variables, 80, random));
    const std::vector<double> x = random_point(random, variables.size());
    const std::vector<double> values = evaluate_all(copy, x);
    std::vector<Node> image;
    const std::vector<Node> first = graph.adopt_needed(copy, common, std::span(wanted).first(1), image);
    const Node once = graph.size();
    EXPECT_EQ(graph.adopt_needed(copy, common, std::span(wanted).first(1), image), first);
    EXPECT_EQ(graph.size(), once);
    const std::vector<Node> all = graph.adopt_needed(copy, common, wanted, image);
    EXPECT_EQ(all[0], first[0]);
    const std::vector<double> here = evaluate_all(graph, x);
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(here[at(all[k])], values[at(wanted[k])]);
    EXPECT_EQ(
        static_cast<std::size_t>(graph.size() - common),
        static_cast<std::size_t>(std::ranges::count_if(cone_of(copy, wanted), [&](Node n) { return n >= common; })));
  }
}

// Constants by the thousand have no place among operations, whose table grows when the next operation comes.
TEST(Graph, FindsEveryOperationAgainHoweverManyConstantsCameBetween) {
  std::mt19937 random(5);
  for (int k = 0; k < 20; ++k) {
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 20);
    struct Made {
      Op op;
      Node a, b, result;
    };
    std::vector<Made> all;
    for (int portion = 0; portion < 6; ++portion) {
      for (auto i = random() % 3000; i > 0; --i) graph.constant(static_cast<double>(random()) + 0.5);
      for (auto i = random() % 500; i > 0; --i) {
        const auto any = [&] { return static_cast<Node>(random() % static_cast<unsigned long>(graph.size())); };
        const Op op = random() % 2 == 0 ? Op::add : Op::multiply;
        const Node a = any(), b = x[random() % x.size()];
        all.push_back({op, a, b, graph.make(op, a, b)});
      }
    }
    const Node size = graph.size();
    for (const Made& m : all) ASSERT_EQ(graph.make(m.op, m.a, m.b), m.result);
    EXPECT_EQ(graph.size(), size);
  }
}

}  // namespace
}  // namespace hinge::graph_test
