#include "hinge/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "expression/parse.hpp"
#include "hinge/error.hpp"

namespace hinge::expression_test {
namespace {

class ExpressionOperators : public ::testing::Test {
 protected:
  ExpressionOperators() {
    scope.graph = graph.get();
    x = declare("x");
    y = declare("y");
    for (int k = 0; k < 3; ++k) u.push_back(declare("u"));
    for (int k = 0; k < 3; ++k) v.push_back(declare("v"));
    scope.names["u"] = vector_value(u);
    scope.names["v"] = vector_value(v);
  }

  Expression declare(const std::string& name) {
    const Node node = graph->variable(name);
    scope.names[name] = scalar_value(node);
    return {graph, node};
  }

  Value vector_value(const Vector& vector) const {
    Value value{.shape = {static_cast<int>(vector.size())}, .entries = {}};
    for (const Expression& entry : vector) value.entries.push_back(entry.node_in(*graph));
    return value;
  }

  void expect_same(const Expression& built, std::string_view text) {
    EXPECT_EQ(built.node_in(*graph), parse(text, scope).node()) << text << " is not " << built.text();
  }

  void expect_same(const Vector& built, std::string_view text) {
    EXPECT_EQ(vector_value(built).entries, parse(text, scope).entries) << text;
    EXPECT_EQ(vector_value(built).shape, parse(text, scope).shape) << text;
  }

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Scope scope;
  Expression x, y;
  Vector u, v;
};

TEST_F(ExpressionOperators, BuildTheNodesOfTheParser) {
  expect_same(x + y, "x + y");
  expect_same(x - y, "x - y");
  expect_same(2 * x - y / 4, "2*x - y/4");
  expect_same(-x, "-x");
  expect_same(1 / (x + 1), "1/(x + 1)");
  expect_same(x < y, "x < y");
  expect_same(x <= y, "x <= y");
  expect_same(x > y, "x > y");
  expect_same(x >= 0, "x >= 0");
  expect_same(pow(x, 3), "x^3");
  expect_same(pow(x, y), "x^y");
  expect_same(pow(2, y), "2^y");
  expect_same(choose(x > 0, x * y, -y), "if(x > 0, x*y, -y)");
}

TEST_F(ExpressionOperators, KnowTheFunctionsOfTheParser) {
  expect_same(sin(x), "sin(x)");
  expect_same(cos(x), "cos(x)");
  expect_same(tan(x), "tan(x)");
  expect_same(asin(x), "asin(x)");
  expect_same(acos(x), "acos(x)");
  expect_same(atan(x), "atan(x)");
  expect_same(sinh(x), "sinh(x)");
  expect_same(cosh(x), "cosh(x)");
  expect_same(tanh(x), "tanh(x)");
  expect_same(exp(x), "exp(x)");
  expect_same(log(x), "log(x)");
  expect_same(sqrt(x), "sqrt(x)");
  expect_same(abs(x), "abs(x)");
  expect_same(sign(x), "sign(x)");
  expect_same(atan2(x, y), "atan2(x, y)");
  expect_same(hypot(x, y), "hypot(x, y)");
  expect_same(min(x, y), "min(x, y)");
  expect_same(max(x, 1), "max(x, 1)");
}

TEST_F(ExpressionOperators, BuildTheVectorsOfTheParser) {
  expect_same(u + v, "u + v");
  expect_same(u - v, "u - v");
  expect_same(-u, "-u");
  expect_same(2 * u, "2*u");
  expect_same(u * x, "u*x");
  expect_same(u / (2 * y), "u/(2*y)");
  expect_same(dot(u, v), "dot(u, v)");
  expect_same(norm(u - v), "norm(u - v)");
  expect_same(cross(u, v), "cross(u, v)");
  expect_same(Vector{x, y, 1}, "[x, y, 1]");
  expect_same(u.segment(1, 2), "[u[1], u[2]]");
  expect_same(0.5 * (dot(u, u) - 1), "0.5*(dot(u, u) - 1)");
}

TEST_F(ExpressionOperators, AssignmentsAddUp) {
  Expression sum = 0;
  for (const Expression& entry : u) sum += entry * entry;
  expect_same(sum, "sum(i, 0, 2, u[i]^2)");
  sum -= x;
  sum *= y;
  sum /= 3;
  expect_same(sum, "(sum(i, 0, 2, u[i]^2) - x)*y/3");
}

TEST_F(ExpressionOperators, ShowTheirText) {
  EXPECT_EQ((x * y + 1).text(), "x*y + 1");
  EXPECT_EQ(Expression(2.5).text(), "2.5");
}

TEST_F(ExpressionOperators, MixingTwoSystemsIsRefused) {
  const auto other_graph = std::make_shared<Graph>();
  const Expression other(other_graph, other_graph->variable("other"));
  EXPECT_THROW(x + other, InputError);
  EXPECT_THROW(atan2(other, x), InputError);
  EXPECT_THROW(choose(x > 0, other, 1), InputError);
  EXPECT_THROW(choose(1, x, other), InputError);
  EXPECT_THROW(dot(u, {other, other, other}), InputError);
  EXPECT_NO_THROW(other + 1);
}

TEST_F(ExpressionOperators, WrongVectorLengthsAreRefused) {
  const Vector two{x, y};
  EXPECT_THROW(u + two, InputError);
  EXPECT_THROW(two - u, InputError);
  EXPECT_THROW(dot(u, two), InputError);
  EXPECT_THROW(cross(two, two), InputError);
  EXPECT_THROW(cross(u, two), InputError);
  EXPECT_THROW(u.segment(2, 2), std::out_of_range);
  EXPECT_THROW(u[3], std::out_of_range);
}

TEST(Expression, NumbersAloneGiveNumbers) {
  const Expression sum = 2 * Expression(3) + sin(0.5);
  EXPECT_EQ(sum.graph(), nullptr);
  Graph graph;
  EXPECT_EQ(graph.value(sum.node_in(graph)), 6 + std::sin(0.5));
  EXPECT_EQ(graph.value(choose(Expression(1) < 2, 3, 4).node_in(graph)), 3);
  EXPECT_EQ(graph.value(pow(2, 10).node_in(graph)), 1024);
}

}  // namespace
}  // namespace hinge::expression_test
