// Times at which equations have a kink or a jump that depends on t alone: `if(sin(2*pi*50*t) > 0.9, 5, 0)`, tables,
// ramps, sawteeth. They are known beforehand, all of them: steps end there and begin anew.
//
// A step that ends at such a time T ends at T - gap(T), and the next one begins at T + gap(T), a few units of rounding
// apart: so the equations are on the right side at both, and need not be taken apart.
#pragma once

#include <cmath>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "expression/sign_changes.hpp"
#include "hinge/method.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class TimeKinks {
 public:
  explicit TimeKinks(const Equations& equations);
  /// True where no operation of time alone has kinks.
  bool empty() const { return sequences_.empty(); }

  /// The first one after t, not after `limit`; infinity where there is none. Going back in time is allowed.
  double next(double t, double limit);
  /// Is there one at t, to rounding?
  bool at(double t) { return next(t - 3 * gap(t), t + gap(t)) <= t + gap(t); }
  static double gap(double t);
  /// How far next() has looked; infinity where there are none at all.
  double known_until() const;
  /// From here on some may be missing: the search was given up. Infinity where it was not.
  double lost_from() const { return lost_from_; }
  Doubt doubt() const;

 private:
  using Next = std::pair<double, std::size_t>;  // when, of which function
  void begin(double t);
  void look(std::size_t k);

  std::vector<SignChanges> sequences_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ahead_;
  std::vector<std::size_t> idle_;                // without any up to the horizon
  double begun_, origin_, horizon_, lost_from_;  // begun: found_ is complete from here on
  std::deque<double> found_;                     // the last ones, in order
};

/// Functions of time alone in the equations: what a step sees of them at its stages may be far from all they do, as a
/// short pulse that it passes by.
class TimeFunctions {
 public:
  explicit TimeFunctions(const Equations& equations);
  bool empty() const { return enclosure_.size() == 0; }
  /// A time between the two at which one of them is far outside of the values seen at five points of the stretch; none
  /// where there is none, or none was found.
  std::optional<double> unseen(double from, double to);

  /// For steps of given length: looks at a stretch without kinks that a method is about to step over.
  void look(double from, double to);
  /// Did any of them swing within such a step by a good part of all it ever did? Then steps do not follow it.
  std::optional<Doubt> doubt() const;

 private:
  TimeFunctions(const Graph& graph, const std::vector<Node>& functions);

  struct Swing {
    Interval all{HUGE_VAL, -HUGE_VAL};  // that was seen
    double largest = 0, when = 0;       // distance from the straight line between the ends of a step
  };
  std::optional<double> unseen(std::size_t k, double from, double to);
  Enclosure enclosure_;
  std::vector<Enclosure> single_;
  std::vector<Interval> open_;
  std::vector<Swing> swings_;
  long looks_ = 0;
};

/// Constraints that jump with time at a kink. Positions cannot follow; velocities can, by an impulse.
class PrescribedJumps {
 public:
  explicit PrescribedJumps(std::shared_ptr<const System> system);
  struct Jump {
    StepResult possible;    ///< false where a position would have to jump
    bool velocity = false;  ///< where velocities have to
  };
  /// At the kink T, with the state just before it.
  Jump at(double T, const State& before);
  /// What is said of the jumps of velocity so far. Empty where there was none.
  std::vector<std::string> remarks() const;

 private:
  std::shared_ptr<const System> system_;
  std::unique_ptr<Evaluation> before_, after_;
  long count_ = 0;
  double first_ = 0, largest_ = 0;
};

}  // namespace hinge
