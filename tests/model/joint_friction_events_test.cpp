// Limits and dry friction of joints by event-driven: closed forms to the accuracy of the base method, mechanisms that
// come to rest against moreau-jean; moments that a bearing carries; universal joints.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "places.hpp"
#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::joint_friction_events_test {
namespace {

using test::complaint_about;
using test::run_file;
using test::run_text;
using test::value_of;
using test::values_of;

const std::string examples = HINGE_EXAMPLES;
const Override by_events{"integrate.method", "event-driven"};

TEST(JointFrictionEvents, StopAFlywheelWhenTheClosedFormSays) {
  const double torque = 0.2 * 0.01 * 4 * 9.81, stop = 0.02 * 10 / torque;
  for (const std::string base : {"explicit", "radau", "bdf", "gauss-lobatto"}) {
    const Report r = run_file(examples + "/bearing-friction.toml", {by_events, {"integrate.base", base}});
    EXPECT_EQ(value_of(r, "speed"), 0) << base;
    EXPECT_NEAR(value_of(r, "angle"), 10 * stop / 2, 1e-7) << base;
    ASSERT_TRUE(r.contacts);
    ASSERT_EQ(r.contacts->events.size(), 2u) << base;
    EXPECT_EQ(r.contacts->events[1].what, "friction of joint 'bearing' sticks");
    EXPECT_NEAR(r.contacts->events[1].t, stop, 1e-8) << base;
    EXPECT_NEAR(r.contacts->friction_loss, 1, 1e-9) << base;
    EXPECT_TRUE(r.doubts.empty()) << base;
  }
}

// A motor turns a joint with dry friction against its own stop, lets go, and turns it back: on the stop friction has
// nothing to hold, and off it the closed form holds.
TEST(JointFrictionEvents, AJointRestsOnItsOwnStop) {
  Draw draw(77);
  for (int trial = 0; trial < 8; ++trial) {
    const double J = draw.number(0.05, 0.5), stop = draw.number(0.3, 1), friction = draw.number(0.1, 0.5),
                 torque = friction + draw.number(0.5, 2), e = trial % 2 == 0 ? 0 : draw.number(0.1, 0.6), back = 6;
    const Report r = run_text(fmt::format(R"toml(
[multibody]
dimension = 2
[[body]]
name = "arm"
mass = 1
inertia = {}
position = [0, 0]
[[joint]]
name = "bearing"
type = "revolute"
bodies = ["ground", "arm"]
motor = {{ torque = "if(t < {}, {}, {})" }}
friction = {{ torque = {} }}
limits = [-100, {}]
restitution = {}
[integrate]
method = "event-driven"
step = 0.01
end = {}
[output]
quantities.angle = "bearing_angle"
)toml",
                                          J, back, torque, -torque, friction, stop, e, back + 0.5));
    EXPECT_TRUE(r.sound()) << trial;
    EXPECT_NEAR(value_of(r, "angle"), stop - (torque - friction) / J * 0.125, 1e-9) << trial;  // measured 6e-15
  }
}

// The bearing carries m l (w^2, w'): J w' = -mu R m l sqrt(w^4 + w'^2), so that w = w0/(1 + k w0 t).
TEST(JointFrictionEvents, AreThoseOfTheReactionWhichFrictionChanges) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    const bool plane = draw.chance(0.5);
    const double m = draw.number(0.5, 3), J0 = draw.number(0.2, 1), l = draw.number(0.1, 0.5), w0 = draw.number(1, 8),
                 mu = draw.number(0.1, 0.6), R = draw.number(0.01, 0.3);
    const double J = J0 + m * l * l, c = mu * R * m * l, k = c / std::sqrt(J * J - c * c);
    const std::string base = draw.one_of<std::string>({"explicit", "radau", "gauss-lobatto"});
    const Report r = run_text(fmt::format(
        R"toml(
[multibody]
dimension = {}
[[body]]
name = "wheel"
mass = {}
inertia = {}
position = [{}, 0{}]
velocity = [0, {}{}]
angular_velocity = {}
[[joint]]
name = "bearing"
type = "revolute"
bodies = ["ground", "wheel"]
point = {}
friction = {{ coefficient = {}, radius = {} }}
[integrate]
method = "event-driven"
base = "{}"
step = 0.01
end = 1
[output]
quantities.speed = "bearing_speed"
)toml",
        plane ? 2 : 3, m, plane ? fmt::format("{}", J0) : fmt::format("[1, 1, {}]", J0), l, plane ? "" : ", 0", l * w0,
        plane ? "" : ", 0", plane ? fmt::format("{}", w0) : fmt::format("[0, 0, {}]", w0),
        plane ? "[0, 0]" : "[0, 0, 0]\naxis = [0, 0, 1]", mu, R, base));
    EXPECT_NEAR(value_of(r, "speed"), w0 / (1 + k * w0), base == "gauss-lobatto" ? 1e-6 : 1e-9) << seed << base;
  }
}

