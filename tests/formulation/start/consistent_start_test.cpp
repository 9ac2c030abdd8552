// Claims about the start: the nearest consistent values in the mass metric, initial multipliers from the acceleration
// level, and the names of constraints that depend on each other.
#include "formulation/start/consistent_start.hpp"
#include "formulation/start/start_refusals.hpp"

#include <chrono>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "formulation/start/constraint_rank.hpp"
#include "hinge/hinge.hpp"

namespace hinge::consistent_start_test {
namespace {

using Q = Quantity;
using Values = std::vector<double>;

/// A quantity as a dense matrix.
Eigen::MatrixXd matrix(const System& system, Quantity q, const State& s) {
  const auto e = system.evaluation({q});
  e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const Pattern& p = system.pattern(q);
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(p.rows, p.columns);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      m(i, p.column[static_cast<std::size_t>(k)]) = (*e)[q][k];
  return m;
}

Eigen::VectorXd vector(const Values& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// How far `x` is from the range of G^T, relative to x: zero if x + G^T lambda = 0 for some lambda.
double outside_range(const Eigen::MatrixXd& g, const Eigen::VectorXd& x) {
  const Eigen::VectorXd lambda = g.transpose().colPivHouseholderQr().solve(x);
  return (x - g.transpose() * lambda).norm() / x.norm();
}

double violation(const System& system, const State& s) {
  return matrix(system, Q::constraint, s).cwiseAbs().maxCoeff();
}
double rate_violation(const System& system, const State& s) {
  return matrix(system, Q::constraint_rate, s).cwiseAbs().maxCoeff();
}

/// Two masses on rods, in space; `heavy` tells them apart.
std::shared_ptr<const System> two_rods(double heavy) {
  Lagrangian l;
  const Vector a = l.coordinates("a", 3), b = l.coordinates("b", 3);
  l.kinetic(0.5 * dot(l.velocity(a), l.velocity(a)) + 0.5 * heavy * dot(l.velocity(b), l.velocity(b)));
  l.constrain((dot(a, a) - 1.0) / 2.0);
  l.constrain((dot(b - a, b - a) - 4.0) / 2.0);
  return l.build();
}

TEST(ConsistentStart, PositionIsTheNearestInTheMassMetric) {
  for (const double heavy : {1.0, 0.01, 100.0}) {
    const auto system = two_rods(heavy);
    for (const Values& y0 : {Values{1.1, 0.2, -0.1, 2.5, 1.0, 0.3}, Values{0.5, 0.1, 0.0, 2.0, -1.0, 0.5}}) {
      const State s = consistent_start(*system, 0, {.position = y0, .consistent = Consistency::project});
      EXPECT_LT(violation(*system, s), 2e-15);  // measured 6.7e-16
      // stationary: M (y - y0) + G^T lambda = 0
      const Eigen::VectorXd pull = matrix(*system, Q::momentum_z, s) * (vector(s.y) - vector(y0));
      EXPECT_LT(outside_range(matrix(*system, Q::constraint_y, s), pull),
                1e-10);  // measured 1.3e-11, with a mass of 0.01
      // and in the Euclidean metric it is not, unless the masses are equal
      if (heavy != 1.0) {
        EXPECT_GT(outside_range(matrix(*system, Q::constraint_y, s), vector(s.y) - vector(y0)), 1e-3);
      }
    }
  }
}

TEST(ConsistentStart, NoPointOfTheCurveIsNearer) {
  const double m0 = 1, m1 = 9;
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * (m0 * v[0] * v[0] + m1 * v[1] * v[1]));
  l.constrain(q[0] * q[0] + q[1] * q[1] / 4.0 - 1.0);
  for (const Values& y0 : {Values{1.3, 0.4}, Values{0.2, 0.3}, Values{-0.5, 2.5}, Values{0.9, -1.5}}) {
    const State s = consistent_start(*l.build(), 0, {.position = y0, .consistent = Consistency::project});
    const auto distance = [&](double x, double y) { return m0 * std::pow(x - y0[0], 2) + m1 * std::pow(y - y0[1], 2); };
    double least = INFINITY;
    for (int k = 0; k < 200'000; ++k) {
      const double angle = 2 * M_PI * k / 200'000;
      least = std::min(least, distance(std::cos(angle), 2 * std::sin(angle)));
    }
    EXPECT_LE(distance(s.y[0], s.y[1]), least + 1e-12);
  }
}

TEST(ConsistentStart, FarAwayStartsOfAChainAreBroughtBack) {
  const int n = 20;
  Lagrangian l;
  const Vector q = l.coordinates("q", {n, 2}), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  Vector before{0.0, 0.0};
  for (std::size_t i = 0; i < n; ++i) {
    const Vector here = q.segment(2 * i, 2);
    l.constrain((dot(here - before, here - before) - 1.0) / 2.0);
    before = here;
  }
  Values y0;
  for (int i = 0; i < n; ++i) y0.insert(y0.end(), {0.8 * (i + 1), 0.2 * std::sin(i)});
  const auto system = l.build();
  const State s = consistent_start(*system, 0, {.position = y0, .consistent = Consistency::project});
  EXPECT_LT(violation(*system, s), 1e-14);                                                         // measured 1.0e-15
  EXPECT_LT(outside_range(matrix(*system, Q::constraint_y, s), vector(s.y) - vector(y0)), 1e-10);  // measured 2.0e-12
}

TEST(ConsistentStart, VelocityIsTheNearestInTheMassMetric) {
  for (const double heavy : {1.0, 0.01, 100.0}) {
    const auto system = two_rods(heavy);
    const Values z0{0.3, 1.0, 0.2, -1.0, 2.0, 0.7};
    const State s = consistent_start(
        *system, 0, {.position = {1, 0, 0, 1, 2, 0}, .velocity = z0, .consistent = Consistency::project});
    EXPECT_EQ(s.y, (Values{1, 0, 0, 1, 2, 0}));
    EXPECT_LT(rate_violation(*system, s), 1e-15);  // measured 0
    const Eigen::VectorXd pull = matrix(*system, Q::momentum_z, s) * (vector(s.z) - vector(z0));
    EXPECT_LT(outside_range(matrix(*system, Q::constraint_y, s), pull), 1e-14);  // measured 5.0e-16
  }
}

TEST(ConsistentStart, OdaeIsProjectedInTheEuclideanMetric) {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v({z[0], z[1]});
  odae.p({5.0 * z[0], z[1]});
  odae.f({0.0, -1.0});
  odae.r({-2.0 * y[0] * psi[0], -y[1] * psi[0]});
  odae.constrain((dot(y, y) - 1.0) / 2.0);
  const auto system = odae.build();
  const State s =
      consistent_start(*system, 0, {.position = {3, 4}, .velocity = {1, 1}, .consistent = Consistency::project});
  EXPECT_NEAR(s.y[0], 0.6, 1e-15);
  EXPECT_NEAR(s.y[1], 0.8, 1e-15);
  EXPECT_NEAR(s.z[0], 1 - 1.4 * 0.6, 1e-15);
  EXPECT_NEAR(s.z[1], 1 - 1.4 * 0.8, 1e-15);
}

TEST(ConsistentStart, MovingConstraintsGiveTheVelocityLevelTheirOwnSpeed) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * (v[0] * v[0] + 4.0 * v[1] * v[1]));
  l.constrain(q[0] - 2.0 * q[1] - sin(3.0 * l.t()));  // g_t = -3 cos 3t
  const auto system = l.build();
  const double t = 0.25;
  const State s = consistent_start(
      *system, t, {.position = {std::sin(0.75), 0}, .velocity = {0, 0}, .consistent = Consistency::project});
  EXPECT_NEAR(s.z[0] - 2 * s.z[1], 3 * std::cos(0.75), 1e-15);
  EXPECT_NEAR(s.z[1] / s.z[0], -2.0 / 4.0, 1e-15);  // M z = -G^T mu
  const StartCheck check = check_start(*system, t, {std::sin(0.75), 0}, {0, 0}, {});
  ASSERT_EQ(check.violations.size(), 1U);
  EXPECT_TRUE(check.violations[0].velocity_level);
  EXPECT_NEAR(check.violations[0].amount, 3 * std::cos(0.75), 1e-15);
  // acceleration level: x'' - 2 y'' = g_tt-part = -9 sin 3t, x'' = -psi, 4 y'' = 2 psi
  EXPECT_NEAR(s.psi[0], 9 * std::sin(0.75) / 2, 1e-14);
}

