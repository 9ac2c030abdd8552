// Velocity constraints: what the methods that take them keep, and that the others say that they do not.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/nonholonomic_problems.hpp"
#include "method/properties.hpp"

namespace hinge::nonholonomic_test {
namespace {

using namespace nonholonomic;
using properties::Arena;
using properties::distance;

State solved(const Problem& problem, const MethodChoice& method, double end, double tolerance) {
  Simulation run(problem.system, method, {.tolerance = {tolerance, tolerance}});
  run.start(problem.start);
  run.until(end);
  return run.state();
}

State stepped(const Problem& problem, const MethodChoice& method, double end, double h) {
  properties::Run run(problem, method);
  run.steps(static_cast<int>(std::lround(end / h)), h);
  return run.state();
}

std::vector<std::pair<const char*, MethodChoice>> adaptive() {
  return {{"explicit", explicit_runge_kutta()},
          {"explicit 5", explicit_runge_kutta({.order = 5})},
          {"radau", radau()},
          {"radau index-2", radau({.formulation = {Formulation::index_2}})},
          {"bdf", make_method("bdf", {})},
          {"auto", automatic()},
          {"half-explicit", half_explicit({.order = 5})}};
}

// ---- adaptive methods against closed forms --------------------------------------------------------------------------

TEST(Nonholonomic, AdaptiveMethodsFollowTheKnifeEdge) {
  const State exact = KnifeEdge::exact(4);
  EXPECT_NEAR(exact.y[0], 1.08603044, 5e-9);
  EXPECT_NEAR(exact.y[1], 7.81158509, 5e-9);
  for (const auto& [name, method] : adaptive()) {
    const bool multistep = std::string(name) == "bdf" || std::string(name) == "half-explicit";
    const State s = solved(KnifeEdge::problem(), method, 4, multistep ? 1e-13 : 1e-12);
    EXPECT_LT(distance(s.y, exact.y), multistep ? 1e-9 : 1e-10) << name;
    EXPECT_LT(distance(s.z, exact.z), multistep ? 1e-9 : 1e-10) << name;
    EXPECT_LT(distance(s.psi, exact.psi), multistep ? 1e-8 : 1e-9) << name;
  }
}

TEST(Nonholonomic, AdaptiveMethodsFollowTheSleigh) {
  const auto [u, w] = Sleigh::speeds(3);
  const std::vector<double> pose = Sleigh::pose(3);
  for (const auto& [name, method] : adaptive()) {
    const State s = solved(Sleigh::problem(), method, 3, 1e-12);
    const double c = std::cos(s.y[2]), d = std::sin(s.y[2]), allowed = std::string(name) == "bdf" ? 1e-9 : 1e-10;
    EXPECT_LT(distance(s.y, pose), allowed) << name;
    EXPECT_NEAR(s.z[0] * c + s.z[1] * d, u, allowed) << name;
    EXPECT_NEAR(s.z[2], w, allowed) << name;
  }
}

TEST(Nonholonomic, AdaptiveMethodsFollowTheSnakeboard) {
  const double end = 2.5, s = Snakeboard::speed(end), phi = Snakeboard::phi0 + Snakeboard::turn * end;
  for (const auto& [name, method] : adaptive()) {
    const State board = solved(Snakeboard::problem(), method, end, 1e-12);
    const double allowed = std::string(name) == "bdf" ? 1e-9 : 1e-10;
    EXPECT_NEAR(board.z[2], s * std::sin(phi), allowed) << name;
    EXPECT_NEAR(board.z[0] * std::cos(board.y[2]) + board.z[1] * std::sin(board.y[2]),
                s * Snakeboard::l * std::cos(phi), allowed)
        << name;
  }
}

// A point that may move at one speed only; the force turns its direction, and its work goes into the reaction.
TEST(Nonholonomic, ChetaevsRuleTurnsTheVelocityAsWithoutTheReaction) {
  const Problem problem = ConstantSpeed::problem();
  EXPECT_TRUE(problem.system->structure().velocity_constraints_do_work);
  const double angle = ConstantSpeed::angle(1.2);
  for (const auto& [name, method] : adaptive()) {
    const State s = solved(problem, method, 1.2, 1e-11);
    EXPECT_NEAR(std::atan2(s.z[1], s.z[0]), angle, 1e-9) << name;
    EXPECT_NEAR(std::hypot(s.z[0], s.z[1]), ConstantSpeed::speed, 1e-12) << name;
  }
  // and so with steps of given length: order 2
  const auto error = [&](double h) {
    const State s = stepped(problem, rattle(), 1.2, h);
    EXPECT_NEAR(std::hypot(s.z[0], s.z[1]), ConstantSpeed::speed, 1e-14);
    return std::abs(std::atan2(s.z[1], s.z[0]) - angle);
  };
  EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), 2, 0.05);
}

// ---- steps of given length ------------------------------------------------------------------------------------------

