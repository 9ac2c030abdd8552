// Expressions that are found again are those that would be made, node by node and bit by bit, whatever numbers are in
// them.
#include "expression/graph_library.hpp"

#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/random_expression.hpp"
#include "expression/table.hpp"

namespace hinge::graph_library_test {
namespace {

using trial::declare_variables;

// The same random operations for one seed of the structure. Numbers coincide with each other and with those that
// derivatives bring along, some of them, in every third graph in all places.
struct Drawn {
  Graph graph;
  std::vector<Node> variables, functions;

  Drawn(std::uint64_t structure, std::uint64_t numbers) {
    std::mt19937_64 choose(structure), number(numbers);
    const double usual[] = {0.5, 2, 3, 0.25, 6, 1.5, -0.5, 1, 0};
    const std::uint64_t rare = numbers % 3 == 0 ? 2 : 60;
    const auto draw = [&] {
      const std::uint64_t n = number();
      return number() % rare == 0 ? usual[n % std::size(usual)] : 1.7 + static_cast<double>(n % 100000) / 65536;
    };
    variables = declare_variables(graph, 4);
    std::vector<Node> nodes = variables;
    for (int k = 0; k < 3; ++k) nodes.push_back(graph.constant(draw()));
    const Op ops[] = {Op::add,  Op::subtract, Op::multiply, Op::multiply, Op::divide, Op::min,
                      Op::less, Op::sin,      Op::sqrt,     Op::abs,      Op::hypot,  Op::select};
    while (nodes.size() < 50) {
      const auto any = [&] { return nodes[choose() % nodes.size()]; };
      const Op op = ops[choose() % std::size(ops)];
      const Node a = any(), b = choose() % 3 == 0 ? graph.constant(draw()) : any(), c = any();
      if (choose() % 10 == 0)
        nodes.push_back(graph.power(a, choose() % 2 ? graph.constant(draw()) : graph.constant(3)));
      else
        nodes.push_back(arity(op) == 1   ? graph.make(op, a)
                        : arity(op) == 2 ? graph.make(op, a, b)
                                         : graph.make(op, a, b, c));
    }
    for (int k = 0; k < 5; ++k) functions.push_back(nodes[nodes.size() - 1 - choose() % 20]);
  }
};

// Not found and not kept: as if somebody wanted to know what is done with constants.
struct Anew {
  ConstantTrace trace;
  Anew() { ConstantTrace::active = &trace; }
  Anew(const Anew&) = delete;
  Anew& operator=(const Anew&) = delete;
  ~Anew() { ConstantTrace::active = nullptr; }
};

void expect_same(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.size(), b.size());
  for (Node n = 0; n < a.size(); ++n) {
    const Graph::Entry &x = a[n], &y = b[n];
    ASSERT_TRUE(x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c) << n;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(x.value), std::bit_cast<std::uint64_t>(y.value)) << n;
  }
  EXPECT_EQ(a.structure(), b.structure());
}

void expect_same(const SparseExpressions& a, const SparseExpressions& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.row_start, b.row_start);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.entries, b.entries);
}

// First and second derivatives: the second ones of a graph that was found.
TEST(GraphLibrary, DerivativesThatAreFoundAreThoseThatAreMade) {
  GraphLibrary::forget_all();
  const long before = GraphLibrary::found();
  for (std::uint64_t structure = 0; structure < 60; ++structure)
    for (std::uint64_t numbers = 1; numbers < 13; ++numbers) {
      Drawn drawn(structure, numbers);
      Graph anew = drawn.graph;
      const SparseExpressions first = jacobian(drawn.graph, drawn.functions, drawn.variables);
      const SparseExpressions second = newton_matrix(drawn.graph, first.entries, drawn.variables);
      const std::vector<Node> third = gradient(drawn.graph, drawn.functions[0], drawn.variables);
      const Anew made;
      expect_same(jacobian(anew, drawn.functions, drawn.variables), first);
      expect_same(newton_matrix(anew, first.entries, drawn.variables), second);
      EXPECT_EQ(gradient(anew, drawn.functions[0], drawn.variables), third);
      expect_same(drawn.graph, anew);
      ASSERT_FALSE(HasFatalFailure()) << structure << ' ' << numbers;
    }
  EXPECT_GT(GraphLibrary::found() - before, 400);  // measured 429 of 2160; two of each are made before it is known
}

// Whatever a making does with numbers: found again only where that says nothing else.
TEST(GraphLibrary, WhatDependsOnANumberIsFoundForThisNumberOnly) {
  const auto made = [](double x, const auto& make) {
    Graph graph;
    const Node variable = graph.variable("x"), number = graph.constant(x);
    const GraphLibrary::Key key(GraphLibrary::Making::quantity);
    return GraphLibrary::once(graph, key, [&] { return make(graph, variable, number); })[0];
  };
  const auto by_value = [](Graph& g, Node x, Node n) -> std::vector<int> {
    return {g.value(n) > 5 ? 1 : 2, g.add(x, n)};
  };
  const auto by_test = [](Graph& g, Node x, Node n) -> std::vector<int> {
    return {g.passes([](double number) { return number > 5; }, n) ? 1 : 2, g.add(x, n)};
  };
  const auto by_comparison = [](Graph& g, Node x, Node n) -> std::vector<int> {
    return {g.make(Op::select, g.make(Op::less, g.constant(5), n), g.constant(7), x) == x ? 2 : 1};
  };
  const auto by_coincidence = [](Graph& g, Node, Node n) -> std::vector<int> {
    return {g.multiply(n, n) == g.add(n, g.constant(42)) || g.multiply(n, n) == g.constant(36) ? 1 : 2};
  };
  const auto agree = [&](const auto& make, const std::vector<double>& numbers) {
    GraphLibrary::forget_all();
    for (const double x : numbers) {
      const int found = made(x, make);
      const Anew anew;
      EXPECT_EQ(found, made(x, make)) << x;
    }
  };
  for (const std::vector<double>& numbers : {std::vector<double>{3, 3, 3, 8, 3, 4, 4, 6, 7, 8},
                                             {8, 8, 8, 3, 3, 7, 6, -6, 7},
                                             {6, 6, 7, 6, 5, 5, 5, 36, 42}}) {
    agree(by_value, numbers);
    agree(by_test, numbers);
    agree(by_comparison, numbers);
    agree(by_coincidence, numbers);
  }
}

TEST(GraphLibrary, WhatComesFromElsewhereIsNotKept) {
  GraphLibrary::forget_all();
  const long before = GraphLibrary::found();
  for (int k = 0; k < 5; ++k) {
    Graph graph, other;
    const Node x = graph.variable("x");
    const Node number = other.constant(1.25 + k);
    GraphLibrary::once(graph, GraphLibrary::Key(GraphLibrary::Making::quantity), [&] {
      return std::vector<int>{graph.add(x, graph.remake(other, other[number], no_node, no_node, no_node))};
    });
    EXPECT_EQ(graph[graph.size() - 1].op, Op::add);
    EXPECT_EQ(graph.value(graph.constants()[0]), 1.25 + k);
  }
  EXPECT_EQ(GraphLibrary::found(), before);
}

TEST(GraphLibrary, GraphsWithTablesAreLeftAlone) {
  GraphLibrary::forget_all();
  const long before = GraphLibrary::found();
  for (int k = 0; k < 5; ++k) {
    Graph graph;
    const std::vector<Node> x = declare_variables(graph, 1), f{graph.multiply(graph.floor(x[0]), x[0])};
    jacobian(graph, f, x);
  }
  EXPECT_EQ(GraphLibrary::found(), before);
}

}  // namespace
}  // namespace hinge::graph_library_test
