// Claims about SPARK methods with coefficients of one's own: the one-stage members equal an independent implementation
// to round-off, what is left out of a tableau is filled in rightly, a violated condition is named with its place and
// size, and what a run says about a tableau is true of it.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hinge/error.hpp"
#include "method/problems.hpp"
#include "method/symplectic/spark_tableau.hpp"
#include "method/symplectic/tableau_check.hpp"
#include "places.hpp"

namespace hinge::spark_members_test {
namespace {

using nlohmann::json;
using problems::distance;
using problems::integrate;

const json& goldens() {
  static const json data = [] {
    std::ifstream in(HINGE_TEST_DATA "/symplectic.json");
    return json::parse(in);
  }();
  return data;
}

double number(const json& j) { return j.is_string() ? std::stod(j.get<std::string>()) : j.get<double>(); }

std::vector<double> numbers(const json& list) {
  std::vector<double> x;
  for (const auto& j : list) x.push_back(number(j));
  return x;
}

struct Member {
  std::string golden;
  SparkTableau tableau;
};

std::vector<Member> members() {
  return {{"natSE", natural_euler_tableau(0.5)},
          {"natConj", natural_conjugate_euler_tableau(0.5)},
          {"IE-SPARK", implicit_euler_tableau(0.5)}};
}

// What a user writes down: only what is needed, in fractions.
SparkTableau written_out() {
  const double r3 = std::sqrt(3.0);
  SparkTableau t;
  t.a = (Eigen::Matrix2d() << 0.25, 0.25 - r3 / 6, 0.25 + r3 / 6, 0.25).finished();
  t.b = Eigen::Vector2d(0.5, 0.5);
  t.abar = (Eigen::MatrixXd(3, 2) << 0, 0, 0.25 + r3 / 8, 0.25 - r3 / 8, 0.5, 0.5).finished();
  t.btilde = Eigen::Vector3d(1.0 / 6, 2.0 / 3, 1.0 / 6);
  return t;
}

// Message and field of the complaint about a tableau.
std::pair<std::string, std::string> complaint(const SparkTableau& t) {
  try {
    spark(t);
  } catch (const TableauError& e) {
    return {e.what(), e.field};
  }
  return {"no complaint", ""};
}

void expect_complaint(const SparkTableau& t, const std::vector<std::string>& words, const std::string& field) {
  const auto [text, part] = complaint(t);
  EXPECT_EQ(part, field) << text;
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
}

TEST(SparkMembers, EqualAnIndependentImplementationOnS2AtThreeSteps) {
  for (const auto& [name, tableau] : members())
    for (const char* h : {"0.12", "0.06", "0.03"}) {
      const json& golden = goldens()["misc_psi_limits_and_6.2_orders"]["6.2_t1.2_" + name][h];
      const State end = integrate(problems::s2(), spark(tableau), std::stod(h), 1.2);
      EXPECT_LT(distance(end.y, numbers(golden["q"])), 1e-13) << name << " h=" << h;  // measured 6.1e-16
      EXPECT_LT(distance(end.z, numbers(golden["p"])), 1e-13) << name << " h=" << h;  // measured 7.2e-16
    }
}

TEST(SparkMembers, EqualAnIndependentImplementationOnTheLagrangianFormOfS2) {
  for (const auto& [name, tableau] : members()) {
    const json& golden = goldens()["variational_and_H_vs_L"]["6.2L_" + name];
    const json& initial = goldens()["variational_and_H_vs_L"]["6.2L"];
    const auto system = problems::s2_lagrangian().system;
    const auto stepper = spark(tableau).bind(system, {});
    State s{0, numbers(initial["q0"]), numbers(initial["v0"]), {number(initial["lam0"])}};
    ASSERT_TRUE(stepper->step(s, 0.1));
    EXPECT_LT(distance(s.y, numbers(golden["one_step_q1"])), 1e-14) << name;                      // measured 1.4e-16
    EXPECT_LT(distance(s.z, numbers(golden["one_step_v1"])), 1e-14) << name;                      // measured 2e-16
    EXPECT_LT(distance(stepper->multipliers(), numbers(golden["one_step_Lam"])), 1e-13) << name;  // measured 7.3e-15
    for (int k = 1; k < 10; ++k) ASSERT_TRUE(stepper->step(s, 0.1));
    EXPECT_LT(distance(s.y, numbers(golden["ten_step_q"])), 1e-13) << name;  // measured 4.2e-16
    EXPECT_LT(distance(s.z, numbers(golden["ten_step_v"])), 1e-13) << name;  // measured 5.5e-16
  }
}

TEST(SparkMembers, EnergyAndMomentumOnS2AreThoseOfAnIndependentImplementation) {
  for (const auto& [name, tableau] : members()) {
    if (name == "natConj") continue;
    const json& golden = goldens()["spark_paper_6.2_runs"]["6.2_Herr_h0.12_" + name];
    Simulation run(problems::s2().system, spark(tableau), {.step = 0.12});
    run.start(problems::s2().start);
    double momentum = 0;  // about the axis
    for (int k = 0; k < 833; ++k) {
      run.step();
      const State& s = run.state();
      momentum = std::max(momentum, std::abs(s.y[0] * s.z[1] - s.y[1] * s.z[0] + 0.4));
    }
    EXPECT_NEAR(*run.report().energy_error, number(golden["max_n_le_833"]), 1e-12) << name;  // measured 4.4e-16
    if (name == "natSE")
      EXPECT_LT(momentum, 1e-13);  // measured 6.2e-15
    else
      EXPECT_GT(momentum, 1.0);  // not symplectic: the control; measured 2.03
  }
}

TEST(SparkMembers, ViolateSecondOrderAndAreRefusedForAReactionNonlinearInPsi) {
  for (const auto& [name, tableau] : members()) {
    EXPECT_THROW(spark(tableau).bind(problems::s1().system, {}), UnsuitableMethod) << name;
    SparkTableau unsaid = tableau;
    unsaid.violates.clear();
    expect_complaint(unsaid, {"(3.3c)", "violated by 0.5", "instead of 0.5", "violates = [\"(3.3c)\""}, "");
  }
  EXPECT_NO_THROW(spark(gauss_lobatto_tableau(1)).bind(problems::s1().system, {}));  // control
}

TEST(OwnTableau, IsFilledInFromWhatIsNeeded) {
  const SparkTableau t = complete_tableau(written_out()), g = gauss_lobatto_tableau(2);
  for (const auto& [x, y] : {std::pair{t.a, g.a}, {t.ahat, g.ahat}, {t.atilde, g.atilde}, {t.abar, g.abar}})
    EXPECT_LT((x - y).cwiseAbs().maxCoeff(), 1e-15);  // measured 1.1e-16
  for (const auto& [x, y] : {std::pair{t.c, g.c}, {t.ctilde, g.ctilde}, {t.bhat, g.bhat}, {t.btilde, g.btilde}})
    EXPECT_LT((x - y).cwiseAbs().maxCoeff(), 1e-15);  // measured 2.8e-17
  const State own = integrate(problems::s1(), spark(written_out()), 0.05, 1.0);
  const State ours = integrate(problems::s1(), gauss_lobatto(2), 0.05, 1.0);
  EXPECT_LT(distance(own.y, ours.y), 1e-13);  // measured 9e-16
  EXPECT_LT(distance(own.z, ours.z), 1e-13);  // measured 1.7e-16
}

TEST(OwnTableau, ReportsWhatTheFamiliesAreKnownFor) {
  for (int s = 1; s <= 6; ++s) {
    const TableauReport r = check_tableau(gauss_lobatto_tableau(s));
    EXPECT_TRUE(r.symplectic() && r.symmetric()) << s;
    EXPECT_EQ(r.order_b, 2 * s);
    EXPECT_EQ(r.order_bhat, 2 * s);
    EXPECT_EQ(r.order_btilde, 2 * s);
    for (const int q : {r.stage_order_a, r.stage_order_ahat, r.stage_order_atilde, r.stage_order_abar}) EXPECT_EQ(q, s);
  }
  for (int s = 2; s <= 6; ++s) {
    const TableauReport r = check_tableau(lobatto_iiia_iiib_tableau(s));
    EXPECT_TRUE(r.symplectic() && r.symmetric()) << s;
    EXPECT_EQ(r.order_b, 2 * s - 2);
    EXPECT_EQ(r.order_btilde, 2 * s - 2);
    EXPECT_EQ(r.stage_order_a, s);
    EXPECT_EQ(r.stage_order_abar, s);
    EXPECT_EQ(r.stage_order_ahat, s - 2);  // Lobatto IIIB
    EXPECT_EQ(r.stage_order_atilde, s - 2);
  }
  const TableauReport euler = check_tableau(natural_euler_tableau(0.5));
  EXPECT_TRUE(euler.symplectic());
  EXPECT_FALSE(euler.symmetric());
  EXPECT_EQ(euler.order_b, 1);
  EXPECT_EQ(euler.stage_order_ahat, 0);
  EXPECT_FALSE(check_tableau(implicit_euler_tableau(0.5)).symplectic());
}

TEST(OwnTableau, SaysInTheRunWhichConditionsHold) {
  const auto facts = [](const SparkTableau& t) {
    Simulation run(problems::s2().system, spark(t), {.step = 0.1});
    run.start(problems::s2().start);
    std::ostringstream out;
    out << run.report();
    return out.str();
  };
  const auto expect = [](const std::string& text, const std::vector<std::string>& words) {
    for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
  };
  expect(facts(written_out()),
         {"spark, 2 stages, order not stated, symplectic, symmetric", "(3.3c), (3.3d), (4.2), (4.3) hold",
          "symplecticity: (4.1a), (4.1b), (4.1c) hold", "symmetry: holds", "4 of (b, c)", "order: not stated"});
  expect(facts(implicit_euler_tableau(0.5)), {"order 1, not symplectic, not symmetric", "(3.3c) violated by 0.5",
                                              "(4.1a), (4.1c) hold; (4.1b) violated by 1", "symmetry: violated by 1"});
  SparkTableau named = written_out();
  named.name = "mine";
  named.order = 4;
  const MethodChoice choice = spark(named);
  EXPECT_EQ(choice.description, "spark 'mine', 2 stages, order 4, symplectic, symmetric");
  EXPECT_EQ(choice.order, 4);
  EXPECT_TRUE(choice.info.preserves.symplectic && choice.info.preserves.symmetric &&
              choice.info.preserves.momentum_maps);
  EXPECT_EQ(spark(written_out()).order, 0);
  EXPECT_FALSE(spark(implicit_euler_tableau(0.5)).info.preserves.momentum_maps);
}

TEST(OwnTableau, ViolatedConditionsAreNamedWithPlaceAndSize) {
  SparkTableau t = gauss_lobatto_tableau(2);
  t.c.resize(0);
  t.a(0, 1) += 1e-3;
  t.a(0, 0) -= 1e-3;
  expect_complaint(
      t, {"(4.1b)", "bhat_i a_ij", "violated by 0.0005", "worst for i = 1, j = 1", "violates = [\"(4.1b)\"]"}, "");
  t.violates = {"(4.1b)"};
  EXPECT_FALSE(spark(t).info.preserves.symplectic);

  t = gauss_lobatto_tableau(2);
  t.abar(0, 1) = 1e-6;
  t.ctilde.resize(0);
  expect_complaint(t, {"(3.3a) abar_0j = 0: violated by 1e-06, worst for j = 2", "are needed"}, "");
  t.violates = {"(3.3a)"};
  expect_complaint(t, {"(3.3a) is always needed"}, "violates");

  t = gauss_lobatto_tableau(2);
  t.atilde(1, 2) = 1e-3;
  expect_complaint(t, {"(4.3) atilde_i,st = 0: violated by 0.001, worst for i = 2"}, "");

  t = gauss_lobatto_tableau(2);
  t.abar.row(1) = t.abar.row(2);
  t.ctilde.resize(0);
  expect_complaint(t, {"(3.3d)", "invertible: they are not"}, "");

  t = gauss_lobatto_tableau(2);
  t.btilde(1) += 0.1;
  expect_complaint(t, {"weights", "btilde sums to 1.1"}, "");

  t = gauss_lobatto_tableau(2);
  t.a(0, 1) += 5e-13;  // below the tolerance
  EXPECT_TRUE(spark(t).info.preserves.symplectic);
  t.violates = {"(4.1a)", "(3.3c)"};  // what holds may stand there
  EXPECT_TRUE(spark(t).info.preserves.symplectic);
}

TEST(OwnTableau, ShapesAndNumbersAreChecked) {
  SparkTableau t = written_out();
  t.a.resize(0, 0);
  expect_complaint(t, {"'a' is missing", "s x s"}, "a");
  t = written_out();
  t.btilde.resize(0);
  expect_complaint(t, {"'btilde' is missing"}, "btilde");
  t = written_out();
  t.abar = Eigen::MatrixXd::Zero(2, 2);
  expect_complaint(t, {"abar has 2 rows of 2; it needs 3 rows of 2"}, "abar");
  t = written_out();
  t.bhat = Eigen::VectorXd::Ones(1);
  expect_complaint(t, {"bhat has 1 entry; it needs 2"}, "bhat");
  t = written_out();
  t.a(0, 0) = std::nan("");
  expect_complaint(t, {"a has an entry that is not a finite number"}, "a");
  t = written_out();
  t.c = Eigen::Vector2d(0.2, 0.8);
  expect_complaint(t, {"c differs", "row sum of a"}, "c");
  t = written_out();
  t.btilde = Eigen::VectorXd::Ones(1);
  expect_complaint(t, {"at least 2"}, "btilde");
  t = written_out();
  t.b = Eigen::Vector2d(1, 0);
  expect_complaint(t, {"'ahat' is missing", "b_2 = 0"}, "ahat");
  t = written_out();
  t.order = 5;
  expect_complaint(t, {"order = 5 cannot be", "order 4"}, "order");
  t = written_out();
  t.violates = {"4.1b"};
  expect_complaint(t, {"no condition \"4.1b\"", "did you mean \"(4.1b)\"?"}, "violates");
  EXPECT_THROW(make_method("spark", {}), InputError);
  EXPECT_THROW(make_method("spark", {{"tableau", 3.0}}), InputError);
  EXPECT_EQ(make_method("spark", {{"tableau", written_out()}}).info.name, "spark");
}

TEST(OwnTableau, AdjointUndoesAStep) {
  for (const SparkTableau& t :
       {natural_euler_tableau(0.3), natural_conjugate_euler_tableau(2.0), implicit_euler_tableau(0.5)}) {
    const MethodChoice method = spark(t);
    ASSERT_TRUE(method.adjoint);
    const auto problem = problems::s2();
    State s{0, problem.start.position, problem.start.momentum, {2.9}};
    const State before = s;
    ASSERT_TRUE(method.bind(problem.system, {})->step(s, 0.1));
    State same_method = s;
    ASSERT_TRUE(method.adjoint().bind(problem.system, {})->step(s, -0.1));
    EXPECT_LT(distance(s.y, before.y), 1e-14) << t.name;  // measured 1.3e-16
    EXPECT_LT(distance(s.z, before.z), 1e-14) << t.name;  // measured 5e-16
    ASSERT_TRUE(method.bind(problem.system, {})->step(same_method, -0.1));
    EXPECT_GT(distance(same_method.z, before.z), 1e-3) << t.name;  // the control; measured 1.3e-2 at least
  }
  EXPECT_FALSE(spark(written_out()).adjoint);  // symmetric: its own
  const SparkTableau adjoint = adjoint_tableau(natural_euler_tableau(0.25)),
                     conjugate = natural_conjugate_euler_tableau(0.75);
  EXPECT_EQ(adjoint.a, conjugate.a);
  EXPECT_EQ(adjoint.ahat, conjugate.ahat);
  EXPECT_EQ(adjoint.atilde, conjugate.atilde);
  EXPECT_EQ(adjoint.btilde, conjugate.btilde);
}

TEST(OwnTableau, InAModelFileIsTheMethodItWritesOut) {
  const Model model = load_model(HINGE_EXAMPLES "/../papers/spark/own-tableau.toml", {{"integrate.end", "12"}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  const json& golden = goldens()["spark_paper_6.2_runs"]["6.2_state_t12_h0.12_GL(2,2)"];
  EXPECT_LT(distance(run.state().y, numbers(golden["q"])), 1e-13);  // measured 1.5e-15
  EXPECT_LT(distance(run.state().z, numbers(golden["p"])), 1e-13);  // measured 8.2e-16
  EXPECT_EQ(run.report().order, 4);
}

}  // namespace
}  // namespace hinge::spark_members_test
