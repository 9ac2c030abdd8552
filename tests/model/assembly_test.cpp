// Projected starts: loops close within the limits of joints or are refused, quaternions keep their length and counted
// turns are the angles; values of exactly zero are as good as others.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/complaint.hpp"
#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::test::assembly_test {
namespace {

State start_of(const std::string& text) {
  const Model model = parse_model(text, "scene.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  return run.state();
}

// A four-bar that is open where the rocker is held and where it meets the coupler; joint b has limits.
std::string open_loop(Draw& draw, double low, double high) {
  const double x = draw.number(-0.4, 0.6), y = draw.number(-0.2, 0.4);
  return fmt::format(R"toml([multibody]
gravity = [0, -9.81]
[[body]]
name = "crank"
mass = 1
inertia = 0.1
center = [0.5, 0]
[[body]]
name = "coupler"
mass = 1
inertia = 0.1
center = [1, 0]
position = [1, 0]
[[body]]
name = "rocker"
mass = 1
inertia = 0.1
center = [0, 0.75]
position = [3, -1.3]
[[joint]]
name = "a"
type = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]
[[joint]]
name = "b"
type = "revolute"
bodies = ["crank", "coupler"]
point = [1, 0]
limits = [{}, {}]
[[joint]]
type = "revolute"
bodies = ["coupler", "rocker"]
points = [[3, 0], [3, {}]]
[[joint]]
type = "revolute"
bodies = ["ground", "rocker"]
points = [[{}, -1.3], [3, -1.3]]
[initial]
consistent = "project"
[integrate]
step = 0.001
end = 0.002
[output]
quantities = {{ b = "b_angle" }}
)toml",
                     low, high, y, 3 + x);
}

TEST(Assembly, ClosesLoopsWithinTheLimitsOfJointsOrRefuses) {
  Draw draw(11);
  int closed = 0, refused = 0;
  for (int n = 0; n < 40; ++n) {
    const double low = -draw.number(0.01, 0.3), high = draw.number(0.01, 0.3);
    const std::string text = open_loop(draw, low, high);
    try {
      const Report r = run_text(text);
      ++closed;
      EXPECT_LT(r.constraint, 1e-12) << text;  // measured 1.1e-15
      EXPECT_GT(value_of(r, "b"), low - 1e-6) << text;
      EXPECT_LT(value_of(r, "b"), high + 1e-6) << text;
    } catch (const std::exception& e) {
      ++refused;
      EXPECT_TRUE(mentions(e.what(), "the joints cannot be closed") || mentions(e.what(), "no way out was found") ||
                  mentions(e.what(), "initial"))
          << e.what();
    }
  }
  EXPECT_GT(closed, 25) << refused;
}

// Two arms in space, askew at the start.
TEST(Assembly, LeavesQuaternionsOfLengthOneAndTurnsThatAreTheAngles) {
  Draw draw(4);
  for (int n = 0; n < 10; ++n) {
    const std::string text = fmt::format(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "arm"
mass = 1
inertia = [0.1, 0.2, 0.3]
center = [0.5, 0, 0]
rotation = {{ axis = [1, {}, 0], angle = {} }}
[[body]]
name = "arm2"
mass = 1
inertia = [0.1, 0.2, 0.3]
center = [0.5, 0, 0]
position = [{}, 0.4, 0.2]
[[joint]]
name = "j"
type = "revolute"
axis = [0, {}, 1]
bodies = ["ground", "arm"]
point = [0, 0, 0]
[[joint]]
name = "k"
type = "revolute"
axis = [0, {}, 1]
bodies = ["arm", "arm2"]
points = [[1, 0, {}], [1.1, 0.3, 0.2]]
stiffness = 2
[initial]
consistent = "project"
[integrate]
method = "explicit"
tolerance = 1e-9
end = 0.1
[output]
quantities = {{ j = "j_angle", k = "k_angle" }}
)toml",
                                         draw.number(-1, 1), draw.number(-1, 1), draw.number(0.8, 1.4),
                                         draw.number(-1, 1), draw.number(-1, 1), draw.number(-0.4, 0.4));
    const State s = start_of(text);
    for (const std::size_t first : {3u, 10u}) {
      double square = 0;
      for (std::size_t k = 0; k < 4; ++k) square += s.y[first + k] * s.y[first + k];
      EXPECT_NEAR(square, 1, 1e-15) << text;
    }
    const Model model = parse_model(text, "scene.toml");
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(0);
    EXPECT_NEAR(s.y[14], value_of(run.report(), "j"), 1e-14) << text;
    EXPECT_NEAR(s.y[15], value_of(run.report(), "k"), 1e-14) << text;
    EXPECT_GT(std::abs(s.y[14]) + std::abs(s.y[15]), 1e-4) << text;  // they have turned
  }
}

// An axis of a body has the length one: what asks for another one holds nowhere. The counted turn of the hinge then
// runs away while it is looked for, and beside 1e19 rad everything had been solved.
TEST(Assembly, WhatHoldsNowhereHasNoNearestValues) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Draw draw(seed);
    const std::string wrong =
        draw.chance(0.5) ? fmt::format("arm_e{} = 0", draw.integer(1, 3))
                         : fmt::format("arm_e{}[{}] = {}", draw.integer(1, 3), draw.integer(0, 2), draw.number(1.1, 3));
    for (const char* consistent : {"check", "project"}) {
      const std::string scene = fmt::format(
          "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = [0.1, 0.2, 0.2]\n"
          "position = [{}, {}, 0]\nrotation = {{ axis = [{}, 1, {}], angle = {} }}\n[[joint]]\nname = \"pin\"\n"
          "type = \"revolute\"\nbodies = [\"ground\", \"arm\"]\npoint = [0, 0, 0]\naxis = [1, {}, {}]\nstiffness = 3\n"
          "[[constraint]]\nname = \"wrong\"\nequation = \"{}\"\n[initial]\nconsistent = \"{}\"\n"
          "[integrate]\nstep = 0.01\nend = 0.1\n[output]\nquantities.a = \"pin_angle\"\n",
          draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1), draw.number(-3, 3),
          draw.number(-1, 1), draw.number(-1, 1), wrong, consistent);
      const std::string complaint = complaint_about(scene);
      // "no consistent position was found", or that constraints contradict each other "and no position was found where
      // ..."
      EXPECT_NE(complaint.find("position was found"), std::string::npos)
          << seed << " " << wrong << " " << consistent << ": " << complaint;
      EXPECT_EQ(complaint.find("nearest consistent values"), std::string::npos) << complaint;
    }
  }
}

TEST(Assembly, APositionOfZeroIsAsGoodAsAnother) {
  // at 0 these constraints are rounding of sin(pi), and nothing else has a size
  for (const char* fixed : {"", "fixed = [\"x\"]\n"}) {
    const State s = start_of(fmt::format(
        "[lagrangian]\ncoordinates = [\"x\", \"y\", \"w\"]\nkinetic = \"(x'^2 + y'^2 + w'^2)/2\"\nconstraints = "
        "[\"sin(x + pi)\", \"cos(x + pi/2)*3 + y\"]\n[initial]\nposition = {{ x = 0, y = 0 }}\nconsistent = "
        "\"project\"\n{}[integrate]\nstep = 0.01\nend = 0.1\n",
        fixed));
    for (const double y : s.y) EXPECT_LT(std::abs(y), 1e-15);
  }
}

}  // namespace
}  // namespace hinge::test::assembly_test
