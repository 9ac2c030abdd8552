#include "method/wrap/sampled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/stepper_around.hpp"
#include "solve/machine_numbers.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

constexpr long most_within = 10'000'000;  // of one step: more is no model of anything

// Products k every and sums of steps are rounded.
double slack(double t, double every) {
  return 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), every);
}

class SampledSteps final : public StepperAround {
 public:
  SampledSteps(std::unique_ptr<Stepper> method, std::shared_ptr<const SymbolicSystem> system)
      : StepperAround(method->chooses_steps()), method_(std::move(method)), system_(std::move(system)) {
    const Equations& eq = system_->equations();
    std::vector<Node> updates;
    for (const Equations::Sample& sample : eq.samples) updates.push_back(sample.update);
    updates_ = eq.tape(*eq.graph, updates);
    scratch_ = updates_->make_scratch();
    values_.resize(updates.size());
  }

  StepResult step(State& state, double h) override {
    if (chooses_steps()) return Stepper::step(state, h);
    const double to = state.t + h;
    given_ = state;
    long within = 0;
    for (bool split = false;; split = true) {
      if (++within > most_within) {
        state = given_;
        return {false,
                fmt::format("the step from t = {:g} (h = {:g}) has more than {} samples of states within it; take a "
                            "longer time between samples, or shorter steps",
                            state.t, h, most_within)};
      }
      if (sample(state)) method_->reset();
      const double next = next_sample(state.t);
      const bool last = !(next < to - slack(to, h));
      if (!last && split_++ == 0) first_split_ = next;
      // a step without a sample inside has the very length that was asked for
      const double length = last && !split ? h : (last ? to : next) - state.t;
      if (StepResult result = counted(method_->step(state, length)); !result) {
        state = given_;
        return result;
      }
      state.t = last ? to : next;
      if (last) {
        if (split) method_->reset();
        return {};
      }
    }
  }

  StepResult advance(State& state, double limit) override {
    given_ = state;
    if (sample(state)) {
      make_consistent(state);
      if (StepResult result = counted(method_->start(state)); !result) {
        state = given_;
        return result;
      }
    }
    StepResult result = counted(method_->advance(state, std::min(limit, next_sample(state.t))));
    if (!result) state = given_;
    return result;
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = method_->remarks();
    if (split_ > 0)
      list.push_back(fmt::format("{} step{} split at the times of samples, first at t = {:.10g}", split_,
                                 split_ == 1 ? " was" : "s were", first_split_));
    return list;
  }

 private:
  Stepper& inner() const override { return *method_; }

  // The first sample behind t.
  double next_sample(double t) const {
    double first = infinity;
    for (const Equations::Sample& s : system_->equations().samples) {
      double n = std::floor((t - s.offset) / s.every);
      for (int k = 0; k < 3 && s.offset + n * s.every <= t + slack(t, s.every); ++k) ++n;
      const double next = s.offset + n * s.every;
      if (next > t) first = std::min(first, next);  // times may lie further apart than samples
    }
    return first;
  }

  // Applies the samples at this very time, with the values before all of them. True where a number has changed.
  bool sample(State& state) {
    const auto& samples = system_->equations().samples;
    bool evaluated = false, changed = false;
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const Equations::Sample& s = samples[k];
      const double n = std::round((state.t - s.offset) / s.every);
      if (std::abs(s.offset + n * s.every - state.t) > slack(state.t, s.every)) continue;
      if (!evaluated) {
        const double* const inputs[] = {&state.t, state.y.data(), state.z.data(), state.psi.data()};
        updates_->evaluate(inputs, scratch_.data(), values_.data());
        evaluated = true;
      }
      double& x = state.z[s.z];
      changed = changed || x != values_[k];
      x = values_[k];
    }
    return changed;
  }

  // Reactions that belong to the new forces. Where they cannot be found, the method says what is wrong.
  void make_consistent(State& state) const {
    if (system_->nrates() == 0) return;
    try {
      state = consistent_state(*system_, state.t, state);
    } catch (const InputError&) {
    }
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const SymbolicSystem> system_;
  std::unique_ptr<Evaluator> updates_;
  std::vector<double> scratch_, values_;
  State given_;
  long split_ = 0;
  double first_split_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> sample_states(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system) {
  auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(std::move(system));
  if (!symbolic || symbolic->equations().samples.empty()) return method;
  return std::make_unique<SampledSteps>(std::move(method), std::move(symbolic));
}

}  // namespace hinge
