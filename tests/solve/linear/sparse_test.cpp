#include "solve/linear/sparse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "solve/linear/random_matrix.hpp"

namespace hinge::sparse_test {
namespace {

using trial::dense;
using trial::random_pattern;
using trial::random_permutation;
using trial::random_values;
using trial::random_vector;
using trial::uniform;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

TEST(Pattern, DenseListsEveryColumnOfEveryRow) {
  const Pattern p = Pattern::dense(2, 3);
  EXPECT_EQ(p.row_start, (std::vector{0, 3, 6}));
  EXPECT_EQ(p.column, (std::vector{0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(Pattern::dense(0, 3).empty());
  EXPECT_TRUE(Pattern::dense(3, 0).empty());
}

TEST(PatternBuilder, FindsEveryEntryOfRandomListsInItsPlace) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = 1 + static_cast<int>(random() % 40), columns = 1 + static_cast<int>(random() % 40);
    PatternBuilder builder(rows, columns);
    std::vector<std::pair<int, int>> added;
    for (int k = static_cast<int>(random() % 200); k > 0; --k) {
      added.emplace_back(static_cast<int>(random() % at(rows)), static_cast<int>(random() % at(columns)));
      builder.add(added.back().first, added.back().second);
    }
    std::vector<int> place;
    const Pattern p = builder.build(place);
    std::vector<std::pair<int, int>> sorted = added, found;
    std::ranges::sort(sorted);
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (int i = 0; i < rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i + 1)]; ++k) found.emplace_back(i, p.column[at(k)]);
    EXPECT_EQ(found, sorted);
    for (std::size_t k = 0; k < added.size(); ++k) EXPECT_EQ(found[at(place[k])], added[k]);
  }
}

TEST(PatternBuilder, SortsEntriesAndSharesPlaces) {
  PatternBuilder builder(3, 3);
  EXPECT_EQ(builder.add(2, 1), 0);
  EXPECT_EQ(builder.add(0, 2), 1);
  EXPECT_EQ(builder.add(2, 0), 2);
  EXPECT_EQ(builder.add(0, 2), 3);
  std::vector<int> place;
  const Pattern p = builder.build(place);
  EXPECT_EQ(p.row_start, (std::vector{0, 1, 1, 3}));
  EXPECT_EQ(p.column, (std::vector{2, 0, 1}));
  EXPECT_EQ(place, (std::vector{2, 0, 1, 0}));
}

TEST(MultiplyAdd, AgreesWithTheDenseProduct) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const int rows = 1 + static_cast<int>(random() % 20), columns = 1 + static_cast<int>(random() % 20);
    const Pattern p = random_pattern(random, rows, columns, 3);
    const std::vector<double> values = random_values(random, p);
    const Eigen::VectorXd x = random_vector(random, columns), start = random_vector(random, rows);
    Eigen::VectorXd y = start;
    multiply_add(p, values.data(), x.data(), -1.5, y.data());
    EXPECT_LT((y - (start - 1.5 * dense(p, values) * x)).lpNorm<Eigen::Infinity>(), 1e-14);  // measured 0
  }
}

TEST(SparseProduct, AgreesWithTheDenseProduct) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const int m = 1 + static_cast<int>(random() % 15), n = 1 + static_cast<int>(random() % 15),
              l = 1 + static_cast<int>(random() % 15);
    const Pattern a = random_pattern(random, m, n, 3), b = random_pattern(random, n, l, 2);
    const SparseProduct product(a, b);
    const std::vector<double> x = random_values(random, a), y = random_values(random, b);
    std::vector<double> z(product.pattern().entries(), std::numeric_limits<double>::quiet_NaN());
    product.multiply(x.data(), y.data(), z.data());
    const Eigen::MatrixXd difference = dense(product.pattern(), z) - dense(a, x) * dense(b, y);
    EXPECT_LT(difference.lpNorm<Eigen::Infinity>(), 1e-14);  // measured 0: the same order of additions
  }
}

TEST(SparseProduct, HasNoEntriesWhereNothingMeets) {
  PatternBuilder left(2, 2), right(2, 2);
  left.add(0, 0);
  right.add(0, 1);
  std::vector<int> place;
  const SparseProduct product(left.build(place), right.build(place));
  EXPECT_EQ(product.pattern().entries(), 1u);
  EXPECT_EQ(product.pattern().column, std::vector{1});
}

/// A matrix of dense regular blocks of the given sizes, rows and columns in one random order.
struct Blocks {
  Pattern pattern;
  std::vector<double> values;
  std::vector<std::vector<int>> rows;  // of each block
};

Blocks random_blocks(std::mt19937& random, const std::vector<int>& sizes) {
  const int n = std::accumulate(sizes.begin(), sizes.end(), 0);
  const std::vector<int> order = random_permutation(random, n);
  PatternBuilder builder(n, n);
  std::vector<double> entries;
  Blocks blocks;
  int first = 0;
  for (const int size : sizes) {
    blocks.rows.emplace_back(order.begin() + first, order.begin() + first + size);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        builder.add(order[at(first + i)], order[at(first + j)]);
        entries.push_back(uniform(random) + (i == j ? 2.0 * size : 0));
      }
    first += size;
  }
  std::vector<int> place;
  blocks.pattern = builder.build(place);
  blocks.values.resize(blocks.pattern.entries());
  for (std::size_t k = 0; k < entries.size(); ++k) blocks.values[at(place[k])] = entries[k];
  return blocks;
}

