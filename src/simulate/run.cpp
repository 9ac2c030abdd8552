#include "simulate/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"

namespace hinge {

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

std::string reason_of_current_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that says no reason";
  }
}

const char* word_for(RunStatus status) {
  return status == RunStatus::finished ? "finished" : status == RunStatus::stopped ? "stopped" : "failed";
}

}  // namespace

// ---- How it ends: no record says "finished" unless the run is closed as finished ----------------------------------

void Run::finish() {
  recording.close(message_.empty() ? word_for(status_) : fmt::format("{}: {}", word_for(status_), message_));
}

void Run::set_status(RunStatus status, const std::string& message) {
  status_ = status;
  message_ = message;
}

void Run::close_as_failed(const char* reason) noexcept {
  status_ = RunStatus::failed;
  message_.clear();
  try {
    message_ = reason ? reason : reason_of_current_exception();
    finish();
  } catch (...) {  // a full disk, say, besides the reason: a record without a status counts as failed, too
  }
}

Run::~Run() {
  if (std::uncaught_exceptions() > exceptions_at_birth_) close_as_failed("the program left the run with an exception");
  try {
    finish();
  } catch (...) {  // a full disk at the very end: nothing more can be done in a destructor
  }
}

// Whatever is thrown, by a method, by a user's system or by a callback, ends the records as failed.
template <typename Action>
void Run::guarded(Action action) {
  const double begin = now_in_seconds();
  const double before = wall_seconds_;
  try {
    action();
  } catch (...) {
    wall_seconds_ = before + now_in_seconds() - begin;
    close_as_failed();
    throw;
  }
  wall_seconds_ = before + now_in_seconds() - begin;
}

// ---- The way ------------------------------------------------------------------------------------------------------

void Run::start(const Start& initial) {
  finish();  // an earlier run
  guarded([&] {
    recording.quantities.compile(*system);
    if (!recording.quantities.contact_forces.empty() && system->structure().has_contacts &&
        !stepper_->contact_impulses())
      throw UnsuitableMethod(fmt::format(
          "{} does not tell the forces of contacts on bodies, which a quantity uses (NAME_contact_force); use "
          "moreau-jean, or leave the quantity out",
          method.info.name));
    events.compile(*system);
    start_remarks_.clear();
    state_ = consistent_start(*system, options.start, initial, &start_remarks_);
    before_ = shown_ = state_;
    stepper_->set_summed_work(0);
    if (const StepResult result = stepper_->start(state_); !result) throw StepFailure(result.reason, state_.t);
    grid_ = {state_.t, options.step};
    steps_ = 0;
    solution_.reset();
    earlier_ = {};
    earlier_.contacts.momentum_balance = -1;  // not measured
    shortest_ = INFINITY;
    longest_ = 0;
    set_status(RunStatus::finished);
    watch.begin(*system, stepper_->chooses_steps() ? options.tolerance : Tolerance{}, method.info.preserves,
                method.order);
    begin_looking();
    initial_ = initial;
    rates_.see(state_, 0);
    seeds_.begin(*system, stepper_->chooses_steps() ? options.tolerance : Tolerance{}, state_);
    if (const char* trouble = watch.see(state_, stepper_.get()))
      throw InputError(
          fmt::format("the {} is not a finite number at the initial values; start elsewhere, or change the "
                      "expression so that it is defined there",
                      trouble));
    if (wants_condition) condition_ = method.condition(system, state_, options.step, options.solver);
    events.start(state_);
    recording.open(system, method, options, watch);
    record_now();  // the first state always
    recording.schedule.recorded(state_.t);
  });
  wall_seconds_ = 0;
  started_ = true;
}

void Run::step() {
  if (!started_) throw InputError("start() comes before step()");
  guarded([&] {
    if (grid_.end < INFINITY || state_.t != grid_.time(grid_.k)) grid_ = {state_.t, options.step};
    go_on(INFINITY);
  });
}

// Steps and rows need times to end at.
void Run::refuse_coarse_time(double end) const {
  const double largest = std::max(std::abs(state_.t), std::abs(end)),
               resolution = std::nextafter(largest, INFINITY) - largest;
  const double h = stepper_->chooses_steps() ? end - state_.t : options.step;
  if (end == state_.t || h > 100 * resolution) return;
  throw InputError(fmt::format(
      "integrate: times near {:g} lie {:g} apart, so that {} of {:g} has no meaning there; count the time from "
      "a start near 0, or take longer steps",
      largest, resolution, stepper_->chooses_steps() ? "a run" : "a step", h));
}

