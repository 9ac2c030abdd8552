// Projection after the steps of any method: the exact nearest point, orders kept, levels at round-off, and the same
// without it as a control.
#include "method/projected.hpp"

#include <gtest/gtest.h>

#include "formulation/project/projection.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/controls.hpp"
#include "method/explicit/explicit_problems.hpp"
#include "method/nonsmooth/contact_problems.hpp"

namespace hinge::projected_test {
namespace {

using namespace explicit_problems;

// (28a) and (28b) with a mass that is not constant: M(q)(q - p) + G(q)^T mu = 0 to round-off, and g = 0.
TEST(ConstraintProjection, SolvesItsEquations) {
  const Problem problem = slider_crank();
  State s = consistent_start(*problem.system, 0, problem.start);
  const std::vector<double> p = {s.y[0] + 0.03, s.y[1] - 0.02, s.y[2] + 0.05},
                            u = {s.z[0] + 0.3, s.z[1] - 0.2, s.z[2] + 0.1};
  s.y = p, s.z = u;
  ConstraintProjection projection(problem.system, Projection::both);
  ASSERT_TRUE(projection.project(s.t, s.y.data(), s.z.data(), s.psi.data()));
  using Q = Quantity;
  const auto e = problem.system->evaluation({Q::constraint, Q::constraint_rate, Q::momentum_z, Q::constraint_y});
  e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  const Eigen::MatrixXd mass = controls::dense(problem.system->pattern(Q::momentum_z), (*e)[Q::momentum_z]),
                        g = controls::dense(problem.system->pattern(Q::constraint_y), (*e)[Q::constraint_y]);
  for (const auto& [after, before] : {std::pair{&s.y, &p}, std::pair{&s.z, &u}}) {
    Eigen::Vector3d moved;
    for (int i = 0; i < 3; ++i)
      moved[i] = (*after)[static_cast<std::size_t>(i)] - (*before)[static_cast<std::size_t>(i)];
    const Eigen::Vector3d pull = mass * moved;
    const Eigen::Vector2d mu = g.transpose().colPivHouseholderQr().solve(pull);
    EXPECT_LT((pull - g.transpose() * mu).norm(), 1e-14);
    EXPECT_GT(pull.norm(), 0.01);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_LT(std::abs((*e)[Q::constraint][i]), 1e-15);
    EXPECT_LT(std::abs((*e)[Q::constraint_rate][i]), 2e-15);
  }
}

// Of Hamiltonian systems the momenta move, and of ODAEs (Euclidean) as at the start.
TEST(ConstraintProjection, TakesEveryKindOfSystem) {
  for (const Problem& problem :
       {problems::s2(), problems::relativistic_hamiltonian(), problems::s1(), problems::e1()}) {
    State s = consistent_start(*problem.system, 0, problem.start);
    for (std::size_t i = 0; i < s.y.size(); ++i) s.y[i] += 0.01 * std::cos(static_cast<double>(i));
    for (std::size_t i = 0; i < s.z.size(); ++i) s.z[i] += 0.02 * std::sin(1.0 + static_cast<double>(i));
    ConstraintProjection projection(problem.system, Projection::both);
    ASSERT_TRUE(projection.project(s.t, s.y.data(), s.z.data(), s.psi.data()));
    const auto e = problem.system->evaluation({Quantity::constraint, Quantity::constraint_rate});
    e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    EXPECT_LT(std::abs(*(*e)[Quantity::constraint]), 2e-15);
    EXPECT_LT(std::abs(*(*e)[Quantity::constraint_rate]), 4e-15);
  }
}

TEST(ConstraintProjection, SaysWhenThereIsNoPoint) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 1), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.constrain(q[0] * q[0] + 1.0);
  ConstraintProjection projection(l.build(), Projection::position);
  double y = 1, z = 0, psi = 0;
  EXPECT_FALSE(projection.project(0, &y, &z, &psi));
}

TEST(Projected, KeepsOrdersAndAddsLevels) {
  struct Case {
    std::string name;
    Options options;
    int order, steps;
    bool moves;  // without projection a level is violated
  };
  const Case cases[] = {
      {"gauss-lobatto", {{"stages", 2.0}}, 4, 50, false},
      {"lobatto-iiia-iiib", {{"stages", 3.0}}, 4, 50, false},
      {"rattle", {}, 2, 200, false},
      {"symplectic-euler", {}, 1, 800, false},
      {"composition", {{"base", std::string("rattle")}, {"order", 4.0}}, 4, 50, false},
      {"half-explicit", {{"order", 3.0}}, 3, 100, true},
      {"explicit", {{"order", 5.0}}, 5, 80, true},
      {"generalized-alpha", {{"formulation", std::string("index-3")}}, 2, 400, true},
  };
  for (const Case& c : cases) {
    Options with = c.options, without = c.options;
    with["projection"] = std::string("both");
    without["projection"] = std::string("none");
    const MethodChoice method = make_method(c.name, with);
    const Errors o = orders(hoop(), "hoop", method, c.steps);
    EXPECT_NEAR(o.y, c.order, 0.3) << c.name;
    EXPECT_NEAR(o.z, c.order, 0.3) << c.name;
    const Levels kept = levels(hoop(), method, 0.02, 2), free = levels(hoop(), make_method(c.name, without), 0.02, 2);
    EXPECT_LT(kept.position, 2e-15) << c.name;
    EXPECT_LT(kept.velocity, 4e-15) << c.name;
    EXPECT_TRUE(method.info.preserves.position_level && method.info.preserves.velocity_level) << c.name;
    if (c.moves) {
      EXPECT_GT(std::max(free.position, free.velocity), 1e-12) << c.name;
    }
  }
}

