// Antiderivatives: continuous, and their derivative is the function.
#include "expression/integral.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "expression/enclosure.hpp"
#include "expression/parse.hpp"

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

TEST(Integral, IsNotGuessed) {
  for (const char* text : {"exp(-t^2)", "sin(t^2)", "1/(1 + t^2)", "if(sin(t) > 0, 1, 0)"}) {
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
