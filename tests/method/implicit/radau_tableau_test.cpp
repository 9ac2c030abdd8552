// Coefficients of Radau IIA: known values, order conditions, spectrum.
#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "method/implicit/radau_problems.hpp"
#include "method/implicit/radau_tableau.hpp"

namespace hinge::radau_tableau_test {
namespace {

TEST(RadauTableau, KnownCoefficients) {
  for (const int s : {2, 3}) {
    const auto& golden = radau_problems::data()["radau_fixed_step"]["RadauIIA" + std::to_string(s) + " coefficients"];
    const RadauTableau t = radau_tableau(s);
    const Eigen::MatrixXd a = t.gamma.inverse();
    for (int i = 0; i < s; ++i) {
      EXPECT_NEAR(t.c(i), golden["c"][static_cast<std::size_t>(i)], 1e-15);
      for (int j = 0; j < s; ++j) {
        EXPECT_NEAR(a(i, j), golden["A"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 1e-15);
        EXPECT_NEAR(t.gamma(i, j), golden["Ainv"][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 1e-14);
      }
    }
  }
  const RadauTableau t = radau_tableau(3);
  const double s6 = std::sqrt(6.0);
  EXPECT_NEAR(t.real_eigenvalue, 3.637834252744496, 1e-13);
  EXPECT_LT(std::abs(t.eigenvalues.at(0) - std::complex<double>(2.681082873627754, 3.050430199247412)), 1e-13);
  EXPECT_NEAR(t.start(0), (13 + 7 * s6) / 3, 1e-14);
  EXPECT_NEAR(t.start(1), (13 - 7 * s6) / 3, 1e-14);
  EXPECT_NEAR(t.start(2), 1.0 / 3, 1e-14);
}

// sum_j a_ij c_j^(k-1) = c_i^k / k for k = 1..s (collocation), and sum_j b_j c_j^(k-1) = 1/k up to k = 2 s - 1, not 2 s
TEST(RadauTableau, OrderConditions) {
  for (int s = 1; s <= 9; ++s) {
    const RadauTableau t = radau_tableau(s);
    const Eigen::MatrixXd a = t.gamma.inverse();
    const auto defect = [&](int row, int k) {
      double sum = 0;
      for (int j = 0; j < s; ++j) sum += a(row, j) * std::pow(t.c(j), k - 1);
      return std::abs(sum - std::pow(t.c(row), k) / k);
    };
    for (int i = 0; i < s; ++i)
      for (int k = 1; k <= s; ++k) EXPECT_LT(defect(i, k), 1e-14) << s;  // measured up to 2e-15
    for (int k = 1; k <= 2 * s - 1; ++k) EXPECT_LT(defect(s - 1, k), 1e-14) << s;
    EXPECT_GT(defect(s - 1, 2 * s), s < 6 ? 1e-8 : 0) << s;
  }
}

TEST(RadauTableau, SpectrumPutTogetherIsGamma) {
  for (int s = 1; s <= 9; ++s) {
    const RadauTableau t = radau_tableau(s);
    ASSERT_EQ(static_cast<int>(t.eigenvalues.size()), s / 2);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(s, s);
    if (t.has_real()) sum += t.real_eigenvalue * t.real_right * t.real_left.transpose();
    for (std::size_t k = 0; k < t.eigenvalues.size(); ++k)
      sum += 2 * (t.eigenvalues[k] * t.right[k] * t.left[k].transpose()).real();
    EXPECT_LT((sum - t.gamma).cwiseAbs().maxCoeff(), 1e-11 * t.gamma.cwiseAbs().maxCoeff()) << s;
  }
}

TEST(RadauTableau, WeightsReproducePolynomials) {
  for (const int s : {3, 5, 7}) {
    const RadauTableau t = radau_tableau(s);
    std::vector<double> w(static_cast<std::size_t>(s)), d(w);
    const double theta = 0.37;
    t.weights(theta, w.data());
    t.rate_weights(theta, d.data());
    for (int k = 1; k <= s + 1; ++k) {  // theta^k, exact up to degree s
      double value = 0, rate = 0;
      for (int j = 0; j < s; ++j) {
        value += w[static_cast<std::size_t>(j)] * std::pow(t.c(j), k);
        rate += d[static_cast<std::size_t>(j)] * std::pow(t.c(j), k);
      }
      if (k <= s) {
        EXPECT_NEAR(value, std::pow(theta, k), 1e-14);
        EXPECT_NEAR(rate, k * std::pow(theta, k - 1), 2e-13);
      } else {
        EXPECT_GT(std::abs(value - std::pow(theta, k)), 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace hinge::radau_tableau_test
