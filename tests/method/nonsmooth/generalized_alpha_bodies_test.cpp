// generalized-alpha on bodies in space, which move by exponentials: order 2 in positions, velocities and multipliers,
// joints on both levels at round-off, stiff motions damped.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::generalized_alpha_bodies_test {
namespace {

// A double pendulum in space: a spherical joint, then a hinge with a damper; nothing is symmetric.
Model chain() {
  return parse_model(R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "a"
mass = 1
inertia = [0.2, 0.3, 0.45]
position = [0.5, 0.1, 0]
angular_velocity = [2, 1, 3]
[[body]]
name = "b"
mass = 0.7
inertia = [0.1, 0.25, 0.2]
position = [1.4, 0.1, 0]
rotation = { axis = [1, 2, 2], angle = 0.8 }
[[joint]]
type = "spherical"
bodies = ["ground", "a"]
point = [0, 0, 0]
[[joint]]
type = "revolute"
bodies = ["a", "b"]
point = [1, 0, 0.1]
axis = [0.36, 0.48, 0.8]
damping = 0.4
[initial]
consistent = "project"
[integrate]
method = "generalized-alpha"
step = 0.01
end = 1
)",
                     "chain");
}

State end_of(const Model& m, const MethodChoice& method, SimulationOptions options, Report* report = nullptr) {
  Simulation s(m.system, method, std::move(options));
  s.start(m.start);
  s.until(0.5);
  if (report) *report = s.report();
  return s.state();
}

std::array<double, 3> off(const State& a, const State& b) {
  std::array<double, 3> e{};
  for (std::size_t k = 0; k < a.y.size(); ++k) e[0] = std::max(e[0], std::abs(a.y[k] - b.y[k]));
  for (std::size_t k = 0; k < a.z.size(); ++k) e[1] = std::max(e[1], std::abs(a.z[k] - b.z[k]));
  for (std::size_t k = 0; k < a.psi.size(); ++k) e[2] = std::max(e[2], std::abs(a.psi[k] - b.psi[k]));
  return e;
}

TEST(GeneralizedAlphaBodies, HasOrderTwoInEverything) {
  const Model m = chain();
  SimulationOptions tight;
  tight.tolerance = {1e-12, 1e-12};
  const State exact = end_of(m, explicit_runge_kutta(), tight);
  for (const Formulation form : {Formulation::ggl, Formulation::index_3}) {
    std::vector<std::array<double, 3>> errors;
    for (const double h : {0.005, 0.0025, 0.00125}) {
      Report report;
      errors.push_back(off(end_of(m, generalized_alpha({.formulation = form}), {.step = h}, &report), exact));
      EXPECT_LT(report.constraint, 1e-14);
      if (form == Formulation::ggl) {
        EXPECT_LT(report.hidden_constraint, 1e-13);
      }
    }
    for (std::size_t k = 1; k < errors.size(); ++k)
      for (std::size_t part = 0; part < 3; ++part) {
        const double slope = std::log2(errors[k - 1][part] / errors[k][part]);
        EXPECT_GT(slope, 1.85) << part << " " << k << " " << formulation_name(form);
        EXPECT_LT(slope, 2.15) << part << " " << k << " " << formulation_name(form);
      }
  }
}

// A damper of 3e4 N s/m: steps of 0.01 are forty times as long as the decay of the fastest motion.
TEST(GeneralizedAlphaBodies, TakesLongStepsOfStiffMechanisms) {
  const Model m = load_model(HINGE_EXAMPLES "/governor.toml", {});
  SimulationOptions tight;
  tight.tolerance = {1e-9, 1e-9};
  const State exact = end_of(m, radau(), tight);
  const State s = end_of(m, generalized_alpha({.rho = 0.5}), {.step = 0.01});
  EXPECT_NEAR(s.y[7 * 3 + 2], exact.y[7 * 3 + 2], 1e-4);
  EXPECT_NEAR(s.z[5], exact.z[5], 0.01 * exact.z[5]);
}

// ---- Contacts -----------------------------------------------------------------------------------------------------

State with_contacts(const std::string& bodies, const MethodChoice& method, double step, double end,
                    Report* report = nullptr) {
  const Model m = parse_model(
      "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = "
      "{ plane = [0, 0, 1] }\n" +
          bodies + "[integrate]\nstep = 0.01\nend = 1\n",
      "contacts");
  Simulation s(m.system, method, {.step = step});
  s.start(m.start);
  s.until(end);
  if (report) *report = s.report();
  return s.state();
}

// A ball that slides with spin across its way, and rolls in the end: what event-driven says, with first order at least,
// and never below the floor.
TEST(GeneralizedAlphaBodies, ABallSlidesAndRolls) {
  const std::string ball =
      "friction = 0.2\n[[body]]\nname = \"ball\"\nmass = 2\nshape = { sphere = 0.1 }\nfriction = 0.2\nposition = [0, "
      "0, "
      "0.1]\nvelocity = [3, 0, 0]\nangular_velocity = [20, 0, 7]\n";
  const State exact = with_contacts(ball, make_method("event-driven", {}), 0.01, 1);
  double before = 0;
  for (const double h : {0.004, 0.002, 0.001}) {
    Report r;
    const State s = with_contacts(ball, generalized_alpha(), h, 1, &r);
    double error = 0;
    for (std::size_t k = 0; k < 3; ++k) error = std::max(error, std::abs(s.y[k] - exact.y[k]));
    EXPECT_LT(error, 2 * h) << h;
    if (before > 0) {
      EXPECT_LT(error, 0.7 * before) << h;
    }
    before = error;
    ASSERT_TRUE(r.contacts);
    EXPECT_LT(r.contacts->penetration, 1e-13);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(s.z[k], exact.z[k], 50 * h) << k;  // spins: along axes that turn
  }
}

// Bounces of spheres that spin, one on another and both on the floor; and a box that falls on corners.
TEST(GeneralizedAlphaBodies, BodiesBounceAsElsewhere) {
  const std::string spheres =
      "[[body]]\nname = \"a\"\nmass = 2\nshape = { sphere = 0.1 }\nposition = [0, 0, 0.3]\nrestitution = "
      "0.5\nangular_velocity = [3, 0, 9]\n[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = "
      "[0.03, 0.02, "
      "0.9]\nrestitution = 0.5\n";
  const State exact = with_contacts(spheres, make_method("event-driven", {}), 0.01, 0.4);
  for (const double h : {0.001, 0.0005}) {
    const State s = with_contacts(spheres, generalized_alpha(), h, 0.4);
    for (std::size_t k = 0; k < exact.y.size(); ++k) EXPECT_NEAR(s.y[k], exact.y[k], 20 * h) << k;
  }
  const std::string box =
      "[[body]]\nname = \"box\"\nmass = 1\nshape = { box = [0.3, 0.2, 0.1] }\nposition = [0, 0, 0.4]\nrotation = { "
      "axis = "
      "[1, 2, 0.5], angle = 0.7 }\nangular_velocity = [1, 2, 3]\n";
  for (const Formulation f : {Formulation::ggl, Formulation::index_3}) {
    Report r;
    const State s = with_contacts(box, generalized_alpha({0.8, f}), 0.0005, 0.6, &r);
    ASSERT_TRUE(r.contacts);
    EXPECT_GT(r.contacts->impacts, 0);
    EXPECT_LT(r.contacts->penetration, f == Formulation::ggl ? 1e-9 : 2e-3);
    EXPECT_TRUE(std::isfinite(s.y[2]));
    EXPECT_LT(s.y[2], 0.25);
  }
}

}  // namespace
}  // namespace hinge::generalized_alpha_bodies_test
