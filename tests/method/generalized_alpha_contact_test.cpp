// Generalized-alpha with contacts: numbers of an independent implementation, orders, and no penetration with ggl.
#include <gtest/gtest.h>

#include "method/contact_problems.hpp"
#include "method/generalized_alpha.hpp"

namespace hinge {
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

}  // namespace
}  // namespace hinge
