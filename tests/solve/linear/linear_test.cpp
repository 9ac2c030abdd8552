#include "solve/linear/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "solve/linear/random_matrix.hpp"

namespace hinge::linear_test {
namespace {

using trial::dense;
using trial::random_pattern;
using trial::random_values;
using trial::random_vector;

constexpr LinearAlgebra every[] = {LinearAlgebra::dense, LinearAlgebra::sparse, LinearAlgebra::automatic};

/// |A x - b| / (|A| |x|) in the largest entry.
double residual(const Eigen::MatrixXd& a, const Eigen::VectorXd& x, const Eigen::VectorXd& b) {
  return (a * x - b).lpNorm<Eigen::Infinity>() /
         (a.cwiseAbs().rowwise().sum().maxCoeff() * x.lpNorm<Eigen::Infinity>());
}

TEST(LinearSolver, SolvesRandomSparseSystemsDenseAndSparseAlike) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int n = 1 + static_cast<int>(random() % 60);
    const Pattern pattern = random_pattern(random, n, n, 3, true);
    const auto direct = make_linear_solver(pattern, LinearAlgebra::dense);
    const auto sparse = make_linear_solver(pattern, LinearAlgebra::sparse);
    for (int again = 0; again < 3; ++again) {  // the later ones reuse what was analysed for the first
      const std::vector<double> values = random_values(random, pattern);
      const Eigen::MatrixXd a = dense(pattern, values);
      const Eigen::VectorXd singular_values = a.jacobiSvd().singularValues();
      if (singular_values[n - 1] < 1e-6 * singular_values[0]) continue;
      const Eigen::VectorXd b = random_vector(random, n);
      Eigen::VectorXd x = b, y = b;
      ASSERT_TRUE(direct->factor(values.data()));
      ASSERT_TRUE(sparse->factor(values.data()));
      direct->solve(x.data());
      sparse->solve(y.data());
      EXPECT_LT(residual(a, x, b), 1e-15);  // measured 1e-16
      EXPECT_LT(residual(a, y, b), 2e-11);  // measured 2e-12: KLU trades digits for sparsity
    }
  }
}

// Small and half empty: pivots by Markowitz' rule, kept while they are good.
TEST(CompactLu, SolvesRandomSparseSystemsLikeDenseLu) {
  std::mt19937 random(6);
  int solved = 0;
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 6 + static_cast<int>(random() % 35);
    const Pattern pattern = random_pattern(random, n, n, 2, true);
    const auto solver = make_linear_solver(pattern, LinearAlgebra::automatic);
    if (static_cast<double>(pattern.entries()) > 0.5 * n * n) continue;
    ASSERT_STREQ(solver->name(), "compact LU");
    for (int again = 0; again < 4; ++again) {  // the later ones with the pivots of the first, where they are good
      const std::vector<double> values = random_values(random, pattern);
      const Eigen::MatrixXd a = dense(pattern, values);
      const Eigen::VectorXd singular_values = a.jacobiSvd().singularValues();
      if (singular_values[n - 1] < 1e-6 * singular_values[0]) continue;
      const Eigen::PartialPivLU<Eigen::MatrixXd> lu(a);
      const Eigen::VectorXd b = random_vector(random, n), expected = lu.solve(b);
      Eigen::VectorXd x = b;
      ASSERT_TRUE(solver->factor(values.data())) << round;
      EXPECT_EQ(solver->determinant_sign(), lu.determinant() > 0 ? 1 : -1) << round;
      solver->solve(x.data());
      worst = std::max(worst, residual(a, x, b));
      EXPECT_LT((x - expected).norm(), 1e-8 * expected.norm()) << round;
      ++solved;
    }
  }
  EXPECT_LT(worst, 1e-12);
  EXPECT_GT(solved, 800);
}

TEST(LinearSolver, ReordersWhenOldPivotsVanish) {
  // First the diagonal is large, then it is zero: pivots chosen for the first matrix do not exist in the second.
  constexpr int n = 30;
  PatternBuilder builder(n, n);
  for (int i = 0; i < n; ++i) {
    builder.add(i, i);
    builder.add(i, (i + 1) % n);
  }
  std::vector<int> place;
  const Pattern pattern = builder.build(place);
  const auto matrix = [&](double diagonal, double off) {
    std::vector<double> values(pattern.entries());
    for (std::size_t k = 0; k < place.size(); ++k) values[static_cast<std::size_t>(place[k])] = k % 2 ? off : diagonal;
    return values;
  };
  std::mt19937 random(2);
  for (const LinearAlgebra choice : every) {
    const auto solver = make_linear_solver(pattern, choice);
    for (const auto& values : {matrix(1, 1e-3), matrix(0, 1), matrix(1e-9, 1), matrix(1, 0), matrix(2, 1)}) {
      const Eigen::VectorXd b = random_vector(random, n);
      Eigen::VectorXd x = b;
      ASSERT_TRUE(solver->factor(values.data())) << solver->name();
      solver->solve(x.data());
      EXPECT_LT(residual(dense(pattern, values), x, b), 1e-15) << solver->name();  // measured 1e-16
    }
  }
}

