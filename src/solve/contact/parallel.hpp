// Loops over threads whose results do not depend on how many there are: ranges are shared out, and what is summed is
// summed in blocks of a fixed size, one after the other.
#pragma once

#include <memory>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HINGE_THREAD_SANITIZER 1
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif
#endif

namespace hinge {

/// A thread that calls after_it() sees what others did before their before_it(). TBB sees to that; the thread sanitizer
/// has to be told, because it does not look into TBB's library.
class Order {
 public:
#ifdef HINGE_THREAD_SANITIZER
  void before_it() { __tsan_release(this); }
  void after_it() { __tsan_acquire(this); }
#else
  void before_it() {}
  void after_it() {}
#endif
};

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
  Order start, end;
  start.before_it();
  arena_of(threads).execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, n, static_cast<std::size_t>(grain)),
        [&](const tbb::blocked_range<int>& range) {
          start.after_it();
          work(range.begin(), range.end());
          end.before_it();
        },
        tbb::static_partitioner());
  });
  end.after_it();
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
