// The symplectic Euler family: goldens of every member, what is true of each by a theorem, and branches.
#include <random>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/goldens.hpp"
#include "method/problems.hpp"

namespace hinge::symplectic_euler_test {
namespace {

using goldens::expect_near;
using goldens::json;
using goldens::number;
using goldens::numbers;
using problems::distance;
using problems::E1;
using problems::integrate;
using problems::Problem;

MethodChoice euler(const std::string& kind, double alpha) {
  return symplectic_euler({.natural = kind.rfind("nat", 0) == 0,
                           .conjugate = kind.find("conj") != std::string::npos,
                           .adjoint = kind.find("adj") != std::string::npos,
                           .alpha = alpha});
}

const json& table() { return goldens::symplectic()["euler_paper_euler"]; }

Problem problem(const std::string& name) { return name == "4.1" ? problems::e1() : problems::e2(); }

struct Case {
  std::string problem, kind;
  double alpha;
  std::string key() const { return "euler_" + problem + "_" + kind + "_alpha" + (alpha == 1 ? "1" : "0.5"); }
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* p : {"4.1", "4.2"}) {
    list.push_back({p, "natural", 0.5});
    list.push_back({p, "true_adj", 0.5});
    for (const char* kind : {"true", "trueconj"})
      for (const double alpha : {0.5, 1.0}) list.push_back({p, kind, alpha});
  }
  return list;
}

TEST(SymplecticEuler, AgreesWithTheGoldensOfTheFirstStep) {
  for (const Case& c : cases()) {
    const json& golden = table()[c.key()];
    ASSERT_TRUE(golden.contains("first_step_h0.1")) << c.key();
    const Problem p = problem(c.problem);
    Simulation run(p.system, euler(c.kind, c.alpha), {.step = 0.1});
    run.start(p.start);
    State s = run.state();
    const auto stepper = euler(c.kind, c.alpha).bind(p.system, {});
    ASSERT_TRUE(stepper->step(s, 0.1)) << c.key();
    const json& first = golden["first_step_h0.1"];
    expect_near(s.y, numbers(first["y1"]), 1e-14, c.key());  // measured 2.0e-16
    expect_near(s.z, numbers(first["z1"]), 1e-14, c.key());  // measured 2.1e-16
    expect_near(stepper->multipliers(), {number(first["PsiA"]), number(first["PsiB"])}, 1e-12,
                c.key());  // measured 4.6e-14
  }
}

TEST(SymplecticEuler, AgreesWithTheGoldensAtTheEnd) {
  for (const Case& c : cases())
    for (const char* h : {"0.1", "0.05", "0.025", "0.0125", "0.00625"}) {
      const json& golden = table()[c.key()][h];
      const State end = integrate(problem(c.problem), euler(c.kind, c.alpha), std::stod(h), 1.0);
      expect_near(end.y, numbers(golden["y"]), 1e-13, c.key() + " h=" + h);  // measured 8.9e-15
      expect_near(end.z, numbers(golden["z"]), 1e-13, c.key() + " h=" + h);  // measured 9.0e-15
      const char* consistent = c.kind == "true_adj" ? "PsiA_last" : "PsiB_last";
      EXPECT_NEAR(end.psi[0], number(golden[consistent]), 1e-11) << c.key() << " h=" << h;  // measured 1.3e-13
    }
}

TEST(SymplecticEuler, AgreesWithTheMultipliersOfSmallSteps) {
  const json& limits = goldens::symplectic()["misc_psi_limits_and_6.2_orders"];
  for (const char* name : {"4.1", "4.2"})
    for (const char* kind : {"natural", "true", "natconj", "trueconj", "true_adj"})
      for (const char* h : {"0.01", "0.005", "0.0025"}) {
        const std::string key = std::string("psi_limits_") + name + "_" + kind;
        const auto stepper = euler(kind, 0.5).bind(problem(name).system, {});
        Simulation start(problem(name).system, euler(kind, 0.5), {.step = 1});
        start.start(problem(name).start);
        State s = start.state();
        ASSERT_TRUE(stepper->step(s, std::stod(h))) << key;
        const json& golden = limits[key][h];
        // rounding of the inner multiplier: eps |y| |g_y| / (alpha h^2)
        expect_near(stepper->multipliers(), {number(golden["PsiA"]), number(golden["PsiB"])}, 1e-9,
                    key + " h=" + h);  // measured 8.3e-11
      }
}

TEST(SymplecticEuler, AgreesWithTheErrorsOfVerySmallSteps) {
  for (const char* name : {"4.1", "4.2"})
    for (const char* kind : {"natural", "true"})
      for (const int n : {1000, 4000}) {
        const std::string key = std::string(name) + "_" + kind + "_a0.5_h1/" + std::to_string(n);
        const json& golden = goldens::symplectic()["euler_paper_small_h_float64"][key];
        const State end = integrate(problem(name), euler(kind, 0.5), 1.0 / n, 1.0);
        const json& reference =
            name == std::string("4.1") ? goldens::symplectic()["exact_4.1_6.1_t1"] : table()["ref42"];
        const std::vector<double> y = numbers(reference["y"]);
        const std::vector<double> z = reference["z"].is_array() ? numbers(reference["z"]) : y;
        EXPECT_NEAR(distance(end.y, y), number(golden["err_y"]), 2e-10)
            << key;  // measured 7.5e-12; the goldens are doubles
        EXPECT_NEAR(distance(end.z, z), number(golden["err_z"]), 2e-10) << key;  // measured 2.9e-11
      }
}

TEST(SymplecticEuler, NaturalConvergesToAnotherOdeWhereTheReactionIsNonlinear) {
  for (const char* name : {"4.1", "4.2"}) {
    const json& limit = table()[std::string("natural_limit_") + name + "_alpha0.5"];
    const json& other = table()[name == std::string("4.1") ? "euler_4.1_natural_alpha0.5" : "ref42"];
    std::vector<double> to_limit;
    double error = 0;
    for (const double h : {1.0 / 400, 1.0 / 800, 1.0 / 1600}) {
      const State end = integrate(problem(name), euler("natural", 0.5), h, 1.0);
      to_limit.push_back(distance(end.y, numbers(limit["y"])) + distance(end.z, numbers(limit["z"])));
      const std::vector<double> exact =
          name == std::string("4.1") ? std::vector{std::exp(2.0), std::exp(-1.0)} : numbers(other["y"]);
      error = distance(end.y, exact);
    }
    EXPECT_NEAR(std::log2(to_limit[0] / to_limit[1]), 1, 0.02) << name;  // measured 0.0066
    EXPECT_NEAR(std::log2(to_limit[1] / to_limit[2]), 1, 0.01) << name;  // measured 0.0033
    // and stays away from the solution by what the limit is away
    EXPECT_GT(error, 0.95 * number(limit["err_y"])) << name;
  }
}

TEST(SymplecticEuler, NaturalConjugateHasTheLimitOfNaturalWithTheOtherAlpha) {
  std::vector<double> gap;
  for (const double h : {1.0 / 400, 1.0 / 800, 1.0 / 1600})
    gap.push_back(distance(integrate(problems::e1(), euler("natconj", 0.3), h, 1.0).y,
                           integrate(problems::e1(), euler("natural", 0.7), h, 1.0).y));
  EXPECT_NEAR(std::log2(gap[0] / gap[1]), 1, 0.05);
  EXPECT_NEAR(std::log2(gap[1] / gap[2]), 1, 0.03);
  // control: with the same alpha the limits differ
  const double same = distance(integrate(problems::e1(), euler("natconj", 0.3), 1.0 / 1600, 1.0).y,
                               integrate(problems::e1(), euler("natural", 0.3), 1.0 / 1600, 1.0).y);
  EXPECT_GT(same, 10 * gap[2]);
}

// One step from consistent values; z after y.
std::vector<double> one_step(const Problem& p, const MethodChoice& method, double h, std::vector<double> x = {},
                             std::vector<double>* multipliers = nullptr) {
  const std::size_t n = p.start.position.size();
  Simulation start(p.system, method, {.step = 1});
  start.start(p.start);
  State s = start.state();
  if (!x.empty()) {
    std::copy_n(x.begin(), n, s.y.begin());
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), s.z.begin());
  }
  const auto stepper = method.bind(p.system, {});
  const StepResult result = stepper->step(s, h);
  EXPECT_TRUE(result) << result.reason;
  if (multipliers) *multipliers = stepper->multipliers();
  s.y.insert(s.y.end(), s.z.begin(), s.z.end());
  return s.y;
}

