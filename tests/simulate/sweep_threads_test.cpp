// Sweeps as C++ programs call them: systems that are made by the caller, several threads, and what callers do to them.
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/error.hpp"
#include "hinge/sweep.hpp"

namespace hinge::sweep_threads_test {
namespace {

using test::Folder;

// A pendulum of this length, made anew for every run.
SweptRun pendulum(std::span<const Setting> settings, const AttachRun& attach) {
  const double l = std::stod(settings[0].value);
  if (l < 0) throw InputError("a rod is longer than nothing");
  Lagrangian s;
  const Vector q = s.coordinates("q", 2), v = s.velocity(q);
  s.kinetic(0.5 * dot(v, v));
  s.potential(9.81 * q[1]);
  s.constrain(0.5 * (dot(q, q) - l * l));
  SweptRun run{Simulation(s, rattle(), {.step = 0.01}), 1};
  run.simulation.observe("height", q[1]);
  attach(run.simulation);
  run.simulation.start({.position = {l, 0}});
  return run;
}

SweepPlan lengths(const std::string& values) {
  SweepPlan plan;
  plan.vary("l=" + values);
  return plan;
}

TEST(SweepThreads, EveryThreadComputesWhatOneAloneDoes) {
  const Folder folder;
  const SweepPlan plan = lengths("1:2:24");
  SweepOptions options{.out = folder.file("one.csv")};
  options.extremes = {"height"};
  options.jobs = 1;
  const SweepOutcome one = sweep(plan, pendulum, options);
  options.out = folder.file("many.csv");
  options.jobs = 8;
  const SweepOutcome many = sweep(plan, pendulum, options);
  EXPECT_EQ(one.table, many.table);
  EXPECT_EQ(folder.read("one.csv"), folder.read("many.csv"));
  EXPECT_EQ(many.computed, 24U);
  EXPECT_TRUE(many.written);
  const ColumnSpread lowest = spread_of(many, "min(height)");
  EXPECT_EQ(lowest.count, 24U);
  EXPECT_NEAR(lowest.smallest, -2, 1e-3);  // measured -1.99992: the longest one is at its lowest point
  EXPECT_EQ(lowest.smallest_run, 23U);
}

TEST(SweepThreads, RunsThatCannotBeMadeFailAloneUnlessNoneCan) {
  const Folder folder;
  SweepOptions options{.out = folder.file("s.csv")};
  options.jobs = 2;
  const SweepOutcome outcome = sweep(lengths("1,-1,2"), pendulum, options);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].run, 1U);
  EXPECT_EQ(outcome.failures[0].text, "a rod is longer than nothing");
  EXPECT_EQ(outcome.finished, 3U);
  options.out = folder.file("none.csv");
  EXPECT_THROW(sweep(lengths("-1,-2"), pendulum, options), InputError);
  EXPECT_FALSE(folder.has("none.csv.parts"));
}

TEST(SweepThreads, CallbackStopsItAndItsExceptionArrives) {
  const Folder folder;
  SweepOptions options{.out = folder.file("s.csv")};
  options.jobs = 2;
  options.progress = [](const SweepProgress&) { return false; };
  const SweepOutcome stopped = sweep(lengths("1:2:20000"), pendulum, options);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_TRUE(stopped.written);
  EXPECT_LT(stopped.finished, 20000U);
  EXPECT_EQ(stopped.finished, stopped.computed);
  options.progress = [](const SweepProgress&) -> bool { throw std::domain_error("mine"); };
  options.out = folder.file("t.csv");
  EXPECT_THROW(sweep(lengths("1:2:20000"), pendulum, options), std::domain_error);
  EXPECT_TRUE(folder.has("t.csv.parts"));  // what is finished stays
}

TEST(SweepThreads, RowsOfAnotherWidthAreRefused) {
  const Folder folder;
  const MakeRun points = [](std::span<const Setting> settings, const AttachRun& attach) {
    Lagrangian s;
    const Vector q = s.coordinates("q", std::stoi(settings[0].value)), v = s.velocity(q);
    s.kinetic(0.5 * dot(v, v));
    SweptRun run{Simulation(s, rattle(), {.step = 0.1}), 1};
    attach(run.simulation);
    run.simulation.start({.position = std::vector<double>(q.size(), 0.0)});
    return run;
  };
  const SweepOutcome outcome = sweep(lengths("2,3"), points, {.out = folder.file("s.csv")});
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_NE(outcome.failures[0].text.find("leave the unknowns as they are"), std::string::npos);
}

}  // namespace
}  // namespace hinge::sweep_threads_test
