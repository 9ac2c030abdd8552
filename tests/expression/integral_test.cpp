// Antiderivatives: continuous, and their derivative is the function.
#include "expression/integral.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/enclosure.hpp"
#include "expression/parse.hpp"
#include "random_draw.hpp"

namespace hinge::integral_test {
namespace {

TEST(Integral, HasTheFunctionAsItsDerivative) {
  const char* const texts[] = {"3",
                               "2*t - 1",
                               "t^2 + 4*t^3 - t^5",
                               "2 + sin(3*t)",
                               "5*(1 - exp(-t/0.2))",
                               "t*exp(-2*t)",
                               "t^2*cos(3*t + 1)",
                               "sin(2*t)^2",
                               "sin(t)*cos(5*t)",
                               "tanh(3*(t - 1))",
                               "sqrt(2*t + 9)",
                               "1/(t + 7)",
                               "(t + 5)^2.5",
                               "abs(t - 1)",
                               "sign(t - 0.5)*2",
                               "min(3*t, 2)",
                               "max(0, 1 - t)",
                               "if(t < 1, t, 1)",
                               "if(2 - t >= 0, sin(t), t^2)",
                               "if(t < 0.5, 0, if(t < 1.5, t - 0.5, 1))",
                               "max(0, min(1, 2*(t - 1)))",
                               "min(1, max(0, 2*(t - 1)))",
                               "max(t - 1, -t, 0.3)",
                               "if(t > 1 and t < 2, 1, 0)",
                               "if(t < 0 or t > 1.5, sin(t), 0.2)",
                               "if(not (t > 1), if(t < 0.5, 1, t), min(abs(t - 2), 0.4))",
                               "abs(abs(t - 1) - 0.5)",
                               "exp(-t)*sin(5*t)",
                               "(1 + t)*(2 - t)",
                               "(t - 1)/3 - cosh(t) + sinh(2*t)"};
  for (const char* text : texts) {
    Graph graph;
    const Node t = graph.variable("t");
    Scope scope;
    scope.graph = &graph;
    scope.names["t"] = scalar_value(t);
    const Node f = parse(text, scope).entries[0];
    const auto F = integral(graph, f, t);
    ASSERT_TRUE(F) << text;
    const Node both[] = {f, *F};
    Enclosure functions(graph, both);
    const auto at = [&](double x, std::size_t k) { return functions.at(std::span(&x, 1), k); };
    for (double x = -1.03; x < 3; x += 0.0917) {
      const double h = 1e-4;
      const double slope = (8 * (at(x + h, 1) - at(x - h, 1)) - (at(x + 2 * h, 1) - at(x - 2 * h, 1))) / (12 * h);
      EXPECT_NEAR(slope, at(x, 0), 1e-7 * (1 + std::abs(at(x, 0)))) << text << " at " << x;
    }
  }
}

// min, max, abs, if and conditions within each other, of lines drawn at random.
std::string random_pieces(Draw& draw, int depth) {
  const auto line = [&] { return fmt::format("({:.3f} + {:.3f}*t)", draw.number(-2, 2), draw.number(-2, 2)); };
  const auto part = [&] { return depth > 0 ? random_pieces(draw, depth - 1) : line(); };
  switch (draw.integer(0, 5)) {
    case 0: return fmt::format("min({}, {})", part(), part());
    case 1: return fmt::format("max({}, {})", part(), part());
    case 2: return fmt::format("abs({})", part());
    case 3: return fmt::format("if({} < {}, {}, {})", line(), line(), part(), part());
    case 4: return fmt::format("if({} > {} and {} <= {}, {}, {})", line(), line(), line(), line(), part(), part());
    default: return line();
  }
}

TEST(Integral, OfPiecesWithinPiecesIsRight) {
  Draw draw(31);
  constexpr int models = 300;
  for (int k = 0; k < models; ++k) {
    const std::string text = random_pieces(draw, 3);
    Graph graph;
    const Node t = graph.variable("t");
    Scope scope;
    scope.graph = &graph;
    scope.names["t"] = scalar_value(t);
    const Node f = parse(text, scope).entries[0];
    const auto F = integral(graph, f, t);
    ASSERT_TRUE(F) << text;
    const Node both[] = {f, *F};
    Enclosure functions(graph, both);
    const auto at = [&](double x, std::size_t i) { return functions.at(std::span(&x, 1), i); };
    // the rule of the middle, of steps that are short beside what jumps leave in it
    constexpr int steps = 20000;
    constexpr double from = -3, to = 4, h = (to - from) / steps;
    double sum = 0, largest = 0;
    for (int i = 0; i < steps; ++i) {
      const double y = at(from + (i + 0.5) * h, 0);
      sum += h * y;
      largest = std::max(largest, std::abs(y));
    }
    EXPECT_NEAR(at(to, 1) - at(from, 1), sum, 10 * h * (1 + largest)) << text;
    // continuous everywhere
    for (double x = from; x < to; x += 0.0713)
      EXPECT_NEAR(at(x + 1e-9, 1), at(x, 1), 1e-8 * (1 + largest)) << text << " at " << x;
  }
}

TEST(Integral, IsNotGuessed) {
  for (const char* text : {"exp(-t^2)", "sin(t^2)", "1/(1 + t^2)", "if(sin(t) > 0, 1, 0)", "if(mod(t, 1) < 0.5, 1, 0)",
                           "0.3 + if(mod(t, 2) < 1, 1, -1)", "sin(mod(t, 1))", "cos(t)*floor(t)"}) {
    Graph graph;
    Scope scope;
    scope.graph = &graph;
    const Node t = graph.variable("t");
    scope.names["t"] = scalar_value(t);
    EXPECT_FALSE(integral(graph, parse(text, scope).entries[0], t)) << text;
  }
}

}  // namespace
}  // namespace hinge::integral_test
