// Closer looks: single steps once more in other ways, the whole run where its tolerance may not have reached, and why a
// step may have failed.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/lost_unknown.hpp"
#include "hinge/error.hpp"
#include "method/default_method.hpp"
#include "method/wrap/piecewise.hpp"
#include "method/wrap/sliding.hpp"
#include "simulate/left_tables.hpp"
#include "simulate/run.hpp"

namespace hinge {

namespace {
constexpr int most_leaps = 40;  // times that one step is made shorter, since it flies over something
}

void Run::begin_looking() {
  dae_.begin(*system, stepper_->chooses_steps());
  leaps_.begin(*system, stepper_->chooses_steps() ? &options.tolerance : nullptr);
  gaps_.begin(*system, stepper_->chooses_steps());
  bursts_.begin(*system, stepper_->chooses_steps());
  rates_.begin(*system, stepper_->chooses_steps(), method.order);
  seeds_ = {};
  growth_.begin(*system);
  initial_.reset();
  once_more_.reset();
  flown_over_ = 0;
  leap_end_ = -INFINITY;
}

// The step of chosen length that has just been made, once more up to where it flies over something, or passes a burst.
void Run::fly_over_nothing() {
  for (int n = 0; n < most_leaps; ++n) {
    std::optional<double> when;
    if (leaps_.is_long(before_, state_)) when = leaps_.unseen(before_, state_, on_the_way(state_));
    const bool burst = !when;
    if (burst && bursts_.ahead(before_, state_)) when = bursts_.unseen(before_, state_, on_the_way(state_));
    if (!when) return;
    leap_end_ = *when;
    again_until(*when);
    if (state_.t >= leap_end_ && !(burst ? bursts_.seen_by(state_) : leaps_.seen_by(state_))) return;
  }
}

// A suspect step once more, in halves, and in halves of these where they still go against their velocities. One that a
// method of high order takes over more than half a period is right: its halves lead to the same place.
void Run::look_closer() {
  const bool chosen = stepper_->chooses_steps();
  Stepper& stepper = chosen ? *stepper_ : another();
  State from = before_, to = state_, middle = state_, end = state_;
  const auto reach = [&](const State& begin, double t, State& out) {
    if (!chosen && !stepper.start(begin)) return false;
    const bool found = stepper.look_within(begin, t, out);
    out.t = t;
    return found;
  };
  const auto halve = [&] { return reach(from, from.t + (to.t - from.t) / 2, middle); };
  bool found = halve() && (chosen || reach(middle, to.t, end));
  for (int n = 0; found && n < 3; ++n) {
    const bool first = watch.step().against(from, middle);
    if (!first && !watch.step().against(middle, to)) break;
    (first ? to : from) = middle;
    found = n < 2 && halve();
  }
  watch.step().compare(found ? &end : nullptr);
}

// The step by a method with a tolerance. One that has no answer says nothing.
void Run::look_elsewhere() {
  constexpr double relative = 1e-7, rounding = 1e-10;
  if (!solution_) {
    double size = 0;
    for (const std::vector<double>* numbers : {&before_.y, &before_.z, &state_.y, &state_.z})
      for (const double x : *numbers) size = std::max(size, std::abs(x));
    solution_ = bind_piecewise(make_method(default_method({}, true), {}), system, options.solver,
                               {{relative, rounding * size}, 0, 0});
  }
  State end = before_;
  if (solution_->start(before_) && solution_->step(end, state_.t - before_.t)) watch.step().compare_solution(end);
}

// Another stepper for steps of given length, so that nothing of this is remembered.
Stepper& Run::another() {
  if (!closer_)
    closer_ = bind_piecewise(method, system, options.solver, {options.tolerance, options.step, options.max_step});
  return *closer_;
}

std::function<void(double, State&)> Run::on_the_way(const State& after) {
  return [this, after](double t, State& out) { sketch(after, t, out); };
}

void Run::look_at_dae(double h) {
  if (!system->structure().is_dae) return;
  dae_.see(state_, h);
  if (dae_.changed()) dae_.locate(before_, state_, on_the_way(state_));
}

// The run once more in another way, of which nothing else is seen; also where it was at the time of `on_the_way`. It
// may take a few times as many steps, and is null where they are not enough, or where it fails.
std::unique_ptr<Run> Run::once_more(const MethodChoice& other_method, const SimulationOptions& other_options,
                                    State* on_the_way) const {
  constexpr long most_work = 1000000;  // steps times their size; few may have seen nothing of what it takes many for
  try {
    auto other = std::make_unique<Run>(system, other_method, other_options);
    for (std::size_t k = 0; k < events.size(); ++k) other->events.add(events.event(k));
    other->is_comparison_ = true;
    other->most_steps_ = 10 * steps_ + most_work / (100 + system->ny() + system->nz());
    other->start(*initial_);
    if (on_the_way) {
      other->until(on_the_way->t);
      *on_the_way = other->state_;
    }
    other->until(state_.t);
    if (other->state_.t == state_.t) return other;
  } catch (const Error&) {  // no answer
  }
  return nullptr;
}

// With a hundredth of the tolerance, where what it grows from was below, or where errors grow: how far away does that
// end, or come to where they had grown most?
void Run::compare_tolerances(std::vector<Doubt>& doubts) {
  if (is_comparison_ || !stepper_->chooses_steps() || !initial_ || status_ == RunStatus::failed) return;
  const bool small = seeds_.suspect(), grows = growth_.suspect(options.tolerance);
  if (!small && !grows) return;
  if (!once_more_ || once_more_->first != state_.t) {
    once_more_.emplace(state_.t, 0.0);
    SimulationOptions finer = options;
    finer.tolerance.absolute = small ? seeds_.finer() : options.tolerance.absolute / 100;
    finer.tolerance.relative = std::max(1e-13, options.tolerance.relative / 100);
    State there = growth_.peak();
    if (const auto other = once_more(method, finer, grows ? &there : nullptr); !other)
      once_more_->second = grows ? INFINITY : 0;
    else if (grows)
      once_more_->second = std::max(growth_.apart(state_, other->state_), growth_.apart(growth_.peak(), there));
    else
      for (std::size_t i = 0; i < state_.y.size(); ++i)
        once_more_->second =
            std::max(once_more_->second, std::abs(other->state_.y[i] - state_.y[i]) /
                                             std::max(std::min(seeds_.size(), other->seeds_.size()), 1e-300));
  }
  constexpr double much = 1e-2;
  if (grows && once_more_->second > growth_.allowed(options.tolerance))
    doubt_growth("with a hundredth of the tolerance", "take a smaller tolerance, or end the run earlier", doubts);
  else if (small && once_more_->second > much)
    doubts.push_back({fmt::format("the motion grows from, or consists of, numbers smaller than the absolute tolerance "
                                  "({:.3g}); with a smaller one the run ends elsewhere, by this part of the size of "
                                  "the motion",
                                  options.tolerance.absolute),
                      once_more_->second,
                      "give an absolute tolerance below the smallest numbers that count: tolerance = { relative = "
                      "..., absolute = ... }"});
}

// The other run goes elsewhere, or does not come to the end.
void Run::doubt_growth(const char* with, const char* remedy, std::vector<Doubt>& doubts) const {
  const bool known = std::isfinite(once_more_->second);
  doubts.push_back({known ? fmt::format("the equations multiply errors by about {:.0e} on the way; {} the run goes "
                                        "elsewhere, by this part of the size of an unknown",
                                        growth_.most(), with)
                          : fmt::format("{} the run does not come to this end; the equations multiply errors on the "
                                        "way, by about",
                                        with),
                    known ? once_more_->second : growth_.most(), remedy});
}

// With a tolerance, where steps of given length are long beside equations of first order, or for how errors grow.
void Run::compare_steps(std::vector<Doubt>& doubts) {
  if (is_comparison_ || stepper_->chooses_steps() || !initial_ || status_ == RunStatus::failed) return;
  const double growth = growth_.most();
  const bool grows = growth > GrowthWatch::much;
  if (!rates_.suspect(growth)) return;
  if (!once_more_ || once_more_->first != state_.t) {
    once_more_.emplace(state_.t, 0.0);
    SimulationOptions chosen;
    chosen.start = options.start;
    chosen.solver = options.solver;
    const double relative =
        std::clamp(1e-3 / (growth * static_cast<double>(steps_)), 1e-12, 1e-6);  // its errors add up and grow, too
    chosen.tolerance = {relative, 1e-3 * relative * rates_.size()};
    const MethodChoice other_method = make_method(default_method(system->structure(), true), {});
    const auto other = once_more(other_method, chosen);
    once_more_->second = other ? rates_.apart(state_, other->state_) : grows ? INFINITY : 0;
  }
  constexpr double much = 0.04;
  if (!(once_more_->second > much)) return;
  if (grows)
    doubt_growth("with a tolerance", "take a shorter step, or give a tolerance", doubts);
  else
    doubts.push_back(
        {"steps are long beside what the equations do by themselves: a solution with a tolerance ends "
         "elsewhere, by this part of the size of an unknown or a state",
         once_more_->second, "take a shorter step, or give a tolerance"});
}

// Which table a step may have left, what may no longer determine an unknown, whether the motion slides.
std::string Run::likely_cause(const State& from) const {
  const bool chosen = stepper_->chooses_steps();
  std::string text;
  try {
    text = left_tables(*system, from, chosen ? std::max(longest_, options.step) : options.step) +
           lost_unknown(*system, from, chosen ? options.tolerance.absolute : 0);
    const auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
    if (!chosen && symbolic && slides_within(symbolic, from, options.step))
      text += fmt::format(
          "; near there the equations lead back from both sides of a place where they jump (in if, abs, sign, ...), as "
          "dry friction at rest does, and no step is short enough. {}",
          instead_of_jumps);
  } catch (const Error&) {  // of two reasons the first one counts
  }
  return text;
}

}  // namespace hinge
