// The true symplectic Euler method with contacts (ODAIs), against event-driven motion and closed forms.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"

namespace hinge::one_sided_euler_test {
namespace {

constexpr double g = 9.81;

// Jay's test problem (4.2) with the constraint y1 - b y0^3 >= 0: friction cf N^rf, nonlinear in the multiplier.
Lagrangian cubic() {
  Lagrangian l;
  const Vector y = l.coordinates("y", 2), v = l.velocity(y);
  const double b = 0.01, cf = 0.1, rf = 0.85;
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * y[1]);
  const Expression n = l.contact_multiplier("n");
  const Vector normal{-3 * b * y[0] * y[0], 1.0};
  const Expression friction = cf * pow(dot(normal, normal) * n * n, rf / 2) / norm(v);
  UnilateralOptions options;
  options.name = "curve";
  options.multiplier = n;
  options.reaction = n * normal - friction * v;
  l.unilateral(y[1] - b * y[0] * y[0] * y[0], options);
  return l;
}

Report slide(const MethodChoice& method, double h, double end) {
  Simulation run(cubic(), method, {.step = h});
  run.start({.position = {10, 10}, .velocity = {-3.6, -10.8}});
  run.until(end);
  return run.report();
}

TEST(OneSidedEuler, IsTheTrueMethodWhileTheContactIsClosed) {
  // the limits that the bilateral problem has, papers/symplectic-euler/e2.toml
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const Report report = slide(symplectic_euler(), k == 0 ? 1e-3 : 5e-4, 1);
    error[k] = std::hypot(report.final.y[0] - 0.47793426, report.final.y[1] - 0.00109170);
    EXPECT_LE(report.contacts->penetration, 1e-14);
    EXPECT_EQ(report.contacts->loaded, 1);
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 1, 0.05);
}

TEST(OneSidedEuler, ConvergesWithOrderOneThroughLiftOff) {
  const State exact = slide(event_driven(), 0.1, 2.5).final;
  double error[3];
  for (int k = 0; k < 3; ++k) {
    const Report report = slide(symplectic_euler(), 4e-3 / std::pow(2, k), 2.5);
    EXPECT_EQ(report.contacts->loaded, 0);
    EXPECT_LE(report.contacts->penetration, 1e-13);
    error[k] = std::hypot(report.final.y[0] - exact.y[0], report.final.y[1] - exact.y[1]);
  }
  for (int k = 0; k < 2; ++k)
    EXPECT_NEAR(std::log2(error[k] / error[k + 1]), 1, 0.15) << error[k] << " " << error[k + 1];
}

TEST(OneSidedEuler, LandsWithoutReboundAndRests) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1]);
  l.unilateral(q[1], {.name = "floor"});
  l.unilateral(2.0 - q[0], {.name = "wall"});
  Simulation run(l, symplectic_euler(), {.step = 0.01});
  run.start({.position = {0, 1}, .velocity = {1, 0}});
  run.until(5);
  EXPECT_NEAR(run.state().y[0], 2, 1e-14);
  EXPECT_NEAR(run.state().y[1], 0, 1e-14);
  EXPECT_LE(std::hypot(run.state().z[0], run.state().z[1]), 1e-14);
  EXPECT_EQ(run.report().contacts->impacts, 2);
  EXPECT_LE(run.report().contacts->penetration, 1e-14);
}

// A string goes slack once and strikes once; where its force vanishes it opens and closes by O(h^2), which is no
// impact.
TEST(OneSidedEuler, CountsOneImpactAndItsLoss) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(g * q[1]);
  l.unilateral(1 - norm(q));
  Simulation run(l, symplectic_euler(), {.step = 1e-3});
  run.start({.position = {0, -1}, .velocity = {std::sqrt(3.5 * g), 0}});
  run.until(3);
  const Report report = run.report();
  EXPECT_EQ(report.contacts->impacts, 1);
  // all that the energy lost, but for the error of order 1 on the way: 16.5333 of 16.5696
  EXPECT_NEAR(report.contacts->impact_loss, 0.75 * g - *report.energy, 0.05);
  EXPECT_GT(report.contacts->impact_loss, 16);
}

TEST(OneSidedEuler, RefusesLawsThatItDoesNotKnow) {
  Lagrangian l;
  const Expression q = l.coordinate("q"), v = l.velocity(q);
  l.kinetic(0.5 * v * v);
  l.unilateral(q, {.restitution = 0.5});
  EXPECT_THROW(Simulation(l, symplectic_euler(), {.step = 0.1}), UnsuitableMethod);
  Lagrangian other;
  const Expression x = other.coordinate("x"), w = other.velocity(x);
  other.kinetic(0.5 * w * w);
  other.unilateral(x);
  EXPECT_THROW(Simulation(other, symplectic_euler({.natural = true}), {.step = 0.1}), UnsuitableMethod);
  EXPECT_THROW(Simulation(other, gauss_lobatto(2), {.step = 0.1}), UnsuitableMethod);
  Lagrangian idle;
  const Expression y = idle.coordinate("y"), u = idle.velocity(y);
  idle.kinetic(0.5 * u * u);
  UnilateralOptions options;
  options.multiplier = idle.contact_multiplier("n");
  options.reaction = Vector{1.0};
  idle.unilateral(y, options);
  EXPECT_THROW(idle.build(), InputError);  // a reaction without its multiplier
}

}  // namespace
}  // namespace hinge::one_sided_euler_test
