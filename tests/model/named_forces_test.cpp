// NAME_force, NAME_torque, NAME_motor_torque, NAME_tension, NAME_contact_force: against statics, closed forms and each
// other.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "places.hpp"
#include "run_text.hpp"

namespace hinge::named_forces_test {
namespace {

using test::complaint_about;
using test::run_text;
using test::value_of;
using test::values_of;

// A bar of mass m and moment J, its centre at the distance l of the hinge; F = m (a - g), from the state alone.
const std::string plane_pendulum = R"toml(
[parameters]
m = 2.5
J = 0.3
l = 0.7
g = 9.81
[multibody]
gravity = [0, "-g"]
[[body]]
name = "bar"
mass = "m"
inertia = "J"
position = ["l", 0]
angular_velocity = 1.5
velocity = [0, "1.5*l"]
[[joint]]
name = "hinge"
type = "revolute"
bodies = [ORDER]
point = [0, 0]
[define]
a = "bar_angle"
w = "bar_angular_velocity"
alpha = "-m*g*l*cos(a)/(J + m*l^2)"
wanted = "[m*l*(-cos(a)*w^2 - sin(a)*alpha), m*l*(-sin(a)*w^2 + cos(a)*alpha) + m*g]"
[integrate]
tolerance = 1e-11
end = 0.5
[output]
quantities.force = "hinge_force"
quantities.torque = "hinge_torque"
quantities.wanted = "wanted"
)toml";

std::string with(std::string text, const std::string& word, const std::string& by) {
  text.replace(text.find(word), word.size(), by);
  return text;
}

TEST(NamedForces, APendulumPullsItsHingeAsTheClosedFormSays) {
  const Report r = run_text(with(plane_pendulum, "ORDER", R"("ground", "bar")"));
  const auto force = values_of(r, "force"), wanted = values_of(r, "wanted");
  EXPECT_GT(std::hypot(force[0], force[1]), 20);  // no comparison of zeros
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(force[k], wanted[k], 1e-7);
  EXPECT_NEAR(value_of(r, "torque"), 0, 1e-12);
}

TEST(NamedForces, ActOnTheSecondBody) {
  const Report r = run_text(with(plane_pendulum, "ORDER", R"("bar", "ground")"));
  const auto force = values_of(r, "force"), wanted = values_of(r, "wanted");
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(force[k], -wanted[k], 1e-7);
}

// The same pendulum in space about a tilted axis, given by the plane's: e1 to the bar, e2 up, axis e1 x e2.
TEST(NamedForces, InSpaceAreThoseOfThePlane) {
  const std::string text = R"toml(
[parameters]
m = 2.5
J = 0.3
l = 0.7
g = 9.81
c = 0.8
s = 0.6
[multibody]
gravity = [0, 0, "-g"]
[[body]]
name = "bar"
mass = "m"
inertia = [0.2, 0.25, 0.3]
rotation = [["c", 0, "s"], ["s", 0, "-c"], [0, 1, 0]]
position = ["l*c", "l*s", 0]
angular_velocity = ["1.5*s", "-1.5*c", 0]
velocity = [0, 0, "1.5*l"]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ground", "bar"]
point = [0, 0, 0]
axis = ["s", "-c", 0]
[integrate]
tolerance = 1e-11
end = 0.5
[output]
quantities.force = "[c*hinge_force[0] + s*hinge_force[1], hinge_force[2], s*hinge_force[0] - c*hinge_force[1]]"
quantities.torque = "hinge_torque"
)toml";
  const Report plane = run_text(with(plane_pendulum, "ORDER", R"("ground", "bar")")), space = run_text(text);
  const auto p = values_of(plane, "force"), q = values_of(space, "force"), t = values_of(space, "torque");
  EXPECT_NEAR(q[0], p[0], 1e-7);
  EXPECT_NEAR(q[1], p[1], 1e-7);
  EXPECT_NEAR(q[2], 0, 1e-9);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(t[k], 0, 1e-9);
}

// Weight at the end of an arm that nothing moves: F = -m g, T = -r x m g about the point, for every kind that holds it.
TEST(NamedForces, AreThoseOfStaticsForJointsThatHoldEverything) {
  for (const char* joint :
       {"type = \"fixed\"", "type = \"prismatic\"\naxis = [1, 2, 0]", "type = \"revolute\"\naxis = [0, 0, 1]",
        "type = \"universal\"\naxis = [0, 0, 1]\naxis2 = [1, 2, 0]"}) {
    const Report r = run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0, -10]
[[body]]
name = "arm"
mass = 3
inertia = [0.1, 0.2, 0.25]
position = [1, 2, 0.5]
rotation = {{ axis = [1, 1, 1], angle = 0.4 }}
[[joint]]
name = "wall"
bodies = ["ground", "arm"]
point = [0, 0, 0.5]
{}
[integrate]
step = 0.01
end = 0.02
[output]
quantities.force = "wall_force"
quantities.torque = "wall_torque"
)toml",
                                          joint));
    const auto f = values_of(r, "force"), t = values_of(r, "torque");
    const double force[] = {0, 0, 30}, torque[] = {60, -30, 0};                    // -(1, 2, 0) x (0, 0, -30)
    const bool frees = std::string(joint).find("universal") != std::string::npos;  // turns about (1, 2, 0) only
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(f[k], force[k], 1e-9) << joint;
      EXPECT_NEAR(t[k], torque[k], 1e-9) << joint << (frees ? ", which bears it" : "");
    }
  }
}

