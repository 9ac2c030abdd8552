// Velocity constraints beside contacts: wheels that roll and blades that do not slip, in the same problem as impacts.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"

namespace hinge::rolling_beside_contacts_test {
namespace {

struct End {
  State state;
  Report report;
};

End run(const std::string& text, const MethodChoice& method, double step, double end) {
  const Model m = parse_model(text + "[integrate]\nstep = 0.01\nend = 1\n", "m.toml");
  Simulation s(m.system, method, {.step = step});
  s.start(m.start);
  s.until(end);
  return {s.state(), s.report()};
}

// A disk rolls in a wobbling circle; a ball far away makes it a problem with contacts.
std::string disk(bool ball) {
  const double m = 0.7, r = 0.25, A = m * r * r / 4, C = m * r * r / 2, b = 1.2, w2 = 2, push = 0.05;
  const double w3 = (A * w2 * w2 / std::tan(b) - m * 9.81 * r * std::cos(b)) / ((C + m * r * r) * w2);
  return fmt::format(
             "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"disk\"\nmass = {}\ninertia = [{}, {}, "
             "{}]\nposition = [0, 0, {}]\nrotation = {{ axis = [1, 0, 0], angle = {} }}\nvelocity = [{}, {}, "
             "{}]\nangular_velocity = [{}, {}, {}]\n[[joint]]\nname = \"rim\"\ntype = \"rolling\"\nbodies = "
             "[\"ground\", "
             "\"disk\"]\nradius = {}\naxis = [0, {}, {}]\n",
             m, A, A, C, r * std::sin(b), b, -r * w3, -r * push * std::sin(b), r * push * std::cos(b), push,
             w2 * std::cos(b) - w3 * std::sin(b), w2 * std::sin(b) + w3 * std::cos(b), r, -std::sin(b), std::cos(b)) +
         (ball ? "[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 0, 1] }\n[[body]]\nname = "
                 "\"ball\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [9, 0, 1]\nrestitution = 0.5\n"
               : "");
}

TEST(RollingBesideContacts, HasOrderTwoWhereNothingStrikes) {
  const State exact = run(disk(false), make_method("explicit", {}), 0.001, 0.7).state;
  double before = 0;
  for (const double h : {0.004, 0.002, 0.001}) {
    const End e = run(disk(true), moreau_jean(), h, 0.7);
    double error = 0;
    for (std::size_t k = 0; k < 7; ++k) error = std::max(error, std::abs(e.state.y[k] - exact.y[k]));
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / error), 2, 0.15) << h;
    }
    before = error;
    EXPECT_LT(e.report.constraint, 1e-14);
    EXPECT_LT(e.report.hidden_constraint, 1e-13);
    ASSERT_TRUE(e.report.contacts);
    EXPECT_GT(e.report.contacts->impacts, 0);  // of the ball
    EXPECT_TRUE(e.report.doubts.empty());
  }
  EXPECT_LT(before, 1e-5);
}

// A sledge on a blade, in the plane: a disk in front of its centre of mass strikes a wall that is oblique. The blade
// stays on its line, the elastic impact keeps the energy, and the impulse is that of two rows.
TEST(RollingBesideContacts, ABladeHoldsInAnImpact) {
  const double m = 2, J = 0.3, v = 1.5, a = 0.4;  // the blade is the centre of mass
  const std::string text =
      "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"wall\"\nfixed = true\nshape = { plane = [-0.8, -0.6], "
      "position = [1, "
      "0] }\n[[body]]\nname = \"sledge\"\nmass = 2\ninertia = 0.3\nshape = { disk = 0.1, position = [0.4, 0] }\ncenter "
      "= [0, "
      "0]\nvelocity = [1.5, 0]\nrestitution = 1\n[[joint]]\nname = \"blade\"\ntype = \"knife-edge\"\nbodies = "
      "[\"ground\", "
      "\"sledge\"]\npoint = [0, 0]\naxis = [1, 0]\n";
  for (const auto& [gap, h] : {std::pair{"both", 1e-3}, {"both", 1e-4}, {"velocity", 1e-3}, {"velocity", 1e-4}}) {
    SCOPED_TRACE(fmt::format("{} {}", gap, h));
    const End e = run(text, make_method("moreau-jean", {{"gap", std::string(gap)}}), h, 0.6);
    // n = (-0.8, -0.6) through the centre of the disk, (a, 0). The blade turns within the step of the impact: O(h)
    const double nx = -0.8, torque = a * -0.6, mass = 1 / (nx * nx / m + torque * torque / J), p = mass * 2 * v * 0.8;
    const double spin = p * torque / J, forward = v + p * nx / m;
    ASSERT_TRUE(e.report.contacts);
    EXPECT_EQ(e.report.contacts->impacts, 1);
    EXPECT_NEAR(e.state.z[2], spin, 5 * h);
    const double angle = e.state.y[2];
    EXPECT_NEAR(e.state.z[0] * std::cos(angle) + e.state.z[1] * std::sin(angle), forward, 5 * h);
    EXPECT_NEAR(e.state.z[0] * std::sin(angle) - e.state.z[1] * std::cos(angle), 0, 1e-14);
  }
}

