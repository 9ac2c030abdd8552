// Claims about the times of rows: every multiple of the interval once, in order, however far the time is from zero and
// however short the interval; and a run among millions of rows can be told to stop.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::schedule_test {
namespace {

struct Oscillator {
  Lagrangian system;
  Oscillator() {
    const Expression x = system.coordinate("x");
    system.kinetic(0.5 * system.velocity(x) * system.velocity(x));
    system.potential(0.5 * x * x);
  }
  Trajectory rows(double start, double end, double interval) const {
    Simulation run(system, explicit_runge_kutta(), {.tolerance = {1e-6, 1e-6}, .start = start, .interval = interval});
    run.keep_rows();
    run.start({.position = {1}});
    run.until(end);
    return run.trajectory();
  }
};

// Start 10^-3 to 10^15, intervals 10^-7 to 10^-1 of the run: among them many where the quotient of rounded times falls
// short of the multiple.
TEST(Schedule, EveryMultipleIsRecordedOnceFarFromZero) {
  const Oscillator oscillator;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  for (int k = 0; k < 60; ++k) {
    const double start = std::pow(10, -3 + 12 * uniform(random)), interval = std::pow(10, -3 + 2 * uniform(random));
    const int count = 20 + static_cast<int>(200 * uniform(random));
    const double end = start + (count + 0.5) * interval;
    const std::vector<double> t = oscillator.rows(start, end, interval).times();
    ASSERT_EQ(t.size(), static_cast<std::size_t>(count) + 2) << start << " " << interval;
    for (std::size_t n = 0; n + 1 < t.size(); ++n)
      ASSERT_EQ(t[n], start + static_cast<double>(n) * interval) << start << " " << interval;
    EXPECT_EQ(t.back(), end);
  }
}

TEST(Schedule, AnIntervalBelowTheResolutionOfTimeRecordsEachTimeOnce) {
  const double start = 1099511627776, resolution = std::exp2(-12);  // 2^40
  const std::vector<double> t = Oscillator().rows(start, start + 1, resolution / 7).times();
  for (std::size_t n = 1; n < t.size(); ++n) ASSERT_EQ(t[n], t[n - 1] + resolution);
  EXPECT_EQ(t.size(), 4097U);
}

TEST(Schedule, ARunAmongMillionsOfRowsCanBeToldToStop) {
  const Oscillator oscillator;
  Simulation run(oscillator.system, explicit_runge_kutta(), {.tolerance = {1e-3, 1e-3}, .interval = 1e-12});
  long rows = 0;
  double last = -1;
  run.on_row([&](const Row& row) {
    ++rows;
    EXPECT_GT(row["t"], last);
    last = row["t"];
  });
  run.on_progress([](double) { return false; });
  run.start({.position = {1}});
  run.until(1);
  EXPECT_EQ(run.report().status, RunStatus::stopped);
  EXPECT_GT(rows, 10);
  EXPECT_EQ(run.state().t, last);
  EXPECT_LT(last, 1);
}

}  // namespace
}  // namespace hinge::schedule_test