TEST(ConsistentStart, RoundingOfTypedValuesIsPolishedSilently) {
  const auto system = two_rods(3);
  const State s =
      consistent_start(*system, 0, {.position = {0.7071067812, 0.7071067812, 0, 0.7071067812, 2.7071067812, 0}});
  EXPECT_LT(violation(*system, s), 1e-15);
  EXPECT_NEAR(s.y[0], std::sqrt(0.5), 1e-10);
  EXPECT_THROW(consistent_start(*system, 0, {.position = {0.7072, 0.7071, 0, 0.7071, 2.7071, 0}}), InconsistentStart);
}

TEST(ConsistentStart, ConsistentValuesAreKeptToTheLastBit) {
  const auto system = two_rods(3);
  const State s = consistent_start(*system, 0, {.position = {1, 0, 0, 1, 2, 0}, .velocity = {0, 1, 2, 3, 1, 5}});
  EXPECT_EQ(s.y, (Values{1, 0, 0, 1, 2, 0}));
  EXPECT_EQ(s.z, (Values{0, 1, 2, 3, 1, 5}));
}

TEST(ConsistentStart, ViolationsAreMeasuredOnBothLevels) {
  const auto system = two_rods(1);
  const StartCheck check = check_start(*system, 0, {1.1, 0, 0, 1.1, 2.2, 0}, {0.5, 0, 0, 0, 0, 0}, {});
  ASSERT_EQ(check.violations.size(), 3U);
  EXPECT_EQ(check.violations[0].constraint, 1);  // (2.2^2 - 4)/2, the largest first
  EXPECT_NEAR(check.violations[0].amount, 0.42, 1e-15);
  EXPECT_EQ(check.violations[1].constraint, 0);
  EXPECT_NEAR(check.violations[1].amount, 0.105, 1e-15);
  EXPECT_TRUE(check.violations[2].velocity_level);
  EXPECT_NEAR(check.violations[2].amount, 0.55, 1e-15);
}

