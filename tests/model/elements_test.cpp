// Joints beyond the seven, [[constraint]], [[bushing]], [[force]], springs with a tension, dissipation: against closed
// forms, and against each other.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/multibody.hpp"
#include "places.hpp"
#include "run_text.hpp"

namespace hinge::elements_test {
namespace {

using std::numbers::pi;
using test::complaint_about;
using test::run_file;
using test::run_text;
using test::value_of;
using test::values_of;

const std::string examples = HINGE_EXAMPLES;

TEST(Elements, AGearTrainAcceleratesAsItsReducedInertiaSays) {
  const Report r = run_file(examples + "/gear-train.toml");
  const double a1 = (0.5 - 2.0 / 12) / (0.001 + 0.01 / 9 + 0.2 / 144);
  EXPECT_NEAR(value_of(r, "speed1"), a1, 1e-9);
  EXPECT_NEAR(value_of(r, "speed3"), a1 / 12, 1e-10);
  EXPECT_NEAR(value_of(r, "turns1"), a1 / 2 / (2 * pi), 1e-6);  // more than seven; measured 7e-8
  EXPECT_NEAR(value_of(r, "tooth_torque"), -(0.01 / 3 + 0.2 / 48) * a1 - 0.5, 1e-3);
  EXPECT_LT(r.constraint, 1e-12);
}

TEST(Elements, AScrewSinksAsItsThreadSays) {
  const Report r = run_file(examples + "/screw-jack.toml");
  const double a = -9.81 / (1 + 0.001 * std::pow(2 * pi / 0.01, 2) / 10);
  EXPECT_NEAR(value_of(r, "sunk"), a / 2, 1e-8);
  EXPECT_NEAR(value_of(r, "turns"), a / 2 / 0.01, 1e-6);  // twelve
  EXPECT_NEAR(value_of(r, "lift"), 10 * (9.81 + a), 1e-2);
  EXPECT_NEAR(value_of(r, "torque"), -0.01 / (2 * pi) * 10 * (9.81 + a), 1e-4);
}

TEST(Elements, ACamPushesItsFollowerAsTheClosedFormSays) {
  const Report r = run_file(examples + "/cam.toml");
  const double force = 0.3 * (9.81 + 0.02 * 225 * std::cos(1.5));
  EXPECT_NEAR(value_of(r, "lift"), 0.02 * (1 - std::cos(1.5)), 1e-13);
  EXPECT_NEAR(value_of(r, "force"), force, 1e-5);
  EXPECT_NEAR(value_of(r, "torque"), force * 0.02 * std::sin(1.5), 1e-7);
  EXPECT_TRUE(r.events.empty());
  EXPECT_EQ(run_file(examples + "/cam.toml", {{"parameters.w", "30"}, {"integrate.end", "0.2"}}).events.size(), 1u);
}

TEST(Elements, ATorsionSpringIsRightOverFiveTurns) {
  const Report r = run_file(examples + "/torsion-spring.toml");
  EXPECT_NEAR(value_of(r, "turns"), 0, 1e-6);
  EXPECT_NEAR(value_of(r, "speed"), -20 * pi, 1e-6);
  ASSERT_EQ(r.events.size(), 1u);
  EXPECT_NEAR(r.events[0].state.t, pi / 4, 1e-7);
  EXPECT_LT(*r.energy_error, 1e-5);
}

// A pinion with a torque on a rack with a load: (J/r^2 + m) x'' = T/r - F
TEST(Elements, ARackGoesAsItsPinionTurns) {
  const Report r = run_text(R"toml(
[multibody]
dimension = 2
[[body]]
name = "pinion"
mass = 1
inertia = 0.02
[[body]]
name = "bar"
mass = 3
inertia = 1
position = [0, -0.1]
force = [-4, 0]
[[joint]]
name = "gear"
type = "rack"
joints = ["axle", "rail"]
radius = 0.1
[[joint]]
name = "axle"
type = "revolute"
bodies = ["ground", "pinion"]
motor = { torque = 1.5 }
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["ground", "bar"]
axis = [1, 0]
[integrate]
step = 0.01
end = 2
[output]
quantities.x = "rail_position"
quantities.angle = "axle_angle"
quantities.teeth = "gear_force[0]"
)toml");
  const double a = (15 - 4) / (2.0 + 3);
  EXPECT_NEAR(value_of(r, "x"), a * 2, 1e-10);
  EXPECT_NEAR(value_of(r, "angle"), a * 20, 1e-9);
  EXPECT_NEAR(value_of(r, "teeth"), 3 * a + 4, 1e-9);
}

// A bead on a straight wire, and on a plane, in turned frames: g along the wire, or in the plane.
TEST(Elements, PointsOnLinesAndPlanesSlideDownThem) {
  for (const char* kind : {"point-on-line", "point-on-plane"}) {
    const bool line = std::string(kind) == "point-on-line";
    const Report r = run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0, -10]
[[body]]
name = "bead"
mass = 2
inertia = [1, 1, 1]
[[joint]]
name = "wire"
type = "{}"
bodies = ["ground", "bead"]
axis = {}
[integrate]
step = 0.01
end = 1
[output]
quantities.x = "bead"
quantities.force = "wire_force"
)toml",
                                          kind, line ? "[0.6, 0, -0.8]" : "[0.8, 0, 0.6]"));
    const auto x = values_of(r, "x"), f = values_of(r, "force");
    const double s = 10 * 0.8 / 2;  // along (0.6, 0, -0.8) both times
    EXPECT_NEAR(x[0], 0.6 * s, 1e-10) << kind;
    EXPECT_NEAR(x[1], 0, 1e-10) << kind;
    EXPECT_NEAR(x[2], -0.8 * s, 1e-10) << kind;
    EXPECT_NEAR(f[0], 20 * 0.6 * 0.8, 1e-9) << kind;  // across it
    EXPECT_NEAR(f[2], 20 * 0.6 * 0.6, 1e-9) << kind;
  }
}

