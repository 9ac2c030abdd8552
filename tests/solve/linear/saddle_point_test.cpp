#include "solve/linear/saddle_point.hpp"

#include <gtest/gtest.h>

#include <random>

#include "solve/linear/random_matrix.hpp"

namespace hinge::saddle_point_test {
namespace {

using trial::dense;
using trial::random_pattern;
using trial::random_values;
using trial::random_vector;
using trial::uniform;

constexpr LinearAlgebra both[] = {LinearAlgebra::dense, LinearAlgebra::sparse};

/// Block-diagonal A with blocks of three rows, as the masses of points have.
Pattern mass_pattern(int points) {
  PatternBuilder builder(3 * points, 3 * points);
  for (int k = 0; k < points; ++k)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) builder.add(3 * k + i, 3 * k + j);
  std::vector<int> place;
  return builder.build(place);
}

std::vector<double> mass_values(std::mt19937& random, const Pattern& p) {
  std::vector<double> values(p.entries());
  for (int i = 0; i < p.rows; ++i)
    for (auto k = static_cast<std::size_t>(p.row_start[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(p.row_start[static_cast<std::size_t>(i) + 1]); ++k)
      values[k] = 0.3 * uniform(random) + (p.column[k] == i ? 2 : 0);
  return values;
}

/// A saddle-point problem with a right-hand side; m constraints.
struct Problem {
  Pattern a, b, c;
  std::vector<double> a_values, b_values, c_values;
  int n, m;

  Problem(std::mt19937& random, int points, int constraints) : n(3 * points), m(constraints) {
    a = mass_pattern(points);
    c = random_pattern(random, m, n, 3, true);
    a_values = mass_values(random, a);
    c_values = random_values(random, c);
    // B near C^T, so that the small matrix is regular.
    PatternBuilder builder(n, m);
    for (int i = 0; i < m; ++i)
      for (int k = c.row_start[static_cast<std::size_t>(i)]; k < c.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        builder.add(c.column[static_cast<std::size_t>(k)], i);
    std::vector<int> place;
    b = builder.build(place);
    b_values.resize(b.entries());
    for (std::size_t k = 0; k < place.size(); ++k)
      b_values[static_cast<std::size_t>(place[k])] = c_values[k] + 0.05 * uniform(random);
  }

  Eigen::MatrixXd full(double factor) const {
    Eigen::MatrixXd k = Eigen::MatrixXd::Zero(n + m, n + m);
    k.topLeftCorner(n, n) = dense(a, a_values);
    k.topRightCorner(n, m) = -factor * dense(b, b_values);
    k.bottomLeftCorner(m, n) = dense(c, c_values);
    return k;
  }
};

TEST(SaddlePoint, SolvesTheWholeSystem) {
  std::mt19937 random(1);
  for (const LinearAlgebra choice : both)
    for (int round = 0; round < 30; ++round) {
      const Problem p(random, 6, 5);
      SaddlePoint solver(p.a, p.b, p.c, choice);
      for (const double factor : {1.0, 0.01, 1e-30}) {
        ASSERT_TRUE(solver.factor(p.a_values.data(), p.b_values.data(), factor, p.c_values.data()));
        const Eigen::VectorXd right = random_vector(random, p.n + p.m);
        Eigen::VectorXd x = right;
        solver.solve(x.data());
        const double defect = (p.full(factor) * x - right).lpNorm<Eigen::Infinity>();
        x.tail(p.m) *= factor;
        EXPECT_LT(defect / (1 + x.lpNorm<Eigen::Infinity>()), 1e-12);  // measured 1e-13, sparse
      }
    }
}

TEST(SchurComplement, AgreesWithTheWholeSystem) {
  std::mt19937 random(2);
  for (const LinearAlgebra choice : both)
    for (int round = 0; round < 30; ++round) {
      const Problem p(random, 6, 5);
      SchurComplement schur(p.a, p.b, p.c, choice);
      SaddlePoint whole(p.a, p.b, p.c, choice);
      ASSERT_TRUE(schur.applicable());
      ASSERT_TRUE(schur.factor(p.a_values.data(), p.b_values.data(), p.c_values.data()));
      ASSERT_TRUE(whole.factor(p.a_values.data(), p.b_values.data(), 1, p.c_values.data()));
      const Eigen::VectorXd a = random_vector(random, p.n), b = random_vector(random, p.m);
      Eigen::VectorXd expected(p.n + p.m);
      expected << a, b;
      whole.solve(expected.data());
      // mu = S^-1 (b - C A^-1 a), x = A^-1 (a + B mu)
      Eigen::VectorXd x(p.n);
      schur.solve_mass(a.data(), x.data());
      Eigen::VectorXd mu = b;
      multiply_add(p.c, p.c_values.data(), x.data(), -1, mu.data());
      schur.solve(mu.data());
      Eigen::VectorXd right = a;
      multiply_add(p.b, p.b_values.data(), mu.data(), 1, right.data());
      schur.solve_mass(right.data(), x.data());
      Eigen::VectorXd got(p.n + p.m);
      got << x, mu;
      const double scale = expected.lpNorm<Eigen::Infinity>();  // large where C A^-1 B is nearly singular
      EXPECT_LT((got - expected).lpNorm<Eigen::Infinity>() / (scale * scale), 3e-12);  // measured 3e-13
    }
}

TEST(SaddlePoint, NeedsRegularityOnTheKernelOfCOnly) {
  // A has no inertia in the second direction, which the constraint x_1 = const fixes.
  const Pattern a = Pattern::dense(2, 2), b = Pattern::dense(2, 1), c = Pattern::dense(1, 2);
  const double mass[] = {2, 0, 0, 0}, normal[] = {0, 1};
  for (const LinearAlgebra choice : both) {
    SaddlePoint solver(a, b, c, choice);
    ASSERT_TRUE(solver.factor(mass, normal, 1, normal));
    double x[] = {4, 3, 5};  // 2 x_0 = 4, -mu = 3, x_1 = 5
    solver.solve(x);
    EXPECT_DOUBLE_EQ(x[0], 2);
    EXPECT_DOUBLE_EQ(x[1], 5);
    EXPECT_DOUBLE_EQ(x[2], -3);
    SchurComplement schur(a, b, c, choice);
    EXPECT_FALSE(schur.factor(mass, normal, normal));
    EXPECT_FALSE(schur.factored());
  }
}

TEST(SaddlePoint, DetectsDependentConstraintsAndMissingInertia) {
  const Pattern a = Pattern::dense(3, 3), b = Pattern::dense(3, 2), c = Pattern::dense(2, 3);
  const double mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, no_mass[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
  const double columns[] = {1, 2, 1, 2, 0, 0}, rows[] = {1, 1, 0, 2, 2, 0};  // the second is twice the first
  const double good_columns[] = {1, 0, 0, 1, 0, 0}, good_rows[] = {1, 0, 0, 0, 1, 0};
  for (const LinearAlgebra choice : both) {
    SaddlePoint solver(a, b, c, choice);
    EXPECT_FALSE(solver.factor(mass, columns, 1, rows));
    EXPECT_FALSE(solver.factor(no_mass, good_columns, 1, good_rows));
    EXPECT_TRUE(solver.factor(mass, good_columns, 1, good_rows));
    SchurComplement schur(a, b, c, choice);
    EXPECT_FALSE(schur.factor(mass, columns, rows));
    EXPECT_TRUE(schur.factor(mass, good_columns, good_rows));
  }
}

// Few constraints: S^-1 is written down, in the order of the rows where that is safe, and by exchanges where it is not.
TEST(SchurComplement, InvertsWithAndWithoutExchanges) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> entry(-1, 1);
  double worst = 0;
  for (int k = 0; k < 2000; ++k) {
    const int m = 1 + k % SchurComplement::largest_inverse, n = 2 * m;
    const auto size = static_cast<std::size_t>(m * n);
    // C = (E 0), A = 1: then S is the upper half of B
    std::vector<double> mass(static_cast<std::size_t>(n), 1.0), b(size), c(size), x(static_cast<std::size_t>(m));
    for (double& value : b) value = entry(random);
    for (double& value : x) value = entry(random);
    for (int i = 0; i < m; ++i) c[static_cast<std::size_t>(i * n + i)] = 1;
    const double pivot = m > 1 && k % 3 == 0 ? 0 : m > 1 && k % 3 == 1 ? 1e-9 : 1.0;
    b[0] *= pivot;
    Eigen::MatrixXd s(m, m);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) s(i, j) = b[static_cast<std::size_t>(i * m + j)];
    const Eigen::VectorXd right = Eigen::Map<Eigen::VectorXd>(x.data(), m);
    SchurComplement schur(identity_pattern(n), Pattern::dense(n, m), Pattern::dense(m, n), LinearAlgebra::automatic);
    ASSERT_TRUE(schur.factor_in_order(mass.data(), b.data(), c.data()));
    schur.solve(x.data());
    const Eigen::Map<Eigen::VectorXd> solution(x.data(), m);
    worst = std::max(worst, (s * solution - right).norm() / (1 + s.norm() * solution.norm() * s.inverse().norm()));
  }
  EXPECT_LT(worst, 3e-14);  // measured 2.9e-15
}

TEST(SchurComplement, WithoutConstraintsIsTheInverseMass) {
  std::mt19937 random(3);
  const Pattern a = mass_pattern(4);
  const std::vector<double> values = mass_values(random, a);
  SchurComplement schur(a, Pattern::dense(12, 0), Pattern::dense(0, 12), LinearAlgebra::automatic);
  ASSERT_TRUE(schur.factor(values.data(), nullptr, nullptr));
  const Eigen::VectorXd x = random_vector(random, 12), right = dense(a, values) * x;
  Eigen::VectorXd y(12);
  schur.solve_mass(right.data(), y.data());
  EXPECT_LT((y - x).lpNorm<Eigen::Infinity>(), 1e-14);  // measured 1e-16
  EXPECT_STREQ(schur.solver_name(), "no constraints");
}

TEST(SchurComplement, DeclinesMassesThatDoNotFallApart) {
  const Pattern a = Pattern::dense(65, 65), b = Pattern::dense(65, 1), c = Pattern::dense(1, 65);
  EXPECT_FALSE(SchurComplement(a, b, c, LinearAlgebra::automatic).applicable());
}

}  // namespace
}  // namespace hinge::saddle_point_test
