#include "formulation/symmetries.hpp"

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "method/problems.hpp"

namespace hinge::symmetries_test {
namespace {

using List = std::vector<std::string>;

ConservedMomenta momenta(const SystemBuilder& builder) {
  const auto system = builder.build();
  return conserved_momenta(constant_mass_form(*system, "test"));
}

// The largest deviation of the momentum about an axis in a run, and the energy's.
std::pair<double, double> measured(const SystemBuilder& builder, const MethodChoice& method, const Start& start,
                                   const MomentumMap& map) {
  Simulation run(builder, method, {.step = 0.01});
  run.observe_momentum("L", map);
  run.start(start);
  run.until(1);
  return {run.report().momentum_maps[0].error, *run.report().energy_error};
}

Lagrangian particle(const std::function<Expression(const Vector&)>& potential) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(potential(q));
  return l;
}
const Start turning = {.position = {1, 0, 0.2}, .velocity = {0.3, 0.1, 1}};

TEST(Symmetries, OfTheDoubleSphericalPendulumAreAboutTheVertical) {
  const auto problem = problems::double_pendulum();
  const ConservedMomenta found = conserved_momenta(constant_mass_form(*problem.system, "test"));
  EXPECT_EQ(found.kept, List{"angular momentum about e2"});
  EXPECT_TRUE(found.lost.empty());
}

TEST(Symmetries, OfTheSpringPendulumAreKept) {  // P3
  Lagrangian l;
  const Vector a = l.coordinates("q1", 3), b = l.coordinates("q2", 3), va = l.velocity(a), vb = l.velocity(b);
  l.kinetic(0.5 * (dot(va, va) + dot(vb, vb)));
  l.potential(9.81 * (a[1] + b[1]) + 25.0 * pow(norm(b) - 1.5, 2.0));
  l.constrain((dot(a, a) - 1.0) / 2.0);
  l.constrain((dot(b - a, b - a) - 1.0) / 2.0);
  EXPECT_EQ(momenta(l).kept, List{"angular momentum about e2"});
  const Start start = {.position = {1, 0, 0, 2, 0, 0}, .velocity = {0, 0, 1, 0, 0, 2.5}};
  const auto [momentum, energy] = measured(l, energy_momentum(), start, {.axis = {0, 1, 0}});
  EXPECT_LT(momentum, 1e-13);  // measured 3e-15
  EXPECT_LT(energy, 1e-12);    // measured 4e-14
  EXPECT_GT(measured(l, energy_momentum({.general = true}), start, {.axis = {0, 1, 0}}).first,
            1e-5);  // measured 2.7e-4: the control
}

TEST(Symmetries, ThatTheSchemeDoesNotShareAreNamed) {
  // |q|, written in such a way that it contains x^2 + z^2 and y
  const Lagrangian l = particle([](const Vector& q) { return exp(hypot(hypot(q[0], q[2]), q[1])); });
  const ConservedMomenta found = momenta(l);
  EXPECT_EQ(found.kept, List{"angular momentum about e2"});
  ASSERT_EQ(found.lost.size(), 2u);
  EXPECT_EQ(found.lost[0].momentum, "angular momentum about e1");
  EXPECT_NE(found.lost[0].because.find("of the potential is not a function of inner products"), std::string::npos);
  const auto [momentum, energy] = measured(l, energy_momentum(), turning, {.axis = {1, 0, 0}});
  EXPECT_GT(momentum, 1e-8);  // measured 2.6e-8
  EXPECT_LT(energy, 1e-13);

  // the same, written with q.q
  const Lagrangian whole = particle([](const Vector& q) { return exp(norm(q)); });
  EXPECT_EQ(momenta(whole).kept.size(), 3u);
  EXPECT_LT(measured(whole, energy_momentum(), turning, {.axis = {1, 0, 0}}).first, 1e-13);
}

// Parts that are not invariant do no harm where an invariant is a sum of them: (x^2 + z^2)^3 in x^2 and z^2.
TEST(Symmetries, OfASexticWrittenInSquaresAreShared) {
  const Lagrangian l = particle([](const Vector& q) {
    const Expression x = q[0] * q[0], z = q[2] * q[2];
    return x * x * x + 3.0 * x * x * z + 3.0 * x * z * z + z * z * z + q[1];
  });
  EXPECT_EQ(momenta(l).kept, List{"angular momentum about e2"});
  EXPECT_TRUE(momenta(l).lost.empty());
  EXPECT_LT(measured(l, energy_momentum(), turning, {.axis = {0, 1, 0}}).first, 1e-12);  // measured 8e-15
}

TEST(Symmetries, InThePlane) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(-1.0 / norm(q));
  EXPECT_EQ(momenta(l).kept, List{"angular momentum"});
  Lagrangian falling;
  const Vector x = falling.coordinates("x", 2), w = falling.velocity(x);
  falling.kinetic(0.5 * dot(w, w));
  falling.potential(9.81 * x[1]);
  EXPECT_EQ(momenta(falling).kept, List{"linear momentum along e1"});
}

TEST(Symmetries, OfAFreeChainAreAllSix) {
  Lagrangian l;
  const Vector q = l.coordinates("q", {3, 3}), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(exp(dot(q.segment(3, 3) - q.segment(0, 3), q.segment(3, 3) - q.segment(0, 3))));
  const Vector rod = q.segment(6, 3) - q.segment(3, 3);
  l.constrain(norm(rod) - 1.0);
  const ConservedMomenta found = momenta(l);
  EXPECT_EQ(found.kept.size(), 6u);
  EXPECT_TRUE(found.lost.empty());
}

TEST(Symmetries, AreBrokenByAMassThatIsNot) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v) + v[0] * v[0]);
  l.potential(dot(q, q) / 2.0);
  EXPECT_EQ(momenta(l).kept, List{"angular momentum about e1"});
}

