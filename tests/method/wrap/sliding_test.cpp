// Where the equations lead back from both sides of a place where they jump, every method that chooses its steps stops
// there, at the same time and with the same message; where they lead on, none does.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "random_draw.hpp"

namespace hinge::sliding_test {
namespace {

// x'' = -a sign(x' + s x), x(0) = 1, x'(0) = 0: x' = -a t until x' + s x = 0, that is
// 1 - a t^2/2 = a t/s; from there sliding where |s x'| = a s t < a.
double slides_at(double a, double s) { return (-1 / s + std::sqrt(1 / (s * s) + 2 / a)); }

TEST(Sliding, EndsEveryMethodAtTheSameTime) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Draw draw(seed);
    const double a = draw.number(1, 4), s = draw.number(0.5, 1.5), t = slides_at(a, s);
    if (s * t > 0.9) continue;  // passes through
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nforce = {{ x = \"-{}*sign(x' + {}*x)\" }}\n"
        "[initial]\nposition = {{ x = 1 }}\n[integrate]\ntolerance = 1e-8\nend = 5\n",
        a, s);
    for (const char* method : {"bdf", "radau", "explicit", "auto"}) {
      SCOPED_TRACE(fmt::format("{} a = {}, s = {}", method, a, s));
      const Model model = parse_model(text, "m.toml", {{"integrate.method", method}});
      Simulation run = model.simulation_for("");
      run.start(model.start);
      try {
        run.until(5);
        ADD_FAILURE() << "no failure";
      } catch (const StepFailure& e) {
        EXPECT_NE(std::string(e.what()).find("lead back from both sides"), std::string::npos) << e.what();
        EXPECT_NEAR(run.state().t, t, 1e-6);
        EXPECT_LT(run.report().steps, 200);
      }
    }
  }
}

// A jump that is passed: x'' = -a sign(x), a period of 4 sqrt(2 x0 / a).
TEST(Sliding, IsNotSeenWhereTheMotionGoesOn) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    Draw draw(100 + seed);
    const double a = draw.number(0.5, 4), x0 = draw.number(0.5, 2), period = 4 * std::sqrt(2 * x0 / a);
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nforce = {{ x = \"-{}*sign(x)\" }}\n"
        "[initial]\nposition = {{ x = {} }}\n[integrate]\ntolerance = 1e-9\nend = {}\n",
        a, x0, 5 * period);
    for (const char* method : {"bdf", "radau", "explicit"}) {
      SCOPED_TRACE(fmt::format("{} a = {}, x0 = {}", method, a, x0));
      const Model model = parse_model(text, "m.toml", {{"integrate.method", method}});
      Simulation run = model.simulation_for("");
      run.start(model.start);
      ASSERT_NO_THROW(run.until(5 * period));
      EXPECT_NEAR(run.state().y[0], x0, 1e-5 * x0);
    }
  }
}

}  // namespace
}  // namespace hinge::sliding_test