// A pendulum that friction brings to rest somewhere, with stops or without: the last turn is where gravity cannot move
// it, what is lost is what friction and impacts took, and moreau-jean comes to the same place.
TEST(JointFrictionEvents, APendulumComesToRest) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Draw draw(seed);
    const double l = draw.number(0.3, 0.6), mu = draw.number(0.5, 0.8), R = draw.number(0.1, 0.2);
    const std::string text =
        fmt::format(R"toml(
[multibody]
gravity = [0, -9.81]
[[body]]
name = "arm"
mass = {}
inertia = {}
position = [{}, 0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0]
{}
friction = {{ coefficient = {}, radius = {} }}
[integrate]
step = {}
end = 4
[output]
quantities.a = "pin_angle"
)toml",
                    draw.number(0.5, 2), draw.number(0.02, 0.1), l,
                    draw.chance(0.5) ? "limits = [-2, 0.3]\nrestitution = 0.5" : "", mu, R, "0.004");
    const Report r = run_text(text, {by_events}), other = run_text(text);
    ASSERT_TRUE(r.contacts && r.energy_error);
    EXPECT_EQ(r.contacts->events.back().what, "friction of joint 'pin' sticks") << seed;
    EXPECT_NEAR(r.contacts->friction_loss + r.contacts->impact_loss, *r.energy_error, 1e-8 * *r.energy_error) << seed;
    EXPECT_LE(l * std::abs(std::cos(value_of(r, "a"))), mu * R * (1 + 1e-9)) << seed;
    EXPECT_NEAR(value_of(r, "a"), value_of(other, "a"), 0.02) << seed;
    EXPECT_TRUE(r.doubts.empty()) << seed;
  }
}

// Every joint of a closed chain has friction; when it stops, all of them hold it, and what each carries is not unique.
TEST(JointFrictionEvents, ACrankWithFrictionEverywhereComesToRest) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Draw draw(seed);
    const double a = draw.number(0.1, 0.25), l = draw.number(0.5, 0.8), mu = draw.number(0.1, 0.3);
    const std::string text = fmt::format(R"toml(
[parameters]
a = {}
l = {}
w = {}
[multibody]
gravity = [0, -9.81]
[[body]]
name = "crank"
mass = 1
inertia = 0.02
position = [0, "a/2"]
angular_velocity = "w"
velocity = ["-w*a/2", 0]
[[body]]
name = "rod"
mass = 1
inertia = 0.05
position = ["l/2", "a/2"]
[[body]]
name = "slider"
mass = 2
inertia = 0.01
position = ["l", 0]
[[joint]]
name = "main"
type = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]
friction = {{ coefficient = {}, radius = 0.02 }}
[[joint]]
type = "revolute"
bodies = ["crank", "rod"]
point = [0, "a"]
friction = {{ coefficient = {}, radius = 0.02 }}
[[joint]]
type = "revolute"
bodies = ["rod", "slider"]
point = ["l", 0]
friction = {{ coefficient = {}, radius = 0.02 }}
[[joint]]
type = "prismatic"
bodies = ["ground", "slider"]
axis = [1, 0]
friction = {}
[initial]
consistent = "project"
fixed = ["crank"]
[integrate]
step = 0.004
end = 3
[output]
quantities.a = "main_angle"
quantities.w = "main_speed"
)toml",
                                         a, l, draw.number(5, 9), mu, mu, mu, draw.number(0.1, 0.3));
    const Report r = run_text(text, {by_events}), other = run_text(text);
    EXPECT_LT(std::abs(value_of(r, "w")), 1e-14) << seed;
    EXPECT_NEAR(value_of(r, "a"), value_of(other, "a"), 0.05) << seed;
    ASSERT_TRUE(r.contacts && r.energy_error);
    EXPECT_NEAR(r.contacts->friction_loss, *r.energy_error, 1e-7 * *r.energy_error) << seed;
    EXPECT_LT(r.constraint, 1e-12) << seed;
  }
}

