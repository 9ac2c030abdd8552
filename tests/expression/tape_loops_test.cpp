// Families in long functions become loops of machine code, which compute what the tape computes, to the last bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "expression/random_expression.hpp"
#include "expression/tape_loops.hpp"

namespace hinge::tape_loops_test {
namespace {

using trial::declare_variables;
using trial::random_point;

struct Function {
  Graph graph;
  std::vector<std::vector<Node>> blocks;
  std::vector<Node> outputs;
};

std::vector<TapeLoop> loops_of(const Function& f, std::size_t& steps) {
  const TapePlan plan(f.graph, f.outputs, TapePlan::Order::as_found);
  TapePlaces places(f.graph, f.blocks, f.outputs, plan);
  steps = plan.steps.size();
  return find_loops(plan, {places.blocks, places.inputs, places.slot, places.slots});
}

std::vector<double> values(const Function& f, NativeUse use, const std::vector<const double*>& inputs) {
  const NativeUse before = native_use();
  set_native_use(use);
  const auto e = make_tape(f.graph, f.blocks, f.outputs);
  set_native_use(before);
  std::vector<double> scratch = e->make_scratch(), out(e->output_count());
  for (int twice = 0; twice < 2; ++twice) e->evaluate(inputs.data(), scratch.data(), out.data());
  return out;
}

void expect_same_bits(const Function& f, std::mt19937& random) {
  std::vector<std::vector<double>> x;
  std::vector<const double*> inputs;
  for (const auto& block : f.blocks) inputs.push_back(x.emplace_back(random_point(random, block.size())).data());
  const auto expected = values(f, NativeUse::off, inputs), actual = values(f, NativeUse::on, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(std::isnan(expected[i])
                    ? std::isnan(actual[i])
                    : std::bit_cast<std::uint64_t>(expected[i]) == std::bit_cast<std::uint64_t>(actual[i]))
        << i << ": " << expected[i] << " and " << actual[i];
}

// A member of a family: the same operations, as drawn, on other operands.
Node member(Graph& graph, std::vector<Node> known, int operations, unsigned drawn) {
  std::mt19937 random(drawn);
  constexpr Op ops[] = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::negate,   Op::abs,
                        Op::min, Op::max,      Op::sqrt,     Op::less,   Op::multiply, Op::select};
  for (int k = 0; k < operations; ++k) {
    const auto any = [&] { return known[known.size() - 1 - random() % std::min<std::size_t>(known.size(), 7)]; };
    const Op op = ops[random() % std::size(ops)];
    const Node a = any(), b = any(), c = any();
    known.push_back(graph.make(op, a, arity(op) > 1 ? b : no_node, arity(op) > 2 ? c : no_node));
  }
  return known.back();
}

// Each member has some numbers, some of its neighbours', a constant that all share and one of its own; it may go on
// with what the one before has computed, and one of them is another function.
Function random_families(std::mt19937& random) {
  Function f;
  const std::size_t width = 1 + random() % 4, members = 300 + random() % 300;
  const std::vector<Node> all = declare_variables(f.graph, static_cast<int>(1 + 2 * width * members));
  const auto part = [&](std::size_t from, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    f.blocks.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  part(0, 1);
  part(1, width * members);
  part(1 + width * members, width * members);
  std::vector<Node> earlier;
  for (int family = 0; family < 3; ++family) {
    const auto drawn = static_cast<unsigned>(random());
    const int operations = 6 + static_cast<int>(random() % 30);
    const bool carries = random() % 2 == 0, own_constants = random() % 2 == 0, from_end = random() % 3 == 0;
    const std::size_t odd = random() % members;
    Node before = f.blocks[0][0];
    std::vector<Node> made;
    for (std::size_t i = 0; i + 1 < members; ++i) {
      std::vector<Node> known{f.blocks[0][0], f.graph.constant(own_constants ? 0.37 + static_cast<double>(i) : 1.7)};
      for (std::size_t c = 0; c < 2 * width; ++c) known.push_back(f.blocks[1][width * i + c]);
      for (std::size_t c = 0; c < width; ++c)
        known.push_back(f.blocks[2][width * (from_end ? members - 1 - i : i) + c]);
      if (!earlier.empty()) known.push_back(earlier[i]);
      if (carries) known.push_back(before);
      made.push_back(before = member(f.graph, known, operations, drawn + (i == odd ? 1 : 0)));
    }
    f.outputs.insert(f.outputs.end(), made.begin(), made.end());
    Node sum = made[0];
    for (const Node n : made) sum = f.graph.add(sum, n);
    f.outputs.push_back(sum);
    earlier = made;
  }
  f.outputs.push_back(f.blocks[1][2]);
  return f;
}

TEST(TapeLoops, RandomFamiliesHaveTheBitsOfTheTape) {
  std::mt19937 random(11);
  std::size_t in_loops = 0, steps = 0;
  for (int k = 0; k < 60; ++k) {
    SCOPED_TRACE(k);
    const Function f = random_families(random);
    std::size_t own = 0;
    for (const TapeLoop& loop : loops_of(f, own)) in_loops += trial::at(loop.period * loop.repeats);
    steps += own;
    expect_same_bits(f, random);
  }
  EXPECT_GT(static_cast<double>(in_loops), 0.5 * static_cast<double>(steps));  // measured 0.69
}

// Rods between neighbours: their gradients, and what their rates change by.
TEST(TapeLoops, AChainIsALoop) {
  Function f;
  constexpr int links = 500;
  const std::vector<Node> all = declare_variables(f.graph, 6 * links);
  f.blocks.emplace_back(all.begin(), all.begin() + 3 * links);
  f.blocks.emplace_back(all.begin() + 3 * links, all.end());
  std::vector<Node> bends;
  for (std::size_t i = 1; i < links; ++i) {
    Node bend = no_node;
    for (const int sign : {-1, 1})
      for (std::size_t c = 0; c < 3; ++c) {
        const Node d = f.graph.subtract(f.blocks[0][3 * i + c], f.blocks[0][3 * i - 3 + c]);
        f.outputs.push_back(sign > 0 ? d : f.graph.negate(d));
      }
    for (std::size_t c = 0; c < 3; ++c) {
      const Node u = f.graph.subtract(f.blocks[1][3 * i + c], f.blocks[1][3 * i - 3 + c]),
                 square = f.graph.multiply(u, u);
      bend = c == 0 ? square : f.graph.add(bend, square);
    }
    bends.push_back(bend);
  }
  f.outputs.insert(f.outputs.end(), bends.begin(), bends.end());
  std::size_t steps = 0, in_loops = 0;
  for (const TapeLoop& loop : loops_of(f, steps)) in_loops += trial::at(loop.period * loop.repeats);
  EXPECT_GT(in_loops, steps - 100);  // measured 6960 of 6986
  std::mt19937 random(2);
  for (int k = 0; k < 5; ++k) expect_same_bits(f, random);
}

TEST(TapeLoops, ShortFunctionsAreWrittenOut) {
  Function f;
  const std::vector<Node> x = declare_variables(f.graph, 200);
  f.blocks = {x};
  for (std::size_t i = 1; i < 200; ++i) f.outputs.push_back(f.graph.multiply(x[i], x[i - 1]));
  std::size_t steps = 0;
  EXPECT_TRUE(loops_of(f, steps).empty());
}

}  // namespace
}  // namespace hinge::tape_loops_test
