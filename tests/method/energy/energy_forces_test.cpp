// energy-momentum with forces that no potential has: order 2, symmetric, and the energy changes by their work alone, to
// rounding. In space with motors, dampers, bushings, a controller's state and forces of t; in coordinates that add up
// with all treatments of constraints.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::energy_forces_test {
namespace {

// Two bodies in space with one of everything that pushes and brakes, drawn at random.
Model machine(unsigned seed, const std::string& more = "") {
  Draw draw(seed);
  const auto x = [&] { return draw.number(0.1, 0.5); };
  return parse_model(fmt::format(R"toml(
[multibody]
gravity = [0, 0, -9.81]
[states]
drive = {{ rate = "1 - shaft_speed - 0.3*drive" }}
[[body]]
name = "a"
mass = 1
inertia = [{}, 0.3, 0.4]
angular_velocity = [2, 0, 0]
[[body]]
name = "b"
mass = 0.7
inertia = [0.3, {}, 0.3]
position = [1, 0.1, 0]
rotation = {{ axis = [1, 2, 2], angle = {} }}
angular_velocity = [2, 0, 0]
velocity = [0, 0, 0.2]
[[joint]]
name = "shaft"
type = "revolute"
bodies = ["ground", "a"]
axis = [1, 0, 0]
damping = {}
stiffness = 2
motor = {{ torque = "0.5*drive + 0.2*sin(3*t) - 0.1*shaft_angle" }}
[[joint]]
name = "pin"
type = "revolute"
bodies = ["a", "b"]
point = [0.5, 0, 0.1]
axis = [0, 0.6, 0.8]
damping = {}
[[spring]]
bodies = ["ground", "b"]
points = [[1, 1, 1], [1, 0.1, 0]]
stiffness = 20
damping = {}
[[bushing]]
bodies = ["a", "b"]
point = [0.7, 0, 0]
stiffness = [3, 3, 3, 0, 0, 0]
damping = [{}, 0.3, 0.3, 0.1, 0.1, 0.1]
[[force]]
body = "b"
point = [1.2, 0, 0]
axes = "body"
force = ["0.3*cos(t)", 0, "-0.2*norm(b')"]
torque = [0, "0.1*b_rotation[1]", 0]
[initial]
consistent = "project"
[integrate]
method = "energy-momentum"
step = 0.01
end = 1
)toml",
                                 x(), x(), x(), x(), x(), x(), x()) +
                         more,
                     "machine");
}

State state_at(const Model& m, const MethodChoice& method, SimulationOptions options, double end) {
  Simulation s(m.system, method, std::move(options));
  s.start(m.start);
  s.until(end);
  return s.state();
}

double largest_difference(const State& a, const State& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.y.size(); ++k) worst = std::max(worst, std::abs(a.y[k] - b.y[k]));
  for (std::size_t k = 0; k < a.z.size(); ++k) worst = std::max(worst, std::abs(a.z[k] - b.z[k]));
  return worst;
}

TEST(EnergyForces, InSpaceHaveOrderTwo) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Model m = machine(seed);
    const State exact = state_at(m, explicit_runge_kutta(), {.tolerance = {1e-12, 1e-12}}, 0.8);
    double before = 0;
    for (const double h : {0.008, 0.004, 0.002, 0.001}) {
      const double error = largest_difference(state_at(m, energy_momentum(), {.step = h}, 0.8), exact);
      if (before > 0) {
        EXPECT_NEAR(std::log2(before / error), 2, 0.1) << seed << " " << h;
      }
      before = error;
    }
    EXPECT_LT(before, 1e-3) << seed;
  }
}

TEST(EnergyForces, InSpaceChangeTheEnergyByTheirWorkAlone) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Model m = machine(seed);
    Simulation s(m.system, energy_momentum(), {.step = 0.01});
    s.start(m.start);
    s.until(10);
    const Report r = s.report();
    EXPECT_GT(r.energy_error.value_or(0), 0.1) << seed;             // they do work,
    EXPECT_LT(r.discrete_energy_error.value_or(1), 1e-12) << seed;  // and the report knows how much
    EXPECT_EQ(r.discrete_energy, "H - work of forces");
    EXPECT_LT(r.constraint, 1e-14) << seed;
    EXPECT_TRUE(r.sound()) << seed;
  }
}

TEST(EnergyForces, InSpaceGoBackTheWayTheyCame) {
  const Model m = machine(3);
  Simulation s(m.system, energy_momentum(), {.step = 0.02});
  s.start(m.start);
  State state = s.state();
  const State first = state;
  const auto stepper = energy_momentum().bind(m.system);
  for (const double h : {0.02, 0.02, -0.02, -0.02}) ASSERT_TRUE(stepper->step(state, h));
  EXPECT_LT(largest_difference(state, first), 1e-11);
}

