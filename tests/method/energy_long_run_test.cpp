// A million steps of the double spherical pendulum: energy and angular momentum are at round-off, which adds up to a
// random walk and to nothing more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "method/energy_problems.hpp"
#include "method/properties.hpp"

namespace hinge {
namespace {

#ifdef NDEBUG
constexpr long steps = 1000000;
#else
constexpr long steps = 30000;  // sanitizers and unoptimised code have the time for these
#endif

/// What a random walk has: rms over the first hundredth and over all of the run, and the largest deviation.
struct Walk {
  double most = 0, early = 0, squares = 0;
  long count = 0;
  void add(double x) {
    ++count;
    most = larger(most, std::abs(x));
    squares += x * x;
    if (count == steps / 100) early = rms();
  }
  double rms() const { return std::sqrt(squares / static_cast<double>(count)); }
};

TEST(LongRun, KeepsEnergyAndMomentumOfThePendulumForAMillionSteps) {
  properties::Run run(problems::spherical_pendulum(true), energy_momentum());
  const double energy = run.energy(), momentum = problems::angular_momentum(run.state().y, run.momentum(), 1);
  EXPECT_NEAR(momentum, -6, 1e-14);
  Walk of_energy, of_momentum;
  for (long k = 0; k < steps; ++k) {
    run.step(1e-2);
    of_energy.add(run.energy() - energy);
    of_momentum.add(problems::angular_momentum(run.state().y, run.state().z, 1) - momentum);  // unit masses: p = v
  }
  for (const auto& [name, walk] : {std::pair{"energy", of_energy}, {"momentum", of_momentum}}) {
    testing::Test::RecordProperty(fmt::format("{}_most", name), fmt::format("{:.3g}", walk.most));
    testing::Test::RecordProperty(fmt::format("{}_growth", name), fmt::format("{:.3g}", walk.rms() / walk.early));
  }
  EXPECT_LT(of_energy.most, 1e-10);
  EXPECT_LT(of_momentum.most, 1e-10);
  // sqrt(n) is 10, a steady drift 100
  EXPECT_LT(of_energy.rms() / of_energy.early, 30);
  EXPECT_LT(of_momentum.rms() / of_momentum.early, 30);
}

}  // namespace
}  // namespace hinge
