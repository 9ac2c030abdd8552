// What people write on their first day: units of joints, motors whose speed depends on the motion, names that are
// nearly right, bushings that turn far, forces of what rolls.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/complaint.hpp"
#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::test::everyday_test {
namespace {

// An arm of 1 kg on a joint in the plane; `joint` has what the test is about.
std::string arm(const std::string& joint, const std::string& quantities = "a = \"j_angle\"",
                const std::string& more = "") {
  return fmt::format(R"toml([multibody]
gravity = [0, -9.81]
[[body]]
name = "arm"
mass = 1
inertia = 0.2
center = [0.5, 0]
[[joint]]
name = "j"
bodies = ["ground", "arm"]
point = [0, 0]
{}
[initial]
consistent = "project"
[integrate]
method = "radau"
tolerance = 1e-10
end = 2
[output]
quantities = {{ {} }}
{})toml",
                     joint, quantities, more);
}

TEST(Motors, ASpeedThatDependsOnTheMotionIsFollowed) {
  // angle' = s - c angle,  and the torque that it takes
  Draw draw(3);
  for (int n = 0; n < 5; ++n) {
    const double s = draw.number(0.5, 3), c = draw.number(0.2, 2), a = s / c * (1 - std::exp(-2 * c));
    const Report r = run_text(arm(fmt::format("type = \"revolute\"\nmotor = {{ speed = \"{} - {}*j_angle\" }}", s, c),
                                  "a = \"j_angle\", m = \"j_motor_torque\""));
    EXPECT_TRUE(r.sound());
    EXPECT_NEAR(value_of(r, "a"), a, 1e-8);  // measured 5.3e-10
    EXPECT_NEAR(value_of(r, "m"), -0.45 * s * c * std::exp(-2 * c) + 9.81 * 0.5 * std::cos(a), 1e-6);
  }
}

TEST(Motors, ASpeedThatDependsOnTheMotionSlidesAsWell) {
  const Report r = run_text(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "car"
mass = 2
inertia = [1, 1, 1]
velocity = [1, 0, 0]
[[joint]]
name = "rail"
type = "prismatic"
axis = [1, 0, 0]
bodies = ["ground", "car"]
motor = { speed = "1 + 0.3*rail_position" }
[integrate]
method = "explicit"
tolerance = 1e-10
end = 2
[output]
quantities = { a = "rail_position", f = "rail_motor_force" }
)toml");
  EXPECT_NEAR(value_of(r, "a"), (std::exp(0.6) - 1) / 0.3, 1e-8);
  EXPECT_NEAR(value_of(r, "f"), 2 * 0.3 * std::exp(0.6), 1e-7);
}

// u' = 1 - u beside the arm, which turns as fast as u says; the reaction acts on the arm alone.
TEST(Motors, ASpeedMayBeAState) {
  const double u = 1 - 0.5 * std::exp(-2.0), a = 2 - 0.5 * (1 - std::exp(-2.0));
  for (const char* method : {"radau", "bdf", "explicit", "half-explicit", "rattle"}) {
    const std::vector<Override> chosen = {{"integrate.method", method, ""}, {"integrate.step", "0.001", ""}};
    const bool fixed = std::string(method) == "rattle";
    const Report r = run_text(
        arm("type = \"revolute\"\nmotor = { speed = \"u\" }", "a = \"j_angle\", s = \"u\", m = \"j_motor_torque\"",
            "[states]\nu = { rate = \"1 - u\", initial = 0.5 }\n"),
        {chosen.begin(), chosen.begin() + (fixed ? 2 : 1)});
    const double allowed = fixed ? 1e-6 : 1e-8;  // measured 1.2e-8, of rattle
    EXPECT_NEAR(value_of(r, "a"), a, allowed) << method;
    EXPECT_NEAR(value_of(r, "s"), u, allowed) << method;
    EXPECT_NEAR(value_of(r, "m"), 0.45 * (1 - u) + 9.81 * 0.5 * std::cos(a), 10 * allowed) << method;
  }
}

TEST(Motors, WhatASpeedCannotBeIsSaid) {
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"\nmotor = { speed = \"u\" }", "a = \"j_angle\"",
                                           "[states]\nu = { every = 0.1, update = \"1 - u\" }\n")),
                       "depends on the sampled state 'u'"));
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"\nmotor = { speed = \"2 mm/s\" }")),
                       "1/time is expected here (1/s), but \"2 mm/s\" is in m/s"));
}

