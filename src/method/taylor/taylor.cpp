#include "method/taylor/taylor.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/step_control.hpp"
#include "method/step_failure.hpp"

namespace hinge {

namespace {

constexpr double growth = 8;            // of a step beyond the last one, at most
constexpr double first_part = 0.01;     // of the pace of the start, where no first step is given
constexpr int most_scales = 60;         // tried until the coefficients are neither too large nor too small
constexpr double too_large = 1.0 / 64;  // scales of coefficients when they are scaled down,
constexpr double allowed_mismatch = 4, allowed_within = 1000;  // within a step only what was missed is looked for
constexpr double least_part = 0.4;                             // of the unit of the last series, else it is another one
constexpr double longer = 1.5;                                 // than the last step
constexpr int bisections = 48;

// The one nearest to h.
double power_of_two(double h) {
  int exponent = 0;
  const double part = std::frexp(h, &exponent);  // 0.5 to 1
  return std::ldexp(1.0, part < 0.7 ? exponent - 1 : exponent);
}

}  // namespace

TaylorStepper::TaylorStepper(std::shared_ptr<const System> system, std::unique_ptr<SeriesPoint> point,
                             const StepOptions& steps)
    : Stepper(steps.chosen()),
      system_(std::move(system)),
      point_(std::move(point)),
      options_(steps),
      depends_on_time_(system_->structure().depends_on_time) {}

StepResult TaylorStepper::failure(const State& state, double h, const char* what) const {
  if (!system_->structure().is_dae) return explain_failure(*system_, state, h, what);
  return {false, fmt::format("in the step from t = {:g} (h = {:g}), {} could not be solved: the equations have no "
                             "solution nearby, or the system Jacobian is singular there",
                             state.t, h, what)};
}

StepResult TaylorStepper::step(State& state, double h) {
  if (chooses_steps()) return Stepper::step(state, h);
  ++counters_.steps;
  const bool known = begun_ && point_->continues(state);
  begun_ = false;
  if (known)
    point_->move_on();
  else if (!point_->begin(state))
    return failure(state, h, "the accelerations");
  if (!point_->expand(h)) return failure(state, h, "the stages of the series");
  if (diverges())
    return {false,
            fmt::format("in the step from t = {:g} (h = {:g}) the last terms of the series are larger than the motion "
                        "itself: it does not converge that far; take a shorter step, or a tolerance",
                        state.t, h)};
  if (!point_->reach(h)) return failure(state, h, "the constraints at its end");
  if (point_->passed_singularity()) return meeting(state, h);
  begun_ = true;
  const double t1 = state.t + h;
  point_->end_state(state);
  state.t = t1;
  multipliers_ = state.psi;
  counters_.evaluations = counters_.factorisations = point_->evaluations();
  return {};
}

StepResult TaylorStepper::start(const State& state) {
  begun_ = false;
  if (!chooses_steps()) return Stepper::start(state);
  if (!point_->begin(state)) return failure(state, options_.first_step, "the accelerations");
  h_ = options_.first_step > 0 ? options_.first_step : first_part * point_->pace();
  first_ = true;
  last_ = scale_ = 0;
  return {};
}

// Of the series in units of the step: does the last term exceed the first two, of positions and velocities alike? Where
// a force grows on what rests at the origin these are 0, and the first that are not are taken.
bool TaylorStepper::diverges() const {
  double first = 0, last = 0;
  int terms = 0;
  for (const auto& x : point_->controlled()) {
    terms = std::max(terms, x.last);
    last = std::max(last, std::abs(x.series[x.last]));
  }
  for (int k = 1; first == 0 && k < terms; ++k)
    for (const auto& x : point_->controlled())
      if (k < x.last) first = std::max(first, std::abs(x.series[k - 1]) + std::abs(x.series[k]));
  return last > first;
}

// The longest step, in units of the scale: the last two terms of every number are within the tolerance.
double TaylorStepper::longest() const {
  const Tolerance& tolerance = options_.tolerance;
  double most = -INFINITY, size[2] = {0, 0};
  const auto limit = [&](int last) {
    for (const int k : {0, 1})
      if (size[k] > 0) most = std::max(most, std::log(size[k]) / (last - k));
    size[0] = size[1] = 0;
  };
  int last = 0;
  for (const auto& x : point_->controlled()) {
    if (x.last != last) {
      if (last > 0) limit(last);
      last = x.last;
    }
    const double scale = 1 / (tolerance.absolute + tolerance.relative * std::abs(x.series[0]) + 1e-300);
    for (const int k : {0, 1}) size[k] = std::max(size[k], std::abs(x.series[last - k]) * scale);
  }
  if (last > 0) limit(last);
  return std::exp(-most);
}

// The series, in units of about the last step; of a first one, in units that are found.
StepResult TaylorStepper::expand(const State& state) {
  double tau = 0;  // of the longest step, in units of h_
  for (int tries = 0;; ++tries) {
    if (const double part = h_ / scale_; !(part > least_part && part < 1 / least_part)) scale_ = power_of_two(h_);
    const double scale = scale_;
    const bool computed = point_->expand(scale);
    tau = computed ? longest() * scale / h_ : too_large;
    const bool fits = computed && tau > 1 / growth && (tau < growth || !first_);
    if (fits || (computed && tries >= most_scales)) break;
    if (tries >= most_scales || vanishes(state.t, h_)) {
      if (!computed) return failure(state, h_, "the stages of the series");
      break;
    }
    if (computed && tau > 1 && tries > 3) break;  // as of polynomials: the next steps go on with that
    h_ *= std::clamp(tau, too_large, 1 / too_large);
  }
  h_ *= std::min(tau, growth);
  first_ = false;
  return {};
}

// Coefficients at one point do not know of a short force that comes later: so equations that contain t, and steps that
// are much longer than the last one, are looked at within the step, too.
bool TaylorStepper::holds(double h) {
  const Tolerance& tolerance = options_.tolerance;
  if (depends_on_time_ || h > longer * last_)
    for (const double part : {0.25, 0.5, 0.75})
      if (!(point_->mismatch_at(part * h, tolerance) <= allowed_within)) return false;
  return point_->reach(h) && point_->mismatch(tolerance) <= allowed_mismatch;
}

StepResult TaylorStepper::advance(State& state, double limit) {
  if (!chooses_steps()) return Stepper::advance(state, limit);
  if (point_->continues(state))
    point_->move_on();
  else if (StepResult begun = start(state); !begun)
    return begun;
  if (StepResult expanded = expand(state); !expanded) return expanded;
  if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
  for (double h = h_;; h = h_ = h / 2) {
    const bool fitted = state.t + 1.01 * h >= limit;  // no tiny step at the end
    if (fitted) h = limit - state.t;
    if (vanishes(state.t, h) && !fitted) return vanishing(state, h);
    if (!holds(h)) {
      ++counters_.rejected;
      continue;
    }
    if (point_->passed_singularity()) return meeting(state, h);
    last_ = fitted ? std::max(last_, h) : h;
    ++counters_.steps;
    counters_.evaluations = counters_.factorisations = point_->evaluations();
    point_->end_state(state);
    if (fitted) state.t = limit;
    return {};
  }
}

StepResult TaylorStepper::vanishing(const State& state, double h) const {
  return {false,
          fmt::format("at t = {:g} the radius of convergence of the series goes to zero (steps of h = {:g} were "
                      "reached): the solution has a singularity at t = {:.10g} or an equation is not smooth there; see "
                      "what happens at this time, or loosen the tolerance",
                      state.t, h, state.t)};
}

// The system Jacobian is regular at the beginning of the step, and has another sign, or none, at its end.
StepResult TaylorStepper::meeting(const State& state, double h) {
  double before = 0, after = h;
  for (int k = 0; k < bisections; ++k) {
    const double middle = 0.5 * (before + after);
    (point_->reach(middle) && !point_->passed_singularity() ? before : after) = middle;
  }
  return {false, fmt::format("at t = {:.12g} the system Jacobian of the DAE is singular: solutions meet there, or end, "
                             "and the equations do not say which way is meant; stop before, or start anew behind it",
                             state.t + after)};
}

}  // namespace hinge
