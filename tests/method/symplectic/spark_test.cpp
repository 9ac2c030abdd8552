// The steps of SPARK and RATTLE: Newton's method, failures, large systems, special cases. What every method keeps is
// tested in property_test.cpp.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/controls.hpp"
#include "method/problems.hpp"
#include "method/symplectic/rattle.hpp"

namespace hinge::spark_test {
namespace {

using controls::spark_with;
using problems::distance;
using problems::integrate;
using problems::Problem;

TEST(GaussLobatto, ReachesRoundOffWithTwelveStages) {
  const State s = integrate(problems::s1(), gauss_lobatto(12), 0.5, 1.0);
  EXPECT_NEAR(s.y[0], std::exp(2.0), 1e-13);   // measured 9e-16
  EXPECT_NEAR(s.z[1], std::exp(-1.0), 1e-13);  // measured 3e-16
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
}  // namespace hinge::spark_test
