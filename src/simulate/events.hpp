// Events: functions of the motion whose sign is watched, and what happens where it changes.
#pragma once

#include <functional>
#include <vector>

#include "hinge/memory.hpp"
#include "hinge/simulate.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

void remember(Memory& memory, Occurrence& occurrence);

class EventWatch {
 public:
  void add(Event event) { events_.push_back(std::move(event)); }
  bool empty() const { return events_.empty(); }
  const Event& event(std::size_t k) const { return events_[k]; }
  /// Prepares for a run. Throws InputError where an event does not fit the system.
  void compile(const System& system);
  /// On which sides of its roots the motion starts.
  void start(const State& state);

  /// The state of the present step at a time within it, as a function that fills its second argument.
  using Probe = std::function<bool(double t, State& out)>;
  struct Within {
    Probe sketch, exactly;  ///< to see where events may be; to see when they are
    bool cheap;             ///< an interpolation; else each look is a step
  };
  struct Found {
    std::size_t event = 0;
    State state;  ///< just after the root
  };
  /// The first event of the step from `before` to `after`, if there is one. The motion is looked at in `looks` places,
  /// `after` being the last, and between them where a function bends by more than its distance from zero.
  bool find(const State& before, const State& after, int looks, const Within& within, Found& found);
  /// Takes down that it has happened. True when events follow each other with hardly any time between.
  bool note(const Found& found);
  const std::vector<Occurrence>& occurred() const { return occurred_; }
  /// To be called after the event that was found has been noted, before looking further in the same step.
  void passed(const Found& found);
  /// To be called when the motion goes on from a state that the event has changed.
  void restart(const State& state, std::size_t event);
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
  bool bends(const Look& a, const Look& b, const Look& c) const;
  bool look_between(std::size_t after, const Within& within);
  void look_closely(const Look& last, Look& look, const Within& within);
  State locate(std::size_t k, const State& low, const State& high, double at_high, const Probe& probe);
  void take_side(std::size_t k, double value);

  std::vector<Event> events_;
  StateFunctions roots_, slopes_;           // slopes: time derivatives, of roots in t and y alone
  std::vector<char> has_slope_;             //
  std::vector<StateFunctions> velocities_;  // empty where nothing changes
  std::vector<double> side_;                // sign of the last value that was not zero
  std::vector<Look> looks_;                 // of the present step
  std::vector<char> fresh_;                 // just happened: its side is not known yet
  std::vector<Occurrence> occurred_;
  int crowded_ = 0;  // events in a row with hardly any time between
};

}  // namespace hinge
