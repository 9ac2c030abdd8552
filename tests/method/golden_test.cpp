// Numbers of an independent implementation in 26 to 50 digits (tests/data/symplectic.json, which says how each was
// made), compared to the digits that double precision allows.
#include <gtest/gtest.h>

#include "method/goldens.hpp"
#include "method/problems.hpp"
#include "method/symplectic/spark.hpp"

namespace hinge::golden_test {
namespace {

using goldens::expect_near;
using goldens::json;
using goldens::number;
using goldens::numbers;
using problems::integrate;

struct Named {
  std::string golden;
  MethodChoice method;
};

std::vector<Named> gauss_lobatto_family(int most) {
  std::vector<Named> list;
  for (int s = 1; s <= most; ++s)
    list.push_back({"GL(" + std::to_string(s) + "," + std::to_string(s) + ")", gauss_lobatto(s)});
  return list;
}

std::vector<Named> lobatto_family(int most) {
  std::vector<Named> list;
  for (int s = 2; s <= most; ++s)
    list.push_back({"LobIIIAB(" + std::to_string(s) + "," + std::to_string(s - 1) + ")", lobatto_iiia_iiib(s)});
  return list;
}

std::vector<Named> all_methods() {
  std::vector<Named> list = gauss_lobatto_family(3);
  for (const Named& m : lobatto_family(3)) list.push_back(m);
  list.push_back({"LobIIIAB(2,1)", rattle()});
  return list;
}

TEST(Golden, FirstStepsAndErrorsOnS1) {
  std::vector<Named> methods = gauss_lobatto_family(4);
  for (const Named& m : lobatto_family(5)) methods.push_back(m);
  methods.push_back({"LobIIIAB(2,1)", rattle()});
  for (const auto& [name, method] : methods) {
    const json& table = goldens::symplectic()["spark_paper_order_6.1"]["spark_6.1_" + name];
    if (table.contains("first_step_h0.1")) {
      const State first = integrate(problems::s1(), method, 0.1, 0.1);
      expect_near(first.y, numbers(table["first_step_h0.1"]["y1"]), 1e-14, name);
      expect_near(first.z, numbers(table["first_step_h0.1"]["z1"]), 1e-14, name);
      EXPECT_NEAR(first.psi[0], number(table["first_step_h0.1"]["Lam"].back()), 1e-12) << name;  // measured 4.8e-13
      const auto stepper = method.bind(problems::s1().system, {});
      State state{0, {1, 1}, {1, 1}, {1}};
      ASSERT_TRUE(stepper->step(state, 0.1)) << name;
      expect_near(stepper->multipliers(), numbers(table["first_step_h0.1"]["Lam"]), 1e-11, name);
    }
    for (const char* h : {"0.1", "0.05", "0.025"}) {
      if (!table.contains(h) || !table[h].contains("y")) continue;
      const State end = integrate(problems::s1(), method, std::stod(h), 1.0);
      expect_near(end.y, numbers(table[h]["y"]), 1e-13, name + " h=" + h);
      expect_near(end.z, numbers(table[h]["z"]), 1e-13, name + " h=" + h);
      EXPECT_NEAR(end.psi[0], number(table[h]["lam_last"]), 1e-10) << name;  // measured 6.4e-12: floor eps / h^2
    }
  }
}

MethodChoice method_of(const std::string& name) {
  if (name == "LobIIIAB(2,1)") return rattle();
  return name[0] == 'L' ? lobatto_iiia_iiib(name[9] - '0') : gauss_lobatto(name[3] - '0');
}

TEST(Golden, StatesOnS2AfterOneHundredSteps) {
  for (const char* name : {"GL(1,1)", "GL(2,2)", "LobIIIAB(2,1)", "LobIIIAB(3,2)"}) {
    const json& golden = goldens::symplectic()["spark_paper_6.2_runs"][std::string("6.2_state_t12_h0.12_") + name];
    const MethodChoice method = method_of(name);
    const State end = integrate(problems::s2(), method, 0.12, 12.0);
    expect_near(end.y, numbers(golden["q"]), 1e-13, name);
    expect_near(end.z, numbers(golden["p"]), 1e-13, name);
    EXPECT_NEAR(end.psi[0], number(golden["Lam_last_step"].back()), 1e-11) << name;  // measured 9e-14
  }
}

TEST(Golden, EnergyErrorOnS2StaysWithinItsAmplitude) {
  for (const char* name : {"GL(1,1)", "GL(2,2)", "GL(3,3)", "LobIIIAB(2,1)", "LobIIIAB(3,2)"}) {
    const json& golden = goldens::symplectic()["spark_paper_6.2_runs"][std::string("6.2_Herr_h0.12_") + name];
    const MethodChoice method = method_of(name);
    Simulation run(problems::s2().system, method, {.step = 0.12});
    run.start(problems::s2().start);
    run.until(833 * 0.12);
    const double first = number(golden["max_n_le_833"]);
    EXPECT_NEAR(*run.report().energy_error, first, 1e-8 * first + 1e-13) << name;  // measured 1.2e-14
    run.until(8333 * 0.12);
    const double second = number(golden["max_n_le_8333"]);
    EXPECT_NEAR(*run.report().energy_error, second, 1e-8 * second + 3e-13) << name;  // measured 5.2e-14
  }
}

TEST(Golden, OneAndTenStepsOfTheLagrangianFormOfS2) {
  for (const auto& [name, method] : all_methods()) {
    const json& golden = goldens::symplectic()["variational_and_H_vs_L"]["6.2L_" + name];
    const json& initial = goldens::symplectic()["variational_and_H_vs_L"]["6.2L"];
    Simulation run(problems::s2_lagrangian().system, method, {.step = 0.1});
    run.start({.position = numbers(initial["q0"]), .velocity = numbers(initial["v0"])});
    EXPECT_NEAR(run.state().psi[0], number(initial["lam0"]), 1e-14);  // measured 2e-16
    run.step();
    expect_near(run.state().y, numbers(golden["one_step_q1"]), 1e-14, name);
    expect_near(run.state().z, numbers(golden["one_step_v1"]), 1e-14, name);
    expect_near(run.report().momentum, numbers(golden["one_step_p1"]), 1e-14, name);
    EXPECT_NEAR(run.state().psi[0], number(golden["one_step_Lam"].back()), 1e-12) << name;  // measured 9.5e-14
    for (int k = 1; k < 10; ++k) run.step();
    expect_near(run.state().y, numbers(golden["ten_step_q"]), 1e-13, name);
    expect_near(run.report().momentum, numbers(golden["ten_step_p"]), 1e-13, name);
  }
}

TEST(Golden, ErrorsOnS2AtThreeSteps) {
  for (const auto& [name, method] : all_methods())
    for (const char* h : {"0.12", "0.06", "0.03"}) {
      const json& golden = goldens::symplectic()["misc_psi_limits_and_6.2_orders"]["6.2_t1.2_" + name][h];
      const State end = integrate(problems::s2(), method, std::stod(h), 1.2);
      expect_near(end.y, numbers(golden["q"]), 1e-13, name + " h=" + h);
      expect_near(end.z, numbers(golden["p"]), 1e-13, name + " h=" + h);
    }
}

}  // namespace
}  // namespace hinge::golden_test
