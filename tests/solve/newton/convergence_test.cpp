#include "solve/newton/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace hinge::convergence_test {
namespace {

using Verdict = NewtonVerdict;

/// Judges increments until there is a verdict; `size(k)` is increment k = 0, 1, ...
template <class Size>
Verdict run(Convergence& convergence, Size&& size) {
  for (int k = 0; k < 10000; ++k) {
    const Verdict verdict = convergence.judge(size(k));
    if (verdict != Verdict::go_on) return verdict;
  }
  ADD_FAILURE() << "no verdict after 10000 increments";
  return Verdict::go_on;
}

TEST(Convergence, OneIncrementBelowRoundOffIsEnough) {
  Convergence c(10);
  EXPECT_EQ(c.judge(0.9), Verdict::converged);
  EXPECT_EQ(c.count(), 1);
  EXPECT_EQ(Convergence(10).judge(0), Verdict::converged);
}

TEST(Convergence, GeometricSequencesConvergeToRoundOff) {
  for (const double theta : {1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.8}) {
    Convergence c(1000);
    EXPECT_EQ(run(c, [&](int k) { return 1e12 * std::pow(theta, k); }), Verdict::converged) << theta;
    EXPECT_LE(c.last() * theta / (1 - theta), 100) << theta;  // the error left, in units of round-off: measured 29
  }
}

// Substeps of a composition with rods: 4.4 units of round-off in the 50th increment, by 0.98 less each time.
TEST(Convergence, WhatCreepsNearRoundOffIsAcceptedAtTheEnd) {
  const auto creep = [](double from, double theta) {
    Convergence c(50);
    c.judge(1e10);
    c.matrix_renewed();
    return run(c, [&](int k) { return from * std::pow(theta, k); });
  };
  EXPECT_EQ(creep(11, 0.98), Verdict::converged);
  EXPECT_EQ(creep(100, 0.98), Verdict::converged);
  EXPECT_EQ(creep(1000, 0.98), Verdict::failed);  // 380 units at the end
  EXPECT_EQ(creep(11, 0.9999), Verdict::failed);  // 1e5 units may be left
}

TEST(Convergence, ContractionSavesTheLastIncrement) {
  Convergence c(50);  // theta = 1e-4: the error left after 100 is 0.01
  EXPECT_EQ(c.judge(1e10), Verdict::go_on);
  EXPECT_EQ(c.judge(1e6), Verdict::go_on);
  EXPECT_EQ(c.judge(1e2), Verdict::converged);
  EXPECT_DOUBLE_EQ(c.theta(), 1e-4);
}

TEST(Convergence, OneContractionIsNotBelieved) {
  Convergence c(50);  // nor one that was seen before the matrix changed
  EXPECT_EQ(c.judge(1e10), Verdict::go_on);
  EXPECT_EQ(c.judge(2), Verdict::go_on);
  Convergence d(50);
  EXPECT_EQ(d.judge(1e10), Verdict::go_on);
  EXPECT_EQ(d.judge(1e6), Verdict::go_on);
  d.matrix_renewed();
  EXPECT_EQ(d.judge(1e2), Verdict::go_on);
}

TEST(Convergence, QuadraticSequencesConverge) {
  Convergence c(50);
  double size = 1e14;
  EXPECT_EQ(run(c, [&](int) { return std::exchange(size, size * size * 1e-16); }), Verdict::converged);
  EXPECT_LE(c.count(), 6);  // 1e14, 1e12, 1e8, 1
}

TEST(Convergence, StagnationAtRoundOffIsConvergence) {
  // Increments that fall and then are noise: somewhat larger than estimated, but not shrinking any more.
  for (const double noise : {2.0, 20.0, 900.0})
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> uniform(0.3, 1);
      Convergence c(50);
      c.matrix_renewed();
      EXPECT_EQ(run(c, [&](int k) { return 1e12 * std::pow(0.01, k) + noise * uniform(random); }), Verdict::converged)
          << noise;
      EXPECT_LE(c.count(), 25) << noise;  // measured 17
    }
}

