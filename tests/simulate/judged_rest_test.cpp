// Claims: what rests, or is nothing but rounding, gives no reason for a doubt, and hides none about what moves beside
// it, whatever it weighs, wherever it is and in whatever units. Every doubt has its control, the same model without the
// fault, which is sound.
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../model/run_text.hpp"
#include "hinge/hinge.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "random_draw.hpp"

namespace hinge::test::judged_rest_test {
namespace {

const Doubt* doubt_about(const Report& report, const std::string& words) {
  for (const Doubt& doubt : report.doubts)
    if (doubt.cause.find(words) != std::string::npos) return &doubt;
  return nullptr;
}

// A block that rests, a puck that slides, and a ball on a spring, whose motion such steps damp to nothing.
TEST(JudgedRest, WeightThatRestsHidesNoLossOfEnergy) {
  Draw draw(2101);
  for (int trial = 0; trial < 10; ++trial) {
    const double block = draw.power(-3, 6), size = draw.number(2, 10);
    const std::string scene = fmt::format(R"toml(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
shape = {{ plane = [0, 0, 1] }}
fixed = true
[[body]]
name = "block"
mass = {}
shape = {{ box = [{}, {}, {}] }}
position = [0, 0, {}]
[[body]]
name = "puck"
mass = 1e-3
shape = {{ sphere = 0.1 }}
position = [20, 0, 0.1]
velocity = [0.1, 0, 0]
)toml",
                                          block, size, size, size, size / 2),
                      ball = R"toml(
[[body]]
name = "ball"
mass = 1e-3
shape = { sphere = 0.01 }
position = [30, 0, 50]
velocity = [1, 0, 0]
[[spring]]
bodies = ["ground", "ball"]
points = [[30, 0, 50], [30, 0, 50]]
length = 0
stiffness = 0.1
)toml",
                      steps = R"toml(
[contact]
friction = 0.3
[integrate]
method = "moreau-jean"
gap = "linearised"
step = 0.02
end = 5
)toml";
    const Report lossy = run_text(scene + ball + steps), control = run_text(scene + steps);
    const Doubt* lost = doubt_about(lossy, "neither impacts nor friction took");
    ASSERT_TRUE(lost) << block << '\n' << verdict_text(lossy);
    EXPECT_NEAR(lost->value, 1.94, 0.02) << block;  // of 5.05e-4, whatever the block weighs
    EXPECT_TRUE(control.sound()) << block << '\n' << verdict_text(control);
  }
}

// x is driven with pi steps to a period, which is too few, beside a y that is faster by up to 1e9.
TEST(JudgedRest, WhatIsFastHidesNoDriveWithFewSteps) {
  Draw draw(2102);
  for (int trial = 0; trial < 30; ++trial) {
    const double a = draw.power(-9, 3), h = draw.power(-4, -1), v = a / h * draw.power(0, 9);
    const char* const method = std::array{"shake", "generalized-alpha", "rattle"}[static_cast<std::size_t>(trial) % 3];
    const auto run = [&](double steps) {
      return run_text(fmt::format(R"toml(
[lagrangian]
coordinates = ["x", "y"]
kinetic = "x'^2/2 + y'^2/2"
potential = "0"
constraints = ["x - {:.17g}*sin({:.17g}*t)", "y - {:.17g}*t"]
[initial]
position = {{ x = 0, y = 0 }}
consistent = "project"
[integrate]
method = "{}"
step = {:.17g}
end = {:.17g}
)toml",
                                  a, 2 * std::numbers::pi / steps / h, v, method, h, 300 * h));
    };
    const Report coarse = run(std::numbers::pi), fine = run(100);
    EXPECT_TRUE(doubt_about(coarse, "too long for what constraints prescribe")) << method << a << ' ' << h << ' ' << v;
    EXPECT_TRUE(fine.sound()) << method << ' ' << a << ' ' << h << ' ' << v << '\n' << verdict_text(fine);
  }
}