TEST(ConsistentStart, VelocityAndMomentumAreTwoWordsForOneState) {
  // p = (v0 - q1, v1 + q0): a charge in a magnetic field
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.lagrangian(0.5 * dot(v, v) - q[1] * v[0] + q[0] * v[1]);
  const State a = consistent_start(*l.build(), 0, {.position = {2, 3}, .velocity = {5, 7}});
  const State b = consistent_start(*l.build(), 0, {.position = {2, 3}, .momentum = {2, 9}});
  EXPECT_EQ(a.z, (Values{5, 7}));
  EXPECT_NEAR(b.z[0], 5, 1e-14);
  EXPECT_NEAR(b.z[1], 7, 1e-14);
  Hamiltonian h;
  const Vector x = h.coordinates("x", 2), p = h.momenta("p", 2);
  h.hamiltonian(0.5 * (pow(p[0] + x[1], 2.0) + pow(p[1] - x[0], 2.0)));
  const State c = consistent_start(*h.build(), 0, {.position = {2, 3}, .velocity = {5, 7}});
  EXPECT_NEAR(c.z[0], 2, 1e-14);
  EXPECT_NEAR(c.z[1], 9, 1e-14);
  const State rest = consistent_start(*h.build(), 0, {.position = {2, 3}});  // velocity zero, not momentum zero
  EXPECT_NEAR(rest.z[0], -3, 1e-14);
  EXPECT_NEAR(rest.z[1], 2, 1e-14);
  EXPECT_THROW(consistent_start(*h.build(), 0, {.position = {2, 3}, .velocity = {5, 7}, .momentum = {1, 1}}),
               InputError);
}

TEST(InitialMultipliers, ChargeOnASphere) {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  h.hamiltonian((pow(p[0] + q[1], 2.0) + pow(p[1] - q[0], 2.0) + p[2] * p[2]) / 2.0 - q[2]);
  h.constrain(norm(q) - 1.0);
  const State s = consistent_start(*h.build(), 0, {.position = {0.2, 0.2, std::sqrt(0.92)}, .momentum = {1, -1, 0}});
  EXPECT_NEAR(s.psi[0], 2.87916630466254, 1e-14);  // measured 3.1e-15
}

