// What a failed step says about its cause.
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/problems.hpp"
#include "method/step_failure.hpp"

namespace hinge::step_failure_test {
namespace {

using problems::Problem;

std::string failure(const Problem& problem, const MethodChoice& method, double h, long steps = 100) {
  Simulation run(problem.system, method, {.step = h});
  run.start(problem.start);
  try {
    for (long k = 0; k < steps; ++k) run.step();
  } catch (const StepFailure& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

TEST(StepFailure, OfStepsThatRoundingDrownsAsksForLongerOnes) {
  for (const double h : {1e-8, 1e-10, 1e-12})
    for (const auto& [problem, method] : {std::pair{problems::s1(), gauss_lobatto(2)},
                                          {problems::e1(), symplectic_euler()},
                                          {problems::e1(), composition(symplectic_euler())}}) {
      const std::string text = failure(problem, method, h);
      EXPECT_TRUE(says(text, "too short for double precision")) << h << " " << text;
      EXPECT_TRUE(says(text, "take a longer step")) << h << " " << text;
      EXPECT_FALSE(says(text, "smaller")) << h << " " << text;
    }
  // and what it recommends works
  EXPECT_EQ(failure(problems::s1(), gauss_lobatto(2), 1e-5), "");
  EXPECT_EQ(failure(problems::e1(), composition(symplectic_euler()), 1e-4), "");
}

TEST(StepFailure, OfLongStepsAsksForShorterOnes) {
  const std::string affine = failure(problems::e1(problems::E1::affine), symplectic_euler(), 0.1);
  EXPECT_TRUE(says(affine, "left the branch") && says(affine, "take a smaller step")) << affine;
  const std::string branch = failure(problems::e1(), symplectic_euler({.alpha = 0.1}), 0.1);
  EXPECT_TRUE(says(branch, "left the branch") && says(branch, "take a smaller step")) << branch;
}

TEST(StepFailure, TooShortDependsOnTheScaleOfTheMotion) {
  const Problem problem = problems::s2();
  Simulation run(problem.system, gauss_lobatto(1), {.step = 1});
  run.start(problem.start);
  const State& s = run.state();
  EXPECT_NE(too_short(*problem.system, s, 1e-8), "");
  EXPECT_NE(too_short(*problem.system, s, -1e-8), "");
  EXPECT_EQ(too_short(*problem.system, s, 1e-6), "");
  // the same positions, a thousand times slower: no force and 1e-6 of the acceleration
  const auto slow = [](double speed) {
    Mechanical m;
    const auto q = m.coordinates("q", 2);
    m.mass({1, 1});
    m.force({0, 0});
    m.constrain(0.5 * (dot(q, q) - 1.0));
    Simulation circle(m, gauss_lobatto(1), {.step = 1});
    circle.start({.position = {1, 0}, .velocity = {0, speed}});
    return too_short(circle.system(), circle.state(), 1e-5);
  };
  EXPECT_EQ(slow(1), "");
  EXPECT_NE(slow(1e-3), "");
}

}  // namespace
}  // namespace hinge::step_failure_test
