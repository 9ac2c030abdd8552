// Radau IIA against numbers of independent implementations: fixed steps on six formulations, chosen steps on three,
// DAEs of index 1 and 2; and the ways to solve the stage equations against each other.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/error.hpp"
#include "method/implicit/radau_problems.hpp"
#include "method/implicit/radau_stages.hpp"
#include "random_draw.hpp"

namespace hinge::radau_test {
namespace {

using namespace radau_problems;
using goldens::number;
using goldens::numbers;

struct Form {
  const char* golden;
  Formulation formulation;
};
constexpr Form forms[] = {{"idx1", Formulation::index_1},
                          {"idx2", Formulation::index_2},
                          {"idx3", Formulation::index_3},
                          {"ggl", Formulation::ggl},
                          {"pi332", Formulation::projected_invariants},
                          {"e317", Formulation::extended}};

// End values with ten steps, and the errors of all runs, so that orders agree as well: p and v, then lambda.
TEST(Radau, FixedStepGoldens) {
  int compared = 0;
  for (const Problem& p : {pendulum(), hoop()})
    for (const int stages : {2, 3})
      for (const Form& form : forms) {
        const std::string key = fmt::format("{}|RadauIIA{}|{}", p.name, stages, form.golden);
        if (!data()["radau_fixed_step"].contains(key)) continue;
        const auto& golden = data()["radau_fixed_step"][key];
        const auto& reference = data()["references_18_digits"][p.name + " T=1/2"];
        for (std::size_t k = 0; k < golden["N"].size(); ++k) {
          const int n = golden["N"][k];
          const State s = with_steps(p, in(form.formulation, stages), 0.5, n);
          const double errors[] = {difference(s.y, numbers(reference["p"])), difference(s.z, numbers(reference["v"])),
                                   difference(s.psi, numbers(reference["lam"]))};
          for (std::size_t part = 0; part < 3; ++part) {
            const double error = golden["errors_p_v_lam_extra"][k][part];
            EXPECT_NEAR(errors[part], error, 1e-5 * error + 1e-12) << key << " N = " << n << " part " << part;
          }
          if (n != 10) continue;
          std::vector<double> x = s.y;
          x.insert(x.end(), s.z.begin(), s.z.end());
          x.insert(x.end(), s.psi.begin(), s.psi.end());
          std::vector<double> expected = numbers(golden["x_N10"]);
          expected.resize(x.size());
          goldens::expect_near(x, expected, 5e-12, key);
          ++compared;
        }
      }
  EXPECT_GE(compared, 22);
}

// The formulation's multipliers of ggl have order 3, those that belong to p and v order 5 like these.
TEST(Radau, RecomputedMultipliersHaveTheOrderOfTheMotion) {
  const Problem p = pendulum();
  const auto reference = numbers(data()["references_18_digits"]["pendulum T=1/2"]["lam"]);
  for (const auto& [multipliers, order] :
       {std::pair{RadauOptions::Multipliers::automatic, 5.0}, std::pair{RadauOptions::Multipliers::formulation, 3.0}}) {
    RadauOptions options = in(Formulation::ggl, 3);
    options.multipliers = multipliers;
    const double coarse = difference(with_steps(p, options, 0.5, 10).psi, reference);
    const double fine = difference(with_steps(p, options, 0.5, 20).psi, reference);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.15);  // measured 5.00 and 3.00
  }
}

// The reduced matrices of projected invariants give the same increments as whole ones, at points that are no solution.
TEST(Radau, ReducedMatricesAreTheWholeOnes) {
  for (const Problem& p : {pendulum(), hoop()})
    for (const int stages : {2, 3, 5, 7}) {
      const auto problem = formulate(p.system, {});
      const RadauTableau tableau = radau_tableau(stages);
      const auto n = static_cast<std::size_t>(problem->size()), all = n * static_cast<std::size_t>(stages);
      Simulation run(p.system, radau(), {.tolerance = {1e-6, 1e-6}});
      run.start(p.start);
      run.until(0.3);
      std::vector<double> x(n), rate(n);
      ASSERT_TRUE(problem->from_state(run.state(), x.data(), rate.data()));
      for (std::size_t k = 0; k < n; ++k) {
        x[k] += 0.01 * std::sin(3.0 * static_cast<double>(k) + 1);
        rate[k] += 0.1 * std::cos(5.0 * static_cast<double>(k));
      }
      std::vector<std::vector<double>> increments;
      for (const LinearAlgebra choice : {LinearAlgebra::automatic, LinearAlgebra::sparse}) {
        Counters counters;
        RadauStages solver(*problem, stages, choice, counters);
        solver.use(tableau);
        solver.match_pattern();
        solver.linearise(0.3, x.data(), rate.data());
        ASSERT_TRUE(solver.factor(0.05));
        std::vector<double> z(all), dz(all);
        for (std::size_t k = 0; k < all; ++k) z[k] = 0.01 * std::sin(7.0 * static_cast<double>(k) + 2);
        ASSERT_TRUE(solver.iterate(0.3, x.data(), 0.05, z.data(), dz.data()));
        increments.push_back(dz);
        if (tableau.has_real()) {
          std::vector<double> r(z.begin(), z.begin() + static_cast<std::ptrdiff_t>(n));
          solver.solve_real(r.data());
          increments.back().insert(increments.back().end(), r.begin(), r.end());
        }
      }
      EXPECT_LT(difference(increments[0], increments[1]), 1e-10) << p.name << " " << stages;  // measured up to 2e-12
      EXPECT_GT(difference(increments[0], std::vector<double>(increments[0].size(), 0.0)), 0.1);
    }
}

// T = 2, first step 1e-3. Steps: not more than 30 % above those of the reference, which tests multipliers, too, and
// takes up to twice as many; errors not more than ten times.
TEST(Radau, ChosenStepsGoldens) {
  for (const Problem& p : {pendulum(), hoop()}) {
    const auto& reference = data()["references_18_digits"][p.name + " T=2"];
    for (const Form& form : {forms[0], forms[3], forms[2]})
      for (const char* tolerance : {"0.0001", "1e-06", "1e-08"}) {
        const std::string key = fmt::format("{}|RADAU5|{}|tol={}", p.name, form.golden, tolerance);
        const auto& golden = data()["radau5_variable_step"][key];
        const double tol = std::stod(tolerance);
        Simulation run(p.system, radau(in(form.formulation, 3)), {.step = 1e-3, .tolerance = {tol, tol}});
        run.start(p.start);
        run.until(2);
        EXPECT_EQ(run.state().t, 2);
        const auto& errors = golden["err_p_v_lam"];
        const double steps = golden["nst"];
        EXPECT_LT(static_cast<double>(run.report().steps), 1.3 * steps) << key;
        EXPECT_GT(static_cast<double>(run.report().steps), 0.45 * steps) << key;
        const double p_error = difference(run.state().y, numbers(reference["p"]));
        const double v_error = difference(run.state().z, numbers(reference["v"]));
        EXPECT_LT(p_error, std::max(10 * number(errors[0]), 40 * tol)) << key;
        EXPECT_LT(v_error, form.formulation == Formulation::index_3 ? 2000 * tol : 50 * tol) << key;
      }
  }
}

// Errors follow the tolerance in every formulation and for every number of stages.
TEST(Radau, ErrorsFollowTheTolerance) {
  const Problem p = pendulum();
  const auto reference = numbers(data()["references_18_digits"]["pendulum T=2"]["p"]);
  for (const Formulation f :
       {Formulation::index_1, Formulation::index_2, Formulation::baumgarte, Formulation::ggl, Formulation::extended,
        Formulation::projected_invariants, Formulation::coordinate_partitioning, Formulation::tangent_space})
    for (const int stages : {3, 5, 7, 0}) {
      double last = 1;
      for (const double tol : {1e-4, 1e-7, 1e-10}) {
        Simulation run(p.system, radau(in(f, stages)), {.tolerance = {tol, tol}});
        run.start(p.start);
        run.until(2);
        const double error = difference(run.state().y, reference);
        EXPECT_LT(error, 500 * tol) << formulation_name(f) << " " << stages << " " << tol;
        EXPECT_LT(error, 0.2 * last) << formulation_name(f) << " " << stages << " " << tol;
        last = error;
      }
    }
}

// Where the absolute tolerance counts, a smaller relative one asks for no less: x'' = -w^2 x of size a.
TEST(Radau, ATinyRelativeToleranceLoosensNothing) {
  Draw draw(20);
  for (int k = 0; k < 40; ++k) {
    const double a = draw.power(0, 4), w = draw.number(0.3, 3), absolute = a * draw.power(-10, -6);
    Mechanical m;
    const Vector x = m.coordinates("x", 1);
    m.mass({1.0});
    m.force({-w * w * x[0]});
    const std::shared_ptr<const System> system = m.build();
    for (const int stages : {3, 5, 7, 0})
      for (const double relative : {absolute / a, 1e-13, 1e-15, 0.0}) {
        Simulation run(system, radau({.stages = stages}), {.tolerance = {relative, absolute}});
        run.start({.position = {a}, .velocity = {0}});
        run.until(5);
        // measured up to 3.6 in other draws; up to 4.7e3 where 1e-15 is taken as it stands
        EXPECT_LT(std::abs(run.state().y[0] - a * std::cos(5 * w)), 20 * absolute)
            << a << " " << w << " " << absolute << " " << relative << " " << stages;
      }
  }
}

TEST(Radau, DenseOutput) {
  const Problem p = pendulum();
  const auto method = radau(in(Formulation::projected_invariants, 5));
  const auto stepper = method.bind(p.system, {}, {.tolerance = {1e-8, 1e-8}});
  State state{0, {1, 0}, {0, 0}, {0}}, between = state;
  ASSERT_TRUE(stepper->start(state));
  while (state.t < 0.5) ASSERT_TRUE(stepper->advance(state, 0.75));
  ASSERT_TRUE(stepper->advance(state, INFINITY));
  while (state.t < 1) ASSERT_TRUE(stepper->advance(state, INFINITY));
  stepper->interpolate(1.0, between);
  const auto& reference = data()["references_18_digits"]["pendulum T=1"];
  EXPECT_LT(difference(between.y, numbers(reference["p"])), 1e-6);
  EXPECT_LT(difference(between.z, numbers(reference["v"])), 1e-5);
  stepper->interpolate(state.t, between);
  EXPECT_LT(difference(between.y, state.y), 1e-14);
}

TEST(Radau, DifferentiatorCircuit) {
  const Problem p = differentiator();
  for (const int stages : {2, 3}) {
    const auto& golden = data()["differentiator"][fmt::format("RadauIIA{}: [V3(1), error] N=10,20,40", stages)];
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(with_steps(p, in(Formulation::automatic, stages), 1, 10 << k).y[2], number(golden[k][0]), 1e-12);
  }
}

TEST(Radau, VanDerPolWithFixedSteps) {
  const Problem p = van_der_pol();
  const double y = number(data()["van_der_pol"]["reduced_y_half"]), z = number(data()["van_der_pol"]["reduced_z_half"]);
  for (const int stages : {2, 3}) {
    const auto& golden = data()["van_der_pol"][fmt::format("RadauIIA{} DAE eps=0 err(y,z) N=5,10,20", stages)];
    for (std::size_t k = 0; k < 3; ++k) {
      const State s = with_steps(p, in(Formulation::automatic, stages), 0.5, 5 << k);
      EXPECT_NEAR(std::abs(s.y[0] - y), number(golden[k][0]), 1e-4 * number(golden[k][0]) + 2e-14);
      EXPECT_NEAR(std::abs(s.y[1] - z), number(golden[k][1]), 1e-4 * number(golden[k][1]) + 2e-14);
    }
  }
}

// The solution ends at the impasse; the run says so instead of jumping over it or going on for ever.
TEST(Radau, VanDerPolImpasseIsReported) {
  const Problem p = van_der_pol();
  for (const int stages : {3, 5, 0}) {
    Simulation run(p.system, radau(in(Formulation::automatic, stages)), {.tolerance = {1e-8, 1e-8}});
    run.start(p.start);
    try {
      run.until(1);
      ADD_FAILURE() << "there is no solution at t = 1";
    } catch (const StepFailure& failure) {
      EXPECT_NEAR(run.state().t, number(data()["van_der_pol"]["impasse_time"]), 1e-6);
      EXPECT_NE(std::string(failure.what()).find("impasse"), std::string::npos) << failure.what();
    }
  }
}

TEST(Radau, Robertson) {
  const Problem p = robertson();
  for (const auto& [end, key] :
       {std::pair{0.4, "robertson T=0.4"}, std::pair{40.0, "robertson T=40"}, std::pair{4e5, "robertson T=400000"}}) {
    const auto& golden = data()["radau5_variable_step"][key];
    const auto reference = numbers(golden["ref(scipy Radau rtol1e-12)"]);
    for (const int stages : {3, 0}) {
      Simulation run(p.system, radau(in(Formulation::automatic, stages)), {.tolerance = {1e-6, 1e-12}});
      run.start(p.start);
      run.until(end);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(run.state().y[i], reference[i], 2e-6 * reference[i]) << key << " " << i;
      EXPECT_LT(run.report().steps, 200) << key;
    }
  }
}

TEST(Radau, RefusesBadOptions) {
  const Problem p = pendulum();
  EXPECT_THROW(make_method("radau", {{"stages", 0.0}}), InputError);
  EXPECT_THROW(make_method("radau", {{"stages", 10.0}}), InputError);
  EXPECT_THROW(make_method("radau", {{"stages", std::string("many")}}), InputError);
  EXPECT_THROW(make_method("radau", {{"formulation", std::string("index-4")}}), InputError);
  EXPECT_THROW(make_method("radau", {{"multipliers", std::string("mine")}}), InputError);
  EXPECT_THROW(Simulation(p.system, radau(in(Formulation::ggl, 4)), {.tolerance = {1e-6, 1e-6}}), InputError);
}

}  // namespace
}  // namespace hinge::radau_test
