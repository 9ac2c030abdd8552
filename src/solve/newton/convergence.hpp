// When to stop an iteration whose increments are all that is known.
//
// Increments are measured relative to their own round-off: 1 means "as large as rounding makes them anyway". With the
// contraction theta = |d_k| / |d_{k-1}| the error left after increment d_k is about theta / (1 - theta) |d_k|.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

namespace hinge {

class Convergence {
 public:
  enum class Verdict { go_on, converged, failed };

  /// `noise`: how many units of round-off increments of earlier steps could not get below; see next_noise().
  explicit Convergence(int limit, double noise = 1) : limit_(limit), noise_(noise) {}

  /// `size` is the increment in units of round-off.
  Verdict judge(double size) {
    ++count_;
    size /= noise_;
    if (!std::isfinite(size)) return Verdict::failed;
    const double previous = std::exchange(last_, size);
    if (size <= 1) return Verdict::converged;
    double left = std::numeric_limits<double>::infinity();  // error after this increment
    if (count_ == 1) {
      first_ = size;
    } else {
      if (count_ == 2) first_contraction_ = size / previous;
      // One contraction proves little: the first increments remove what the matrix knows exactly. Two are believed.
      const double before = std::exchange(theta_, size / previous);
      const double theta = std::max(theta_, before);
      if (before > 0 && theta < 1) left = theta / (1 - theta) * size;
      if (safety * left <= 1) return Verdict::converged;
    }
    // Stagnation: increments that go up and down within a narrow band are rounding, not error. A steady decrease has no
    // rises, a steady growth leaves the band. With an old matrix slow convergence looks the same, so that does not
    // count.
    std::shift_left(recent_.begin(), recent_.end(), 1);
    recent_.back() = size;
    const auto first_known = recent_.end() - std::min<std::ptrdiff_t>(count_, std::ssize(recent_));
    int rises = 0;
    for (auto x = first_known; x + 1 < recent_.end(); ++x) rises += x[1] >= x[0] ? 1 : 0;
    const auto [low, high] = std::minmax_element(first_known, recent_.end());
    const bool at_rounding = size < rounding_level && ((fresh_ && rises > 0) || left <= 1);
    stagnated_ =
        fresh_ && count_ >= std::ssize(recent_) && rises >= 2 && *high < 16 * *low && size * noise_ < stagnation_level;
    if (at_rounding || stagnated_) return Verdict::converged;
    return size > diverging * first_ || count_ >= limit_ ? Verdict::failed : Verdict::go_on;
  }

  /// The iteration matrix was renewed: contractions seen so far say nothing about the next.
  void matrix_renewed() {
    theta_ = 0;
    fresh_ = true;
  }
  bool fresh() const { return fresh_; }

  /// The noise for the next step: learnt where increments stagnated, slowly forgotten where they did not.
  double next_noise() const {
    if (stagnated_) return std::clamp(2 * last_ * noise_, 1.0, 0.1 * stagnation_level);
    return std::max(1.0, 0.95 * noise_);
  }

  int count() const { return count_; }
  /// Of the second increment against the first; 0 if the first was enough. With exact derivatives at both, up to 1/4
  /// means that the solution found is the only one near the first guess (Newton and Kantorovich).
  double first_contraction() const { return first_contraction_; }
  /// Last observed contraction, 0 before the second increment.
  double theta() const { return theta_; }
  double last() const { return last_; }
  /// Should an old matrix be renewed? `limit` is the contraction that is good enough.
  bool slower_than(double limit) const { return theta_ > limit && (!fresh_ || last_ > 1e4); }

 private:
  // In units of round-off: increments this small that do not shrink are rounding for certain.
  static constexpr double rounding_level = 4;
  // Larger ones must be seen to stagnate; ill-conditioned constraints (a chain of 10,000 links) magnify rounding.
  static constexpr double stagnation_level = 1e5;
  static constexpr double diverging = 1e3;
  // A contraction seen once is an estimate, and often a flattering one.
  static constexpr double safety = 30;

  int limit_;
  double noise_;
  bool stagnated_ = false, fresh_ = false;
  int count_ = 0;
  double last_ = 0, theta_ = 0, first_ = 0, first_contraction_ = 0;
  std::array<double, 5> recent_{};
};

}  // namespace hinge
