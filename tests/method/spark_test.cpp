// What Gauss-Lobatto and RATTLE claim, tested on problems that would notice: S1 (reaction nonlinear in the multiplier)
// and S2 (a force that depends on position and velocity). Each property has a control that fails.
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "method/problems.hpp"
#include "method/rattle.hpp"
#include "method/spark.hpp"

namespace hinge {
namespace {

using problems::distance;
using problems::integrate;
using problems::Problem;

MethodChoice spark_with(const SparkTableau& tableau) {
  MethodChoice choice = gauss_lobatto(1);
  choice.bind = [tableau](std::shared_ptr<const System> s, const SolverOptions& o) {
    return make_spark(std::move(s), tableau, o);
  };
  return choice;
}

// A Gauss-Lobatto method with one wrong row of Abar: still consistent, no longer symplectic.
SparkTableau broken_gauss_lobatto() {
  SparkTableau t = gauss_lobatto_tableau(2);
  t.abar(1, 0) += 0.05;
  t.abar(1, 1) -= 0.05;
  return t;
}

// log2 of the ratios of errors against the exact solution of S1 at t = 1.
std::array<std::vector<double>, 3> orders_on_s1(const MethodChoice& method, const std::vector<double>& steps) {
  std::array<std::vector<double>, 3> errors;
  for (const double h : steps) {
    const State s = integrate(problems::s1(), method, h, 1.0);
    const std::vector<double> exact = {std::exp(2.0), std::exp(-1.0)};
    errors[0].push_back(distance(s.y, exact));
    errors[1].push_back(distance(s.z, exact));
    errors[2].push_back(std::abs(s.psi[0] - std::exp(1.0)));
  }
  std::array<std::vector<double>, 3> orders;
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = 1; i < steps.size(); ++i) orders[k].push_back(std::log2(errors[k][i - 1] / errors[k][i]));
  return orders;
}

TEST(GaussLobatto, HasOrderTwoSOnAReactionNonlinearInTheMultiplier) {
  const std::vector<std::vector<double>> steps = {{0.05, 0.025, 0.0125}, {0.1, 0.05, 0.025}, {0.1, 0.05, 0.025}};
  for (int s = 1; s <= 3; ++s) {
    const auto orders = orders_on_s1(gauss_lobatto(s), steps[static_cast<std::size_t>(s) - 1]);
    EXPECT_NEAR(orders[0].back(), 2 * s, 0.05) << s;  // measured 0.009 at most
    EXPECT_NEAR(orders[1].back(), 2 * s, 0.05) << s;  // measured 0.004 at most
    EXPECT_NEAR(orders[2].back(), s, 0.15) << s;      // measured 0.04 at most
  }
  // with four stages only one pair lies between the coarse steps and round-off
  const auto four = orders_on_s1(gauss_lobatto(4), {1.0 / 6, 1.0 / 12});
  EXPECT_NEAR(four[0].back(), 8, 0.3);  // measured 7.91
  EXPECT_NEAR(four[1].back(), 8, 0.3);  // measured 8.03
}

TEST(GaussLobatto, HasOrderTwoSOnS2) {
  const State reference = integrate(problems::s2(), gauss_lobatto(6), 0.06, 1.2);
  for (int s = 1; s <= 4; ++s) {
    const double h = s < 3 ? 0.06 : s == 3 ? 0.12 : 0.24;
    const double coarse = distance(integrate(problems::s2(), gauss_lobatto(s), h, 1.2).y, reference.y);
    const double fine = distance(integrate(problems::s2(), gauss_lobatto(s), h / 2, 1.2).y, reference.y);
    EXPECT_NEAR(std::log2(coarse / fine), 2 * s, 0.1) << s;  // measured 0.012 at most
  }
}

TEST(GaussLobatto, ReachesRoundOffWithTwelveStages) {
  const State s = integrate(problems::s1(), gauss_lobatto(12), 0.5, 1.0);
  EXPECT_NEAR(s.y[0], std::exp(2.0), 1e-13);   // measured 9e-16
  EXPECT_NEAR(s.z[1], std::exp(-1.0), 1e-13);  // measured 3e-16
}

TEST(LobattoIIIAIIIB, HasOrderTwoSMinusTwo) {
  const State reference = integrate(problems::s2(), gauss_lobatto(6), 0.06, 1.2);
  for (int s = 2; s <= 5; ++s) {
    const double h = s < 4 ? 0.06 : s == 4 ? 0.12 : 0.24;
    const double coarse = distance(integrate(problems::s2(), lobatto_iiia_iiib(s), h, 1.2).y, reference.y);
    const double fine = distance(integrate(problems::s2(), lobatto_iiia_iiib(s), h / 2, 1.2).y, reference.y);
    EXPECT_NEAR(std::log2(coarse / fine), 2 * s - 2, 0.1) << s;  // measured 0.005 at most
  }
}

TEST(Rattle, HasOrderTwo) {
  const auto orders = orders_on_s1(rattle(), {0.05, 0.025, 0.0125});
  EXPECT_NEAR(orders[0].back(), 2, 0.05);  // measured 0.003
  EXPECT_NEAR(orders[1].back(), 2, 0.05);  // measured 0.003
}

TEST(ImplicitEulerSpark, HasOrderOneOnly) {  // control for the order tests
  const State reference = integrate(problems::s2(), gauss_lobatto(6), 0.06, 1.2);
  const MethodChoice euler = spark_with(implicit_euler_tableau(0.5));
  const double coarse = distance(integrate(problems::s2(), euler, 0.03, 1.2).y, reference.y);
  const double fine = distance(integrate(problems::s2(), euler, 0.015, 1.2).y, reference.y);
  EXPECT_NEAR(std::log2(coarse / fine), 1, 0.15);  // measured 0.02
}

std::vector<std::pair<std::string, MethodChoice>> claims() {
  return {{"gauss-lobatto 1", gauss_lobatto(1)},
          {"gauss-lobatto 2", gauss_lobatto(2)},
          {"gauss-lobatto 3", gauss_lobatto(3)},
          {"gauss-lobatto 5", gauss_lobatto(5)},
          {"lobatto-iiia-iiib 3", lobatto_iiia_iiib(3)},
          {"lobatto-iiia-iiib 5", lobatto_iiia_iiib(5)},
          {"rattle", rattle()}};
}

TEST(EveryMethod, KeepsBothConstraintLevelsAtRoundOff) {
  for (const auto& [name, method] : claims())
    for (const Problem& problem : {problems::s2(), problems::s2_lagrangian(), problems::relativistic(),
                                   problems::variable_mass(), problems::double_pendulum(), problems::rotating_hoop()}) {
      Simulation run(problem.system, method, {.step = 0.02});
      run.start(problem.start);
      run.until(4.0);
      EXPECT_LT(run.report().constraint, 4e-15) << name;         // measured 1.2e-15
      EXPECT_LT(run.report().hidden_constraint, 1e-14) << name;  // measured 1.3e-15
    }
}

// A step of the method from given (q, p), as a map on all of R^2n.
std::vector<double> one_step(const Problem& problem, const MethodChoice& method, const std::vector<double>& x,
                             double h) {
  const std::size_t n = x.size() / 2;
  const auto stepper = method.bind(problem.system, {});
  State s{0,
          {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)},
          {x.begin() + static_cast<std::ptrdiff_t>(n), x.end()},
          {1.0}};
  const StepResult result = stepper->step(s, h);
  EXPECT_TRUE(result) << result.reason;
  s.y.insert(s.y.end(), s.z.begin(), s.z.end());
  return s.y;
}

