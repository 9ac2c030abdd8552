// Which rows a run records.
#include "simulate/run.hpp"

namespace hinge {

// Rows at times within the last step, before `until`. There may be millions: false where the run is told to stop among
// them, and it then stops at the last of them.
bool Run::record_between(double until) {
  if (!stepper_->chooses_steps() || recording.empty()) return true;
  while (recording.schedule.next_time() < until) {
    const double t = recording.schedule.next_time();
    stepper_->interpolate(t, shown_);
    shown_.t = t;
    record_other(shown_);
    recording.schedule.recorded(t);
    if (!told_to_stop(t)) continue;
    state_ = shown_;
    return false;
  }
  return true;
}

// A row of a state that is not the one seen last: what is said of constraints and energy is said of it, too.
void Run::record_other(const State& state, std::string_view event) {
  if (!recording.empty()) recording.record({state, watch.show(state), *stepper_, last_step(), event});
}

// What has been reached where a run fails, also between two rows.
void Run::keep_last_state() noexcept {
  try {
    recording.conclude({state_, watch.show(state_), *stepper_, last_step()});
  } catch (...) {  // of two reasons the first one counts
  }
}

// A state of a DAE that is shown: x' and what is of higher index in x follow from the rest.
void Run::settle() {
  if (system->structure().is_dae && stepper_->chooses_steps()) stepper_->interpolate(state_.t, state_);
}

// After a step: rows at the times that it has passed, or every n-th step.
void Run::record_if_due() {
  Schedule& schedule = recording.schedule;
  if (!record_between(state_.t)) return;
  const bool due = schedule.at_times() ? schedule.due_time() <= state_.t : schedule.after_step(steps_);
  if ((due && !recording.empty()) || state_.t >= grid_.end) settle();
  if (!due) return;
  record_now();
  schedule.recorded(state_.t);
}

}  // namespace hinge