TEST(SymplecticEuler, AdjointUndoesAStep) {
  for (const Problem& p : {problems::e1(), problems::e1(E1::affine), problems::e2(), problems::s2(),
                           problems::s2_lagrangian(), problems::variable_mass(), problems::double_pendulum()})
    for (const bool natural : {false, true})
      for (const bool conjugate : {false, true})
        for (const double alpha : {0.3, 0.5, 0.8}) {
          const MethodChoice method = symplectic_euler({.natural = natural, .conjugate = conjugate, .alpha = alpha});
          Simulation start(p.system, method, {.step = 1});
          start.start(p.start);
          std::vector<double> x = start.state().y;
          x.insert(x.end(), start.state().z.begin(), start.state().z.end());
          const std::vector<double> there = one_step(p, method.adjoint(), 0.01);
          EXPECT_LT(distance(one_step(p, method, -0.01, there), x), 3e-14) << method.description;  // measured 2.9e-15
          // control: the method itself does not undo its own step
          const std::vector<double> own = one_step(p, method, 0.01);
          EXPECT_GT(distance(one_step(p, method, -0.01, own), x), 1e-6) << method.description;  // measured 2.8e-5
        }
}

TEST(SymplecticEuler, NaturalEqualsTrueWhereTheReactionIsAffine) {
  for (const E1 kind : {E1::linear, E1::affine})
    for (const bool conjugate : {false, true}) {
      const Problem p = problems::e1(kind);
      std::vector<double> natural, consistent;
      const auto a =
          one_step(p, symplectic_euler({.natural = true, .conjugate = conjugate, .alpha = 0.3}), 0.02, {}, &natural);
      const auto b = one_step(p, symplectic_euler({.conjugate = conjugate, .alpha = 0.3}), 0.02, {}, &consistent);
      EXPECT_LT(distance(a, b), 1e-14);                                        // measured 2.5e-16
      EXPECT_NEAR(consistent[1], 0.3 * natural[0] + 0.7 * natural[1], 1e-13);  // measured 6.2e-15
    }
  const Problem p = problems::e1();  // control: nonlinear
  EXPECT_GT(distance(one_step(p, euler("natural", 0.3), 0.02), one_step(p, euler("true", 0.3), 0.02)),
            1e-6);  // measured 2.2e-5
}