double two_form(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = a.size() / 2;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[n + i] - a[n + i] * b[i];
  return sum;
}

// Largest |omega(D xi, D eta) - omega(xi, eta)| over tangent vectors of {g = 0, g_q H_p = 0} at the start of S2. The
// tangent space is that of the sphere's phase space: xi = (dq, dp) with q.dq = 0 and (v.dq + q.dv) = 0.
double symplectic_defect(const MethodChoice& method, double h) {
  const Problem problem = problems::s2();
  std::vector<double> x = problem.start.position;
  x.insert(x.end(), problem.start.momentum.begin(), problem.start.momentum.end());
  const std::array<double, 3> q{x[0], x[1], x[2]}, v{x[3] + x[1], x[4] - x[0], x[5]};
  std::vector<std::vector<double>> tangents;
  for (std::size_t k = 0; k < 6; ++k) {
    std::array<double, 3> dq{}, dv{};
    (k < 3 ? dq[k] : dv[k - 3]) = 1;
    const double along = q[0] * dq[0] + q[1] * dq[1] + q[2] * dq[2];
    for (std::size_t i = 0; i < 3; ++i) dq[i] -= along * q[i];
    double rate = 0;
    for (std::size_t i = 0; i < 3; ++i) rate += v[i] * dq[i] + q[i] * dv[i];
    for (std::size_t i = 0; i < 3; ++i) dv[i] -= rate * q[i];
    tangents.push_back({dq[0], dq[1], dq[2], dv[0] - dq[1], dv[1] + dq[0], dv[2]});
  }
  const double delta = 1e-5;
  std::vector<std::vector<double>> images;
  for (const auto& xi : tangents) {
    std::vector<double> plus = x, minus = x;
    for (std::size_t i = 0; i < 6; ++i) plus[i] += delta * xi[i], minus[i] -= delta * xi[i];
    plus = one_step(problem, method, plus, h);
    minus = one_step(problem, method, minus, h);
    for (std::size_t i = 0; i < 6; ++i) plus[i] = (plus[i] - minus[i]) / (2 * delta);
    images.push_back(plus);
  }
  double defect = 0;
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = 0; b < a; ++b)
      defect = std::max(defect, std::abs(two_form(images[a], images[b]) - two_form(tangents[a], tangents[b])));
  return defect;
}

