// event-driven in the list of methods: with steps of given length, with chosen ones, and its options.
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/event_driven.hpp"

namespace hinge {

namespace {

class EventDrivenAdaptive final : public AdaptiveStepper {
 public:
  EventDrivenAdaptive(std::shared_ptr<const System> system, const EventDrivenOptions& options,
                      const SolverOptions& solver, const AdaptiveOptions& adaptive)
      : motion_(std::move(system), options, solver, adaptive) {}
  StepResult start(const State& state) override {
    motion_.forget();
    expected_ = state;
    return {};
  }
  StepResult advance(State& state, double limit) override {
    if (!motion_.begun() || state.t != expected_.t || state.y != expected_.y || state.z != expected_.z)
      if (StepResult begun = motion_.begin(state); !begun) return begun;
    ++counters_.steps;
    StepResult result = motion_.advance(state, limit);
    motion_.count(counters_);
    expected_ = state;
    return result;
  }
  void interpolate(double t, State& state) const override { motion_.interpolate(t, state); }
  const ContactStatistics* contact_statistics() const override { return &motion_.statistics(); }

 private:
  mutable EventDriven motion_;  // interpolation needs its work space
  State expected_;
};

// Steps of given length are those of the record; the base method chooses its own between, or takes them as they are.
class EventDrivenFixed final : public Stepper {
 public:
  EventDrivenFixed(std::shared_ptr<const System> system, const EventDrivenOptions& options, const SolverOptions& solver,
                   const AdaptiveOptions& adaptive)
      : motion_(std::move(system), options, solver, adaptive) {}
  StepResult step(State& state, double h) override {
    if (h < 0 && motion_.has_contacts()) return {false, "event-driven steps forward only: impacts cannot be undone"};
    const State start = state;
    const double end = state.t + h;
    // times of a run are multiples of the step; the motion's own may differ by rounding
    const bool continued = motion_.begun() && std::abs(state.t - expected_.t) <= 1e-9 * std::abs(h) &&
                           state.y == expected_.y && state.z == expected_.z;
    if (!continued)
      if (StepResult begun = motion_.begin(state); !begun) return begun;
    ++counters_.steps;
    if (continued) state.t = expected_.t;
    while (h > 0 ? state.t < end : state.t > end)
      if (StepResult result = motion_.advance(state, end); !result) {
        state = start;
        motion_.forget();
        return result;
      }
    motion_.count(counters_);
    multipliers_ = state.psi;
    expected_ = state;
    return {};
  }
  void reset() override { motion_.forget(); }
  const ContactStatistics* contact_statistics() const override { return &motion_.statistics(); }

 private:
  EventDriven motion_;
  State expected_;
};

MethodInfo event_driven_info() {
  MethodInfo info{"event-driven",
                  "smooth motion by any method between the events of contacts, which are located to round-off",
                  "of the base method",
                  "of the base method",
                  {.position_level = true, .velocity_level = true},
                  {{"base", "the method between events, by name", "\"explicit\""},
                   {"base_tolerance", "of a base method that chooses its steps, where the run has a step", "1e-12"},
                   {"v_stop", "an impact that rebounds more slowly closes the contact (Zeno's rule)", "1e-6"},
                   {"impact", "\"newton\", \"poisson\" or \"sequential\"", "\"newton\""},
                   {"sequence", "of sequential impacts: \"first\" or \"last\" approaching contact first", "\"first\""}},
                  "F. Pfeiffer, C. Glocker, Multibody Dynamics with Unilateral Contacts, Wiley 1996; V. Acary, B. "
                  "Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, Springer 2008"};
  return info;
}

}  // namespace

MethodChoice event_driven(const EventDrivenOptions& given) {
  EventDrivenOptions options = given;
  if (!options.base.bind && !options.base.bind_adaptive) options.base = explicit_runge_kutta();
  if (!(options.v_stop > 0) || !std::isfinite(options.v_stop))
    throw InputError(fmt::format("'v_stop' is {}; it is a small positive speed, 1e-6 say", options.v_stop));
  if (options.impact == ImpactLaw::moreau)
    throw InputError("event-driven knows the impact laws \"newton\", \"poisson\" and \"sequential\"");
  if (options.base.info.name == "event-driven" || options.base.takes_contacts)
    throw InputError(
        fmt::format("'base' is {}, which treats contacts itself; give a method for smooth motion, such as "
                    "explicit, radau or gauss-lobatto",
                    options.base.info.name));
  options.solving.validate();
  MethodChoice choice{event_driven_info(), options.base.order, "", {}, options.base.multiplier_order};
  choice.description = fmt::format("event-driven, {} between events", options.base.description);
  choice.takes_contacts = true;
  if (options.impact == ImpactLaw::newton) choice.warnings = energy_warnings;
  choice.info.preserves = options.base.info.preserves;  // between events
  const Tolerance tolerance{options.base_tolerance, options.base_tolerance};
  tolerance.validate();
  choice.bind = [options, tolerance](std::shared_ptr<const System> system, const SolverOptions& solver) {
    const AdaptiveOptions adaptive{options.base.bind_adaptive ? tolerance : Tolerance{}};
    return std::make_unique<EventDrivenFixed>(std::move(system), options, solver, adaptive);
  };
  if (options.base.bind_adaptive)
    choice.bind_adaptive = [options](std::shared_ptr<const System> system, const SolverOptions& solver,
                                     const AdaptiveOptions& adaptive) {
      return std::make_unique<EventDrivenAdaptive>(std::move(system), options, solver, adaptive);
    };
  return choice;
}

MethodEntry event_driven_entry() {
  return {event_driven_info(), [](const Options& o) {
            EventDrivenOptions options;
            options.base = make_method(text_option(o, "base", "explicit"), {});
            options.base_tolerance = number_option(o, "base_tolerance", options.base_tolerance);
            options.v_stop = number_option(o, "v_stop", options.v_stop);
            options.impact = choice_option<ImpactLaw>(o, "impact", {"newton", "poisson", "moreau", "sequential"});
            options.last_first = choice_option<int>(o, "sequence", {"first", "last"}) == 1;
            return event_driven(options);
          }};
}

}  // namespace hinge
