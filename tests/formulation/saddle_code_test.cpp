// Machine code for small saddle-point matrices solves them as SaddleKernel does, or says that it does not.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "formulation/saddle_code.hpp"

namespace hinge::saddle_code_test {
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

  // Bodies of six velocities on a tree that is drawn, three to five constraints with the body before, and some loops.
  Problem tree(int bodies, int loops) {
    Problem p;
    std::vector<std::vector<int>> a, c;
    const auto whole = [&](int n) { return static_cast<int>((draw() + 1) / 2 * n); };
    const auto joint = [&](int body, int other) {
      const int rows = 3 + whole(3);
      for (int i = 0; i < rows; ++i) {
        c.emplace_back();
        for (const int b : {std::min(body, other), std::max(body, other)})
          for (int j = 0; b >= 0 && j < 6; ++j)
            if (j == i || j > 2) c.back().push_back(6 * b + j);
      }
    };
    for (int b = 0; b < bodies; ++b) {
      for (int i = 0; i < 6; ++i) a.push_back({6 * b + i});
      joint(b, b - 1 - whole(2));
    }
    for (int k = 0; k < loops; ++k) c.push_back({6 * k + 3, 6 * (bodies - 1) + 4});
    for (const auto& row : a) p.mass.push_back(row[0] % 6 < 3 ? 2 : 2 + draw());
    p.a = pattern(6 * bodies, 6 * bodies, a);
    p.c = pattern(static_cast<int>(c.size()), 6 * bodies, c);
    p.b = pattern(0, 0, {});
    fill(p);
    return p;
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

TEST_F(SaddleCodes, BodiesOnTreesAndLoopsAreSolvedAsTheKernelDoes) {
  for (const int bodies : {4, 6, 9, 20})
    for (const int loops : {0, 1, 3})
      for (const bool constant : {true, false}) {
        SCOPED_TRACE(bodies);
        Problem p = tree(bodies, loops);
        ASSERT_GT(p.c.rows, 12);
        const int count = settled(p, true, constant);
        EXPECT_GT(count, 10);  // random rows are near dependent ones more often than those of joints
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

TEST_F(SaddleCodes, WhatCodeIsNotForIsLeftToTheKernel) {
  const Problem pairs = problem(26, 13, true);
  EXPECT_FALSE(SaddleCode::make({pairs.a, pairs.c, nullptr, nullptr, {}}));
  const Problem any = problem(26, 13, false);
  EXPECT_FALSE(SaddleCode::make({any.a, any.c, &any.b, nullptr, {}}));  // reactions that are not -C^T psi
  const Problem full = problem(120, 80, false);
  EXPECT_FALSE(SaddleCode::make({full.a, full.c, nullptr, nullptr, {}}));  // too long
  std::vector<std::vector<int>> path;
  for (int i = 0; i < 20; ++i) path.push_back({i, i + 1});
  const Problem line = problem(21, 1, false);
  EXPECT_FALSE(SaddleCode::make({line.a, pattern(20, 21, path), nullptr, nullptr, {}}));  // tridiagonal
  Problem p = problem(3, 1, false);
  p.a = pattern(3, 3, {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
  EXPECT_FALSE(SaddleCode::make({p.a, p.c, nullptr, nullptr, {0}}));
}

}  // namespace
}  // namespace hinge::saddle_code_test
