#include "method/wrap/divided_steps.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "method/stepper_around.hpp"

namespace hinge {

namespace {

constexpr double allowed = 2e-9, generous = 1.0 / 64;  // of that: then the next part may be twice as long
constexpr int most_levels = 8;

class DividedSteps final : public StepperAround {
 public:
  DividedSteps(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system)
      : method_(std::move(method)), system_(std::move(system)) {
    const Structure& has = system_->structure();
    // Of equations as written the step is a choice of its own: their motion is that of the method.
    conserves_ = has.has_bodies && has.has_energy && !has.depends_on_time && !has.has_applied_force && !has.is_dae &&
                 !has.velocity_constraints_do_work && (system_->nrates() == 0 || has.reaction_is_ideal);
    if (conserves_) values_ = system_->evaluation({Quantity::energy, Quantity::momentum, Quantity::velocity});
  }

  StepResult start(const State& state) override {
    level_ = 0;
    return StepperAround::start(state);
  }
  StepResult step(State& state, double h) override {
    const double from = state.t, to = state.t + h;
    given_ = state;
    if (conserves_ && !(state.t == reached_.t && state.y == reached_.y && state.z == reached_.z))
      energy_ = measure(state);
    const int before = level_;
    int deepest = 0;
    StepResult result;
    // in units of the shortest part
    for (int done = 0; done < 1 << most_levels;) {
      while (level_ > 0 && is_easy_ && done % (1 << (most_levels - level_ + 1)) == 0) --level_, is_easy_ = false;
      const int part = 1 << (most_levels - level_);
      const int next = done + part, whole = 1 << most_levels;
      const double end = next == whole ? to : from + h * next / whole;
      result = one_part(state, part == whole ? h : end - state.t);
      if (result) state.t = end;
      if (!result) {
        if (level_ < most_levels) {
          ++level_;
          continue;
        }
        if (!result.reason.empty()) break;
      }
      deepest = std::max(deepest, level_);
      done += part;
    }
    if (!result && !result.reason.empty()) {
      state = given_;
      level_ = before;
      reached_.y.clear();
      return counted(std::move(result));
    }
    if (deepest > 0 && divided_++ == 0) first_ = from;
    shortest_ = std::max(shortest_, deepest);
    state.t = to;
    if (conserves_) reached_ = state;
    return counted({});
  }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = method_->remarks();
    if (divided_ > 0)
      list.push_back(
          fmt::format("{} step{} made in parts, first at t = {:.6g}, in up to {} of them: the step is too long for the "
                      "motion there",
                      divided_, divided_ == 1 ? " was" : "s were", first_, 1 << shortest_));
    return list;
  }

 private:
  Stepper& inner() const override { return *method_; }

  double measure(const State& s) {
    values_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    const double* p = (*values_)[Quantity::momentum];
    const double* v = system_->ny() == system_->nz() ? (*values_)[Quantity::velocity] : s.z.data();
    double product = 0;
    for (int i = 0; i < system_->nz(); ++i) product += p[i] * v[i];
    kinetic_ = std::max(kinetic_, std::abs(product) / 2);
    return *(*values_)[Quantity::energy];
  }
  // A failure without a reason: the energy has changed too much. At the last level that part stands.
  StepResult one_part(State& state, double h) {
    begin_ = state;
    if (StepResult result = method_->step(state, h); !result) {
      method_->reset();
      return result;
    }
    is_easy_ = true;
    if (!conserves_) return {};
    const double energy = measure(state), change = std::abs(energy - energy_);
    const double limit = allowed * kinetic_ / (1 << level_);
    const double rounding = 1e-13 * std::max(std::abs(energy), kinetic_);
    is_easy_ = change <= std::max(generous * limit, rounding);
    if (level_ < most_levels && !(change <= std::max(limit, rounding))) {
      state = begin_;
      method_->reset();
      return {false, ""};
    }
    energy_ = energy;
    return {};
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  std::unique_ptr<Evaluation> values_;
  bool conserves_ = false, is_easy_ = false;
  State given_, begin_, reached_;  // reached_: has the energy energy_
  double energy_ = 0, kinetic_ = 0, first_ = 0;
  int level_ = 0, shortest_ = 0;
  long divided_ = 0;
};

}  // namespace

MethodChoice divided(MethodChoice method) {
  method.make = [inner = method.make](std::shared_ptr<const System> system, const SolverOptions& solver,
                                      const StepOptions& steps) -> std::unique_ptr<Stepper> {
    std::unique_ptr<Stepper> made = inner(system, solver, steps);
    if (steps.chosen()) return made;
    return std::make_unique<DividedSteps>(std::move(made), std::move(system));
  };
  method.adjoint = {};
  return method;
}

}  // namespace hinge
