// Functions of time: bounds on stretches hold, and no sign change is stepped over.
#include "expression/sign_changes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "expression/parse.hpp"
#include "hinge/multibody.hpp"

namespace hinge::sign_changes_test {
namespace {

struct OfTime {
  Graph graph;
  Node t = graph.variable("t");
  Node read(const std::string& text) {
    Scope scope;
    scope.graph = &graph;
    scope.names["t"] = scalar_value(t);
    return parse(text, scope).entries[0];
  }
};

std::vector<double> changes(const std::string& text, double from, double to, bool touches = false) {
  OfTime g;
  SignChanges found(g.graph, g.read(text), touches);
  found.begin(from);
  std::vector<double> all;
  while (const auto t = found.next(to)) all.push_back(*t);
  EXPECT_EQ(found.lost_from(), INFINITY) << text;
  return all;
}

TEST(Enclosure, HoldsValuesAndDifferenceQuotients) {
  const char* const texts[] = {"sin(3*t)*t - cos(t)^2",
                               "exp(-t^2)/(2 + sin(5*t))",
                               "max(sin(t), cos(2*t)) - min(t, 1)",
                               "if(sin(4*t) > 0.3, t, -t)",
                               "abs(t - 1)*sign(sin(2*t))",
                               "atan2(sin(t), cos(t)) + hypot(t, 1)",
                               "sqrt(t + 3)*log(t + 4) + tanh(t)",
                               "asin(0.9*sin(t)) + acos(0.8*cos(t)) + atan(t)",
                               "(t + 3)^2.5 - (t + 3)^9/1e4 + t^3",
                               "sinh(t)/cosh(t) - tan(t/2)",
                               "if(t > 1 and not (t > 2) or t < -1, 3, t)"};
  RandomNumbers random(5);
  for (const char* text : texts) {
    OfTime g;
    const Node f = g.read(text);
    Enclosure enclosure(g.graph, std::span(&f, 1));
    for (int n = 0; n < 400; ++n) {
      const double a = 5 * random.uniform() - 2.5, b = a + std::pow(10, -6 * random.uniform()) * 4;
      const Enclosed stretch{{a, b}, {1, 1}};
      enclosure.on(std::span(&stretch, 1));
      const Enclosed bounds = enclosure[0];
      double last = NAN, last_t = a;
      for (int k = 0; k <= 20; ++k) {
        const double t = std::min(b, a + (b - a) * k / 20), x = enclosure.at(std::span(&t, 1));
        EXPECT_TRUE(bounds.value.contains(x)) << text << " at " << t;
        const double quotient = (x - last) / (t - last_t), room = 1e-13 * (1 + std::abs(x)) / (t - last_t);
        if (k > 0) {
          EXPECT_GE(quotient, bounds.slope.low - room) << text << " at " << t;
          EXPECT_LE(quotient, bounds.slope.high + room) << text << " at " << t;
        }
        last = x;
        last_t = t;
      }
    }
  }
}

TEST(SignChanges, OfCarriersAreAllFound) {
  RandomNumbers random(7);
  for (int n = 0; n < 20; ++n) {
    const double w = 10 + 300 * random.uniform(), level = 1.9 * random.uniform() - 0.95, shift = 6 * random.uniform();
    const auto found = changes(std::to_string(w) + "*0 + sin(" + std::to_string(w) + "*t + " + std::to_string(shift) +
                                   ") - " + std::to_string(level),
                               0, 10);
    const double omega = std::stod(std::to_string(w)), phi = std::stod(std::to_string(shift)),
                 a = std::asin(std::stod(std::to_string(level)));
    std::vector<double> exact;
    for (int k = -2; k < 600; ++k)
      for (const double root : {a, std::numbers::pi - a}) {
        const double t = (root + 2 * std::numbers::pi * k - phi) / omega;
        if (t >= 0 && t <= 10) exact.push_back(t);
      }
    std::sort(exact.begin(), exact.end());
    ASSERT_EQ(found.size(), exact.size());
    for (std::size_t k = 0; k < exact.size(); ++k) EXPECT_NEAR(found[k], exact[k], 1e-12 * (1 + exact[k]));
  }
}

TEST(SignChanges, OfPulsesPlateausAndTouches) {
  EXPECT_EQ(changes("t - 5", 0, 1e9), std::vector<double>{5});
  EXPECT_EQ(changes("(t - 5)*(t - 5.000001)", 0, 1e3).size(), 2u);
  EXPECT_EQ(changes("max(0, sin(t))", 0.1, 10).size(), 3u);  // it leaves zero, and comes to it
  // touches at pi/2 + k pi; rounding may make several of one
  const auto touches = changes("1 - sin(t)^2", 0, 10, true);
  for (const double exact : {std::numbers::pi / 2, 3 * std::numbers::pi / 2, 5 * std::numbers::pi / 2})
    EXPECT_TRUE(std::any_of(touches.begin(), touches.end(), [&](double t) { return std::abs(t - exact) < 1e-7; }));
  for (const double t : touches) EXPECT_NEAR(std::cos(t), 0, 1e-7);
  EXPECT_TRUE(changes("exp(-t)", 0, 100).empty());
  EXPECT_TRUE(changes("t^2 + 1e-9", -3, 3).empty());
  EXPECT_EQ(changes("if(t < 3, -1, 1)*exp(t)", 0, 10).size(), 1u);
  EXPECT_EQ(changes("tan(t)", 0.1, 9).size(), 5u);  // roots at pi, 2 pi and poles at pi/2, 3 pi/2, 5 pi/2
}

// Asked for piece by piece they are the same.
TEST(SignChanges, ComeInOrderAndNoneIsLostBetweenRequests) {
  OfTime g;
  const Node f = g.read("sin(40*t)*cos(7*t) + 0.2");
  SignChanges whole(g.graph, f, false), parts(g.graph, f, false);
  whole.begin(0);
  parts.begin(0);
  std::vector<double> a, b;
  while (const auto t = whole.next(20)) a.push_back(*t);
  for (int k = 1; k <= 200; ++k)
    while (const auto t = parts.next(0.1 * k)) b.push_back(*t);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-12 * (1 + a[k]));
  EXPECT_TRUE(std::is_sorted(a.begin(), a.end()));
  EXPECT_GT(a.size(), 200u);
}

}  // namespace
}  // namespace hinge::sign_changes_test
