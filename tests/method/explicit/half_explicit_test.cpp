// Half-explicit methods against an independent implementation (T8), and their orders, levels and step control.
#include "method/explicit/half_explicit.hpp"

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/explicit/explicit_problems.hpp"

namespace hinge::half_explicit_test {
namespace {

using namespace explicit_problems;

TEST(HalfExplicit, TableausSatisfyTheQuadratureConditions) {
  for (const int order : {1, 3, 4}) {
    const HalfExplicitTableau t = half_explicit_tableau(order);
    for (std::size_t i = 0; i < t.a.size(); ++i) {
      double sum = 0;
      for (const double a : t.a[i]) sum += a;
      EXPECT_NEAR(sum, t.c[i + 1], 1e-14);
      EXPECT_NE(t.a[i].back(), 0);
    }
    for (int k = 1; k <= order; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < t.a.back().size(); ++j) sum += t.a.back()[j] * std::pow(t.c[j], k - 1);
      EXPECT_NEAR(sum, 1.0 / k, 1e-14);
    }
  }
}

TEST(HalfExplicit, ReproducesTheGoldens) {
  const std::pair<int, const char*> methods[] = {{1, "HEuler"}, {3, "HERK3"}, {4, "HEM4"}};
  const std::pair<Problem, std::string> mechanisms[] = {{pendulum(), "pendulum"}, {hoop(), "hoop"}};
  for (const auto& [problem, name] : mechanisms)
    for (const auto& [order, label] : methods)
      for (const Projection projection : {Projection::none, Projection::both}) {
        const std::string key = name + "|half-explicit " + label + (projection == Projection::both ? "+proj(28)" : "");
        const auto& row = golden()["half_explicit"][key]["solution_N100"];
        const State s = problems::integrate(problem, half_explicit({order, projection}), 0.01, 1.0);
        goldens::expect_near(s.y, goldens::numbers(row["p"]), 2e-12, key + " p");
        goldens::expect_near(s.z, goldens::numbers(row["v"]), 2e-12, key + " v");
        goldens::expect_near(s.psi, goldens::numbers(row["lam_post"]), 2e-12, key + " lambda");
      }
}

TEST(HalfExplicit, HasItsOrderInAllParts) {
  const std::pair<Problem, std::string> mechanisms[] = {{hoop(), "hoop"}, {slider_crank(), "slider_crank"}};
  for (const auto& [problem, name] : mechanisms)
    for (const int order : {1, 3, 4, 5})
      for (const Projection projection : {Projection::none, Projection::both}) {
        const Errors o = orders(problem, name, half_explicit({order, projection}),
                                order == 1   ? 400
                                : order == 5 ? 50
                                             : 200);
        EXPECT_NEAR(o.y, order, 0.2) << name << " " << order;
        EXPECT_NEAR(o.z, order, 0.2) << name << " " << order;
        EXPECT_NEAR(o.psi, order, 0.25) << name << " " << order;
      }
}

TEST(HalfExplicit, KeepsTheVelocityLevel) {
  for (const int order : {1, 3, 4, 5}) {
    const Levels kept = levels(hoop(), half_explicit({.order = order}), 0.01, 2);
    EXPECT_LT(kept.velocity, 4e-15) << order;
    EXPECT_GT(kept.position, 1e-10) << order;  // and no more than that
    const Levels both = levels(hoop(), half_explicit({order, Projection::both}), 0.01, 2);
    EXPECT_LT(both.velocity, 4e-15) << order;
    EXPECT_LT(both.position, 1e-15) << order;
  }
}

TEST(HalfExplicit, TakesASingularMass) {
  const Problem problem = slider_crank(0);
  const State coarse = problems::integrate(problem, half_explicit({.order = 4}), 0.01, 1),
              fine = problems::integrate(problem, half_explicit({.order = 4}), 0.005, 1);
  EXPECT_LT(distance(coarse.y, fine.y), 1e-6);
}

TEST(HalfExplicit, ErrorFollowsTheTolerance) {
  const auto r = reference("hoop");
  for (const int order : {3, 4, 5}) {
    double last = 1;
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
      const Report run = adaptive(hoop(), half_explicit({.order = order}), tolerance, 1.0);
      const double error = std::max(distance(run.final.y, r.p), distance(run.final.z, r.v));
      EXPECT_LT(error, 500 * tolerance) << order;  // measured up to 380: tol^(3/4) for order 3
      EXPECT_GT(error, 0.002 * tolerance) << order;
      EXPECT_LT(error, 0.2 * last) << order;
      EXPECT_LT(run.hidden_constraint, 4e-15);
      last = error;
    }
  }
}

TEST(HalfExplicit, InterpolatesToItsAccuracy) {
  const Problem problem = hoop();
  Simulation run(problem.system, half_explicit({.order = 4}), {.tolerance = {1e-6, 1e-6}});
  run.start(problem.start);
  const auto method = half_explicit({.order = 4}).bind(problem.system, {}, {{1e-6, 1e-6}});
  State s = run.state(), i = s;
  ASSERT_TRUE(method->start(s));
  while (s.t < 0.5) ASSERT_TRUE(method->advance(s, 3.0));
  const double before = s.t;
  ASSERT_TRUE(method->advance(s, 3.0));
  const double t = before + 0.3 * (s.t - before);
  method->interpolate(t, i);
  const State exact = problems::integrate(problem, explicit_runge_kutta(), t / 100, t);
  EXPECT_LT(distance(i.y, exact.y), 5e-6);
  EXPECT_LT(distance(i.z, exact.z), 5e-5);
  EXPECT_LT(distance(i.psi, exact.psi), 5e-4);
}

TEST(HalfExplicit, RefusesOtherOrders) {
  EXPECT_THROW(make_method("half-explicit", {{"order", 2.0}}), InputError);
  EXPECT_THROW(make_method("half-explicit", {{"projection", std::string("x")}}), InputError);
}

}  // namespace
}  // namespace hinge::half_explicit_test
