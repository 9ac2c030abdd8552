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

#include "solve/newton/settling.hpp"

namespace hinge {

/// How long an iteration matrix is kept.
struct MatrixPolicy {
  double renew_above = 0;  ///< the contraction above which it is made anew
  bool full = false;       ///< in every iteration, until the contraction is below that
  bool quadratic = false;  ///< it is exact, always: then a small increment that does not shrink fast is rounding
  double noise = 1;        ///< units of round-off that the equations themselves are uncertain by
};

class Convergence {
 public:
  explicit Convergence(int limit, const MatrixPolicy& policy = {})
      : limit_(limit), policy_(policy), noise_(policy.noise) {}

  /// A new solution. What was learnt about rounding is kept.
  void begin() {
    const double noise = next_noise();
    forget();
    noise_ = noise;
  }
  void use(const MatrixPolicy& policy) { policy_ = policy; }
  void forget() { *this = Convergence(limit_, policy_); }

  /// `size` is the increment in units of round-off.
  NewtonVerdict judge(double size, double = 1) {
    ++count_;
    size /= noise_;
    const double previous = std::exchange(last_, size);
    if (!std::isfinite(size)) return NewtonVerdict::failed;
    if (size <= 1) return NewtonVerdict::converged;
    double left = std::numeric_limits<double>::infinity();  // error after this increment
    if (count_ == 1) {
      first_ = size;
    } else {
      if (count_ == 2) first_contraction_ = size / previous;
      // One contraction proves little: the first increments remove what the matrix knows exactly. Two are believed.
      const double before = std::exchange(theta_, size / previous);
      const double theta = std::max(theta_, before);
      if (before > 0 && theta < 1) left = theta / (1 - theta) * size;
      if (safety * left <= 1) return NewtonVerdict::converged;
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
    if (at_rounding || stagnated_) return NewtonVerdict::converged;
    // What creeps within some units of rounding to the very end has an error that is known, and small.
    if (count_ >= limit_ && fresh_ && size * noise_ < creeping_level && left * noise_ <= creeping_left)
      return NewtonVerdict::converged;
    if (size > diverging * first_ || count_ >= limit_) return NewtonVerdict::failed;
    at_quadratic_rounding_ = policy_.quadratic && count_ > 4 && theta_ > 0.25 && size * noise_ < stagnation_level;
    return at_quadratic_rounding_ ? NewtonVerdict::converged : NewtonVerdict::go_on;
  }

  /// The iteration matrix was renewed: contractions seen so far say nothing about the next.
  void matrix_renewed() {
    theta_ = 0;
    fresh_ = true;
  }
  /// Should the matrix be renewed?
  bool renew() const {
    if (policy_.full) return count_ < 2 || theta_ > policy_.renew_above;
    return theta_ > policy_.renew_above && (!fresh_ || last_ > far_from_rounding);
  }

  /// The last increment in units of what ends the iteration at once.
  double last_relative() const { return last_; }

  int count() const { return count_; }
  bool exhausted() const { return count_ >= limit_; }
  /// Of the second increment against the first; 0 if the first was enough. With exact derivatives at both, up to 1/4
  /// means that the solution found is the only one near the first guess (Newton and Kantorovich).
  double first_contraction() const { return first_contraction_; }
  /// Last observed contraction, 0 before the second increment.
  double theta() const { return theta_; }
  /// The last increment, in units of what increments of earlier solutions could not get below.
  double last() const { return last_; }
  /// Units of round-off that increments could not get below.
  double noise() const { return noise_; }

 private:
  // Learnt where increments stagnated, slowly forgotten where they did not.
  double next_noise() const {
    if (count_ == 0) return noise_;
    if (at_quadratic_rounding_) return std::max(noise_, 2 * last_ * noise_);
    if (stagnated_) return std::clamp(2 * last_ * noise_, 1.0, 0.1 * stagnation_level);
    return std::max(policy_.noise, 0.95 * noise_);
  }

  // In units of round-off: increments this small that do not shrink are rounding for certain.
  static constexpr double rounding_level = 4;
  // Larger ones must be seen to stagnate; ill-conditioned constraints (a chain of 10,000 links) magnify rounding.
  static constexpr double stagnation_level = 1e5;
  static constexpr double diverging = 1e3;
  static constexpr double creeping_level = 64, creeping_left = 1e4;
  // A matrix that is new already is made once more only where this much is left to be gained.
  static constexpr double far_from_rounding = 1e4;
  // A contraction seen once is an estimate, and often a flattering one.
  static constexpr double safety = 30;

  int limit_;
  MatrixPolicy policy_;
  double noise_;
  bool stagnated_ = false, at_quadratic_rounding_ = false, fresh_ = false;
  int count_ = 0;
  double last_ = 0, theta_ = 0, first_ = 0, first_contraction_ = 0;
  std::array<double, 5> recent_{};
};

}  // namespace hinge
