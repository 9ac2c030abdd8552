// Velocity constraints, rolling and blades in model files: what they say, and what is said where they are wrong.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "model/complaint.hpp"
#include "model/run_text.hpp"
#include "places.hpp"

namespace hinge::velocity_constraint_model_test {
namespace {

using test::mentions;
using test::run;

const std::string blade = R"toml([lagrangian]
coordinates = ["x", "y", "a"]
kinetic = "(x'^2 + y'^2)/2 + 0.2*a'^2"
potential = "-4*x"
velocity_constraints = ["x'*sin(a) - y'*cos(a)"]
[initial]
position = { x = 0, y = 0, a = 0 }
velocity = { a = 1.3 }
[integrate]
step = 0.01
end = 1
)toml";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    const Model m = parse_model(text, "m.toml");
    Simulation s = m.simulation_for("");
    s.start(m.start);
  } catch (const InputError& e) {
    return e.what();
  }
  return "nothing";
}

TEST(VelocityConstraintModel, RattleIsTheDefaultForStepsAndAutoForATolerance) {
  const Report steps = run(parse_model(blade, "m.toml"));
  EXPECT_EQ(steps.method, "rattle for velocity constraints, order 2");
  EXPECT_LT(steps.velocity_constraint.value(), 1e-14);
  EXPECT_FALSE(steps.has_constraints);
  const Model free = parse_model(with(blade, "step = 0.01", "tolerance = 1e-10"), "m.toml");
  EXPECT_EQ(free.method, "auto");
  EXPECT_LT(*run(free).energy_error, 1e-9);
}

// A family of blades, one for each of several skates, and the same in [mechanical].
TEST(VelocityConstraintModel, FamiliesAndMechanicalSystems) {
  const std::string skates = R"toml([lagrangian]
coordinates = ["q[3][2]", "a[3]"]
kinetic = "sum(i, 0, 2, dot(q[i]', q[i]') + a[i]'^2)/2"
potential = "sum(i, 0, 2, -(i+1)*q[i][0])"
velocity_constraints = [{ for = "i", to = 2, constraint = "q[i]'[0]*sin(a[i]) - q[i]'[1]*cos(a[i])" }]
[initial]
position = { q = [[0, 0], [0, 0], [0, 0]], a = [0, 0, 0] }
velocity = { a = [1, 1, 1] }
[integrate]
tolerance = 1e-11
end = 1
)toml";
  const Report r = run(parse_model(skates, "m.toml"));
  EXPECT_EQ(r.final.psi.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(r.final.y[2 * i], static_cast<double>(i + 1) / 2 * std::pow(std::sin(1), 2), 1e-9);
  const std::string mechanical = R"toml([mechanical]
coordinates = ["x", "y", "a"]
mass = [1, 1, 0.4]
force = [4, 0, 0]
velocity_constraints = ["x'*sin(a) - y'*cos(a)"]
[initial]
position = { x = 0, y = 0, a = 0 }
velocity = { a = 1.3 }
[integrate]
step = 0.01
end = 1
)toml";
  const Report a = run(parse_model(blade, "m.toml")), b = run(parse_model(mechanical, "m.toml"));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(a.final.y[k], b.final.y[k], 1e-12);
}

TEST(VelocityConstraintModel, ARemarkTellsOfPositionConstraintsInDisguise) {
  const std::string rolling = with(with(blade, "x'*sin(a) - y'*cos(a)", "x' - 0.5*a'"), "velocity = { a = 1.3 }",
                                   "velocity = { x = 0.65, a = 1.3 }");
  const Report r = run(parse_model(rolling, "m.toml"));
  ASSERT_EQ(r.remarks.size(), 1u);
  EXPECT_TRUE(mentions(r.remarks[0], "integrable")) << r.remarks[0];
  EXPECT_TRUE(mentions(r.remarks[0], "constraints = [\"")) << r.remarks[0];
  EXPECT_TRUE(run(parse_model(blade, "m.toml")).remarks.empty());
}

