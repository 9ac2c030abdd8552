// How the benchmarks measure: processor time, medians, and the one option they all know.
#pragma once

#include <algorithm>
#include <ctime>
#include <string_view>
#include <vector>

namespace bench {

/// Processor time of this process in seconds: unlike the wall clock it does not count what other processes do.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Processor time of one call.
template <class Work>
double time_of(Work&& work) {
  const double before = cpu_seconds();
  work();
  return cpu_seconds() - before;
}

template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Processor time of one call, as the median of several batches that are long enough for the clock.
template <class Work>
double time_of_short(Work&& work, double batch_seconds = 0.02, int batches = 5) {
  long calls = 1;
  double elapsed = 0;
  const auto batch = [&] {
    for (long k = 0; k < calls; ++k) work();
  };
  while ((elapsed = time_of(batch)) < batch_seconds && calls < 1'000'000'000)
    calls *= elapsed < batch_seconds / 8 ? 8 : 2;
  std::vector<double> times;
  for (int k = 0; k < batches; ++k) times.push_back(time_of(batch) / static_cast<double>(calls));
  return median(times);
}

/// Was `--quick` given? Then fewer and lighter settings are run.
inline bool quick(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char* argument) { return std::string_view(argument) == "--quick"; });
}

}  // namespace bench