TEST(Elements, APlanarJointLeavesThePlaneFree) {
  const Report r = run_text(R"toml(
[multibody]
gravity = [0, 0, -10]
[[body]]
name = "puck"
mass = 2
inertia = [1, 2, 3]
velocity = [1, 2, 0]
angular_velocity = [0, 0, 5]
[[joint]]
name = "table"
type = "planar"
bodies = ["ground", "puck"]
axis = [0, 0, 1]
[integrate]
step = 0.01
end = 2
[output]
quantities.x = "puck"
quantities.turned = "table_angle"
quantities.force = "table_force"
)toml");
  const auto x = values_of(r, "x"), f = values_of(r, "force");
  EXPECT_NEAR(x[0], 2, 1e-12);
  EXPECT_NEAR(x[1], 4, 1e-12);
  EXPECT_NEAR(x[2], 0, 1e-12);
  EXPECT_NEAR(value_of(r, "turned"), 10, 1e-8);
  EXPECT_NEAR(f[2], 20, 1e-10);
}

// Two shafts that meet at an angle: a constant-velocity joint turns them equally fast, a universal one does not.
double unevenness(const char* joint, double bend) {
  const double c = std::cos(bend), s = std::sin(bend);
  const Report r = run_text(fmt::format(R"toml(
[parameters]
c = {}
s = {}
[multibody]
dimension = 3
[[body]]
name = "first"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [-1, 0, 0]
[[body]]
name = "second"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = ["c", "s", 0]
rotation = [["c", "-s", 0], ["s", "c", 0], [0, 0, 1]]
[[joint]]
name = "drive"
type = "revolute"
bodies = ["ground", "first"]
axis = [1, 0, 0]
motor = {{ speed = 3 }}
[[constraint]]
equation = "second_e1[2] = 0"
[[constraint]]
equation = "c*second_e1[1] = s*second_e1[0]"
[[joint]]
name = "middle"
bodies = ["first", "second"]
point = [0, 0, 0]
{}
[initial]
consistent = "project"
[integrate]
step = 0.002
end = 0.4
[output]
quantities.slip = "atan2(second_e2[2], c*second_e2[1] - s*second_e2[0]) - drive_angle"
)toml",
                                        c, s, joint));
  return std::abs(value_of(r, "slip"));
}