// A slider-crank in the plane and in space, where universal and spherical joints hold the link: resultants in the plane
// of the mechanism are the same.
std::string slider_crank(bool plane) {
  const auto point = [&](double x, double y) {
    return plane ? fmt::format("[{}, {}]", x, y) : fmt::format("[{}, {}, 0]", x, y);
  };
  const std::string axis = plane ? "" : "axis = [0, 0, 1]\n";
  return fmt::format(
      R"toml(
[multibody]
gravity = {}
[[body]]
name = "crank"
mass = 1
inertia = {}
position = {}
[[body]]
name = "link"
mass = 2
inertia = {}
position = {}
[[body]]
name = "slider"
mass = 1.5
inertia = {}
position = {}
[[joint]]
name = "a"
type = "revolute"
bodies = ["ground", "crank"]
point = {}
{}motor = {{ torque = 3 }}
[[joint]]
name = "b"
{}
bodies = ["crank", "link"]
point = {}
[[joint]]
name = "c"
{}
bodies = ["link", "slider"]
point = {}
[[joint]]
name = "d"
type = "prismatic"
bodies = ["slider", "ground"]
axis = {}
[integrate]
tolerance = 1e-11
end = 0.2
[output]
quantities.a = "a_force"
quantities.b = "b_force"
quantities.c = "c_force"
quantities.d = "d_force"
quantities.motor = "a_motor_torque"
)toml",
      point(0, -9.81), plane ? "0.01" : "[0.01, 0.01, 0.01]", point(0, 0.1), plane ? "0.05" : "[0.05, 0.05, 0.05]",
      point(0.2, 0.2), plane ? "0.01" : "[0.01, 0.01, 0.01]", point(0.4, 0.2), point(0, 0), axis,
      plane ? "type = \"revolute\"" : "type = \"universal\"\naxis = [0, 0, 1]\naxis2 = [0, 1, 0]", point(0, 0.2),
      plane ? "type = \"revolute\"" : "type = \"spherical\"", point(0.4, 0.2), point(1, 0));
}

TEST(NamedForces, OfALoopInSpaceAreThoseOfThePlane) {
  const Report plane = run_text(slider_crank(true)), space = run_text(slider_crank(false));
  for (const char* joint : {"a", "b", "c", "d"}) {
    const auto p = values_of(plane, joint), s = values_of(space, joint);
    EXPECT_GT(std::hypot(p[0], p[1]), 1) << joint;
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(s[k], p[k], 1e-6 * std::hypot(p[0], p[1])) << joint;
    EXPECT_NEAR(s[2], 0, 1e-8) << joint;
  }
  EXPECT_EQ(value_of(plane, "motor"), 3);
}

TEST(NamedForces, AMotorThatPrescribesTheAngleHasTheTorqueOfTheMotion) {
  for (const bool plane : {true, false}) {
    const Report r =
        run_text(fmt::format(R"toml(
[multibody]
dimension = {}
[[body]]
name = "wheel"
mass = 1
inertia = {}
[[joint]]
name = "drive"
type = "revolute"
bodies = ["ground", "wheel"]
{}
motor = {{ angle = "10*t^2" }}
damping = 0.5
[integrate]
tolerance = 1e-11
end = 1
[output]
quantities.torque = "drive_motor_torque"
quantities.bearing = "drive_torque"
)toml",
                             plane ? 2 : 3, plane ? "0.3" : "[0.1, 0.2, 0.3]", plane ? "" : "axis = [0, 0, 1]"));
    EXPECT_NEAR(value_of(r, "torque"), 0.3 * 20 + 0.5 * 20, 1e-7) << plane;  // J phi'' + c phi' at t = 1
    for (const double t : values_of(r, "bearing")) EXPECT_NEAR(t, 0, 1e-9);
  }
}

