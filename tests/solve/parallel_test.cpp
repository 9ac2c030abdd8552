// Loops over threads: every index once, stages in order, sums that do not depend on how many threads there are.
#include <atomic>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "solve/parallel.hpp"

namespace hinge::parallel_test {
namespace {

constexpr int some_threads[] = {1, 2, 3, 5};

TEST(ThreadLoops, TakeEveryIndexOnce) {
  for (const int threads : some_threads) {
    std::vector<int> ranges(5000), parts(37);
    parallel_ranges(
        5000, threads,
        [&](int first, int last) {
          for (int i = first; i < last; ++i) ++ranges[static_cast<std::size_t>(i)];
        },
        64);
    parallel_parts(37, threads, [&](int k) { ++parts[static_cast<std::size_t>(k)]; });
    EXPECT_EQ(ranges, std::vector<int>(5000, 1));
    EXPECT_EQ(parts, std::vector<int>(37, 1));
  }
}

// A stage sees all that the stages before it did: x_i <- x_(i-1) + x_(i+1), from one array into the other.
TEST(ThreadLoops, StagesFollowEachOther) {
  constexpr int n = 700, stages = 40;
  const auto after = [&](int threads) {
    std::vector<double> both[2];
    for (auto& x : both) x.resize(n);
    for (int i = 0; i < n; ++i) both[0][static_cast<std::size_t>(i)] = std::sin(i);
    ParallelStages all;
    for (int again = 0; again < 2; ++again)  // stages are used again
      all.run(
          threads, stages, 8, [&](int s) { return s % 5 == 4 ? 0 : n; },
          [&](int s, int first, int last) {
            const int steps = s - s / 5;  // without those that are empty
            const std::vector<double>& from = both[steps % 2];
            std::vector<double>& to = both[1 - steps % 2];
            for (int i = first; i < last; ++i)
              to[static_cast<std::size_t>(i)] =
                  from[static_cast<std::size_t>((i + n - 1) % n)] + 0.5 * from[static_cast<std::size_t>((i + 1) % n)];
          });
    return both[0];
  };
  const std::vector<double> one = after(1);
  EXPECT_NE(one[3], std::sin(3));
  for (const int threads : some_threads) EXPECT_EQ(after(threads), one);
}

TEST(ThreadLoops, TheLargestIsFoundByAnyNumber) {
  for (const int threads : some_threads) {
    const UseThreads use(threads);
    EXPECT_EQ(shared_largest(10000, [](int i) { return std::abs(i - 7000.0); }), 7000.0);
    EXPECT_EQ(shared_largest(0, [](int) { return 1.0; }), 0.0);
  }
  EXPECT_EQ(threads_here(), 1);
}

}  // namespace
}  // namespace hinge::parallel_test