TEST(Elements, AConstantVelocityJointTurnsEvenlyAndAUniversalOneDoesNot) {
  EXPECT_LT(unevenness("type = \"constant-velocity\"\naxis = [1, 0, 0]\naxis2 = [\"c\", \"s\", 0]", 0.5), 1e-9);
  EXPECT_GT(unevenness("type = \"universal\"\naxis = [0, 0, 1]\naxis2 = [\"-s\", \"c\", 0]", 0.5),
            0.01);  // the control
}

// A bead on a parabola z = x^2/2 in the plane: energy, and the force across the curve.
TEST(Elements, AConstraintIsAnyEquationOfBodies) {
  const Report r = run_text(R"toml(
[multibody]
gravity = [0, -10]
[[body]]
name = "bead"
mass = 1
inertia = 1
position = [1, 0.5]
[[constraint]]
name = "curve"
equation = "bead[1] = bead[0]^2/2"
[integrate]
tolerance = 1e-10
end = 1
[output]
quantities.off = "bead[1] - bead[0]^2/2"
quantities.speed = "norm(bead')^2/2 + 10*bead[1] - 5"
quantities.multiplier = "curve_multiplier"
quantities.wanted = "-(10 + (bead[0]')^2)/(1 + bead[0]^2)"
)toml");
  EXPECT_NEAR(value_of(r, "off"), 0, 1e-9);
  EXPECT_NEAR(value_of(r, "speed"), 0, 1e-8);
  EXPECT_NEAR(value_of(r, "multiplier"), value_of(r, "wanted"), 1e-6);
}

// The tension is k (l - 1)^3 + c l': one equation of one coordinate, integrated beside it.
TEST(Elements, ASpringMayHaveAnyTension) {
  const std::string scene = R"toml(
[parameters]
k = 50
c = 0.7
[multibody]
dimension = 2
[[body]]
name = "block"
mass = 2
inertia = 1
position = [1.5, 0]
[[joint]]
type = "prismatic"
bodies = ["ground", "block"]
axis = [1, 0]
[[spring]]
name = "bow"
bodies = ["ground", "block"]
points = [[0, 0], [1.5, 0]]
tension = "k*(length - 1)^3 + c*rate"
[integrate]
method = "radau"
tolerance = 1e-10
end = 2
[output]
quantities.x = "block[0]"
quantities.tension = "bow_tension - (k*(bow_length - 1)^3 + c*bow_rate)"
)toml";
  const Report r = run_text(scene), one = run_text(R"toml(
[lagrangian]
coordinates = ["x"]
kinetic = "x'^2"
potential = "12.5*(x - 1)^4"
dissipation = "0.35*x'^2"
[initial]
position = { x = 1.5 }
[integrate]
method = "radau"
tolerance = 1e-10
end = 2
[output]
quantities.position = "x + 0"
)toml");
  EXPECT_NEAR(value_of(r, "x"), value_of(one, "position"), 1e-8);
  EXPECT_EQ(value_of(r, "tension"), 0);
}

TEST(Elements, DissipationIsTheForceAgainstTheVelocity) {
  const std::string text = R"toml(
[lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')/2"
potential = "2*q[0]^2 + q[1]^2"
FORCE
[initial]
position = { q = [1, 0.5] }
[integrate]
step = 0.01
end = 3
[output]
quantities.x = "q + [0, 0]"
)toml";
  const auto with = [&](const std::string& force) {
    std::string made = text;
    return values_of(run_text(made.replace(made.find("FORCE"), 5, force)), "x");
  };
  const auto a = with("dissipation = \"0.2*(q'[0] + q'[1])^2 + 0.1*q'[0]^4\""),
             b = with("force = { q = [\"-0.4*(q'[0] + q'[1]) - 0.4*q'[0]^3\", \"-0.4*(q'[0] + q'[1])\"] }");
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(a[k], b[k], 1e-12);
}