TEST(NamedForces, ASpringPullsWithItsTension) {
  const Report r = run_text(R"toml(
[multibody]
dimension = 2
[[body]]
name = "block"
mass = 2
inertia = 1
position = [1.5, 0]
velocity = [0.3, 0]
[[joint]]
type = "prismatic"
bodies = ["ground", "block"]
axis = [1, 0]
[[spring]]
name = "spring"
bodies = ["ground", "block"]
points = [[0, 0], [1.5, 0]]
stiffness = 40
damping = 3
length = 1
[integrate]
step = 0.01
end = 0.37
[output]
quantities.tension = "spring_tension"
quantities.wanted = "40*(block[0] - 1) + 3*block[0]'"
quantities.length = "spring_length - block[0]"
quantities.rate = "spring_rate - block[0]'"
)toml");
  EXPECT_GT(std::abs(value_of(r, "tension")), 1);
  EXPECT_NEAR(value_of(r, "tension"), value_of(r, "wanted"), 1e-12);
  EXPECT_NEAR(value_of(r, "length"), 0, 1e-14);
  EXPECT_NEAR(value_of(r, "rate"), 0, 1e-14);
}

TEST(NamedForces, ABodyAtRestLoadsTheFloorWithItsWeight) {
  const Report r = run_text(R"toml(
[multibody]
gravity = [1, 0, -10]
[[body]]
name = "floor"
shape = { plane = [0, 0, 1] }
fixed = true
[[body]]
name = "crate"
mass = 4
shape = { box = [1, 1, 1] }
position = [0, 0, 0.5]
[[body]]
name = "lid"
mass = 1
shape = { box = [0.5, 0.5, 0.1] }
position = [0, 0, 1.05]
[contact]
friction = 0.5
[integrate]
step = 0.01
end = 0.1
[output]
quantities.on_floor = "floor_contact_force"
quantities.on_crate = "crate_contact_force"
quantities.on_lid = "lid_contact_force"
quantities.share = "norm(lid_contact_force)/norm(floor_contact_force)"
)toml");
  const auto floor = values_of(r, "on_floor"), crate = values_of(r, "on_crate"), lid = values_of(r, "on_lid");
  const double weight[] = {1, 0, -10};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(floor[k], 5 * weight[k], 1e-8);
    EXPECT_NEAR(crate[k], -4 * weight[k], 1e-8);
    EXPECT_NEAR(lid[k], -1 * weight[k], 1e-8);
  }
  EXPECT_NEAR(value_of(r, "share"), 0.2, 1e-8);
}

TEST(NamedForces, MayBeDefinedAndWatchedAndAreListed) {
  const std::string text = with(plane_pendulum, "ORDER", R"("ground", "bar")");
  const std::string more = with(text, "[integrate]", "load = \"norm(hinge_force)\"\n[integrate]") +
                           "quantities.load = \"load\"\n[[event]]\nname = \"heavy\"\nroot = \"load - 40\"\n";
  const Model model = parse_model(more, "m.toml");
  EXPECT_EQ(model.forces, (std::vector<std::string>{"hinge_force", "hinge_torque"}));
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  const Report r = run.report();
  ASSERT_EQ(r.events.size(), 1u);
  const auto force = values_of(r, "force");
  EXPECT_NEAR(value_of(r, "load"), std::hypot(force[0], force[1]), 1e-13);
}

TEST(NamedForces, OwnMeaningsOfNamesStay) {
  const std::string text =
      with(with(plane_pendulum, "ORDER", R"("ground", "bar")"), "J = 0.3", "J = 0.3\nhinge_torque = 7");
  EXPECT_EQ(value_of(run_text(text), "torque"), 7);
}

TEST(NamedForces, AreRefusedInPrescribedMotionsAndUnderPrimes) {
  const std::string text = with(plane_pendulum, "ORDER", R"("ground", "bar")");
  const std::string driven = with(text, "point = [0, 0]", "point = [0, 0]\nmotor = { angle = \"-hinge_torque\" }");
  const std::string said = complaint_about(driven);
  for (const char* part : {"scene.toml:21:", "motor", "'hinge_torque'", "follows from the equations", "[output]"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  const std::string primed = complaint_about(text + "quantities.rate = \"hinge_force'\"\n");
  EXPECT_NE(primed.find("differentiated by time"), std::string::npos) << primed;
  const std::string event = complaint_about(R"toml(
[multibody]
gravity = [0, -10]
[[body]]
name = "floor"
shape = { plane = [0, 1] }
fixed = true
[[body]]
name = "ball"
mass = 1
shape = { disk = 0.5 }
position = [0, 1]
[integrate]
step = 0.01
end = 0.1
[[event]]
root = "ball_contact_force[1] - 1"
)toml");
  for (const char* part : {"event[0].root", "ball_contact_force", "jump"})
    EXPECT_NE(event.find(part), std::string::npos) << event;
}

}  // namespace
}  // namespace hinge::named_forces_test