TEST(EveryMethod, ConservesTheSymplecticForm) {
  for (const auto& [name, method] : claims())
    for (const double h : {0.1, 0.05}) EXPECT_LT(symplectic_defect(method, h), 1e-9) << name;  // measured 6.5e-11
}

TEST(ImplicitEulerSpark, IsNotSymplectic) {
  EXPECT_GT(symplectic_defect(spark_with(implicit_euler_tableau(0.5)), 0.1), 1e-3);   // measured 1.8e-2
  EXPECT_GT(symplectic_defect(spark_with(implicit_euler_tableau(0.5)), 0.05), 1e-3);  // measured 4.6e-3
}

TEST(GaussLobatto, WithOneWrongCoefficientIsNotSymplectic) {
  EXPECT_GT(symplectic_defect(spark_with(broken_gauss_lobatto()), 0.1), 1e-6);   // measured 6.7e-5
  EXPECT_GT(symplectic_defect(spark_with(broken_gauss_lobatto()), 0.05), 1e-7);  // measured 8.3e-6
}

double symmetry_defect(const MethodChoice& method) {
  const Problem problem = problems::s2();
  std::vector<double> x = problem.start.position;
  x.insert(x.end(), problem.start.momentum.begin(), problem.start.momentum.end());
  const std::vector<double> back = one_step(problem, method, one_step(problem, method, x, 0.1), -0.1);
  return distance(back, x);
}

TEST(EveryMethod, IsSymmetric) {
  for (const auto& [name, method] : claims()) EXPECT_LT(symmetry_defect(method), 1e-14) << name;  // measured 5e-16
}

TEST(ImplicitEulerSpark, IsNotSymmetric) {
  EXPECT_GT(symmetry_defect(spark_with(implicit_euler_tableau(0.5))), 1e-3);
}  // measured 4.7e-2

