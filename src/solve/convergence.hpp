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
      // One contraction proves little: the first increments remove what the matrix knows exactly. Two are believed.
      const double before = std::exchange(theta_, size / previous);
      const double theta = std::max(theta_, before);
      if (before > 0 && theta < 1 && safety * theta / (1 - theta) * size <= 1) return Verdict::converged;
    }
    // Stagnation: increments that stopped shrinking while they are small are rounding, not error.
    since_best_ = size < 0.5 * best_ ? 0 : since_best_ + 1;
    if (since_best_ == 0) best_ = size;
    if (since_best_ >= 4 && size < stagnation_level) return Verdict::converged;
    return size > diverging * first_ || count_ >= limit_ ? Verdict::failed : Verdict::go_on;
  }

  /// The iteration matrix was renewed: contractions seen so far say nothing about the next.
  void matrix_renewed() { theta_ = 0; }

  int count() const { return count_; }
  /// Last observed contraction, 0 before the second increment.
  double theta() const { return theta_; }
  double last() const { return last_; }

 private:
  // In units of round-off: increments a thousand times larger that do not shrink any more are accepted, larger not.
  static constexpr double stagnation_level = 1e3;
  static constexpr double diverging = 1e3;
  // A contraction seen once is an estimate, and often a flattering one.
  static constexpr double safety = 10;

  int limit_, count_ = 0, since_best_ = 0;
  double last_ = 0, theta_ = 0, first_ = 0, best_ = std::numeric_limits<double>::infinity();
};

}  // namespace hinge