// u = exp(-t) turns the blade: 0.4 a'' = u; s is how far it went down.
TEST(VelocityConstraintModel, StatesStandBesideThem) {
  const std::string states = "[states]\nu = { rate = \"-u\", initial = 1 }\ns = { rate = \"x'\", initial = 0.2 }\n" +
                             with(with(blade, "velocity_constraints", "force = { a = \"u\" }\nvelocity_constraints"),
                                  "step = 0.01", "tolerance = 1e-10");
  const Report r = run(parse_model(states, "m.toml"));
  ASSERT_EQ(r.final.psi.size(), 1u);
  EXPECT_NEAR(r.final.z[2], 1.3 + (1 - std::exp(-1.0)) / 0.4, 1e-8);
  EXPECT_NEAR(r.final.z[4], 0.2 + r.final.y[0], 1e-8);
  EXPECT_GT(std::abs(r.final.y[0]), 0.1);
  EXPECT_LT(r.velocity_constraint.value(), 1e-12);
  // a blade that slips as a state says: the reaction acts on the sleigh, and the state goes its own way
  const Report slips = run(parse_model(with(with(states, "x'*sin(a) - y'*cos(a)", "x'*sin(a) - y'*cos(a) - u"),
                                            "[initial]", "[initial]\nconsistent = \"project\""),
                                       "m.toml"));
  EXPECT_NEAR(slips.final.z[3], std::exp(-1.0), 1e-8);
  EXPECT_LT(slips.velocity_constraint.value(), 1e-12);
}

// Constraints that follow from others are left out by themselves only where there are none on velocities.
TEST(VelocityConstraintModel, DependentConstraintsBesideThemAreRefused) {
  const std::string twice =
      with(blade, "velocity_constraints", "constraints = [\"x - y\", \"2*x - 2*y\"]\nvelocity_constraints");
  const std::string still = with(with(twice, "a = 0 }", "a = 0.3 }"), "a = 1.3", "a = 0");
  EXPECT_TRUE(mentions(complaint(still), "the constraints are dependent at the initial position (rank 2 of 3)"))
      << complaint(still);
  EXPECT_EQ(complaint(with(still, ", \"2*x - 2*y\"", "")), "nothing");
  EXPECT_EQ(complaint(with(still, "velocity_constraints = [\"x'*sin(a) - y'*cos(a)\"]\n", "")), "nothing");
}

// The velocity of what is fixed stays; the rest gives way.
TEST(VelocityConstraintModel, FixedCoordinatesKeepTheirVelocities) {
  const std::string askew = with(with(blade, "a = 0 }", "a = 0.5 }"), "velocity = { a = 1.3 }",
                                 "velocity = { x = 1, a = 1.3 }\nconsistent = \"project\"\nfixed = [\"x\", \"a\"]");
  const Model m = parse_model(askew, "m.toml");
  Simulation s = m.simulation_for("");
  s.start(m.start);
  EXPECT_NEAR(s.state().z[0], 1, 1e-14);
  EXPECT_NEAR(s.state().z[1], std::tan(0.5), 1e-13);
  EXPECT_NEAR(s.state().z[2], 1.3, 1e-14);
}

TEST(VelocityConstraintModel, WrongOnesAreNamedWithPlaceAndRemedy) {
  struct Case {
    std::string from, to, words;
  };
  for (const Case& c : {
           Case{"[\"x'*sin(a) - y'*cos(a)\"]", "[\"x*sin(a)\"]", "contains no velocity"},
           {"[\"x'*sin(a) - y'*cos(a)\"]", "[\"1 + 1\"]", "this velocity constraint is the number 2"},
           {"[\"x'*sin(a) - y'*cos(a)\"]", "[\"x' = y'\"]", "write \"a - b\" for a = b"},
           {"[\"x'*sin(a) - y'*cos(a)\"]", "[\"x'*sin(b)\"]", "m.toml:5: lagrangian.velocity_constraints"},
           {"[\"x'*sin(a) - y'*cos(a)\"]", "7", "lagrangian.velocity_constraints"},
           {"velocity_constraints", "velocity_constraint", "velocity_constraints"},
           {"velocity = { a = 1.3 }", "velocity = { y = 1 }", "velocity constraint 0"},
           {"step = 0.01", "method = \"gauss-lobatto\"\nstep = 0.01",
            "gauss-lobatto does not take velocity constraints"},
           {"step = 0.01", "method = \"paoli-schatzman\"\nstep = 0.01", "use rattle"},
           {"step = 0.01", "method = \"rattle\"\nvelocity_constraints = \"middle\"\nstep = 0.01", "leapfrog"},
           {"velocity_constraints = [", "constraints = [", "rolling and blades are velocity_constraints"},
           {"velocity_constraints", "multipliers = [\"n\"]\nreaction = { x = \"n\" }\nvelocity_constraints",
            "cannot stand beside them"},
       })
    EXPECT_TRUE(mentions(complaint(with(blade, c.from, c.to)), c.words)) << c.to << "\n"
                                                                         << complaint(with(blade, c.from, c.to));
  EXPECT_EQ(complaint(blade), "nothing");
}

