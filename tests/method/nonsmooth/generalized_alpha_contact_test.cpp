// Generalized-alpha with contacts: numbers of an independent implementation, orders, and no penetration with ggl.
#include <numbers>

#include <gtest/gtest.h>

#include "method/nonsmooth/contact_problems.hpp"
#include "method/nonsmooth/generalized_alpha.hpp"

namespace hinge::generalized_alpha_contact_test {
namespace {

using namespace contact_problems;

TEST(GeneralizedAlphaContacts, ImpactOscillatorErrorsAndOrders) {
  for (const auto& [formulation, key] : {std::pair{Formulation::index_3, "nonsmooth_generalized_alpha_rho0.8"},
                                         std::pair{Formulation::ggl, "nonsmooth_generalized_alpha_GGL_rho0.8"}}) {
    const MethodChoice method = generalized_alpha({0.8, formulation});
    std::vector<double> steps, smooth;
    for (const auto& row : golden()["impact_oscillator"]["data"][key]["rows"]) {
      const double h = row["h"], expected = row["q_err_all"];
      // measured 2e-11
      EXPECT_NEAR(largest_error(oscillator(), method, h, 10, oscillator_position) / expected, 1, 1e-9)
          << key << " " << h;
      steps.push_back(h);
      smooth.push_back(largest_error(oscillator(), method, h, 0.8, oscillator_position));
    }
    EXPECT_NEAR(fitted_order(steps, smooth), 2, 0.05) << key;
  }
}

TEST(GeneralizedAlphaContacts, HaveOrderOneWithImpacts) {
  const std::vector<double> h = log_steps(10.0, 2e-2, 1e-3, 12);
  for (const Formulation formulation : {Formulation::index_3, Formulation::ggl}) {
    std::vector<double> error;
    for (const double step : h)
      error.push_back(
          largest_error(oscillator(), generalized_alpha({0.8, formulation}), step, 10, oscillator_position));
    EXPECT_NEAR(fitted_order(h, error), 1.0, 0.15) << formulation_name(formulation);
  }
}

TEST(GeneralizedAlphaContacts, TwoLevelsDoNotPenetrate) {
  const auto penetration = [](Formulation formulation) {
    Simulation run(ball(0.5).system, generalized_alpha({0.8, formulation}), {.step = 1e-2});
    run.start(ball(0.5).start);
    run.until(2);
    EXPECT_NEAR(run.state().z[0], 0, 0.2);
    return run.report().contacts->penetration;
  };
  EXPECT_LT(penetration(Formulation::ggl), 1e-14);
  EXPECT_GT(penetration(Formulation::index_3), 1e-4);  // the control
}

constexpr double slope = 20 * std::numbers::pi / 180;

// On an incline below the angle of friction nothing moves; before the jumps of the position had a tangential part, ggl
// crept by (h/2) g sin a per second, 0.168 in this run.
TEST(GeneralizedAlphaContacts, StickingContactsDoNotCreep) {
  for (const Formulation formulation : {Formulation::index_3, Formulation::ggl}) {
    const Scene scene = incline(0.5, slope, 0);
    Simulation run(scene.system, generalized_alpha({0.8, formulation}), {.step = 1e-2});
    run.start(scene.start);
    run.until(10);
    for (const double q : run.state().y) EXPECT_NEAR(q, 0, 1e-15) << formulation_name(formulation);  // measured 3e-17
  }
}

TEST(GeneralizedAlphaContacts, BlockStopsAfterTheRightWay) {
  const double distance = 1.5949285114815;
  for (const Formulation formulation : {Formulation::index_3, Formulation::ggl})
    for (const auto& [h, error] : {std::pair{1e-2, 2e-5}, std::pair{1e-3, 5e-8}}) {  // measured 1.57e-5, 4.2e-8
      const Scene scene = incline(0.5, slope, 2);
      Simulation run(scene.system, generalized_alpha({0.8, formulation}), {.step = h});
      run.start(scene.start);
      run.until(3);
      EXPECT_NEAR(run.state().y[1], distance, error) << formulation_name(formulation) << " " << h;
      EXPECT_LT(run.report().contacts->penetration, 1e-15);
      // what friction took is what is missing; measured 3e-13
      EXPECT_NEAR(run.report().contacts->friction_loss, *run.report().energy_error, 1e-11);
      EXPECT_NEAR(run.report().contacts->impact_loss, 0, 1e-11);
    }
}

// A mass that couples both directions: friction moves the gap, and the contact neither opens nor creeps. The push to
// and fro stays within the cone, so the place is that of the start up to h^2 times the change of the acceleration.
TEST(GeneralizedAlphaContacts, FrictionDoesNotOpenAContact) {
  for (const double coupling : {0.5, -0.5}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 2), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v) + coupling * v[0] * v[1]);
    l.potential(gravity * q[1]);
    l.force(q, Vector{3.0 * sin(7.0 * l.t()), 0.0});
    l.unilateral(q[1], {.name = "floor", .friction = 0.5, .slip = {v[0]}});
    Simulation run(l, generalized_alpha(), {.step = 1e-2});
    run.start({.position = {0, 0}, .velocity = {0, 0}});
    for (int k = 0; k < 1000; ++k) {
      run.step();
      ASSERT_NEAR(run.state().y[1], 0, 1e-15);
      ASSERT_NEAR(run.state().y[0], 0, 1e-4);  // measured 2e-5, not growing
    }
    EXPECT_NEAR(run.state().z[0], 0, 1e-14);
  }
}

// The way that the position is corrected by goes along the weight: without it the losses of the report would not be
// the energy that is missing.
TEST(GeneralizedAlphaContacts, LossesAreTheEnergyThatIsMissing) {
  for (const Formulation formulation : {Formulation::index_3, Formulation::ggl}) {
    Simulation run(ball(0.5).system, generalized_alpha({0.8, formulation}), {.step = 1e-2});
    run.start(ball(0.5).start);
    run.until(2);
    EXPECT_NEAR(run.report().contacts->impact_loss, gravity - *run.report().energy, 1e-11)
        << formulation_name(formulation);
  }
}

// At the origin and at rest rounding is that of the forces, not of zero.
TEST(GeneralizedAlphaContacts, RestAtTheOrigin) {
  for (const Formulation formulation : {Formulation::index_3, Formulation::ggl})
    for (const double h : {1e-1, 1e-2, 1e-3}) {
      Lagrangian l;
      const Vector q = l.coordinates("q", 2), v = l.velocity(q);
      l.kinetic(0.5 * dot(v, v));
      l.potential(gravity * (q[1] * std::cos(0.3) + q[0] * std::sin(0.3)));
      l.unilateral(q[1], {.name = "floor", .friction = 0.5});
      Simulation run(l, generalized_alpha({0.8, formulation}), {.step = h});
      run.start({.position = {0, 0}, .velocity = {0, 0}});
      ASSERT_NO_THROW(run.until(100 * h)) << formulation_name(formulation) << " " << h;
      EXPECT_NEAR(run.state().y[0], 0, 1e-14);
    }
}

}  // namespace
}  // namespace hinge::generalized_alpha_contact_test
