// What a step flies over. Where nothing much acts, steps become as long as the way, and a narrow barrier, a magnet, or
// a spike in a table of the position lies between the points that the method looks at.
//
// Of a long step on which the velocities say all, y1 - y0 = h (y0' + y1')/2, forces (and the like, leap_functions.hpp)
// are bounded along the motion by interval arithmetic; where they may be further out than at its ends, they are looked
// at, in halves of halves. Where the length of steps is given, all long steps are looked at, and steps over a corner or
// a jump of these count as long: a window, if(x > a and x < b, ...), may be open within a step and at no end of any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hinge/simulate.hpp"
#include "simulate/leap_functions.hpp"
#include "simulate/root_bounds.hpp"

namespace hinge {

class LeapWatch {
 public:
  /// `tolerance`: null where the length of steps is given.
  void begin(const System& system, const Tolerance* tolerance);
  /// The run goes from here to there.
  void expect(double from, double to) { length_ = to - from; }
  /// A state that a step has led to.
  void see(const State& state);
  bool is_long(const State& before, const State& after);
  /// A time within the step where a force is further out than the step has seen.
  std::optional<double> unseen(const State& before, const State& after,
                               const std::function<void(double t, State& out)>& within);

  /// Is it there, at the end of a step to that time? Where interpolations only say so, as in stiff systems, three
  /// times, it is not looked for any more.
  bool seen_by(const State& state);

 private:
  double velocities(const State& state, std::vector<double>& out);
  bool quiet_step(const State& before, const State& after, double way);
  // A step of given length may have felt some of it and go on all the same.
  bool given() const { return !resolved_ && !is_dae_; }
  bool crosses(const State& before, const State& after);
  bool unfelt(const State& before, const State& after);
  void expect_curves(const State& before, const State& after, std::vector<Interval>& expected);

  const System* system_ = nullptr;
  LeapFunctions acts_;
  std::unique_ptr<RootBounds> bounds_;
  std::size_t functions_ = 0;
  std::unique_ptr<Evaluation> rates_, forces_;
  std::vector<double> forces_sum_, fastest_;  // fastest: the largest |z_i|
  long steps_ = 0;
  bool unfelt_ = false;
  StateFunctions roots_;         // of corners and jumps
  std::vector<double> at_last_;  // these at the end of the last step
  double last_ = NAN;            // its time
  std::vector<Interval> expected_;
  double momentum_ = 0;
  Tolerance tolerance_{0, 0};
  int mistaken_ = 0;
  bool resolved_ = false, is_dae_ = false;
  double length_ = 0;
  std::vector<double> low_, high_, v0_, v1_, sizes_;
};

}  // namespace hinge
