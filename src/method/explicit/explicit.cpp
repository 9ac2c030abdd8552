#include "method/explicit/explicit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"

namespace hinge {

// Error exponents and limits as in DOPRI5 and DOP853.
ExplicitStepper::ExplicitStepper(std::shared_ptr<const System> system, const ExplicitOptions& options,
                                 const SolverOptions& solver, const StepOptions& steps)
    : Stepper(steps.chosen()),
      stages_(std::move(system), options, solver.linear_algebra),
      options_(steps),
      control_(options.order == 8 ? StepControl(1.0 / 8, 0, 1.0 / 3, 6) : StepControl(1.0 / 5, 0.04, 0.2, 10)) {}

StepResult ExplicitStepper::step(State& state, double h) {
  if (chooses_steps()) return Stepper::step(state, h);
  ++counters_.steps;
  const bool known = begun_ && stages_.continues(state, 1e-9 * std::abs(h));
  begun_ = false;
  if (known)
    stages_.move_on();
  else if (!stages_.begin(state))
    return explain_failure(stages_.system(), state, h, "the accelerations");
  if (!stages_.stages(h)) return explain_failure(stages_.system(), state, h, "a stage");
  if (!stages_.finish(h)) return explain_failure(stages_.system(), state, h, "the projection onto the constraints");
  begun_ = true;
  const double t1 = state.t + h;
  stages_.end_state(state);
  state.t = t1;
  multipliers_ = state.psi;
  count();
  return {};
}

StepResult ExplicitStepper::start(const State& state) {
  if (!chooses_steps()) return Stepper::start(state);
  if (!stages_.begin(state)) return explain_failure(stages_.system(), state, options_.first_step, "the accelerations");
  const double most = options_.max_step > 0 ? options_.max_step : INFINITY;
  h_ = options_.first_step > 0 ? std::min(options_.first_step, most) : stages_.first_step(options_.tolerance, most);
  h_ = std::max(h_, 1e-12 * std::abs(state.t));  // a guess below rounding of t would not be taken at all
  control_.restart();
  stiff_steps_ = other_steps_ = 0;
  count();
  return {};
}

// As advance() begins, for which nothing changes: who has moved on does so once more from the same place.
StepAhead* ExplicitStepper::ahead(const State& state, double limit) {
  if (!chooses_steps() || !stages_.continues(state, 0)) return nullptr;
  const double h = state.t + 1.01 * h_ >= limit ? limit - state.t : h_;
  if (vanishes(state.t, h)) return nullptr;
  stages_.move_on();
  ExplicitAhead* const step = stages_.ahead(h, options_.tolerance);
  if (!step) return nullptr;
  ahead_from_ = state.t;
  ahead_limit_ = limit;
  if (!step->refused) step->refused = [this] { return refuse_ahead(); };
  return step;
}

// What advance() does where the error is too large, up to the next step, which it would try.
bool ExplicitStepper::refuse_ahead() {
  double h = stages_.asked_ahead();
  const double error = stages_.error_ahead();
  if (!std::isfinite(error) || !(error > 1)) return false;
  stages_.refuse_ahead();
  ++counters_.rejected;
  h = h_ = control_.reject(h, error);
  if (ahead_from_ + 1.01 * h >= ahead_limit_) h = ahead_limit_ - ahead_from_;
  stages_.ahead(h, options_.tolerance);
  return !vanishes(ahead_from_, h);
}

StepResult ExplicitStepper::advance(State& state, double limit) {
  if (!chooses_steps()) return Stepper::advance(state, limit);
  if (stages_.continues(state, 0))
    stages_.move_on();
  else if (const StepResult begun = start(state); !begun)
    return begun;
  for (double h = h_;;) {
    const bool fitted = state.t + 1.01 * h >= limit;  // no tiny step at the end
    if (fitted) h = limit - state.t;
    if (vanishes(state.t, h) && !fitted) {
      StepResult failure = explain_failure(stages_.system(), state, h, "a stage");
      failure.reason = fmt::format(
          "at t = {:g} the error stays above the tolerance however short the step is (h = {:g} was tried): the "
          "solution or a force has a jump or a pole here, or the tolerance is below rounding; loosen the tolerance, or "
          "see what happens at this time",
          state.t, h);
      return failure;
    }
    const bool computed = stages_.stages(h, options_.tolerance);
    const double error = computed ? stages_.error(h, options_.tolerance) : INFINITY;
    if (error <= 1 && stages_.finish(h)) {
      ++counters_.steps;
      count();
      look_for_stiffness(state.t, h);
      const double next = control_.accept(h, error);
      h_ = fitted ? std::max(h_, next) : next;
      if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
      stages_.end_state(state);
      if (fitted) state.t = limit;
      return {};
    }
    const bool too_large = std::isfinite(error) && error > 1;
    ++(too_large ? counters_.rejected : counters_.failed);
    h = h_ = too_large ? control_.reject(h, error) : control_.fail(h);
  }
}

// DOP853's test: |h lambda| of the fastest motion at the border of the stability domain, in 15 steps with fewer than 6
// others in a row between them.
void ExplicitStepper::look_for_stiffness(double t, double h) {
  if (stages_.stiff(h)) {
    other_steps_ = 0;
    if (++stiff_steps_ == 15) stiff_since_ = std::min(stiff_since_, t);
  } else if (++other_steps_ >= 6) {
    stiff_steps_ = 0;
  }
}

std::vector<std::string> ExplicitStepper::remarks() const {
  if (!std::isfinite(stiff_since_)) return {};
  return {
      fmt::format("the system is stiff at t = {:g}: stability, not accuracy, sets the steps of explicit; radau, bdf "
                  "or auto take longer ones",
                  stiff_since_)};
}

namespace {

MethodInfo explicit_info() {
  MethodInfo info{
      .name = "explicit",
      .summary =
          "Dormand-Prince methods of order 5 and 8 on the index-1 form, with projection; for systems that are "
          "not stiff",
      .order = "order",
      .multiplier_order = "order",
      .preserves = {.position_level = true, .velocity_level = true},
      .options = formulation_options("index-1", {"index-1", "baumgarte"}),
      .reference = "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, Springer 1993",
      .can = {.chosen_steps = true, .velocity_constraints = true}};
  info.options.push_back(projection_option("", "\"both\", with baumgarte \"none\""));
  info.options.insert(info.options.begin(), {.name = "order",
                                             .meaning = "of the method",
                                             .default_value = "8",
                                             .type = OptionType::integer,
                                             .values = {5, 8}});
  return info;
}

}  // namespace

MethodChoice explicit_runge_kutta(const ExplicitOptions& options) {
  const Formulation formulation = options.formulation.formulation;
  MethodChoice choice{explicit_info(), options.order, "", {}, options.order};
  check_options(choice.info.options, {{"order", static_cast<double>(options.order)},
                                      {"formulation", formulation_name(formulation)},
                                      {"alpha", options.formulation.alpha},
                                      {"beta", options.formulation.beta}});
  const char* projections[] = {"no projection", "positions projected", "velocities projected", "projected"};
  choice.description = fmt::format("explicit Dormand-Prince, order {}, {}{}", options.order,
                                   formulation == Formulation::baumgarte ? "Baumgarte, " : "",
                                   projections[static_cast<int>(options.projection)]);
  choice.info.preserves.position_level = projects_position(options.projection);
  choice.info.preserves.velocity_level = projects_velocity(options.projection);
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions& steps) {
    return std::make_unique<ExplicitStepper>(std::move(system), options, solver, steps);
  };
  return choice;
}

MethodEntry explicit_entry() {
  return {explicit_info(), [](const GivenOptions& o) {
            const FormulationOptions form = read_formulation(o);
            const bool projected = form.formulation != Formulation::baumgarte;
            const Projection usual = projected ? Projection::both : Projection::none;
            return explicit_runge_kutta(
                {o.integer("order"), form, o.has("projection") ? o.choice<Projection>("projection") : usual});
          }};
}

}  // namespace hinge
