// The default divides steps that are too long for the motion; others are those of the method, bit by bit.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::divided_steps_test {
namespace {

Report run(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Model model = parse_model(text, "model", overrides);
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  return run.report();
}

// A pendulum by its angle: a step that is short enough is that of the method.
TEST(DividedSteps, AreThoseOfTheMethodWhereTheyAreShort) {
  const std::string text = R"toml([lagrangian]
coordinates = ["a"]
kinetic = "a'^2/2"
potential = "-cos(a)"
[initial]
position = { a = 1 }
[integrate]
step = 0.01
end = 5
)toml";
  const Report plain = run(text, {{"integrate.method", "gauss-lobatto"}}), divided = run(text);
  EXPECT_EQ(plain.final.y, divided.final.y);
  EXPECT_EQ(plain.final.z, divided.final.z);
  EXPECT_TRUE(divided.remarks.empty());
}

// Chains of links released from the horizontal, which whip: the step is far too long there.
TEST(DividedSteps, KeepTheEnergyOfChainsThatWhip) {
  Draw draw(3);
  for (int trial = 0; trial < 5; ++trial) {
    const double l = draw.number(0.05, 0.2);
    std::string text = "[multibody]\ngravity = [0, -9.81]\n";
    for (int i = 0; i < 4; ++i)
      text += fmt::format("[[body]]\nname = \"b{0}\"\nmass = 1\ninertia = {1}\nposition = [{2}, 0]\n", i, l * l / 12,
                          (i + 0.5) * l);
    for (int i = 0; i < 4; ++i)
      text += fmt::format(
          "[[joint]]\nname = \"j{0}\"\ntype = \"revolute\"\nbodies = [\"{1}\", \"b{0}\"]\npoint = [{2}, 0]\n", i,
          i == 0 ? "ground" : fmt::format("b{}", i - 1), i * l);
    const double step = draw.number(0.01, 0.02);
    text += fmt::format("[integrate]\nstep = {}\nend = 2\n", step);
    const Report r = run(text), plain = run(text, {{"integrate.method", "gauss-lobatto"}});
    EXPECT_LT(*r.energy_error, 1e-5 * 4 * 9.81 * l) << l;
    EXPECT_GT(*plain.energy_error, 30 * *r.energy_error) << l;
    EXPECT_EQ(r.remarks.size(), 1u) << l;
    EXPECT_NEAR(r.end, 2, 1e-12);
  }
}

// Of equations the steps are those of the method, however long.
TEST(DividedSteps, LeaveEquationsAlone) {
  const std::string text = R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')/2"
potential = "-1/norm(q)"
[initial]
position = { q = [1, 0] }
velocity = { q = [0, 0.6] }
[integrate]
step = 0.02
end = 10
)toml";
  EXPECT_EQ(run(text, {{"integrate.method", "gauss-lobatto"}}).final.y, run(text).final.y);
}

// A damped motion: nothing is known of its energy, steps are those of the method.
TEST(DividedSteps, LeaveForcedMotionsAlone) {
  const std::string text = R"toml([lagrangian]
coordinates = ["a"]
kinetic = "a'^2/2"
potential = "-100*cos(a)"
force = ["-a'"]
[initial]
position = { a = 1 }
[integrate]
step = 0.1
end = 5
)toml";
  EXPECT_EQ(run(text, {{"integrate.method", "gauss-lobatto"}}).final.y, run(text).final.y);
}

}  // namespace
}  // namespace hinge::divided_steps_test
