// Coefficients by recurrences against repeated exact differentiation of the same expressions.
#include "method/taylor/series_tape.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/native.hpp"
#include "expression/parse.hpp"
#include "expression/table.hpp"
#include "hinge/expression.hpp"

namespace hinge::series_tape_test {
namespace {

constexpr int orders = 9;

// f(t0), f'(t0), f''(t0)/2, ... by differentiating the graph again and again, times powers of the scale.
std::vector<double> by_differentiation(Graph& graph, Node t, Node f, double t0, double scale) {
  std::vector<double> c;
  double factor = 1;
  for (int m = 0; m < orders; ++m) {
    const std::vector<Node> blocks[] = {{t}};
    const auto tape = make_tape(graph, blocks, std::span(&f, 1));
    std::vector<double> scratch = tape->make_scratch();
    double value = 0;
    const double* const inputs[] = {&t0};
    tape->evaluate(inputs, scratch.data(), &value);
    c.push_back(value * factor);
    factor *= scale / (m + 1);
    f = gradient(graph, f, std::span(&t, 1))[0];
  }
  return c;
}

// The same of y with y' = f.
std::vector<double> by_recurrence(const Graph& graph, Node t, Node y, Node f, double t0, double scale) {
  SeriesTape tape(graph, {.t = t, .integrals = {{y, f, 2}}}, orders);
  tape.begin(t0, scale);
  tape.set_integral(0, 7);
  for (int stage = -tape.most(); stage <= tape.last_stage(); ++stage) {
    tape.evaluate(stage);
    if (stage >= 0) tape.complete(stage);
  }
  std::vector<double> c;
  for (int m = 0; m < orders; ++m) c.push_back(tape.integral(0)[m + 1] * (m + 1) / scale);
  EXPECT_EQ(tape.integral(0)[0], 7);
  return c;
}

double worst_difference(const std::function<Expression(const Expression&)>& make, double t0, double scale = 0.7) {
  auto graph = std::make_shared<Graph>();
  const Node t = graph->variable("t"), y = graph->variable("y");
  const Node f = make(Expression(graph, t)).node_in(*graph);
  const std::vector<double> own = by_recurrence(*graph, t, y, f, t0, scale);
  const std::vector<double> right = by_differentiation(*graph, t, f, t0, scale);
  double worst = 0, size = 0;
  for (const double c : right) size = std::max(size, std::abs(c));
  for (std::size_t m = 0; m < right.size(); ++m) worst = std::max(worst, std::abs(own[m] - right[m]) / size);
  return worst;
}

using Function = std::function<Expression(const Expression&)>;

// One of each kind, at times between 0 and 1.
const std::vector<std::pair<const char*, Function>>& functions() {
  using E = Expression;
  static const std::vector<std::pair<const char*, Function>> list = {
      {"sums", [](const E& t) { return 2.0 * t - 3.0 * (t * t - 1.0) / 4.0 + (-t); }},
      {"products", [](const E& t) { return t * t * (1.0 + t) * sin(t); }},
      {"quotient", [](const E& t) { return (1.0 + t) / (2.0 + cos(t)); }},
      {"reciprocal", [](const E& t) { return 1.0 / (1.0 + t * t); }},
      {"sqrt", [](const E& t) { return sqrt(1.0 + t * t); }},
      {"whole power", [](const E& t) { return pow(t - 0.3, 7.0); }},
      {"negative power", [](const E& t) { return pow(1.0 + t * t, -3.0); }},
      {"power", [](const E& t) { return pow(1.5 + t, 1.7); }},
      {"general power", [](const E& t) { return pow(1.5 + t, sin(t)); }},
      {"power of a number", [](const E& t) { return pow(E(2.5), t * t); }},
      {"exp", [](const E& t) { return exp(-t * t); }},
      {"log", [](const E& t) { return log(2.0 + sin(t)); }},
      {"sin, cos", [](const E& t) { return sin(t * t) * cos(t * t) + cos(3.0 * t); }},
      {"sinh, cosh", [](const E& t) { return sinh(t) * cosh(0.5 * t); }},
      {"tan, tanh", [](const E& t) { return tan(t) - tanh(t * t); }},
      {"asin, acos", [](const E& t) { return asin(0.5 * t) + acos(0.4 * t * t); }},
      {"atan", [](const E& t) { return atan(2.0 * t); }},
      {"atan2", [](const E& t) { return atan2(sin(2.0 * t), t - 1.0); }},
      {"hypot", [](const E& t) { return hypot(t, 1.0 + t); }},
      {"abs", [](const E& t) { return abs(t - 1.0) * t; }},
      {"min, max", [](const E& t) { return min(t, 1.0) * max(t * t, 2.0 - t); }},
      {"if", [](const E& t) { return choose(t < 1.0, exp(t), t); }},
      {"sign", [](const E& t) { return sign(t - 1.0) * t * t; }},
  };
  return list;
}

TEST(SeriesTape, EveryOperationHasTheCoefficientsOfItsDerivatives) {
  for (const auto& [name, f] : functions()) {
    EXPECT_LT(worst_difference(f, 0.45), 1e-13) << name;        // measured 2.5e-14
    EXPECT_LT(worst_difference(f, 0.83, -0.2), 1e-13) << name;  // backwards in time
  }
  // control: another function at the same place is seen
  auto graph = std::make_shared<Graph>();
  const Expression t(graph, graph->variable("t"));
  const Node y = graph->variable("y"), right = sin(t).node_in(*graph), wrong = tan(t).node_in(*graph);
  const auto own = by_recurrence(*graph, t.node_in(*graph), y, wrong, 0.45, 0.7);
  const auto other = by_differentiation(*graph, t.node_in(*graph), right, 0.45, 0.7);
  EXPECT_GT(std::abs(own[3] - other[3]), 1e-2);
}

TEST(SeriesTape, TablesAreTheirPolynomialsBetweenKnots) {
  const double x[] = {0, 1, 2, 3}, v[] = {0, 1, -1, 2};
  const auto table = Table::through("f", x, v, Interpolation::cubic, Beyond::constant);
  EXPECT_LT(worst_difference(
                [&](const Expression& t) {
                  return Expression(t.graph(), t.graph()->table(table, (t * t).node_in(*t.graph())));
                },
                1.2),
            1e-13);
}

// Two equations for two unknowns of different orders, made of these functions of both: stage after stage to the end.
std::vector<double> coefficients(const std::vector<Function>& f, double t0, double scale, int last, NativeUse use) {
  auto graph = std::make_shared<Graph>();
  const auto variable = [&](const char* name) { return Expression(graph, graph->variable(name)); };
  const Expression t = variable("t"), y = variable("y"), z = variable("z"), rate = variable("z'"),
                   psi = variable("psi");
  const auto bounded = [](const Expression& x) { return 0.5 + 0.25 * sin(x); };
  const Expression motion = rate + f[0](bounded(y + t)) * f[1](bounded(z)) - 2.0 * psi * y + f[2](bounded(psi)),
                   other = f[3](bounded(y)) + f[4](bounded(y * y)) - 3.0 * y + t;
  const NativeUse before = native_use();
  set_native_use(use);
  SeriesTape tape(*graph,
                  {.t = t.node_in(*graph),
                   .unknowns = {{z.node_in(*graph), 1}, {psi.node_in(*graph), 0}},
                   .integrals = {{y.node_in(*graph), z.node_in(*graph), 2}},
                   .derived = {{rate.node_in(*graph), z.node_in(*graph)}},
                   .equations = {{motion.node_in(*graph), 0}, {other.node_in(*graph), 2}}},
                  last);
  set_native_use(before);
  EXPECT_EQ(tape.has_code(), use != NativeUse::off && native_possible());
  tape.begin(t0, scale);
  tape.set_integral(0, 0.4);
  const double foot[] = {0.7, -0.2};
  for (int m = 0; m < 2; ++m) tape.set_unknown(0, m, foot[m]);
  tape.set_unknown(1, 0, 0.3);
  const double inverse[2][2] = {{0.1, -0.4}, {0.3, 0.7}};  // any will do
  for (std::size_t j = 0; j < 2; ++j)
    for (std::size_t i = 0; i < 2; ++i) tape.inverse_column(j)[i] = inverse[i][j];
  tape.first_stages();
  tape.later_stages();
  std::vector<double> c(tape.integral(0), tape.integral(0) + last + 3);
  c.insert(c.end(), tape.unknown(0), tape.unknown(0) + last + 2);
  c.insert(c.end(), tape.unknown(1), tape.unknown(1) + last + 1);
  return c;
}

TEST(SeriesTape, CodeComputesTheSameBits) {
  if (!native_possible()) GTEST_SKIP() << "no machine code here";
  std::mt19937 random(11);
  int finite = 0, compared = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Function> chosen;
    for (int k = 0; k < 5; ++k) chosen.push_back(functions()[random() % functions().size()].second);
    const double t0 = 0.01 * static_cast<double>(random() % 100),
                 scale = 0.1 + 0.01 * static_cast<double>(random() % 90);
    const int last = 1 + static_cast<int>(random() % 28);  // blocks of stages of all kinds
    const auto by_code = coefficients(chosen, t0, scale, last, NativeUse::on);
    const auto computed = coefficients(chosen, t0, scale, last, NativeUse::off);
    for (std::size_t k = 0; k < computed.size(); ++k, ++compared) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(by_code[k]), std::bit_cast<std::uint64_t>(computed[k]))
          << round << ": " << by_code[k] << " and " << computed[k];
      finite += std::isfinite(computed[k]) ? 1 : 0;
    }
  }
  EXPECT_GT(finite, compared / 2);  // else nothing was compared
}