void Run::until(double end) {
  refuse_leg(end);
  guarded([&] {
    set_out(end);
    while (go_on_leg()) {
    }
    end_leg();
  });
}

void Run::begin_leg(double end) {
  refuse_leg(end);
  guarded([&] { set_out(end); });
}

// A step, what happens in it, and its row. True when an event ends the run.
bool Run::go_on(double limit) {
  if (stepper_->chooses_steps())
    chosen_step(limit);
  else
    fixed_step();
  const double reached = state_.t;
  const bool ended = notice_events();
  if (state_.t != reached) return ended;  // set back to an event, whose rows are recorded
  ++grid_.k;
  if (!ended) record_if_due();
  return ended;
}

bool Run::told_to_stop(double t) {
  if (is_comparison_ && steps_ >= most_steps_) {
    set_status(RunStatus::stopped, "");
    return true;
  }
  constexpr int few = 8;  // steps, while they are so short that the clock would be a part of them
  if (!progress || ++not_asked_ < patience_) return false;
  const double now = now_in_seconds();
  patience_ = now - last_asked_ < 1e-3 ? few : 1;
  not_asked_ = 0;
  last_asked_ = now;
  if (now - last_told_ <= 0.1) return false;
  last_told_ = now;
  if (progress(t)) return false;
  set_status(RunStatus::stopped, fmt::format("stopped at t = {:g}", t));
  return true;
}

// ---- One step -----------------------------------------------------------------------------------------------------

// Whatever goes wrong, the state is as before.
template <typename Advance>
void Run::attempt(Advance advance) {
  before_ = state_;  // same sizes: nothing is allocated
  try {
    if (const StepResult result = advance(); !result)
      throw StepFailure(result.reason + likely_cause(before_), state_.t);
  } catch (...) {
    state_ = before_;
    throw;
  }
}

// Where the equations contain t, the step is t1 - t0 as it rounds, so that constraints hold at the very time that is
// reported.
void Run::fixed_step() {
  const Grid::Step next = grid_.next(state_.t);
  const double h = depends_on_time_ ? next.to - next.from : next.length;
  work_before_ = stepper_->summed_work();
  if (!events.empty())
    if (const ContactStatistics* contacts = stepper_->contact_statistics()) contacts_before_ = *contacts;
  attempt([&] {
    state_.t = next.from;
    return stepper_->step(state_, h);
  });
  state_.t = next.to;
  accept(h);
  probed_from_ = NAN;
}

// Not over what a step has been seen to fly over.
double Run::step_limit(double limit) const { return state_.t < leap_end_ ? std::min(limit, leap_end_) : limit; }

void Run::chosen_step(double limit) {
  limit = step_limit(limit);
  attempt([&] { return stepper_->advance(state_, limit); });
  fly_over_nothing();
  const double h = state_.t - before_.t;
  if (state_.t < limit || steps_ == 0) shortest_ = std::min(shortest_, h);
  longest_ = std::max(longest_, h);
  accept(h);
}

void Run::again_until(double t) {
  state_ = before_;
  attempt([&] {
    StepResult anew = stepper_->start(state_);
    if (!anew) {
      make_consistent();
      anew = stepper_->start(state_);
    }
    return anew ? stepper_->advance(state_, t) : anew;
  });
}

void Run::accept(double h) {
  if (const char* trouble = watch.see(state_, stepper_.get(), h)) {
    state_ = before_;
    stepper_->reset();
    throw StepFailure(
        fmt::format("after the step from t = {:g} (h = {:g}) the {} is no longer a finite number; a function in the "
                    "equations may have left its domain (the root or logarithm of a negative number, a "
                    "division by zero), or the step is too long{}",
                    before_.t, h, trouble, likely_cause(before_)),
        before_.t);
  }
  if (const std::string& reason = watch.step().impossible(); !reason.empty()) {
    state_ = before_;
    stepper_->reset();
    throw StepFailure(reason, before_.t);
  }
  if (watch.step().suspect()) look_closer();
  if (watch.step().swings()) look_elsewhere();
  look_at_dae(h);
  if (!stepper_->chooses_steps() && leaps_.is_long(before_, state_) &&
      leaps_.unseen(before_, state_, on_the_way(state_)))
    if (flown_over_++ == 0) first_flown_over_ = before_.t;
  leaps_.see(state_);
  gaps_.see(before_, state_, stepper_->contact_impulses());
  bursts_.see(state_, h);
  rates_.see(state_, h);
  seeds_.see(state_);
  growth_.see(state_, stepper_->counters().evaluations);
  ++steps_;
}

