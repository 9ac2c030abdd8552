// Laws of impact at an event: Poisson's two phases with each cone, what Zeno's rule leaves alone, and warnings.
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"

namespace hinge::impact_law_test {
namespace {

constexpr double g = 9.81;

// Zeno's rule at one contact leaves the impact law of the others alone: balls a and b on the floor and on each other,
// and c, apart, whose rebound is below v_stop in the second case.
TEST(ImpactLaws, ContactsThatCloseLeaveTheLawOfOthers) {
  for (const double slow : {-1.0, -1e-7})
    for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::sequential}) {
      Lagrangian l;
      const Expression a = l.coordinate("a"), b = l.coordinate("b"), c = l.coordinate("c");
      const Expression va = l.velocity(a), vb = l.velocity(b), vc = l.velocity(c);
      l.kinetic(0.5 * (va * va + vb * vb + vc * vc));
      l.potential(g * (a + b + c));
      l.unilateral(a, {.name = "fa", .restitution = 0.5});
      l.unilateral(b - a, {.name = "ab", .restitution = 1});
      l.unilateral(c, {.name = "fc", .restitution = 0.5});
      EventDrivenOptions options;
      options.impact = law;
      Simulation run(l, event_driven(options), {.step = 1e-9});
      run.start({.position = {0, 0, 0}, .velocity = {-1, -1, slow}});
      run.step();
      // at 1/2 both; but Poisson's law returns half of the impulse 2 at the floor, and all of the 1 between the balls
      const bool poisson = law == ImpactLaw::poisson;
      const double expected[] = {poisson ? 0.0 : 0.5, poisson ? 1.0 : 0.5};
      EXPECT_NEAR(run.state().z[0], expected[0], 1e-7) << slow;
      EXPECT_NEAR(run.state().z[1], expected[1], 1e-7) << slow;
      EXPECT_NEAR(run.state().z[2], slow < -0.5 ? 0.5 : 0, 1e-7);
    }
}

std::vector<double> poisson_impact(Lagrangian& l, FrictionModel friction, const Start& start) {
  EventDrivenOptions options;
  options.impact = ImpactLaw::poisson;
  options.solving.friction = friction;
  options.solving.facets = 4;
  Simulation run(l, event_driven(options), {.step = 1e-9});
  run.start(start);
  run.step();
  return run.state().z;
}

// A point strikes at 30 degrees to a corner of the friction pyramid: both phases take their friction from that corner;
// with the round cone from the direction of slip.
TEST(ImpactLaws, BothPhasesOfPoissonsLawHaveTheSameCone) {
  const double mu = 0.1, e = 0.5, c = std::sqrt(0.75), s = 0.5;
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.unilateral(q[2], {.name = "floor", .restitution = e, .friction = mu, .slip = {v[0], v[1]}});
  const Start start{.position = {0, 0, 0}, .velocity = {c, s, -1}};
  const double impulse = mu * (1 + e);
  const std::vector<double> pyramid = poisson_impact(l, FrictionModel::polyhedral, start);
  EXPECT_NEAR(pyramid[0], c - impulse, 1e-13);
  EXPECT_NEAR(pyramid[1], s, 1e-13);
  EXPECT_NEAR(pyramid[2], e, 1e-13);
  const std::vector<double> round = poisson_impact(l, FrictionModel::coulomb, start);
  EXPECT_NEAR(round[0], c * (1 - impulse), 1e-13);
  EXPECT_NEAR(round[1], s * (1 - impulse), 1e-13);
}

// min 1/2 r.W r + q.r over r_N >= least, |r_T| <= mu r_N in the plane, by all active sets
Eigen::Vector2d cone_minimum(const Eigen::Matrix2d& W, const Eigen::Vector2d& q, double mu, double least) {
  const Eigen::Vector2d rows[] = {{1, 0}, {mu, -1}, {mu, 1}};
  const double bounds[] = {least, 0, 0};
  for (int set = 0; set < 8; ++set) {
    const int m = (set & 1) + (set >> 1 & 1) + (set >> 2 & 1);
    if (m > 2) continue;
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(2 + m, 2 + m);
    Eigen::VectorXd right = Eigen::VectorXd::Zero(2 + m);
    K.topLeftCorner(2, 2) = W;
    right.head(2) = -q;
    for (int k = 0, i = 2; k < 3; ++k)
      if (set >> k & 1) {
        K.col(i).head(2) = -rows[k];
        K.row(i).head(2) = rows[k].transpose();
        right[i++] = bounds[k];
      }
    const Eigen::VectorXd x = K.fullPivLu().solve(right);
    bool good = (K * x - right).norm() < 1e-12 && (m == 0 || x.tail(m).minCoeff() > -1e-12);
    for (int k = 0; k < 3; ++k) good = good && rows[k].dot(x.head(2)) >= bounds[k] - 1e-12;
    if (good) return x.head(2);
  }
  ADD_FAILURE() << "no minimum";
  return Eigen::Vector2d::Zero();
}