// The same equations for y and z so many times, each from the same start; w' is a sum over all. Coefficients of all.
std::vector<double> of_copies(int count, const Function& f, const Function& g, int last, NativeUse use,
                              std::size_t& together) {
  auto graph = std::make_shared<Graph>();
  const auto variable = [&](const std::string& name) { return Expression(graph, graph->variable(name)); };
  const Expression t = variable("t"), w = variable("w");
  SeriesFunctions functions{.t = t.node_in(*graph)};
  Expression all = t;
  for (int k = 0; k < count; ++k) {
    const Expression y = variable("y" + std::to_string(k)), z = variable("z" + std::to_string(k));
    const Expression u = 0.5 + 0.25 * sin(y + t), product = f(u) * g(u) / (2.0 + u * u), rate = product + z;
    functions.integrals.push_back({y.node_in(*graph), rate.node_in(*graph), 2});
    functions.integrals.push_back({z.node_in(*graph), (product - sqrt(1.0 + u) * y).node_in(*graph), 2});
    all = all + product;
  }
  functions.integrals.push_back({w.node_in(*graph), all.node_in(*graph), 2});
  const NativeUse before = native_use();
  set_native_use(use);
  SeriesTape tape(*graph, functions, last);
  set_native_use(before);
  together = tape.done_together();
  tape.begin(0.3, 0.2);
  for (std::size_t k = 0; k < functions.integrals.size(); ++k) tape.set_integral(k, k % 2 == 0 ? 0.4 : -0.2);
  for (int stage = -tape.most(); stage <= tape.last_stage(); ++stage) {
    tape.evaluate(stage);
    if (stage >= 0) tape.complete(stage);
  }
  std::vector<double> c;
  for (std::size_t k = 0; k < functions.integrals.size(); ++k)
    c.insert(c.end(), tape.integral(k), tape.integral(k) + last + 3);
  return c;
}

