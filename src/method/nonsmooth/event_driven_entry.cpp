// event-driven in the list of methods: with steps of given length, with chosen ones, and its options.
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/event_driven.hpp"

namespace hinge {

namespace {

constexpr long most_parts = 1000000;  // of a step of given length, between events and as the base method makes them
constexpr const char* too_many_parts =
    "a million events, or steps of the base method, do not come to the end of one step; use moreau-jean, whose steps "
    "do "
    "not stop at events, a larger v_stop, or a shorter step";

class EventDrivenStepper final : public Stepper {
 public:
  EventDrivenStepper(std::shared_ptr<const System> system, const EventDrivenOptions& options,
                     const SolverOptions& solver, const StepOptions& steps, const StepOptions& of_base)
      : Stepper(steps.chosen()), motion_(std::move(system), options, solver, of_base) {}

  StepResult start(const State& state) override {
    motion_.forget();
    expected_ = state;
    return {};
  }
  StepResult advance(State& state, double limit) override {
    if (!chooses_steps()) return Stepper::advance(state, limit);
    if (!continues(state, 0))
      if (StepResult begun = motion_.begin(state); !begun) return begun;
    ++counters_.steps;
    StepResult result = motion_.advance(state, limit);
    motion_.count(counters_);
    expected_ = state;
    return result;
  }
  // Steps of given length are those of the record; the base method chooses its own between, or takes them as they are.
  StepResult step(State& state, double h) override {
    if (h < 0 && motion_.has_contacts()) return {false, "event-driven steps forward only: impacts cannot be undone"};
    const State start = state;
    const double end = state.t + h;
    // times of a run are multiples of the step; the motion's own may differ by rounding
    if (continues(state, 1e-9 * std::abs(h)))
      state.t = expected_.t;
    else if (StepResult begun = motion_.begin(state); !begun)
      return begun;
    ++counters_.steps;
    long parts = 0;
    while (h > 0 ? state.t < end : state.t > end)
      if (StepResult result = ++parts > most_parts ? StepResult{false, too_many_parts} : motion_.advance(state, end);
          !result) {
        state = start;
        motion_.forget();
        return result;
      }
    motion_.count(counters_);
    multipliers_ = state.psi;
    expected_ = state;
    return {};
  }
  void interpolate(double t, State& state) const override { motion_.interpolate(t, state); }
  void reset() override { motion_.forget(); }
  const ContactStatistics* contact_statistics() const override { return &motion_.statistics(); }

 private:
  bool continues(const State& state, double rounding) const {
    return motion_.begun() && std::abs(state.t - expected_.t) <= rounding && state.y == expected_.y &&
           state.z == expected_.z;
  }

  mutable EventDriven motion_;  // interpolation needs its work space
  State expected_;
};

MethodInfo event_driven_info() {
  return {
      .name = "event-driven",
      .summary = "smooth motion by any method between the events of contacts, which are located to round-off",
      .order = "of the base method",
      .multiplier_order = "of the base method",
      .preserves = {.position_level = true, .velocity_level = true},
      .options = {word_row("base", {"explicit"}, "the method between events, by name"),
                  number_row("base_tolerance", "1e-12", {0, 1, true, true},
                             "of a base method that chooses its steps, where the run has a step"),
                  number_row("v_stop", "1e-6", positive_range,
                             "an impact that rebounds more slowly closes the contact (Zeno's rule)"),
                  word_row("impact", {"newton", "poisson", "sequential"}, "the law of impact"), sequence_option()},
      .reference =
          "F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, Wiley 1996; V. Acary, B. "
          "Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, Springer 2008",
      .can = {
          .chosen_steps = true, .contacts = true, .own_reactions = true, .touching_bodies = 3, .joint_friction = true}};
}

}  // namespace

MethodChoice event_driven(const EventDrivenOptions& given) {
  EventDrivenOptions options = given;
  if (!options.base.make) options.base = explicit_runge_kutta();
  if (options.impact == ImpactLaw::moreau || options.impact == ImpactLaw::rounds ||
      options.impact == ImpactLaw::automatic)
    throw OptionError("impact", "event-driven knows the impact laws \"newton\", \"poisson\" and \"sequential\"");
  if (options.base.info.can.contacts)
    throw OptionError("base",
                      fmt::format("'base' is {}, which treats contacts itself; give a method for smooth motion, such "
                                  "as explicit, radau or gauss-lobatto",
                                  options.base.info.name));
  options.solving.validate();
  MethodChoice choice{event_driven_info(), options.base.order, "", {}, options.base.multiplier_order};
  check_options(choice.info.options, {{"v_stop", options.v_stop}});
  choice.description = fmt::format("event-driven, {} between events", options.base.description);
  if (options.impact == ImpactLaw::newton) choice.warnings = energy_warnings;
  choice.info.preserves = options.base.info.preserves;  // between events
  const bool chosen = options.base.info.can.chosen_steps;
  choice.info.can.chosen_steps = chosen;
  const Tolerance tolerance{options.base_tolerance, options.base_tolerance};
  tolerance.validate();
  const StepOptions between{chosen ? tolerance : Tolerance{}};  // the steps of the run
  choice.make = [options, between](std::shared_ptr<const System> system, const SolverOptions& solver,
                                   const StepOptions& steps) {
    return std::make_unique<EventDrivenStepper>(std::move(system), options, solver, steps,
                                                steps.chosen() ? steps : between);
  };
  return choice;
}

MethodEntry event_driven_entry() {
  return {event_driven_info(), [](const GivenOptions& o) {
            EventDrivenOptions options;
            options.base = make_method(o.word("base"), {});
            options.base_tolerance = o.number("base_tolerance");
            options.v_stop = o.number("v_stop");
            if (o.word("impact") == "poisson") options.impact = ImpactLaw::poisson;
            if (o.word("impact") == "sequential") options.impact = ImpactLaw::sequential;
            options.last_first = o.word("sequence") == "last";
            return event_driven(options);
          }};
}

}  // namespace hinge
