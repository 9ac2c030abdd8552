// What expressions cost: `explicit` (order 8, from expressions) beside DOP853 with projection written by hand for one
// mechanism at a time, in one process, on
//
//   pendulum         mass 1 on a rod of 1, gravity 9.81, from the horizontal at rest, until t = 10
//   double pendulum  the double spherical pendulum, started out of the plane, until t = 10
//   Andrews          the squeezing mechanism of the test set for IVP solvers, until t = 0.03
//
// The programs by hand have the accelerations  [M G^T; G 0] [a; lambda] = [f; -c]  spelt out in C++, with the Schur
// complement G M^-1 G^T where M is constant, and project positions (one or two Newton steps with the matrix of the last
// stage) and velocities after every step; tolerances, error norm and step control are those of `explicit`, so the steps
// are the same and the times can be compared. Errors are against runs with a tolerance a thousand times smaller.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dop853_by_hand.hpp"
#include "mechanisms.hpp"

namespace {

using namespace bench;
using Clock = std::chrono::steady_clock;

// ------------------------------------------------------------------------------------------------- comparison

double seconds(const std::function<void()>& work) {
  double best = 1e9;
  for (int k = 0; k < 30; ++k) {
    const auto begin = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

// Largest difference relative to the largest number.
double difference(const double* a, const double* b, int n) {
  double most = 0, size = 0;
  for (int i = 0; i < n; ++i) most = std::max(most, std::abs(a[i] - b[i])), size = std::max(size, std::abs(b[i]));
  return most / size;
}

template <class Hand>
void compare(const char* title, const hinge::SystemBuilder& builder, std::vector<double> q, std::vector<double> v,
             double end, const std::vector<double>& tolerances) {
  const auto system = builder.build();
  const auto ours = [&](double tolerance, hinge::State& state, long& steps) {
    // bound once, as a user with many runs would: what is timed is the integration
    auto method = hinge::explicit_runge_kutta({.order = 8}).bind(system, {}, {{tolerance, tolerance}});
    const hinge::State begin = state;
    const auto run = [&] {
      state = begin;
      if (!method->start(state)) std::abort();
      const long before = method->counters().steps;
      while (state.t < end)
        if (const auto result = method->advance(state, end); !result)
          std::fprintf(stderr, "%s\n", result.reason.c_str()), std::abort();
      steps = method->counters().steps - before;
    };
    return seconds(run);
  };
  const auto begin = [&] {
    hinge::State state;
    state.y = q, state.z = v, state.psi.assign(static_cast<std::size_t>(system->npsi()), 0.0);
    return state;
  };
  const auto hand = [&](double tolerance, ByHand<Hand>& result) {
    const auto run = [&] {
      result = ByHand<Hand>{};
      std::copy(q.begin(), q.end(), result.x.begin());
      std::copy(v.begin(), v.end(), result.x.begin() + Hand::n);
      result.run(end, tolerance, end * 1e-4);
    };
    return seconds(run);
  };
  const double finest = tolerances.back() > 1e-10 ? tolerances.back() * 1e-3 : 1e-13;
  hinge::State reference = begin();
  long steps = 0;
  ours(finest, reference, steps);
  std::vector<double> exact = reference.y;
  exact.insert(exact.end(), reference.z.begin(), reference.z.end());
  for (const double tolerance : tolerances) {
    hinge::State state = begin();
    const double mine = ours(tolerance, state, steps);
    std::vector<double> x = state.y;
    x.insert(x.end(), state.z.begin(), state.z.end());
    ByHand<Hand> by_hand;
    const double theirs = hand(tolerance, by_hand);
    const int n = 2 * Hand::n;
    std::printf("%-16s %8.0e %10.3f %6ld %9.1e %12.3f %6ld %9.1e %8.2f\n", title, tolerance, mine * 1e3, steps,
                difference(x.data(), exact.data(), n), theirs * 1e3, by_hand.steps,
                difference(by_hand.x.data(), exact.data(), n), mine / theirs);
  }
}

}  // namespace

// With the beginning of a name: this mechanism alone.
int main(int count, char** words) {
  const std::string only = count > 1 ? words[1] : "";
  const auto wanted = [&](const std::string& name) { return name.rfind(only, 0) == 0; };
  std::printf("%-16s %8s %10s %6s %9s %12s %6s %9s %8s\n", "", "tol", "explicit", "steps", "error", "by hand", "steps",
              "error", "ratio");
  std::printf("%-16s %8s %10s %6s %9s %12s\n", "", "", "ms", "", "", "ms");
  const std::vector<double> tolerances = {1e-6, 1e-9, 1e-11};
  if (wanted("pendulum")) compare<PendulumByHand>("pendulum", pendulum(), {1, 0}, {0, 0}, 10, tolerances);
  if (wanted("double pendulum"))
    compare<DoublePendulumByHand>("double pendulum", double_pendulum(), {1, 0, 0, 1, 0, 1}, {0, 0, 0.5, -0.3, 0, 0.5},
                                  10, tolerances);
  const auto q = Andrews::start;
  if (wanted("Andrews"))
    compare<AndrewsByHand>("Andrews", andrews(), {q.begin(), q.end()}, std::vector<double>(7, 0.0), 0.03, tolerances);
}
