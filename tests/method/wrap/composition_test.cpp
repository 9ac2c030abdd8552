// Compositions: order conditions, goldens, orders, and what happens when the partner is not the adjoint.
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/goldens.hpp"
#include "method/problems.hpp"
#include "method/wrap/composition.hpp"

namespace hinge::composition_test {
namespace {

using goldens::expect_near;
using goldens::json;
using goldens::numbers;
using problems::distance;
using problems::E1;
using problems::integrate;
using problems::Problem;

double power_sum(const std::vector<double>& g, int exponent) {
  double sum = 0;
  for (const double x : g) sum += std::pow(x, exponent);
  return sum;
}

TEST(Composition, LengthsSatisfyTheOrderConditions) {
  for (const char* scheme : {"triple-jump", "suzuki", "optimised"})
    for (const int order : {4, 6}) {
      const std::vector<double> g = composition_lengths(scheme, 2, order);
      EXPECT_NEAR(power_sum(g, 1), 1, 1e-14) << scheme << order;                   // measured 4.4e-16
      EXPECT_NEAR(power_sum(g, 3), 0, 1e-14) << scheme << order;                   // measured 5.3e-15
      EXPECT_NEAR(order == 6 ? power_sum(g, 5) : 0, 0, 1e-14) << scheme << order;  // measured 7.1e-15
      const std::vector<double> reversed(g.rbegin(), g.rend());
      EXPECT_EQ(g, reversed) << scheme << order;
    }
  EXPECT_EQ(composition_lengths("suzuki", 2, 4).size(), 5u);
  EXPECT_EQ(composition_lengths("triple-jump", 2, 6).size(), 9u);
  EXPECT_EQ(composition_lengths("optimised", 2, 6).size(), 9u);
  EXPECT_EQ(composition_lengths("suzuki", 4, 6).size(), 5u);
  EXPECT_EQ(composition_lengths("suzuki", 4, 4).size(), 1u);
}

struct Golden {
  std::string key;
  Problem problem;
  MethodChoice base, partner;
  CompositionOptions options;
};

std::vector<Golden> golden_cases() {
  const MethodChoice half = symplectic_euler({.alpha = 0.5}), one = symplectic_euler({.alpha = 1}),
                     third = symplectic_euler({.alpha = 0.3});
  const auto conjugate = [](double alpha) { return symplectic_euler({.conjugate = true, .alpha = alpha}); };
  const CompositionOptions two{.order = 2}, suzuki{}, jump{.scheme = "triple-jump"},
      reversed{.scheme = "triple-jump", .base_first = true};
  const Problem e1 = problems::e1(), e2 = problems::e2(), affine = problems::e1(E1::affine),
                linear = problems::e1(E1::linear);
  return {{"comp_4.1_S2=true o adj", e1, half, half.adjoint(), two},
          {"comp_4.1_S2 with trueconj(NOT adjoint)", e1, half, conjugate(0.5), two},
          {"comp_4.1_TJ4", e1, half, half.adjoint(), jump},
          {"comp_4.1_TJ4 reversed (adj o true)", e1, half, half.adjoint(), reversed},
          {"comp_4.1_Suzuki4", e1, half, half.adjoint(), suzuki},
          {"comp_4.1_Suzuki4 alpha=1", e1, one, one.adjoint(), suzuki},
          {"comp_4.1_Suzuki4 with trueconj(NOT adjoint)", e1, half, conjugate(0.5), suzuki},
          {"comp_4.1-affine_Suzuki4 trueconj(1-a)", affine, third, conjugate(0.7), suzuki},
          {"comp_4.1-affine_Suzuki4 trueconj(a) wrong alpha", affine, third, conjugate(0.3), suzuki},
          {"comp_4.1-linear_Suzuki4 trueconj(a)", linear, third, conjugate(0.3), suzuki},
          {"comp_4.2_S2=true o adj", e2, half, half.adjoint(), two},
          {"comp_4.2_TJ4", e2, half, half.adjoint(), jump},
          {"comp_4.2_Suzuki4", e2, half, half.adjoint(), suzuki},
          {"comp_4.2_Suzuki4 with trueconj", e2, half, conjugate(0.5), suzuki}};
}

TEST(Composition, AgreesWithTheGoldens) {
  const json& table = goldens::symplectic()["euler_paper_adjoint_and_composition"];
  std::size_t known = 0;
  for (const auto& [key, value] : table.items()) known += key.rfind("comp_", 0) == 0 ? 1u : 0u;
  EXPECT_EQ(known, golden_cases().size());
  for (const Golden& c : golden_cases()) {
    ASSERT_TRUE(table.contains(c.key)) << c.key;
    for (const auto& [h, golden] : table[c.key].items()) {
      const State end = integrate(c.problem, composition(c.base, c.partner, c.options), std::stod(h), 1.0);
      expect_near(end.y, numbers(golden["y"]), 1e-13, c.key + " h=" + h);  // measured 9.5e-15
      expect_near(end.z, numbers(golden["z"]), 1e-13, c.key + " h=" + h);  // measured 4.6e-15
    }
  }
}

// Fitted between the last two of three steps, y on E1 at t = 1.
std::vector<double> orders_on_e1(const MethodChoice& method, double h) {
  const std::vector<double> exact = {std::exp(2.0), std::exp(-1.0)};
  std::vector<double> errors, orders;
  for (const double step : {h, h / 2, h / 4})
    errors.push_back(distance(integrate(problems::e1(), method, step, 1.0).y, exact));
  for (std::size_t k = 1; k < errors.size(); ++k) orders.push_back(std::log2(errors[k - 1] / errors[k]));
  return orders;
}

TEST(Composition, OfTrueSymplecticEulerWithItsAdjointHasTheOrderItSays) {
  for (const char* scheme : {"suzuki", "optimised", "triple-jump"})
    for (const int order : {2, 4, 6}) {
      const MethodChoice method = composition(symplectic_euler(), {.order = order, .scheme = scheme});
      EXPECT_EQ(method.order, order);
      EXPECT_NEAR(orders_on_e1(method, scheme[0] == 't' ? 0.025 : 0.05)[1], order, 0.15)
          << scheme << order;  // measured 0.076
    }
}

TEST(Composition, WithTrueConjugateInThePlaceOfTheAdjointHasOrderOne) {
  const MethodChoice wrong = composition(symplectic_euler(), symplectic_euler({.conjugate = true}), {});
  for (const double order : orders_on_e1(wrong, 0.1)) EXPECT_NEAR(order, 1, 0.06);  // measured 0.038
}

TEST(Composition, OfSymmetricMethodsHasTheOrderItSays) {
  const State reference = integrate(problems::s2(), gauss_lobatto(6), 0.06, 1.2);
  for (const MethodChoice& base : {rattle(), gauss_lobatto(1)})
    for (const char* scheme : {"suzuki", "optimised"})
      for (const int order : {4, 6}) {
        const MethodChoice method = composition(base, {.order = order, .scheme = scheme});
        const double coarse = distance(integrate(problems::s2(), method, 0.12, 1.2).y, reference.y);
        const double fine = distance(integrate(problems::s2(), method, 0.06, 1.2).y, reference.y);
        EXPECT_NEAR(std::log2(coarse / fine), order, 0.1) << method.description;  // measured 0.023
      }
  const MethodChoice six = composition(gauss_lobatto(2), {.order = 6, .scheme = "suzuki"});
  const double coarse = distance(integrate(problems::s2(), six, 0.24, 1.2).y, reference.y);
  const double fine = distance(integrate(problems::s2(), six, 0.12, 1.2).y, reference.y);
  EXPECT_NEAR(std::log2(coarse / fine), 6, 0.15);  // measured 0.044
}

TEST(Composition, IsMadeFromANameAndTheOptionsOfItsBase) {
  const MethodChoice method = make_method(
      "composition",
      {{"base", std::string("symplectic-euler")}, {"alpha", 1.0}, {"order", 4.0}, {"scheme", std::string("suzuki")}});
  const State a = integrate(problems::e1(), method, 0.1, 1.0);
  const json& golden = goldens::symplectic()["euler_paper_adjoint_and_composition"]["comp_4.1_Suzuki4 alpha=1"]["0.1"];
  expect_near(a.y, numbers(golden["y"]), 1e-14, "suzuki");                  // measured 8.4e-16
  EXPECT_THROW(make_method("composition", {{"stages", 2.0}}), InputError);  // symplectic-euler has no stages
  EXPECT_NO_THROW(make_method("composition", {{"base", std::string("gauss-lobatto")}, {"stages", 1.0}}));
  EXPECT_THROW(make_method("composition", {{"base", std::string("composition")}}), InputError);
  EXPECT_THROW(make_method("composition", {{"order", 5.0}}), InputError);
  EXPECT_THROW(make_method("composition", {{"scheme", std::string("yoshida")}}), InputError);
  EXPECT_THROW(composition(gauss_lobatto(2), {.order = 6, .scheme = "optimised"}), InputError);
}

TEST(Composition, ThatFailsLeavesTheStateAsItWas) {
  const Problem problem = problems::e1();
  const auto stepper = composition(symplectic_euler(), {.scheme = "triple-jump"}).bind(problem.system, {});
  State s{0, problem.start.position, problem.start.velocity, {1}};
  const State before = s;
  const StepResult result = stepper->step(s, 2.0);
  ASSERT_FALSE(result);
  EXPECT_NE(result.reason.find("substep"), std::string::npos) << result.reason;
  EXPECT_EQ(s.t, before.t);
  EXPECT_EQ(s.y, before.y);
  EXPECT_EQ(s.z, before.z);
}

}  // namespace
}  // namespace hinge::composition_test
