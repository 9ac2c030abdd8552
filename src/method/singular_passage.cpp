#include "method/singular_passage.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "method/stepper_around.hpp"

namespace hinge {

namespace {

constexpr double near_singular = 0.02;  // smallest pivot of the scaled rows: steps may shrink for that reason
constexpr double left_behind = 0.05;    // and here no more
constexpr double shrunk = 0.03;         // of the longest of late: steps that are looked at
constexpr double long_enough = 0.2;     // those from whose beginning the motion is computed again
constexpr double fading = 0.9;          // of the memory of the longest

class SingularPassage final : public StepperAround {
 public:
  SingularPassage(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, const SolverOptions& solver,
                  const StepOptions& steps)
      : StepperAround(true),
        method_(std::move(method)),
        system_(std::move(system)),
        make_other_([solver, steps, this] { return explicit_runge_kutta().make(system_, solver, steps); }) {}

  StepResult start(const State& state) override {
    passing_ = false;
    anchor_.y.clear();
    longest_ = 0;
    return counted(method_->start(state));
  }

  StepResult advance(State& state, double limit) override {
    before_ = state;
    if (passing_ && smallest_pivot(state) > left_behind) {
      if (StepResult result = method_->start(state); !result) return counted(std::move(result));
      passing_ = false;
      anchor_.y.clear();
      longest_ = 0;
    }
    if (passing_) return counted(other_->advance(state, limit));
    StepResult result = method_->advance(state, limit);
    const double length = state.t - before_.t;
    const bool chosen = result && state.t < limit;
    const bool suspect = !result || (chosen && length < shrunk * longest_);
    if (suspect && smallest_pivot(result ? state : before_) < near_singular) {
      end_ = state;
      if (pass(result ? state.t : before_.t, limit, state)) {
        if (passages_++ == 0) first_ = state.t;
        return counted({});
      }
      state = result ? end_ : before_;
    }
    if (chosen) longest_ = std::max(fading * longest_, length);
    if (result && length >= long_enough * longest_) anchor_ = before_;
    return counted(std::move(result));
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = method_->remarks();
    if (passages_ > 0)
      list.push_back(
          fmt::format("the constraints become dependent for an instant {} time{}, first near t = {:.6g}; an explicit "
                      "method of order 8 made the steps there",
                      passages_, passages_ == 1 ? "" : "s", first_));
    return list;
  }

 private:
  Stepper& inner() const override { return passing_ ? *other_ : *method_; }
  Counters work() const override {
    Counters sum = method_->counters();
    if (other_) sum += other_->counters();
    return sum;
  }

  double smallest_pivot(const State& s) const {
    const ConstraintRank rank = constraint_rank(*system_, s.t, s.y.data());
    return rank.full() ? rank.smallest : 0.0;
  }

  // The motion by the other method, with steps of its own, to beyond a time.
  bool pass(double t, double limit, State& state) {
    if (anchor_.y.empty() || !(t < limit)) return false;
    if (!other_) other_ = make_other_();
    state = anchor_;
    passing_ = static_cast<bool>(other_->start(state));
    while (passing_ && state.t <= t) passing_ = static_cast<bool>(other_->advance(state, limit));
    return passing_;
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  std::function<std::unique_ptr<Stepper>()> make_other_;
  std::unique_ptr<Stepper> other_;
  State before_, anchor_, end_;
  double longest_ = 0, first_ = 0;
  bool passing_ = false;
  long passages_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> with_singular_passage(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system,
                                               const SolverOptions& solver, const StepOptions& steps) {
  const Structure& has = system->structure();
  if (!method->chooses_steps() || system->ng() == 0 || has.is_dae || has.has_contacts) return method;
  return std::make_unique<SingularPassage>(std::move(method), std::move(system), solver, steps);
}

}  // namespace hinge
