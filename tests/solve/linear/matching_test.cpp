// Claims about matchings: what the pattern of equations alone says.
#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "solve/linear/matching.hpp"

namespace hinge::matching_test {
namespace {

Pattern pattern_of(int rows, int columns, const std::vector<std::vector<int>>& lists) {
  Pattern p{rows, columns, {0}, {}};
  for (const auto& list : lists) {
    p.column.insert(p.column.end(), list.begin(), list.end());
    p.row_start.push_back(static_cast<int>(p.column.size()));
  }
  return p;
}

// By trying everything.
struct Best {
  int pairs = 0, weight = -1;  // largest weight of a full one; -1 where there is none
};
Best best_by_trying(const Pattern& p, const std::vector<int>& weight) {
  std::vector<int> columns(static_cast<std::size_t>(p.columns));
  std::iota(columns.begin(), columns.end(), 0);
  Best best;
  do {
    int pairs = 0, sum = 0;
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k)
        if (p.column[static_cast<std::size_t>(k)] == columns[i]) ++pairs, sum += weight[static_cast<std::size_t>(k)];
    best.pairs = std::max(best.pairs, pairs);
    if (pairs == p.rows) best.weight = std::max(best.weight, sum);
  } while (std::next_permutation(columns.begin(), columns.end()));
  return best;
}

TEST(Matching, IsAsLargeAndAsHeavyAsAnyOther) {
  std::mt19937 random(5);
  int full = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + static_cast<int>(random() % 5);
    std::vector<std::vector<int>> lists(static_cast<std::size_t>(n));
    std::vector<int> weight;
    for (auto& list : lists)
      for (int j = 0; j < n; ++j)
        if (random() % 5 < 2) list.push_back(j), weight.push_back(static_cast<int>(random() % 3));
    const Pattern p = pattern_of(n, n, lists);
    const Best best = best_by_trying(p, weight);
    const Matching m = maximum_matching(p);
    ASSERT_EQ(m.size, best.pairs);
    if (best.weight < 0) continue;
    ++full;
    const Transversal t = best_transversal(p, weight);
    int value = 0;
    for (const int d : t.d) value += d;
    for (const int c : t.c) value -= c;
    EXPECT_EQ(value, best.weight);  // the value of the dual problem is that of the transversal
    int lowest = 1;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      lowest = std::min(lowest, t.c[i]);
      for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        EXPECT_GE(t.d[static_cast<std::size_t>(p.column[at])] - t.c[i], weight[at]);
      }
    }
    EXPECT_EQ(lowest, 0);
  }
  EXPECT_GT(full, 50);
}

TEST(Matching, NamesTheOverAndTheUnderdeterminedPart) {
  // rows 0, 1 and 2 know columns 0 and 1 only; row 3 alone is left for columns 2 and 3
  const Pattern p = pattern_of(4, 4, {{0, 1}, {0}, {1}, {0, 2, 3}});
  const Matching m = maximum_matching(p);
  EXPECT_EQ(m.size, 3);
  const SingularParts parts = singular_parts(p, m);
  EXPECT_EQ(parts.over_rows, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(parts.over_columns, (std::vector<int>{0, 1}));
  EXPECT_EQ(parts.under_rows, (std::vector<int>{3}));
  EXPECT_EQ(parts.under_columns, (std::vector<int>{2, 3}));
}

TEST(Matching, BlocksNeedOnlyThoseBeforeThem) {
  const Pattern p = pattern_of(5, 5, {{0, 1}, {0, 1}, {1, 2}, {2, 3, 4}, {3, 4, 0}});
  const Matching m = maximum_matching(p);
  ASSERT_EQ(m.size, 5);
  const auto blocks = triangular_blocks(p, m);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0], (std::vector<int>{0, 1}));
  EXPECT_EQ(blocks[1], (std::vector<int>{2}));
  EXPECT_EQ(blocks[2], (std::vector<int>{3, 4}));
}

}  // namespace
}  // namespace hinge::matching_test
