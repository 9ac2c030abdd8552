// Coefficients by recurrences against repeated exact differentiation of the same expressions.
#include "method/taylor/series_tape.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/parse.hpp"
#include "expression/table.hpp"
#include "hinge/expression.hpp"

namespace hinge {
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
    tape.complete(stage, nullptr);
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

TEST(SeriesTape, EveryOperationHasTheCoefficientsOfItsDerivatives) {
  using E = Expression;
  const std::vector<std::pair<const char*, std::function<E(const E&)>>> functions = {
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
  for (const auto& [name, f] : functions) {
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
  double x = 0, factor = 1;
  for (int stage = -tape.most(); stage <= tape.last_stage(); ++stage) {
    if (stage > 0) tape.guess_nothing(stage);
    tape.evaluate(stage);
    if (stage == 0) tape.weigh();
    if (stage < 0) continue;
    tape.residual(stage, &x);
    x = -x;  // the system Jacobian is 1
    tape.complete(stage, &x);
  }
  for (int m = 0; m <= 14; ++m) {
    const double sine = m % 2 == 0 ? 0 : (m % 4 == 1 ? 1 : -1) * factor;
    EXPECT_NEAR(tape.integral(0)[m], sine, 1e-17) << m;
    factor *= s / (m + 1);
  }
}

}  // namespace
}  // namespace hinge
