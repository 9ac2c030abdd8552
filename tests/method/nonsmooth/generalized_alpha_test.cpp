// Generalized-alpha: order 2 in all parts, also with a mass that is not constant; what rho does to the energy.
#include "method/nonsmooth/generalized_alpha.hpp"

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/explicit/explicit_problems.hpp"

namespace hinge::generalized_alpha_test {
namespace {

using namespace explicit_problems;

TEST(GeneralizedAlpha, HasOrderTwoInAllParts) {
  const std::pair<Problem, std::string> mechanisms[] = {
      {pendulum(), "pendulum"}, {hoop(), "hoop"}, {slider_crank(), "slider_crank"}};
  for (const auto& [problem, name] : mechanisms)
    for (const Formulation formulation : {Formulation::index_3, Formulation::ggl})
      for (const double rho : {0.0, 0.5, 0.8}) {
        const Errors o = orders(problem, name, generalized_alpha({rho, formulation}), 400);
        EXPECT_NEAR(o.y, 2, 0.1) << name << " " << rho << " " << formulation_name(formulation);
        EXPECT_NEAR(o.z, 2, 0.1) << name << " " << rho << " " << formulation_name(formulation);
        EXPECT_NEAR(o.psi, 2, 0.15) << name << " " << rho << " " << formulation_name(formulation);
      }
}

TEST(GeneralizedAlpha, KeepsTheLevelsOfItsFormulation) {
  const Levels ggl = levels(hoop(), generalized_alpha({0.8, Formulation::ggl}), 0.01, 2);
  EXPECT_LT(ggl.position, 1e-15);
  EXPECT_LT(ggl.velocity, 1e-13);
  const Levels three = levels(hoop(), generalized_alpha({0.8, Formulation::index_3}), 0.01, 2);
  EXPECT_LT(three.position, 1e-15);
  EXPECT_GT(three.velocity, 1e-6);
}

// A stiff spring hung on a slow motion: rho < 1 takes its oscillation away, rho = 1 does not.
TEST(GeneralizedAlpha, DissipatesHighFrequenciesOnlyBelowRhoOne) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 1), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(0.5e6 * dot(q, q));
  const auto energy_left = [&](double rho) {
    Simulation run(l, generalized_alpha({rho, Formulation::ggl}), {.step = 0.1});  // omega h = 100
    run.start({.position = {0.001}, .velocity = {0}});
    const double before = *run.report().energy;
    run.until(5.0);
    return *run.report().energy / before;
  };
  EXPECT_LT(energy_left(0.0), 1e-8);
  EXPECT_LT(energy_left(0.8), 1e-4);
  EXPECT_GT(energy_left(1.0), 0.2);
}

TEST(GeneralizedAlpha, RefusesWhatItCannotDo) {
  EXPECT_THROW(make_method("generalized-alpha", {{"rho", 1.5}}), InputError);
  EXPECT_THROW(make_method("generalized-alpha", {{"rho", -0.1}}), InputError);
  EXPECT_THROW(make_method("generalized-alpha", {{"formulation", std::string("index-1")}}), InputError);
  EXPECT_THROW(generalized_alpha().bind(problems::s2().system, {}), UnsuitableMethod);
}

}  // namespace
}  // namespace hinge::generalized_alpha_test