// A wheel overhangs its bearing by b > L/2: halves of it carry m g (b/L +- 1/2), against each other.
std::string overhung(double b, double span, const char* method) {
  return fmt::format(R"toml(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "wheel"
mass = 4
inertia = [0.02, 0.02, 0.02]
position = [{}, 0, 0]
angular_velocity = [30, 0, 0]
[[joint]]
name = "bearing"
type = "revolute"
bodies = ["ground", "wheel"]
point = [0, 0, 0]
axis = [1, 0, 0]
friction = {{ coefficient = 0.2, radius = 0.01{} }}
[integrate]
method = "{}"
step = 0.001
end = 0.3
[output]
quantities.speed = "bearing_speed"
)toml",
                     b, span > 0 ? fmt::format(", span = {}", span) : "", method);
}

TEST(JointFriction, OfABearingWithASpanIsThatOfItsMoment) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Draw draw(seed);
    const double b = draw.number(0, 0.3), L = draw.number(0.1, 0.3), weight = 4 * 9.81;
    const double load = 2 * b > L ? 2 * weight * b / L : weight;
    for (const char* method : {"event-driven", "moreau-jean"}) {
      const double exact = 30 - 0.2 * 0.01 * load / 0.02 * 0.3, allowed = method[0] == 'e' ? 1e-9 : 1e-2;
      EXPECT_NEAR(value_of(run_text(overhung(b, L, method)), "speed"), exact, allowed) << b << ' ' << L << method;
    }
    EXPECT_NEAR(value_of(run_text(overhung(b, 0, "event-driven")), "speed"), 30 - 0.02 * weight / 0.2 * 0.3, 1e-9);
  }
}

// A bob on a universal joint whose pins both rub: by events and by steps.
TEST(JointFriction, OfAUniversalJointIsThatOfItsTwoPins) {
  const auto bob = [](const char* method, double step) {
    return fmt::format(R"toml(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "bob"
mass = 1
inertia = [0.01, 0.01, 0.01]
position = [0, 0, -1]
velocity = [-1, 0.6, 0]
angular_velocity = [0.6, 1, 0]
[[joint]]
name = "cross"
type = "universal"
bodies = ["ground", "bob"]
point = [0, 0, 0]
axis = [0, 1, 0]
axis2 = [1, 0, 0]
friction = {{ coefficient = 0.2, radius = 0.1 }}
[integrate]
method = "{}"
step = {}
end = 1.2
[output]
quantities.x = "bob[0]"
quantities.y = "bob[1]"
)toml",
                       method, step);
  };
  const Report exact = run_text(bob("event-driven", 0.01)), fine = run_text(bob("moreau-jean", 0.001));
  for (const char* q : {"x", "y"}) EXPECT_NEAR(value_of(fine, q), value_of(exact, q), 2e-4) << q;  // measured 4e-5
  ASSERT_TRUE(exact.contacts && exact.energy_error);
  EXPECT_NEAR(exact.contacts->friction_loss, *exact.energy_error, 1e-8);
}

TEST(JointLimitEvents, AnArmReboundsToRounding) {
  const Report r = run_file(examples + "/joint-limit.toml", {by_events});
  EXPECT_NEAR(value_of(r, "angle"), 0.125, 1e-11);
  EXPECT_NEAR(value_of(r, "speed"), -0.5, 1e-12);
  ASSERT_TRUE(r.contacts);
  ASSERT_EQ(r.contacts->events.size(), 3u);
  for (const auto& [k, t] : {std::pair{0u, 0.25}, {1u, 1.25}, {2u, 3.25}})
    EXPECT_NEAR(r.contacts->events[k].t, t, 1e-11);
}

