// Frozen branches: on their own side they are the functions themselves, beyond it their smooth continuation.
#include "expression/branches.hpp"

#include <gtest/gtest.h>

#include "expression/evaluator.hpp"

namespace hinge::branches_test {
namespace {

struct Two {
  Graph graph;
  Node x = graph.variable("x"), y = graph.variable("y");

  double value(const Graph& of, Node n, double at_x, double at_y) const {
    const std::vector<Node> blocks[] = {{x, y}};
    const auto tape = make_tape(of, blocks, std::span(&n, 1));
    auto scratch = tape->make_scratch();
    const double in[] = {at_x, at_y};
    const double* const inputs[] = {in};
    double out = 0;
    tape->evaluate(inputs, scratch.data(), &out);
    return out;
  }
};

TEST(Branches, FreezeEveryOperation) {
  for (const Op op : {Op::less, Op::less_equal, Op::min, Op::max, Op::abs, Op::sign}) {
    Two g;
    const bool one = arity(op) == 1;
    const Node f = g.graph.make(op, g.x, one ? no_node : g.y);
    Branches branches(g.graph, std::span(&f, 1));
    ASSERT_EQ(branches.size(), 1u);
    const double root_at = g.value(branches.graph(), branches.roots()[0], 3, 1);
    for (const char upper : {char{0}, char{1}}) {
      const Branches::Frozen frozen = branches.freeze({upper});
      ASSERT_EQ(frozen.active.size(), 1u);
      const bool own = (root_at > 0) == (upper != 0);  // is (3, 1) on this side? Then (-3, -1) is not
      const double a = own ? 3 : -3, b = own ? 1 : -1;
      const double there = g.value(g.graph, f, a, b);
      EXPECT_EQ(g.value(branches.graph(), frozen.functions[0], a, b), there)
          << static_cast<int>(op) << static_cast<int>(upper);
      if (op != Op::abs && op != Op::max && op != Op::min) {
        EXPECT_EQ(g.value(branches.graph(), frozen.functions[0], -a, -b), there);  // a constant
      } else {
        EXPECT_EQ(g.value(branches.graph(), frozen.functions[0], -a, -b), -there);  // linear
      }
    }
  }
}

TEST(Branches, WhatAConditionLeavesOutIsNotActive) {
  Two g;
  // if(x < 0, abs(y), x)
  const Node condition = g.graph.make(Op::less, g.x, g.graph.constant(0));
  const Node f = g.graph.make(Op::select, condition, g.graph.make(Op::abs, g.y), g.x);
  Branches branches(g.graph, std::span(&f, 1));
  ASSERT_EQ(branches.size(), 2u);
  std::size_t of_x = branches.roots()[0] == g.y ? 1 : 0;
  Branches::Sides sides(2, 1);
  EXPECT_EQ(branches.freeze(sides).active, std::vector<std::size_t>{of_x});
  EXPECT_EQ(branches.freeze(sides).functions[0], g.x);
  sides[of_x] = 0;
  EXPECT_EQ(branches.freeze(sides).active.size(), 2u);
  EXPECT_EQ(branches.freeze(sides).functions[0], g.y);
}

TEST(Branches, TheSameRootIsOneBranch) {
  Two g;
  const std::vector<Node> f = {g.graph.make(Op::less, g.x, g.y), g.graph.make(Op::max, g.y, g.x),
                               g.graph.make(Op::less_equal, g.y, g.x)};
  Branches branches(g.graph, f);
  EXPECT_EQ(branches.size(), 1u);
  for (const char upper : {char{0}, char{1}}) {
    const auto frozen = branches.freeze({upper}).functions;
    const bool above = (g.value(branches.graph(), branches.roots()[0], 2, 1) > 0) == (upper != 0);  // x > y
    EXPECT_TRUE(branches.graph().is_constant(frozen[0], above ? 0 : 1));
    EXPECT_EQ(frozen[1], above ? g.x : g.y);
    EXPECT_TRUE(branches.graph().is_constant(frozen[2], above ? 1 : 0));
  }
}

TEST(Branches, EqualityAndNumbersAreNone) {
  Two g;
  const std::vector<Node> f = {g.graph.make(Op::equal, g.x, g.y), g.graph.make(Op::sin, g.x)};
  EXPECT_EQ(Branches(g.graph, f).size(), 0u);
}

}  // namespace
}  // namespace hinge::branches_test
