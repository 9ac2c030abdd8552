// energy-momentum for bodies in space: energy, momenta and joints to round-off, order 2, symmetric in time.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::body_energy_momentum_test {
namespace {

// Three bodies that fly freely, on a spherical joint, a hinge and two springs.
Model flying(const std::string& gravity = "[0, 0, 0]") {
  return parse_model("[multibody]\ngravity = " + gravity + R"(
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
rotation = { axis = [1, 2, 2], angle = 0.8 }
[[body]]
name = "c"
mass = 0.5
inertia = [0.1, 0.12, 0.2]
position = [1.5, 0.8, 0.2]
[[joint]]
type = "spherical"
bodies = ["a", "b"]
point = [0.5, 0, 0.1]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["b", "c"]
point = [1.3, 0.4, 0.1]
axis = [0.36, 0.48, 0.8]
[[spring]]
bodies = ["a", "c"]
stiffness = 60
length = 1.2
[[spring]]
bodies = ["a", "b"]
points = [[0, 0.3, 0], [1, 0.4, 0.2]]
stiffness = 30
length = 0
[initial]
consistent = "project"
[integrate]
method = "energy-momentum"
step = 0.01
end = 1
[output]
quantities.turn = "hinge_angle"
)",
                     "flying");
}

// Momentum and angular momentum about the origin.
std::array<double, 6> momenta(const System& system, const State& s) {
  const auto e = system.evaluation({Quantity::momentum});
  e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const BodyTable& table = *bodies_of(system);
  Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = linear;
  for (std::size_t b = 0; b < table.places.size(); ++b) {
    const BodyPose pose = table.pose(s.y.data(), b);
    const Eigen::Map<const Eigen::Vector3d> p((*e)[Quantity::momentum] + table.places[b].v),
        spin((*e)[Quantity::momentum] + table.places[b].spin);
    linear += p;
    angular += pose.position.cross(p) + pose.rotation * spin;
  }
  return {linear(0), linear(1), linear(2), angular(0), angular(1), angular(2)};
}

struct Kept {
  double energy, momentum, constraint;
};
Kept measure(const MethodChoice& method, double step, double end) {
  const Model m = flying();
  Simulation s(m.system, method, {.step = step});
  s.start(m.start);
  const auto before = momenta(*m.system, s.state());
  s.until(end);
  const auto after = momenta(*m.system, s.state());
  double worst = 0;
  for (std::size_t k = 0; k < 6; ++k) worst = std::max(worst, std::abs(after[k] - before[k]));
  return {s.report().energy_error.value_or(1), worst, s.report().constraint};
}

TEST(BodyEnergyMomentum, KeepsEnergyMomentaAndJointsToRounding) {
  const Kept kept = measure(energy_momentum(), 0.02, 20);
  EXPECT_LT(kept.energy, 1e-12);
  EXPECT_LT(kept.momentum, 1e-12);
  EXPECT_LT(kept.constraint, 1e-14);
  const Kept other = measure(gauss_lobatto(1), 0.02, 2);  // a control: symplectic, and of the same order
  EXPECT_GT(other.energy, 1e-6);
  const Kept damped = measure(make_method("radau", {{"stages", 2.0}}), 0.02, 2);
  EXPECT_GT(damped.momentum, 1e-8);
}