TEST(ImpactLaws, PoissonsExpansionWithTheConvexifiedCone) {
  for (const double coupling : {0.6, 0.3, -0.3, -0.6, -0.9})
    for (const double along : {0.2, 2.0}) {
      const double mu = 0.9, e = 0.3;
      Lagrangian l;
      const Vector q = l.coordinates("q", 2), v = l.velocity(q);
      l.kinetic(0.5 * dot(v, v) + coupling * v[0] * v[1]);
      l.unilateral(q[1], {.name = "floor", .restitution = e, .friction = mu, .slip = {v[0]}});
      const Start start{.position = {0, 0}, .velocity = {along, -1}};
      Eigen::Matrix2d W;  // rows N, T
      W << 1, -coupling, -coupling, 1;
      W /= 1 - coupling * coupling;
      const Eigen::Vector2d before{-1, along}, compression = cone_minimum(W, before, mu, 0);
      const Eigen::Vector2d expansion = cone_minimum(W, before + W * compression, mu, e * compression[0]);
      const Eigen::Vector2d after = before + W * (compression + expansion);
      const std::vector<double> z = poisson_impact(l, FrictionModel::convexified, start);
      EXPECT_NEAR(z[1], after[0], 1e-10) << coupling << " " << along;
      EXPECT_NEAR(z[0], after[1], 1e-10) << coupling << " " << along;
    }
  // Three balls in line, the first slides along the second; the rebound of the third presses on the first contact once
  // more, in the expansion. Convexified contacts that slide leave with u_N = mu |u_T|, exact ones with 0.
  for (const FrictionModel friction : {FrictionModel::coulomb, FrictionModel::convexified}) {
    const double mu = 0.2;
    Lagrangian l;
    const Vector x = l.coordinates("x", 3), y = l.coordinates("y", 3), v = l.velocity(x), w = l.velocity(y);
    l.kinetic(0.5 * dot(v, v) + 0.5 * dot(w, w));
    l.unilateral(x[1] - x[0] - 1.0, {.name = "one", .friction = mu, .slip = {w[1] - w[0]}});
    l.unilateral(x[2] - x[1] - 1.0, {.name = "two", .restitution = 1, .friction = mu, .slip = {w[2] - w[1]}});
    const std::vector<double> z =
        poisson_impact(l, friction, {.position = {0, 1, 2, 0, 0, 0}, .velocity = {1, 0, 0, 3, 0, 0}});
    const double slip = std::abs(z[4] - z[3]);
    EXPECT_GT(slip, 1);
    EXPECT_NEAR(z[1] - z[0], friction == FrictionModel::coulomb ? 0 : mu * slip, 1e-10);
  }
}

// Newton's law with restitution and friction may create energy: every method with that law says so, and no other.
TEST(ImpactLaws, WarnsOfNewtonsLawWithFriction) {
  EventDrivenOptions poisson;
  poisson.impact = ImpactLaw::poisson;
  for (const double mu : {0.0, 0.3}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 2), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    l.potential(g * q[1]);
    l.unilateral(q[1], {.name = "floor", .restitution = 0.5, .friction = mu, .slip = {v[0]}});
    const auto warns = [&](const MethodChoice& method) {
      return Simulation(l, method, {.step = 0.01}).report().warnings.size();
    };
    for (const MethodChoice& method : {moreau_jean(), event_driven(), generalized_alpha(), paoli_schatzman()})
      EXPECT_EQ(warns(method), mu > 0 ? 1u : 0u) << method.description;
    EXPECT_EQ(warns(event_driven(poisson)), 0u);
  }
}

}  // namespace
}  // namespace hinge::impact_law_test