TEST(BlockInverse, InvertsRandomBlocksInRandomOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<int> sizes;
    for (int k = 0; k < 6; ++k) sizes.push_back(1 + static_cast<int>(random() % 7));
    const Blocks m = random_blocks(random, sizes);
    BlockInverse inverse(m.pattern);
    EXPECT_EQ(inverse.largest(), *std::max_element(sizes.begin(), sizes.end()));
    int entries = 0;
    for (const int size : sizes) entries += size * size;
    ASSERT_EQ(inverse.pattern().entries(), at(entries));
    std::vector<double> values(inverse.pattern().entries());
    ASSERT_TRUE(inverse.compute(m.values.data(), values.data()));
    const int n = m.pattern.rows;
    const Eigen::MatrixXd one = dense(m.pattern, m.values) * dense(inverse.pattern(), values);
    EXPECT_LT((one - Eigen::MatrixXd::Identity(n, n)).lpNorm<Eigen::Infinity>(), 1e-14);  // measured 6e-16
  }
}

TEST(BlockInverse, FindsBlocksThatAreConnectedThroughOthers) {
  // Tridiagonal: one block, though few of its entries are in the pattern; and rows with a zero on the diagonal.
  constexpr int n = 8;
  PatternBuilder builder(n, n);
  for (int i = 0; i + 1 < n; ++i) {
    builder.add(i, i + 1);
    builder.add(i + 1, i);
  }
  std::vector<int> place;
  const Pattern p = builder.build(place);
  BlockInverse inverse(p);
  EXPECT_EQ(inverse.largest(), n);
  std::vector<double> values(inverse.pattern().entries());
  const std::vector<double> ones(p.entries(), 1.0);
  ASSERT_TRUE(inverse.compute(ones.data(), values.data()));
  const Eigen::MatrixXd one = dense(p, ones) * dense(inverse.pattern(), values);
  EXPECT_EQ((one - Eigen::MatrixXd::Identity(n, n)).norm(), 0);  // entries are -1, 0 and 1
}

TEST(BlockInverse, NamesARowOfTheSingularBlock) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    Blocks m = random_blocks(random, {1, 3, 2, 4, 1, 5});
    const std::vector<int>& rows = m.rows[random() % m.rows.size()];
    // The first row of the block becomes the sum of the others (zero in a block of one).
    const auto value = [&](int i, int j) -> double& {
      for (int k = m.pattern.row_start[at(i)];; ++k)
        if (m.pattern.column[at(k)] == j) return m.values[at(k)];
    };
    for (const int column : rows) {
      double sum = 0;
      for (std::size_t i = 1; i < rows.size(); ++i) sum += value(rows[i], column);
      value(rows[0], column) = sum;
    }
    BlockInverse inverse(m.pattern);
    std::vector<double> values(inverse.pattern().entries());
    EXPECT_FALSE(inverse.compute(m.values.data(), values.data()));
    EXPECT_NE(std::find(rows.begin(), rows.end(), inverse.singular_row()), rows.end());
  }
}

TEST(Pattern, TransposeHasEveryEntryOnceAndInOrder) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = static_cast<int>(random() % 7), columns = static_cast<int>(random() % 7);
    PatternBuilder there(rows, columns), back(columns, rows);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (random() % 3 == 0) there.add(i, j), back.add(j, i);
    std::vector<int> place, from;
    const Pattern p = there.build(place), expected = back.build(place), t = transposed(p, from);
    EXPECT_EQ(t.rows, columns);
    EXPECT_EQ(t.columns, rows);
    EXPECT_EQ(t.row_start, expected.row_start);
    EXPECT_EQ(t.column, expected.column);
    ASSERT_EQ(from.size(), p.entries());
    for (int j = 0; j < columns; ++j)
      for (int k = t.row_start[at(j)]; k < t.row_start[at(j + 1)]; ++k) {
        const int i = t.column[at(k)], e = from[at(k)];
        EXPECT_TRUE(e >= p.row_start[at(i)] && e < p.row_start[at(i + 1)] && p.column[at(e)] == j);
      }
  }
}

TEST(BlockInverse, RowWithoutEntriesIsSingular) {
  PatternBuilder builder(2, 2);
  builder.add(0, 0);
  std::vector<int> place;
  BlockInverse inverse(builder.build(place));
  const double values[] = {1};
  std::vector<double> out(inverse.pattern().entries());
  EXPECT_FALSE(inverse.compute(values, out.data()));
  EXPECT_EQ(inverse.singular_row(), 1);
}

TEST(BlockInverse, RefusesNumbersThatAreNotFinite) {
  std::mt19937 random(5);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Blocks m = random_blocks(random, {1, 3, 4});
    BlockInverse inverse(m.pattern);
    std::vector<double> out(inverse.pattern().entries());
    for (double& entry : m.values) {
      const double kept = std::exchange(entry, bad);
      EXPECT_FALSE(inverse.compute(m.values.data(), out.data()));
      entry = kept;
    }
    EXPECT_TRUE(inverse.compute(m.values.data(), out.data()));
  }
}

}  // namespace
}  // namespace hinge::sparse_test