TEST(Symmetries, OfOtherCoordinatesAreNotLookedFor) {
  Lagrangian l;
  const Expression angle = l.coordinate("angle");
  l.kinetic(0.5 * l.velocity(angle) * l.velocity(angle));
  EXPECT_TRUE(momenta(l).kept.empty());
}

// What is far away, or small, or not defined at most points, is not overlooked: claims are read off the coefficients.
TEST(Symmetries, AreThoseOfTheWholePotential) {
  const Lagrangian trap = particle([](const Vector& q) {
    const double w = 1e-6;
    return -4e-19 * exp(-pow(q[0] / w, 2.0) - 2.0 * pow(q[1] / w, 2.0) - pow(q[2] / w, 2.0));
  });
  EXPECT_EQ(momenta(trap).kept, List{"angular momentum about e2"});
  const Lagrangian wall =
      particle([](const Vector& q) { return dot(q, q) * dot(q, q) + pow(max(0.0, q[0] - 6.0), 2.0); });
  EXPECT_EQ(momenta(wall).kept, List{"angular momentum about e1"});
  EXPECT_TRUE(momenta(wall).lost.empty());
  const Lagrangian bump =
      particle([](const Vector& q) { return dot(q, q) * dot(q, q) + exp(-1e12 * pow(q[0] - 4.0, 2.0)); });
  EXPECT_EQ(momenta(bump).kept, List{"angular momentum about e1"});
  EXPECT_TRUE(momenta(bump).lost.empty());
  const Lagrangian weak = particle([](const Vector& q) { return pow(dot(q, q) + 1e-11 * q[0] * q[0], 2.0); });
  EXPECT_EQ(momenta(weak).kept, List{"angular momentum about e1"});
  const Lagrangian outside = particle([](const Vector& q) { return log(dot(q, q) - 8.0); });
  EXPECT_EQ(momenta(outside).kept.size(), 3u);
  EXPECT_TRUE(momenta(outside).lost.empty());
  const Lagrangian round = particle([](const Vector& q) { return exp(hypot(q[0], q[2])); });
  EXPECT_EQ(momenta(round).kept, (List{"angular momentum about e2", "linear momentum along e2"}));
}

TEST(Symmetries, OfDirectorsAreTurnsOnly) {
  Lagrangian held, free;
  const RigidBody top(held, {.name = "top", .center = {0, 0, 1}, .fixed = Eigen::Vector3d::Zero()});
  held.potential(9.81 * top.center()[2]);
  EXPECT_EQ(momenta(held).kept, List{"angular momentum about e3"});
  const RigidBody ball(free, {.name = "ball"});
  free.potential(9.81 * ball.center()[2]);
  EXPECT_EQ(momenta(free).kept,
            (List{"angular momentum about e3", "linear momentum along e1", "linear momentum along e2"}));
}

TEST(Symmetries, AreLostByTheGeneralDerivativeWhereFunctionsAreNotQuadratic) {
  const auto form = [](const Lagrangian& l) {
    static std::shared_ptr<const System> system;
    system = l.build();
    return constant_mass_form(*system, "test");
  };
  const Lagrangian kepler = particle([](const Vector& q) { return -1.0 / norm(q); });
  EXPECT_TRUE(conserved_momenta(form(kepler), true).kept.empty());
  EXPECT_EQ(conserved_momenta(form(kepler), true).lost.size(), 3u);
  const Lagrangian spring = particle([](const Vector& q) { return dot(q, q); });
  EXPECT_EQ(conserved_momenta(form(spring), true).kept.size(), 3u);
  // the method says so
  const MethodChoice general = energy_momentum({.general = true});
  EXPECT_EQ(general.system_facts(*kepler.build()), List{"kept exactly: energy"});
  EXPECT_EQ(general.warnings(*kepler.build()).size(), 3u);
}

TEST(Invariants, ThatBreakASymmetryAreNamed) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  const Expression x = q[0] * q[0];
  l.potential(pow(x + q[1] * q[1] + q[2] * q[2], 3.0));
  l.invariant(q[0]);
  bool named = false;
  for (const auto& lost : momenta(l).lost) named = named || lost.because.find("invariants that are given") == 4;
  EXPECT_TRUE(named);
}

TEST(Invariants, ThatAreChosenAreUsed) {
  const auto make = [](bool chosen) {
    Lagrangian l;
    const Vector q = l.coordinates("q", 3), v = l.velocity(q);
    l.kinetic(0.5 * dot(v, v));
    l.potential(exp(q[0] * q[2]));
    if (chosen) l.invariant(q[0]);
    return l;
  };
  std::vector<double> end[2];
  for (const bool chosen : {false, true}) {
    const Lagrangian l = make(chosen);
    Simulation run(l, energy_momentum(), {.step = 0.1});
    run.start(turning);
    run.until(1);
    EXPECT_LT(*run.report().energy_error, 1e-12);  // measured 6e-16
    end[chosen] = run.state().y;
  }
  EXPECT_GT(std::abs(end[0][0] - end[1][0]), 1e-7);  // measured 1.5e-5: another discrete derivative
}

TEST(Invariants, MustBeQuadraticFunctionsOfTheCoordinates) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  for (const Expression& wrong : {q[0] * q[0] * q[1], v[0], Expression(2.0), norm(q)}) {
    Lagrangian copy = l;
    copy.invariant(wrong);
    EXPECT_THROW(copy.build(), InputError) << wrong.text();
  }
  l.invariant(dot(q, q));
  EXPECT_EQ(unused_invariants(constant_mass_form(*l.build(), "test")).size(), 1u);
}

}  // namespace
}  // namespace hinge::symmetries_test