// A body on a rail between two stops under gravity: it bounces on the lower one, and rests there.
TEST(JointLimitEvents, ASliderBouncesAndRests) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Draw draw(seed);
    const double low = draw.number(0.2, 1), e = draw.number(0.2, 0.7), g = 9.81;
    const std::string text =
        fmt::format(R"toml(
[multibody]
gravity = [0, 0, -{}]
[[body]]
name = "block"
mass = {}
inertia = [1, 1, 1]
[[joint]]
name = "rail"
type = "{}"
bodies = ["ground", "block"]
point = [0, 0, 0]
axis = [0, 0, 1]
limits = [-{}, 1]
restitution = {}
[integrate]
step = 0.01
end = {}
[output]
quantities.x = "rail_position"
)toml",
                    g, draw.number(1, 3), draw.one_of<std::string>({"prismatic", "cylindrical"}), low, e, "5");
    const Report r = run_text(text, {by_events});
    const double fall = std::sqrt(2 * low / g), rest = fall * (1 + 2 * e / (1 - e));
    ASSERT_TRUE(r.contacts);
    EXPECT_NEAR(r.contacts->events[0].t, fall, 1e-9) << seed;
    EXPECT_NEAR(r.contacts->events[1].t, fall * (1 + 2 * e), 1e-9) << seed;
    EXPECT_NEAR(value_of(r, "x"), -low, 1e-9) << seed;
    double accumulated = 0;
    for (const auto& event : r.contacts->events)
      if (event.what.find("accumulated") != std::string::npos) accumulated = event.t;
    EXPECT_NEAR(accumulated, rest, 1e-6) << seed;
  }
}

TEST(JointFrictionEvents, OtherMethodsSayWhoKnowsIt) {
  const std::string said = complaint_about(overhung(0.1, 0.1, "radau"));
  for (const char* part : {"radau knows no friction in joints", "moreau-jean", "event-driven", "base = \"radau\""})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(JointFriction, BadSpansAndJointsAreNamed) {
  const auto with = [](const std::string& joint) {
    return fmt::format(R"toml(
[multibody]
dimension = 3
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 1]
[[joint]]
bodies = ["ground", "a"]
point = [0, 0, 0]
{}
[integrate]
step = 0.01
end = 0.02
)toml",
                       joint);
  };
  struct Bad {
    const char* text;
    std::vector<const char*> says;
  };
  const std::vector<Bad> bad = {
      {"type = \"revolute\"\naxis = [0, 0, 1]\nfriction = { coefficient = 0.1, radius = 0.1, span = -1 }",
       {"joint[0].friction", "span", "-1", "0 or positive"}},
      {"type = \"revolute\"\naxis = [0, 0, 1]\nfriction = { torque = 0.1, span = 1 }",
       {"joint[0].friction", "coefficient", "leave it out"}},
      {"type = \"revolute\"\naxis = [0, 0, 1]\nfriction = { coefficient = 0.1, radius = 0.1, spann = 1 }",
       {"joint[0].friction.spann", "did you mean 'span'"}},
      {"type = \"spherical\"\nfriction = { coefficient = 0.1, radius = 0.1 }",
       {"joint[0].friction", "a spherical joint has no friction", "universal", "three directions"}},
      {"type = \"universal\"\naxis = [1, 0, 0]\naxis2 = [0, 1, 0]\nfriction = { coefficient = 0.1 }",
       {"joint[0].friction", "radius of its bearing"}},
      {"type = \"universal\"\naxis = [1, 0, 0]\naxis2 = [0, 1, 0]\nlimits = [-1, 1]",
       {"joint[0].limits", "a universal joint has no limits"}}};
  for (const Bad& b : bad) {
    const std::string said = complaint_about(with(b.text));
    for (const char* part : b.says) EXPECT_NE(said.find(part), std::string::npos) << b.text << "\n-> " << said;
  }
}

}  // namespace
}  // namespace hinge::joint_friction_events_test
