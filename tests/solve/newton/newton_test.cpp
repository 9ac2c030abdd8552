#include "solve/newton/newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace hinge::newton_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// x^2 = 2 with f' taken anew, or kept from the first guess; in units of round-off for Convergence.
struct SquareRoot {
  double x = 2, slope = 0, unit = 1;
  int renewals = 0;
  double improve(bool renew) {
    if (renew) {
      slope = 2 * x;
      ++renewals;
    }
    const double dx = (2 - x * x) / slope;
    x += dx;
    return std::abs(dx) / unit;
  }
};

TEST(Newton, ConvergesToRoundOff) {
  SquareRoot root;
  Settling rule({.limit = 20, .floor = 4e-16, .stagnation = 1e-12});
  EXPECT_EQ(newton(rule, [&] { return Increment(root.improve(true), root.x); }), NewtonTrouble::none);
  EXPECT_NEAR(root.x, std::numbers::sqrt2, 3e-16);  // measured 0
  EXPECT_LE(rule.count(), 7);                       // measured 6
}

TEST(Newton, BooksHaveTheIncrementThatAnIterationEndedWith) {
  struct {
    long solved = 0;
    double increments = 0;
  } books;
  std::vector<double> sizes;
  SquareRoot root;
  Settling rule({.limit = 20, .floor = 1e-9, .stagnation = 1e-12});
  const auto improve = [&] {
    sizes.push_back(root.improve(true));
    return Increment(sizes.back(), root.x);
  };
  EXPECT_EQ(newton(Booked(rule, books), improve), NewtonTrouble::none);
  EXPECT_EQ(books.solved, 1);
  EXPECT_DOUBLE_EQ(books.increments, sizes.back() / (1e-9 * root.x));
  EXPECT_LT(books.increments, 1);  // measured 1e-3
  EXPECT_GT(sizes[sizes.size() - 2], 1e-9 * root.x) << "the one before was not enough";

  // what fails is not booked, nor where there was nothing to improve
  double size = 1;
  EXPECT_EQ(newton(Booked(Settling({.limit = 5, .floor = 1e-15}), books), [&] { return Increment(size *= 0.4); }),
            NewtonTrouble::slow);
  EXPECT_EQ(newton(Booked(rule, books), [] { return Increment(already_solved); }), NewtonTrouble::none);
  EXPECT_EQ(books.solved, 1);

  Convergence to_rounding(20);  // in units of round-off already
  root = {.unit = 2e-16};
  const double before = books.increments;
  EXPECT_EQ(newton(Booked(to_rounding, books), improve), NewtonTrouble::none);
  EXPECT_DOUBLE_EQ(books.increments - before, to_rounding.last());
  EXPECT_EQ(books.solved, 2);
}

TEST(Newton, BooksOfEquationsThatAreUncertainAreInTheirUnits) {
  struct {
    long solved = 0;
    double increments = 0;
  } books;
  Convergence rule(20, {.quadratic = true, .noise = 1e4});
  EXPECT_EQ(newton(Booked(rule, books), [] { return Increment(5e3); }), NewtonTrouble::none);
  EXPECT_EQ(books.solved, 1);
  EXPECT_DOUBLE_EQ(books.increments, 0.5);  // one that ends the iteration at once is not larger than 1

  double size = 1e8;  // what is solved exactly is solved
  EXPECT_EQ(newton(Booked(rule, books), [&] { return Increment(std::exchange(size, 0)); }), NewtonTrouble::none);
  EXPECT_EQ(books.solved, 2);
  EXPECT_DOUBLE_EQ(books.increments, 0.5);
}

TEST(Newton, AnIncrementThatIsNoNumberIsTheLast) {
  Convergence rule(20);
  double size = 1e3;
  const auto improve = [&] { return Increment(std::exchange(size, std::nan(""))); };
  EXPECT_EQ(newton(rule, improve), NewtonTrouble::not_finite);
  EXPECT_TRUE(std::isnan(rule.last()));
}

