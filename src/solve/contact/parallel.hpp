// Loops over threads whose results do not depend on how many there are: ranges are shared out, and what is summed is
// summed in blocks of a fixed size, one after the other.
#pragma once

#include <memory>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

// The thread sanitizer cannot look into TBB's library, neither how its threads wait for each other nor who owns a task.
// Under it the same ranges go to threads of the standard library, so that every access of the work itself is judged.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HINGE_THREAD_SANITIZER 1
#include <thread>
#endif
#endif

namespace hinge {

/// Kept from call to call: to make one costs more than many a loop.
inline tbb::task_arena& arena_of(int threads) {
  thread_local int size = 0;
  thread_local std::unique_ptr<tbb::task_arena> arena;
  if (!arena || size != threads) {
    arena = std::make_unique<tbb::task_arena>(threads);
    size = threads;
  }
  return *arena;
}

/// work(first, last) on parts of [0, n); any order, any thread, each index once.
template <class Work>
void parallel_ranges(int n, int threads, Work&& work, int grain = 512) {
  if (threads <= 1 || n <= grain) {
    if (n > 0) work(0, n);
    return;
  }
#ifdef HINGE_THREAD_SANITIZER
  const int parts = n / grain < threads ? n / grain : threads;
  std::vector<std::thread> others;
  for (int k = 1; k < parts; ++k)
    others.emplace_back([&work, n, parts, k] {
      work(static_cast<int>(1L * n * k / parts), static_cast<int>(1L * n * (k + 1) / parts));
    });
  work(0, n / parts);
  for (std::thread& other : others) other.join();
#else
  arena_of(threads).execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, n, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<int>& range) { work(range.begin(), range.end()); }, tbb::static_partitioner());
  });
#endif
}

/// work() on as many threads at once, or on fewer one after the other.
template <class Work>
void on_threads(int threads, Work&& work) {
#ifdef HINGE_THREAD_SANITIZER
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back([&work] { work(); });
  work();
  for (std::thread& other : others) other.join();
#else
  arena_of(threads).execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, threads, 1), [&](const tbb::blocked_range<int>&) { work(); },
        tbb::simple_partitioner());
  });
#endif
}

/// Sum over [0, n) of part(first, last), in blocks that do not depend on the threads.
template <class Part>
double parallel_sum(int n, int threads, Part&& part) {
  constexpr int block = 1024;
  const int blocks = (n + block - 1) / block;
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  parallel_ranges(
      blocks, threads,
      [&](int first, int last) {
        for (int b = first; b < last; ++b)
          sums[static_cast<std::size_t>(b)] = part(b * block, b * block + block < n ? b * block + block : n);
      },
      1);
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

}  // namespace hinge