// Entries of very different sizes grow in any order of pivots; the old ones are kept where new ones are no better.
TEST(LinearSolver, KeptPivotsAreAsGoodAsNewOnes) {
  std::mt19937 random(18);
  double worst = 0, worst_anew = 0;
  for (int round = 0; round < 40; ++round) {
    const int n = 60 + static_cast<int>(random() % 90);
    const Pattern pattern = random_pattern(random, n, n, 3, true);
    std::vector<double> values = random_values(random, pattern);
    for (double& v : values) v *= std::pow(10.0, trial::uniform(random, -6, 0));
    const auto kept = make_linear_solver(pattern, LinearAlgebra::sparse);
    for (int again = 0; again < 8; ++again) {
      const auto anew = make_linear_solver(pattern, LinearAlgebra::sparse);
      const Eigen::MatrixXd a = dense(pattern, values);
      const Eigen::VectorXd b = random_vector(random, n);
      Eigen::VectorXd x = b, y = b;
      const bool regular = anew->factor(values.data());
      if (regular && kept->factor(values.data())) {
        anew->solve(y.data());
        kept->solve(x.data());
        worst_anew = std::max(worst_anew, residual(a, y, b));
        worst = std::max(worst, residual(a, x, b));
      }
      for (double& v : values) v *= trial::uniform(random, 0.85, 1.15);
    }
  }
  EXPECT_LT(worst_anew, 1e-12);  // measured 4.2e-14
  EXPECT_LT(worst, 1e-12);       // measured 5.8e-14
}

TEST(LinearSolver, SolvesLargeMatricesOfChainsWithConstraints) {
  // Bodies one after the other, each with a full random mass and tied to the one before by random rows: zeros on the
  // diagonal for the rows, as many as chains of bodies have.
  std::mt19937 random(4);
  double worst = 0;
  for (int round = 0; round < 4; ++round) {
    const int bodies = 200 + static_cast<int>(random() % 100), ties = 1 + static_cast<int>(random() % 5);
    const int masses = 6 * bodies, n = masses + ties * bodies;
    PatternBuilder builder(n, n);
    std::vector<double> added;
    const auto add = [&](int i, int j, double value) {
      builder.add(i, j);
      added.push_back(value);
    };
    std::uniform_real_distribution<double> entry(-1, 1);
    for (int b = 0; b < bodies; ++b) {
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) add(6 * b + i, 6 * b + j, i == j ? 8 : entry(random));
      for (int r = 0; r < ties; ++r)
        for (int j = b == 0 ? 0 : -6; j < 6; ++j) {
          const double value = entry(random);
          add(masses + ties * b + r, 6 * b + j, value);
          add(6 * b + j, masses + ties * b + r, value);
        }
    }
    std::vector<int> place;
    const Pattern pattern = builder.build(place);
    std::vector<double> values(pattern.entries());
    for (std::size_t k = 0; k < place.size(); ++k) values[static_cast<std::size_t>(place[k])] = added[k];
    const auto solver = make_linear_solver(pattern, LinearAlgebra::sparse);
    ASSERT_TRUE(solver->factor(values.data()));
    const Eigen::VectorXd b = random_vector(random, n);
    Eigen::VectorXd x = b;
    solver->solve(x.data());
    Eigen::VectorXd rest = b;
    multiply_add(pattern, values.data(), x.data(), -1, rest.data());
    worst = std::max(worst, rest.lpNorm<Eigen::Infinity>() / x.lpNorm<Eigen::Infinity>());
  }
  EXPECT_LT(worst, 1e-12);  // measured 1.3e-13
}

TEST(LinearSolver, DetectsSingularMatricesAndRecovers) {
  const Pattern full = Pattern::dense(3, 3);
  const std::vector<double> regular = {4, 1, 0, 1, 3, 1, 0, 1, 2};
  const std::vector<std::vector<double>> singular = {{0, 0, 0, 0, 0, 0, 0, 0, 0},  // zero
                                                     {1, 2, 3, 2, 4, 6, 1, 0, 1},  // equal directions
                                                     {1, 2, 3, 4, 5, 6, 7, 8, 9},  // dependent rows
                                                     {1, 2, 0, 3, 4, 0, 5, 6, 0},  // a zero column
                                                     {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.5, 0.7, 0.9}};
  for (const LinearAlgebra choice : every) {
    const auto solver = make_linear_solver(full, choice);
    for (const auto& values : singular) {
      EXPECT_FALSE(solver->factor(values.data())) << solver->name();
      ASSERT_TRUE(solver->factor(regular.data())) << solver->name();
      Eigen::Vector3d x(5, 5, 3);  // A (1, 1, 1)
      solver->solve(x.data());
      EXPECT_LT((x - Eigen::Vector3d::Ones()).norm(), 2e-15) << solver->name();  // measured 3e-16
    }
  }
}

