// Rows on their way: what is in them, when they are due, and where they go.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hinge/memory.hpp"
#include "simulate/contact_forces.hpp"
#include "simulate/record/recorder.hpp"
#include "simulate/state_functions.hpp"
#include "simulate/watch.hpp"

namespace hinge {

/// What every row has: t, the state, the energy.
std::vector<std::string> record_columns(const System& system);

/// Expressions of the user's.
struct ObservedQuantities {
  std::vector<Report::Observed> items;
  std::vector<Expression> expressions;
  StateFunctions functions;
  ContactForces contact_forces;

  void compile(const System& system);
  /// At a state, that a step with these impulses has led to. Valid until the next call.
  const std::vector<double>& values(const State& state, const ContactImpulses* impulses);
  /// Names and values.
  std::vector<Report::Observed> at(const State& state, const ContactImpulses* impulses);
  /// Those that had no value.
  void doubts(std::vector<Doubt>& doubts) const;
  /// The first of them since the run began: where in the list of values, and when; -1: none.
  int undefined = -1;
  double undefined_at = 0;
};

/// When rows are due: after every n-th step, at multiples of a time, or at times of a list. Multiples are counted: a
/// quotient of times that are rounded may fall short of the multiple that has just been recorded.
class Schedule {
 public:
  void begin(const SimulationOptions& options);
  bool at_times() const { return options_.interval > 0 || !options_.times.empty(); }
  /// For every(): is the state after this step due?
  bool after_step(long steps) const { return steps % options_.every == 0; }
  /// The next time to record at; infinity when there is none left.
  double next_time() const;
  /// From which time on a step that ends there has reached it.
  double due_time() const { return next_time() - slack(); }
  void recorded(double t);
  /// For checkpoints.
  void exchange(Memory& memory) { memory(count_, next_multiple_, next_of_list_); }
  void continue_from(const Schedule& other) {
    count_ = other.count_;
    next_multiple_ = other.next_multiple_;
    next_of_list_ = other.next_of_list_;
  }

 private:
  // Multiples of a step are rounded: one that falls short of a time by an ulp has reached it.
  double slack() const { return 1e-9 * (options_.tolerance.given() ? options_.interval : options_.step); }
  double multiple(long n) const { return options_.start + static_cast<double>(n) * options_.interval; }

  SimulationOptions options_;
  long count_ = 0;            // of multiples that have been recorded or passed
  double next_multiple_ = 0;  // later than the last row
  std::size_t next_of_list_ = 0;
};

class Recording {
 public:
  // What is wanted, before a run begins.
  Output output;
  std::string picture_path;  ///< .pvd
  bool keep_rows = false;
  std::vector<std::function<void(const Row&)>> callbacks;

  ObservedQuantities quantities;
  Schedule schedule;
  Trajectory kept;

  /// Opens files and forgets the rows of an earlier run.
  void open(const std::shared_ptr<const System>& system, const MethodChoice& method, const SimulationOptions& options,
            const Watch& watch);
  /// For checkpoints: how far the records are; then the same files, with the rows up to there.
  void exchange(Memory& memory);
  void reopen(const std::shared_ptr<const System>& system, const MethodChoice& method, const SimulationOptions& options,
              const Watch& watch);
  bool empty() const { return goals_.empty(); }
  /// The run goes on to `end`.
  void expect(double now, double end);

  /// A state on its way into a row, with what is known of it: who made the last step, and how long that was.
  struct Shown {
    const State& state;
    const Watch::Values& watched;
    const Stepper& stepper;
    double step;
    std::string_view event{};
  };
  void record(const Shown& shown);
  /// The last state always: to those who have not got it yet.
  void conclude(const Shown& shown);
  /// Closes all records. Once; the first error is thrown after the others have been closed.
  void close(const std::string& status);
  long rows() const { return rows_; }

 private:
  struct Goal {
    std::unique_ptr<Recorder> recorder;
    double last_time;
  };
  std::vector<std::string> columns_of(const System& system, const Watch& watch) const;
  Row make_row(const Shown& shown);
  template <typename Wanted>
  void give(const Shown& shown, Wanted wanted);

  RecordHeader header_;
  bool has_energy_ = false;
  std::vector<Goal> goals_;  // files first: a row that a callback sees is on its way to the disk
  std::vector<double> values_;
  long rows_ = 0;  // of the first of the goals
  // For checkpoints: the time of its last one, and which are of events
  double last_time_ = 0;
  std::vector<long> event_rows_;
  std::vector<std::string> event_names_;
};

}  // namespace hinge
