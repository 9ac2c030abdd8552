// BDF with a tolerance: errors and steps beside those of an independent implementation, and the contract of adaptive
// steppers.
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "method/implicit/bdf_runs.hpp"
#include "model/run_text.hpp"

namespace hinge::bdf_adaptive_test {
namespace {

using namespace bdf_runs;
using goldens::number;

struct Outcome {
  Triple error{};
  Counters counters;
};

BdfOptions adaptive(const std::string& form) {
  BdfOptions options = named(form, 5);
  options.keep_partition = 0.5;
  options.projection = Projection::none;  // as in the goldens
  return options;
}

Outcome integrate(const Problem& problem, const std::string& form, double tolerance, double end, const State& exact) {
  const auto stepper = make_adaptive_bdf(problem.system, adaptive(form), {}, {.tolerance = {tolerance, tolerance}});
  State state = problem.at(0);
  EXPECT_TRUE(stepper->start(state));
  while (state.t < end) {
    const StepResult result = stepper->advance(state, end);
    EXPECT_TRUE(result) << result.reason;
    if (!result) break;
  }
  EXPECT_EQ(state.t, end);
  return {difference(state, exact), stepper->counters()};
}

Problem problem_named(const std::string& name) {
  if (name == "pendulum") return dae_problems::pendulum();
  if (name == "hoop") return dae_problems::hoop();
  if (name == "slider_crank") return dae_problems::slider_crank();
  throw std::runtime_error("no problem is called " + name);
}

TEST(AdaptiveBdf, MeetsTheGoldenErrorsAndSteps) {
  for (const auto& [key, golden] : data()["vsvo_bdf"].items()) {
    const std::string name = key.substr(0, key.find('|'));
    const auto form_at = key.find("BDF|") + 4, tol_at = key.find("|tol=");
    const std::string form = key.substr(form_at, tol_at - form_at);
    const double tolerance = std::stod(key.substr(tol_at + 5));
    const Problem problem = problem_named(name);
    const Outcome own = integrate(problem, form, tolerance, 2, reference(name + " T=2"));
    const Triple errors = triple(golden["err_p_v_lam"]);
    const double steps = number(golden["nst"]);
    EXPECT_NEAR(static_cast<double>(own.counters.steps), steps, 0.3 * steps) << key;
    EXPECT_LT(own.error[0], 10 * errors[0]) << key;
    EXPECT_LT(own.error[1], 10 * errors[1]) << key;
  }
}

// Not at 1e-4, where the independent implementation has an error of 7.9e-5, no more than at 1e-6; ours is 3.0e-3 there.
TEST(AdaptiveBdf, MeetsTheSpecifiedErrorsAndStepsOfTheSliderCrank) {
  struct Row {
    double tolerance, steps, error;
  };
  for (const Row& row : {Row{1e-6, 278, 8.0e-5}, Row{1e-8, 553, 1.8e-6}}) {
    const Outcome own =
        integrate(problem_named("slider_crank"), "ggl", row.tolerance, 2, reference("slider_crank T=2"));
    EXPECT_NEAR(static_cast<double>(own.counters.steps), row.steps, 0.3 * row.steps) << row.tolerance;
    EXPECT_LT(std::max(own.error[0], own.error[1]), 10 * row.error) << row.tolerance;
  }
}

TEST(AdaptiveBdf, HasErrorsInProportionToTheTolerance) {
  const Problem problem = dae_problems::slider_crank();
  const State exact = reference("slider_crank T=2");
  for (const char* form : {"ggl", "pi332", "gcp", "lssPrev", "e317"}) {
    double last = INFINITY;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      const Outcome own = integrate(problem, form, tolerance, 2, exact);
      const double error = std::max(own.error[0], own.error[1]);
      EXPECT_LT(error, last) << form << tolerance;
      EXPECT_LT(error, 500 * tolerance) << form << tolerance;
      EXPECT_GT(error, 0.05 * tolerance) << form << tolerance;
      last = error;
    }
  }
}

TEST(AdaptiveBdf, InterpolatesWithinItsTolerance) {
  const Problem problem = dae_problems::hoop();
  for (const char* form : {"pi332", "ggl", "idx3"}) {
    const auto stepper = make_adaptive_bdf(problem.system, named(form, 5), {}, {.tolerance = {1e-7, 1e-7}});
    State state = problem.at(0), between = state;
    ASSERT_TRUE(stepper->start(state));
    double worst = 0;
    int steps = 0;
    while (state.t < 0.3) {
      const double before = state.t;
      ASSERT_TRUE(stepper->advance(state, 0.3));
      if (++steps % 4 != 0) continue;
      for (const double part : {0.0, 0.4, 1.0}) {
        const double t = part == 1 ? state.t : before + part * (state.t - before);
        stepper->interpolate(t, between);
        EXPECT_EQ(between.t, t);
        const Triple d = difference(between, exact_states(problem, 1, 1, t)[0]);
        worst = std::max(worst, d[0]);
        if (part == 1) {
          EXPECT_LT(difference(between, state)[0], 1e-15);
        }
      }
    }
    EXPECT_LT(worst, 2e-6) << form;
    EXPECT_GT(worst, 1e-9) << form;
  }
}

TEST(AdaptiveBdf, KeepsTheConstraintsToRoundOff) {
  const Problem problem = dae_problems::hoop();
  for (const char* form : {"ggl", "projected-invariants", "coordinate-partitioning", "tangent-space", "extended"}) {
    Simulation run(problem.system, make_method("bdf", {{"formulation", std::string(form)}}),
                   {.tolerance = {1e-6, 1e-6}});
    run.start({.position = problem.at(0).y, .velocity = problem.at(0).z});
    run.until(2);
    EXPECT_LT(run.report().constraint, 1e-14) << form;  // what projection leaves
    EXPECT_LT(run.report().hidden_constraint, 1e-14) << form;
    EXPECT_EQ(run.state().t, 2) << form;
  }
}

TEST(AdaptiveBdf, StopsAtALimitAndGoesOn) {
  const Problem problem = dae_problems::pendulum();
  const auto stepper = make_adaptive_bdf(problem.system, named("pi332", 5), {}, {.tolerance = {1e-8, 1e-8}});
  State state = problem.at(0);
  ASSERT_TRUE(stepper->start(state));
  for (int k = 1; k <= 20; ++k) {
    const double limit = 0.1 * k;
    while (state.t < limit) ASSERT_TRUE(stepper->advance(state, limit));
    EXPECT_EQ(state.t, limit);
  }
  EXPECT_LT(difference(state, reference("pendulum T=2"))[0], 3e-6);
}

TEST(AdaptiveBdf, SaysWhereItCannotGoOn) {
  Mechanical m;  // a(t) = 1 / sqrt(1 - t): no solution beyond t = 1
  const Vector p = m.coordinates("p", 1);
  m.mass({1.0});
  m.force({1.0 / sqrt(1.0 - m.t())});
  const auto stepper = make_adaptive_bdf(m.build(), {}, {}, {.tolerance = {1e-6, 1e-6}});
  State state{0, {0}, {0}, {}};
  ASSERT_TRUE(stepper->start(state));
  StepResult result;
  int steps = 0;
  while (result && ++steps < 10000) result = stepper->advance(state, 2);
  EXPECT_FALSE(result);
  EXPECT_NEAR(state.t, 1, 1e-3);
  EXPECT_NE(result.reason.find("too long"), std::string::npos) << result.reason;
}

// Two jumps, or a jump and the end, 1e-13 to 1e-11 of the time apart: a piece that short has no error to speak of.
TEST(BdfAdaptive, PiecesAsShortAsRoundingOfTimeAreTaken) {
  for (const double gap : {1e-13, 4e-13, 1e-12, 2e-12, 1e-11}) {
    const auto x_at_end = [&](const char* method, double tolerance) {
      return test::value_of(test::run_text(fmt::format(R"x([lagrangian]
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "4*x^2"
force = {{ x = "-0.1*x' + if(t > 1 and t < {:.17g}, 5, 0)" }}
[initial]
position = {{ x = 1 }}
[output]
quantities = {{ X = "x" }}
[integrate]
method = "{}"
tolerance = {}
end = {:.17g}
)x",
                                                       1 + gap, method, tolerance, 2 + gap)),
                            "X");
    };
    EXPECT_NEAR(x_at_end("bdf", 1e-8), x_at_end("radau", 1e-11), 1e-5) << gap;
  }
}

}  // namespace
}  // namespace hinge::bdf_adaptive_test
