#include "expression/substitute.hpp"

#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "expression/random_expression.hpp"

namespace hinge::substitute_test {
namespace {

using trial::at;
using trial::declare_variables;
using trial::evaluate;
using trial::evaluate_all;
using trial::random_expression;
using trial::random_point;

// f(x(s)) at s is f at x(s).
TEST(Substitute, ComposesInAnotherGraph) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    Graph from, to;
    const std::vector<Node> x = declare_variables(from, 3), s = declare_variables(to, 2);
    const std::vector<Node> f = {random_expression(from, x, 15, random), random_expression(from, x, 5, random)};
    std::vector<Node> images;
    for (int k = 0; k < 3; ++k) images.push_back(random_expression(to, s, 4, random));
    const std::vector<Node> g = substitute(from, f, x, images, to);
    const std::vector<double> point = random_point(random, 2), values = evaluate_all(to, point);
    const std::vector<double> inner = {values[at(images[0])], values[at(images[1])], values[at(images[2])]};
    for (std::size_t k = 0; k < f.size(); ++k) {
      const double expected = evaluate(from, f[k], inner);
      EXPECT_NEAR(values[at(g[k])], expected, 1e-14 * (1 + std::abs(expected)));
    }
  }
}

TEST(Substitute, KeepsOtherVariablesInTheSameGraph) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = graph.multiply(x[0], graph.make(Op::sin, x[1]));
  const std::vector<Node> g = substitute(graph, std::vector{f}, std::vector{x[0]}, std::vector{x[1]}, graph);
  EXPECT_EQ(g[0], graph.multiply(x[1], graph.make(Op::sin, x[1])));
}

TEST(Substitute, ReplacesAllAtOnce) {  // not one after the other
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = graph.subtract(x[0], x[1]);
  const std::vector<Node> g =
      substitute(graph, std::vector{f}, std::vector{x[0], x[1]}, std::vector{x[1], x[0]}, graph);
  EXPECT_EQ(g[0], graph.subtract(x[1], x[0]));
}

TEST(Substitute, ReplacesWholeParts) {  // exp(-(x.x)) with s for x.x
  Graph graph, to;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node square = graph.add(graph.multiply(x[0], x[0]), graph.multiply(x[1], x[1]));
  const Node f = graph.make(Op::exp, graph.negate(square));
  const Node s = to.variable("s");
  EXPECT_EQ(substitute(graph, std::vector{f}, std::vector{square}, std::vector{s}, to)[0],
            to.make(Op::exp, to.negate(s)));
  EXPECT_EQ(substitute(graph, std::vector{square}, std::vector{square}, std::vector{s}, to)[0], s);
}

TEST(Substitute, FoldsConstants) {
  Graph graph;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = graph.add(graph.multiply(x[0], x[1]), x[1]);
  const std::vector<Node> g =
      substitute(graph, std::vector{f}, std::vector{x[0]}, std::vector{graph.constant(0)}, graph);
  EXPECT_EQ(g[0], x[1]);
}

TEST(Substitute, DoesNotLetVariablesSlipIntoAnotherGraph) {
  Graph graph, to;
  const std::vector<Node> x = declare_variables(graph, 2);
  const Node f = graph.multiply(x[0], x[1]);
  EXPECT_THROW(substitute(graph, std::vector{f}, std::vector{x[0]}, std::vector{to.constant(1)}, to), std::logic_error);
}

}  // namespace
}  // namespace hinge::substitute_test