// A wheel with an arm that has limits, and a motor whose speed depends on the motion beside a contact.
TEST(RollingBesideContacts, MotorsWhoseSpeedDependsOnTheMotion) {
  const std::string text =
      "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"crank\"\nmass = 1\ninertia = 0.1\n[[joint]]\nname = "
      "\"drive\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\npoint = [0, 0]\nmotor = { speed = \"2 - "
      "0.5*drive_angle\" }\nlimits = [-1, 9]\n[initial]\nconsistent = \"project\"\n";
  const End e = run(text, moreau_jean(), 0.001, 1);
  EXPECT_NEAR(e.state.y[2], 4 * (1 - std::exp(-0.5)), 1e-6);
  const std::string bends =
      "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = 0.1\n[[body]]\nname = \"b\"\nmass = "
      "1\ninertia = 0.1\nangular_velocity = 1\n[[joint]]\nname = \"drive\"\ntype = \"revolute\"\nbodies = [\"ground\", "
      "\"a\"]\npoint = [0, 0]\nmotor = { speed = \"other_speed^2\" }\n[[joint]]\nname = \"other\"\ntype = "
      "\"revolute\"\nbodies = [\"ground\", \"b\"]\npoint = [0, 0]\nlimits = [-9, 9]\n[initial]\nconsistent = "
      "\"project\"\n";
  EXPECT_THROW(run(bends, moreau_jean(), 0.01, 0.1), UnsuitableMethod);
  const End v = run(bends, make_method("moreau-jean", {{"gap", std::string("velocity")}}), 0.01, 0.5);
  EXPECT_NEAR(v.state.z[2], v.state.z[5] * v.state.z[5], 1e-12);
}

// A crank that a motor turns strikes a wheel at rest. Of what the motor gives, half goes into the wheel and half is
// lost: nothing is created.
TEST(DrivenImpact, WhatTheMotorGivesIsNotCreatedByContacts) {
  const double J = 0.01;
  const End e = run(
      "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"crank\"\nmass = 1\ninertia = 0.02\nshape = { disk = 0.05, "
      "position "
      "= [0.25, 0] }\ncenter = [0, 0]\nangular_velocity = 4\n[[body]]\nname = \"wheel\"\nmass = 1\ninertia = "
      "0.01\ncenter = [0, 0]\nposition = [0.5, 0]\nshape = { disk = 0.05, position = [-0.25, 0.2] }\n[[joint]]\nname = "
      "\"drive\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\npoint = [0, 0]\nmotor = { speed = 4 "
      "}\n[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"wheel\"]\npoint = [0.5, 0]\n",
      moreau_jean(), 1e-4, 0.14);
  ASSERT_TRUE(e.report.contacts);
  EXPECT_EQ(e.report.contacts->impacts, 1);
  const double wheel = e.state.z[5];
  EXPECT_LT(wheel, -1);
  // the tip's velocity is taken at the time of impact; sliding on after it changes it a little
  EXPECT_NEAR(e.report.contacts->impact_loss, J * wheel * wheel / 2, 0.15 * J * wheel * wheel / 2);
  EXPECT_TRUE(e.report.doubts.empty());
}

}  // namespace
}  // namespace hinge::rolling_beside_contacts_test