TEST(BodyEnergyMomentum, HasOrderTwo) {
  const Model m = flying("[0, 0, -9.81]");
  const auto end_of = [&](const MethodChoice& method, SimulationOptions options) {
    Simulation s(m.system, method, std::move(options));
    s.start(m.start);
    s.until(0.5);
    return s.state();
  };
  SimulationOptions tight;
  tight.tolerance = {1e-12, 1e-12};
  const State exact = end_of(explicit_runge_kutta(), tight);
  std::vector<std::array<double, 2>> errors;
  for (const double h : {0.01, 0.005, 0.0025, 0.00125}) {
    const State s = end_of(energy_momentum(), {.step = h});
    std::array<double, 2> e{};
    for (std::size_t k = 0; k < s.y.size(); ++k) e[0] = std::max(e[0], std::abs(s.y[k] - exact.y[k]));
    for (std::size_t k = 0; k < s.z.size(); ++k) e[1] = std::max(e[1], std::abs(s.z[k] - exact.z[k]));
    errors.push_back(e);
  }
  for (std::size_t k = 1; k < errors.size(); ++k)
    for (const std::size_t part : {0u, 1u}) {
      const double slope = std::log2(errors[k - 1][part] / errors[k][part]);
      EXPECT_GT(slope, 1.85) << part << " " << k;
      EXPECT_LT(slope, 2.15) << part << " " << k;
    }
}

TEST(BodyEnergyMomentum, GoesBackTheWayItCame) {
  const Model m = flying("[0, 0, -9.81]");
  Simulation s(m.system, energy_momentum(), {.step = 0.02});
  s.start(m.start);
  State state = s.state();
  const State first = state;
  const auto stepper = energy_momentum().bind(m.system);
  for (const double h : {0.02, 0.02, -0.02, -0.02}) ASSERT_TRUE(stepper->step(state, h));
  for (std::size_t k = 0; k < state.y.size(); ++k) EXPECT_NEAR(state.y[k], first.y[k], 1e-13);
  for (std::size_t k = 0; k < state.z.size(); ++k) EXPECT_NEAR(state.z[k], first.z[k], 1e-11);
}

// Closed chains whose joints say more than is needed.
TEST(BodyEnergyMomentum, RunsRedundantLoops) {
  for (const char* name : {"spatial-four-bar", "bennett-linkage", "sarrus-linkage", "double-cardan-shaft"}) {
    const Model m = load_model(fmt::format("{}/{}.toml", HINGE_EXAMPLES, name), {});
    const auto run = [&](const MethodChoice& method, SimulationOptions options) {
      Simulation s(m.system, method, std::move(options));
      s.start(m.start);
      s.until(0.1);
      return s.report();
    };
    const Report r = run(energy_momentum(), {.step = 0.001});
    SimulationOptions tight;
    tight.tolerance = {1e-10, 1e-10};
    const Report exact = run(explicit_runge_kutta(), tight);
    EXPECT_LT(r.constraint, 1e-13) << name;                                           // measured 2e-14
    EXPECT_LT(r.energy_error.value_or(1), 1e-13 * std::max(1.0, *r.energy)) << name;  // measured 8e-14
    for (std::size_t k = 0; k < r.final.y.size(); ++k) EXPECT_NEAR(r.final.y[k], exact.final.y[k], 1e-4) << name;
  }
}

TEST(BodyEnergyMomentum, CountsTurns) {
  const Model m = flying();
  SimulationOptions tight;
  tight.tolerance = {1e-10, 1e-10};
  Simulation e(m.system, explicit_runge_kutta(), tight), s(m.system, energy_momentum(), {.step = 0.002});
  for (Simulation* run : {&e, &s}) {
    run->start(m.start);
    run->until(3);
  }
  ASSERT_EQ(m.system->ny(), 22);
  EXPECT_NEAR(s.state().y[21], e.state().y[21], 1e-3);
  EXPECT_GT(std::abs(e.state().y[21]), 0.5);
}