// A body a little above a floor that goes up, and goes up faster and faster, so that steps that ask for velocities lag
// behind; another coordinate is anywhere.
TEST(JudgedRest, PositionsElsewhereHideNoPenetration) {
  Draw draw(2103);
  for (int trial = 0; trial < 20; ++trial) {
    const double gap = draw.power(-8, -3), elsewhere = draw.power(-3, 4);
    const auto run = [&](double steps) {
      const double h = std::sqrt(gap / 10) / steps;
      return run_text(fmt::format(R"toml(
[lagrangian]
coordinates = ["y", "x"]
kinetic = "y'^2/2 + x'^2/2"
potential = "10*y"
unilateral = [{{ gap = "y - 5*t^2", name = "floor" }}]
[initial]
position = {{ y = {:.17g}, x = {:.17g} }}
[integrate]
method = "moreau-jean"
gap = "velocity"
step = {:.17g}
end = {:.17g}
)toml",
                                  gap, elsewhere, h, 4 * std::sqrt(gap / 10)));
    };
    const Report coarse = run(2), fine = run(2000);
    EXPECT_TRUE(doubt_about(coarse, "gaps are negative"))
        << gap << ' ' << elsewhere << ' ' << coarse.contacts->penetration;
    EXPECT_TRUE(fine.sound()) << gap << ' ' << elsewhere << '\n' << verdict_text(fine);
  }
}

// Bodies that turn about a principal axis and touch nothing: all that changes of their momenta is rounding.
TEST(JudgedRest, FreeSpinIsInBalance) {
  Draw draw(2104);
  for (int trial = 0; trial < 24; ++trial) {
    const int axis = draw.integer(0, 2);
    const double spin = draw.power(-1, 2.3);
    const Report r =
        run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0, 0]
[[body]]
name = "rod"
mass = {}
shape = {{ box = [{}, {}, {}] }}
angular_velocity = [{}, {}, {}]
velocity = [0, {}, 0]
[[body]]
name = "ball"
mass = 1
shape = {{ sphere = 0.1 }}
position = [50, 0, 0]
[integrate]
method = "moreau-jean"
forces = "explicit"
gap = "{}"
step = {}
end = {}
)toml",
                             draw.power(-3, 3), draw.number(0.1, 2), draw.number(0.1, 2), draw.number(0.1, 2),
                             axis == 0 ? spin : 0, axis == 1 ? spin : 0, axis == 2 ? spin : 0, draw.number(0, 1),
                             trial % 2 == 0 ? "velocity" : "linearised", 0.06 / spin, 6 / spin));
    EXPECT_TRUE(r.sound()) << trial << '\n' << verdict_text(r);
    EXPECT_LT(r.contacts->momentum_balance, 1e-9) << trial;
  }
}

// An iteration ends at what a loosely solved contact problem leaves where that does not get less; not where it
// converges, and not where no problem was loose.
TEST(JudgedRest, IterationsEndAtWhatContactsLeaveWhereItDoesNotGetLess) {
  EXPECT_TRUE(as_left_by_contacts(3e-9, 4e-9, 1e-6));
  EXPECT_TRUE(as_left_by_contacts(3e-9, 2e-9, 1e-6));
  EXPECT_FALSE(as_left_by_contacts(3e-9, 1e-6, 1e-6));
  EXPECT_FALSE(as_left_by_contacts(3e-9, 4e-9, 0));
  EXPECT_FALSE(as_left_by_contacts(3e-8, 4e-8, 1e-6));
}

// A box that is pressed to a floor, by contact problems that are solved loosely, and then thrown: once it flies, and
// while iterations converge, what those have left ends none of them. The same box solved exactly is the control.
TEST(JudgedRest, IterationsInFlightConvergeAfterLooseContacts) {
  Draw draw(2105);
  for (int trial = 0; trial < 20; ++trial) {
    const double k = draw.number(100, 400), turn = draw.number(20, 80), across = draw.number(10, 50),
                 friction = draw.number(0.2, 0.8);
    for (const double tolerance : {1e-3, 1e-12}) {
      const Report r = run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0, 0]
[[body]]
name = "floor"
shape = {{ plane = [0, 0, 1] }}
fixed = true
[[body]]
name = "a"
mass = 1
shape = {{ box = [1, 1, 1] }}
position = [0, 0, 0.5]
[[force]]
body = "a"
force = ["-{}*a[0]^3 - {}*(a[0] - 0.1)*a[2]", "-{}*a[1]^3 + 2", "if(t < 0.1, -10, 10) - 5*a[0]^2"]
[contact]
friction = {}
[integrate]
method = "moreau-jean"
gap = "velocity"
solver_tolerance = {}
step = 0.01
end = 1
)toml",
                                            k, turn, across, friction, tolerance));
      if (tolerance > 1e-8) {
        EXPECT_GT(r.contacts->complementarity, 1e-8) << trial;
      }
      for (const std::string& remark : r.remarks)
        EXPECT_EQ(remark.find("not solved together"), std::string::npos) << trial << ' ' << tolerance << ' ' << remark;
    }
  }
}

}  // namespace
}  // namespace hinge::test::judged_rest_test
