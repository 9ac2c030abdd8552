// What SHAKE claims: the positions are RATTLE's, the position level is kept to round-off and the velocity level to
// order 2, order 2 in everything, symplectic on tangent vectors, momentum maps, and what it remembers of a step is a
// saving that changes no number. The test problem has a force that depends on the position, since a constant one hides
// mistakes.
#include <array>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/problems.hpp"
#include "method/symplectic/spark_tableau.hpp"

namespace hinge::shake_test {
namespace {

using problems::distance;
using problems::integrate;
using problems::Problem;

/// A particle on an ellipsoid of revolution in a field that has the same axis, at no special point of its motion.
Problem ellipsoid() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  const Expression across = q[0] * q[0] + q[1] * q[1];
  h.hamiltonian(dot(p, p) / 2.0 + 2.0 * q[2] + across * across);
  h.constrain((across + 3.0 * q[2] * q[2] - 1.0) / 2.0);
  const double height = std::sqrt(0.2);
  return {h.build(), {.position = {0.6, 0.2, height}, .momentum = {-0.2 - 0.9 * height, 0.6 - 0.3 * height, 0.2}}};
}

std::vector<double> orders(const std::vector<double>& errors) {
  std::vector<double> list;
  for (std::size_t i = 1; i < errors.size(); ++i) list.push_back(std::log2(errors[i - 1] / errors[i]));
  return list;
}

TEST(Shake, HasThePositionsOfRattle) {
  struct Case {
    const char* name;
    Problem problem;
    double step, end;
  };
  for (const auto& [name, problem, step, end] : {Case{"double pendulum", problems::double_pendulum(), 0.001, 2.0},
                                                 {"ellipsoid", ellipsoid(), 0.02, 40.0},
                                                 {"pendulum", problems::pendulum(), 0.01, 20.0},
                                                 {"hoop", problems::rotating_hoop(), 0.002, 4.0},
                                                 {"chain", problems::chain(10), 0.001, 0.5}}) {
    Simulation a(problem.system, shake(), {.step = step}), b(problem.system, rattle(), {.step = step});
    a.start(problem.start);
    b.start(problem.start);
    double worst = 0;
    while (a.state().t < end) {
      a.step();
      b.step();
      worst = std::max(worst, distance(a.state().y, b.state().y));
    }
    EXPECT_LT(worst, 1e-11) << name;  // measured 3.3e-13
  }
}

TEST(Shake, HasTheMeanOfTwoMultipliersOfRattle) {  // which is why its multiplier is of higher order
  const Problem problem = ellipsoid();
  const auto a = shake().bind(problem.system, {}), b = rattle().bind(problem.system, {});
  State s{0, problem.start.position, problem.start.momentum, {0}}, r = s;
  for (int k = 0; k < 10; ++k) {
    ASSERT_TRUE(a->step(s, 0.05));
    ASSERT_TRUE(b->step(r, 0.05));
    const double second = b->multipliers()[1];
    State next = r;
    const auto look = rattle().bind(problem.system, {});
    ASSERT_TRUE(look->step(next, 0.05));
    EXPECT_NEAR(s.psi[0], (second + look->multipliers()[0]) / 2, 1e-11);  // measured 8.1e-14
  }
}

TEST(Shake, HasOrderTwoInPositionVelocityAndMultiplier) {
  const Problem problem = ellipsoid();
  const State exact = integrate(problem, gauss_lobatto(6), 0.02, 2.0);
  std::array<std::vector<double>, 3> errors;
  std::vector<double> rattle_multiplier, velocity_difference;
  for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
    const State s = integrate(problem, shake(), h, 2.0);
    errors[0].push_back(distance(s.y, exact.y));
    errors[1].push_back(distance(s.z, exact.z));
    errors[2].push_back(distance(s.psi, exact.psi));
    const State r = integrate(problem, rattle(), h, 2.0);
    velocity_difference.push_back(distance(s.z, r.z));
    rattle_multiplier.push_back(distance(r.psi, exact.psi));
  }
  EXPECT_NEAR(orders(errors[0]).back(), 2, 0.05);            // measured 1.5e-5 off
  EXPECT_NEAR(orders(errors[1]).back(), 2, 0.05);            // measured 6.1e-5 off
  EXPECT_NEAR(orders(errors[2]).back(), 2, 0.05);            // measured 6.9e-5 off
  EXPECT_NEAR(orders(velocity_difference).back(), 2, 0.05);  // measured 1e-4 off
  EXPECT_GT(velocity_difference.back(), 1e-7);               // measured 4.4e-6
  EXPECT_NEAR(orders(rattle_multiplier).back(), 1, 0.05);    // the control; measured 0.008 off
  EXPECT_EQ(shake().order, 2);
  EXPECT_EQ(shake().multiplier_order, 2);
}