// Springs of joints, gears and screws, whose angles are counted over turns, and rods: the energy is kept while shafts
// turn many times, and the motion is that of others.
TEST(BodyEnergyMomentum, CountsTheTurnsOfSpringsGearsAndScrews) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Draw draw(seed);
    const std::string text =
        fmt::format(R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "wheel"
mass = 1
inertia = [{}, 0.3, 0.4]
angular_velocity = [{}, 0, 0]
[[body]]
name = "pinion"
mass = 1
inertia = [0.05, 0.05, {}]
position = [0, 1, 0]
rotation = {{ axis = [0, 1, 0], angle = 0.7 }}
[[body]]
name = "nut"
mass = {}
inertia = [0.1, 0.1, 0.1]
position = [0, 1, 1]
[[joint]]
name = "main"
type = "revolute"
bodies = ["ground", "wheel"]
axis = [1, 0, 0]
stiffness = {}
[[joint]]
name = "side"
type = "revolute"
bodies = ["ground", "pinion"]
axis = [0, 0, 1]
[[joint]]
type = "gear"
joints = ["main", "side"]
ratio = {}
[[joint]]
name = "thread"
type = "screw"
bodies = ["pinion", "nut"]
axis = [0, 0, 1]
pitch = {}
[[joint]]
type = "prismatic"
bodies = ["ground", "nut"]
axis = [0, 0, 1]
[initial]
consistent = "project"
[integrate]
step = 0.005
end = 3
[output]
quantities.turn = "main_angle"
)",
                    draw.number(0.1, 0.4), draw.number(10, 25), draw.number(0.02, 0.05), draw.number(0.1, 0.3),
                    draw.number(0.01, 0.05), draw.number(-1.5, -0.5), draw.number(0.05, 0.2));
    const Model m = parse_model(text, "gears");
    const auto run = [&](const MethodChoice& method, SimulationOptions options) {
      Simulation s(m.system, method, std::move(options));
      s.start(m.start);
      s.until(3);
      return s.state();
    };
    Simulation s(m.system, energy_momentum(), {.step = 0.005});
    s.start(m.start);
    s.until(3);
    const State exact = run(explicit_runge_kutta(), {.tolerance = {1e-10, 1e-10}});
    EXPECT_LT(s.report().energy_error.value_or(1), 1e-10) << seed;
    EXPECT_LT(s.report().constraint, 1e-12) << seed;
    const auto turned = static_cast<std::size_t>(m.system->ny()) - 3;  // wheel, pinion, nut
    EXPECT_GT(std::abs(exact.y[turned]), 6) << seed;
    EXPECT_NEAR(s.state().y[turned] / exact.y[turned], 1, 2e-3) << seed;  // measured 6e-4, a tenth of a turn a step
  }
}

TEST(BodyEnergyMomentum, MeetsTheVelocityLevelWhereItIsAskedTo) {
  const Model m = flying();
  Simulation plain(m.system, energy_momentum(), {.step = 0.01}),
      projected(m.system, energy_momentum({.project_velocity = true}), {.step = 0.01});
  for (Simulation* s : {&plain, &projected}) {
    s->start(m.start);
    s->until(5);
  }
  EXPECT_GT(plain.report().hidden_constraint, 1e-6);
  EXPECT_LT(projected.report().hidden_constraint, 1e-13);
  EXPECT_LT(projected.report().constraint, 1e-14);
  EXPECT_LT(projected.report().energy_error.value_or(1), 1e-2);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(projected.state().y[k], plain.state().y[k], 0.05);
}

TEST(BodyEnergyMomentum, RefusesWhatItCannotTreat) {
  const auto refused = [](const std::string& more, const char* word) {
    const std::string text = std::string(R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 1]
position = [1, 0, 0]
)") + more + "[integrate]\nstep = 0.01\nend = 1\n";
    const Model m = parse_model(text, "refused");
    try {
      energy_momentum().bind(m.system);
      ADD_FAILURE() << more;
    } catch (const UnsuitableMethod& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  const std::string hinge =
      "[[joint]]\nname = \"j\"\ntype = \"revolute\"\nbodies = [\"ground\", \"a\"]\npoint = [0, 0, 0]\naxis = [0, 1, "
      "0]\n";
  refused("[[constraint]]\nequation = \"a_rotation[1] = a[1]\"\n", "quaternion");
  refused(hinge + "motor = { angle = \"t^2\" }\n", "without t");
  refused(hinge + "motor = { torque = \"-0.1*norm(j_force)*tanh(j_speed)\" }\n", "ideal joints");
}

}  // namespace
}  // namespace hinge::body_energy_momentum_test
