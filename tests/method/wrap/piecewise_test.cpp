// Equations with kinks and jumps: adaptive methods end their steps there, and are as accurate as on smooth ones.
#include <cmath>
#include <numbers>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "model/run_text.hpp"

namespace hinge::piecewise_test {
namespace {

using test::run;

Model model(const std::string& text, const std::string& method, const std::string& tolerance, double end) {
  return parse_model(text + "\n[integrate]\nmethod = \"" + method + "\"\ntolerance = " + tolerance +
                         "\nend = " + fmt::format("{}", end) + "\n",
                     "m.toml");
}

const std::string jump =
    "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = if(t < 1, 1, -1)*cos(t)\"]\n[initial]\n"
    "unknowns = { x = 0 }\n";

TEST(Piecewise, AJumpIsHitAndCostsNoStepsToFind) {
  const double exact = 2 * std::sin(1.0) - std::sin(2.0);
  for (const auto& [method, error] : {std::pair{"radau", 1e-8}, {"bdf", 2e-5}}) {
    const Report r = run(model(jump, method, "1e-6", 2));
    EXPECT_NEAR(r.final.y[0], exact, error) << method;  // measured 2.4e-9, 1.1e-5
    EXPECT_LE(r.counters.rejected + r.counters.failed, 1) << method;
    ASSERT_FALSE(r.remarks.empty());
  }
  // a control: the same method on the same equations without knowing of the jump
  const Model m = model(jump, "radau", "1e-6", 2);
  const auto plain = radau({}).bind(m.system, {}, {{1e-6, 1e-6}, 0, 0});
  State s{0, {0}, {1}, {}};
  ASSERT_TRUE(plain->start(s));
  while (s.t < 2) ASSERT_TRUE(plain->advance(s, 2));
  EXPECT_GT(plain->counters().rejected + plain->counters().failed, 5);
}

// A ball on a spring that pushes only: max(0, -x) has kinks where it touches and leaves the floor.
const std::string floor_model =
    "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"-1 + 400*max(0, -x)\"]\n[initial]\n"
    "position = { x = 1 }\nvelocity = { x = 0 }\n";

TEST(Piecewise, KinksDoNotCostDigits) {
  // free flight sqrt(2), then half an oscillation about x = -1/400 with frequency 20, and so on
  const double w = 20, fall = std::sqrt(2.0), down = 1 / 400.0, amplitude = std::hypot(down, fall / w);
  const double contact = (2 * std::numbers::pi - 2 * std::acos(down / amplitude)) / w;
  const double period = 2 * fall + contact;
  for (const auto& [method, error] : {std::tuple{"explicit", 1e-9}, {"radau", 1e-8}, {"bdf", 2e-6}}) {
    const Report r = run(model(floor_model, method, "1e-10", 3 * period));
    EXPECT_NEAR(r.final.y[0], 1, error) << method;
    EXPECT_NEAR(r.final.z[0], 0, 10 * error) << method;
  }
}

TEST(Piecewise, FrictionAtRestIsReportedNotCrawledThrough) {
  const std::string friction =
      "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"0.5 - sign(x')\"]\n[initial]\n"
      "position = { x = 0 }\nvelocity = { x = 1 }\n";
  for (const char* method : {"explicit", "radau", "bdf"}) {
    const Model m = model(friction, method, "1e-8", 5);
    Simulation s = m.simulation_for("");
    s.start(m.start);
    try {
      s.until(5);
      ADD_FAILURE() << method;
    } catch (const StepFailure& e) {
      EXPECT_NE(std::string(e.what()).find("from both sides"), std::string::npos) << e.what();
    }
    EXPECT_NEAR(s.state().t, 2, 1e-5) << method;
    EXPECT_NEAR(s.state().y[0], 1, 1e-6) << method;
  }
}

// The branch sqrt(x) ends at its root and cannot be continued beyond.
TEST(Piecewise, ABranchMayEndWithItsDomain) {
  const std::string tank =
      "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -if(x > 0, sqrt(x), 0)\"]\n[initial]\n"
      "unknowns = { x = 1 }\n";
  for (const char* method : {"radau", "bdf"}) {
    const Report r = run(model(tank, method, "1e-8", 3));
    EXPECT_EQ(r.end, 3);
    EXPECT_NEAR(r.final.y[0], 0, 1e-7) << method;
  }
}

// What is differentiated together goes on continuously, here a + b; the algebraic unknown jumps.
TEST(Piecewise, WhatJumpsAndWhatDoesNot) {
  const std::string circuit =
      "[dae]\nunknowns = [\"a\", \"b\", \"i\"]\nequations = [\"a' + b' = i\", \"b = a*if(t < 1, 1, 1)\", "
      "\"i = if(t < 1, 1, -2)\"]\n[initial]\nunknowns = { a = 0, b = 0 }\n";
  for (const char* method : {"radau", "bdf"}) {
    const Report r = run(model(circuit, method, "1e-8", 2));
    EXPECT_NEAR(r.final.y[0] + r.final.y[1], -1, 1e-8) << method;
    EXPECT_NEAR(r.final.y[2], -2, 1e-12) << method;
  }
}

TEST(Piecewise, SmoothEquationsAreLeftAlone) {
  const std::string smooth = "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\n[initial]\nunknowns = { x = 1 }\n";
  const Report r = run(model(smooth, "radau", "1e-8", 1));
  for (const std::string& remark : r.remarks) EXPECT_EQ(remark.find("branch"), std::string::npos) << remark;
}

}  // namespace
}  // namespace hinge::piecewise_test
