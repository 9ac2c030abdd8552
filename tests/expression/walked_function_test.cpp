#include "expression/walked_function.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/random_expression.hpp"
#include "hinge/error.hpp"

namespace hinge::walked_function_test {
namespace {

using trial::at;
using trial::declare_variables;
using trial::evaluate_all;
using trial::random_expression;
using trial::random_point;

std::vector<std::uint64_t> bits(const double* x, std::size_t count) {
  std::vector<std::uint64_t> all;
  for (std::size_t k = 0; k < count; ++k) all.push_back(std::bit_cast<std::uint64_t>(x[k]));
  return all;
}

// Random outputs, among them inputs, constants and repeated ones, at several points with one scratch array.
TEST(WalkedFunction, HasTheBitsOfTheTapeAndOfTheGraph) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Graph graph;
    const std::vector<Node> variables = declare_variables(graph, 2 + static_cast<int>(random() % 8));
    const auto cut = static_cast<std::ptrdiff_t>(random() % variables.size());
    const std::vector<std::vector<Node>> blocks{{variables.begin(), variables.begin() + cut},
                                                {variables.begin() + cut, variables.end()}};
    std::vector<Node> outputs;
    for (int k = 0; k < 6; ++k)
      outputs.push_back(random_expression(graph, variables, 1 + static_cast<int>(random() % 60), random));
    outputs.push_back(graph.floor(graph.multiply(graph.constant(3), outputs[0])));
    outputs.push_back(variables[random() % variables.size()]);
    outputs.push_back(graph.constant(0.25));
    outputs.push_back(outputs[random() % outputs.size()]);
    const WalkedFunction walked(graph, blocks, outputs);
    const auto tape = make_tape(graph, blocks, outputs);
    std::vector<double> by_walk = walked.make_scratch(), by_tape = tape->make_scratch();
    for (int point = 0; point < 3; ++point) {
      const std::vector<double> x = random_point(random, variables.size());
      const double* const inputs[] = {x.data(), x.data() + cut};
      walked.evaluate(inputs, by_walk.data());
      tape->evaluate(inputs, by_tape.data());
      const auto got = bits(by_walk.data() + walked.first_output(), outputs.size());
      EXPECT_EQ(got, bits(by_tape.data() + tape->first_output(), outputs.size())) << "seed " << seed;
      const std::vector<double> all = evaluate_all(graph, x);
      std::vector<double> wanted;
      for (const Node n : outputs) wanted.push_back(all[at(n)]);
      EXPECT_EQ(got, bits(wanted.data(), wanted.size())) << "seed " << seed;
    }
  }
}

TEST(WalkedFunction, ABlockThatIsLeftOutCountsAsZero) {
  Graph graph;
  const auto variables = declare_variables(graph, 2);
  const std::vector<std::vector<Node>> blocks{{variables[0]}, {variables[1]}};
  const Node out = graph.add(variables[0], graph.make(Op::cos, variables[1]));
  const WalkedFunction walked(graph, blocks, std::span(&out, 1));
  std::vector<double> scratch = walked.make_scratch();
  const double x = 2, y = 1;
  const double *const all[] = {&x, &y}, *const some[] = {&x, nullptr};
  walked.evaluate(all, scratch.data());
  walked.evaluate(some, scratch.data());
  EXPECT_EQ(scratch[walked.first_output()], 3);
}

TEST(WalkedFunction, RefusesAVariableThatIsInNoBlock) {
  Graph graph;
  const auto variables = declare_variables(graph, 2);
  const std::vector<std::vector<Node>> blocks{{variables[0]}};
  EXPECT_NO_THROW(WalkedFunction(graph, blocks, std::span(&variables[0], 1)));
  EXPECT_THROW(WalkedFunction(graph, blocks, std::span(&variables[1], 1)), InputError);
}

}  // namespace
}  // namespace hinge::walked_function_test
