// What every stepper has.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/method.hpp"

namespace hinge {

void SolverOptions::validate() const {
  if (max_iterations < 1)
    throw InputError(fmt::format("max_iterations is {}; at least 1 iteration is needed, 50 is usual", max_iterations));
}

void Tolerance::validate() const {
  const auto wrong = [](double x) { return !(x >= 0) || x >= 1; };
  if (wrong(relative) || !(absolute >= 0) || !std::isfinite(absolute))
    throw InputError(
        fmt::format("a tolerance of {:g} (relative), {:g} (absolute) cannot be met; give numbers such as 1e-6",
                    relative, absolute));
  if (relative > 0 && relative < 1e-15)
    throw InputError(
        fmt::format("a relative tolerance of {:g} is below what rounding allows; the smallest is 1e-15, and most "
                    "methods reach about 1e-13",
                    relative));
}

Counters& Counters::operator+=(const Counters& more) {
  for (long Counters::*part :
       {&Counters::steps, &Counters::iterations, &Counters::evaluations, &Counters::factorisations,
        &Counters::full_newton, &Counters::augmentations, &Counters::rejected, &Counters::failed, &Counters::solved})
    this->*part += more.*part;
  increments += more.increments;
  return *this;
}

void Counters::solved_since(const Counters& before, const Counters& now) {
  solved += now.solved - before.solved;
  increments += now.increments - before.increments;
}

void WorkDone::add(double work) { *this += {work, std::min(0.0, work), std::max(0.0, work), std::max(0.0, work)}; }

WorkDone& WorkDone::operator+=(const WorkDone& next) {
  rise = std::max({rise, next.rise, sum + next.most - least});
  least = std::min(least, sum + next.least);
  most = std::max(most, sum + next.most);
  sum += next.sum;
  return *this;
}

ContactStatistics& ContactStatistics::operator+=(const ContactStatistics& more) {
  using S = ContactStatistics;
  contacts = more.contacts;
  loaded = more.loaded;
  most_contacts = std::max(most_contacts, more.most_contacts);
  for (double S::*part : {&S::penetration, &S::complementarity, &S::cone, &S::momentum_balance, &S::six_digits_worst,
                          &S::unsettled_to, &S::kinetic, &S::energy_size, &S::longest})
    this->*part = std::max(this->*part, more.*part);
  for (double S::*part :
       {&S::impact_loss, &S::friction_loss, &S::search_seconds, &S::assembly_seconds, &S::solver_seconds,
        &S::velocity_left, &S::updates, &S::sliding_work, &S::turning, &S::pushed})
    this->*part += more.*part;
  for (long S::*part : {&S::impacts, &S::solves, &S::solver_iterations, &S::unconverged, &S::not_unique, &S::six_digits,
                        &S::unsettled, &S::limited, &S::limited_rounds})
    this->*part += more.*part;
  work += more.work;
  if (!more.solver.empty()) solver = more.solver;
  events.insert(events.end(), more.events.begin(), more.events.end());
  return *this;
}

StepResult Stepper::start(const State& /*state*/) {
  reset();
  return {};
}

StepResult Stepper::step(State& state, double h) {
  if (!chooses_steps_) throw std::logic_error("a method with steps of given length implements step()");
  const State before = state;
  for (const double end = state.t + h; state.t < end;)
    if (StepResult result = advance(state, end); !result) {
      state = before;
      return result;
    }
  return {};
}

StepResult Stepper::advance(State& state, double limit) {
  if (chooses_steps_) throw std::logic_error("a method that chooses its steps implements advance()");
  StepResult result = step(state, limit - state.t);
  if (result) state.t = limit;
  return result;
}

bool Stepper::look_within(const State& before, double t, State& state) {
  bool ok = true;
  if (chooses_steps_) {
    interpolate(t, state);
  } else {
    state = before;
    reset();
    ok = static_cast<bool>(step(state, t - before.t));
  }
  state.t = t;
  return ok;
}

}  // namespace hinge
