// `auto`: explicit_runge_kutta of order 8 until the system turns out to be stiff, then radau, from there to the end.
//
// Stiff means that the length of the steps is set by stability instead of accuracy: |h lambda| of the fastest motion
// stays at the border of the stability domain (DOP853's test), or the explicit method fails or rejects most of its
// steps. Bodies are watched in another way (stiffness_watch.hpp). F(t, x, x') = 0 goes to
// radau at once. A system that radau refuses stays with the explicit method, and the run says so.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/explicit/explicit.hpp"
#include "method/method_entry.hpp"
#include "method/stepper_around.hpp"
#include "method/wrap/stiffness_watch.hpp"

namespace hinge {

namespace {

class Automatic final : public StepperAround {
 public:
  Automatic(std::shared_ptr<const System> system, std::optional<Projection> projection, const SolverOptions& solver,
            const StepOptions& steps)
      : StepperAround(true), system_(std::move(system)), projection_(projection), solver_(solver), steps_(steps) {
    if (system_->structure().is_dae)
      implicit_ = make_implicit(steps_);
    else
      explicit_ = std::make_unique<ExplicitStepper>(
          system_, ExplicitOptions{.projection = projection_.value_or(Projection::both)}, solver_, steps_);
    last_ = implicit_ ? implicit_.get() : explicit_.get();
    if (system_->structure().has_bodies) watch_.emplace(system_, steps_.tolerance);
  }

  StepResult start(const State& state) override {
    recent_steps_ = 0;
    recent_rejected_ = 0;
    if (watch_) watch_->restart();
    if (next_) last_ = std::exchange(next_, nullptr);
    return StepperAround::start(state);
  }

  StepResult continue_from(const State& state) override {
    return next_ ? start(state) : StepperAround::continue_from(state);
  }

  StepResult advance(State& state, double limit) override {
    if (next_) last_ = std::exchange(next_, nullptr);
    if (last_ != explicit_.get()) return StepperAround::advance(state, limit);
    const long rejected_before = explicit_->counters().rejected + explicit_->counters().failed;
    const StepResult result = StepperAround::advance(state, limit);
    if (!result) {
      if (!may_switch_ || !switch_over(state, "the explicit method failed")) return result;
      return StepperAround::advance(state, limit);
    }
    // most steps rejected, over a stretch: the estimate does not behave as that of a smooth motion
    recent_rejected_ += explicit_->counters().rejected + explicit_->counters().failed - rejected_before;
    if (++recent_steps_ >= 50) {
      if (recent_rejected_ > 60 && may_switch_) wants_switch_ = "most steps of the explicit method were rejected";
      recent_steps_ = 0;
      recent_rejected_ = 0;
    }
    if (may_switch_ && (explicit_->stiff() || (watch_ && watch_->stiff(state, explicit_->next_step()))))
      wants_switch_ = "the system is stiff";
    if (wants_switch_ && state.t < limit) {
      const char* why = std::exchange(wants_switch_, nullptr);
      if (prepare(state, why)) next_ = implicit_.get();
    }
    return {};
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> all = remarks_;
    if (implicit_)
      for (std::string& r : implicit_->remarks()) all.push_back(std::move(r));
    return all;
  }
  std::vector<Doubt> doubts() const override {
    std::vector<Doubt> all;
    for (Stepper* used : {static_cast<Stepper*>(explicit_.get()), implicit_.get()})
      if (used)
        for (Doubt& doubt : used->doubts()) all.push_back(std::move(doubt));
    return all;
  }

 private:
  std::unique_ptr<Stepper> make_implicit(const StepOptions& steps) const {
    return radau({.projection = projection_}).bind(system_, solver_, steps);
  }

  // Makes the implicit method and starts it; false where that is not possible.
  bool prepare(const State& state, const char* why) {
    may_switch_ = false;
    try {
      StepOptions steps = steps_;
      steps.first_step = explicit_->next_step();
      implicit_ = make_implicit(steps);
    } catch (const Error& e) {
      implicit_.reset();
      remarks_.push_back(fmt::format("{} from t = {:g} on, but radau cannot take it over ({}): explicit goes on", why,
                                     state.t, e.what()));
      return false;
    }
    if (const StepResult begun = implicit_->start(state); !begun) {
      implicit_.reset();
      remarks_.push_back(fmt::format("{} from t = {:g} on, but radau could not start there ({}): explicit goes on", why,
                                     state.t, begun.reason));
      return false;
    }
    remarks_.push_back(fmt::format("{} from t = {:g} on: radau took over from explicit, order 8", why, state.t));
    return true;
  }
  bool switch_over(const State& state, const char* why) {
    if (!prepare(state, why)) return false;
    last_ = implicit_.get();
    return true;
  }

  Stepper& inner() const override { return *last_; }
  Counters work() const override {
    Counters sum;
    if (explicit_) sum += explicit_->counters();
    if (implicit_) sum += implicit_->counters();
    return sum;
  }

  std::shared_ptr<const System> system_;
  std::optional<Projection> projection_;  // where one is asked for
  SolverOptions solver_;
  StepOptions steps_;
  std::unique_ptr<ExplicitStepper> explicit_;
  std::unique_ptr<Stepper> implicit_;
  Stepper* last_ = nullptr;  // who makes the steps
  Stepper* next_ = nullptr;  // who makes those to come, where that has changed
  const char* wants_switch_ = nullptr;
  bool may_switch_ = true;
  long recent_rejected_ = 0;
  int recent_steps_ = 0;
  std::optional<StiffnessWatch> watch_;  // of bodies
  std::vector<std::string> remarks_;
};

MethodInfo automatic_info() {
  return {
      .name = "auto",
      .summary = "explicit, order 8, and radau from where on the system is stiff; for a tolerance",
      .order = "8, then that of radau",
      .multiplier_order = "the same",
      .preserves = {.position_level = true, .velocity_level = true},
      .options = {projection_option("", "\"both\", and that of radau")},
      .reference = "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I and II, Springer",
      .can = {.given_steps = false, .chosen_steps = true, .dae = true, .velocity_constraints = true}};
}

MethodChoice automatic_with(std::optional<Projection> projection) {
  MethodChoice choice{automatic_info(), 0, "auto: explicit Dormand-Prince, order 8, radau where stiff", {}, 0};
  choice.make = [projection](std::shared_ptr<const System> system, const SolverOptions& solver,
                             const StepOptions& steps) {
    return std::make_unique<Automatic>(std::move(system), projection, solver, steps);
  };
  return choice;
}

}  // namespace

MethodChoice automatic() { return automatic_with({}); }

MethodEntry automatic_entry() {
  return {
      automatic_info(), [](const GivenOptions& o) {
        return automatic_with(o.has("projection") ? std::optional(o.choice<Projection>("projection")) : std::nullopt);
      }};
}

}  // namespace hinge
