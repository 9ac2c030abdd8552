// BDF with steps of given length on every formulation, against an independent implementation (tests/data/dae_bdf.json).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/error.hpp"
#include "method/implicit/bdf_runs.hpp"

namespace hinge::bdf_golden_test {
namespace {

using namespace bdf_runs;
using dae_problems::hoop;
using dae_problems::linear3;
using dae_problems::pendulum;
using dae_problems::pivot;
using dae_problems::rotmass;
using dae_problems::slider_crank;
using goldens::expect_near;
using goldens::json;
using goldens::number;
using goldens::numbers;

TEST(DaeProblems, ReachTheReferences) {  // the minimal coordinates that give starting values are right
  const std::vector<std::pair<std::string, Problem>> all = {{"pendulum T=1", pendulum()},
                                                            {"hoop T=1", hoop()},
                                                            {"pivot T=1", pivot()},
                                                            {"slider_crank T=1", slider_crank()},
                                                            {"linear3 r=0 T=1", linear3(dae_problems::at_rest())},
                                                            {"linear3 r=sin(t) T=1", linear3(dae_problems::sine())}};
  for (const auto& [key, problem] : all) {
    const State s = exact_states(problem, 2, 1.0)[1], r = reference(key);
    expect_near(s.y, r.y, 1e-14, key);
    expect_near(s.z, r.z, 1e-14, key);
    expect_near(s.psi, r.psi, 1e-14, key);
  }
}

// Errors at three step sizes, end values and the order that follows, of p, v and lambda.
void expect_orders(const Problem& problem) {
  int clean = 0;
  const State exact = reference(problem.name + " T=1/2");
  for (const auto& [key, table] : data()["bdf_orders"][problem.name].items()) {
    if (key.starts_with("reference")) continue;
    const std::string name = key.substr(0, key.find('|'));
    const int order = key.back() - '0';
    const bool index3 = name == "index3";
    std::array<Triple, 3> errors{};
    for (int k = 0; k < 3; ++k) {
      const int steps = 40 << k;
      const std::vector<State> states = run(problem, named(name, order), 0.5 / steps, steps);
      const auto at = static_cast<std::size_t>(k);
      errors[at] = difference(states.back(), exact);
      const Triple golden{number(table["err_p"][at]), number(table["err_v"][at]), number(table["err_lam"][at])};
      // lambda of index-3 is positions divided by h^2: rounding of 1e-16 becomes 1e-11 and more. Dense and sparse LU
      // differ by up to 7e-10 at the end of the hoop.
      expect_errors(errors[at], golden, 1e-3, index3 ? 1e-7 : 1e-9, problem.name + " " + key, index3 ? 1e-9 : 0);
      if (k != 1) continue;
      const json& solution = table["solution_h_1_160"];
      expect_near(states.back().y, numbers(solution["p"]), 1e-11, key);
      expect_near(states.back().z, numbers(solution["v"]), index3 ? 1e-10 : 1e-11, key);
      expect_near(states.back().psi, numbers(solution["lam"]), index3 ? 1e-7 : 1e-10, key);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (errors[2][i] < (index3 ? 1e-7 : 1e-9)) continue;  // rounding is seen in the slope
      const double slope = std::log2(errors[1][i] / errors[2][i]);
      EXPECT_NEAR(slope, number(table["order_last"][i]), 0.02) << problem.name << " " << key << " [" << i << "]";
      // errors that change sign on the way have no clean slope at these steps
      if (std::abs(number(table["order_last"][i]) - order) < 0.15) {
        EXPECT_NEAR(slope, order, 0.16) << problem.name << " " << key << " [" << i << "]";
        ++clean;
      }
    }
  }
  EXPECT_GT(clean, 60);  // of 120, less those at rounding
}

TEST(Bdf, HasItsOrderInEveryFormulationOfThePendulum) { expect_orders(pendulum()); }
TEST(Bdf, HasItsOrderInEveryFormulationOfTheHoop) { expect_orders(hoop()); }

TEST(Bdf, ReachesTheGoldenErrorsOfFourProblems) {
  for (const Problem& problem : {pendulum(), pivot(), hoop(), slider_crank()}) {
    const State exact = exact_states(problem, 2, 0.5)[1];
    for (const int k : {1, 2, 3, 5}) {
      const std::string key = fmt::format("{}|BDF{}|h=1/80|errors(T=1/2)", problem.name, k);
      for (const auto& [name, golden] : data()["bdf_final_errors_T_half_h_1_80"].at(key).items()) {
        if (name == "lssNull" || name == "piPrev" || name == "A=null(G0)") continue;  // see bdf_equivalence_test.cpp
        const Triple errors = difference(run(problem, named(name, k), 1 / 80.0, 40).back(), exact);
        expect_errors(errors, triple(golden), 1e-3, 1e-9, key + " " + name);
      }
    }
  }
}

TEST(Bdf, OnDifferentFormulationsDiffersAsMeasured) {
  for (const Problem& problem : {pendulum(), pivot(), hoop(), slider_crank()})
    for (const int k : {1, 2, 3, 5}) {
      const auto base = run(problem, named("pi332", k), 1 / 80.0, 40);
      for (const char* name : {"lssPrev", "gcp", "e317", "ggl", "idx3", "idx2", "idx1"}) {
        const std::string key = fmt::format("{}|BDF{}|h=1/80|NEQ pi332 - {}", problem.name, k, name);
        const Triple d = difference(base, run(problem, named(name, k), 1 / 80.0, 40));
        expect_errors(d, triple(data()["nonequivalences_measured"].at(key)), 1e-3, 1e-9, key);
      }
    }
}

// With constant G all formulations are the same method exactly where BDF-k is exact on r(t).
TEST(Bdf, FormulationsCoincideForLinearConstraintsThatBdfSolvesExactly) {
  const std::vector<dae_problems::Moved> moved = {dae_problems::at_rest(), dae_problems::sine(),
                                                  dae_problems::power(1),  dae_problems::power(2),
                                                  dae_problems::power(3),  dae_problems::power(4)};
  int coincide = 0, differ = 0;
  for (const auto& r : moved)
    for (const int k : {2, 3}) {
      const Problem problem = linear3(r);
      const auto base = run(problem, named("pi332", k), 1 / 40.0, 40);
      for (const char* name : {"lssNull", "gcp", "e317", "ggl", "idx3", "idx2", "idx1", "baum5,5"}) {
        const std::string key = fmt::format("linear3 r={}|BDF{}|h=1/40|pi332 - {}", r.name, k, name);
        const Triple golden = triple(data()["linear_constraint_equivalence"].at(key));
        const Triple d = difference(base, run(problem, named(name, k), 1 / 40.0, 40));
        expect_errors(d, golden, 1e-3, name == std::string("idx3") ? 1e-10 : 1e-12, key);
        (golden[0] > 1e-9 ? differ : coincide)++;
      }
    }
  EXPECT_GT(coincide, 40);
  EXPECT_GT(differ, 20);
}

TEST(Bdf, IsStableForVeryDifferentMassesInProjectedInvariants) {
  const Problem problem = rotmass();
  int compared = 0;
  for (const auto& [key, table] : data()["stability_heterogeneous_mass"].items()) {
    if (!key.starts_with("BDF")) continue;
    const int k = key[3] - '0';
    const std::string step = key.substr(7, key.find('|', 5) - 7);  // "2/25"
    const auto slash = step.find('/');
    const double h = std::stod(step.substr(0, slash)) / std::stod(step.substr(slash + 1));
    const int steps = static_cast<int>(std::lround(2 / h));
    const State exact = exact_states(problem, 1, h, 2)[0];
    for (const char* name : {"(3.32)", "(3.17)", "GGL", "index2", "index3"}) {
      const Triple golden = triple(table[name]);
      const Triple d = difference(run(problem, named(name, k), h, steps).back(), exact);
      if (golden[0] < 1e6)
        expect_errors(d, golden, 2e-2, 1e-7, key + name);
      else
        EXPECT_GT(d[0], 1e-3 * golden[0]) << key << name;  // rounding that has grown
      ++compared;
    }
  }
  EXPECT_GE(compared, 80);
}

// How much a disturbance of the start grows from one step to the next, at the rate K = 50 of rotmass.
double amplification(const std::string& name, int k, double h_times_k) {
  const Problem problem = rotmass();
  const double h = h_times_k / 50;
  const auto growth_over = [&](int steps) {
    std::vector<State> history = exact_states(problem, k, h);
    const auto clean = make_fixed_bdf(problem.system, named(name, k), {}, history, h);
    State a = history.back();
    const double f = -a.t / 2, size = 1e-3;  // along N, which the constraint leaves free
    history.back().z[0] -= size * std::sin(f);
    history.back().z[1] += size * std::cos(f);
    const auto disturbed = make_fixed_bdf(problem.system, named(name, k), {}, history, h);
    State b = history.back();
    for (int n = 0; n < steps; ++n) {
      EXPECT_TRUE(clean->step(a, h));
      EXPECT_TRUE(disturbed->step(b, h));
    }
    return std::max(std::hypot(a.z[0] - b.z[0], a.z[1] - b.z[1]), 1e-8);  // below this it is rounding
  };
  return std::pow(growth_over(420) / growth_over(220), 1 / 200.0);
}

TEST(Bdf, LosesStabilityWhereTheCharacteristicPolynomialSays) {
  const double ggl[] = {0, 2, 10. / 9, 16. / 21, 128. / 225}, index3[] = {1, 2. / 3, 10. / 21, 16. / 45, 128. / 465};
  for (int k = 1; k <= 5; ++k) {
    const auto at = static_cast<std::size_t>(k - 1);
    if (k > 1) {
      EXPECT_LE(amplification("GGL", k, 0.98 * ggl[at]), 1.0) << k;
      EXPECT_GT(amplification("GGL", k, 1.02 * ggl[at]), 1.0) << k;
    }
    EXPECT_LE(amplification("index3", k, 0.98 * index3[at]), 1.0) << k;
    EXPECT_GT(amplification("index3", k, 1.02 * index3[at]), 1.0) << k;
    EXPECT_LE(amplification("(3.32)", k, 3 * std::max(ggl[at], 1.0)), 1.0) << k;
  }
}

// The first multiplier after a start, or after a change of the step by r, is wrong by -(1 - 1/r) H^-1 z / 2.
TEST(Bdf, HasAWrongFirstMultiplierOnIndex3) {
  const Problem problem = pendulum();
  const json& golden = data()["index3_lambda_defects"];
  for (const int n : {100, 1000, 10000}) {
    const double h = 1.0 / n;
    const auto exact = exact_states(problem, 4, h, 0.3);
    const auto stepper = make_fixed_bdf(problem.system, named("index3", 1), {}, {exact[0]}, h);
    State state = exact[0];
    for (std::size_t k = 1; k < 4; ++k) {
      ASSERT_TRUE(stepper->step(state, h));
      // rounding of positions, 1e-16, over h^2
      EXPECT_NEAR(state.psi[0] - exact[k].psi[0], number(golden[fmt::format("h=1/{}", n)][k - 1]),
                  1e-15 * n * n + 1e-9);
    }
    for (const double r : {2.0, 0.5}) {
      State next = state;
      const auto other = make_fixed_bdf(problem.system, named("index3", 1), {}, {state}, r * h);
      const double speed = std::hypot(state.z[0], state.z[1]);
      const State there = exact_states(problem, 2, 3 * h + r * h, 0.3)[1];
      ASSERT_TRUE(other->step(next, r * h));
      const double limit = -0.5 * (1 - 1 / r) * speed * speed / 2;  // H = G G^T = 4, z = 2 |v|^2
      EXPECT_NEAR(next.psi[0] - there.psi[0], limit, 70 * h) << r;  // measured 65 h
    }
  }
}

TEST(Bdf, SwitchesCoordinatesWithoutLosingItsOrder) {
  const Problem problem = pendulum();
  const State exact = reference("pendulum T=2");
  for (const int k : {2, 3, 5}) {
    const json& golden = data()["switching"][fmt::format("BDF{}", k)];
    BdfOptions options = named("gcp", k);
    options.keep_partition = 0.5;
    const State coarse = run(problem, options, 1 / 100.0, 200).back(),
                fine = run(problem, options, 1 / 200.0, 400).back();
    expect_near(coarse.y, numbers(golden["solution_h_1_100"]["p"]), 1e-11, "p");
    expect_near(coarse.z, numbers(golden["solution_h_1_100"]["v"]), 1e-11, "v");
    expect_near(coarse.psi, numbers(golden["solution_h_1_100"]["lam"]), 1e-11, "lambda");
    expect_errors(difference(coarse, exact), triple(golden["err_h_1_100"]), 1e-3, 1e-11, "h = 1/100");
    expect_errors(difference(fine, exact), triple(golden["err_h_1_200"]), 1e-3, 1e-11, "h = 1/200");
  }
  // and it does switch, three times
  const auto form = formulate(problem.system, {Formulation::coordinate_partitioning});
  std::vector<double> x(static_cast<std::size_t>(form->size())), rate = x;
  const std::vector<State> motion = run(problem, named("pi332", 5), 1 / 100.0, 200);
  int switches = 0;
  for (int n = 0; n <= 200; ++n) {
    const State& s = motion[static_cast<std::size_t>(n)];
    if (n == 0) {
      ASSERT_TRUE(form->from_state(s, x.data(), rate.data()));
    }
    std::copy(s.y.begin(), s.y.end(), x.begin());
    if (form->accepted(s.t, x.data()) == ImplicitProblem::Change::pattern) ++switches;
  }
  EXPECT_EQ(switches, 3);
}

TEST(Bdf, TakesASingularMassAndRefusesItWhereItCannot) {
  const Problem problem = slider_crank(0);
  const json& golden = data()["singular_mass"];
  const State exact = exact_states(problem, 2, 0.5)[1];
  for (const char* name : {"index3", "GGL", "(3.32)", "GCP[2]"}) {
    const json& table = golden[std::string(name) + "|BDF2"];
    for (const int n : {40, 80})
      expect_errors(difference(run(problem, named(name, 2), 0.5 / n, n).back(), exact),
                    triple(table[fmt::format("err_h_1_{}", 2 * n)]), 1e-3, 1e-9, name);
  }
  try {
    formulate(problem.system, {Formulation::extended});
    ADD_FAILURE() << "not refused";
  } catch (const UnsuitableMethod& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("regular mass"), std::string::npos) << refusal.what();
  }
}

// From its own starting values: errors as with exact ones.
TEST(Bdf, StartsItselfWithoutLosingItsOrder) {
  for (const char* name : {"idx3", "idx2", "ggl", "pi332", "e317", "gcp", "lssPrev"}) {
    const Problem problem = hoop();
    const State exact = reference("hoop T=1/2");
    for (int k = 2; k <= 5; ++k) {
      const auto error = [&](int steps) {
        const auto stepper = make_fixed_bdf(problem.system, named(name, k), {});
        State state = problem.at(0);
        for (int n = 0; n < steps; ++n) EXPECT_TRUE(stepper->step(state, 0.5 / steps));
        return difference(state, exact);
      };
      const Triple with_exact = difference(run(problem, named(name, k), 0.5 / 80, 80).back(), exact);
      const Triple own = error(80);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(own[i], 2 * with_exact[i] + 1e-9) << name << k << " [" << i << "]";
    }
  }
}

TEST(Bdf, TakesALastStepOfAnotherLength) {
  const Problem problem = hoop();
  Simulation run(problem.system, make_method("bdf", {{"order", 5.0}}), {.step = 0.003});
  run.start({.position = problem.at(0).y, .velocity = problem.at(0).z});
  run.until(0.5);  // 166 steps and two thirds
  const Triple error = difference(run.state(), reference("hoop T=1/2"));
  EXPECT_LT(error[0], 2e-9);
  EXPECT_LT(error[1], 2e-8);
  EXPECT_DOUBLE_EQ(run.state().t, 0.5);
  EXPECT_LT(run.report().constraint, 1e-14);
  EXPECT_LT(run.report().hidden_constraint, 1e-14);
}

}  // namespace
}  // namespace hinge::bdf_golden_test