// The numbers of the reversible leapfrog of McLachlan and Perlmutter with a constant mass, and smaller ones for the
// form without a memory.
TEST(Nonholonomic, LeapfrogHasThePublishedErrorsOnTheKnifeEdge) {
  const State exact = KnifeEdge::exact(4);
  const auto start = KnifeEdge::problem();
  const double errors[] = {1.5007e-3, 3.7517e-4, 9.3791e-5, 2.3448e-5};
  for (int k = 0; k < 4; ++k) {
    const double h = 0.02 / (1 << k);
    const State s = stepped(start, rattle({.leapfrog = true}), 4, h);
    double error = 0;
    for (std::size_t i = 0; i < 3; ++i) error = std::max(error, std::abs(s.y[i] - exact.y[i]));
    EXPECT_NEAR(error, errors[k], 1e-4 * errors[k]);
    const State other = stepped(start, rattle(), 4, h);
    EXPECT_LT(distance(other.y, exact.y), 0.66 * errors[k]);  // measured 0.65
  }
  properties::Run run(start, rattle({.leapfrog = true}));
  const double energy = run.energy();
  run.steps(200, 0.02);
  EXPECT_NEAR(run.energy() - energy, -3.453e-3, 1e-6);
}

TEST(Nonholonomic, RattleHasOrderTwo) {
  struct Trial {
    Problem problem;
    double end;
  };
  for (const Trial& trial : {Trial{KnifeEdge::problem(), 1.0}, {blade_in_a_well(), 1.0}, {cart(), 0.8}}) {
    State exact = solved(trial.problem, explicit_runge_kutta(), trial.end, 1e-13);
    for (const bool leapfrog : {false, true}) {
      const auto order = properties::orders(trial.problem, rattle({.leapfrog = leapfrog}), trial.end, exact);
      EXPECT_NEAR(order.y, 2, 0.1) << leapfrog;
      EXPECT_NEAR(order.z, 2, 0.1) << leapfrog;
      EXPECT_NEAR(order.psi, 2, 0.25) << leapfrog;  // recomputed from y and z
    }
    const MethodChoice fourth = composition(rattle(), {.order = 4, .scheme = "suzuki"});
    const auto order = properties::orders(trial.problem, fourth, trial.end, exact);
    EXPECT_NEAR(order.y, 4, 0.2);
    EXPECT_NEAR(order.z, 4, 0.2);
  }
}

TEST(Nonholonomic, RattleIsSymmetricAndReversible) {
  const Arena arena{blade_in_a_well(), {1, 1, 1, -1, -1, -1}};
  EXPECT_LT(properties::symmetry_defect(arena.problem, rattle(), 0.1), 1e-14);
  EXPECT_LT(properties::reversibility_defect(arena, rattle(), 0.1), 1e-14);
  EXPECT_LT(properties::symmetry_defect(cart(), rattle(), 0.1), 1e-13);
  // controls: a method that is not, and the leapfrog without what it remembers
  EXPECT_GT(properties::symmetry_defect(arena.problem, explicit_runge_kutta({.order = 5}), 0.1), 1e-11);
  EXPECT_GT(properties::symmetry_defect(arena.problem, rattle({.leapfrog = true}), 0.1), 1e-7);
  // with it, the leapfrog goes back the way it came
  properties::Run run(arena.problem, rattle({.leapfrog = true}));
  const State start = run.state();
  run.steps(50, 0.05);
  run.steps(50, -0.05);
  EXPECT_LT(distance(run.state().y, start.y), 1e-12);
  EXPECT_LT(distance(run.state().z, start.z), 1e-12);
}

TEST(Nonholonomic, ConstraintsStayAtRoundOff) {
  for (const Problem& problem : {KnifeEdge::problem(), Sleigh::problem(), blade_in_a_well(), cart()}) {
    for (const MethodChoice& method : {rattle(), rattle({.leapfrog = true}), radau({.stages = 3}),
                                       half_explicit({.order = 4, .projection = Projection::both}),
                                       explicit_runge_kutta(), composition(rattle(), {.order = 4})}) {
      Simulation run(problem.system, method, {.step = 0.02});
      run.start(problem.start);
      run.until(4);
      const Report r = run.report();
      ASSERT_TRUE(r.velocity_constraint);
      EXPECT_LT(*r.velocity_constraint, 2e-14) << r.method;
      EXPECT_LT(r.constraint, 1e-14) << r.method;
      EXPECT_LT(r.hidden_constraint, 2e-14) << r.method;
      EXPECT_TRUE(r.sound()) << r.method << verdict_text(r);
    }
    // the control: without projection w drifts
    Simulation run(problem.system, explicit_runge_kutta({.order = 5, .projection = Projection::none}), {.step = 0.1});
    run.start(problem.start);
    run.until(4);
    EXPECT_GT(*run.report().velocity_constraint, 1e-12);
  }
}

// A sleigh that goes on for ever: after 1e5 steps the energy is where it was, but for an error of second order. The
// leapfrog, which remembers multipliers, swings out of that motion: the reason why it is not the default.
TEST(Nonholonomic, EnergyHasNoTrendWhereTheLeapfrogTurnsOver) {
  const auto middle = properties::energy_drift(Sleigh::problem(), rattle(), 0.05, 20000);
  EXPECT_LT(middle.most, 2e-3);
  EXPECT_LT(middle.last, 1.001 * middle.first);
  const auto leapfrog = properties::energy_drift(Sleigh::problem(), rattle({.leapfrog = true}), 0.05, 100000);
  EXPECT_GT(leapfrog.most, 0.1);
  const auto well = properties::energy_drift(blade_in_a_well(), rattle(), 0.05, 20000);
  EXPECT_LT(well.last, 1.05 * well.first);
}