TEST(Units, OfJointsAreCheckedByWhatMoves) {
  const auto revolute = [](const std::string& key) { return complaint_about(arm("type = \"revolute\"\n" + key)); };
  const auto prismatic = [](const std::string& key) {
    return complaint_about(arm("type = \"prismatic\"\naxis = [1, 0]\n" + key, "a = \"j_position\""));
  };
  EXPECT_TRUE(mentions(revolute("limits = [\"-10 mm\", \"1 rad\"]"), "radian is expected here (1), but \"-10 mm\""));
  EXPECT_TRUE(mentions(prismatic("limits = [\"-1 mm\", \"10 deg\"]"), "length is expected here (m), but \"10 deg\""));
  EXPECT_TRUE(mentions(revolute("stiffness = \"100 N/m\""), "force length is expected here"));
  EXPECT_TRUE(mentions(prismatic("stiffness = \"100 N m\""), "force/length is expected here"));
  EXPECT_TRUE(mentions(revolute("damping = \"2 N s/m\""), "force length time is expected here"));
  EXPECT_TRUE(mentions(prismatic("damping = \"2 N m s\""), "force time/length is expected here"));
  EXPECT_EQ(revolute("stiffness = \"100 N m/rad\"\ndamping = \"2 N m s\""), "");
  EXPECT_EQ(revolute("stiffness = \"3 Nm\""), "");
  EXPECT_EQ(prismatic("stiffness = \"0.1 kN/mm\"\ndamping = \"2 N/(m/s)\""), "");
  EXPECT_TRUE(mentions(prismatic("damping = \"2 Ns/m\""), "did you mean 'N s'?"));
  EXPECT_TRUE(mentions(revolute("stiffness = \"3 Nmm\""), "did you mean 'N mm'?"));
}

TEST(Units, OfBushingsAreCheckedByPlace) {
  const auto bushing = [](const std::string& stiffness) {
    return complaint_about(
        arm("type = \"point-on-line\"\naxis = [1, 0]", "x = \"arm[0]\"",
            "[[bushing]]\nbodies = [\"ground\", \"arm\"]\npoint = [0, 0]\nstiffness = " + stiffness));
  };
  EXPECT_EQ(bushing("[\"1 N/mm\", \"1 kN/m\", \"5 N m\"]"), "");
  EXPECT_TRUE(mentions(bushing("[\"1 N/mm\", \"1 kN/m\", \"5 N/m\"]"), "bushing[0].stiffness"));
  EXPECT_TRUE(
      mentions(bushing("[[\"1 N/m\", 0, 0], [0, \"1 N/m\", \"1 N/m\"], [0, \"1 N\", 5]]"), "force is expected"));
}

TEST(Joints, WithoutFrictionMayBeSaidInNumbers) {
  for (const char* none :
       {"friction = 0", "friction = 0.0", "friction = { coefficient = 0, radius = 0.01 }", "friction = { torque = 0 }"})
    EXPECT_EQ(complaint_about(arm(std::string("type = \"revolute\"\n") + none)), "") << none;
}

// NAME_word of an element that has no such word, though another element may have.
TEST(Names, OfAnElementAreAnsweredWithWhatItHas) {
  Draw draw(31);
  for (int k = 0; k < 12; ++k) {
    std::string names[3];  // of a ball joint, a hinge and a spring; in no name another one begins
    for (int i = 0; i < 3; ++i) {
      names[i] = std::string(1, static_cast<char>('f' + i));
      for (int n = draw.integer(0, 6); n > 0; --n) names[i] += static_cast<char>('k' + draw.integer(0, 12));
    }
    const auto complaint = [&](const std::string& asked) {
      return complaint_about(fmt::format(R"x([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "b"
mass = 1
inertia = [1, 1, 1]
position = [1, 0, 0]
[[body]]
name = "c"
mass = 1
inertia = [1, 1, 1]
position = [2, 0, 0]
[[joint]]
name = "{}"
type = "spherical"
bodies = ["ground", "b"]
point = [0, 0, 0]
[[joint]]
name = "{}"
type = "revolute"
bodies = ["b", "c"]
point = [1.5, 0, 0]
axis = [0, 0, 1]
[[spring]]
name = "{}"
bodies = ["ground", "c"]
points = [[0, 0, 1], [0, 0, 0]]
stiffness = 10
length = 1
[integrate]
step = 0.01
end = 1
[output]
quantities.a = "{}"
)x",
                                         names[0], names[1], names[2], asked));
    };
    const auto [ball, hinge, spring] = names;
    EXPECT_EQ(complaint(hinge + "_angle"), "");
    for (const char* word : {"_angle", "_motor_torque", "_speed", "_opening"})
      EXPECT_TRUE(mentions(complaint(ball + word), fmt::format("of '{0}' there are {0}_force", ball))) << ball << word;
    EXPECT_TRUE(
        mentions(complaint(hinge + "_motor_torque"), fmt::format("of '{0}' there are {0}_angle, {0}_force", hinge)))
        << hinge;
    EXPECT_TRUE(mentions(complaint(spring + "_force"),
                         fmt::format("of '{0}' there are {0}_length, {0}_rate, {0}_tension", spring)))
        << spring;
    EXPECT_TRUE(mentions(complaint(spring + "_tensio"), fmt::format("did you mean '{}_tension'?", spring))) << spring;
  }
}

