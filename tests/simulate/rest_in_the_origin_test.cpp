// Claims: it does not matter where the origin is. What hangs or lies at rest in it has coordinates that are zero, and
// then less than the rounding of the lengths that hold it; it moves as it does anywhere else, and nothing is doubted.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../model/run_text.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::test::rest_in_the_origin_test {
namespace {

struct Place {
  double x, y;
};
constexpr Place origin{0, 0};

const std::vector<std::string> slowly{"0.5*t^2", "t^3/6", "0.5*max(0, t - 0.1)^2", "1 - cos(t)",
                                      "if(t < 0.1, 0, if(t < 0.5, ((t - 0.1)/0.4)^2*(3 - 2*(t - 0.1)/0.4), 1))"};

std::string model(const std::string& constraints, const std::string& force, const Place& at, const std::string& steps) {
  return fmt::format(R"toml([lagrangian]
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
constraints = [{}]
force = {{ x = "{}" }}
[initial]
position = {{ x = {}, y = {} }}
[integrate]
{}
end = 0.6
[output]
quantities = {{ right = "x - ({})", up = "y - ({})" }}
)toml",
                     constraints, force, at.x, at.y, steps, at.x, at.y);
}

std::string pendulum(const Place& at, const std::string& force, const std::string& trolley, const std::string& steps) {
  return model(fmt::format("\"(x - ({}) - ({}))^2 + (y - ({}) - 1)^2 - 1\"", at.x, trolley, at.y), force, at, steps);
}
std::string wire(const Place& at, const std::string& force, const std::string& steps) {
  return model(fmt::format("\"y - ({}) - (x - ({}))^2\"", at.y, at.x), force, at, steps);
}

// What is doubted; and the motion from where it rested.
struct Outcome {
  std::string doubts;
  double right = 0, up = 0;
};
Outcome run(const std::string& text) {
  const Report report = run_text(text);
  Outcome out{"", value_of(report, "right"), value_of(report, "up")};
  for (const Doubt& doubt : report.doubts) out.doubts += doubt.cause + "; ";
  return out;
}

void expect_the_same(const std::string& in_the_origin, const std::string& elsewhere, double tolerance) {
  const Outcome here = run(in_the_origin), there = run(elsewhere);
  EXPECT_EQ(here.doubts, "") << in_the_origin;
  EXPECT_EQ(there.doubts, "") << elsewhere;
  EXPECT_NEAR(here.right, there.right, tolerance) << in_the_origin;
  EXPECT_NEAR(here.up, there.up, tolerance) << in_the_origin;
}

class RestInTheOrigin : public testing::TestWithParam<const char*> {};

TEST_P(RestInTheOrigin, IsLeftAsRestAnywhereElse) {
  const std::string steps = GetParam();
  Draw draw(4109);
  for (int trial = 0; trial < 4; ++trial) {
    const Place place{draw.number(-3, 3), draw.number(-3, 3)};
    const std::string how = draw.one_of(slowly), force = fmt::format("5*({})", how);
    constexpr double rounding = 1e-12;  // measured 5e-15
    expect_the_same(pendulum(origin, force, "0", steps), pendulum(place, force, "0", steps), rounding);
    expect_the_same(wire(origin, force, steps), wire(place, force, steps), rounding);
    // where a motion is prescribed, smoothly
    const std::string trolley = trial % 2 == 0 ? "0.5*t^2" : "1 - cos(t)";
    expect_the_same(pendulum(origin, "0", trolley, steps), pendulum(place, "0", trolley, steps), rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Methods, RestInTheOrigin,
    testing::Values("step = 0.01", "step = 0.005\nmethod = \"rattle\"", "step = 0.01\nmethod = \"radau\"",
                    "step = 0.01\nmethod = \"bdf\"", "step = 0.005\nmethod = \"moreau-jean\"",
                    "step = 0.005\nmethod = \"explicit\"", "step = 0.005\nmethod = \"half-explicit\"",
                    "step = 0.005\nmethod = \"generalized-alpha\"", "step = 0.005\nmethod = \"lobatto-iiia-iiib\""));

// The control: a pendulum in the origin whose constraint is let go is doubted there as it is elsewhere.
TEST(RestInTheOriginControl, ConstraintsThatAreOffAreDoubted) {
  const std::string loose = "step = 0.05\nmethod = \"explicit\"\norder = 5\nprojection = \"none\"";
  for (const Place& place : {origin, Place{1, -2}}) {
    std::string text = pendulum(place, "40", "0", loose);
    text.replace(text.find("end = 0.6"), 9, "end = 40");
    EXPECT_NE(run(text).doubts.find("constraints are off"), std::string::npos) << text << run(text).doubts;
  }
}

// Nothing pushes across the rail: reactions are zero, and those that are shown are rounding.
TEST(RestInTheOriginControl, ReactionsOfNothingAreNotCompared) {
  Draw draw(4110);
  for (int trial = 0; trial < 6; ++trial) {
    const double angle = draw.number(0.1, 1.4);
    const std::string text = fmt::format(R"toml([multibody]
gravity = [0, 0]
[[body]]
name = "block"
mass = 1.5
inertia = 0.2
position = [{}, {}]
[[joint]]
type = "prismatic"
bodies = ["ground", "block"]
axis = [{}, {}]
motor = {{ force = "2*sin(4*t)" }}
[integrate]
step = {}
end = 0.5
)toml",
                                         draw.number(0.1, 2), draw.number(0, 2), std::cos(angle), std::sin(angle),
                                         draw.one_of(std::vector<double>{0.002, 0.001, 0.0005}));
    const Report report = run_text(text);
    EXPECT_TRUE(report.doubts.empty()) << text << report.doubts.front().cause;
  }
}

// A drive that has come to its end by tanh: velocities fall to zero through all that doubles have.
TEST(RestInTheOriginControl, DriveComesToRest) {
  const Report report = run_text(R"toml([multibody]
gravity = [0, 0]
[[body]]
name = "a"
mass = 1
inertia = 0.1
position = [0.3, 0.2]
[[joint]]
type = "revolute"
bodies = ["ground", "a"]
point = [0.1, 0.2]
motor = { angle = "1 + tanh((t - 1)/0.02)" }
[integrate]
method = "explicit"
step = 0.005
end = 1.6
[output]
quantities = { turned = "a_angle" }
)toml");
  EXPECT_TRUE(report.doubts.empty()) << report.doubts.front().cause;
  EXPECT_NEAR(value_of(report, "turned"), 2, 1e-14);  // measured 0
}

}  // namespace
}  // namespace hinge::test::rest_in_the_origin_test
