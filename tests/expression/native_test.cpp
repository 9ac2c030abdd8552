// Machine code computes what the tape computes, to the last bit; and where there can be none, the tape does.
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "expression/native.hpp"
#include "expression/native_library.hpp"
#include "expression/random_expression.hpp"
#include "expression/table.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"

namespace hinge::native_test {
namespace {

using trial::declare_variables;
using trial::random_expression;
using trial::random_point;

/// What new tapes do, while this lives.
struct Use {
  NativeUse before = native_use();
  explicit Use(NativeUse use) { set_native_use(use); }
  ~Use() { set_native_use(before); }
};

std::unique_ptr<Evaluator> make(NativeUse use, const Graph& graph, std::span<const std::vector<Node>> blocks,
                                std::span<const Node> outputs) {
  const Use now(use);
  return make_tape(graph, blocks, outputs);
}

std::vector<double> values(const Evaluator& e, const std::vector<const double*>& inputs) {
  std::vector<double> scratch = e.make_scratch(), out(e.output_count());
  e.evaluate(inputs.data(), scratch.data(), out.data());
  return out;
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

class Native : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!native_possible()) GTEST_SKIP() << "this processor has no code of ours";
  }
};

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> odd_numbers{0.0, -0.0, 1, -1, 0.5, -2.75, 3, inf, -inf, nan, 1e300, -1e300, 5e-324, 1e-310};

TEST_F(Native, EveryOperationOnNumbersOfAllKinds) {
  for (int k = static_cast<int>(Op::negate); k < static_cast<int>(Op::table); ++k) {
    const Op op = static_cast<Op>(k);
    SCOPED_TRACE(k);
    Graph graph;
    const std::vector<std::vector<Node>> blocks{declare_variables(graph, 3)};
    const int n = arity(op);
    const Node out = graph.make(op, blocks[0][0], n > 1 ? blocks[0][1] : no_node, n > 2 ? blocks[0][2] : no_node);
    const auto code = make(NativeUse::on, graph, blocks, std::span(&out, 1));
    for (const double a : odd_numbers)
      for (const double b : odd_numbers) {
        const double x[] = {a, b, 7.25};
        const double expected = apply_op(op, a, b, 7.25), actual = values(*code, {x})[0];
        EXPECT_TRUE(same(expected, actual)) << a << ' ' << b << ": " << expected << " and " << actual;
      }
  }
}

TEST_F(Native, RandomExpressionsWithCallsAndMoreValuesThanRegisters) {
  std::mt19937 random(3);
  const long before = native_functions();
  for (int k = 0; k < 60; ++k) {
    Graph graph;
    const std::vector<Node> variables = declare_variables(graph, 24);
    // eleven blocks are more than there are registers for pointers
    std::vector<std::vector<Node>> blocks(11);
    for (std::size_t i = 0; i < variables.size(); ++i) blocks[i % blocks.size()].push_back(variables[i]);
    std::vector<Node> outputs;
    for (int i = 0; i < 5; ++i) outputs.push_back(random_expression(graph, variables, 40 + 30 * (k % 7), random));
    outputs.push_back(outputs[1]);            // twice
    outputs.push_back(variables[3]);          // an input
    outputs.push_back(graph.constant(0.75));  // a number
    // all variables at once, twice: nothing of them fits into registers
    for (const Op op : {Op::multiply, Op::add}) {
      Node all = graph.make(op, variables[0], variables[23]);
      for (std::size_t i = 1; i < 23; ++i)
        all = graph.add(all, graph.make(op, graph.make(op, variables[i], variables[23 - i]), outputs[i % 5]));
      outputs.push_back(all);
    }
    const auto tape = make(NativeUse::off, graph, blocks, outputs);
    const auto code = make(NativeUse::check, graph, blocks, outputs);
    for (int point = 0; point < 5; ++point) {
      std::vector<std::vector<double>> x;
      std::vector<const double*> inputs;
      for (const auto& block : blocks) inputs.push_back(x.emplace_back(random_point(random, block.size())).data());
      const auto expected = values(*tape, inputs), actual = values(*code, inputs);
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(same(expected[i], actual[i])) << k << ' ' << i;
    }
  }
  EXPECT_EQ(native_functions() - before, 60);
}

