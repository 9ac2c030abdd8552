// Whether what the motion grows from was larger than the absolute tolerance: errors of that size are allowed in every
// step, and where a seed of 1e-10 grows to 1 with errors of 1e-8 beside it, what has grown is error.
//
// Suspect is a motion that starts with numbers below the tolerance, or that has come down below it, and has grown out
// of it afterwards, or stays below. Such a run is made once more with a hundredth of the tolerance (Run::report).
#pragma once

#include <algorithm>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

class ToleranceWatch {
 public:
  void begin(const System& system, const Tolerance& tolerance, const State& start);
  void see(const State& state);
  bool suspect() const { return suspect_ || began_low_; }
  /// An absolute tolerance that sees what the motion grows from.
  double finer() const { return std::min(tolerance_ / 100, lowest_ / 1000); }
  /// Of coordinates, the largest so far.
  double size() const { return size_; }

 private:
  double largest(const State& state) const;

  bool active_ = false, dae_ = false;
  bool low_ = false, began_low_ = false, suspect_ = false;  // the state as a whole
  double tolerance_ = 0, lowest_ = 0, highest_ = 0, size_ = 0;
  std::vector<std::size_t> seeds_;  // numbers that start below the tolerance, beside others
};

}  // namespace hinge
