// Claims about the SPARK coefficients: the consistency conditions (3.3), (4.2), (4.3), the symplecticity conditions
// (4.1) and symmetry hold to 1e-14 for every number of stages offered; the quadrature rules are exact to their degree;
// the numbers equal those of an independent 40-digit computation. Controls that must fail stand beside them.
#include "method/symplectic/spark_tableau.hpp"
#include "hinge/error.hpp"
#include "places.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace hinge::spark_tableau_test {
namespace {

std::vector<SparkTableau> symmetric_symplectic_tableaus() {
  std::vector<SparkTableau> all;
  for (int s = 1; s <= 12; ++s) all.push_back(gauss_lobatto_tableau(s));
  for (int s = 2; s <= 12; ++s) all.push_back(lobatto_iiia_iiib_tableau(s));
  return all;
}

double defect(const std::vector<TableauCondition>& conditions, const std::string& name) {
  for (const TableauCondition& condition : conditions) {
    if (condition.name == name) return condition.defect;
  }
  ADD_FAILURE() << "no condition " << name;
  return std::numeric_limits<double>::quiet_NaN();
}

void expect_all_hold(const SparkTableau& t, const std::vector<TableauCondition>& conditions, double tolerance) {
  for (const TableauCondition& condition : conditions) {
    EXPECT_LT(condition.defect, tolerance) << t.name << " violates " << condition.name << ": " << condition.formula;
  }
}

template <typename Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

/// Largest error of the rule on the monomials of degree 0..degree.
double monomial_error(const Quadrature& rule, int degree) {
  double worst = 0.0;
  for (int k = 0; k <= degree; ++k) {
    const double integral = rule.weights.dot(rule.nodes.array().pow(static_cast<double>(k)).matrix());
    worst = std::max(worst, std::abs(integral - 1.0 / (k + 1)));
  }
  return worst;
}

Eigen::MatrixXd as_matrix(const nlohmann::json& json) {
  const bool vector = !json.at(0).is_array();
  const auto rows = static_cast<Eigen::Index>(json.size());
  const auto cols = vector ? 1 : static_cast<Eigen::Index>(json.at(0).size());
  Eigen::MatrixXd m(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const nlohmann::json& row = json.at(static_cast<std::size_t>(i));
    for (Eigen::Index j = 0; j < cols; ++j) {
      const nlohmann::json& entry = vector ? row : row.at(static_cast<std::size_t>(j));
      m(i, j) = entry.is_string() ? std::stod(entry.get<std::string>()) : entry.get<double>();
    }
  }
  return m;
}

TEST(SparkTableau, EveryTableauIsConsistent) {
  for (const SparkTableau& t : symmetric_symplectic_tableaus()) {
    expect_all_hold(t, consistency_conditions(t), 1e-14);  // measured 1.1e-16
  }
}

TEST(SparkTableau, EveryTableauIsSymplectic) {
  for (const SparkTableau& t : symmetric_symplectic_tableaus()) {
    expect_all_hold(t, symplecticity_conditions(t), 1e-14);  // measured 5.6e-17
  }
}

TEST(SparkTableau, EveryTableauIsSymmetric) {
  for (const SparkTableau& t : symmetric_symplectic_tableaus()) {
    expect_all_hold(t, symmetry_conditions(t), 1e-14);  // measured 1.1e-16
  }
}

TEST(SparkTableau, StructuralConditionsHoldToTheLastBit) {
  for (const SparkTableau& t : symmetric_symplectic_tableaus()) {
    for (const char* name : {"(3.3a)", "(3.3b)", "(3.3d)", "(4.2)", "(4.3)"}) {
      EXPECT_EQ(defect(consistency_conditions(t), name), 0.0) << t.name << " " << name;
    }
    EXPECT_EQ(defect(symplecticity_conditions(t), "(4.1a)"), 0.0) << t.name;
    EXPECT_EQ((t.c + t.c.reverse()).array().minCoeff(), 1.0) << t.name;
    EXPECT_EQ((t.c + t.c.reverse()).array().maxCoeff(), 1.0) << t.name;
    EXPECT_EQ(t.ctilde(0), 0.0) << t.name;
    EXPECT_EQ(t.ctilde(t.constraint_stages()), 1.0) << t.name;
  }
}

TEST(SparkTableau, NodesAreTheRowSumsOfTheMatrices) {
  double worst = 0.0;
  for (const SparkTableau& t : symmetric_symplectic_tableaus()) {
    worst = std::max(worst, (t.a.rowwise().sum() - t.c).cwiseAbs().maxCoeff());
    worst = std::max(worst, (t.abar.rowwise().sum() - t.ctilde).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(worst, 1e-14);  // measured 2.2e-16
}

TEST(SparkTableau, ShapesAndOrdersAreAsAnnounced) {
  const SparkTableau gauss = gauss_lobatto_tableau(4);
  EXPECT_EQ(gauss.stages(), 4);
  EXPECT_EQ(gauss.constraint_stages(), 4);
  EXPECT_EQ(gauss.order, 8);
  const SparkTableau lobatto = lobatto_iiia_iiib_tableau(4);
  EXPECT_EQ(lobatto.stages(), 4);
  EXPECT_EQ(lobatto.constraint_stages(), 3);
  EXPECT_EQ(lobatto.order, 6);
  EXPECT_EQ(natural_euler_tableau(0.5).order, 1);
}

TEST(SparkTableau, CoefficientsEqualAnIndependentComputation) {
  std::ifstream file(std::string(HINGE_TEST_DATA) + "/symplectic_coefficients.json");
  ASSERT_TRUE(file) << "symplectic_coefficients.json is missing";
  const nlohmann::json reference = nlohmann::json::parse(file);
  ASSERT_EQ(reference.at("tableaus").size(), 12U);
  const auto compare = [](const std::string& where, const Eigen::MatrixXd& computed, const nlohmann::json& json) {
    const Eigen::MatrixXd expected = as_matrix(json);
    ASSERT_EQ(computed.rows(), expected.rows()) << where;
    ASSERT_EQ(computed.cols(), expected.cols()) << where;
    const double error = (computed - expected).cwiseAbs().maxCoeff();
    EXPECT_LT(error, 2.3e-16) << where;  // measured 1.1e-16
  };
  for (const nlohmann::json& entry : reference.at("tableaus")) {
    const int s = entry.at("stages").get<int>();
    const bool gauss = entry.at("family") == "gauss-lobatto";
    const SparkTableau t = gauss ? gauss_lobatto_tableau(s) : lobatto_iiia_iiib_tableau(s);
    compare(t.name + " c", t.c, entry.at("c"));
    compare(t.name + " b", t.b, entry.at("b"));
    compare(t.name + " a", t.a, entry.at("a"));
    compare(t.name + " ahat", t.ahat, entry.at("ahat"));
    compare(t.name + " atilde", t.atilde, entry.at("atilde"));
    compare(t.name + " abar", t.abar, entry.at("abar"));
    compare(t.name + " ctilde", t.ctilde, entry.at("ctilde"));
    compare(t.name + " btilde", t.btilde, entry.at("btilde"));
  }
}

// The same families once more, from the implementation that all other reference numbers come from.
TEST(SparkTableau, CoefficientsEqualThoseOfTheReferenceRuns) {
  std::ifstream file(std::string(HINGE_TEST_DATA) + "/symplectic.json");
  const nlohmann::json coefficients = nlohmann::json::parse(file).at("coefficients");
  ASSERT_EQ(coefficients.size(), 10U);
  for (const auto& [name, entry] : coefficients.items()) {
    const int s = std::stoi(name.substr(name.find('(') + 1));
    const SparkTableau t = name[0] == 'G' ? gauss_lobatto_tableau(s) : lobatto_iiia_iiib_tableau(s);
    const std::vector<std::pair<const char*, Eigen::MatrixXd>> parts = {
        {"c", t.c}, {"b", t.b},       {"btilde", t.btilde}, {"ctilde", t.ctilde},
        {"A", t.a}, {"Ahat", t.ahat}, {"Atilde", t.atilde}, {"Abar", t.abar}};
    for (const auto& [key, computed] : parts) {
      const Eigen::MatrixXd expected = as_matrix(entry.at(key));
      ASSERT_EQ(computed.rows(), expected.rows()) << name << " " << key;
      ASSERT_EQ(computed.cols(), expected.cols()) << name << " " << key;
      EXPECT_LT((computed - expected).cwiseAbs().maxCoeff(), 2.3e-16) << name << " " << key;  // measured 1.1e-16
    }
  }
}

TEST(SparkTableau, TwoStageLobattoIsRattle) {
  const SparkTableau t = lobatto_iiia_iiib_tableau(2);
  EXPECT_EQ(t.a, (Eigen::Matrix2d() << 0.0, 0.0, 0.5, 0.5).finished());
  EXPECT_EQ(t.ahat, (Eigen::Matrix2d() << 0.5, 0.0, 0.5, 0.0).finished());
  EXPECT_EQ(t.b, Eigen::Vector2d(0.5, 0.5));
}

TEST(SparkTableau, GaussLobattoSharesItsConstraintMatrixWithLobattoOfOneMoreStage) {
  double worst = 0.0;
  for (int s = 1; s <= 11; ++s) {
    const SparkTableau gauss = gauss_lobatto_tableau(s), lobatto = lobatto_iiia_iiib_tableau(s + 1);
    worst = std::max(worst, (gauss.abar * gauss.atilde - lobatto.a * lobatto.ahat).cwiseAbs().maxCoeff());
  }
  EXPECT_LT(worst, 1e-14);  // measured 5.6e-17
}

TEST(SparkTableau, GaussRuleIsExactToDegreeTwoNMinusOne) {
  double worst = 0.0;
  for (int n = 1; n <= 64; ++n) worst = std::max(worst, monomial_error(gauss_quadrature(n), 2 * n - 1));
  EXPECT_LT(worst, 1e-14);  // measured 3.3e-16
  for (int n = 1; n <= 5; ++n) {
    EXPECT_GT(monomial_error(gauss_quadrature(n), 2 * n), 1e-6) << n;  // control; measured 1.4e-6 for n = 5
  }
}

TEST(SparkTableau, LobattoRuleIsExactToDegreeTwoNMinusThree) {
  double worst = 0.0;
  for (int n = 2; n <= 64; ++n) worst = std::max(worst, monomial_error(lobatto_quadrature(n), 2 * n - 3));
  EXPECT_LT(worst, 1e-14);  // measured 3.3e-16
  for (int n = 2; n <= 5; ++n) {
    EXPECT_GT(monomial_error(lobatto_quadrature(n), 2 * n - 2), 1e-5) << n;  // control; measured 2.8e-5 for n = 5
  }
}

TEST(SparkTableau, ImplicitEulerIsNotSymplectic) {
  const auto conditions = symplecticity_conditions(implicit_euler_tableau(0.5));
  EXPECT_DOUBLE_EQ(defect(conditions, "(4.1b)"), 1.0);
  EXPECT_EQ(defect(conditions, "(4.1a)"), 0.0);
  EXPECT_EQ(defect(conditions, "(4.1c)"), 0.0);
}

TEST(SparkTableau, NaturalEulerIsSymplecticButNotConsistent) {
  for (const double alpha : {0.25, 0.5, 2.0}) {
    for (const SparkTableau& t : {natural_euler_tableau(alpha), natural_conjugate_euler_tableau(alpha)}) {
      expect_all_hold(t, symplecticity_conditions(t), 1e-15);  // measured 0
      EXPECT_GE(defect(consistency_conditions(t), "(3.3c)"), 0.5) << t.name;
      EXPECT_EQ(defect(consistency_conditions(t), "(3.3d)"), 0.0) << t.name;
      EXPECT_EQ(defect(symmetry_conditions(t), "symmetry of a"), 1.0) << t.name;
    }
  }
}

TEST(SparkTableau, AWrongCoefficientFailsTheConditionItBelongsTo) {
  SparkTableau t = gauss_lobatto_tableau(2);
  t.abar(1, 0) += 1e-3;                                                                 // middle node: weight 2/3
  EXPECT_NEAR(defect(symplecticity_conditions(t), "(4.1c)"), 1e-3 * 2.0 / 3.0, 1e-15);  // measured 6.7e-4, off by 2e-17
  EXPECT_LT(defect(symplecticity_conditions(t), "(4.1b)"), 1e-15);                      // measured 0
  EXPECT_GT(defect(consistency_conditions(t), "(3.3c)"), 1e-4);                         // measured 2.1e-4
  EXPECT_NEAR(defect(symmetry_conditions(t), "symmetry of abar"), 1e-3, 1e-15);         // measured 1e-3, off by 9e-19

  t = gauss_lobatto_tableau(2);
  t.a(0, 1) += 1e-3;
  EXPECT_NEAR(defect(symplecticity_conditions(t), "(4.1b)"), 5e-4, 1e-15);  // measured 5e-4, off by 4e-19
  EXPECT_LT(defect(symplecticity_conditions(t), "(4.1c)"), 1e-15);          // measured 5.6e-17

  t = gauss_lobatto_tableau(2);
  t.atilde(1, 2) = 1e-3;
  EXPECT_EQ(defect(consistency_conditions(t), "(4.3)"), 1e-3);
  t.atilde(1, 0) += 1e-3;
  EXPECT_NEAR(defect(consistency_conditions(t), "(4.2)"), 1e-3, 1e-16);  // measured 1e-3, off by 9e-19
}

TEST(SparkTableau, ASingularConstraintMatrixIsReportedAsInfinite) {
  SparkTableau t = gauss_lobatto_tableau(2);
  t.abar.row(1) = t.abar.row(2);
  EXPECT_TRUE(std::isinf(defect(consistency_conditions(t), "(3.3d)")));
}

TEST(SparkTableau, NumbersOfStagesOutOfRangeAreRefused) {
  EXPECT_EQ(input_error([] { gauss_lobatto_tableau(13); }), "gauss-lobatto takes 1 to 12 stages, not 13");
  EXPECT_EQ(input_error([] { gauss_lobatto_tableau(0); }), "gauss-lobatto takes 1 to 12 stages, not 0");
  EXPECT_EQ(input_error([] { lobatto_iiia_iiib_tableau(1); }), "lobatto-iiia-iiib takes 2 to 12 stages, not 1");
  EXPECT_EQ(input_error([] { lobatto_iiia_iiib_tableau(-3); }), "lobatto-iiia-iiib takes 2 to 12 stages, not -3");
  EXPECT_EQ(input_error([] { gauss_quadrature(0); }), "gauss quadrature takes 1 to 64 points, not 0");
  EXPECT_EQ(input_error([] { lobatto_quadrature(1); }), "lobatto quadrature takes 2 to 64 points, not 1");
}

TEST(SparkTableau, DegenerateAlphaIsRefused) {
  for (const double alpha : {0.0, -0.0, 1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(natural_euler_tableau(alpha), InputError) << alpha;
    EXPECT_THROW(natural_conjugate_euler_tableau(alpha), InputError) << alpha;
    EXPECT_THROW(implicit_euler_tableau(alpha), InputError) << alpha;
  }
  EXPECT_NE(input_error([] { natural_euler_tableau(1.0); }).find("takes a finite alpha other than 0 and 1, not 1"),
            std::string::npos);
}

}  // namespace
}  // namespace hinge::spark_tableau_test