TEST(Shake, KeepsThePositionLevelToRoundOffAndTheVelocityLevelToOrderTwo) {
  for (const Problem& problem : {ellipsoid(), problems::double_pendulum(), problems::rotating_hoop()}) {
    std::vector<double> hidden;
    for (const double h : {0.02, 0.01, 0.005}) {
      Simulation run(problem.system, shake(), {.step = h});
      run.start(problem.start);
      run.until(2.0);
      EXPECT_LT(run.report().constraint, 4e-15);  // measured 4.4e-16
      hidden.push_back(run.report().hidden_constraint);
    }
    EXPECT_GT(hidden.back(), 1e-6);               // measured 1.8e-5 at least
    EXPECT_NEAR(orders(hidden).back(), 2, 0.15);  // measured 0.004 off at most
  }
  EXPECT_TRUE(shake().info.preserves.position_level);
  EXPECT_FALSE(shake().info.preserves.velocity_level);
}

TEST(Shake, LetsNeitherEnergyNorVelocityLevelDrift) {
  Simulation run(ellipsoid().system, shake(), {.step = 0.02});
  run.start(ellipsoid().start);
  run.until(100.0);
  const double energy = *run.report().energy_error, hidden = run.report().hidden_constraint;
  run.until(1000.0);
  EXPECT_LT(*run.report().energy_error / energy, 1.2);      // measured 1.00
  EXPECT_LT(run.report().hidden_constraint / hidden, 1.2);  // measured 1.00
}

std::vector<double> one_step(const Problem& problem, const MethodChoice& method, const std::vector<double>& x,
                             double h) {
  State s{0, {x[0], x[1], x[2]}, {x[3], x[4], x[5]}, {1.0}};
  const StepResult result = method.bind(problem.system, {})->step(s, h);
  EXPECT_TRUE(result) << result.reason;
  s.y.insert(s.y.end(), s.z.begin(), s.z.end());
  return s.y;
}

double two_form(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += a[i] * b[3 + i] - a[3 + i] * b[i];
  return sum;
}

