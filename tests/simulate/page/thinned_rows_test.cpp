#include "simulate/page/thinned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace hinge::thinned_rows_test {
namespace {

struct Random {
  std::vector<double> t, a, b;
};

// Smooth, with single samples that stand out, and gaps.
Random random_rows(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> part(-1, 1);
  Random rows;
  for (std::size_t k = 0; k < count; ++k) {
    const double t = 0.01 * static_cast<double>(k);
    rows.t.push_back(t);
    rows.a.push_back(std::sin(t) + (engine() % 997 == 0 ? 50 * part(engine) : 0));
    rows.b.push_back(engine() % 11 == 0 ? NAN : part(engine));
  }
  return rows;
}

TEST(ThinnedRows, FewRowsStayAsTheyAre) {
  const Random rows = random_rows(101, 1);
  ThinnedRows thinned(2, 200);
  for (std::size_t k = 0; k < rows.t.size(); ++k) thinned.add(rows.t[k], std::vector{rows.a[k], rows.b[k]});
  thinned.finish();
  EXPECT_FALSE(thinned.thinned());
  EXPECT_EQ(thinned.times(), rows.t);
  EXPECT_EQ(thinned.column(0), rows.a);
}

// Each bucket, worked out from all rows: its times, and both extremes in the order in which they occurred.
TEST(ThinnedRows, EveryBucketHasItsExtremesInTheirOrder) {
  for (const std::size_t count : {1000U, 4097U, 20000U, 20001U, 65536U, 100003U}) {
    const Random rows = random_rows(count, static_cast<unsigned>(count));
    ThinnedRows thinned(2, 1024);
    for (std::size_t k = 0; k < count; ++k) thinned.add(rows.t[k], std::vector{rows.a[k], rows.b[k]});
    thinned.finish();
    ASSERT_LE(thinned.rows(), 1026U);
    ASSERT_EQ(thinned.seen(), count);
    const std::size_t bucket = thinned.bucket();
    if (bucket == 2) continue;
    const std::vector<double> columns[] = {thinned.column(0), thinned.column(1)};
    std::size_t row = 0;
    for (std::size_t first = 0; first < count; first += bucket) {
      const std::size_t last = std::min(first + bucket, count) - 1;
      EXPECT_EQ(thinned.times()[row], rows.t[first]);
      for (int c = 0; c < 2; ++c) {
        const std::vector<double>& x = c == 0 ? rows.a : rows.b;
        double low = NAN, high = NAN;
        std::size_t low_at = 0, high_at = 0;
        for (std::size_t k = first; k <= last; ++k) {
          if (std::isnan(x[k])) continue;
          if (!(low <= x[k])) low = x[k], low_at = k;
          if (!(high >= x[k])) high = x[k], high_at = k;
        }
        if (std::isnan(low) || last == first) continue;
        EXPECT_EQ(columns[c][row], low_at <= high_at ? low : high) << count << ' ' << first;
        EXPECT_EQ(columns[c][row + 1], low_at <= high_at ? high : low) << count << ' ' << first;
      }
      EXPECT_EQ(thinned.times()[row + (last > first ? 1 : 0)], rows.t[last]);
      row += last > first ? 2 : 1;
    }
    EXPECT_EQ(row, thinned.rows());
  }
}

// A million samples, one of which stands out.
TEST(ThinnedRows, AMillionSamplesKeepOneThatStandsOut) {
  ThinnedRows thinned(1, 20000);
  for (std::size_t k = 0; k < 1'000'000; ++k)
    thinned.add(static_cast<double>(k), std::vector{k == 654'321   ? 7.0
                                                    : k == 123'456 ? -3.0
                                                                   : std::sin(1e-4 * static_cast<double>(k))});
  thinned.finish();
  const std::vector<double> x = thinned.column(0);
  EXPECT_EQ(*std::max_element(x.begin(), x.end()), 7);
  EXPECT_EQ(*std::min_element(x.begin(), x.end()), -3);
  EXPECT_LE(x.size(), 20002U);
  EXPECT_EQ(thinned.times().back(), 999'999);
}

}  // namespace
}  // namespace hinge::thinned_rows_test
