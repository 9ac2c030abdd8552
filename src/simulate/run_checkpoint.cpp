// Checkpoints of a run, and going on from one.
//
// After every so many steps the method is bound anew and starts from the state, in every run, with checkpoints or
// without: what a method remembers from step to step then need not be in the file, and all runs of a model are the same
// run. What the run itself remembers is in the file.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "formulation/implicit/dae_structure.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "method/wrap/piecewise.hpp"
#include "simulate/checkpoint.hpp"
#include "simulate/run.hpp"

namespace hinge {

namespace {

// Without the end of the run, which may be put off.
std::string without_end(const std::string& settings) {
  std::string kept;
  for (std::size_t at = 0; at < settings.size();) {
    const std::size_t end = std::min(settings.find(' ', at), settings.size());
    if (settings.compare(at, 14, "integrate.end=") != 0) kept += settings.substr(at, end - at) + " ";
    at = end + 1;
  }
  return kept;
}

}  // namespace

void remember(Memory& m, State& s) { m(s.t, s.y, s.z, s.psi); }
void remember(Memory& m, Occurrence& o) { m(o.name, o.state); }
void remember(Memory& m, Counters& c) {
  m(c.steps, c.iterations, c.evaluations, c.factorisations, c.full_newton, c.augmentations, c.rejected, c.failed,
    c.solved, c.increments);
}
void remember(Memory& m, Doubt& d) { m(d.cause, d.value, d.remedy); }
void remember(Memory& m, ContactStatistics::Event& e) { m(e.t, e.what); }
void remember(Memory& m, ContactStatistics& c) {
  m(c.contacts, c.most_contacts, c.loaded, c.penetration, c.complementarity, c.cone, c.impact_loss, c.friction_loss,
    c.momentum_balance, c.impacts, c.solves, c.solver_iterations, c.unconverged, c.search_seconds, c.assembly_seconds,
    c.solver_seconds, c.solver, c.velocity_left, c.updates, c.not_unique, c.six_digits, c.six_digits_worst, c.unsettled,
    c.unsettled_to, c.limited, c.limited_rounds, c.work.sum, c.work.least, c.work.most, c.work.rise, c.sliding_work,
    c.kinetic, c.energy_size, c.turning, c.pushed, c.longest, c.events);
}

CheckpointIdentity Run::identity() const {
  const Output& output = recording.output;
  return {version(), output.model + "\n" + without_end(output.settings),
          fmt::format("{} {} {} {} {} {} {} {} {} {}", method.description, options.step, options.tolerance.relative,
                      options.tolerance.absolute, options.max_step, options.start, options.every, options.interval,
                      steps_between_starts(), output.path)};
}

// Few where steps take long, so that a checkpoint is not far; otherwise so many that nobody notices.
long Run::steps_between_starts() const {
  if (checkpoints.steps > 0) return checkpoints.steps;
  const int size = system->ny() + system->nz();
  return size <= 60 ? 1000000 : size <= 600 ? 10000 : size <= 6000 ? 1000 : 200;
}

// What all steppers have said until now.
Run::Earlier Run::so_far() const {
  Earlier all = earlier_;
  all.work = work();
  if (const auto now = contacts()) {
    all.contacts = *now;
    all.has_contacts = true;
  }
  for (std::string& remark : stepper_->remarks())
    if (std::find(all.remarks.begin(), all.remarks.end(), remark) == all.remarks.end() && all.remarks.size() < 8)
      all.remarks.push_back(std::move(remark));
  for (Doubt& doubt : stepper_->doubts()) {  // of a kind the worst
    const auto same = std::find_if(all.doubts.begin(), all.doubts.end(),
                                   [&](const Doubt& other) { return other.remedy == doubt.remedy; });
    if (same == all.doubts.end())
      all.doubts.push_back(std::move(doubt));
    else if (doubt.value > same->value)
      *same = std::move(doubt);
  }
  return all;
}

// All that the run remembers at a place where the method starts anew.
void Run::exchange(Memory& m) {
  double work = stepper_->summed_work();
  m(state_, before_, grid_.start, grid_.h, grid_.k, steps_, shortest_, longest_, wall_seconds_, start_remarks_, work,
    earlier_.work, earlier_.has_contacts, earlier_.contacts, earlier_.remarks, earlier_.doubts);
  recording.exchange(m);
  events.exchange(m);
  watch.exchange(m);
  if (m.reading()) stepper_->set_summed_work(work);
}

// The method anew from here, and the file where it is time for it. Noise goes on: its numbers are never the same twice.
void Run::restart_if_due() {
  if (steps_ == 0 || steps_ % steps_between_starts() != 0 || system->structure().has_noise) return;
  earlier_ = so_far();
  make_consistent();
  begin_anew();
  if (checkpoints.path.empty() || now_in_seconds() - last_checkpoint_ < checkpoints.seconds) return;
  Memory memory;
  exchange(memory);
  write_checkpoint(checkpoints.path, identity(), memory);
  last_checkpoint_ = now_in_seconds();
}

// Hidden constraints of a DAE hold to the tolerance only on the way, which is not enough for a start.
void Run::make_consistent() {
  const SymbolicSystem* symbolic = symbolic_part(*system);
  if (!symbolic || !system->structure().is_dae || analyse_dae(*symbolic).index() < 2) return;
  Start start;
  start.consistent = Consistency::project;
  start.position = state_.y;
  start.velocity = state_.z;
  start.multiplier = state_.psi;
  start.given_velocity.assign(state_.z.size(), 0);
  try {
    state_ = consistent_start(*system, state_.t, start);
  } catch (const Error&) {  // then from where it is
  }
}

void Run::begin_anew() {
  const double work = stepper_->summed_work();
  stepper_ = bind_piecewise(method, system, options.solver, options.steps());
  stepper_->set_summed_work(work);
  if (const StepResult result = stepper_->start(state_); !result) throw StepFailure(result.reason, state_.t);
}

void Run::resume(const std::string& path) {
  finish();
  try {
    recording.quantities.compile(*system);
    events.compile(*system);
    Memory memory = read_checkpoint(path, identity());
    state_ = before_ = shown_ = State{};
    solution_.reset();
    set_status(RunStatus::finished);
    watch.begin(*system, stepper_->chooses_steps() ? options.tolerance : Tolerance{}, method.info.preserves,
                method.order);
    begin_looking();
    grid_ = {};
    exchange(memory);
    const bool fits = state_.y.size() == static_cast<std::size_t>(system->ny()) &&
                      state_.z.size() == static_cast<std::size_t>(system->nz()) &&
                      state_.psi.size() == static_cast<std::size_t>(system->npsi());
    if (memory.broken() || !memory.at_end() || !fits)
      throw InputError(fmt::format("the checkpoint '{}' does not fit this model; begin the run anew", path));
    shown_ = state_;
    watch.look_again(state_);
    recording.reopen(system, method, options, watch);
    begin_anew();
    std::erase_if(start_remarks_, [](const std::string& remark) { return remark.starts_with("continued from '"); });
    start_remarks_.push_back(
        fmt::format("continued from '{}' at t = {:.10g}; the verdict is of the steps since then, its "
                    "sums of all",
                    path, state_.t));
  } catch (...) {
    close_as_failed();
    throw;
  }
  resumed_ = started_ = true;
}

}  // namespace hinge
