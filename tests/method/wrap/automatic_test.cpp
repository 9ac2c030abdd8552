// auto: explicit while that is cheap, radau where the system is stiff.
#include <algorithm>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "method/explicit/explicit_problems.hpp"

namespace hinge::automatic_test {
namespace {

using namespace explicit_problems;

bool has_radau() {
  const auto all = methods();
  return std::any_of(all.begin(), all.end(), [](const MethodInfo& m) { return m.name == "radau"; });
}

TEST(Automatic, IsExplicitForNonstiffMechanisms) {
  const Report a = adaptive(hoop(), automatic(), 1e-9, 1.0), e = adaptive(hoop(), explicit_runge_kutta(), 1e-9, 1.0);
  EXPECT_EQ(a.final.y, e.final.y);  // to the bit
  EXPECT_EQ(a.steps, e.steps);
  EXPECT_TRUE(a.remarks.empty());
}

// The explicit method is bound by |h lambda| < 6 or so with lambda = k; radau needs a fraction of its steps.
TEST(Automatic, NoticesStiffness) {
  const Report mild = adaptive(stiff_oscillator(1), automatic(), 1e-6, 5.0);
  EXPECT_TRUE(mild.remarks.empty());
  const Report stiff = adaptive(stiff_oscillator(5000), automatic(), 1e-6, 5.0);
  ASSERT_FALSE(stiff.remarks.empty());
  EXPECT_NE(stiff.remarks[0].find("stiff"), std::string::npos) << stiff.remarks[0];
  EXPECT_NE(stiff.remarks[0].find("radau"), std::string::npos) << stiff.remarks[0];
  const Report by_explicit = adaptive(stiff_oscillator(5000), explicit_runge_kutta(), 1e-6, 5.0);
  EXPECT_LT(distance(stiff.final.y, by_explicit.final.y), 1e-4);
  ASSERT_EQ(by_explicit.remarks.size(), 1u);
  EXPECT_NE(by_explicit.remarks[0].find("stiff"), std::string::npos);
  if (has_radau()) {
    EXPECT_LT(stiff.steps, by_explicit.steps / 4);
  }
}

TEST(Automatic, IsTheMethodOfModelsWithAToleranceAlone) {
  const std::string text = R"(
[lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q', q')/2"
potential = "9.81*q[1]"
constraints = ["dot(q, q) - 1"]
[initial]
position = { q = [1, 0] }
[integrate]
end = 1
)";
  EXPECT_EQ(parse_model(text + "tolerance = 1e-8\n", "m").method, "auto");
  EXPECT_EQ(parse_model(text + "step = 0.01\n", "m").method, "gauss-lobatto");
  EXPECT_EQ(parse_model(text + "method = \"explicit\"\ntolerance = 1e-8\n", "m").method, "explicit");
  Simulation run = parse_model(text + "tolerance = 1e-10\n", "m").simulation_for("");
  run.start({.position = {1, 0}});
  run.until(1.0);
  EXPECT_LT(distance(run.state().y, reference("pendulum").p), 1e-8);
}

TEST(Automatic, WantsATolerance) {
  EXPECT_THROW(Simulation(hoop().system, automatic(), {.step = 0.1}), UnsuitableMethod);
}

}  // namespace
}  // namespace hinge::automatic_test