TEST(SymplecticEuler, DoesNotDependOnAlphaWhereTheReactionIsLinear) {
  const Problem linear = problems::e1(E1::linear), affine = problems::e1(E1::affine);
  for (const char* kind : {"true", "trueconj", "true_adj"}) {
    EXPECT_LT(distance(one_step(linear, euler(kind, 0.3), 0.02), one_step(linear, euler(kind, 0.6), 0.02)),
              1e-14);  // measured 1.1e-16
    EXPECT_GT(distance(one_step(affine, euler(kind, 0.3), 0.02), one_step(affine, euler(kind, 0.6), 0.02)),
              1e-4);  // measured 4.3e-4
  }
}

TEST(SymplecticEuler, TrueConjugateIsTheAdjointOnlyWhereTheReactionIsAffine) {
  const auto gap = [](const Problem& p, double alpha, double conjugate_alpha, double h) {
    return distance(one_step(p, euler("trueconj", conjugate_alpha), h), one_step(p, euler("true_adj", alpha), h));
  };
  EXPECT_LT(gap(problems::e1(E1::linear), 0.3, 0.3, 0.02), 1e-14);  // measured 2.5e-16
  EXPECT_LT(gap(problems::e1(E1::affine), 0.3, 0.7, 0.02), 1e-14);  // measured 2.5e-16
  EXPECT_GT(gap(problems::e1(E1::affine), 0.3, 0.3, 0.02), 1e-4);   // measured 5.8e-4
  const double nonlinear = gap(problems::e1(), 0.5, 0.5, 0.01);
  EXPECT_NEAR(nonlinear, 1.33361e-5, 1e-10);                                          // the spec's value
  EXPECT_NEAR(std::log2(nonlinear / gap(problems::e1(), 0.5, 0.5, 0.005)), 2, 0.05);  // measured 3.1e-11 off
}

