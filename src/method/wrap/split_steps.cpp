#include "method/wrap/split_steps.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/wrap/state_kinks.hpp"
#include "method/wrap/time_kinks.hpp"

namespace hinge {

namespace {

class SplitSteps final : public Stepper {
 public:
  SplitSteps(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system, TimeKinks kinks,
             TimeFunctions functions, StateKinks states)
      : method_(std::move(method)),
        system_(system),
        kinks_(std::move(kinks)),
        functions_(std::move(functions)),
        states_(std::move(states)),
        jumps_(system) {}

  StepResult start(const State& state) override { return method_->start(state); }
  StepResult step(State& state, double h) override {
    // what begins at a kink is not on its wrong side, nor what ends there
    const double from = state.t, to = state.t + h, near = TimeKinks::gap(to);
    reached_ = to;
    given_ = state;
    broken_ = 0;
    if (!(h > 4 * near) || kinks_.next(from - 4 * TimeKinks::gap(from), to + near) > to + near) {
      functions_.look(from, to);
      return finish(method_->step(state, h), state);
    }
    StepResult result = in_parts(state, to);
    if (!result) state = given_;
    state.t = result ? to : from;
    return finish(result, state);
  }
  void reset() override { method_->reset(); }
  const char* discrete_energy_name() const override { return method_->discrete_energy_name(); }
  double discrete_energy(double energy, const double* g) const override { return method_->discrete_energy(energy, g); }
  double summed_work() const override { return method_->summed_work(); }
  void set_summed_work(double work) override { method_->set_summed_work(work); }
  const ContactStatistics* contact_statistics() const override { return method_->contact_statistics(); }
  void set_contact_statistics(const ContactStatistics& s) override { method_->set_contact_statistics(s); }
  const ContactImpulses* contact_impulses() const override { return method_->contact_impulses(); }
  std::span<const Break> breaks() const override { return std::span(breaks_).first(broken_); }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = method_->remarks();
    if (split_ > 0)
      list.push_back(fmt::format("{} step{} split where the equations change with time, first at t = {:.10g}", split_,
                                 split_ == 1 ? " was" : "s were", first_));
    for (std::string& remark : jumps_.remarks()) list.push_back(std::move(remark));
    return list;
  }
  std::vector<Doubt> doubts() const override {
    std::vector<Doubt> all = method_->doubts();
    if (kinks_.lost_from() < reached_) all.push_back(kinks_.doubt());
    if (auto doubt = functions_.doubt()) all.push_back(std::move(*doubt));
    if (auto doubt = states_.doubt()) all.push_back(std::move(*doubt));
    return all;
  }

 private:
  StepResult in_parts(State& state, double to) {
    bool inside = false;
    for (double done = state.t - 4 * TimeKinks::gap(state.t);;) {
      const double kink = kinks_.next(done, to + TimeKinks::gap(to));
      const bool last = kink == std::numeric_limits<double>::infinity();
      const double gap = TimeKinks::gap(last ? to : kink);
      const double end = last ? to : kink - gap;
      if (end > state.t) {
        functions_.look(state.t, end);
        if (StepResult result = method_->step(state, end - state.t); !result) return result;
        state.t = end;
      }
      if (!last && end + 2 * gap >= to) {  // one at the very end is passed by the next step
        Break& here = new_break(state);
        here.after = state;
        here.after.t = to;
        break;
      }
      if (last) break;
      if (StepResult result = pass(kink, state); !result) return result;
      if (end > given_.t && !inside) {
        inside = true;
        if (split_++ == 0) first_ = kink;
      }
      done = kink;
      state.t = std::max(state.t, kink + gap);
    }
    if (inside) method_->reset();  // what follows is a step of another length
    return {};
  }

  Break& new_break(const State& before) {
    if (broken_ == breaks_.size()) breaks_.emplace_back();
    breaks_[broken_].before = before;
    return breaks_[broken_++];
  }

  StepResult pass(double kink, State& state) {
    const PrescribedJumps::Jump jump = jumps_.at(kink, state);
    if (!jump.possible) return jump.possible;
    method_->reset();
    Break& here = new_break(state);
    try {
      if (jump.velocity) state = consistent_state(*system_, kink + TimeKinks::gap(kink), state);
      here.after = state;
      here.after.t = std::max(state.t, kink + TimeKinks::gap(kink));
    } catch (const InputError& e) {
      return {false,
              fmt::format("at t = {:.12g} a prescribed velocity jumps, and the motion cannot be started anew: {}", kink,
                          e.what())};
    }
    return {};
  }

  StepResult finish(StepResult result, const State& state) {
    if (result && !states_.empty()) {
      end_ = state;
      end_.t = reached_;
      states_.look(given_, end_);
    }
    counters_ = method_->counters();
    multipliers_ = method_->multipliers();
    return result;
  }

  std::unique_ptr<Stepper> method_;
  std::shared_ptr<const System> system_;
  TimeKinks kinks_;
  TimeFunctions functions_;
  StateKinks states_;
  PrescribedJumps jumps_;
  State given_, end_;
  std::vector<Break> breaks_;  // their memory is kept,
  std::size_t broken_ = 0;     // those of the last step come first
  long split_ = 0;
  double first_ = 0, reached_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> split_at_kinks(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system) {
  const SymbolicSystem* symbolic = symbolic_part(*system);
  if (!symbolic || system->structure().has_noise) return method;
  TimeKinks kinks(symbolic->equations());
  TimeFunctions functions(symbolic->equations());
  StateKinks states(system);
  if (kinks.empty() && functions.empty() && states.empty()) return method;
  return std::make_unique<SplitSteps>(std::move(method), std::move(system), std::move(kinks), std::move(functions),
                                      std::move(states));
}

}  // namespace hinge