// Without calls other registers hold the pointers to blocks; one of them used to serve the blocks that have none, too.
TEST_F(Native, MoreBlocksThanRegistersWithoutCalls) {
  std::mt19937 random(7);
  for (std::size_t count = 5; count <= 13; ++count) {
    Graph graph;
    std::vector<std::vector<Node>> blocks(count);
    for (auto& block : blocks) block = {graph.variable("a"), graph.variable("b")};
    std::vector<Node> outputs;
    for (int k = 0; k < 20; ++k) {
      const auto any = [&] { return blocks[random() % count][random() % 2]; };
      outputs.push_back(graph.add(graph.multiply(any(), any()), graph.subtract(any(), any())));
    }
    for (const auto& block : blocks) outputs.push_back(graph.multiply(block[0], block[1]));  // all are used
    const auto tape = make(NativeUse::off, graph, blocks, outputs), code = make(NativeUse::on, graph, blocks, outputs);
    std::vector<std::vector<double>> x;
    std::vector<const double*> inputs;
    for (std::size_t k = 0; k < count; ++k) inputs.push_back(x.emplace_back(random_point(random, 2)).data());
    EXPECT_EQ(values(*tape, inputs), values(*code, inputs)) << count;
  }
}

TEST_F(Native, ProductsAreRoundedBeforeTheyAreAdded) {
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 3)};
  const Node out = graph.add(graph.multiply(blocks[0][0], blocks[0][1]), blocks[0][2]);
  const auto code = make(NativeUse::on, graph, blocks, std::span(&out, 1));
  std::mt19937 random(1);
  int fused = 0;
  for (int k = 0; k < 100; ++k) {
    const auto x = random_point(random, 3);
    volatile double product = x[0] * x[1];  // rounded
    EXPECT_EQ(values(*code, {x.data()})[0], product + x[2]);
    fused += values(*code, {x.data()})[0] == std::fma(x[0], x[1], x[2]);
  }
  EXPECT_LT(fused, 90);  // the control: where they would not be, 24 of these sums would differ
}

TEST_F(Native, TablesAndPairsOfSineAndCosine) {
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 2)};
  const Node x = blocks[0][0], y = blocks[0][1];
  const Node outputs[] = {graph.add(graph.make(Op::sin, x), graph.multiply(y, graph.make(Op::cos, x))),
                          graph.floor(graph.multiply(y, graph.constant(3))), graph.make(Op::cos, x)};
  const auto code = make(NativeUse::check, graph, blocks, outputs);
  const double at[] = {0.8, -1.3};
  const auto out = values(*code, {at});
  EXPECT_EQ(out[0], std::sin(0.8) + -1.3 * std::cos(0.8));
  EXPECT_EQ(out[1], -4);
  EXPECT_EQ(out[2], std::cos(0.8));
}

TEST_F(Native, ABlockThatIsLeftOutCountsAsZero) {
  Graph graph;
  const auto variables = declare_variables(graph, 2);
  const std::vector<std::vector<Node>> blocks{{variables[0]}, {variables[1]}};
  const Node out = graph.add(variables[0], graph.make(Op::cos, variables[1]));
  const double x = 2;
  for (const NativeUse use : {NativeUse::off, NativeUse::on})
    EXPECT_EQ(values(*make(use, graph, blocks, std::span(&out, 1)), {&x, nullptr})[0], 3);
}

TEST_F(Native, SeveralPointsAtOnce) {
  std::mt19937 random(5);
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 4)};
  const Node out[] = {random_expression(graph, blocks[0], 60, random), random_expression(graph, blocks[0], 60, random)};
  const auto code = make(NativeUse::on, graph, blocks, out);
  std::vector<double> scratch = code->make_scratch(3);
  double result[3][2];
  std::vector<std::vector<double>> x;
  for (int l = 0; l < 3; ++l) x.push_back(random_point(random, 4));
  const double* const in[3][1] = {{x[0].data()}, {x[1].data()}, {x[2].data()}};
  const double* const* const lanes[] = {in[0], in[1], in[2]};
  double* const outputs[] = {result[0], result[1], result[2]};
  code->evaluate(3, lanes, scratch.data(), outputs);
  const auto tape = make(NativeUse::off, graph, blocks, out);
  for (std::size_t l = 0; l < 3; ++l) {
    const auto expected = values(*tape, {x[l].data()});
    for (std::size_t k = 0; k < 2; ++k) EXPECT_TRUE(same(expected[k], result[l][k]));
  }
}

