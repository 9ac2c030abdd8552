// Machine code for small saddle-point matrices solves them as SaddleKernel does, or says that it does not.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "formulation/saddle_code.hpp"

namespace hinge {
namespace {

struct Problem {
  Pattern a, b, c;
  std::vector<double> mass, reaction, gradient, right, minus_b;
};

Pattern pattern(int rows, int columns, const std::vector<std::vector<int>>& entries) {
  Pattern p{rows, columns, {0}, {}};
  for (const auto& row : entries) {
    p.column.insert(p.column.end(), row.begin(), row.end());
    p.row_start.push_back(static_cast<int>(p.column.size()));
  }
  return p;
}

class SaddleCodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (native_use() == NativeUse::off) GTEST_SKIP() << "there is no machine code here";
  }
  double draw() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  std::vector<double> draw(std::size_t n) {
    std::vector<double> x(n);
    for (double& number : x) number = draw();
    return x;
  }

  // Masses one by one or in pairs; constraints that each touch about half of the velocities.
  Problem problem(int nz, int m, bool pairs) {
    Problem p;
    std::vector<std::vector<int>> a, b(static_cast<std::size_t>(nz)), c;
    for (int i = 0; i < nz; ++i) {
      a.push_back(pairs && (i ^ 1) < nz ? std::vector<int>{i & ~1, i | 1} : std::vector<int>{i});
      for (const int j : a.back()) p.mass.push_back(j == i ? 2 + draw() : 0.3);
    }
    for (int i = 0; i < m; ++i) {
      c.emplace_back();
      for (int j = 0; j < nz; ++j)
        if (j % m == i || draw() > 0) c.back().push_back(j);
      for (const int j : c.back()) b[static_cast<std::size_t>(j)].push_back(i);
    }
    p.a = pattern(nz, nz, a);
    p.b = pattern(nz, m, b);
    p.c = pattern(m, nz, c);
    fill(p);
    return p;
  }
  void fill(Problem& p) {
    p.reaction = draw(p.b.entries());
    p.gradient = draw(p.c.entries());
    p.right = draw(static_cast<std::size_t>(p.a.rows));
    p.minus_b = draw(static_cast<std::size_t>(p.c.rows));
  }

  struct Solution {
    std::vector<double> x, mu;
  };
  static Solution by_kernel(SaddleKernel& kernel, const Problem& p, bool ideal) {
    EXPECT_TRUE(kernel.factor(p.mass.data(), ideal ? nullptr : p.reaction.data(), p.gradient.data()));
    Solution s{p.right, p.minus_b};
    for (double& x : s.mu) x = -x;
    kernel.solve(s.x.data(), s.mu.data());
    return s;
  }

  // How many of 40 points the code settles; there its numbers are the kernel's.
  int settled(Problem& p, bool ideal, bool constant) {
    SaddleKernel kernel = ideal ? SaddleKernel(p.a, p.c, constant, LinearAlgebra::automatic)
                                : SaddleKernel(p.a, p.b, p.c, constant, LinearAlgebra::automatic);
    by_kernel(kernel, p, ideal);
    if (!kernel.small()) return -1;
    const auto code =
        SaddleCode::make({p.a, p.c, ideal ? nullptr : &p.b, constant ? p.mass.data() : nullptr, kernel.exchanges()});
    if (!code) return -1;
    int count = 0;
    for (int k = 0; k < 40; ++k) {
      if (k > 0) fill(p);
      const bool sure = code->solve(p.mass.data(), ideal ? nullptr : p.reaction.data(), p.gradient.data(),
                                    p.right.data(), p.minus_b.data());
      EXPECT_TRUE(sure || k > 0);
      if (!sure) continue;
      ++count;
      const Solution s = by_kernel(kernel, p, ideal);
      for (std::size_t i = 0; i < s.x.size(); ++i) EXPECT_EQ(s.x[i], code->x()[i]) << i;
      for (std::size_t i = 0; i < s.mu.size(); ++i) EXPECT_EQ(s.mu[i], code->mu()[i]) << i;
    }
    return count;
  }
  std::mt19937 random_{4};
};

TEST_F(SaddleCodes, PointMassesAreSolvedAsTheKernelDoes) {
  for (const auto& [nz, m] : {std::pair{2, 1}, {6, 2}, {9, 3}, {12, 5}, {30, 12}})
    for (const bool constant : {true, false}) {
      SCOPED_TRACE(nz);
      Problem p = problem(nz, m, false);
      EXPECT_GE(settled(p, true, constant), 36);  // nothing is exchanged there
    }
}

TEST_F(SaddleCodes, BlocksAndReactionsOfAnyKindAreSolvedWithTheKernelsExchanges) {
  int all = 0;
  for (const auto& [nz, m] : {std::pair{3, 0}, {2, 1}, {5, 2}, {7, 3}, {7, 6}})
    for (const bool ideal : {true, false}) {
      SCOPED_TRACE(nz);
      Problem p = problem(nz, m, true);
      const int count = settled(p, ideal, false);
      EXPECT_NE(count, 0);
      all += count;
      EXPECT_TRUE(count < 40 || m < 6);  // the control: other points want other exchanges
    }
  EXPECT_GT(all, 150);
}

TEST_F(SaddleCodes, WeakPivotsAndNumbersThatAreNoneAreLeftToTheKernel) {
  Problem p = problem(4, 2, false);
  p.c = pattern(2, 4, {{0, 1}, {0, 1}});
  p.gradient = {1, 2, 3, -1};
  const auto code = SaddleCode::make({p.a, p.c, nullptr, nullptr, {0, 1}});
  ASSERT_TRUE(code);
  const auto solve = [&] {
    return code->solve(p.mass.data(), nullptr, p.gradient.data(), p.right.data(), p.minus_b.data());
  };
  EXPECT_TRUE(solve());
  p.gradient = {1, 2, 1, 2 + 1e-12};  // twice the same constraint
  EXPECT_FALSE(solve());
  p.gradient = {1, 2, 3, NAN};
  EXPECT_FALSE(solve());
  p.gradient = {1, 2, 3, -1};
  p.mass[2] = 0;
  EXPECT_FALSE(solve());
  p.mass[2] = 1;
  p.right[0] = INFINITY;
  EXPECT_FALSE(solve());
}

TEST_F(SaddleCodes, LargeOnesAreLeftToTheKernel) {
  const Problem many = problem(26, 13, false);
  EXPECT_FALSE(SaddleCode::make({many.a, many.c, nullptr, nullptr, {}}));
  Problem p = problem(3, 1, false);
  p.a = pattern(3, 3, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
  EXPECT_FALSE(SaddleCode::make({p.a, p.c, nullptr, nullptr, {0}}));
}

}  // namespace
}  // namespace hinge
