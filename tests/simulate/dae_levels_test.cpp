// What the report says about the equations of a DAE without derivatives, and about those hidden behind them.
#include <cmath>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "places.hpp"
#include "simulate/dae_levels.hpp"

namespace hinge::dae_levels_test {
namespace {

Model paper(const std::string& name, const std::vector<Override>& overrides = {}) {
  return load_model(std::string(HINGE_PAPERS) + "/dae/" + name + ".toml", overrides);
}

Report run(const Model& model) {
  Simulation s = model.simulation_for("");
  s.start(model.start);
  s.until(model.end);
  return s.report();
}

DaeLevels levels_at(const Model& model, const State& state) {
  DaeLevels levels(dynamic_cast<const SymbolicSystem&>(*model.system));
  levels.at(state);
  return levels;
}

// x^2 + y^2 = 1, 2 (x x' + y y') = 0 and 2 (x'^2 + y'^2 + x u' + y v') = 0, at states that are off one of them.
TEST(DaeLevels, AreTheEquationAndItsDerivatives) {
  const Model pendulum = paper("pendulum-index3");
  const State right{0, {1, 0, 0, 1, 1}, {0, 1, -1, -1, -3}, {}};
  EXPECT_EQ(levels_at(pendulum, right).algebraic, 0);
  EXPECT_EQ(levels_at(pendulum, right).hidden, 0);
  State longer = right;
  longer.y[0] = 1.5;
  longer.z[2] = -1 / 1.5;
  EXPECT_DOUBLE_EQ(levels_at(pendulum, longer).algebraic, 1.25);
  EXPECT_NEAR(levels_at(pendulum, longer).hidden, 0, 1e-15);
  State faster = right;  // x' = 0.25 outwards, u' so that the acceleration fits
  faster.z[0] = 0.25;
  faster.z[2] = -1 - 0.0625;
  EXPECT_EQ(levels_at(pendulum, faster).algebraic, 0);
  EXPECT_DOUBLE_EQ(levels_at(pendulum, faster).hidden, 0.5);
  State pulled = right;  // u' is wrong by 0.375
  pulled.z[2] += 0.375;
  EXPECT_EQ(levels_at(pendulum, pulled).algebraic, 0);
  EXPECT_DOUBLE_EQ(levels_at(pendulum, pulled).hidden, 0.75);
}

TEST(DaeLevels, TellTheDerivativeArrayFromTheEquationsAsTheyStand) {
  const Report array = run(paper("pendulum-index3"));
  EXPECT_LT(array.constraint, 1.2e-10);         // measured 5.8e-11: what Newton's iteration leaves at 1e-10
  EXPECT_LT(array.hidden_constraint, 1.4e-10);  // measured 7.0e-11
  const Report direct = run(paper("pendulum-index3", {{"integrate.formulation", "direct"}}));
  EXPECT_LT(direct.constraint, 1.6e-9);       // measured 7.9e-10
  EXPECT_GT(direct.hidden_constraint, 2e-4);  // measured 4.5e-4: the order of u' and L is low
  std::ostringstream text;
  text << direct;
  EXPECT_NE(text.str().find("algebraic equations |F_i(t, x)|"), std::string::npos) << text.str();
}

// Index 1 has nothing hidden; an ODE has no equation without derivatives.
TEST(DaeLevels, AreZeroWhereThereIsNothing) {
  const Report robertson = run(paper("robertson"));
  EXPECT_GT(robertson.constraint, 0);
  EXPECT_LT(robertson.constraint, 1e-12);
  EXPECT_EQ(robertson.hidden_constraint, 0);
  const Model ode = parse_model(
      "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\n[initial]\nunknowns = { x = 1 }\n[integrate]\n"
      "method = \"radau\"\nend = 1\ntolerance = 1e-6\n",
      "m.toml");
  EXPECT_EQ(run(ode).constraint, 0);
  EXPECT_EQ(run(ode).hidden_constraint, 0);
}

// No equation is free of x' here, but the difference of the two is: x = 2 y.
TEST(DaeLevels, SeeAlgebraicEquationsInCombinations) {
  Dae dae;
  const Expression x = dae.unknown("x"), y = dae.unknown("y");
  const Expression rate = dae.derivative(x) + dae.derivative(y);
  dae.equation(rate + x);
  dae.equation(rate + 2.0 * y);
  const auto system = dae.build();
  DaeLevels levels(dynamic_cast<const SymbolicSystem&>(*system));
  levels.at({0, {2, 1}, {-1, -0.5}, {}});
  EXPECT_EQ(levels.algebraic, 0);
  levels.at({0, {2, 2}, {-1, -0.5}, {}});
  EXPECT_GT(levels.algebraic, 0.5);
}

TEST(DaeLevels, SayThatThereAreNone) {
  Dae dae;
  const Expression x = dae.unknown("x");
  dae.equation(dae.derivative(x) + x);
  Simulation run(dae, radau(), {.step = 0.1});
  run.start({.position = {1}});
  run.until(1);
  std::ostringstream text;
  text << run.report();
  EXPECT_FALSE(run.report().has_constraints);
  EXPECT_NE(text.str().find("no algebraic equations"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("algebraic equations |F_i"), std::string::npos);
}

}  // namespace
}  // namespace hinge::dae_levels_test