// Largest |omega(D xi, D eta) - omega(xi, eta)| over tangent vectors of {g = 0, g_q p = 0} at the start.
double symplectic_defect(const MethodChoice& method, double h) {
  const Problem problem = ellipsoid();
  std::vector<double> x = problem.start.position;
  x.insert(x.end(), problem.start.momentum.begin(), problem.start.momentum.end());
  const std::array<double, 3> d{1, 1, 3}, g{x[0], x[1], 3 * x[2]};
  const double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
  std::vector<std::vector<double>> tangents, images;
  for (std::size_t k = 0; k < 6; ++k) {
    std::vector<double> xi(6, 0.0);
    xi[k] = 1;
    double along = 0, rate = 0;
    for (std::size_t i = 0; i < 3; ++i) along += g[i] * xi[i] / square;
    for (std::size_t i = 0; i < 3; ++i) xi[i] -= along * g[i];
    for (std::size_t i = 0; i < 3; ++i) rate += (x[3 + i] * d[i] * xi[i] + g[i] * xi[3 + i]) / square;
    for (std::size_t i = 0; i < 3; ++i) xi[3 + i] -= rate * g[i];
    tangents.push_back(xi);
    const double delta = 1e-5;
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

TEST(Shake, ConservesTheSymplecticFormOnTangentVectors) {
  for (const double h : {0.1, 0.05}) {
    EXPECT_LT(symplectic_defect(shake(), h), 1e-9);                             // measured 9.3e-11
    EXPECT_GT(symplectic_defect(spark(implicit_euler_tableau(0.5)), h), 1e-4);  // the control; measured 2.5e-2 and 7e-3
  }
}

TEST(Shake, KeepsTheMomentumAboutTheAxis) {
  Simulation run(ellipsoid().system, shake(), {.step = 0.05});
  run.start(ellipsoid().start);
  const auto momentum = [&] { return run.state().y[0] * run.state().z[1] - run.state().y[1] * run.state().z[0]; };
  const double before = momentum();
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    run.step();
    worst = std::max(worst, std::abs(momentum() - before));
  }
  EXPECT_LT(worst, 1e-13);  // measured 2.6e-15
}

TEST(Shake, IsSymmetricFromItsOwnValuesOnly) {
  const Problem problem = ellipsoid();
  std::vector<double> x = problem.start.position;
  x.insert(x.end(), problem.start.momentum.begin(), problem.start.momentum.end());
  std::vector<double> defects;
  for (const double h : {0.1, 0.05, 0.025}) {
    const auto there_and_back = [&](const std::vector<double>& from) {
      return distance(one_step(problem, shake(), one_step(problem, shake(), from, h), -h), from);
    };
    defects.push_back(there_and_back(x));
    EXPECT_LT(there_and_back(one_step(problem, shake(), x, h)), 1e-13);  // measured 1.7e-15
  }
  EXPECT_GT(defects.back(), 1e-6);              // measured 2.8e-5
  EXPECT_NEAR(orders(defects).back(), 2, 0.3);  // measured 0.002 off
  EXPECT_FALSE(shake().info.preserves.symmetric);
}

TEST(Shake, RemembersNothingThatChangesANumber) {
  for (const Problem& problem : {ellipsoid(), problems::double_pendulum(), problems::rotating_hoop()}) {
    const std::vector<double>& z = problem.start.momentum.empty() ? problem.start.velocity : problem.start.momentum;
    const auto m = static_cast<std::size_t>(problem.system->npsi());
    State a{0, problem.start.position, z, std::vector<double>(m, 0.0)}, b = a;
    const auto remembering = shake().bind(problem.system, {}), forgetful = shake().bind(problem.system, {});
    for (int k = 0; k < 100; ++k) {
      const double h = k < 50 ? 0.01 : k < 80 ? 0.005 : -0.01;  // and changes of the step
      ASSERT_TRUE(remembering->step(a, h));
      forgetful->reset();
      ASSERT_TRUE(forgetful->step(b, h));
    }
    EXPECT_LT(distance(a.y, b.y), 1e-12);      // measured 6.3e-16
    EXPECT_LT(distance(a.z, b.z), 1e-12);      // measured 1.9e-14
    EXPECT_LT(distance(a.psi, b.psi), 1e-10);  // measured 2e-12: floor eps / h^2
    EXPECT_LT(remembering->counters().evaluations, forgetful->counters().evaluations);

    State other{a.t, problem.start.position, z, std::vector<double>(m, 0.0)}, same = other;  // changed from outside
    if (problem.system->structure().depends_on_time) continue;
    ASSERT_TRUE(remembering->step(other, -0.01));
    ASSERT_TRUE(shake().bind(problem.system, {})->step(same, -0.01));
    EXPECT_LT(distance(other.y, same.y), 1e-14);  // measured 2.5e-16
    EXPECT_LT(distance(other.z, same.z), 1e-12);  // measured 4.4e-15
  }
}

TEST(Shake, TakesOneForceAndOnePositionLevelPerStep) {
  Simulation run(problems::pendulum().system, shake(), {.step = 0.001});
  run.start(problems::pendulum().start);
  run.until(1.0);
  const Counters& c = run.report().counters;
  EXPECT_EQ(c.steps, 1000);
  EXPECT_LT(c.iterations, 2500);  // measured 1961
}

TEST(Shake, LeavesTheStateAsItWasWhenAStepFails) {
  const Problem problem = problems::double_pendulum();
  const auto stepper = shake().bind(problem.system, {});
  State s{0, problem.start.position, problem.start.velocity, {0, 0}};
  ASSERT_TRUE(stepper->step(s, 0.001));
  const State before = s;
  const StepResult result = stepper->step(s, 5.0);  // hopeless
  ASSERT_FALSE(result);
  EXPECT_NE(result.reason.find("position level"), std::string::npos) << result.reason;
  EXPECT_EQ(s.t, before.t);
  EXPECT_EQ(s.y, before.y);
  EXPECT_EQ(s.z, before.z);
  EXPECT_EQ(s.psi, before.psi);
  EXPECT_TRUE(stepper->step(s, 0.001)) << "and the next, sensible one works";
}

TEST(Shake, RefusesWhatIsNotSeparable) {
  for (const Problem& problem : {problems::s1(), problems::s2(), problems::variable_mass(), problems::relativistic()}) {
    try {
      shake().bind(problem.system, {});
      ADD_FAILURE() << "not refused";
    } catch (const UnsuitableMethod& e) {
      EXPECT_NE(std::string(e.what()).find("rattle gives the same positions"), std::string::npos) << e.what();
    }
  }
}

TEST(Shake, WorksWithoutConstraints) {
  Lagrangian l;
  const Expression x = l.coordinate("x"), v = l.velocity(x);
  l.kinetic(v * v / 2.0);
  l.potential(x * x / 2.0);
  Simulation run(l, shake(), {.step = 0.01});
  run.start({.position = {1}});
  run.until(1.0);
  EXPECT_NEAR(run.state().y[0], std::cos(1.0), 1e-5);  // measured 3.5e-6
}

}  // namespace
}  // namespace hinge::shake_test