TEST(Newton, StopsWhereIncrementsStagnateAndOnlyThere) {
  // 1e-3, 1e-6, 1e-9, then noise of 1e-13: with the level below the noise it is not believed
  for (const double level : {1e-12, 1e-15}) {
    Settling rule({.limit = 30, .floor = 4e-16, .stagnation = level});
    double size = 1;
    const NewtonTrouble trouble =
        newton(rule, [&] { return Increment((size *= 1e-3) + (rule.count() % 2 ? 1.1e-13 : 1e-13)); });
    EXPECT_EQ(trouble, level > 1e-13 ? NewtonTrouble::none : NewtonTrouble::slow) << level;
    EXPECT_EQ(rule.count(), level > 1e-13 ? 6 : 30) << level;
  }
}

TEST(Newton, SteadyContractionIsNotStagnation) {
  Settling rule({.limit = 100, .floor = 1e-15, .stagnation = 1e-9});
  double size = 1;
  EXPECT_EQ(newton(rule, [&] { return Increment(size *= 0.4); }), NewtonTrouble::none);
  EXPECT_LE(size, 1e-15);
}

TEST(Newton, PatienceEndsAndAsksForLess) {
  const auto count = [](double late, double late_shrinking) {
    Settling rule({.limit = 40, .floor = 1.5e-16, .patience = 10, .late = late, .late_shrinking = late_shrinking});
    double size = 1;
    newton(rule, [&] { return Increment(size *= 0.1); });
    return rule.count();
  };
  EXPECT_EQ(count(1e-8, 0), 11) << "small enough, late";
  EXPECT_EQ(count(1e-8, 0.5), 16) << "still shrinking";
  EXPECT_EQ(count(0, 0), 16);
}

TEST(Newton, OldMatrixIsNotTrustedWithStagnation) {
  for (const bool renewed : {false, true}) {
    Settling rule({.limit = 30, .floor = 1e-16, .stagnation = 1e-9, .with_old_matrix = 1e-13});
    const auto trouble = newton(rule, [&] {
      if (renewed) rule.matrix_renewed();
      return Increment(1e-10);
    });
    EXPECT_EQ(trouble, renewed ? NewtonTrouble::none : NewtonTrouble::slow);
  }
}

TEST(Newton, DivergesHonestly) {
  double size = 1;
  EXPECT_EQ(newton(Settling({.limit = 10, .floor = 1e-15}), [&] { return Increment(size *= 3); }), NewtonTrouble::slow);
  Convergence rule(50);
  size = 1e3;
  EXPECT_EQ(newton(rule, [&] { return Increment(size *= 3); }), NewtonTrouble::slow);
  EXPECT_LE(rule.count(), 10);  // measured 8
}

TEST(Newton, TellsItsTroublesApart) {
  const Settling::Policy policy{.limit = 10, .floor = 1e-15};
  EXPECT_EQ(newton(Settling(policy), [] { return Increment(no_increment); }), NewtonTrouble::singular);
  EXPECT_EQ(newton(Settling(policy), [] { return Increment(not_a_number); }), NewtonTrouble::not_finite);
  EXPECT_EQ(newton(Settling(policy), [] { return Increment(HUGE_VAL); }), NewtonTrouble::not_finite);
  EXPECT_EQ(newton(Settling(policy), [] { return Increment(1.0); }), NewtonTrouble::slow);
  EXPECT_EQ(newton(Settling(policy), [] { return Increment(already_solved); }), NewtonTrouble::none);
  EXPECT_FALSE(solved_by_newton(Settling(policy), [] { return Increment(1.0); }));
}

TEST(Newton, LimitCountsIncrementsThatWereNotShortened) {
  for (const int limit : {1, 2, 7}) {
    Settling rule({.limit = limit, .floor = 1e-15});
    int calls = 0;
    EXPECT_EQ(newton(rule, [&] { return Increment(++calls % 2 ? shortened : 1.0); }), NewtonTrouble::slow);
    EXPECT_EQ(rule.count(), limit);
    EXPECT_EQ(calls, 2 * limit);
  }
}

TEST(Newton, LastIncrementMayBeAcceptedAndThatIsTold) {
  for (const double size : {1e-7, 1e-5}) {
    Settling rule({.limit = 4, .floor = 1e-15, .at_the_limit = 1e-6});
    EXPECT_EQ(solved_by_newton(rule, [&] { return Increment(size); }), size < 1e-6);
    EXPECT_EQ(rule.unsettled(), size < 1e-6);
    EXPECT_EQ(rule.count(), 4);
  }
}

