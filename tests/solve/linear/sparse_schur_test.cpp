// Claims about S = C A^-1 C^T by L D L^T: the answers of the whole matrix, on what mechanisms look like.
#include "solve/linear/sparse_schur.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "solve/linear/random_matrix.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge::sparse_schur_test {
namespace {

using trial::dense;
using trial::random_permutation;
using trial::random_vector;
using trial::uniform;

/// Which two bodies a rod holds together; -1: the ground.
using Rods = std::vector<std::pair<int, int>>;

Rods chain(int bodies) {
  Rods rods;
  for (int i = 0; i < bodies; ++i) rods.emplace_back(i - 1, i);
  return rods;
}
Rods tree(std::mt19937& random, int bodies) {
  Rods rods;
  for (int i = 0; i < bodies; ++i)
    rods.emplace_back(i == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i)), i);
  return rods;
}
Rods with_loops(Rods rods, std::mt19937& random, int bodies, int loops) {
  for (int k = 0; k < loops; ++k) {
    const int i = static_cast<int>(random() % static_cast<unsigned>(bodies));
    const int j = static_cast<int>(random() % static_cast<unsigned>(bodies));
    if (i != j) rods.emplace_back(std::min(i, j), std::max(i, j));
  }
  return rods;
}
Rods net(int side) {
  Rods rods;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      if (j > 0) rods.emplace_back(i * side + j - 1, i * side + j);
      if (i > 0) rods.emplace_back((i - 1) * side + j, i * side + j);
    }
  return rods;
}
Rods star(int bodies) {
  Rods rods;
  for (int i = 1; i < bodies; ++i) rods.emplace_back(0, i);
  return rods;
}

/// Bodies of three coordinates each, in any order; `coupled`: their masses are full blocks.
struct Mechanism {
  Pattern a, c;
  std::vector<double> a_values, c_values;
  int n, m;

  Mechanism(std::mt19937& random, const Rods& rods, int bodies, bool coupled, double decades, bool shuffled)
      : n(3 * bodies), m(static_cast<int>(rods.size())) {
    const std::vector<int> row = random_permutation(random, m), body = random_permutation(random, bodies);
    const auto first = [&](int b) { return 3 * (shuffled ? body[static_cast<std::size_t>(b)] : b); };
    const auto constraint = [&](int i) { return shuffled ? row[static_cast<std::size_t>(i)] : i; };
    PatternBuilder mass(n, n), rates(m, n);
    std::vector<double> values, rate_values;
    for (int b = 0; b < bodies; ++b) {
      const double scale = std::pow(10.0, decades * uniform(random));
      Eigen::Matrix3d block = Eigen::Matrix3d::Identity();
      if (coupled) {
        const Eigen::Matrix3d part = Eigen::Matrix3d::NullaryExpr([&] { return uniform(random); });
        block += part * part.transpose();
      }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          if (coupled || i == j) mass.add(first(b) + i, first(b) + j), values.push_back(scale * block(i, j));
    }
    for (int i = 0; i < m; ++i) {
      const auto [one, other] = rods[static_cast<std::size_t>(i)];
      const double d[] = {uniform(random), uniform(random), uniform(random)};
      for (int k = 0; k < 3; ++k) {
        if (one >= 0) rates.add(constraint(i), first(one) + k), rate_values.push_back(-d[k]);
        rates.add(constraint(i), first(other) + k), rate_values.push_back(d[k]);
      }
    }
    a = placed(mass, values, a_values);
    c = placed(rates, rate_values, c_values);
  }

  static Pattern placed(const PatternBuilder& builder, const std::vector<double>& values, std::vector<double>& out) {
    std::vector<int> place;
    Pattern pattern = builder.build(place);
    out.assign(pattern.entries(), 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) out[static_cast<std::size_t>(place[k])] += values[k];
    return pattern;
  }

  /// Of the rows, each relative to the numbers that it is made of.
  double defect(const Eigen::VectorXd& x, const Eigen::VectorXd& right) const {
    const Eigen::MatrixXd mass = dense(a, a_values), rate = dense(c, c_values);
    Eigen::VectorXd rest(n + m), size(n + m);
    rest << mass * x.head(n) + rate.transpose() * x.tail(m), rate * x.head(n);
    rest -= right;
    const Eigen::VectorXd forces = rate.cwiseAbs().transpose() * x.tail(m).cwiseAbs() + right.head(n).cwiseAbs();
    size << mass.cwiseAbs() * x.head(n).cwiseAbs() + forces,
        rate.cwiseAbs() * mass.inverse().cwiseAbs() * forces + right.tail(m).cwiseAbs();
    return rest.cwiseQuotient(size).lpNorm<Eigen::Infinity>();
  }
};