TEST(LinearSolver, DetectsDependentRowsOfRandomMatrices) {
  std::mt19937 random(3);
  for (const LinearAlgebra choice : every)
    for (const int n : {2, 5, 10, 40}) {
      int missed = 0;
      for (int round = 0; round < 100; ++round) {
        Eigen::MatrixXd a(n, n);
        for (int i = 0; i < n; ++i) a.row(i) = random_vector(random, n).transpose();
        a.row(n - 1) = (random_vector(random, n - 1).transpose() * a.topRows(n - 1)).eval();
        const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = a;
        missed += make_linear_solver(Pattern::dense(n, n), choice)->factor(rows.data());
      }
      EXPECT_LE(missed, 3) << "n = " << n;  // measured 0; rounding alone may leave a pivot of 1e-12
    }
}

TEST(LinearSolver, DetectsStructuralSingularity) {
  PatternBuilder builder(3, 3);  // two rows that share their only column
  builder.add(0, 1);
  builder.add(1, 1);
  builder.add(2, 0);
  builder.add(2, 2);
  std::vector<int> place;
  const Pattern pattern = builder.build(place);
  const std::vector<double> values = {1, 2, 3, 4};
  for (const LinearAlgebra choice : every) EXPECT_FALSE(make_linear_solver(pattern, choice)->factor(values.data()));
}

TEST(LinearSolver, UnitsDoNotDecideWhatIsSingular) {
  constexpr int n = 12;
  std::mt19937 random(4);
  const auto units = [&](bool wanted) {
    Eigen::VectorXd scale = Eigen::VectorXd::Ones(n);
    if (wanted)
      for (double& x : scale) x = std::exp2(static_cast<int>(random() % 120) - 60);
    return scale;
  };
  int solved = 0;
  for (const LinearAlgebra choice : every)
    for (int round = 0; round < 60; ++round) {
      // Equations in wildly different units; in full matrices the unknowns, too.
      const bool full = round % 2 == 0;
      const Pattern pattern = full ? Pattern::dense(n, n) : random_pattern(random, n, n, 4, true);
      std::vector<double> values = random_values(random, pattern);
      const Eigen::MatrixXd plain = dense(pattern, values);
      if (plain.jacobiSvd().singularValues()[n - 1] < 0.01) continue;
      const Eigen::VectorXd row = units(true), column = units(full);
      for (int i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i) + 1]); ++k)
          values[k] *= row[i] * column[pattern.column[k]];
      const auto solver = make_linear_solver(pattern, choice);
      ASSERT_TRUE(solver->factor(values.data())) << solver->name() << " " << round;
      const Eigen::VectorXd x = random_vector(random, n);
      Eigen::VectorXd y = row.asDiagonal() * (plain * x);  // (R A C) (C^-1 x)
      solver->solve(y.data());
      EXPECT_LT((column.asDiagonal() * y - x).lpNorm<Eigen::Infinity>(), 2e-11);  // measured 2e-12, sparse
      ++solved;
    }
  EXPECT_GT(solved, 60);
}

TEST(LinearSolver, RefusesNumbersThatAreNotFinite) {
  const Pattern full = Pattern::dense(2, 2);
  for (const LinearAlgebra choice : every)
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (std::size_t k = 0; k < 4; ++k) {
        std::vector<double> values = {2, 1, 1, 2};
        const auto solver = make_linear_solver(full, choice);
        ASSERT_TRUE(solver->factor(values.data()));
        values[k] = bad;
        EXPECT_FALSE(solver->factor(values.data()));
      }
}

TEST(LinearSolver, ChoosesBySizeAndDensity) {
  EXPECT_STREQ(make_linear_solver(Pattern::dense(10, 10), LinearAlgebra::automatic)->name(), "dense LU");
  EXPECT_STREQ(make_linear_solver(Pattern::dense(150, 150), LinearAlgebra::automatic)->name(), "dense LU");
  std::mt19937 random(5);
  EXPECT_STREQ(make_linear_solver(random_pattern(random, 150, 150, 2, true), LinearAlgebra::automatic)->name(),
               "sparse LU (KLU)");
  EXPECT_STREQ(make_linear_solver(Pattern::dense(3, 3), LinearAlgebra::sparse)->name(), "sparse LU (KLU)");
}

TEST(LinearSolver, AcceptsSquareMatricesOnlyAndNoRowsAtAll) {
  EXPECT_THROW(make_linear_solver(Pattern::dense(2, 3), LinearAlgebra::dense), std::logic_error);
  for (const LinearAlgebra choice : every) {
    const auto nothing = make_linear_solver(Pattern::dense(0, 0), choice);
    EXPECT_TRUE(nothing->factor(nullptr));
    nothing->solve(nullptr);
  }
}

}  // namespace
}  // namespace hinge::linear_test