TEST(EveryMethod, KeepsTheMomentumAboutTheAxisOfS2) {
  for (const auto& [name, method] : claims()) {
    Simulation run(problems::s2().system, method, {.step = 0.12});
    run.start(problems::s2().start);
    double worst = 0;
    for (int k = 0; k < 2000; ++k) {
      run.step();
      const State& s = run.state();
      worst = std::max(worst, std::abs(s.y[0] * s.z[1] - s.y[1] * s.z[0] + 0.4));
    }
    EXPECT_LT(worst, 2e-14) << name;  // measured 5.9e-15
  }
}

TEST(EveryMethod, GivesTheSameNumbersInLagrangianAndHamiltonianForm) {
  for (const auto& [name, method] : claims()) {
    Simulation a(problems::s2().system, method, {.step = 0.1}),
        b(problems::s2_lagrangian().system, method, {.step = 0.1});
    a.start(problems::s2().start);
    b.start(problems::s2_lagrangian().start);
    a.until(10.0);
    b.until(10.0);
    EXPECT_LT(distance(a.state().y, b.state().y), 1e-13) << name;                  // measured 8.3e-15
    EXPECT_LT(distance(a.report().momentum, b.report().momentum), 1e-13) << name;  // measured 9e-15
    EXPECT_LT(distance(a.state().psi, b.state().psi), 1e-11) << name;              // measured 2.5e-12
  }
}

TEST(EveryMethod, HasNoEnergyDrift) {
  for (const auto& [name, method] : claims()) {
    Simulation run(problems::double_pendulum().system, method, {.step = 0.005});
    run.start(problems::double_pendulum().start);
    run.until(20.0);
    const double early = *run.report().energy_error;
    run.until(100.0);
    EXPECT_LT(*run.report().energy_error, 3 * early + 1e-11)
        << name;  // measured up to 2.68 times; a drift would give 5
  }
}

TEST(ImplicitEulerSpark, LosesEnergy) {  // control for the drift test
  Simulation run(problems::s2().system, spark_with(implicit_euler_tableau(0.5)), {.step = 0.05});
  run.start(problems::s2().start);
  run.until(2.0);
  const double early = *run.report().energy_error;
  run.until(20.0);
  EXPECT_GT(*run.report().energy_error, 3 * early);
}

TEST(Rattle, ExplicitFormEqualsTheGeneralOne) {
  const Problem problem = problems::double_pendulum();
  ASSERT_TRUE(is_separable(*problem.system));
  const State a = integrate(problem, rattle(), 0.005, 2.0);
  const State b = integrate(problem, spark_with(lobatto_iiia_iiib_tableau(2)), 0.005, 2.0);
  EXPECT_LT(distance(a.y, b.y), 1e-13);     // measured 5.6e-15
  EXPECT_LT(distance(a.z, b.z), 1e-12);     // measured 3e-14
  EXPECT_LT(distance(a.psi, b.psi), 1e-9);  // measured 1.5e-11
  EXPECT_FALSE(is_separable(*problems::s2().system));
}

TEST(Newton, SimplifiedAndFullFindTheSameStep) {
  for (const Problem& problem : {problems::s1(), problems::s2(), problems::double_pendulum(), problems::relativistic(),
                                 problems::variable_mass(), problems::rotating_hoop()}) {
    for (const LinearAlgebra algebra : {LinearAlgebra::dense, LinearAlgebra::sparse}) {
      const State a = integrate(problem, gauss_lobatto(3), 0.02, 0.4,
                                {.newton = SolverOptions::Newton::simplified, .linear_algebra = algebra});
      const State b = integrate(problem, gauss_lobatto(3), 0.02, 0.4,
                                {.newton = SolverOptions::Newton::full, .linear_algebra = algebra});
      EXPECT_LT(distance(a.y, b.y), 1e-13);  // measured 9.2e-16
      EXPECT_LT(distance(a.z, b.z), 1e-13);  // measured 3e-15
    }
  }
}

