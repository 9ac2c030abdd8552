// What a stepper has from its base: steps of given length from chosen ones, and the other way round.
#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/hinge.hpp"
#include "method/problems.hpp"

namespace hinge::stepper_test {
namespace {

State begin(const problems::Problem& problem) { return consistent_start(*problem.system, 0, problem.start); }

// One step of a method with steps of given length, as far as `limit`, is a step of that length, and ends there exactly.
TEST(Stepper, AdvancesToTheLimitWhereTheLengthIsGiven) {
  const problems::Problem problem = problems::torus();
  const auto one = rattle().bind(problem.system), other = rattle().bind(problem.system);
  EXPECT_FALSE(one->chooses_steps());
  State a = begin(problem), b = a;
  ASSERT_TRUE(one->start(a));
  ASSERT_TRUE(one->advance(a, a.t + 0.01));
  ASSERT_TRUE(other->step(b, 0.01));
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.t, b.t);
}

TEST(Stepper, ChosenStepsMakeUpAStepOfGivenLength) {
  const problems::Problem problem = problems::torus();
  const StepOptions steps{.tolerance = {1e-10, 1e-10}};
  for (const MethodChoice& method : {explicit_runge_kutta(), half_explicit(), radau()}) {
    const auto stepper = method.bind(problem.system, {}, steps);
    EXPECT_TRUE(stepper->chooses_steps());
    State s = begin(problem);
    const double end = s.t + 0.5;
    ASSERT_TRUE(stepper->start(s));
    ASSERT_TRUE(stepper->step(s, 0.5)) << method.description;
    EXPECT_EQ(s.t, end);
    EXPECT_GT(stepper->counters().steps, 1);
    State exact = begin(problem);
    const auto fine = gauss_lobatto(4).bind(problem.system);
    for (int k = 0; k < 50; ++k) ASSERT_TRUE(fine->step(exact, 0.01));
    for (std::size_t i = 0; i < s.y.size(); ++i) EXPECT_NEAR(s.y[i], exact.y[i], 1e-7) << method.description;
  }
}

// Within a step: by a shorter one where the length is given, by interpolation where it is chosen.
TEST(Stepper, LooksWithinTheLastStep) {
  const problems::Problem problem = problems::torus();
  const State before = begin(problem);
  State middle = before;
  const auto fine = gauss_lobatto(4).bind(problem.system);
  ASSERT_TRUE(fine->step(middle, 0.005));
  const auto fixed = gauss_lobatto(3).bind(problem.system);
  State s = before, within = before;
  ASSERT_TRUE(fixed->step(s, 0.01));
  ASSERT_TRUE(fixed->look_within(before, before.t + 0.005, within));
  for (std::size_t i = 0; i < s.y.size(); ++i) EXPECT_NEAR(within.y[i], middle.y[i], 1e-9);
  const auto chosen = explicit_runge_kutta().bind(problem.system, {}, {.tolerance = {1e-10, 1e-10}});
  s = within = before;
  ASSERT_TRUE(chosen->start(s));
  while (s.t < before.t + 0.01) ASSERT_TRUE(chosen->advance(s, before.t + 0.01));
  ASSERT_TRUE(chosen->look_within(before, before.t + 0.01, within));
  for (std::size_t i = 0; i < s.y.size(); ++i) EXPECT_NEAR(within.y[i], s.y[i], 1e-9);
}

// The steps that a method cannot make are refused when it is bound, by name.
TEST(Stepper, BindRefusesOtherSteps) {
  const auto system = problems::torus().system;
  EXPECT_THROW(rattle().bind(system, {}, {.tolerance = {1e-6, 1e-6}}), UnsuitableMethod);
  EXPECT_THROW(automatic().bind(system), UnsuitableMethod);
  EXPECT_THROW(rattle().bind(system, {.max_iterations = 0}), InputError);
  EXPECT_THROW(radau().bind(system, {}, {.tolerance = {2, 2}}), InputError);
}

}  // namespace
}  // namespace hinge::stepper_test
