// Events: functions of the motion whose sign is watched, and what happens where it changes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hinge/memory.hpp"
#include "hinge/simulate.hpp"
#include "simulate/root_bounds.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

void remember(Memory& memory, Occurrence& occurrence);

class EventWatch {
 public:
  void add(Event event) { events_.push_back(std::move(event)); }
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const Event& event(std::size_t k) const { return events_[k]; }
  /// Prepares for a run. Throws InputError where an event does not fit the system.
  void compile(const System& system);
  /// On which sides of its roots the motion starts.
  void start(const State& state);

  /// The state of the present step at a time within it, as a function that fills its second argument.
  using Probe = std::function<bool(double t, State& out)>;
  struct Within {
    Probe sketch, exactly;  ///< to see where events may be; to see when they are
    bool end_is_exact;      ///< is the end of the step what `exactly` says there?
  };
  struct Found {
    std::size_t event = 0;
    State state;         ///< just after the root
    bool stuck = false;  ///< the motion does not come away from where the same event has changed it
  };
  /// The first event of the step from `before` to `after`, if there is one. The motion is looked at in `looks` places,
  /// `after` being the last, and between them where a function may vanish more than once.
  bool find(const State& before, const State& after, int looks, const Within& within, Found& found);
  /// Takes down that it has happened. True when events follow each other with hardly any time between.
  bool note(const Found& found);
  const std::vector<Occurrence>& occurred() const { return occurred_; }
  /// Steps in which there were too many places to look at; changes that the motion went on through.
  void doubts(std::vector<Doubt>& doubts) const;
  /// To be called after the event that was found has been noted, before looking further in the same step.
  void passed(const Found& found);
  /// To be called when the motion goes on from a state that the event has changed, to another one. False where it
  /// would go on through the root although its velocity was turned round: there is no motion any more.
  bool restart(const State& at, const State& changed, std::size_t event);
  /// The state after a change of velocity, consistent with the constraints.
  /// For checkpoints.
  void exchange(Memory& memory);
  State changed(const System& system, std::size_t event, const State& at);

 private:
  struct Look {
    State state;
    std::vector<double> values;
    bool exact = false;
  };
  bool crosses(std::size_t k, double from, double to) const;
  void look_at(const State& before, const State& after, int looks, const Within& within);
  bool may_return(std::size_t look);
  bool look_between(std::size_t after, const Within& within);
  void look_closely(const Look& last, Look& look, const Within& within);
  Found locate(std::size_t k, const State& low, const State& high, double at_high, const Probe& probe);
  void take_side(std::size_t k, double value);
  void go_on(std::size_t k, const Look& look);
  bool has_just_happened(std::size_t k, double t) const;

  std::vector<Event> events_;
  StateFunctions roots_, slopes_;           // slopes: time derivatives, of roots in t and y alone
  std::vector<char> has_slope_;             //
  std::vector<StateFunctions> velocities_;  // empty where nothing changes
  std::vector<double> side_;                // sign of the last value that was not zero
  std::vector<Look> looks_;                 // of the present step
  std::vector<char> fresh_;                 // just happened: its side is not known yet
  std::optional<std::size_t> restarted_;    // has changed the motion, which has not come away from its root yet
  bool again_ = false;                      // an event has just happened: others may at the same time
  std::vector<Occurrence> occurred_;
  int crowded_ = 0;  // events in a row with hardly any time between
  std::optional<RootBounds> bounds_;
  std::vector<double> sizes_;  // of the root functions, the largest so far
  double unclear_ = 0, first_unclear_ = 0;
  std::vector<double> held_;  // by an event that has left no velocity: the side that it kept the motion from, or 0
  std::string through_;       // the first event that did not
  double through_count_ = 0, first_through_ = 0;
};

}  // namespace hinge
