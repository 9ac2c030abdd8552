#include "method/singular_passage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "formulation/start/scaled_rows.hpp"
#include "method/stepper_around.hpp"
#include "solve/copy_few.hpp"

namespace hinge {

namespace {

constexpr double near_singular = 0.02;  // smallest pivot of the scaled rows: steps may shrink for that reason
constexpr double left_behind = 0.05;    // and here no more
constexpr double shrunk = 0.03;         // of the longest of late: steps that are looked at
constexpr double long_enough = 0.2;     // those from whose beginning the motion is computed again
constexpr double fading = 0.9;          // of the memory of the longest
constexpr std::size_t every = 4;        // of them: rows are measured
constexpr double lost = 1e-3;           // of the longest: an explicit method that needs such steps is lost as well

class SingularPassage final : public StepperAround {
 public:
  SingularPassage(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, const SolverOptions& solver,
                  const StepOptions& steps)
      : StepperAround(true),
        method_(std::move(method)),
        system_(std::move(system)),
        rows_(*system_),
        longest_row_(rows_.length().size(), 0.0),
        make_other_([solver, steps, this](bool multistep) {
          return (multistep ? make_method("bdf", {}) : explicit_runge_kutta()).make(system_, solver, steps);
        }) {}

  StepResult start(const State& state) override {
    if (anchor_[0].y.size() != state.y.size()) anchor_.fill(state);  // steps do not allocate
    passing_ = nullptr;
    anchors_ = 0;
    longest_ = 0;
    measure_rows(state);
    return counted(method_->start(state));
  }

  StepResult advance(State& state, double limit) override {
    if (passing_ && smallest_pivot(state) > left_behind) {
      if (StepResult result = method_->start(state); !result) return counted(std::move(result));
      passing_ = nullptr;
      anchors_ = 0;
      longest_ = 0;
    }
    if (passing_) {
      before_ = state;
      return counted(pass_on(state, limit));
    }
    State& before = anchor_[anchors_ % anchor_.size()];  // which it becomes if the step is long enough
    keep(state, before);
    StepResult result = method_->advance(state, limit);
    const double length = state.t - before.t;
    const bool chosen = result && state.t < limit;
    const bool suspect = !result || (chosen && length < shrunk * longest_);
    if (suspect && smallest_pivot(result ? state : before) < near_singular) {
      end_ = state;
      const double t = result ? state.t : before.t;
      if (pass(*other(false), t, limit, state) || pass(*other(true), t, limit, state)) {
        if (passages_++ == 0) first_ = state.t;
        return counted({});
      }
      state = result ? end_ : before;
    }
    if (chosen) longest_ = std::max(fading * longest_, length);
    if (result && length >= long_enough * longest_ && ++anchors_ % every == 0) measure_rows(before);
    count();
    return result;
  }

  StepAhead* ahead(const State& state, double limit) override {
    return passing_ ? nullptr : method_->ahead(state, limit);
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = method_->remarks();
    if (passages_ > 0)
      list.push_back(
          fmt::format("the constraints become dependent for an instant {} time{}, first near t = {:.6g}; {} "
                      "made the steps there",
                      passages_, passages_ == 1 ? "" : "s", first_,
                      !other_[1]   ? "an explicit method of order 8"
                      : !other_[0] ? "bdf"
                                   : "an explicit method of order 8, or bdf,"));
    return list;
  }

 private:
  static void keep(const State& state, State& kept) {
    kept.t = state.t;
    copy_few(state.y, kept.y);
    copy_few(state.z, kept.z);
    copy_few(state.psi, kept.psi);
  }

  Stepper& inner() const override { return passing_ ? *passing_ : *method_; }
  Counters work() const override {
    Counters sum = method_->counters();
    for (const auto& other : other_)
      if (other) sum += other->counters();
    return sum;
  }

  Stepper* other(bool multistep) {
    std::unique_ptr<Stepper>& one = other_[multistep];
    if (!one) one = make_other_(multistep);
    return one.get();
  }

  // Of rows as long as they ever were: a row that vanishes for an instant depends on nothing, and is singular.
  double smallest_pivot(const State& s) {
    const ConstraintRank rank = constraint_rank(*system_, s.t, s.y.data());
    if (!rank.full() || !rows_.at(s.t, s.y.data(), s.z.data())) return 0;
    double part = 1;
    for (std::size_t i = 0; i < longest_row_.size(); ++i)
      if (longest_row_[i] > 0) part = std::min(part, rows_.length()[i] / longest_row_[i]);
    return part * rank.smallest;
  }

  void measure_rows(const State& s) {
    if (!rows_.measure(s.t, s.y.data(), s.z.data())) return;
    for (std::size_t i = 0; i < longest_row_.size(); ++i)
      longest_row_[i] = std::max(longest_row_[i], rows_.length()[i]);
  }

  // The motion by another method, with steps of its own, from the anchor to beyond a time.
  bool pass(Stepper& by, double t, double limit, State& state) {
    if (anchors_ == 0 || !(t < limit)) return false;
    const std::size_t latest = anchors_ - 1, oldest = anchors_ - std::min(anchors_, anchor_.size() - 1);
    state = anchor_[(&by == other_[0].get() ? latest : oldest) % anchor_.size()];
    passing_ = by.start(state) ? &by : nullptr;
    while (passing_ && state.t <= t)
      if (!advance_far(by, state, limit)) passing_ = nullptr;
    return passing_ != nullptr;
  }

  // Steps of an explicit method that shrink to nothing lead into the singular position, where rounding chooses the
  // branch. A multistep method goes on along its polynomial.
  StepResult advance_far(Stepper& by, State& state, double limit) {
    const double t = state.t;
    StepResult result = by.advance(state, limit);
    if (result && &by == other_[0].get() && state.t < limit && state.t - t < lost * longest_)
      return {false,
              fmt::format("at t = {:g}, where constraints become dependent, the steps of an explicit method shrink "
                          "to {:g}, and bdf does not pass either; loosen the tolerance, or take steps of given "
                          "length, which pass",
                          t, state.t - t)};
    return result;
  }

  // Some more of it, until the position is left behind.
  StepResult pass_on(State& state, double limit) {
    StepResult result = advance_far(*passing_, state, limit);
    if (result || passing_ != other_[0].get()) return result;
    const double t = before_.t;
    if (pass(*other(true), t, limit, state)) return {};
    passing_ = other_[0].get();
    state = before_;
    return result;
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  ScaledRows rows_;
  std::vector<double> longest_row_;
  std::function<std::unique_ptr<Stepper>(bool)> make_other_;
  std::array<std::unique_ptr<Stepper>, 2> other_;  // explicit, multistep
  Stepper* passing_ = nullptr;                     // by which one, near a singular position
  State before_, end_;
  std::array<State, 17> anchor_;  // a multistep method needs some way before it is at its best; one is for the next
  std::size_t anchors_ = 0;
  double longest_ = 0, first_ = 0;
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
