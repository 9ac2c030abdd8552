// Exponentials of a DAE that act for a short part of a period: diodes that charge a capacitor for an instant. Between
// these nothing much happens, steps become long, and none of their points may lie where the diode conducts.
//
// Of every exp(a(t, x)) in the equations (and sinh, cosh), a is bounded along a step at whose ends the exponential is
// small beside what it has been: where it may come out of that by more than a factor of a thousand, the motion is
// looked at in halves of halves. Steps that are too short for that, by the largest da/dt so far, are not looked at.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hinge/simulate.hpp"
#include "simulate/root_bounds.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

class BurstWatch {
 public:
  /// For chosen steps of a DAE; else there is nothing to see.
  void begin(const System& system, bool resolved);
  /// A state that the run has come to, by a step of h.
  void see(const State& state, double h);
  /// May there be one within the step? Allocates nothing.
  bool ahead(const State& before, const State& after);
  /// After that: a time within the step where an exponential is much larger than at its ends.
  std::optional<double> unseen(const State& before, const State& after,
                               const std::function<void(double t, State& out)>& within);
  /// Is it there, at the end of a step to that time?
  bool seen_by(const State& state);

 private:
  struct Argument {
    double at_before = 0, largest = -INFINITY, fastest = 0;  // a where the step begins; so far; |da/dt| so far
    double limit = 0;                                        // not above that at any point of the step
    bool watched = false;
  };
  struct Stretch {
    const State *from, *to;
    std::vector<double> a0, a1;
  };
  void take(const State& state);

  std::vector<Argument> arguments_;
  StateFunctions values_;  // of all a, and of all da/dt
  std::unique_ptr<RootBounds> bounds_;
  double seen_at_ = NAN;  // the time of `at_before`
  double fastest_ = 0;    // of all
  long seen_ = 0;
};

}  // namespace hinge