/// y' = (2 z1, -z2), z' = f + r with the constraint y1 y2^2 = 1, started at (1, 1, 1, 1).
template <class Reaction>
State start_with_reaction(const Reaction& reaction, const Values& guess) {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v({2.0 * z[0], -z[1]});
  odae.f({2.0 * y[0] * y[1] * z[0] * z[1] - y[0] * z[0] * z[1], z[0] - y[0] * z[1] * z[1] * z[1]});
  odae.r(reaction(y, z, psi[0]));
  odae.constrain(y[0] * y[1] * y[1] - 1.0);
  return consistent_start(*odae.build(), 0, {.position = {1, 1}, .velocity = {1, 1}, .multiplier = guess});
}

TEST(InitialMultipliers, NothingPullsAtRest) {
  const State s = consistent_start(*two_rods(1), 0, {.position = {1, 0, 0, 1, 2, 0}});
  EXPECT_NEAR(s.psi[0], 0, 1e-15);
  EXPECT_NEAR(s.psi[1], 0, 1e-15);
}

TEST(InitialMultipliers, ReactionsNonlinearInTheMultiplier) {
  const auto s1 = [](const Vector& y, const Vector&, const Expression& psi) {
    return Vector{y[0] * y[1] * psi * psi, -sqrt(y[0]) * psi};
  };
  const auto e1 = [](const Vector& y, const Vector& z, const Expression& psi) {
    return Vector{y[1] * z[0] * psi * psi, -sqrt(y[0]) * z[0] * z[1] * z[1] * psi};
  };
  for (const Values& guess : {Values{}, Values{1.0}, Values{0.5}, Values{3.0}}) {
    EXPECT_NEAR(start_with_reaction(s1, guess).psi[0], 1.0, 1e-14);
    EXPECT_NEAR(start_with_reaction(e1, guess).psi[0], 1.0, 1e-14);
  }
}

TEST(InitialMultipliers, FrictionOnASlide) {
  const double m = 1, b = 0.01, gravity = 9.81, cf = 0.1, rf = 0.85;
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v({z[0], z[1]});
  odae.f({0.0, -gravity});
  const Expression slope = 3.0 * b * y[0] * y[0];
  const Expression friction = cf / m * pow((1.0 + slope * slope) * psi[0] * psi[0], rf / 2) / norm(z);
  odae.r({-slope * psi[0] / m - friction * z[0], psi[0] / m - friction * z[1]});
  odae.constrain(y[1] - b * y[0] * y[0] * y[0]);
  const State s = consistent_start(*odae.build(), 0, {.position = {10, 10}, .velocity = {-3.6, -10.8}});
  // m (g + 6 b y1 z1^2) / (1 + 9 b^2 y1^4) = 17.586 / 10
  EXPECT_NEAR(s.psi[0], (gravity + 6 * b * 10 * 3.6 * 3.6) / (1 + 9 * b * b * 1e4), 1e-13);
  EXPECT_NEAR(s.psi[0], 1.7586, 1e-13);  // measured 0
}

TEST(ConstraintRank, NamesThoseThatDependOnOthers) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 4);
  l.kinetic(0.5 * dot(l.velocity(q), l.velocity(q)));
  l.constrain(q[0] + q[1] - 1.0, "first");
  l.constrain(q[2], "second");
  l.constrain(1e6 * (q[0] + q[1] + q[2] - 1.0), "sum");
  l.constrain(q[3] * q[3] / 2.0 - q[3], "other");
  const auto system = l.build();
  const double y[] = {1, 0, 0, 0};
  const ConstraintRank rank = constraint_rank(*system, 0, y);
  EXPECT_EQ(rank.constraints, 4);
  EXPECT_EQ(rank.rank, 3);
  ASSERT_EQ(rank.dependent.size(), 1U);
  std::vector<int> circle = rank.dependent[0].on;
  circle.push_back(rank.dependent[0].constraint);
  std::sort(circle.begin(), circle.end());
  EXPECT_EQ(circle, (std::vector<int>{0, 1, 2}));
  const std::string text = rank.describe(system->layout());
  EXPECT_NE(text.find("is a combination of"), std::string::npos) << text;
  EXPECT_EQ(text.find("other"), std::string::npos) << text;

  const double flat[] = {1, 0, 0, 1};  // d/dq3 (q3^2/2 - q3) = 0 there
  const ConstraintRank there = constraint_rank(*system, 0, flat);
  EXPECT_EQ(there.rank, 2);
  EXPECT_NE(there.describe(system->layout()).find("constraint other has no direction of its own"), std::string::npos);
  EXPECT_THROW(refuse_redundant(*system, 0, {1, 0, 0, 0}, {0, 0, 0, 0}), RedundantConstraints);
}

