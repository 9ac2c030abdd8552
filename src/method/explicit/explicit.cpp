#include "method/explicit/explicit.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"

namespace hinge {

namespace {

class ExplicitFixed final : public Stepper {
 public:
  ExplicitFixed(std::shared_ptr<const System> system, const ExplicitOptions& options, const SolverOptions& solver)
      : stages_(std::move(system), options, solver.linear_algebra) {}

  StepResult step(State& state, double h) override {
    ++counters_.steps;
    const bool known = begun_ && stages_.continues(state, 1e-9 * std::abs(h));
    begun_ = false;
    if (known)
      stages_.move_on();
    else if (!stages_.begin(state))
      return explain_failure(stages_.system(), state, h, "the accelerations", Convergence(0));
    if (!stages_.stages(h)) return explain_failure(stages_.system(), state, h, "a stage", Convergence(0));
    if (!stages_.finish(h))
      return explain_failure(stages_.system(), state, h, "the projection onto the constraints", Convergence(0));
    begun_ = true;
    const double t1 = state.t + h;
    stages_.end_state(state);
    state.t = t1;
    multipliers_ = state.psi;
    counters_.evaluations = stages_.evaluations();
    counters_.factorisations = stages_.factorisations();
    return {};
  }
  void reset() override { begun_ = false; }

