// Machine code that is found again gives the bits of machine code that is made anew, whatever numbers are in it.
#include "expression/native_library.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "expression/graph_library.hpp"
#include "expression/random_expression.hpp"
#include "expression/table.hpp"
#include "hinge/model.hpp"

namespace hinge::native_library_test {
namespace {

using trial::declare_variables;
using trial::random_point;

std::vector<std::uint64_t> bits(const std::vector<double>& x) {
  std::vector<std::uint64_t> all;
  for (const double v : x) all.push_back(std::isnan(v) ? 0 : std::bit_cast<std::uint64_t>(v));
  return all;
}

std::vector<double> values(const Evaluator& e, const double* input) {
  std::vector<double> scratch = e.make_scratch(), out(e.output_count());
  e.evaluate(&input, scratch.data(), out.data());
  return out;
}

// The same random operations; every constant is another one where the seed of the numbers is.
struct Drawn {
  Graph graph;
  std::vector<std::vector<Node>> blocks;
  std::vector<Node> outputs;

  Drawn(std::uint64_t structure, std::uint64_t numbers) {
    std::mt19937_64 choose(structure), number(numbers);
    blocks.push_back(declare_variables(graph, 4));
    std::vector<Node> nodes = blocks[0];
    const Op ops[] = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::min, Op::less, Op::sin, Op::sqrt, Op::abs};
    while (nodes.size() < 60) {
      const Op op = ops[choose() % std::size(ops)];
      const Node a = nodes[choose() % nodes.size()];
      const Node b = choose() % 3 == 0 ? graph.constant(static_cast<double>(number() % 1000) + 1.5)
                                       : nodes[choose() % nodes.size()];
      nodes.push_back(arity(op) == 1 ? graph.make(op, a) : graph.make(op, a, b));
    }
    for (int k = 0; k < 6; ++k) outputs.push_back(nodes[choose() % nodes.size()]);
    outputs.push_back(graph.constant(static_cast<double>(number() % 1000) + 1.5));
  }
};

TEST(NativeLibrary, FunctionsWithOtherNumbersAreFoundAndComputeWithTheirOwn) {
  std::mt19937 points(1);
  int found = 0;
  for (std::uint64_t structure = 0; structure < 40; ++structure) {
    const Drawn one(structure, 1), other(structure, 2);
    NativeLibrary::forget_all();
    const auto alone = make_tape(other.graph, other.blocks, other.outputs);
    NativeLibrary::forget_all();
    const auto key = NativeLibrary::key(one.graph, one.blocks, one.outputs);
    EXPECT_EQ(NativeLibrary::find(*key, one.graph), nullptr);
    const auto first = make_tape(one.graph, one.blocks, one.outputs);
    found += NativeLibrary::find(*NativeLibrary::key(other.graph, other.blocks, other.outputs), other.graph) != nullptr;
    const auto second = make_tape(other.graph, other.blocks, other.outputs);
    for (int point = 0; point < 5; ++point) {
      const std::vector<double> x = random_point(points, 4);
      EXPECT_EQ(bits(values(*alone, x.data())), bits(values(*second, x.data())));
      EXPECT_NE(bits(values(*first, x.data())), bits(values(*second, x.data())));  // the last output at least
    }
  }
  EXPECT_GE(found, native_possible() ? 30 : 0);  // numbers that happen to be the same change the structure
}

TEST(NativeLibrary, OtherStructuresOutputsAndBlocksAreNotFound) {
  const Drawn drawn(3, 1);
  const auto key = NativeLibrary::key(drawn.graph, drawn.blocks, drawn.outputs);
  std::vector<Node> outputs = drawn.outputs;
  std::swap(outputs[0], outputs[1]);
  EXPECT_NE(key, NativeLibrary::key(drawn.graph, drawn.blocks, outputs));
  std::vector<std::vector<Node>> blocks = drawn.blocks;
  std::swap(blocks[0][0], blocks[0][1]);
  EXPECT_NE(key, NativeLibrary::key(drawn.graph, blocks, drawn.outputs));
  blocks = {{drawn.blocks[0].begin(), drawn.blocks[0].begin() + 2},
            {drawn.blocks[0].begin() + 2, drawn.blocks[0].end()}};
  EXPECT_NE(key, NativeLibrary::key(drawn.graph, blocks, drawn.outputs));
  for (std::uint64_t structure = 4; structure < 30; ++structure) {
    const Drawn other(structure, 1);
    EXPECT_NE(key, NativeLibrary::key(other.graph, other.blocks, other.outputs));
  }
}

// Code knows where its tables are: another function with another table in the same place must not get it.
TEST(NativeLibrary, FunctionsOfTablesAreNotKept) {
  NativeLibrary::forget_all();
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 1)};
  const std::vector<Node> outputs{graph.floor(blocks[0][0])};
  make_tape(graph, blocks, outputs);
  EXPECT_EQ(NativeLibrary::find(*NativeLibrary::key(graph, blocks, outputs), graph), nullptr);
}