TEST(ConstraintRank, UnitsDoNotDecide) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3);
  l.kinetic(0.5 * dot(l.velocity(q), l.velocity(q)));
  l.constrain(1e-9 * q[0]);
  l.constrain(1e9 * q[1]);
  l.constrain(q[0] + 1e-5 * q[2]);
  const double y[] = {0, 0, 0};
  EXPECT_TRUE(constraint_rank(*l.build(), 0, y).full());
}

/// n points on rods of length 1, hanging side by side; with `extra` once more what rod number n/2 says.
std::shared_ptr<const System> long_chain(int n, bool extra) {
  Lagrangian l;
  const Vector q = l.coordinates("q", {n, 3}), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  Vector before{0.0, 0.0, 0.0};
  for (int i = 0; i < n; ++i) {
    const Vector here = q.segment(3 * static_cast<std::size_t>(i), 3);
    const Expression rod = dot(here - before, here - before) - 1.0;
    l.constrain(rod / 2.0, "rod " + std::to_string(i));
    if (extra && i == n / 2) l.constrain(rod, "again");
    before = here;
  }
  return l.build();
}

Values zigzag(int n) {
  Values y;
  for (int i = 0; i < n; ++i) y.insert(y.end(), {0.8 * (i + 1), i % 2 ? 0.0 : 0.6, 0.0});
  return y;
}

TEST(ConstraintRank, LargeSystemsNameTheRightOnes) {
  for (const int n : {300, 1000}) {  // dense and sparse
    const auto system = long_chain(n, true);
    const ConstraintRank rank = constraint_rank(*system, 0, zigzag(n).data());
    EXPECT_EQ(rank.rank, n);
    ASSERT_EQ(rank.dependent.size(), 1U);
    const std::string text = rank.describe(system->layout());
    EXPECT_NE(text.find("rod " + std::to_string(n / 2)), std::string::npos) << text;
    EXPECT_NE(text.find("again"), std::string::npos) << text;
    EXPECT_EQ(rank.dependent[0].on.size(), 1U);
  }
}

TEST(ConsistentStart, TwoThousandLinksStartQuickly) {
  const int n = 2000;
  const auto system = long_chain(n, false);
  const auto begin = std::chrono::steady_clock::now();
  const State s = consistent_start(*system, 0, {.position = zigzag(n)});
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5.0);  // measured 0.12
  EXPECT_LT(violation(*system, s), 1e-12);
  EXPECT_EQ(s.psi.size(), static_cast<std::size_t>(n));
}

TEST(SingularMass, IsRefusedWithTheMotionThatHasNone) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * (v[0] * v[0] + v[1] * v[1]));
  try {
    consistent_start(*l.build(), 0, {.position = {0, 0, 0}});
    FAIL() << "accepted";
  } catch (const SingularMass& e) {
    EXPECT_NE(std::string(e.what()).find("q'[2]"), std::string::npos) << e.what();
  }
  l = Lagrangian();  // where a constraint holds that coordinate, it needs no mass
  const Vector x = l.coordinates("x", 2), w = l.velocity(x);
  l.kinetic(0.5 * w[0] * w[0]);
  l.constrain(x[1] - 1.0);
  EXPECT_NO_THROW(consistent_start(*l.build(), 0, {.position = {0, 1}}));
}

}  // namespace
}  // namespace hinge::consistent_start_test
