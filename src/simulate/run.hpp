// The run behind a Simulation: start, step, watch, notice events, record; and what is said of it at the end.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hinge/memory.hpp"
#include "hinge/simulate.hpp"
#include "simulate/burst_watch.hpp"
#include "simulate/checkpoint.hpp"
#include "simulate/dae_singularity.hpp"
#include "simulate/events.hpp"
#include "simulate/gap_watch.hpp"
#include "simulate/grid.hpp"
#include "simulate/growth_watch.hpp"
#include "simulate/leap_watch.hpp"
#include "simulate/rate_watch.hpp"
#include "simulate/recording.hpp"
#include "simulate/tolerance_watch.hpp"
#include "simulate/watch.hpp"

namespace hinge {

double now_in_seconds();

class Run {
 public:
  Run(std::shared_ptr<const System> system, MethodChoice method, SimulationOptions options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// Closes records that are still open: as failed where an exception is on its way.
  ~Run();

  const std::shared_ptr<const System> system;
  const MethodChoice method;
  const SimulationOptions options;
  // What is wanted of it, before it starts
  Watch watch;
  EventWatch events;
  Recording recording;
  ExactSolution exact;
  std::function<bool(double)> progress;
  bool wants_condition = false;
  Checkpoints checkpoints{{}, 60, 0};

  bool started() const { return started_; }
  const State& state() const { return state_; }
  void start(const Start& initial);
  void resume(const std::string& checkpoint);
  void step();
  void until(double end);
  /// The same in parts (simulate/runs_abreast.hpp).
  void begin_leg(double end);
  bool go_on_abreast();
  StepAhead* step_ahead();
  void finish();
  Report report();
  const std::vector<std::string>& warnings();

 private:
  template <typename Action>
  void guarded(Action action);
  void set_status(RunStatus status, const std::string& message = {});
  /// Without a reason: that of the exception that is being handled.
  void close_as_failed(const char* reason = nullptr) noexcept;

  void refuse_leg(double end) const;
  void set_out(double end);
  double step_limit(double limit) const;
  bool arrived() const;
  bool go_on_leg();
  void end_leg();
  bool go_on(double limit);
  template <typename Advance>
  void attempt(Advance advance);
  std::string likely_cause(const State& from) const;
  void fixed_step();
  void chosen_step(double limit);
  void accept(double h);
  void fly_over_nothing();
  void again_until(double t);
  void look_closer();
  void look_elsewhere();
  void begin_looking();
  Stepper& another();
  std::function<void(double, State&)> on_the_way(const State& after);
  void look_at_dae(double h);
  std::unique_ptr<Run> once_more(const MethodChoice& other_method, const SimulationOptions& other_options,
                                 State* on_the_way = nullptr) const;
  void compare_tolerances(std::vector<Doubt>& doubts);
  void compare_steps(std::vector<Doubt>& doubts);
  void doubt_growth(const char* with, const char* remedy, std::vector<Doubt>& doubts) const;
  void refuse_coarse_time(double end) const;
  bool notice_events();
  bool take_event(const EventWatch::Found& found);
  [[noreturn]] void fail_of_events(const EventWatch::Found& found);
  bool probe(double t, State& out);
  void step_back_to(double t);
  void sketch(const State& after, double t, State& out);
  bool told_to_stop(double t);
  void report_method(Report& report);
  void report_error(Report& report) const;
  void report_doubts(Report& report);

  CheckpointIdentity identity() const;
  void exchange(Memory& memory);
  long steps_between_starts() const;
  void restart_if_due();
  void begin_anew();
  void make_consistent();
  /// What all steppers have cost.
  Counters work() const;
  std::optional<ContactStatistics> contacts() const;

  void record_now(std::string_view event = {}) {
    recording.record({state_, watch.seen(), *stepper_, last_step(), event});
  }
  double last_step() const { return state_.t - before_.t; }
  void keep_last_state() noexcept;
  void record_other(const State& state, std::string_view event = {});
  bool record_between(double until);
  void record_if_due();
  void settle();

  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<Stepper> closer_;  // the same, to make steps that are suspect once more
  DaeSingularity dae_;
  LeapWatch leaps_;
  GapWatch gaps_;
  BurstWatch bursts_;
  RateWatch rates_;
  ToleranceWatch seeds_;
  GrowthWatch growth_;
  std::optional<Start> initial_;                        // none where the run was resumed
  std::optional<std::pair<double, double>> once_more_;  // until when it was compared, and what came out
  bool is_comparison_ = false;
  long most_steps_ = 0;  // of a comparison
  double leap_end_ = -INFINITY;
  long flown_over_ = 0;
  double first_flown_over_ = 0;
  std::unique_ptr<Stepper> solution_;  // another one with a tolerance
  bool started_ = false;
  bool depends_on_time_ = true;
  State state_, before_;  // before: where the present step began
  State shown_;           // between steps, for the record
  double work_before_ =
      0;  // of the stepper, where the present step began; what it had counted of contacts, with events
  ContactStatistics contacts_before_;
  double probed_from_ = NAN;  // where shorter steps begin
  Grid grid_;
  double leg_end_ = 0;      // until when it is to go on
  bool leg_ended_ = false;  // by an event
  long steps_ = 0;
  double shortest_ = INFINITY, longest_ = 0;
  double wall_seconds_ = 0, last_told_ = 0, last_asked_ = 0;
  int not_asked_ = 0, patience_ = 1;  // steps since the clock was looked at, and until it is
  RunStatus status_ = RunStatus::finished;
  std::string message_;
  std::optional<double> condition_;
  std::vector<std::string> start_remarks_;
  struct Earlier {  // what steppers have said before the last place where the method started anew
    Counters work;
    bool has_contacts = false;
    ContactStatistics contacts;
    std::vector<std::string> remarks;
    std::vector<Doubt> doubts;
  };
  Earlier so_far() const;
  Earlier earlier_;
  double last_checkpoint_ = 0;
  bool resumed_ = false;  // and not gone on yet
  // worked out when first asked for
  std::optional<std::vector<std::string>> facts_, warnings_;
  std::unique_ptr<Evaluation> ends_;
  int exceptions_at_birth_ = std::uncaught_exceptions();
};

}  // namespace hinge