const char* const models[] = {R"toml([parameters]
a = 1.0
b = 1.0
[lagrangian]
coordinates = ["p[2]", "q[2]"]
kinetic = "a*dot(p',p')/2 + b*dot(q',q')/2"
potential = "9.81*(a*p[1] + b*q[1])"
constraints = ["(dot(p,p) - 1)/2", "(dot(q-p,q-p) - b^2)/2"]
[initial]
position = { p = [1, 0], q = ["1+b", 0] }
velocity = { q = [0, 0.5] }
[integrate]
tolerance = 1e-7
end = 0.3
)toml",
                              R"toml([parameters]
a = 1.0
b = 0.5
[dae]
unknowns = ["x", "y"]
equations = ["x' = a*y", "0 = y + b*x + y^3"]
[initial]
unknowns = { x = 1 }
guess = { y = -0.3 }
[integrate]
tolerance = 1e-6
end = 0.5
)toml",
                              R"toml([parameters]
a = 1.0
b = 1.0
[multibody]
gravity = [0, -9.81, 0]
[[body]]
name = "rod"
mass = "a"
inertia = [0.01, "a/12*b^2", "a/12*b^2"]
position = ["b/2", 0, 0]
[[joint]]
type = "revolute"
bodies = ["ground", "rod"]
point = [0, 0, 0]
axis = [0, 0, 1]
[integrate]
tolerance = 1e-7
end = 0.3
)toml"};

std::vector<std::uint64_t> end_of(const std::string& text, const std::vector<Override>& overrides) {
  const Model model = parse_model(text, "model", overrides);
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  std::vector<double> all{run.state().t};
  for (const auto* part : {&run.state().y, &run.state().z, &run.state().psi})
    all.insert(all.end(), part->begin(), part->end());
  return bits(all);
}

// Values that fold away (1), that coincide with others, and any.
TEST(NativeLibrary, RunsOfAnyParametersHaveTheBitsOfRunsThatAreAlone) {
  std::mt19937_64 random(5);
  const double some[] = {1, 0.5, 2};
  const auto draw = [&] {
    return random() % 2 ? some[random() % 3] : 0.3 + static_cast<double>(random() % 1000) / 500;
  };
  const std::vector<std::vector<std::string>> methods{
      {"explicit", "gauss-lobatto", "taylor", "radau"}, {"radau", "bdf"}, {"explicit", "radau"}};
  for (std::size_t m = 0; m < std::size(models); ++m)
    for (const std::string& method : methods[m]) {
      std::vector<std::vector<Override>> runs;
      for (int k = 0; k < 5; ++k) {
        runs.push_back({{"parameters.a", std::to_string(draw())}, {"parameters.b", std::to_string(draw())}});
        runs.back().push_back({"integrate.method", method});
        if (method == "gauss-lobatto") runs.back().push_back({"integrate.step", "0.01"});
      }
      std::vector<std::vector<std::uint64_t>> alone;
      for (const auto& run : runs) {
        NativeLibrary::forget_all();
        GraphLibrary::forget_all();
        alone.push_back(end_of(models[m], run));
      }
      NativeLibrary::forget_all();
      GraphLibrary::forget_all();
      for (std::size_t k = 0; k < runs.size(); ++k)
        EXPECT_EQ(end_of(models[m], runs[k]), alone[k]) << m << ' ' << method << ' ' << k;
      EXPECT_NE(alone[0], alone[1]);
    }
}

}  // namespace
}  // namespace hinge::native_library_test
