// Steps in which a potential hardly changes, or its arguments hardly change relative to their size: the difference of
// the potential is then mostly rounding, and the energy has to be kept all the same.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::energy_small_change_test {
namespace {

template <class Potential>
double energy_error(int n, Potential potential, Start start, double h, double end, bool general = false) {
  Lagrangian l;
  const Vector q = l.coordinates("q", n), v = l.velocity(q);
  l.kinetic(dot(v, v) / 2.0);
  l.potential(potential(q));
  Simulation run(l, energy_momentum({.general = general}), {.step = h});
  run.start(start);
  run.until(end);
  EXPECT_LT(static_cast<double>(run.report().counters.iterations), 8 * end / h);  // Newton does not chatter
  return *run.report().energy_error;
}

// The midpoint gradient in the place of the discrete one has the errors 2.0e-5, 4.8e-4 and 4.7e-12 of these.
TEST(SmallChanges, OfLargeArgumentsKeepTheEnergy) {
  for (const bool general : {false, true}) {
    // rounding of the position alone is 1.5e-11
    EXPECT_LT(
        energy_error(
            1, [](const Vector& q) { return cos(q[0]); }, {.position = {1e5}, .velocity = {0.3}}, 0.5, 500, general),
        2e-10);  // measured 3.4e-11, general 3.2e-11
    // over many periods of the potential in a step the integral along the way does not serve
    EXPECT_LT(
        energy_error(
            1, [](const Vector& q) { return cos(q[0]); }, {.position = {1e5}, .velocity = {20}}, 0.5, 500, general),
        5e-10);  // measured 5.7e-13, 5.8e-11
    EXPECT_LT(energy_error(
                  2, [](const Vector& q) { return exp(q[0]) * (1e6 + q[1]) * 1e-6; },
                  {.position = {0, 0}, .velocity = {-0.4, 0.1}}, 0.1, 20, general),
              2e-14);  // measured 3.1e-15, 2.2e-15
  }
}

// Invariants of different sizes: the large ones hardly move, the small ones do. The midpoint gradient in the invariants
// loses 2.2e-4 of the first.
TEST(SmallChanges, BesideLargeInvariantsKeepTheEnergy) {
  for (const bool general : {false, true}) {
    const auto tether = [](const Vector& q) {
      return 3e6 / norm(q.segment(0, 3)) * pow(norm(q.segment(3, 3)) - 1.0, 2.0) * 10.0;
    };
    const Start start{.position = {7e6, 0, 0, 1.2, 0, 0.1}, .velocity = {0, 0, 0, 0.3, 0.5, 0}};
    EXPECT_LT(energy_error(6, tether, start, 0.05, 50, general), 1e-14);  // measured 2.1e-15, 1.2e-15
    for (const double c : {1e9, 1e11, 1e13})
      EXPECT_LT(energy_error(
                    2, [c](const Vector& q) { return exp(q[0]) * (c + q[1]) / c; },
                    {.position = {0, 0}, .velocity = {-0.4, 0.1}}, 0.1, 20, general),
                1e-14)
          << c;  // measured below 2.7e-15
  }
}

TEST(SmallChanges, OfAStiffSpringKeepTheEnergy) {
  const auto spring = [](const Vector& q) { return 5e7 * pow(norm(q) - 1.0, 2.0); };
  // k |r - 1| eps = 7e-14 is the rounding of this potential, the energy is 4.5e-4
  EXPECT_LT(energy_error(3, spring, {.position = {1.000003, 0, 0}, .velocity = {0, 0, 0}}, 1e-5, 0.01),
            2e-12);  // measured 3.1e-13
  EXPECT_LT(energy_error(3, spring, {.position = {1.000003, 0, 0}, .velocity = {0, 0.1, 0}}, 1e-5, 0.01),
            2e-12);  // measured 2.5e-13
}

// An angle of 1e-6: cos(q) has lost all digits of the motion, its derivatives have not.
TEST(SmallChanges, OfAPendulumNearItsRestAreThoseOfAnOscillator) {
  for (const bool general : {false, true})
    for (const double angle : {1e-3, 1e-6, 1e-9, 1e-30}) {
      Lagrangian l;
      const Vector q = l.coordinates("q", 1), v = l.velocity(q);
      l.kinetic(v[0] * v[0] / 2.0);
      l.potential(-cos(q[0]));
      Simulation run(l, energy_momentum({.general = general}), {.step = 0.1});
      run.start({.position = {angle}, .velocity = {0}});
      const auto energy = [&] {  // relative to that of rest
        const double s = 2 * std::sin(run.state().y[0] / 2) / angle, w = run.state().z[0] / angle;
        return (s * s + w * w) / 2;
      };
      const double start = energy();
      double worst = 0;
      for (int k = 1; k <= 1000; ++k) {
        run.until(0.1 * k);
        worst = std::max(worst, std::abs(energy() / start - 1));
      }
      EXPECT_LT(worst, 5e-14) << angle;  // measured 6.6e-15
    }
}

}  // namespace
}  // namespace hinge::energy_small_change_test