TEST(Convergence, StagnationIsRememberedAsNoiseAndSlowlyForgotten) {
  const auto noisy = [](int k) { return 1e12 * std::pow(0.01, k) + (k % 2 ? 900 : 700); };
  Convergence c(50);
  c.matrix_renewed();
  EXPECT_EQ(c.noise(), 1);
  EXPECT_EQ(run(c, noisy), Verdict::converged);
  const int first = c.count();
  c.begin();
  const double noise = c.noise();
  EXPECT_GT(noise, 900);
  EXPECT_EQ(run(c, noisy), Verdict::converged);
  EXPECT_LT(c.count(), first);
  c.begin();
  EXPECT_LT(c.noise(), noise);
  EXPECT_GT(c.noise(), 0.9 * noise);
  const double after = c.noise();
  c.begin();
  EXPECT_EQ(c.noise(), after) << "nothing was learnt in between";
  c.forget();
  EXPECT_EQ(c.noise(), 1);
}

TEST(Convergence, StagnationWithAnOldMatrixIsNotBelieved) {  // it may be slow divergence
  Convergence c(50);
  EXPECT_EQ(run(c, [](int k) { return 300 + 200 * std::sin(k); }), Verdict::failed);
  EXPECT_TRUE(Convergence(50, {.renew_above = -1}).renew()) << "and asks for a new one";
}

TEST(Convergence, WithAnExactMatrixSmallIncrementsThatDoNotShrinkAreRounding) {
  const auto growing = [](int k) { return 100 + 30.0 * k; };  // no stagnation: it leaves the band, slowly
  Convergence exact(20, {.full = true, .quadratic = true}), kept(20);
  EXPECT_EQ(run(exact, growing), Verdict::converged);
  EXPECT_EQ(exact.count(), 5);
  EXPECT_EQ(run(kept, growing), Verdict::failed);
  const double last = exact.last();
  exact.begin();
  EXPECT_EQ(exact.noise(), 2 * last);
}

TEST(Convergence, MatrixIsRenewedAsThePolicySays) {
  Convergence kept(50, {.renew_above = 0.1}), full(50, {.renew_above = 0.1, .full = true});
  EXPECT_FALSE(kept.renew());
  EXPECT_TRUE(full.renew());
  for (Convergence* c : {&kept, &full}) {
    c->judge(1e12);
    c->judge(0.5e12);
    EXPECT_TRUE(c->renew()) << "contraction 0.5";
    c->judge(1e10);
    EXPECT_FALSE(c->renew()) << "contraction 0.02";
  }
  kept.matrix_renewed();
  kept.judge(3e9);
  EXPECT_TRUE(kept.renew()) << "slow and far from round-off, although it is new";
  kept.judge(5e3);
  kept.judge(4e3);
  EXPECT_FALSE(kept.renew()) << "slow, but near round-off, and it is new";
}

TEST(Convergence, LargeStagnationIsFailure) {
  Convergence c(30);
  EXPECT_EQ(run(c, [](int) { return 1e8; }), Verdict::failed);
  EXPECT_EQ(c.count(), 30);
}

TEST(Convergence, SlowContractionIsNotTakenForStagnation) {
  Convergence c(1000);
  EXPECT_EQ(run(c, [](int k) { return 1e5 * std::pow(0.8, k); }), Verdict::converged);
  EXPECT_LE(c.last(), 20);  // measured 7
}

TEST(Convergence, GrowthIsFailure) {
  for (const double growth : {2.5, 5.0, 10.0, 100.0})
    for (const double start : {1e3, 1e8}) {
      Convergence c(50);
      EXPECT_EQ(run(c, [&](int k) { return start * std::pow(growth, k); }), Verdict::failed) << growth << " " << start;
      EXPECT_LE(c.count(), 10) << growth;  // measured 9
    }
}

TEST(Convergence, GrowthUpToTheLimitIsFailure) {
  Convergence c(4);  // 5, 50, 500, 5000: small, but not because of rounding
  EXPECT_EQ(run(c, [](int k) { return 5 * std::pow(10, k); }), Verdict::failed);
}

TEST(Convergence, NotANumberIsFailureAtOnce) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Convergence(10).judge(bad), Verdict::failed);
    Convergence c(10);
    EXPECT_EQ(c.judge(1e3), Verdict::go_on);
    EXPECT_EQ(c.judge(bad), Verdict::failed);
    EXPECT_FALSE(std::isfinite(c.last()));  // for the message
    EXPECT_EQ(c.count(), 2);
  }
}

TEST(Convergence, LimitCountsIncrements) {
  for (const int limit : {1, 2, 7}) {
    Convergence c(limit);
    EXPECT_EQ(run(c, [](int k) { return 1e15 * std::pow(0.95, k); }), Verdict::failed);
    EXPECT_EQ(c.count(), limit);
  }
}

}  // namespace
}  // namespace hinge::convergence_test