TEST_F(Native, ThreadsShareCode) {
  std::mt19937 random(7);
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 6)};
  const Node out = random_expression(graph, blocks[0], 300, random);
  const auto code = make(NativeUse::on, graph, blocks, std::span(&out, 1));
  const auto tape = make(NativeUse::off, graph, blocks, std::span(&out, 1));
  std::vector<std::vector<double>> x, found(4);
  for (int k = 0; k < 200; ++k) x.push_back(random_point(random, 6));
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&] {
      std::vector<double> scratch = code->make_scratch();
      for (const auto& point : x) {
        const double* const inputs[] = {point.data()};
        code->evaluate(inputs, scratch.data());
        mine.push_back(scratch[code->first_output()]);
      }
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t k = 0; k < x.size(); ++k)
    for (const auto& mine : found) ASSERT_TRUE(same(mine[k], values(*tape, {x[k].data()})[0]));
}

#if defined(__linux__)
std::pair<int, int> executable_pages() {  // all that are no file's, and those of them that can be written
  std::ifstream maps("/proc/self/maps");
  int executable = 0, both = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('/') != std::string::npos || line.find('[') != std::string::npos) continue;
    const std::string rights = line.substr(line.find(' ') + 1, 4);
    executable += rights[2] == 'x';
    both += rights[1] == 'w' && rights[2] == 'x';
  }
  return {executable, both};
}

TEST_F(Native, NoPageIsWritableAndExecutable) {
  Graph graph;
  const std::vector<std::vector<Node>> blocks{declare_variables(graph, 1)};
  const Node out = graph.add(blocks[0][0], graph.constant(1));
  const auto code = make(NativeUse::on, graph, blocks, std::span(&out, 1));
  const auto [executable, both] = executable_pages();
  EXPECT_GT(executable, 0);  // the control: there is code
  EXPECT_EQ(both, 0);
}

TEST_F(Native, WhereMemoryCannotBecomeExecutableTheTapeComputes) {
  const auto refuse = [] { return prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) == 0; };
  const auto compute = [&] {
    if (!refuse()) std::_Exit(77);
    NativeLibrary::forget_all();  // what was made before
    Graph graph;
    const std::vector<std::vector<Node>> blocks{declare_variables(graph, 1)};
    const Node out = graph.add(blocks[0][0], graph.constant(1));
    const long before = native_functions();
    const double x = 2;
    const bool right = values(*make(NativeUse::on, graph, blocks, std::span(&out, 1)), {&x})[0] == 3;
    std::_Exit(right && native_functions() == before ? 0 : 1);
  };
  EXPECT_EXIT(
      compute(), [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) % 77 == 0; }, "");
}
#endif

// Every function that the models of the repository are made of, each compared with its tape where it is made; and what
// their methods make of them on the way through the first steps.
TEST_F(Native, EveryFunctionOfEveryModelOfTheRepository) {
  const Use now(NativeUse::check);
  const std::filesystem::path root = std::filesystem::path(HINGE_EXAMPLES).parent_path();
  const long before = native_functions();
  int models = 0;
  for (const char* folder : {"examples", "papers", "templates"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string path = entry.path().string(), name = entry.path().filename().string();
      if (entry.path().extension() != ".toml" || name == "figures.toml") continue;
      SCOPED_TRACE(path);
      const Model model = load_model(path);
      const bool dae = model.system->structure().is_dae;
      for (int q = 0; q < quantity_count && !dae; ++q)
        if (static_cast<Quantity>(q) != Quantity::energy || model.system->structure().has_energy)
          model.system->evaluation({static_cast<Quantity>(q)});
      static_cast<void>(model.simulation_for(""));
      ++models;
    }
  EXPECT_GE(models, 90);
  EXPECT_GE(native_functions() - before, 2000);  // 2656
  RecordProperty("functions", static_cast<int>(native_functions() - before));
}

}  // namespace
}  // namespace hinge::native_test