TEST(SymplecticEuler, NaturalIsAMemberOfTheSparkFamily) {
  for (const auto& [key, conjugate] : {std::pair{"6.2_t1.2_natSE", false}, {"6.2_t1.2_natConj", true}})
    for (const char* h : {"0.12", "0.06", "0.03"}) {
      const json& golden = goldens::symplectic()["misc_psi_limits_and_6.2_orders"][key][h];  // measured 0.027 off
      const State end =
          integrate(problems::s2(), symplectic_euler({.natural = true, .conjugate = conjugate}), std::stod(h), 1.2);
      expect_near(end.y, numbers(golden["q"]), 1e-14, key);  // measured 5.0e-16
      expect_near(end.z, numbers(golden["p"]), 1e-14, key);  // measured 3.9e-16
    }
}

TEST(SymplecticEuler, KeepsBothLevelsForReactionsOfEveryKind) {
  for (const Problem& p : {problems::e1(), problems::e1(E1::linear), problems::e1(E1::affine), problems::e2()})
    for (const char* kind :
         {"natural", "true", "natconj", "trueconj", "nat_adj", "true_adj", "natconj_adj", "trueconj_adj"}) {
      Simulation run(p.system, euler(kind, 0.5), {.step = 0.0125});
      run.start(p.start);
      run.until(1.0);
      EXPECT_LT(run.report().constraint, 1e-14) << kind;         // measured 7.1e-15
      EXPECT_LT(run.report().hidden_constraint, 2e-14) << kind;  // measured 5.3e-15
    }
}

TEST(SymplecticEuler, WorksWithoutConstraintsAndWithSparseMatrices) {
  Lagrangian l;
  const Expression x = l.coordinate("x");
  const Expression v = l.velocity(x);
  l.kinetic(v * v / 2.0);
  l.potential(x * x / 2.0);
  Simulation run(l, symplectic_euler(), {.step = 0.001});
  run.start({.position = {1}});
  run.until(1.0);
  EXPECT_NEAR(run.state().y[0], std::cos(1.0), 1e-3);  // measured 4.2e-4
  for (const char* kind : {"true", "true_adj"}) {
    const Problem chain = problems::chain(40);
    const State sparse = integrate(chain, euler(kind, 0.5), 1e-3, 0.05);
    const State dense = integrate(chain, euler(kind, 0.5), 1e-3, 0.05, {.linear_algebra = LinearAlgebra::dense});
    EXPECT_LT(distance(sparse.y, dense.y), 2e-13);  // measured 2.4e-14
  }
}

TEST(SymplecticEuler, RefusesAnAlphaThatLeavesAMultiplierUndetermined) {
  EXPECT_THROW(symplectic_euler({.alpha = 0}), InputError);
  EXPECT_THROW(symplectic_euler({.natural = true, .alpha = 1}), InputError);
  EXPECT_THROW(symplectic_euler({.alpha = std::nan("")}), InputError);
  EXPECT_NO_THROW(symplectic_euler({.alpha = 1}));
  EXPECT_THROW(make_method("symplectic-euler", {{"variant", std::string("false")}}), InputError);
  EXPECT_THROW(make_method("symplectic-euler", {{"alpha", std::string("half")}}), InputError);
}

TEST(SymplecticEuler, NaturalWarnsWhereItIsInconsistent) {
  const MethodChoice natural = symplectic_euler({.natural = true});
  ASSERT_EQ(natural.warnings(*problems::e1().system).size(), 1u);
  EXPECT_NE(natural.warnings(*problems::e1().system)[0].find("variant = \"true\""), std::string::npos);
  EXPECT_TRUE(natural.warnings(*problems::e1(E1::affine).system).empty());
  EXPECT_TRUE(natural.warnings(*problems::s2().system).empty());
  EXPECT_EQ(composition(natural).warnings(*problems::e1().system).size(), 1u);
}