TEST(SeriesTape, CopiesThatAreDoneTogetherAreAsTheyAreAlone) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const auto& [f_name, f] = functions()[random() % functions().size()];
    const auto& [g_name, g] = functions()[random() % functions().size()];
    const int count = 4 + static_cast<int>(random() % 7);
    const int last = 2 + static_cast<int>(random() % 24);
    const auto numbers = static_cast<std::size_t>(last + 3);  // of each series
    std::size_t none = 0, together = 0, again = 0;
    const auto one = of_copies(1, f, g, last, NativeUse::off, none);
    const auto many = of_copies(count, f, g, last, NativeUse::off, together);
    const auto by_code = of_copies(count, f, g, last, NativeUse::on, again);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(together, again);
    EXPECT_GE(together, 8u) << f_name << ", " << g_name;
    for (std::size_t k = 0; k < many.size(); ++k)
      EXPECT_EQ(std::bit_cast<std::uint64_t>(many[k]), std::bit_cast<std::uint64_t>(by_code[k])) << f_name << g_name;
    for (std::size_t k = 0; k + numbers < many.size(); ++k) {  // w is the last one
      const double alone = one[k % (2 * numbers)];
      EXPECT_NEAR(many[k], alone, 1e-13 * (1 + std::abs(alone))) << f_name << ", " << g_name << ' ' << k;
    }
  }
}

// y'' = -y typed as 0 = z' + y, y' = z, with the unknown z of order k + 1: corrections reach y.
TEST(SeriesTape, CorrectionsReachWhatIsMadeOfTheUnknowns) {
  Graph graph;
  const Node t = graph.variable("t"), y = graph.variable("y"), z = graph.variable("z"), rate = graph.variable("z'");
  SeriesTape tape(graph,
                  {.t = t,
                   .unknowns = {{z, 1}},
                   .integrals = {{y, z, 2}},
                   .derived = {{rate, z}},
                   .equations = {{graph.add(rate, y), 0}}},
                  12);
  const double s = 0.5;
  tape.begin(0, s);
  tape.set_integral(0, 0);
  tape.set_unknown(0, 0, 1);
  tape.set_unknown(0, 1, 0.3);  // a wrong guess: z'(0) is 0
  double factor = 1;
  for (int stage = -tape.most(); stage <= tape.last_stage(); ++stage) {
    tape.evaluate(stage);
    if (stage == 0) tape.weigh();
    if (stage >= 0) tape.complete(stage);  // the system Jacobian is 1
  }
  for (int m = 0; m <= 14; ++m) {
    const double sine = m % 2 == 0 ? 0 : (m % 4 == 1 ? 1 : -1) * factor;
    EXPECT_NEAR(tape.integral(0)[m], sine, 1e-17) << m;
    factor *= s / (m + 1);
  }
}

}  // namespace
}  // namespace hinge::series_tape_test
