// Code for four points at once has in every lane the numbers of the code for one, to the last bit.
#include "expression/lane_code.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "expression/random_expression.hpp"

namespace hinge::lane_code_test {
namespace {

using trial::declare_variables;
using trial::random_expression;
using trial::random_point;

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

class LaneCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!native_possible() || native_use() == NativeUse::off) GTEST_SKIP() << "there is no machine code";
  }
};

// All outputs at four points, one block of inputs; the constants of lane l are those of scratch[l].
std::vector<std::array<double, 4>> at_four(LaneCode& code, std::size_t outputs,
                                           const std::vector<std::vector<double>>& scratch,
                                           const std::vector<std::vector<double>>& points) {
  EXPECT_NE(code.code(), nullptr);
  std::vector<FourNumbers> room(std::max(code.scratch(), scratch[0].size())), x(points[0].size());
  for (std::size_t l = 0; l < 4; ++l) {
    for (std::size_t k = 0; k < scratch[l].size(); ++k) room[k].of[l] = scratch[l][k];
    for (std::size_t k = 0; k < x.size(); ++k) x[k].of[l] = points[l][k];
  }
  const double* const inputs[] = {x.data()->of};
  (*code.code())(inputs, room.data()->of);
  std::vector<std::array<double, 4>> out(outputs);
  for (std::size_t k = 0; k < outputs; ++k) std::copy_n(room[code.first_output() + k].of, 4, out[k].begin());
  return out;
}

// Returns how many numbers were compared.
long expect_lanes(const Graph& graph, const std::vector<std::vector<Node>>& blocks, const std::vector<Node>& outputs,
                  const std::vector<std::vector<double>>& points) {
  const auto one = make_tape(graph, blocks, outputs);
  LaneCode code(graph, blocks, outputs);
  const std::vector<double> scratch = one->make_scratch();
  const auto four = at_four(code, outputs.size(), {scratch, scratch, scratch, scratch}, points);
  long compared = 0;
  for (std::size_t l = 0; l < 4; ++l) {
    std::vector<double> own = scratch, out(outputs.size());
    const double* const inputs[] = {points[l].data()};
    one->evaluate(inputs, own.data(), out.data());
    for (std::size_t k = 0; k < out.size(); ++k, ++compared)
      EXPECT_TRUE(same(out[k], four[k][l])) << k << ", lane " << l << ": " << out[k] << " and " << four[k][l];
  }
  return compared;
}

TEST_F(LaneCodeTest, EveryOperationOnNumbersOfAllKinds) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> odd{0.0, -0.0, 1, -1, 0.5, -2.75, 3, inf, -inf, nan, 1e300, -1e300, 5e-324, 1e-310};
  for (int k = static_cast<int>(Op::negate); k < static_cast<int>(Op::table); ++k) {
    const Op op = static_cast<Op>(k);
    SCOPED_TRACE(k);
    Graph graph;
    const std::vector<std::vector<Node>> blocks{declare_variables(graph, 3)};
    const int n = arity(op);
    const Node out = graph.make(op, blocks[0][0], n > 1 ? blocks[0][1] : no_node, n > 2 ? blocks[0][2] : no_node);
    for (std::size_t a = 0; a < odd.size(); ++a)
      for (std::size_t b = 0; b + 3 < odd.size(); b += 2)
        expect_lanes(
            graph, blocks, {out},
            {{odd[a], odd[b], 7.25}, {odd[b + 1], odd[a], 7.25}, {odd[a], odd[b + 2], 1}, {odd[a], odd[a], 0}});
  }
}

TEST_F(LaneCodeTest, RandomExpressionsWithCallsAndMoreValuesThanRegisters) {
  std::mt19937 random(5);
  long compared = 0;
  for (int k = 0; k < 60; ++k) {
    Graph graph;
    const std::vector<std::vector<Node>> blocks{declare_variables(graph, 2 + k % 9)};
    std::vector<Node> outputs;
    for (int i = 0; i < 5; ++i) outputs.push_back(random_expression(graph, blocks[0], 40 + 30 * (k % 7), random));
    outputs.push_back(blocks[0][0]);           // copied
    outputs.push_back(outputs[1]);             // twice
    outputs.push_back(graph.constant(2.125));  // there from the beginning
    std::vector<std::vector<double>> points;
    for (int l = 0; l < 4; ++l) points.push_back(random_point(random, blocks[0].size()));
    compared += expect_lanes(graph, blocks, outputs, points);
  }
  EXPECT_EQ(compared, 60 * 4 * 8);
}

TEST_F(LaneCodeTest, EveryLaneHasItsOwnConstants) {
  std::vector<std::vector<double>> scratch, points;
  std::vector<double> expected;
  std::unique_ptr<LaneCode> code;
  for (int l = 0; l < 4; ++l) {
    Graph graph;
    const std::vector<std::vector<Node>> blocks{declare_variables(graph, 2)};
    const Node c = graph.constant(0.3 + 0.25 * l);
    const std::vector<Node> outputs{
        graph.add(graph.multiply(c, graph.make(Op::sin, blocks[0][0])), graph.divide(blocks[0][1], c))};
    const auto one = make_tape(graph, blocks, outputs);
    scratch.push_back(one->make_scratch());
    points.push_back({0.1 * l + 1, 2.0 - l});
    std::vector<double> own = scratch.back(), out(1);
    const double* const inputs[] = {points.back().data()};
    one->evaluate(inputs, own.data(), out.data());
    expected.push_back(out[0]);
    if (!code) code = std::make_unique<LaneCode>(graph, blocks, outputs);
  }
  const auto four = at_four(*code, 1, scratch, points);
  for (std::size_t l = 0; l < 4; ++l) EXPECT_TRUE(same(four[0][l], expected[l])) << l;
  EXPECT_NE(four[0][0], four[0][1]);
}

}  // namespace
}  // namespace hinge::lane_code_test