// A torque between two free bodies is a pair: angular momentum stays, to rounding.
TEST(EnergyForces, BetweenBodiesKeepMomenta) {
  const Model m = parse_model(R"toml(
[multibody]
gravity = [0, 0, 0]
[[body]]
name = "a"
mass = 1
inertia = [0.2, 0.3, 0.45]
velocity = [0.1, 0.3, -0.2]
angular_velocity = [2, 1, 3]
[[body]]
name = "b"
mass = 0.7
inertia = [0.1, 0.25, 0.2]
position = [1, 0.1, 0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["a", "b"]
point = [0.5, 0, 0.1]
axis = [0.36, 0.48, 0.8]
damping = 0.2
motor = { torque = "sin(2*t)" }
[initial]
consistent = "project"
[integrate]
method = "energy-momentum"
step = 0.01
end = 5
[output]
quantities.L = "cross(a, a') + 0.7*cross(b, b') + a_spin[0]*0.2*a_e1 + a_spin[1]*0.3*a_e2 + a_spin[2]*0.45*a_e3 + b_spin[0]*0.1*b_e1 + b_spin[1]*0.25*b_e2 + b_spin[2]*0.2*b_e3"
)toml",
                              "pair");
  Simulation s = m.simulation_for("");
  s.start(m.start);
  const std::vector<double> before = s.report().quantities.at(0).value;
  s.until(5);
  const std::vector<double> after = s.report().quantities.at(0).value;
  ASSERT_EQ(before.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after[k], before[k], 1e-12 * (1 + std::abs(before[k])));
  EXPECT_LT(s.report().discrete_energy_error.value_or(1), 1e-12);
}

// In coordinates that add up: a pendulum that is driven and braked, with a state beside it.
TEST(EnergyForces, InThePlaneChangeTheEnergyByTheirWorkAlone) {
  const auto model = [](const std::string& options, double step) {
    return parse_model(fmt::format(R"toml(
[states]
u = {{ rate = "q[0] - u" }}
[lagrangian]
coordinates = ["q[2]"]
kinetic = "0.5*dot(q',q')"
potential = "9.81*q[1]"
constraints = ["(dot(q,q) - 1)/2"]
force = {{ q = "-0.3*q' + [0.5*sin(3*t), u]" }}
[initial]
position = {{ q = [1, 0] }}
[integrate]
method = "energy-momentum"
step = {}
end = 2
{}
)toml",
                                   step, options),
                       "pendulum");
  };
  for (const char* options :
       {"", "constraints = \"penalty\"", "constraints = \"augmented\"", "derivative = \"general\""}) {
    const Model m = model(options, 0.01);
    const State exact = state_at(m, explicit_runge_kutta(), {.tolerance = {1e-12, 1e-12}}, 2);
    const bool penalty = std::string(options).find("penalty") != std::string::npos;
    double before = 0;
    for (const double h : {0.02, 0.01, 0.005}) {
      Simulation s = model(options, h).simulation_for("");
      s.start(m.start);
      s.until(2);
      EXPECT_LT(s.report().discrete_energy_error.value_or(1), 1e-12) << options << h;
      EXPECT_GT(s.report().energy_error.value_or(0), 1) << options;
      const double error = largest_difference(s.state(), exact);
      if (before > 0 && !penalty) {
        EXPECT_NEAR(std::log2(before / error), 2, 0.15) << options << h;
      }
      before = error;
    }
  }
}

// examples/delta-robot.toml, torques included, which are functions of t.
TEST(EnergyForces, DriveTheDeltaRobot) {
  const Model m = load_model(fmt::format("{}/delta-robot.toml", HINGE_EXAMPLES), {});
  const State exact = state_at(m, explicit_runge_kutta(), {.tolerance = {1e-12, 1e-12}}, 1);
  Simulation s(m.system, energy_momentum(), {.step = 0.001});
  s.start(m.start);
  s.until(1);
  EXPECT_LT(largest_difference(s.state(), exact), 3e-4);           // measured 2.1e-4, a quarter with half the step
  EXPECT_LT(s.report().discrete_energy_error.value_or(1), 1e-13);  // measured 5.4e-15
  EXPECT_GT(s.report().energy_error.value_or(0), 0.1);
  EXPECT_TRUE(s.report().sound());  // rows in which nothing moves are not compared with themselves
}

}  // namespace
}  // namespace hinge::energy_forces_test