// A bushing with a full matrix: energy is kept to the order of the method without damping, and small vibrations have
// the frequency of the matrix.
TEST(Elements, ABushingKeepsEnergyAndHasTheFrequencyOfItsMatrix) {
  const std::string text = R"toml(
[multibody]
dimension = 3
[[body]]
name = "engine"
mass = 2
inertia = [0.1, 0.2, 0.3]
position = [0.3, 0.1, 0.2]
velocity = [VELOCITY]
angular_velocity = [SPIN]
[[bushing]]
name = "mount"
bodies = ["ground", "engine"]
point = [0.3, 0.1, 0.2]
rotation = { axis = [0, 0, 1], angle = 0.3 }
stiffness = [[200, 20, 0, 0, 0, 3], [20, 300, 0, 0, 0, 0], [0, 0, 250, 1, 0, 0], [0, 0, 1, 5, 0, 0], [0, 0, 0, 0, 6, 0.5], [3, 0, 0, 0, 0.5, 7]]
DAMPING
[integrate]
tolerance = 1e-11
end = END
[output]
quantities.x = "engine[2]"
quantities.angle = "engine_e2[2]"
)toml";
  const auto with = [&](std::string made, const char* word, const std::string& by) {
    return made.replace(made.find(word), std::string(word).size(), by);
  };
  const std::string large = with(with(with(text, "VELOCITY", "3, 1, 2"), "SPIN", "2, 3, 4"), "END", "2");
  const Report free = run_text(with(large, "DAMPING", "")),
               damped = run_text(with(large, "DAMPING", "damping = [2, 2, 2, 0.1, 0.1, 0.1]"));
  EXPECT_LT(*free.energy_error, 1e-7);
  EXPECT_LT(*damped.energy, 0.5 * *free.energy);
  // z alone, with the coupling 1 to theta_x taken away: x = v/w sin(w t), w^2 = 125
  std::string small = with(with(with(text, "VELOCITY", "0, 0, 1e-4"), "SPIN", "0, 0, 0"), "DAMPING", "");
  small = with(with(with(small, "250, 1, 0", "250, 0, 0"), "[0, 0, 1, 5", "[0, 0, 0, 5"), "END", "1");
  const double w = std::sqrt(125.0);
  EXPECT_NEAR(value_of(run_text(small), "x") - 0.2, 1e-4 / w * std::sin(w), 1e-10);
}

TEST(Elements, AForceActsAtItsPointInTheAxesSaid) {
  const std::string text = R"toml(
[multibody]
dimension = 2
[[body]]
name = "rocket"
mass = 2
inertia = 0.5
angle = "pi/2"
[[force]]
body = "rocket"
point = [0.3, 0]
force = [0, 4]
AXES
[integrate]
tolerance = 1e-11
end = 0.5
[output]
quantities.angle = "rocket_angle"
quantities.velocity = "rocket'"
)toml";
  const auto with = [&](const char* axes) {
    std::string made = text;
    return run_text(made.replace(made.find("AXES"), 4, axes));
  };
  const Report space = with("axes = \"space\""), body = with("axes = \"body\"");
  EXPECT_NEAR(values_of(space, "velocity")[1], 4 * 0.5 / 2, 1e-9);  // and the arm turns away
  // along the body's y, which is -x of space; the point lies at (0, -0.3) of the body's axes: no torque
  EXPECT_NEAR(value_of(body, "angle"), pi / 2, 1e-12);
  EXPECT_NEAR(values_of(body, "velocity")[0], -1, 1e-9);
  const Report pair = run_text(R"toml(
[multibody]
dimension = 3
[[body]]
name = "a"
mass = 1
inertia = [1, 2, 3]
[[body]]
name = "b"
mass = 3
inertia = [2, 2, 3]
position = [1, 1, 0]
[[force]]
body = "a"
against = "b"
point = [0.2, 0.4, 0.1]
force = ["t", 2, 1]
torque = [1, 0, "-t"]
axes = "body"
[integrate]
tolerance = 1e-11
end = 1
[output]
quantities.p = "a' + 3*b'"
)toml");
  for (const double p : values_of(pair, "p")) EXPECT_NEAR(p, 0, 1e-9);  // what acts between bodies has no resultant
}

