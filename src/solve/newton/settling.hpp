// When to stop an iteration to round-off whose increments are measured against the size of the unknowns.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace hinge {

enum class NewtonVerdict { go_on, converged, failed };

class Settling {
 public:
  /// All levels are relative to the unknowns.
  struct Policy {
    int limit;               ///< increments
    double floor;            ///< an increment up to this is rounding
    double stagnation = 0;   ///< so is one up to this that is not much smaller than the one before:
    double shrinking = 0.5;  ///< larger than this part of it
    int patience = std::numeric_limits<int>::max();  ///< after so many increments, `late` and `late_shrinking` hold
    double late = 0, late_shrinking = 0.5;
    double with_old_matrix = stagnation;  ///< in the place of `stagnation` until the matrix is new
    double at_the_limit = 0;              ///< the last increment may be as large as this
  };

  explicit Settling(const Policy& policy) : policy_(policy) {}
  Settling(const Policy& policy, int limit) : policy_(policy) { policy_.limit = limit; }

  void begin() { *this = Settling(policy_); }

  NewtonVerdict judge(double change, double scale) {
    ++count_;
    before_ = std::exchange(last_, change);
    scale_ = scale;
    if (!std::isfinite(change)) return NewtonVerdict::failed;
    const bool late = count_ > policy_.patience;
    const double stagnation = late ? policy_.late : fresh_ ? policy_.stagnation : policy_.with_old_matrix;
    const double shrinking = late ? policy_.late_shrinking : policy_.shrinking;
    if (change <= policy_.floor * scale || (change <= stagnation * scale && change >= shrinking * before_))
      return NewtonVerdict::converged;
    if (count_ < policy_.limit) return NewtonVerdict::go_on;
    unsettled_ = change <= policy_.at_the_limit * scale;
    return unsettled_ ? NewtonVerdict::converged : NewtonVerdict::failed;
  }

  /// What came before says nothing about the increments to come.
  void forget() { last_ = std::numeric_limits<double>::infinity(); }
  void matrix_renewed() { fresh_ = true; }

  /// The last increment in units of what ends the iteration at once; 0 where nothing was left.
  double last_relative() const { return last_ > 0 ? last_ / (policy_.floor * scale_) : 0; }

  int count() const { return count_; }
  bool exhausted() const { return count_ >= policy_.limit; }
  /// Last observed contraction, 0 before the second increment.
  double theta() const { return last_ / before_; }
  bool slower_than(double contraction) const { return last_ > contraction * before_; }
  /// Was the last increment accepted for `at_the_limit` only?
  bool unsettled() const { return unsettled_; }

 private:
  Policy policy_;
  int count_ = 0;
  double last_ = std::numeric_limits<double>::infinity(), before_ = last_, scale_ = 1;
  bool fresh_ = false, unsettled_ = false;
};

}  // namespace hinge