 private:
  ExplicitStages stages_;
  bool begun_ = false;
};

}  // namespace

// Error exponents and limits as in DOPRI5 and DOP853.
ExplicitAdaptive::ExplicitAdaptive(std::shared_ptr<const System> system, const ExplicitOptions& options,
                                   const SolverOptions& solver, const AdaptiveOptions& adaptive)
    : stages_(std::move(system), options, solver.linear_algebra),
      adaptive_(adaptive),
      control_(options.order == 8 ? StepControl(1.0 / 8, 0, 1.0 / 3, 6) : StepControl(1.0 / 5, 0.04, 0.2, 10)) {}

StepResult ExplicitAdaptive::start(const State& state) {
  if (!stages_.begin(state))
    return explain_failure(stages_.system(), state, adaptive_.first_step, "the accelerations", Convergence(0));
  const double most = adaptive_.max_step > 0 ? adaptive_.max_step : INFINITY;
  h_ = adaptive_.first_step > 0 ? std::min(adaptive_.first_step, most) : stages_.first_step(adaptive_.tolerance, most);
  h_ = std::max(h_, 1e-12 * std::abs(state.t));  // a guess below rounding of t would not be taken at all
  control_.restart();
  stiff_steps_ = other_steps_ = 0;
  counters_.evaluations = stages_.evaluations();
  counters_.factorisations = stages_.factorisations();
  return {};
}

StepResult ExplicitAdaptive::advance(State& state, double limit) {
  if (stages_.continues(state, 0))
    stages_.move_on();
  else if (const StepResult begun = start(state); !begun)
    return begun;
  for (double h = h_;;) {
    const bool fitted = state.t + 1.01 * h >= limit;  // no tiny step at the end
    if (fitted) h = limit - state.t;
    if (vanishes(state.t, h) && !fitted) {
      StepResult failure = explain_failure(stages_.system(), state, h, "a stage", Convergence(0));
      failure.reason = fmt::format(
          "at t = {:g} the error stays above the tolerance however short the step is (h = {:g} was tried): the "
          "solution or a force has a jump or a pole here, or the tolerance is below rounding; loosen the tolerance, or "
          "see what happens at this time",
          state.t, h);
      return failure;
    }
    const bool computed = stages_.stages(h);
    const double error = computed ? stages_.error(h, adaptive_.tolerance) : INFINITY;
    if (error <= 1 && stages_.finish(h)) {
      ++counters_.steps;
      counters_.evaluations = stages_.evaluations();
      counters_.factorisations = stages_.factorisations();
      look_for_stiffness(state.t, h);
      const double next = control_.accept(h, error);
      h_ = fitted ? std::max(h_, next) : next;
      if (adaptive_.max_step > 0) h_ = std::min(h_, adaptive_.max_step);
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
void ExplicitAdaptive::look_for_stiffness(double t, double h) {
  if (stages_.stiffness(h) > stages_.tableau().stiff_limit) {
    other_steps_ = 0;
    if (++stiff_steps_ == 15) stiff_since_ = std::min(stiff_since_, t);
  } else if (++other_steps_ >= 6) {
    stiff_steps_ = 0;
  }
}

std::vector<std::string> ExplicitAdaptive::remarks() const {
  if (!std::isfinite(stiff_since_)) return {};
  return {
      fmt::format("the system is stiff at t = {:g}: stability, not accuracy, sets the steps of explicit; radau, bdf "
                  "or auto take longer ones",
                  stiff_since_)};
}

namespace {

MethodInfo explicit_info() {
  return {
      "explicit",
      "Dormand-Prince methods of order 5 and 8 on the index-1 form, with projection; for systems that are not stiff",
      "order",
      "order",
      {.position_level = true, .velocity_level = true},
      {{"order", "5 or 8", "8"},
       {"formulation", "\"index-1\", or \"baumgarte\" with alpha and beta", "\"index-1\""},
       {"alpha", "baumgarte: damping of the velocity constraints", "10"},
       {"beta", "baumgarte: stiffness of the position constraints", "10"},
       {"projection", "\"none\", \"position\", \"velocity\" or \"both\"; with baumgarte the default is \"none\"",
        "\"both\""}},
      "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, Springer 1993"};
}

MethodChoice explicit_from(const Options& o) {
  ExplicitOptions options;
  options.order = integer_option(o, "order", options.order);
  options.formulation.formulation = parse_formulation(text_option(o, "formulation", "index-1"));
  const bool baumgarte = options.formulation.formulation == Formulation::baumgarte;
  for (const char* name : {"alpha", "beta"})
    if (o.count(name) && !baumgarte)
      throw InputError(fmt::format("'{}' belongs to formulation = \"baumgarte\"; add that, or leave it out", name));
  options.formulation.alpha = number_option(o, "alpha", options.formulation.alpha);
  options.formulation.beta = number_option(o, "beta", options.formulation.beta);
  options.projection = parse_projection(text_option(o, "projection", baumgarte ? "none" : "both"));
  return explicit_runge_kutta(options);
}

}  // namespace

MethodChoice explicit_runge_kutta(const ExplicitOptions& options) {
  if (options.order != 5 && options.order != 8)
    throw InputError(fmt::format("'order' is {}; the explicit methods have order 5 or 8", options.order));
  const Formulation formulation = options.formulation.formulation;
  if (formulation != Formulation::index_1 && formulation != Formulation::baumgarte)
    throw InputError(fmt::format(
        "'formulation' is \"{}\"; explicit methods take \"index-1\" or \"baumgarte\": the others are for bdf and radau",
        formulation_name(formulation)));
  for (const double x : {options.formulation.alpha, options.formulation.beta})
    if (!(x >= 0) || !std::isfinite(x))
      throw InputError(fmt::format("'alpha' and 'beta' are not negative, and {} is one of them", x));
  MethodChoice choice{explicit_info(), options.order, "", {}, options.order};
  const bool baumgarte = formulation == Formulation::baumgarte;
  const char* projections[] = {"no projection", "positions projected", "velocities projected", "projected"};
  choice.description = fmt::format("explicit Dormand-Prince, order {}, {}{}", options.order,
                                   baumgarte ? "Baumgarte, " : "", projections[static_cast<int>(options.projection)]);
  choice.info.preserves.position_level =
      options.projection == Projection::both || options.projection == Projection::position;
  choice.info.preserves.velocity_level =
      options.projection == Projection::both || options.projection == Projection::velocity;
  choice.bind = [options](std::shared_ptr<const System> system, const SolverOptions& solver) {
    solver.validate();
    return std::make_unique<ExplicitFixed>(std::move(system), options, solver);
  };
  choice.bind_adaptive = [options](std::shared_ptr<const System> system, const SolverOptions& solver,
                                   const AdaptiveOptions& adaptive) {
    solver.validate();
    adaptive.tolerance.validate();
    return std::make_unique<ExplicitAdaptive>(std::move(system), options, solver, adaptive);
  };
  return choice;
}

MethodEntry explicit_entry() { return {explicit_info(), explicit_from}; }

}  // namespace hinge