// Without velocity constraints at the middle of a step nothing else is left of RATTLE: the same numbers.
TEST(Nonholonomic, AddsNothingWhereTheConstraintFollowsFromOthers) {
  // a point on a circle with a blade that always holds: x x' + y y' = 0 would be dependent, so a free third one
  Lagrangian with, without;
  for (Lagrangian* l : {&with, &without}) {
    const Vector q = l->coordinates("q", 3), v = l->velocity(q);
    l->kinetic(0.5 * dot(v, v));
    l->potential(9.81 * q[1]);
    l->constrain(0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0));
    if (l == &with) l->constrain_velocity(v[2]);
  }
  const Start start{.position = {1, 0, 0.5}, .velocity = {0, 0.2, 0}};
  const State a = stepped({with.build(), start}, rattle(), 2, 0.01),
              b = stepped({without.build(), start}, rattle(), 2, 0.01);
  EXPECT_LT(distance(a.y, b.y), 1e-12);
  EXPECT_LT(distance(a.z, b.z), 1e-12);
}

// ---- who does not ---------------------------------------------------------------------------------------------------

TEST(Nonholonomic, OtherMethodsRefuseByNameAndReason) {
  const auto system = KnifeEdge::problem().system;
  int refused = 0;
  for (const MethodInfo& info : methods()) {
    if (info.name == "composition" || info.name == "spark") continue;
    const StepOptions steps = info.can.given_steps ? StepOptions{} : StepOptions{.tolerance = {1e-6, 1e-6}};
    const MethodChoice method = make_method(info.name, {});
    if (info.can.velocity_constraints) {
      EXPECT_NO_THROW(method.bind(system, {}, steps)) << info.name;
      continue;
    }
    if (info.can.noise) continue;
    ++refused;
    try {
      method.bind(system, {}, steps);
      ADD_FAILURE() << info.name << " takes velocity constraints";
    } catch (const UnsuitableMethod& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(info.name + " does not take velocity constraints"), std::string::npos) << text;
      EXPECT_NE(text.find("blade"), std::string::npos) << text;
      EXPECT_NE(text.find("use rattle"), std::string::npos) << text;
    }
  }
  EXPECT_GE(refused, 8);
  EXPECT_THROW(composition(gauss_lobatto(1), {.order = 4}).bind(system), UnsuitableMethod);
  EXPECT_THROW(composition(rattle({.leapfrog = true}), {.order = 4}), OptionError);
  EXPECT_THROW(rattle({.leapfrog = true}).bind(problems::s2_lagrangian().system), UnsuitableMethod);
  EXPECT_THROW(radau({.formulation = {Formulation::tangent_space}}).bind(system), UnsuitableMethod);
}

TEST(Nonholonomic, AllFormulationsAgree) {
  const Problem problem = cart();
  const State exact = solved(problem, explicit_runge_kutta(), 1, 1e-12);
  for (const Formulation form : {Formulation::index_3, Formulation::index_2, Formulation::index_1, Formulation::ggl,
                                 Formulation::extended, Formulation::projected_invariants}) {
    const State s = solved(problem, radau({.formulation = {form}}), 1, 1e-10);
    EXPECT_LT(distance(s.y, exact.y), 1e-8) << formulation_name(form);
    EXPECT_LT(distance(s.z, exact.z), form == Formulation::index_3 ? 1e-6 : 1e-8) << formulation_name(form);
  }
}

// ---- starting values
// -------------------------------------------------------------------------------------------------

TEST(Nonholonomic, VelocitiesThatViolateThemAreRefusedOrProjected) {
  Problem problem = KnifeEdge::problem();
  problem.start.velocity = {1, 0.5, 1};
  Simulation run(problem.system, rattle(), {.step = 0.01});
  try {
    run.start(problem.start);
    ADD_FAILURE() << "a velocity across the blade was taken";
  } catch (const InconsistentStart& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("velocity constraint blade is violated by 0.5"), std::string::npos) << text;
  }
  problem.start.consistent = Consistency::project;
  run.start(problem.start);
  EXPECT_NEAR(run.state().z[0], 1, 1e-15);
  EXPECT_NEAR(run.state().z[1], 0, 1e-15);  // the impulse of the blade is across it
  EXPECT_NEAR(run.state().z[2], 1, 1e-15);
}

TEST(Nonholonomic, DependentRowsAreNamed) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.constrain(q[0] - 1.0, "wall");
  l.constrain_velocity(2.0 * v[0], "rail");
  Simulation run(l, rattle(), {.step = 0.01});
  try {
    run.start({.position = {1, 0}});
    ADD_FAILURE() << "dependent rows were taken";
  } catch (const RedundantConstraints& e) {
    EXPECT_NE(std::string(e.what()).find("velocity constraint rail"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace hinge::nonholonomic_test