TEST(Joints, InThePlaneAreToldOfAxesInThePlane) {
  for (const char* type : {"prismatic", "point-on-line", "knife-edge"}) {
    const std::string told =
        complaint_about(fmt::format("[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"b\"\nmass = 1\ninertia = "
                                    "1\nposition = [1, 0]\n[[joint]]\n"
                                    "type = \"{}\"\nbodies = [\"ground\", \"b\"]\npoint = [0, 0]\naxis = [0, "
                                    "0]\n[integrate]\nstep = 0.01\nend = 1\n",
                                    type));
    EXPECT_TRUE(mentions(told, "a vector that is not zero, as [1, 0]")) << type << ": " << told;
  }
}

TEST(Names, ThatAreNearlyRightAreSuggestedWhereverTheyStand) {
  const char* const meant = "did you mean 'j_angle'?";
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"\nmotor = { torque = \"-j_angl\" }")), meant));
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"", "a = \"j_angl\"")), meant));
  EXPECT_TRUE(
      mentions(complaint_about(arm("type = \"revolute\"", "a = \"b\"", "[define]\nb = \"2*j_angl\"\n")), meant));
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"", "a = \"j_forse\"")), "did you mean 'j_force'?"));
  EXPECT_TRUE(mentions(complaint_about(arm("type = \"revolute\"", "a = \"j_motor_torqe\"")), "unknown name"));
  // a definition that uses another one, both before the joints
  EXPECT_EQ(complaint_about(arm("type = \"revolute\"\nmotor = { torque = \"c\" }", "a = \"b\"",
                                "[define]\nc = \"-b*j_angle\"\nb = \"2*t\"\n")),
            "");
}

TEST(Joints, AFixedBodyOnAMotorSaysWhatToDo) {
  std::string text = arm("type = \"revolute\"\nmotor = { speed = 2 }");
  text.replace(text.find("mass = 1"), 8, "fixed = true");
  EXPECT_TRUE(mentions(complaint_about(text), "Take 'fixed = true' away from body 'arm'"));
}

// A rotor on a bushing: I theta'' = -k theta about its axis.
std::string rotor(const std::string& axis, double speed, const std::string& steps) {
  return fmt::format(R"toml([multibody]
[[body]]
name = "rotor"
mass = 1
inertia = [2, 2, 2]
angular_velocity = {}
[[bushing]]
name = "mount"
bodies = ["ground", "rotor"]
stiffness = [100, 100, 100, 0.8, 0.8, 0.8]
[integrate]
{}
end = 7
[output]
quantities = {{ T = "mount_torque", F = "mount_force", w = "rotor_angular_velocity" }}
)toml",
                     fmt::format(fmt::runtime(axis), speed, speed / 2), steps);
}

TEST(Bushings, TurnBeyondHalfATurn) {
  const double omega = std::sqrt(0.4);
  for (const char* axis : {"[0, 0, {0}]", "[{0}, {1}, 0]"})
    for (const char* steps : {"method = \"explicit\"\ntolerance = 1e-10", "method = \"gauss-lobatto\"\nstep = 0.01"}) {
      const bool tilted = axis[1] != '0';
      const Report r = run_text(rotor(axis, 3, steps));
      const double size = tilted ? 3 * std::sqrt(1.25) : 3;  // amplitudes 4.74 and 5.3: beyond half a turn
      const std::vector<double> w = values_of(r, "w"), T = values_of(r, "T");
      const double turned = std::hypot(w[0], w[1], w[2]);
      EXPECT_NEAR(turned, std::abs(size * std::cos(7 * omega)), 1e-6) << axis << steps;
      EXPECT_NEAR(std::hypot(T[0], T[1], T[2]), std::abs(0.8 * size / omega * std::sin(7 * omega)), 1e-6)
          << axis << steps;
      EXPECT_LT(r.energy_error, 1e-7) << axis << steps;  // measured 1.6e-9
    }
}

