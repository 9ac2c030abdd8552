// Whether steps of given length are long beside what equations of first order do by themselves: unknowns x of a DAE
// whose x' is in it, and states beside a mechanical system. No energy tells that there.
//
//   d = |x1 - x0 - h (x0' + x1')/2|, or h |x1' - 2 x0' + x_-1'|/12 where that is more: methods may be this very rule,
//   a^2 = 12 d/(h max |x'|),   e = d min(1, a)^(p - 2)
//
// is about what a method of order p > 2 is off by in a step of an oscillation that goes on by the angle a in it; below,
// e = d. What is summed over the steps is suspect where it is not small beside x: damping may have taken all of it.
// Such a run is made once more with a tolerance (Run::compare_steps), and its end says.
#pragma once

#include <vector>

#include "hinge/simulate.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

class RateWatch {
 public:
  /// For steps of given length, of a method of this order.
  void begin(const System& system, bool resolved, int order);
  /// A state that a step of h has led to, or none (h = 0).
  void see(const State& state, double h);
  /// Where the motion multiplies errors by up to `growth`.
  bool suspect(double growth) const;
  /// How far another end is away: of the number that is furthest off, as a part of its largest size so far.
  double apart(const State& end, const State& other) const;
  /// The largest number so far.
  double size() const;

 private:
  struct Follower {  // an unknown, or a state
    std::size_t place = 0;
    double x = 0, rate = 0, rate_before = 0;
    double most = 0, fastest = 0, off = 0;  // so far
  };
  const std::vector<double>& values(const State& state) const { return is_dae_ ? state.y : state.z; }

  bool is_dae_ = false;
  int order_ = 0;
  double h_before_ = 0;
  std::size_t coordinates_ = 0;  // that are compared beside states
  std::vector<Follower> followers_;
  std::vector<double> sizes_;  // of y, the largest so far
  StateFunctions rates_;       // of states
};

}  // namespace hinge
