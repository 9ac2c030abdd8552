// Loops over threads whose results do not depend on how many there are: ranges are shared out, and what is summed is
// summed in blocks of a fixed size, one after the other.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

// The thread sanitizer cannot look into TBB's library, neither how its threads wait for each other nor who owns a task.
// Under it the same ranges go to threads of the standard library, so that every access of the work itself is judged.
#if defined(__SANITIZE_THREAD__)  // g++
#define HINGE_THREAD_SANITIZER 1
#elif defined(__has_feature)  // clang
#if __has_feature(thread_sanitizer)
#define HINGE_THREAD_SANITIZER 1
#endif
#endif

namespace hinge {

/// Kept from call to call: to make one costs more than many a loop. No larger than the machine: TBB has no more threads
/// than that, and says so to everyone.
inline tbb::task_arena& arena_of(int threads) {
  static const int most = std::max(2, tbb::info::default_concurrency());
  threads = std::min(threads, most);
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

/// How many threads the loops of this thread may take: 1, but for the time of a step whose method was given more.
inline int& threads_here() {
  thread_local int threads = 1;
  return threads;
}
class UseThreads {
 public:
  explicit UseThreads(int threads) : before_(std::exchange(threads_here(), threads)) {}
  ~UseThreads() { threads_here() = before_; }
  UseThreads(const UseThreads&) = delete;
  UseThreads& operator=(const UseThreads&) = delete;

 private:
  int before_;
};
/// work(i) for i < n, on the threads that there are here.
template <class Work>
void shared_loop(int n, Work&& work, int grain = 512) {
  parallel_ranges(
      n, threads_here(),
      [&](int first, int last) {
        for (int i = first; i < last; ++i) work(i);
      },
      grain);
}

/// to = from
inline void shared_copy(const std::vector<double>& from, std::vector<double>& to) {
  constexpr int grain = 16384;
  to.resize(from.size());
  parallel_ranges(
      static_cast<int>(from.size()), threads_here(),
      [&](int first, int last) { std::copy(from.begin() + first, from.begin() + last, to.begin() + first); }, grain);
}
/// The largest of value(i), i < n; not negative, in any order.
template <class Value>
double shared_largest(int n, Value&& value) {
  std::atomic<double> largest = 0;
  parallel_ranges(n, threads_here(), [&](int first, int last) {
    double most = 0;
    for (int i = first; i < last; ++i) most = std::max(most, value(i));
    for (double seen = largest; most > seen && !largest.compare_exchange_weak(seen, most);) continue;
  });
  return largest;
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

/// Ranges that are done one stage after the other, those of a stage at the same time. All threads go through the stages
/// together. A stage is over when all of it is done, whoever did it: a thread that comes late finds nothing left to do,
/// and nobody waits for one that never comes.
class ParallelStages {
 public:
  /// work(s, first, last) on parts of [0, count(s)), s < stages, of `portion` at least.
  template <class Count, class Work>
  void run(int threads, int stages, int portion, Count&& count, Work&& work) {
    if (threads <= 1) {
      for (int s = 0; s < stages; ++s)
        if (const int n = count(s); n > 0) work(s, 0, n);
      return;
    }
    if (stages_.size() < static_cast<std::size_t>(stages))
      stages_ = std::vector<Stage>(static_cast<std::size_t>(stages));
    for (int s = 0; s < stages; ++s)
      stages_[static_cast<std::size_t>(s)].taken = 0, stages_[static_cast<std::size_t>(s)].done = 0;
    on_threads(threads, [&] {
      for (int s = 0; s < stages; ++s)
        take_part(stages_[static_cast<std::size_t>(s)], s, count(s), std::max(portion, count(s) / (8 * threads)), work);
    });
  }

 private:
  struct alignas(64) Stage {
    std::atomic<int> taken = 0, done = 0;
  };

  template <class Work>
  static void take_part(Stage& stage, int s, int n, int portion, Work& work) {
    for (;;) {
      const int first = stage.taken.fetch_add(portion, std::memory_order_relaxed);
      if (first >= n) break;
      const int last = std::min(n, first + portion);
      work(s, first, last);
      stage.done.fetch_add(last - first, std::memory_order_release);
    }
    for (int turns = 0; stage.done.load(std::memory_order_acquire) < n; ++turns)
      if (turns > 300) std::this_thread::yield();
  }

  std::vector<Stage> stages_;
};

/// work(k) for k < n, of different cost: whoever is free takes the next.
template <class Work>
void parallel_parts(int n, int threads, Work&& work) {
  if (threads <= 1 || n <= 1) {
    for (int k = 0; k < n; ++k) work(k);
    return;
  }
  std::atomic<int> taken = 0;
  on_threads(threads < n ? threads : n, [&] {
    for (int k = taken++; k < n; k = taken++) work(k);
  });
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