const std::string wheel = R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "wheel"
mass = 1
inertia = [0.1, 0.2, 0.1]
position = [0, 0, 0.3]
velocity = [0.6, 0, 0]
angular_velocity = [0, 2, 0]
[[joint]]
name = "tyre"
type = "rolling"
bodies = ["ground", "wheel"]
radius = 0.3
axis = [0, 1, 0]
[integrate]
tolerance = 1e-10
end = 1
)toml";

TEST(VelocityConstraintModel, AWheelRollsStraightAhead) {
  const Report r = run(parse_model(wheel, "m.toml"));
  EXPECT_NEAR(r.final.y[0], 0.6, 1e-9);
  EXPECT_NEAR(r.final.y[2], 0.3, 1e-13);
  EXPECT_NEAR(r.final.psi[0], -9.81, 1e-9);
  EXPECT_NEAR(std::hypot(r.final.psi[1], r.final.psi[2]), 0, 1e-9);
}

TEST(VelocityConstraintModel, WrongJointsAreNamedWithPlaceAndRemedy) {
  struct Case {
    std::string from, to, words;
  };
  const std::string type = "type = \"rolling\"";
  for (const Case& c : {
           Case{"radius = 0.3\n", "", "'radius' is missing"},
           {"radius = 0.3", "radius = -1", "m.toml:14: joint[0].radius"},
           {"axis = [0, 1, 0]", "axis = [0, 0, 1]", "lies flat"},
           {"axis = [0, 1, 0]", "axis = [0, 1, 0]\nnormal = [0, 0, 0]", "'normal' has no direction"},
           {"axis = [0, 1, 0]", "axis = [0, 1, 0]\nlength = 2", "has no 'length'"},
           {"axis = [0, 1, 0]", "axis = [0, 1, 0]\nmotor = { speed = 2 }", "has no 'motor'"},
           {"axis = [0, 1, 0]", "axis = [0, 1, 0]\npoint = [0, 0, 0]\npoints = [[0, 0, 0], [0, 0, 1]]", "not both"},
           {"[\"ground\", \"wheel\"]", "[\"wheel\", \"ground\"]", "does not move"},
           {"position = [0, 0, 0.3]", "position = [0, 0, 0.4]", "nothing"},
           {"axis = [0, 1, 0]", "axis = [0, 1, 0]\npoint = [0, 0, -0.1]", "off the plane"},
           {"velocity = [0.6, 0, 0]", "velocity = [0.5, 0, 0]", "slip) is violated by 0.1"},
           {type, "type = \"revolute\"", "radius"},
           {type, "type = \"knife-edge\"", "a knife-edge has no radius"},
           {"radius = 0.3\naxis = [0, 1, 0]", "radius = 0.3\naxis = [0, 1, 0]\nnormal = [0, 0]",
            "m.toml:16: joint[0].normal"},
           {"tolerance = 1e-10", "method = \"gauss-lobatto\"\nstep = 0.01",
            "velocity constraint of joint 'tyre' (ground - wheel: slip)"},
       })
    EXPECT_TRUE(mentions(complaint(with(wheel, c.from, c.to)), c.words)) << c.to << "\n"
                                                                         << complaint(with(wheel, c.from, c.to));
  const std::string edge = with(wheel, type + "\nbodies = [\"ground\", \"wheel\"]\nradius = 0.3\naxis = [0, 1, 0]",
                                "type = \"knife-edge\"\nbodies = [\"ground\", \"wheel\"]");
  EXPECT_TRUE(mentions(complaint(edge), "'axis' is missing")) << complaint(edge);
  EXPECT_TRUE(mentions(complaint(with(edge, "type = \"knife-edge\"", "type = \"knife-edge\"\naxis = [0, 0, 1]")),
                       "along the normal"));
}

TEST(VelocityConstraintModel, ExamplesDoWhatTheirHeadsSay) {
  const auto example = [](const std::string& name) {
    return run(load_model(std::string(HINGE_EXAMPLES) + "/" + name));
  };
  const Report edge = example("knife-edge.toml");
  EXPECT_TRUE(edge.sound());
  EXPECT_NEAR(*edge.exact_error[0], 2.44e-4, 1e-6);
  EXPECT_LT(*edge.velocity_constraint, 1e-14);
  const Report disk = example("rolling-disk.toml");
  EXPECT_TRUE(disk.sound());
  EXPECT_LT(*disk.velocity_constraint, 1e-12);
  EXPECT_LT(*disk.energy_error, 1e-8);
  const Report ball = example("turntable.toml");
  EXPECT_TRUE(ball.sound());
  EXPECT_LT(std::abs(ball.quantities[0].value[0]), 1e-9);
}

}  // namespace
}  // namespace hinge::velocity_constraint_model_test
