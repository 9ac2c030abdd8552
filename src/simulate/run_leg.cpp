// A run on its way to a time: how it sets out, goes on step by step, by itself or beside others, and what it says when
// it is there.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/run.hpp"

namespace hinge {

// A step, or what comes after the last one. Nobody looks at the clock.
bool Run::go_on_abreast() {
  try {
    if (go_on_leg()) return true;
    end_leg();
    return false;
  } catch (...) {
    close_as_failed();
    throw;
  }
}

StepAhead* Run::step_ahead() {
  return stepper_->chooses_steps() && !arrived() ? stepper_->ahead(state_, step_limit(leg_end_)) : nullptr;
}

void Run::refuse_leg(double end) const {
  if (!started_) throw InputError("start() comes before until()");
  if (!std::isfinite(end)) throw InputError("the end time is not a finite number");
  const double start = state_.t, h = options.step;
  if (end < start) throw InputError(fmt::format("the end, {}, lies before the present time, {}", end, start));
  const double count = stepper_->chooses_steps() ? 0 : Grid::steps_between(start, end, h);
  if (count > most_steps)
    throw InputError(fmt::format("{:g} steps of {:g} are too many; choose a longer step", count, h));
  refuse_coarse_time(end);
}

void Run::set_out(double end) {
  const double start = state_.t, h = options.step;
  const auto steps = [&](double from) {
    return stepper_->chooses_steps() ? 0 : static_cast<long>(Grid::steps_between(from, end, h));
  };
  if (std::exchange(resumed_, false)) {
    grid_.end = end;
    grid_.count = steps(grid_.start);
  } else {
    grid_ = {start, h, end, steps(start)};
  }
  if (status_ != RunStatus::failed) set_status(RunStatus::finished);
  recording.expect(start, end);
  leaps_.expect(start, end);
  last_told_ = last_checkpoint_ = now_in_seconds();
  leg_end_ = end;
  leg_ended_ = false;
}

bool Run::arrived() const { return stepper_->chooses_steps() ? state_.t >= leg_end_ : grid_.k >= grid_.count; }

// False where there is nothing more to go.
bool Run::go_on_leg() {
  if (leg_ended_ || arrived()) return false;
  try {
    leg_ended_ = go_on(leg_end_);
    if (!leg_ended_ && (status_ == RunStatus::stopped || told_to_stop(state_.t))) return false;
    if (leg_ended_ || arrived()) return false;
    restart_if_due();
  } catch (const StepFailure&) {
    keep_last_state();
    throw;
  }
  return true;
}

void Run::end_leg() {
  if (leg_ended_)
    message_ = fmt::format("ended by the event '{}' at t = {:.15g}", events.occurred().back().name, state_.t);
  recording.conclude({state_, watch.seen(), *stepper_, last_step()});
}

}  // namespace hinge