TEST(Bushings, StopWhereATurnHasNoDirection) {
  for (const char* steps : {"method = \"explicit\"\ntolerance = 1e-8", "method = \"gauss-lobatto\"\nstep = 0.01",
                            "method = \"radau\"\ntolerance = 1e-8"}) {
    const std::string said = complaint_about(rotor("[0, 0, {0}]", 6, steps));
    EXPECT_TRUE(mentions(said, "the two bodies of bushing 'mount' have turned against each other by 355 degrees"))
        << said;
  }
  // one that holds points alone lets them turn
  std::string free = rotor("[0, 0, {0}]", 6, "method = \"explicit\"\ntolerance = 1e-8");
  free.replace(free.find("0.8, 0.8, 0.8"), 13, "0, 0, 0");
  EXPECT_EQ(complaint_about(free), "");
}

// A mass on a bushing of a plane: what it does to b, on either side.
TEST(Bushings, ForcesAreNamedAndActOnTheSecondBody) {
  for (const bool exchanged : {false, true}) {
    const Report r = run_text(fmt::format(R"toml([multibody]
gravity = [0, -10]
[[body]]
name = "b"
mass = 2
inertia = 1
[[bushing]]
name = "mount"
bodies = {}
stiffness = [100, 100, 50]
damping = [3, 3, 1]
[integrate]
method = "explicit"
tolerance = 1e-10
end = 1.5
[output]
quantities = {{ F = "mount_force", T = "mount_torque", y = "b[1]", v = "b[1]'" }}
)toml",
                                          exchanged ? "[\"b\", \"ground\"]" : "[\"ground\", \"b\"]"));
    const double expected = -100 * value_of(r, "y") - 3 * value_of(r, "v");
    EXPECT_NEAR(values_of(r, "F")[1], exchanged ? -expected : expected, 1e-8);
    EXPECT_NEAR(value_of(r, "T"), 0, 1e-8);
  }
}

// A ball that rolls down a plane: friction is 2/7 of what pulls, and acts at the point that touches.
TEST(Rolling, ForcesAreNamed) {
  for (const bool plane : {false, true}) {
    const std::string text = fmt::format(R"toml([multibody]
gravity = {}
[[body]]
name = "ball"
mass = 2
inertia = {}
position = {}
[[joint]]
name = "floor"
type = "rolling"
radius = 1
bodies = ["ground", "ball"]
[integrate]
method = "explicit"
tolerance = 1e-10
end = 2
[output]
quantities = {{ F = "floor_force", T = "floor_torque" }}
)toml",
                                         plane ? "[3, -9]" : "[3, 0, -9]", plane ? "0.8" : "[0.8, 0.8, 0.8]",
                                         plane ? "[0, 1]" : "[0, 0, 1]");
    const Report r = run_text(text);
    const std::vector<double> F = values_of(r, "F"), T = values_of(r, "T");
    EXPECT_NEAR(F[0], -2 * 3 * 2.0 / 7, 1e-9) << plane;
    EXPECT_NEAR(F.back(), 18, 1e-9) << plane;
    EXPECT_NEAR(plane ? T[0] : T[1], plane ? -12.0 / 7 : 12.0 / 7, 1e-9) << plane;
  }
}

TEST(States, MoreSamplesThanCanBeComputedAreRefused) {
  const auto sampled = [](const char* every, const char* steps) {
    return complaint_about(
        fmt::format("[states]\ns = {{ every = {}, update = \"s + 1\" }}\n[mechanical]\ncoordinates = "
                    "[\"x\"]\nmass = [1]\nforce = [\"s\"]\n[initial]\nposition = {{ x = 0 "
                    "}}\n[integrate]\nend = 1\n{}",
                    every, steps));
  };
  for (const char* steps : {"method = \"explicit\"\ntolerance = 1e-6\n", "method = \"rattle\"\nstep = 0.1\n"}) {
    EXPECT_TRUE(
        mentions(sampled("1e-12", steps), "scene.toml:2: states.s.every: 1e+12 samples from t = 0 to 1 are too many"));
    EXPECT_EQ(sampled("1e-3", steps), "");
  }
}

}  // namespace
}  // namespace hinge::test::everyday_test
