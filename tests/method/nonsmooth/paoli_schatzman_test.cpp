// Paoli-Schatzman against an independent implementation, and as an ordinary method where nothing strikes.
#include "method/nonsmooth/paoli_schatzman.hpp"

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/explicit/explicit_problems.hpp"
#include "method/nonsmooth/contact_problems.hpp"

namespace hinge::paoli_schatzman_test {
namespace {

using namespace contact_problems;

TEST(PaoliSchatzman, BouncingBallErrorsAndPenetration) {
  for (const auto& [h, key] : {std::pair{1e-2, "h=0.01"}, std::pair{1e-3, "h=0.001"}, std::pair{1e-4, "h=0.0001"}}) {
    const auto& expected = golden()["bouncing_ball"]["data"]["e=0.5"]["paoli_schatzman"][key];
    Simulation run(ball(0.5).system, paoli_schatzman(), {.step = h});
    run.start(ball(0.5).start);
    double error = 0;
    for (long k = 1; k <= std::lround(2 / h); ++k) {
      run.step();
      error = std::max(error, std::abs(run.state().y[0] - ball_height(0.5, static_cast<double>(k) * h)));
    }
    EXPECT_NEAR(error / expected["max_abs_position_error"].get<double>(), 1, 1e-6) << key;
    EXPECT_NEAR(run.report().contacts->penetration / expected["max_penetration"].get<double>(), 1, 1e-6) << key;
  }
}

TEST(PaoliSchatzman, HasOrderOneWithImpacts) {
  const std::vector<double> h = log_steps(2.0, 1e-2, 2e-4, 12);
  std::vector<double> error;
  for (const double step : h)
    error.push_back(
        largest_error(ball(0.5), paoli_schatzman(), step, 2.0, [](double t) { return ball_height(0.5, t); }));
  EXPECT_NEAR(fitted_order(h, error), 1.0, 0.1);
}

TEST(PaoliSchatzman, KeepsJointsOnThePositionLevel) {
  const explicit_problems::Problem pendulum = explicit_problems::pendulum();
  Simulation run(pendulum.system, paoli_schatzman(), {.step = 1e-2});
  run.start(pendulum.start);
  run.until(2);
  EXPECT_LT(run.report().constraint, 1e-14);  // measured 5e-16
}

TEST(PaoliSchatzman, RefusesWhatItCannotDo) {
  EXPECT_THROW(paoli_schatzman().bind(problems::s2().system, {}), UnsuitableMethod);
  EXPECT_THROW(make_method("paoli-schatzman", {{"theta", 1.0}}), InputError);
}

}  // namespace
}  // namespace hinge::paoli_schatzman_test