// The positions of shake are rattle's, its velocities are not on their level: projected they are.
TEST(Projected, PutsVelocitiesOfShakeOntoTheirLevel) {
  const Problem problem = problems::double_pendulum();
  const Levels raw = levels(problem, make_method("shake", {}), 0.01, 1),
               kept = levels(problem, make_method("shake", {{"projection", std::string("velocity")}}), 0.01, 1);
  EXPECT_GT(raw.velocity, 1e-4);
  EXPECT_LT(kept.velocity, 4e-15);
}

TEST(Projected, TellsWhatIsLost) {
  const MethodChoice kept = make_method("gauss-lobatto", {{"stages", 2.0}, {"projection", std::string("both")}});
  EXPECT_TRUE(kept.info.preserves.symplectic);  // nothing moves
  const MethodChoice lost = make_method("shake", {{"projection", std::string("velocity")}});
  EXPECT_FALSE(lost.info.preserves.symplectic);
  EXPECT_NE(lost.description.find("velocities projected"), std::string::npos);
  EXPECT_THROW(make_method("rattle", {{"projection", std::string("sideways")}}), InputError);
  EXPECT_THROW(make_method("rattle", {{"projection", 1.0}}), InputError);
}

TEST(Projected, EnergyMomentumKeepsItsOwnOption) {
  EXPECT_NO_THROW(make_method("energy-momentum", {{"projection", std::string("velocity")}}));
  EXPECT_THROW(make_method("energy-momentum", {{"projection", std::string("both")}}), InputError);
}

// What a method says of contacts and of its own energy is not lost behind a projection, nor behind changes of branch.
TEST(StepperAround, HandsOnWhatItDoesNotChange) {
  const contact_problems::Scene scene = contact_problems::ball(0.5);
  const auto at_end = [&](const MethodChoice& method, const SimulationOptions& options) {
    Simulation run(scene.system, method, options);
    int impulses = 0;
    run.on_row([&](const Row& row) { impulses += row.contacts ? 1 : 0; });
    run.start(scene.start);
    run.until(1);
    return std::pair(run.report(), impulses);
  };
  for (const char* name : {"moreau-jean", "paoli-schatzman", "event-driven", "generalized-alpha"}) {
    const SimulationOptions options{.step = 1e-3};
    const auto [plain, impulses] = at_end(make_method(name, {}), options);
    const auto [other, other_impulses] = at_end(make_method(name, {{"projection", std::string("velocity")}}), options);
    EXPECT_EQ(impulses, other_impulses) << name;
    ASSERT_TRUE(plain.contacts && other.contacts) << name;
    EXPECT_GT(plain.contacts->impacts, 0) << name;
    EXPECT_EQ(plain.contacts->impacts, other.contacts->impacts) << name;
    EXPECT_EQ(plain.contacts->impact_loss, other.contacts->impact_loss) << name;
    EXPECT_EQ(plain.final.y, other.final.y) << name;
  }
  const Problem swing = pendulum();
  const MethodChoice energy = energy_momentum({.constraints = ConstraintTreatment::penalty, .penalty = 1e3});
  Simulation run(swing.system, projected(energy, Projection::velocity), {.step = 1e-2});
  run.start(swing.start);
  run.until(0.1);
  EXPECT_TRUE(run.report().discrete_energy_error.has_value());
}

// A ball in a wind that sets in at half its height, with a floor: several pieces, one account of the contacts.
TEST(StepperAround, ContactsOfAllPiecesAreCounted) {
  Lagrangian l;
  const Expression y = l.coordinate("y"), v = l.velocity(y);
  l.kinetic(0.5 * v * v);
  l.potential(9.81 * y);
  l.force({y}, {-1.0 * max(y - 0.3, 0.0)});
  l.unilateral(y, {.name = "floor", .restitution = 0.9});
  Simulation run(l, event_driven(), {.tolerance = {1e-9, 1e-9}});
  run.start({.position = {1}, .velocity = {0}});
  run.until(2);
  const Report report = run.report();
  ASSERT_TRUE(report.contacts);
  EXPECT_GE(report.contacts->impacts, 2);
  EXPECT_EQ(std::ssize(report.contacts->events), report.contacts->impacts);
  for (std::size_t k = 1; k < report.contacts->events.size(); ++k)
    EXPECT_GT(report.contacts->events[k].t, report.contacts->events[k - 1].t);
}

}  // namespace
}  // namespace hinge::projected_test
