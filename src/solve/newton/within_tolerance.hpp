// When to stop an iteration to a part of a tolerance. Increments are measured in units of that tolerance. With the
// contraction theta the error left after an increment d is theta/(1 - theta) |d| (Hairer and Wanner II, IV.8; Petzold).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/newton/settling.hpp"

namespace hinge {

class WithinTolerance {
 public:
  struct Policy {
    int limit = 0;                                   ///< increments
    double enough = 0;                               ///< the error that may be left
    double diverging_at_once = 2, diverging = 0.99;  ///< the contraction, of the second increment and of later ones
    bool overall = false;   ///< theta is the mean contraction since the first increment, else that of the last two
    bool predicts = true;   ///< from the last solution for the first increment, and whether the limit will be enough
    double rounding = -1;   ///< an increment up to this is the last one, and does not count
    double negligible = 0;  ///< from the second on up to this: need not contract any more
  };

  explicit WithinTolerance(const Policy& given) : policy(given) {}

  void begin() {
    count_ = 0;
    theta_ = slowest_ = 0;
    shrink_ = 0.5;
    factor_ = policy.predicts ? std::pow(std::max(factor_, epsilon), 0.8) : std::numeric_limits<double>::infinity();
  }
  /// The contraction of the last solution says nothing about the next.
  void forget() { factor_ = 1; }

  NewtonVerdict judge(double size, double) {
    if (!std::isfinite(size)) return NewtonVerdict::failed;
    size_ = size;
    if (size <= policy.rounding) return NewtonVerdict::converged;
    if (++count_ == 1) {
      first_ = size;
    } else {
      if (size <= policy.negligible) return NewtonVerdict::converged;
      const double before = std::exchange(ratio_, size / last_);
      theta_ = policy.overall ? mean(size / first_) : count_ == 2 ? ratio_ : std::sqrt(ratio_ * before);
      slowest_ = std::max(slowest_, ratio_);
      if (theta_ >= (count_ == 2 ? policy.diverging_at_once : policy.diverging)) return NewtonVerdict::failed;
      const double theta = std::min(theta_, 0.99);
      factor_ = theta / (1 - theta);
      const int left = policy.limit - 1 - count_;
      const bool predicted = policy.predicts && count_ > 2 && left >= 0;
      const double at_end = predicted ? factor_ * size * std::pow(theta, left) / policy.enough : 0;
      if (at_end >= 1) {  // will not be there in time
        shrink_ = 0.8 * std::pow(std::clamp(at_end, 1e-4, 20.0), -1.0 / (4 + left));
        return NewtonVerdict::failed;
      }
    }
    last_ = std::max(size, epsilon);
    if (factor_ * size <= policy.enough) return NewtonVerdict::converged;
    return exhausted() ? NewtonVerdict::failed : NewtonVerdict::go_on;
  }

  /// The last increment in units of the error that may be left.
  double last_relative() const { return size_ / policy.enough; }

  int count() const { return count_; }
  bool exhausted() const { return count_ >= policy.limit; }
  /// Contraction as it was judged, 0 before the second increment, and the worst of all.
  double theta() const { return theta_; }
  double slowest() const { return slowest_; }
  /// Of the step, where the iteration failed: with that it should not.
  double shrink() const { return shrink_; }

  Policy policy;

 private:
  static constexpr double epsilon = std::numeric_limits<double>::epsilon();
  double mean(double total) const {
    return count_ == 2   ? total
           : count_ == 3 ? std::sqrt(total)
           : count_ == 4 ? std::cbrt(total)
                         : std::pow(total, 1.0 / (count_ - 1));
  }

  int count_ = 0;
  double first_ = 0, last_ = 0, size_ = 0, ratio_ = 0, theta_ = 0, slowest_ = 0, factor_ = 1, shrink_ = 0.5;
};

}  // namespace hinge