// -------------------------------------------------------------------------------------------------- branches

TEST(Branch, SmallAlphaStaysOnTheBranchOrSaysThatItCannot) {
  // where unguarded Newton iterations end with P0 = -211 and y2 < 0
  Simulation run(problems::e1().system, euler("true", 0.1), {.step = 0.1});
  run.start(problems::e1().start);
  try {
    run.until(1.0);
    FAIL() << "y2 = " << run.state().y[1];
  } catch (const StepFailure& e) {
    EXPECT_NE(std::string(e.what()).find("left the branch"), std::string::npos) << e.what();
  }
  EXPECT_GT(run.state().y[1], 0);  // what was computed until then is on the branch
  EXPECT_GT(run.report().steps, 3);
  const State half = integrate(problems::e1(), euler("true", 0.1), 0.05, 1.0);
  EXPECT_GT(half.y[1], 0);
  EXPECT_GT(half.psi[0], 0);
}

// E1 affine: r is affine in psi but not in z. With step 0.1 the two outer roots of the ninth step's end become complex;
// the one that is left, z1 = -1.13, is not the motion.
TEST(Branch, AReactionNonlinearInTheVelocityIsFollowedAsWell) {
  for (const double alpha : {0.3, 0.5, -0.5}) {
    Simulation run(problems::e1(E1::affine).system, euler("true", alpha), {.step = 0.1});
    run.start(problems::e1(E1::affine).start);
    try {
      run.until(1.0);
    } catch (const StepFailure& e) {
      EXPECT_NE(std::string(e.what()).find("left the branch"), std::string::npos) << e.what();
    }
    EXPECT_GT(run.state().z[0], 0.9) << alpha;
  }
  Simulation run(problems::e1(E1::affine).system, symplectic_euler(), {.step = 0.1});
  run.start(problems::e1(E1::affine).start);
  EXPECT_THROW(run.until(1.0), StepFailure);
  EXPECT_NEAR(run.state().t, 0.8, 1e-12);
}

TEST(Branch, TheOtherConsistentMultiplierIsFollowedAsFaithfully) {
  // 2 psi^2 + 2 psi = 4 at the start: 1 and -2
  Problem p = problems::e1();
  p.start.multiplier = {-3};
  for (const char* kind : {"true", "trueconj", "true_adj"}) {
    Simulation run(p.system, euler(kind, 0.5), {.step = 0.001});
    run.start(p.start);
    ASSERT_NEAR(run.state().psi[0], -2, 1e-12);
    double before = -2;
    for (int k = 0; k < 40; ++k) {  // this solution becomes infinite before t = 0.1
      run.step();
      EXPECT_LT(std::abs(run.state().psi[0] - before), 0.05) << kind;  // measured 0.016
      before = run.state().psi[0];
    }
    EXPECT_LT(before, -1) << kind;
  }
}

TEST(Branch, SparkStepsThatWouldChangeToAnotherSheetAreRefused) {
  for (const double h : {0.5, 0.7, 1.0}) {
    Simulation run(problems::s1().system, gauss_lobatto(1), {.step = h});
    run.start(problems::s1().start);
    try {
      run.until(1.4);
      FAIL() << "y2 = " << run.state().y[1];
    } catch (const StepFailure& e) {
      EXPECT_NE(std::string(e.what()).find("left the branch"), std::string::npos) << e.what();
    }
    EXPECT_GT(run.state().y[1], 0);
  }
}

// Long steps whose equations have other solutions, with S of the same sign: the roots as continuation in h finds them.
TEST(Branch, SparkStepsFindTheRootOfTheMotion) {
  const struct {
    MethodChoice method;
    double step, end, y;
  } cases[] = {{gauss_lobatto(4), 0.9, 1.8, 36.5986},     {gauss_lobatto(3), 0.7, 2.1, 66.646},
               {lobatto_iiia_iiib(3), 0.5, 1.5, 20.2562}, {lobatto_iiia_iiib(4), 0.7, 2.1, 67.0600},
               {gauss_lobatto(2), 0.7, 1.4, 18.0174},     {gauss_lobatto(4), 1.0, 1.0, 7.3897}};
  for (const auto& c : cases) {
    const State end = integrate(problems::s1(), c.method, c.step, c.end);
    EXPECT_NEAR(end.y[0], c.y, 1e-5 * c.y) << c.method.description;  // measured 3.5e-6: the digits given here
    EXPECT_GT(end.psi[0], 0) << c.method.description;
  }
}