/// Solutions by S and by KLU, and how far both are from fulfilling the equations.
struct Compared {
  double defect = 0, defect_klu = 0, distance = 0;
};
Compared compare(std::mt19937& random, const Mechanism& p) {
  SaddleKernel by_s(p.a, p.c, false, LinearAlgebra::automatic), whole(p.a, p.c, false, LinearAlgebra::sparse);
  EXPECT_TRUE(by_s.factor(p.a_values.data(), nullptr, p.c_values.data()));
  EXPECT_TRUE(whole.factor(p.a_values.data(), nullptr, p.c_values.data()));
  const Eigen::VectorXd right = random_vector(random, p.n + p.m);
  Eigen::VectorXd x = right, y = right;
  by_s.solve(x.data());
  whole.solve(y.data());
  return {p.defect(x, right), p.defect(y, right), (x - y).norm() / y.norm()};
}

TEST(SparseSchur, SolvesChainsTreesLoopsAndNetsAsTheWholeMatrixDoes) {
  std::mt19937 random(5);
  double worst = 0, worst_klu = 0;
  for (int round = 0; round < 2; ++round)
    for (const bool coupled : {false, true})
      for (const bool shuffled : {false, true})
        for (const Rods& rods : {chain(40), tree(random, 40), with_loops(chain(40), random, 40, 5), net(6)}) {
          const Mechanism p(random, rods, 40, coupled, 0.3, shuffled);
          const SparseSchur schur(p.a, p.c, false);
          ASSERT_TRUE(schur.usable());
          const Compared got = compare(random, p);
          worst = std::max(worst, got.defect);
          worst_klu = std::max(worst_klu, got.defect_klu);
          EXPECT_LT(got.distance, 1e-9);
        }
  EXPECT_LT(worst, 2e-15);
  EXPECT_LT(worst, worst_klu);
}

TEST(SparseSchur, LosesNoDigitsWhereMassesDifferByTwelveDecades) {
  std::mt19937 random(6);
  double worst = 0, worst_klu = 0;
  int taken = 0, refined = 0;
  for (int round = 0; round < 10; ++round)
    for (const bool coupled : {false, true})
      for (const Rods& rods : {chain(50), tree(random, 50)}) {
        const Mechanism p(random, rods, 50, coupled, 6, true);
        SparseSchur schur(p.a, p.c, false);
        if (!schur.factor(p.a_values.data(), p.c_values.data())) continue;  // the whole matrix will do
        ++taken;
        refined += schur.refines();
        const Compared got = compare(random, p);
        worst = std::max(worst, got.defect);
        worst_klu = std::max(worst_klu, got.defect_klu);
      }
  EXPECT_GE(taken, 35);        // 38 of 40
  EXPECT_GE(refined, 5);       // 11
  EXPECT_LT(worst, 2e-15);     // measured 3.9e-16
  EXPECT_GT(worst_klu, 1e-6);  // measured 1.8e-5: pivots were chosen by size alone
}

TEST(SparseSchur, OfAChainIsTridiagonalInWhateverOrderItsLinksAreNamed) {
  std::mt19937 random(7);
  for (const int bodies : {1, 2, 3, 4, 17, 100}) {
    const Mechanism p(random, chain(bodies), bodies, false, 1, true);
    const SparseSchur schur(p.a, p.c, true);
    EXPECT_TRUE(schur.usable() && schur.complement().tridiagonal());
  }
  const Rods closed = with_loops(chain(30), random, 30, 1);
  EXPECT_FALSE(SparseSchur(Mechanism(random, closed, 30, false, 1, true).a,
                           Mechanism(random, closed, 30, false, 1, true).c, true)
                   .complement()
                   .tridiagonal());
}

TEST(SparseSchur, EvenAndOddAndShortChainsAreSolved) {
  std::mt19937 random(8);
  double worst = 0;
  for (int bodies = 1; bodies < 12; ++bodies) {
    const Mechanism p(random, chain(bodies), bodies, bodies % 3 == 0, 1, bodies % 2 == 0);
    SparseSchur schur(p.a, p.c, false);
    ASSERT_TRUE(schur.usable());
    ASSERT_TRUE(schur.factor(p.a_values.data(), p.c_values.data()));
    const Eigen::VectorXd right = random_vector(random, p.n + p.m);
    Eigen::VectorXd x = right;
    schur.solve(x.data(), x.data() + p.n);
    worst = std::max(worst, p.defect(x, right));
  }
  EXPECT_LT(worst, 1e-14);
}

TEST(SparseSchur, LeavesAHubWithManyRodsToTheWholeMatrix) {
  std::mt19937 random(9);
  const Mechanism p(random, star(120), 120, false, 1, true);
  EXPECT_FALSE(SparseSchur(p.a, p.c, false).usable());
  EXPECT_LT(compare(random, p).defect, 1e-12);
}