// The same mechanism turned, moved and with other units of length: gears, screws and points on lines do not see that.
TEST(Elements, RandomFramesAndUnitsGiveTheSameMotion) {
  const auto scene = [](const Eigen::Quaterniond& turn, const Eigen::Vector3d& shift, double unit) {
    const auto place = [&](double x, double y, double z) {
      const Eigen::Vector3d p = unit * (turn * Eigen::Vector3d(x, y, z) + shift);
      return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", p(0), p(1), p(2));
    };
    const auto direction = [&](double x, double y, double z) {
      const Eigen::Vector3d p = turn * Eigen::Vector3d(x, y, z);
      return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", p(0), p(1), p(2));
    };
    const Eigen::Vector3d g = unit * (turn * Eigen::Vector3d(0, 0, -9.81));
    const double j = unit * unit;
    return fmt::format(R"toml(
[multibody]
gravity = [{:.17g}, {:.17g}, {:.17g}]
[[body]]
name = "screw"
mass = 2
inertia = [{}, {}, {}]
position = {}
[[body]]
name = "wheel"
mass = 1
inertia = [{}, {}, {}]
position = {}
[[body]]
name = "bob"
mass = 0.5
inertia = [{}, {}, {}]
position = {}
[[joint]]
name = "thread"
type = "screw"
bodies = ["ground", "screw"]
axis = {}
pitch = {}
[[joint]]
name = "axle"
type = "revolute"
bodies = ["ground", "wheel"]
axis = {}
[[joint]]
name = "teeth"
type = "gear"
joints = ["thread", "axle"]
ratio = -2.5
[[joint]]
name = "wire"
type = "point-on-line"
bodies = ["wheel", "bob"]
point = {}
axis = {}
[integrate]
tolerance = 1e-10
end = 0.7
[output]
quantities.angle = "thread_angle"
quantities.slid = "wire_position/{}"
quantities.pull = "norm(wire_force)/{}"
)toml",
                       g(0), g(1), g(2), 0.02 * j, 0.02 * j, 0.02 * j, place(0, 0, 0), 0.05 * j, 0.05 * j, 0.05 * j,
                       place(0.5, 0, 0), 0.01 * j, 0.01 * j, 0.01 * j, place(0.5, 0.3, 0), direction(0, 0, 1),
                       0.4 * unit, direction(0, 0, 1), place(0.5, 0.3, 0), direction(0, 1, 0.2), unit, unit);
  };
  const Report plain = run_text(scene(Eigen::Quaterniond::Identity(), Eigen::Vector3d::Zero(), 1));
  EXPECT_GT(std::abs(value_of(plain, "angle")), 0.5);
  RandomNumbers draw(7);
  for (int trial = 0; trial < 3; ++trial) {
    const Eigen::Quaterniond turn =
        Eigen::Quaterniond(draw.normal(), draw.normal(), draw.normal(), draw.normal()).normalized();
    const Eigen::Vector3d shift(draw.normal(), draw.normal(), draw.normal());
    const Report r = run_text(scene(turn, shift, trial == 1 ? 1000 : trial == 2 ? 0.01 : 1));
    for (const char* q : {"angle", "slid", "pull"})
      EXPECT_NEAR(value_of(r, q), value_of(plain, q), 1e-6 * std::abs(value_of(plain, q))) << q << " " << trial;
  }
}

