// Times of steps of given length: start + k h, not sums, which collect rounding.
//
// The last step is fitted. One so short that rounding would rule it (eps |y| / h^2 enters the multipliers) is merged
// with the one before. After an event that has changed the motion, a shorter step leads back to these times.
#pragma once

#include <cmath>
#include <limits>

namespace hinge {

/// Steps are counted exactly up to here.
inline constexpr double most_steps = 1e15;

struct Grid {
  double start = 0, h = 0;
  double end = INFINITY;
  long count = std::numeric_limits<long>::max();  ///< of steps until the end
  long k = 0;                                     ///< of them made

  /// Steps from `start` to `end`; a number, since there may be too many.
  static double steps_between(double start, double end, double h) {
    return std::fmax(std::ceil((end - start) / h - 1e-6), end - start > 1e-9 * h ? 1.0 : 0.0);
  }
  double time(long n) const { return start + static_cast<double>(n) * h; }

  struct Step {
    double from, to, length;
  };
  /// The next one, where the motion is at `now`.
  Step next(double now) {
    for (;; ++k) {
      const double from = std::abs(now - time(k)) > 1e-9 * h ? now : time(k);
      const double to = k + 1 == count ? end : time(k + 1);
      const double rest = to - from;
      if (rest < 1e-6 * h && k + 1 < count) continue;  // an event just before this time: go on to the next
      return {from, to, std::abs(rest - h) > 1e-9 * h ? rest : h};
    }
  }
};

}  // namespace hinge