TEST(SparseSchur, RefusesDependentConstraintsAndMassesThatAreNoMetric) {
  std::mt19937 random(10);
  Rods twice = chain(40);
  Mechanism p(random, chain(40), 40, true, 1, false);
  SparseSchur schur(p.a, p.c, false);
  ASSERT_TRUE(schur.factor(p.a_values.data(), p.c_values.data()));  // as they are

  std::vector<double> negative = p.a_values;
  for (std::size_t k = 0; k < 9; ++k) negative[k] = -negative[k];
  EXPECT_FALSE(schur.factor(negative.data(), p.c_values.data()));
  std::vector<double> skew = p.a_values;
  skew[1] += 0.1;
  EXPECT_FALSE(schur.factor(skew.data(), p.c_values.data()));
  std::vector<double> none = p.a_values;
  std::fill_n(none.begin(), 9, 0.0);
  EXPECT_FALSE(schur.factor(none.data(), p.c_values.data()));

  // the same rod twice: no multiplier of its own. A hair's breadth beside it there is one, found with a refinement.
  twice.emplace_back(38, 39);
  Mechanism doubled(random, twice, 40, false, 0, false);
  const auto last = static_cast<std::size_t>(doubled.c.row_start[40]);
  for (std::size_t k = 0; k < 6; ++k) doubled.c_values[last + k] = doubled.c_values[last - 6 + k];
  SparseSchur redundant(doubled.a, doubled.c, false);
  ASSERT_TRUE(redundant.usable());
  EXPECT_FALSE(redundant.factor(doubled.a_values.data(), doubled.c_values.data()));
  SaddleKernel kernel(doubled.a, doubled.c, false, LinearAlgebra::automatic);
  EXPECT_FALSE(kernel.factor(doubled.a_values.data(), nullptr, doubled.c_values.data()));
  doubled.c_values[last] += 1e-3, doubled.c_values[last + 3] -= 1e-3;
  ASSERT_TRUE(redundant.factor(doubled.a_values.data(), doubled.c_values.data()));
  EXPECT_TRUE(redundant.refines());
  const Compared near = compare(random, doubled);
  EXPECT_LT(near.defect, 1e-14);
  EXPECT_LT(near.distance, 1e-9);
}

// Point masses with one to four coordinates, and rows that hold some of them only: entries stand side by side in groups
// of any length, or in groups that begin anywhere.
TEST(SparseSchur, PointsOfAnyNumberOfCoordinatesAreSolved) {
  std::mt19937 random(12);
  double worst = 0;
  int taken = 0;
  for (int round = 0; round < 60; ++round) {
    const int points = 4 + static_cast<int>(random() % 40u), usual = 1 + static_cast<int>(random() % 4u);
    const bool mixed = random() % 2u == 0, shifted = random() % 3u == 0, partly = random() % 3u == 0;
    std::vector<int> first{shifted ? 1 : 0};
    for (int k = 0; k < points; ++k)
      first.push_back(first.back() + (mixed ? 1 + static_cast<int>(random() % 4u) : usual));
    Mechanism p(random, chain(1), 1, false, 0, false);
    const Rods rods = round % 2 == 0 ? chain(points) : tree(random, points);
    p.n = first.back();
    p.m = points;
    PatternBuilder mass(p.n, p.n), rates(p.m, p.n);
    std::vector<double> values, rate_values;
    for (int i = 0; i < p.n; ++i) mass.add(i, i), values.push_back(1.5 + uniform(random));
    const std::vector<int> row = random_permutation(random, points);
    for (int i = 0; i < points; ++i)
      for (const int body : {rods[static_cast<std::size_t>(i)].first, rods[static_cast<std::size_t>(i)].second})
        for (int j = body < 0 ? 0 : first[static_cast<std::size_t>(body)];
             body >= 0 && j < first[static_cast<std::size_t>(body) + 1]; ++j)
          if (!partly || random() % 4u != 0 || body == rods[static_cast<std::size_t>(i)].second)
            rates.add(row[static_cast<std::size_t>(i)], j), rate_values.push_back(1.2 + uniform(random));
    p.a = Mechanism::placed(mass, values, p.a_values);
    p.c = Mechanism::placed(rates, rate_values, p.c_values);
    SparseSchur schur(p.a, p.c, round % 3 == 0);
    if (!schur.usable() || !schur.factor(p.a_values.data(), p.c_values.data())) continue;
    ++taken;
    const Eigen::VectorXd right = random_vector(random, p.n + p.m);
    Eigen::VectorXd x = right;
    schur.solve(x.data(), x.data() + p.n);
    worst = std::max(worst, p.defect(x, right));
  }
  EXPECT_GE(taken, 50);
  EXPECT_LT(worst, 1e-14);
}

TEST(SparseSchur, ComparisonSeesADigitThatIsWrong) {  // a control
  std::mt19937 random(11);
  const Mechanism p(random, chain(60), 60, false, 0.3, true);
  SparseSchur schur(p.a, p.c, false);
  ASSERT_TRUE(schur.factor(p.a_values.data(), p.c_values.data()));
  const Eigen::VectorXd right = random_vector(random, p.n + p.m);
  Eigen::VectorXd x = right;
  schur.solve(x.data(), x.data() + p.n);
  ASSERT_LT(p.defect(x, right), 1e-13);
  Eigen::VectorXd wrong = x;
  wrong[p.n + 30] *= 1 + 1e-11;
  EXPECT_GT(p.defect(wrong, right), 1e-13);
}

}  // namespace
}  // namespace hinge::sparse_schur_test
