// A reaction lam + lam^2/10 cannot be less than -5/2. With the force f = 1 + t on a mass that stands still it is -f,
// and the motion goes on until t = 3/2. The first multiplier of the symplectic Euler method has to balance 2 f, and has
// no value from t = 1/4 on: the method ends there, not the motion, and says so.
#include <string>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::branch_end_test {
namespace {

const std::string model =
    "[odae]\ny = [\"y\"]\nz = [\"z\"]\npsi = [\"lam\"]\nv = [\"z\"]\np = [\"z\"]\nf = [\"1 + t\"]\n"
    "r = [\"lam + 0.1*lam^2\"]\ng = [\"y\"]\n[initial]\ny = { y = 0 }\nz = { z = 0 }\npsi = [-1.13]\n"
    "[integrate]\nmethod = \"symplectic-euler\"\nstep = 0.01\n";

struct Outcome {
  double t;
  std::string message;
};

Outcome run(const std::vector<Override>& overrides, double end) {
  const Model m = parse_model(model, "m.toml", overrides);
  Simulation s = m.simulation_for("");
  s.start(m.start);
  try {
    s.until(end);
  } catch (const StepFailure& e) {
    return {s.state().t, e.what()};
  }
  return {s.state().t, ""};
}

TEST(BranchEnd, OfAMethodIsNotTakenForThatOfTheMotion) {
  for (const char* step : {"0.02", "0.01", "0.001"}) {
    const Outcome euler = run({{"integrate.step", step}}, 1.4);
    EXPECT_NE(euler.message.find("the motion itself goes on"), std::string::npos) << euler.message;
    EXPECT_EQ(euler.message.find("the motion itself ends"), std::string::npos) << euler.message;
    EXPECT_NEAR(euler.t, 0.25, 0.05);
  }
  EXPECT_EQ(run({{"integrate.method", "gauss-lobatto"}}, 1.4).message, "");
}

TEST(BranchEnd, OfTheMotionIsSaid) {
  const Outcome end = run({{"integrate.method", "gauss-lobatto"}}, 2);
  EXPECT_NEAR(end.t, 1.5, 0.02);
  EXPECT_EQ(end.message.find("the motion itself goes on"), std::string::npos) << end.message;
}

}  // namespace
}  // namespace hinge::branch_end_test