// y1'' = psi, y2'' = psi^3 - 3 psi - (2 - rate t) on y2 = 0: the branch from psi = 2 ends at t = 4/rate, where psi = 1;
// the other outer branch, psi < -1, has S of the same sign.
Problem cubic(double rate = 8.61) {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v(z);
  odae.f({-y[0], rate * odae.t() - 2.0});
  odae.r({psi[0], psi[0] * psi[0] * psi[0] - 3.0 * psi[0]});
  odae.constrain(y[1]);
  return {odae.build(), {.position = {1, 0}, .velocity = {0, 0}, .multiplier = {2}}};
}

TEST(Branch, ABranchThatEndsIsNotExchangedForAnother) {
  for (const MethodChoice& method :
       {gauss_lobatto(1), gauss_lobatto(2), lobatto_iiia_iiib(3), rattle(), symplectic_euler(), euler("true", 1.0),
        euler("trueconj", 0.5), euler("true_adj", 1.0), composition(symplectic_euler(), {.order = 2})})
    for (const double step : {0.308, 0.2, 0.1, 0.03, 0.01, 0.001}) {
      Simulation run(cubic().system, method, {.step = step});
      run.start(cubic().start);
      EXPECT_THROW(run.until(0.8), StepFailure) << method.description << " " << step;
      EXPECT_GT(run.state().psi[0], 0.5) << method.description << " " << step;
      EXPECT_LT(run.state().t, 0.466 + step) << method.description << " " << step;
    }
}

// How near to its end the branch is met hangs on the step and on rounding: so at random.
TEST(Branch, NoStepExchangesABranchThatEndsForAnother) {
  std::mt19937 random(20);
  const auto number = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (const MethodChoice& method :
       {gauss_lobatto(1), gauss_lobatto(2), lobatto_iiia_iiib(3), rattle(), symplectic_euler(), euler("true", 1.0),
        euler("trueconj", 0.5), euler("true_adj", 1.0), composition(symplectic_euler(), {.order = 2})})
    for (int n = 0; n < 60; ++n) {
      const double rate = number(5, 15), step = number(0.002, 0.3) * 4 / rate;
      Simulation run(cubic(rate).system, method, {.step = step});
      run.start(cubic(rate).start);
      EXPECT_THROW(run.until(7 / rate), StepFailure) << method.description << " " << step << " " << rate;
      EXPECT_GT(run.state().psi[0], 0.5) << method.description << " " << step << " " << rate;
    }
}

// Two multipliers that enter as a complex square: the two branches are connected around a branch point.
TEST(Branch, CoupledMultipliersDoNotChangeTheirBranch) {
  Odae odae;
  const Vector y = odae.y("y", {3}), z = odae.z("z", {3}), s = odae.psi("s", {2});
  const Expression t = odae.t();
  odae.v(z);
  odae.f({-y[0], -(1.862 * cos(2.047 * t) + 1.0), -4.930 * sin(2.047 * t)});
  odae.r({s[0] - s[1], s[0] * s[0] - s[1] * s[1], 2.0 * s[0] * s[1]});
  odae.constrain(y[1] - 0.3 * y[0] * y[0]);
  odae.constrain(y[2] - 0.1 * y[0] * y[1]);
  const Problem p{odae.build(), {.position = {1, 0.3, 0.03}, .velocity = {0, 0, 0}, .multiplier = {2, 1.5}}};
  for (const double alpha : {0.5, 1.0})
    for (const double step : {0.2, 0.1, 0.05, 0.01}) {
      const State end = integrate(p, euler("true", alpha), step, 2.0);
      EXPECT_LT(end.psi[0], -0.8) << alpha << " " << step;  // h -> 0: -1.9; the other branch: positive
      EXPECT_GT(end.psi[1], 0.8) << alpha << " " << step;
    }
}

}  // namespace
}  // namespace hinge::symplectic_euler_test
