// DAEs with complementarity pairs, by implicit steps: diodes, sweeping processes, projected dynamics, variational
// inequalities. Numbers from an independent implementation and from closed forms.
#include "method/nonsmooth/pair_stepper.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/simulate.hpp"

namespace hinge::pair_stepper_test {
namespace {

MethodChoice implicit_steps(double theta) {
  MethodChoice choice;
  choice.info.name = "implicit";
  choice.order = 1;
  choice.info.can.dae = choice.info.can.contacts = true;
  choice.make = [theta](std::shared_ptr<const System> system, const SolverOptions& options, const StepOptions&) {
    return make_pair_stepper(std::move(system), theta, options);
  };
  return choice;
}

State run(const Dae& dae, double theta, double h, double end, std::vector<double> start,
          Consistency consistent = Consistency::check) {
  Simulation simulation(dae, implicit_steps(theta), {.step = h});
  Start initial;
  initial.position = std::move(start);
  initial.consistent = consistent;
  simulation.start(initial);
  simulation.until(end);
  EXPECT_LE(simulation.report().contacts->complementarity, 1e-11);
  return simulation.state();
}

// C v' = i - v/R, diode: 0 <= i _|_ v + Rs i - V sin(w t) >= 0
Dae rc_half_wave() {
  Dae dae;
  const Expression v = dae.unknown("v"), i = dae.unknown("i");
  dae.equation(1e-4 * dae.derivative(v) - i + v / 1000.0);
  dae.complementarity(v + 10.0 * i - 10.0 * sin(100 * std::numbers::pi * dae.t()), i);
  return dae;
}

TEST(PairStepper, RectifierAgainstTheIndependentImplementation) {
  // 12 and 13 digits are given
  EXPECT_NEAR(run(rc_half_wave(), 1, 1e-4, 0.1, {0, 0}).y[0], 8.30306660638864, 1e-11);
  EXPECT_NEAR(run(rc_half_wave(), 1, 1e-5, 0.1, {0, 0}).y[0], 8.32017376950403, 1e-11);
}

TEST(PairStepper, RectifierConvergesToThePiecewiseExactSolution) {
  const double exact = 8.32214087512484;
  const double coarse = std::abs(run(rc_half_wave(), 1, 1e-4, 0.1, {0, 0}).y[0] - exact);
  const double fine = std::abs(run(rc_half_wave(), 1, 1e-5, 0.1, {0, 0}).y[0] - exact);
  EXPECT_NEAR(coarse, 0.0190742687, 1e-9);
  EXPECT_NEAR(std::log10(coarse / fine), 1.0, 0.05);
}

TEST(PairStepper, InductiveRectifier) {
  // L i' + R i = V sin - u, 0 <= i _|_ -u... : the diode takes the negative voltage, u >= 0
  Dae dae;
  const Expression i = dae.unknown("i"), u = dae.unknown("u");
  dae.equation(0.1 * dae.derivative(i) + 10.0 * i - 10.0 * sin(100 * std::numbers::pi * dae.t()) - u);
  dae.complementarity(i, u);
  EXPECT_NEAR(run(dae, 1, 1e-4, 0.01, {0, 0}).y[0], 0.39228397494620487, 1e-12);
  EXPECT_NEAR(run(dae, 1, 1e-5, 0.01, {0, 0}).y[0], 0.39504609914398275, 1e-12);
  // after the extinction at t = 0.01472 the current is zero, and stays so until the next wave
  EXPECT_EQ(run(dae, 1, 1e-4, 0.018, {0, 0}).y[0], 0.0);
}

// x' = A x + B l, w = C x + D l: four diodes in a bridge over a damped LC circuit
TEST(PairStepper, DiodeBridge) {
  Dae dae;
  const Expression v = dae.unknown("v"), i = dae.unknown("i");
  const Vector l = dae.unknowns("l", {4});
  dae.equation(1e-6 * dae.derivative(v) + i + l[2] - l[3]);
  dae.equation(1e-2 * dae.derivative(i) - v);
  dae.complementarity(1e-3 * l[0] + 1e-3 * l[1] - l[2], l[0]);
  dae.complementarity(1e-3 * l[0] + 1e-3 * l[1] - l[3], l[1]);
  dae.complementarity(-v + l[0], l[2]);
  dae.complementarity(v + l[1], l[3]);
  const double exact = 2.5369729963863623;  // an ideal bridge and R are a damped LC circuit
  double error[2];
  for (int k = 0; k < 2; ++k)
    error[k] = std::abs(run(dae, 0.5, k == 0 ? 1e-6 : 1e-7, 5e-4, {10, 0, 0, 0, 0, 0}).y[0] - exact);
  EXPECT_LE(error[0], 0.0093);  // the golden's own scheme: 0.0092469
  EXPECT_LE(error[1], 0.00091);
}

// -x' in N_K(t)(x), K = unit disk around (t, 0): x' = -2 l (x - c), 0 <= 1 - |x - c|^2 _|_ l >= 0
TEST(PairStepper, SweepingDiskDrawsATractrix) {
  Dae dae;
  const Vector x = dae.unknowns("x", {2});
  const Expression l = dae.unknown("l");
  const Vector d = x - Vector{dae.t(), 0.0};
  const Vector rate = dae.derivative(x);
  dae.equation(rate[0] + 2.0 * l * d[0]);
  dae.equation(rate[1] + 2.0 * l * d[1]);
  dae.complementarity(1.0 - dot(d, d), l);
  // catching up: the step is the projection onto K(t1), so the same numbers to round-off
  const State coarse = run(dae, 1, 0.1, 2, {0, 1, 0}), fine = run(dae, 1, 0.001, 2, {0, 1, 0});
  EXPECT_NEAR(coarse.y[0], 1.0406037291934385, 1e-13);
  EXPECT_NEAR(coarse.y[1], 0.2820616875126124, 1e-13);
  EXPECT_NEAR(fine.y[0], 1.0360192217446933, 1e-12);
  EXPECT_NEAR(fine.y[1], 0.26597191422083166, 1e-12);
}

TEST(PairStepper, PlayIsExact) {
  // x in [sin t - 1/2, sin t + 1/2]
  Dae dae;
  const Expression x = dae.unknown("x"), up = dae.unknown("up"), down = dae.unknown("down");
  dae.equation(dae.derivative(x) - up + down);
  dae.complementarity(x - sin(dae.t()) + 0.5, up);
  dae.complementarity(sin(dae.t()) + 0.5 - x, down);
  for (const double h : {0.1, 0.01}) EXPECT_NEAR(run(dae, 1, h, 10, {0, 0, 0}).y[0], -0.044021110889369774, 1e-14);
}

TEST(PairStepper, ProjectedDynamics) {
  // x' = prox_T(1, 0) in the unit disk
  Dae dae;
  const Vector x = dae.unknowns("x", {2});
  const Expression l = dae.unknown("l");
  const Vector rate = dae.derivative(x);
  dae.equation(rate[0] - 1.0 + 2.0 * l * x[0]);
  dae.equation(rate[1] + 2.0 * l * x[1]);
  dae.complementarity(1.0 - dot(x, x), l);
  const State s = run(dae, 1, 0.001, 2, {0, 0.5, 0});
  EXPECT_NEAR(s.y[0], 0.9852285590843414, 1e-12);  // projected Euler: the same algorithm
  EXPECT_NEAR(s.y[1], 0.17124452214477545, 1e-12);
}

// No derivatives at all: F(u) - c_u l = 0, 0 <= c(u) _|_ l >= 0 on the unit disk, at every time.
TEST(PairStepper, VariationalInequalities) {
  const auto solve = [](double a, double b, double c, double d, double e, double f) {
    Dae dae;
    const Vector u = dae.unknowns("u", {2});
    const Expression l = dae.unknown("l");
    dae.equation(a * u[0] + b * u[1] + e + 2.0 * l * u[0]);
    dae.equation(c * u[0] + d * u[1] + f + 2.0 * l * u[1]);
    dae.complementarity(1.0 - dot(u, u), l);
    return run(dae, 1, 1, 1, {0.1, 0.1, 0}, Consistency::project);
  };
  const State monotone = solve(2, -1, 1, 1, -4, 1);
  EXPECT_NEAR(monotone.y[0], 0.8200189278418427, 1e-14);
  EXPECT_NEAR(monotone.y[1], -0.5723364028096717, 1e-14);
  EXPECT_NEAR(2 * monotone.y[2], 2.1799810721581574, 1e-13);
  const State skew = solve(0, -1, 1, 0, 0.3, -0.2);  // plain fixed points fail here
  EXPECT_NEAR(skew.y[0], 0.2, 1e-15);
  EXPECT_NEAR(skew.y[1], 0.3, 1e-15);
}

TEST(PairStepper, StartsInTheRightMode) {
  Simulation simulation(rc_half_wave(), implicit_steps(1), {.step = 1e-4, .start = 0.001});
  simulation.start({.position = {0, 0}});
  // the diode conducts: i = V sin(w t)/Rs, and v' follows
  const double current = std::sin(0.1 * std::numbers::pi);
  EXPECT_NEAR(simulation.state().y[1], current, 1e-14);
  EXPECT_NEAR(simulation.state().z[0], current / 1e-4, 1e-9);
}

TEST(PairStepper, RefusesWhatCannotBe) {
  Dae dae;
  const Expression x = dae.unknown("x"), l = dae.unknown("l");
  dae.equation(dae.derivative(x) - l);
  dae.complementarity(x, l);
  EXPECT_THROW(run(dae, 1, 0.1, 1, {-1, 0}), InconsistentStart);
  EXPECT_NEAR(run(dae, 1, 0.1, 1, {-1, 0}, Consistency::project).y[0], 0, 1e-300);
  EXPECT_THROW(make_pair_stepper(dae.build(), 0.3, {}), InputError);
  EXPECT_THROW(Simulation(dae, radau(), {.tolerance = {1e-6, 1e-6}}), UnsuitableMethod);
  Dae short_of_one;
  const Expression y = short_of_one.unknown("y"), z = short_of_one.unknown("z");
  short_of_one.complementarity(y, z);
  EXPECT_THROW(short_of_one.build(), SingularDae);

  // 0 <= l _|_ -l - 1 >= 0 has no solution: the run says so and keeps what it has
  Dae impossible;
  const Expression m = impossible.unknown("m"), w = impossible.unknown("w");
  impossible.equation(w + m + 1.0);
  impossible.complementarity(m, w);
  Simulation simulation(impossible, implicit_steps(1), {.step = 0.1});
  simulation.start({.position = {0, 0}});
  EXPECT_THROW(simulation.until(1), StepFailure);
}

}  // namespace
}  // namespace hinge::pair_stepper_test