const std::string two_wheels = R"toml(
[multibody]
dimension = 3
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 1]
[[body]]
name = "b"
mass = 1
inertia = [1, 1, 1]
position = [1, 0, 0]
[[joint]]
name = "ja"
type = "revolute"
bodies = ["ground", "a"]
axis = [0, 0, 1]
[integrate]
step = 0.01
end = 0.02
)toml";

TEST(Elements, BadOnesAreNamedWithPlaceCauseAndRemedy) {
  struct Bad {
    const char* text;
    std::vector<const char*> says;
  };
  const std::vector<Bad> bad = {
      {"[[joint]]\ntype = \"gear\"\njoints = [\"ja\", \"jb\"]\nratio = 2",
       {"joint[1].joints", "no joint 'jb'", "'ja'"}},
      {"[[joint]]\ntype = \"gear\"\njoints = [\"ja\", \"ja\"]\nratio = 2", {"joint[1].joints", "two joints"}},
      {"[[joint]]\ntype = \"gear\"\njoints = [\"ja\"]\nratio = 2", {"joint[1].joints", "names of two joints"}},
      {"[[joint]]\ntype = \"gear\"\njoints = [\"ja\", \"jb\"]", {"joint[1]", "'ratio' is missing"}},
      {"[[joint]]\nname = \"jb\"\ntype = \"revolute\"\naxis = [0, 0, 1]\nbodies = [\"ground\", \"b\"]\n[[joint]]\ntype "
       "= "
       "\"gear\"\njoints = [\"ja\", \"jb\"]\nratio = 0",
       {"joint[2].ratio", "ratio = 0", "negative where"}},
      {"[[joint]]\nname = \"jb\"\ntype = \"revolute\"\naxis = [0, 0, 1]\nbodies = [\"ground\", \"b\"]\n[[joint]]\ntype "
       "= "
       "\"rack\"\njoints = [\"ja\", \"jb\"]\nradius = 1",
       {"joint[2].joints", "'jb' is revolute and has no position", "slides"}},
      {"[[joint]]\ntype = \"gear\"\njoints = [\"ja\", \"jb\"]\nratio = 2\nbodies = [\"a\", \"b\"]",
       {"joint[1].bodies", "connects two joints", "leave it out"}},
      {"[[joint]]\ntype = \"screw\"\nbodies = [\"ground\", \"b\"]\naxis = [0, 0, 1]",
       {"joint[1]", "'pitch' is missing", "pitch = 0.002"}},
      {"[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"b\"]\naxis = [0, 0, 1]\npitch = 1",
       {"joint[1].pitch", "only a screw", "leave it out"}},
      {"[[joint]]\ntype = \"point-on-line\"\nbodies = [\"ground\", \"b\"]", {"joint[1]", "'axis' is missing"}},
      {"[[joint]]\ntype = \"constant-velocity\"\nbodies = [\"ground\", \"b\"]\naxis = [1, 0, 0]\naxis2 = [-1, 0, 0]",
       {"joint[1].axis2", "against each other"}},
      {"[[constraint]]\nname = \"c\"", {"constraint[0]", "'equation' is missing"}},
      {"[[constraint]]\nequation = \"3 = 2\"", {"constraint[0].equation", "the number 1", "names of bodies"}},
      {"[[constraint]]\nequation = \"a[0] = c[0]\"", {"constraint[0].equation", "'c'"}},
      {"[[constraint]]\nequation = \"a[0]' = 1\"",
       {"constraint[0].equation", "contains a velocity", "motor = { speed"}},
      {"[[bushing]]\nbodies = [\"a\", \"b\"]", {"bushing[0]", "stiffness, or a damping"}},
      {"[[bushing]]\nbodies = [\"a\", \"b\"]\nstiffness = [1, 2, 3]", {"bushing[0].stiffness", "6 numbers", "6 rows"}},
      {"[[bushing]]\nbodies = [\"a\", \"a\"]\nstiffness = [1, 1, 1, 1, 1, 1]", {"bushing[0].bodies", "both are 'a'"}},
      {"[[bushing]]\nbodies = [\"a\", \"b\"]\nstiffness = [1, 1, 1, 1, 1, -1]",
       {"bushing[0].stiffness", "negative eigenvalue"}},
      {"[[force]]\nforce = [0, 0, 1]", {"force[0]", "'body' is missing"}},
      {"[[force]]\nbody = \"a\"", {"force[0]", "a force, a torque"}},
      {"[[force]]\nbody = \"a\"\nforce = [0, 1]", {"force[0].force", "3 components; this has 2"}},
      {"[[force]]\nbody = \"a\"\nagainst = \"a\"\nforce = [0, 0, 1]", {"force[0].against", "another body"}},
      {"[[force]]\nbody = \"a\"\naxes = \"world\"\nforce = [0, 0, 1]",
       {"force[0].axes", "\"world\" is unknown", "space"}},
      {"[[spring]]\nbodies = [\"a\", \"b\"]\ntension = \"length\"\nstiffness = 2", {"spring[0].tension", "leave out"}},
      {"[[spring]]\nbodies = [\"a\", \"b\"]\ntension = \"lenght\"", {"spring[0].tension", "lenght", "length"}},
  };
  for (const Bad& b : bad) {
    const std::string said = complaint_about(two_wheels + b.text);
    for (const char* part : b.says) EXPECT_NE(said.find(part), std::string::npos) << b.text << "\n-> " << said;
  }
  const std::string said = complaint_about(
      "[lagrangian]\ncoordinates = [\"q\"]\nkinetic = \"q'^2\"\ndissipation = \"q^2\"\n[integrate]\nstep = 0.1\nend = "
      "1");
  EXPECT_NE(said.find("lagrangian.dissipation: this does not depend on a velocity"), std::string::npos) << said;
}