TEST(Newton, GoesOnWhereTheSolutionIsNotAccepted) {
  int refused = 0;
  Settling rule({.limit = 10, .floor = 1e-15});
  const auto tiny = [] { return Increment(1e-16); };
  EXPECT_EQ(newton(rule, tiny, [&] { return ++refused == 3; }), NewtonTrouble::none);
  EXPECT_EQ(rule.count(), 3);
  EXPECT_EQ(newton(rule, tiny, [] { return false; }), NewtonTrouble::slow);
  EXPECT_EQ(rule.count(), 10);
}

TEST(Newton, RenewsTheMatrixThatContractsSlowly) {
  for (const double above : {0.1, 2.0}) {  // 2: never
    SquareRoot root;
    root.unit = 4e-16;
    Convergence rule(200, {.renew_above = above});
    EXPECT_TRUE(solved_by_newton(rule, [&] {
      const bool renew = rule.count() == 0 || rule.renew();
      if (renew) rule.matrix_renewed();
      return Increment(root.improve(renew));
    }));
    EXPECT_NEAR(root.x, std::numbers::sqrt2, 1e-15);
    if (above < 1)
      EXPECT_GT(root.renewals, 1);
    else
      EXPECT_EQ(root.renewals, 1);
    EXPECT_EQ(rule.count() > 15, above > 1) << rule.count();  // measured 7 and 27
  }
}

TEST(Newton, DampingFindsTheLongestGoodStep) {
  EXPECT_EQ(damping(10, [](double) { return true; }), 1);
  EXPECT_EQ(damping(10, [](double length) { return length < 0.2; }), 0.125);
  EXPECT_EQ(damping(3, [](double length) { return length < 0.2; }), 0);
}

TEST(Newton, RootsAreRightToTheLastBits) {
  const auto root = newton_root(1.4L, [](long double x) { return (x * x - 2) / (2 * x); });
  EXPECT_LE(std::abs(root - std::numbers::sqrt2_v<long double>), 2e-19L);  // measured 0
}

constexpr WithinTolerance::Policy to_tolerance{.limit = 10, .enough = 0.03};

TEST(WithinTolerance, LeavesNoMoreThanIsAllowed) {
  for (const double theta : {0.01, 0.3, 0.5}) {
    WithinTolerance rule(to_tolerance);
    double size = 1 / theta;
    EXPECT_TRUE(solved_by_newton(rule, [&] { return Increment(size *= theta); })) << theta;
    EXPECT_LE(size * theta / (1 - theta), 0.03) << theta;
    EXPECT_GT(size, 0.03 * theta) << theta << ": and does not do more than is asked for";
  }
}

TEST(WithinTolerance, GivesUpWhereTheLimitWillComeFirst) {
  WithinTolerance rule(to_tolerance);
  double size = 100;
  EXPECT_EQ(newton(rule, [&] { return Increment(size *= 0.9); }), NewtonTrouble::slow);
  EXPECT_EQ(rule.count(), 3);
  EXPECT_LT(rule.shrink(), 0.8);
  EXPECT_NEAR(rule.theta(), 0.9, 1e-15);
}

TEST(WithinTolerance, DivergenceIsSeenAtOnce) {
  WithinTolerance rule(to_tolerance);
  double size = 1;
  EXPECT_EQ(newton(rule, [&] { return Increment(size *= 2); }), NewtonTrouble::slow);
  EXPECT_EQ(rule.count(), 2);
  EXPECT_EQ(newton(rule, [] { return Increment(not_a_number); }), NewtonTrouble::not_finite);
}

TEST(WithinTolerance, RemembersTheLastContractionWhereItMay) {
  const auto count = [](bool predicts, bool forgets) {
    WithinTolerance::Policy policy = to_tolerance;
    policy.predicts = predicts;
    WithinTolerance rule(policy);
    for (const bool second : {false, true}) {
      if (second && forgets) rule.forget();
      double size = 100;
      newton(rule, [&] { return Increment(size *= 1e-3); });
    }
    return rule.count();
  };
  EXPECT_EQ(count(true, false), 1) << "0.1, and a contraction of 0.001 as last time";
  EXPECT_EQ(count(true, true), 2);
  EXPECT_EQ(count(false, false), 2);
}

}  // namespace
}  // namespace hinge::newton_test