TEST(Newton, FullTakesOverWhereTheSimplifiedIterationDiverges) {
  // a stiff spring across the motion: h^2 k = 40
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(dot(v, v) / 2.0);
  l.potential(9.81 * q[1] + 2e5 * q[2] * q[2]);
  l.constrain((dot(q, q) - 1.0) / 2.0);
  Simulation run(l, gauss_lobatto(2), {.step = 0.01});
  run.start({.position = {1, 0, 0}, .velocity = {0, 0, 0.1}});
  run.until(1.0);
  EXPECT_GT(run.report().counters.full_newton, 90);  // measured 100
  EXPECT_LT(run.report().constraint, 1e-15);         // measured 2.2e-16
}

TEST(Spark, RefusesAReactionThatDependsOnZ) {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v(z);
  odae.f({0.0, -9.81});
  odae.r({psi[0] * z[0], psi[0]});
  odae.constrain(y[1] - y[0]);
  EXPECT_THROW(gauss_lobatto(2).bind(odae.build(), {}), UnsuitableMethod);
}

TEST(Step, ThatFailsLeavesTheStateAsItWas) {
  for (const MethodChoice& method : {gauss_lobatto(2), rattle()}) {
    const Problem problem = problems::double_pendulum();
    const auto stepper = method.bind(problem.system, {});
    State s{0, problem.start.position, problem.start.velocity, {0, 0}};
    const State before = s;
    const StepResult result = stepper->step(s, 5.0);  // hopeless
    ASSERT_FALSE(result);
    EXPECT_FALSE(result.reason.empty());
    EXPECT_EQ(s.t, before.t);
    EXPECT_EQ(s.y, before.y);
    EXPECT_EQ(s.z, before.z);
    EXPECT_TRUE(stepper->step(s, 0.001)) << "and the next, sensible one works";
  }
}

TEST(Step, NamesTheConstraintsThatBecomeDependent) {
  // a flat four-bar: both bars in line
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(dot(v, v) / 2.0);
  l.constrain((dot(q, q) - 1.0) / 2.0, "left bar");
  l.constrain((pow(q[0] - 2.0, 2.0) + q[1] * q[1] - 1.0) / 2.0, "right bar");
  State s{0, {1, 0}, {0, 0}, {0, 0}};
  const StepResult result = gauss_lobatto(2).bind(l.build(), {})->step(s, 0.01);
  ASSERT_FALSE(result);
  EXPECT_NE(result.reason.find("left bar"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("right bar"), std::string::npos) << result.reason;
}

TEST(EveryMethod, TreatsALargeChainWithSparseMatrices) {
  const Problem problem = problems::chain(300);
  for (const MethodChoice& method : {gauss_lobatto(2), rattle()}) {
    const State sparse = integrate(problem, method, 1e-3, 0.02);
    const State dense = integrate(problem, method, 1e-3, 0.02, {.linear_algebra = LinearAlgebra::dense});
    EXPECT_LT(distance(sparse.y, dense.y), 1e-11);  // measured 5e-13
  }
}

TEST(EveryMethod, WorksWithoutConstraints) {
  Lagrangian l;
  const Expression x = l.coordinate("x");
  const Expression v = l.velocity(x);
  l.kinetic(v * v / 2.0);
  l.potential(x * x / 2.0);
  for (const MethodChoice& method : {gauss_lobatto(3), rattle()}) {
    Simulation run(l, method, {.step = 0.01});
    run.start({.position = {1}});
    run.until(1.0);
    EXPECT_NEAR(run.state().y[0], std::cos(1.0), method.order == 6 ? 1e-12 : 1e-4);  // measured 4e-16, 3.5e-6
  }
}

TEST(EveryMethod, StaysAtRestWhereTheSystemIsAtRest) {
  for (const MethodChoice& method : {gauss_lobatto(1), gauss_lobatto(4), rattle()}) {
    Simulation run(problems::pendulum().system, method, {.step = 0.01});
    run.start({.position = {0, -1}, .momentum = {0, 0}});
    run.until(1.0);
    EXPECT_EQ(run.state().y[1], -1.0);
    EXPECT_LT(std::abs(run.state().y[0]), 1e-15);
    EXPECT_NEAR(run.state().psi[0], 1.0, 1e-10);  // measured 4e-15
  }
}

}  // namespace
}  // namespace hinge