// ---- Events of a step ---------------------------------------------------------------------------------------------

// The state within the present step: of the interpolation, or of a shorter step from where it began.
// Shorter steps are another one's, so that nothing of them is remembered or counted.
bool Run::probe(double t, State& out) {
  if (stepper_->chooses_steps()) return stepper_->look_within(before_, t, out);
  if (probed_from_ != before_.t) {
    if (!another().start(before_)) return false;
    probed_from_ = before_.t;
  }
  return another().look_within(before_, t, out);
}

// The last step is made once more, to t only: what came after it is not counted.
void Run::step_back_to(double t) {
  if (stepper_->chooses_steps()) return;
  stepper_->set_summed_work(work_before_);
  if (stepper_->contact_statistics()) stepper_->set_contact_statistics(contacts_before_);
  State again = before_;
  stepper_->look_within(before_, t, again);
}

// The same to see where events may be: without an interpolation, on the cubic polynomial through both ends of the step,
// with velocities that are its slopes, or on straight lines where they are something else.
void Run::sketch(const State& after, double t, State& out) {
  if (stepper_->chooses_steps()) {
    stepper_->sketch(t, out);
    out.t = t;
    return;
  }
  const double h = after.t - before_.t, s = (t - before_.t) / h, r = 1 - s;
  const auto straight = [&](const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = r * a[i] + s * b[i];
  };
  straight(before_.y, after.y, out.y);
  straight(before_.z, after.z, out.z);
  straight(before_.psi, after.psi, out.psi);
  out.t = t;
  if (!system->structure().velocity_is_z || system->structure().is_dae) return;
  for (std::size_t i = 0; i < out.y.size(); ++i) {
    const double v0 = before_.z[i], v1 = after.z[i], v = (after.y[i] - before_.y[i]) / h;
    out.y[i] += h * r * s * (r * (v0 - v) - s * (v1 - v));
    out.z[i] = 6 * r * s * v + r * (1 - 3 * s) * v0 + s * (1 - 3 * r) * v1;
  }
}

// Events of the step that has just been made. Returns true when the run ends there; the motion may have been set back
// to an event and changed.
bool Run::notice_events() {
  if (events.empty()) return false;
  const State after = state_;
  State from = before_;
  EventWatch::Found found;
  const EventWatch::Within within{[&](double t, State& out) {
                                    sketch(after, t, out);
                                    return true;
                                  },
                                  [&](double t, State& out) { return probe(t, out); }, !stepper_->chooses_steps()};
  const int looks = stepper_->chooses_steps() ? 4 : 2;
  while (events.find(from, after, looks, within, found)) {
    if (events.note(found)) fail_of_events(found);
    if (events.event(found.event).action != Event::Action::record) return take_event(found);
    if (!record_between(found.state.t)) return false;
    record_other(found.state, events.event(found.event).name);
    events.passed(found);
    from = found.state;
  }
  return false;
}

void Run::fail_of_events(const EventWatch::Found& found) {
  state_ = found.state;
  throw StepFailure(fmt::format("the events accumulate at t = {:.12g} (the last is '{}'): there is no time between "
                                "them in which the motion could go on; end the run there with an event whose "
                                "action is \"stop\"",
                                found.state.t, events.event(found.event).name),
                    found.state.t);
}

// An event that ends the run there, or changes the motion.
bool Run::take_event(const EventWatch::Found& found) {
  const Event& event = events.event(found.event);
  state_ = found.state;
  step_back_to(state_.t);
  if (!record_between(state_.t)) return false;
  watch.set_back(state_, stepper_.get());
  if (event.action == Event::Action::stop) {
    stepper_->reset();
    const char* trouble = watch.see(state_, stepper_.get());
    trouble ? record_other(state_, event.name) : record_now(event.name);
    return true;
  }
  record_other(state_, event.name);
  state_ = events.changed(*system, found.event, found.state);
  if (!events.restart(found.state, state_, found.event)) fail_of_events(found);
  watch.see(state_, stepper_.get());
  dae_.see(state_, 0);
  rates_.see(state_, 0);
  record_now();
  if (const StepResult result = stepper_->start(state_); !result) throw StepFailure(result.reason, state_.t);
  return false;
}

}  // namespace hinge