// A pantograph traces what its stylus does, twice as large. An equation of vectors without a name is one for each
// component.
TEST(Constraint, MayBeAVectorWithoutAName) {
  const Report r = run_text(R"toml(
[multibody]
gravity = [0, -9.81]
[[body]]
name = "long"
mass = 1
inertia = 0.1
position = [0.3, 0.4]
[[body]]
name = "arm"
mass = 1
inertia = 0.1
position = [0.9, 0.4]
[[body]]
name = "short"
mass = 1
inertia = 0.1
position = [0.45, 0.2]
[[body]]
name = "link"
mass = 1
inertia = 0.1
position = [0.75, 0.2]
[[joint]]
type = "revolute"
bodies = ["ground", "long"]
point = [0, 0]
[[joint]]
type = "revolute"
bodies = ["long", "arm"]
point = [0.6, 0.8]
[[joint]]
type = "revolute"
bodies = ["long", "short"]
point = [0.3, 0.4]
[[joint]]
type = "revolute"
bodies = ["short", "link"]
point = [0.6, 0]
[[joint]]
type = "revolute"
bodies = ["arm", "link"]
point = [0.9, 0.4]
[define]
stylus = "short + 0.15*short_e1 - 0.2*short_e2"
pen = "arm + 0.3*arm_e1 - 0.4*arm_e2"
[[constraint]]
equation = "stylus = [0.6 + 0.05*sin(3*t), 0.05*(1 - cos(3*t))]"
[initial]
consistent = "project"
[integrate]
step = 0.01
end = 1
[output]
quantities.pen = "pen"
)toml");
  const std::vector<double> pen = test::values_of(r, "pen");
  EXPECT_NEAR(pen[0], 2 * (0.6 + 0.05 * std::sin(3.0)), 1e-12);
  EXPECT_NEAR(pen[1], 2 * 0.05 * (1 - std::cos(3.0)), 1e-12);
}

}  // namespace
}  // namespace hinge::elements_test
