// `taylor`, from expressions, beside DOP853 with projection written by hand, at equal errors: the pendulum, the double
// spherical pendulum, Andrews' mechanism (see explicit_dop853.cpp) and the Fekete problem until t = 10.
//
// Both are run with tolerances from 1e-5 to 1e-14, one after the other in turn, five times, and the median of the CPU
// times counts. Errors are those at the end, relative, against `taylor` with a tolerance of 1e-15. The table below the
// measurements has the ratio of the times at 6, 8, 10 and 12 digits, interpolated in the logarithms.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "dop853_by_hand.hpp"
#include "mechanisms.hpp"

namespace {

using namespace bench;

struct Sample {
  double error, seconds;
  long steps;
};

double cpu() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Seconds of one run, out of as many as take 5 ms.
double seconds(const std::function<void()>& run) {
  const double begin = cpu();
  double now = begin;
  int count = 0;
  for (; now < begin + 5e-3 || count == 0; ++count) {
    run();
    now = cpu();
  }
  return (now - begin) / count;
}

double difference(const double* a, const std::vector<double>& b) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i])), size = std::max(size, std::abs(b[i]));
  return most / size;
}

// Seconds for an error, between the two samples around it; 0 where there are none.
double seconds_for(const std::vector<Sample>& samples, double error) {
  double best = 0;
  for (std::size_t k = 0; k + 1 < samples.size(); ++k) {
    const Sample &a = samples[k], &b = samples[k + 1];
    if (!(a.error >= error && b.error <= error) || !(b.error > 0)) continue;
    const double part = std::log(a.error / error) / std::log(a.error / b.error);
    const double found = a.seconds * std::pow(b.seconds / a.seconds, part);
    best = best == 0 ? found : std::min(best, found);
  }
  return best;
}

template <class Hand>
void compare(const char* title, const hinge::SystemBuilder& builder, const std::vector<double>& q,
             const std::vector<double>& v, double end) {
  const auto system = builder.build();
  hinge::State start;
  start.y = q, start.z = v, start.psi.assign(static_cast<std::size_t>(system->npsi()), 0.0);
  const auto integrate = [&](hinge::Stepper& method, hinge::State& state) {
    state = start;
    if (!method.start(state)) std::abort();
    while (state.t < end)
      if (const auto result = method.advance(state, end); !result)
        std::fprintf(stderr, "%s\n", result.reason.c_str()), std::abort();
  };
  const auto numbers = [](const hinge::State& s) {
    std::vector<double> x = s.y;
    x.insert(x.end(), s.z.begin(), s.z.end());
    return x;
  };
  hinge::State state;
  integrate(*hinge::taylor().bind(system, {}, {{1e-15, 1e-15}}), state);
  const std::vector<double> exact = numbers(state);
  std::vector<Sample> ours, theirs;
  for (int k = 5; k <= 14; ++k) {
    const double tolerance = std::pow(10.0, -k);
    const auto method = hinge::taylor().bind(system, {}, {{tolerance, tolerance}});  // once, as for many runs
    ByHand<Hand> hand;
    const auto by_hand = [&] {
      hand = ByHand<Hand>{};
      std::copy(q.begin(), q.end(), hand.x.begin());
      std::copy(v.begin(), v.end(), hand.x.begin() + Hand::n);
      hand.run(end, tolerance, end * 1e-4);
    };
    std::array<double, 5> mine{}, other{};
    for (std::size_t r = 0; r < mine.size(); ++r) {
      mine[r] = seconds([&] { integrate(*method, state); });
      other[r] = seconds(by_hand);
    }
    const auto median = [](std::array<double, 5>& x) {
      std::sort(x.begin(), x.end());
      return x[2];
    };
    const long before = method->counters().steps;
    integrate(*method, state);
    ours.push_back({difference(numbers(state).data(), exact), median(mine), method->counters().steps - before});
    theirs.push_back({difference(hand.x.data(), exact), median(other), hand.steps});
    std::printf("%-16s %7.0e %10.4f %6ld %9.1e %12.4f %6ld %9.1e\n", title, tolerance, ours.back().seconds * 1e3,
                ours.back().steps, ours.back().error, theirs.back().seconds * 1e3, theirs.back().steps,
                theirs.back().error);
    std::fflush(stdout);
  }
  for (const int digits : {6, 8, 10, 12}) {
    const double error = std::pow(10.0, -digits), mine = seconds_for(ours, error), other = seconds_for(theirs, error);
    if (mine > 0 && other > 0)
      std::printf("%-16s %2d digits: %.4f ms, by hand %.4f ms, ratio %.2f (target %s)\n", title, digits, mine * 1e3,
                  other * 1e3, mine / other,
                  digits >= 12  ? "0.4"
                  : digits >= 8 ? "0.7"
                                : "none");
    else
      std::printf("%-16s %2d digits: not reached by %s\n", title, digits, mine > 0 ? "the one by hand" : "taylor");
  }
}

}  // namespace

// With the beginning of a name: this mechanism alone.
int main(int count, char** words) {
  const std::string only = count > 1 ? words[1] : "";
  const auto wanted = [&](const std::string& name) { return name.rfind(only, 0) == 0; };
  std::printf("%-16s %7s %10s %6s %9s %12s %6s %9s\n", "", "tol", "taylor ms", "steps", "error", "by hand ms", "steps",
              "error");
  if (wanted("pendulum")) compare<PendulumByHand>("pendulum", pendulum(), {1, 0}, {0, 0}, 10);
  if (wanted("double pendulum"))
    compare<DoublePendulumByHand>("double pendulum", double_pendulum(), {1, 0, 0, 1, 0, 1}, {0, 0, 0.5, -0.3, 0, 0.5},
                                  10);
  const auto q = Andrews::start;
  if (wanted("Andrews"))
    compare<AndrewsByHand>("Andrews", andrews(), {q.begin(), q.end()}, std::vector<double>(7, 0.0), 0.03);
  if (wanted("Fekete")) compare<FeketeByHand>("Fekete", fekete(), fekete_start(), std::vector<double>(60, 0.0), 10);
}
