// A million steps of the double spherical pendulum: energy and angular momentum are at round-off, which adds up to a
// random walk and to nothing more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "method/energy/energy_problems.hpp"
#include "method/properties.hpp"

namespace hinge::energy_long_run_test {
namespace {

#ifdef NDEBUG
constexpr long steps = 1000000;
#else
constexpr long steps = 30000;  // sanitizers and unoptimised code have the time for these
#endif

TEST(LongRun, KeepsEnergyAndMomentumOfThePendulumForAMillionSteps) {
  properties::Run run(problems::spherical_pendulum(true), energy_momentum());
  const double energy = run.energy(), momentum = problems::angular_momentum(run.state().y, run.momentum(), 1);
  EXPECT_NEAR(momentum, -6, 1e-14);
  properties::Walk of_energy(steps), of_momentum(steps);
  for (long k = 0; k < steps; ++k) {
    run.step(1e-2);
    of_energy.add(run.energy() - energy);
    of_momentum.add(problems::angular_momentum(run.state().y, run.state().z, 1) - momentum);  // unit masses: p = v
  }
  for (const auto& [name, walk] : {std::pair{"energy", of_energy}, {"momentum", of_momentum}}) {
    testing::Test::RecordProperty(fmt::format("{}_most", name), fmt::format("{:.3g}", walk.most()));
    testing::Test::RecordProperty(fmt::format("{}_reach", name), fmt::format("{:.3g}", walk.reach()));
  }
  EXPECT_LT(of_energy.most(), 1e-11);    // measured 2.0e-12, of energies up to 30
  EXPECT_LT(of_momentum.most(), 5e-12);  // measured 6.6e-13
  // 1 is usual for a random walk, 10 is a drift
  EXPECT_LT(of_energy.reach(), 4);    // measured 1.1
  EXPECT_LT(of_momentum.reach(), 4);  // measured 2.0
}

}  // namespace
}  // namespace hinge::energy_long_run_test
