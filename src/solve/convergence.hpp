// When to stop an iteration whose increments are all that is known.
//
// Increments are measured relative to their own round-off: 1 means "as large as rounding makes them anyway". With the
// contraction theta = |d_k| / |d_{k-1}| the error left after increment d_k is about theta / (1 - theta) |d_k|.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hinge {

class Convergence {
 public:
  enum class Verdict { go_on, converged, failed };

  explicit Convergence(int limit) : limit_(limit) {}

  /// `size` is the increment in units of round-off.
  Verdict judge(double size) {
    ++count_;
    if (!std::isfinite(size)) return Verdict::failed;
    const double previous = std::exchange(last_, size);
    if (size <= 1) return Verdict::converged;
    if (count_ == 1) {
      first_ = size;
    } else {
      theta_ = size / previous;
      if (theta_ < 1 && theta_ / (1 - theta_) * size <= 1) return Verdict::converged;
    }
    // Stagnation: increments that stopped shrinking while they are small are rounding, not error. Rounding does not
    // grow steadily, divergence does; and a slow but steady contraction is neither.
    stalled_ = size < 0.9 * smallest_ ? 0 : stalled_ + 1;
    smallest_ = std::min(smallest_, size);
    const bool rounding = size < stagnation_level && theta_ <= 2;
    if (stalled_ >= 2 && rounding) return Verdict::converged;
    if (size > diverging * first_) return Verdict::failed;
    return count_ < limit_ ? Verdict::go_on : rounding ? Verdict::converged : Verdict::failed;
  }

  int count() const { return count_; }
  /// Last observed contraction, 0 before the second increment.
  double theta() const { return theta_; }
  double last() const { return last_; }

 private:
  // In units of round-off (about 1e-15): relative increments of 1e-9 that do not shrink are accepted, larger not.
  static constexpr double stagnation_level = 1e6;
  static constexpr double diverging = 1e3;
  // A contraction seen once is an estimate, and often a flattering one.
  static constexpr double safety = 10;

  int limit_, count_ = 0, stalled_ = 0;
  double last_ = 0, theta_ = 0, first_ = 0, smallest_ = std::numeric_limits<double>::infinity();
};

}  // namespace hinge
