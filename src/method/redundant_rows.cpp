#include "method/redundant_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "formulation/start/redundancy.hpp"
#include "hinge/error.hpp"
#include "method/stepper_around.hpp"

namespace hinge {

namespace {

constexpr double worth_an_exchange = 10, good_enough = 2;
// A row that was left out is violated by more than this part of the position, and much more than the kept ones.
constexpr double off = 1e-8, much_more = 100;
constexpr std::size_t most_parts = 32;  // kept

class RedundantRows final : public StepperAround {
 public:
  RedundantRows(std::shared_ptr<const System> system, BindMethod bind, std::unique_ptr<Stepper> whole)
      : StepperAround(whole->chooses_steps()),
        system_(std::move(system)),
        bind_(std::move(bind)),
        whole_(std::move(whole)),
        constraint_(system_->evaluation({Quantity::constraint})) {}

  StepResult start(const State& state) override {
    find_rows(state);
    if (!part_) return StepperAround::start(state);
    collect(state);
    return counted(inner().start(small_));
  }

  StepResult step(State& state, double h) override {
    if (!known_) find_rows(state);
    if (!part_) return StepperAround::step(state, h);
    if (chooses_steps()) return Stepper::step(state, h);
    collect(state);
    StepResult result = inner().step(small_, h);
    if (result) result = arrive(state, state.t + h);
    return counted(std::move(result));
  }

  StepResult advance(State& state, double limit) override {
    if (!known_) find_rows(state);
    if (!part_) return StepperAround::advance(state, limit);
    collect(state);
    StepResult result = inner().advance(small_, limit);
    if (result) result = arrive(state, small_.t);
    return counted(std::move(result));
  }

  StepResult continue_from(const State& state) override {
    if (!part_) return StepperAround::continue_from(state);
    collect(state);
    return counted(inner().continue_from(small_));
  }

  void interpolate(double t, State& state) const override {
    if (!part_) return inner().interpolate(t, state);
    shown_.psi.resize(part_->choice.multipliers.size());
    shown_.y.resize(state.y.size());
    shown_.z.resize(state.z.size());
    inner().interpolate(t, shown_);
    expand(shown_, state, *shown_spread());
  }
  void sketch(double t, State& state) const override {
    if (!part_) return inner().sketch(t, state);
    shown_.psi.resize(part_->choice.multipliers.size());
    shown_.y.resize(state.y.size());
    shown_.z.resize(state.z.size());
    inner().sketch(t, shown_);
    expand(shown_, state, *shown_spread());
  }

  double discrete_energy(double energy, const double* g) const override {
    if (!part_) return inner().discrete_energy(energy, g);
    g_.resize(part_->choice.rows.size());
    for (std::size_t k = 0; k < g_.size(); ++k) g_[k] = g[part_->choice.rows[k]];
    return inner().discrete_energy(energy, g_.data());
  }

  const ContactStatistics* contact_statistics() const override {
    if (parts_.size() < 2) return inner().contact_statistics();
    if (!inner().contact_statistics()) return nullptr;
    contacts_ = {};
    for (const auto& [rows, part] : parts_)
      if (&part != part_) contacts_ += *part.stepper->contact_statistics();
    contacts_ += *inner().contact_statistics();
    std::stable_sort(contacts_.events.begin(), contacts_.events.end(),
                     [](const auto& a, const auto& b) { return a.t < b.t; });
    return &contacts_;
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> list = inner().remarks();
    if (exchanges_ > 0)
      list.push_back(fmt::format("other rows of the dependent constraints were chosen {} time{}, first at t = {:.6g}",
                                 exchanges_, exchanges_ == 1 ? "" : "s", first_exchange_));
    return list;
  }

  std::vector<Doubt> doubts() const override {
    std::vector<Doubt> list = inner().doubts();
    if (off_ > off && off_ > much_more * kept_off_)
      list.push_back(
          {fmt::format("constraint {} followed from others at the start, but does not hold along the motion, "
                       "first at t = {:.6g}: off, as a part of the position, by",
                       system_->layout().constraints[static_cast<std::size_t>(row_off_)], time_off_),
           off_, "see whether the constraints contradict each other there, or end the run before"});
    return list;
  }

 private:
  struct Part {
    RowChoice choice;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<MultiplierSpread> spread, shown;  // at the end of the last step; within it
  };

  Stepper& inner() const override { return part_ ? *part_->stepper : *whole_; }
  Counters work() const override {
    Counters sum = whole_->counters();
    sum += discarded_;
    for (const auto& [rows, part] : parts_) sum += part.stepper->counters();
    return sum;
  }

  // Once; later starts keep the rows while they are good. What is wrong with them consistent_start() says; a method
  // that begins on the way, at a position where others are dependent for an instant, takes all of them.
  void find_rows(const State& state) {
    try {
      if (!known_) {
        known_ = true;
        const RowChoice choice = independent_rows(*system_, state.t, state.y, state.z);
        if (choice.redundant()) use(choice);
      } else if (part_) {
        if (const auto better = better_rows(state)) use(*better);
      }
    } catch (const InputError&) {
    }
  }

  void use(const RowChoice& choice) {
    auto found = parts_.find(choice.rows);
    if (found == parts_.end()) {
      if (parts_.size() >= most_parts) {
        for (const auto& [rows, part] : parts_) discarded_ += part.stepper->counters();
        parts_.clear();
      }
      found = parts_.emplace(choice.rows, Part{}).first;
      Part& part = found->second;
      part.choice = choice;
      part.stepper = bind_(with_fewer_rows(system_, choice));
      part.spread = std::make_unique<MultiplierSpread>(*system_, part.choice);
      part.shown = std::make_unique<MultiplierSpread>(*system_, part.choice);
    }
    part_ = &found->second;
    out_ = {};
  }

  // Rows with a larger volume at a state, where there are some that are much better.
  std::unique_ptr<RowChoice> better_rows(const State& s) const {
    const MultiplierSpread& now = *part_->spread;
    if (part_->spread->at(s.t, s.y.data(), s.z.data())) {
      if (!(now.largest() > worth_an_exchange)) return nullptr;
    }
    if (!part_->choice.paired) {
      auto anew = std::make_unique<RowChoice>(independent_rows(*system_, s.t, s.y, s.z));
      return anew->rows == part_->choice.rows ? nullptr : std::move(anew);
    }
    const ConstraintRank rank = constraint_rank(*system_, s.t, s.y.data());
    // fewer: a position where all choices are singular; it is passed with the rows as they are
    if (rank.rank != static_cast<int>(part_->choice.rows.size()) || rank.kept == part_->choice.rows) return nullptr;
    auto other = std::make_unique<RowChoice>(choice_of(rank.kept, system_->ng()));
    MultiplierSpread there(*system_, *other);
    if (!there.at(s.t, s.y.data(), s.z.data()) || there.largest() > good_enough * worth_an_exchange / 2) return nullptr;
    return other;
  }

  // small_ = state with the multipliers of the kept rows
  void collect(const State& state) {
    const bool same =
        small_.psi.size() == part_->choice.multipliers.size() && out_.psi == state.psi && out_.y == state.y;
    small_.t = state.t;
    small_.y = state.y;
    small_.z = state.z;
    if (same) return;
    part_->spread->at(state.t, state.y.data(), state.z.data());
    part_->spread->collect(state.psi, small_.psi);
  }

  void expand(const State& from, State& state, MultiplierSpread& spread) const {
    state.y = from.y;
    state.z = from.z;
    spread.at(state.t, state.y.data(), state.z.data());
    spread.expand(from.psi, state.psi);
  }

  MultiplierSpread* shown_spread() const { return part_->shown.get(); }

  // The end of a step: all multipliers, rows that were left out, better rows.
  StepResult arrive(State& state, double t) {
    state.t = t;
    expand(small_, state, *part_->spread);
    watch(state);
    out_ = state;
    StepResult result;
    if (part_->spread->largest() > worth_an_exchange) {
      const double work = inner().summed_work(), shown = small_.t;
      result = exchange(out_);
      inner().set_summed_work(work);
      small_.t = shown;
    }
    state.t = small_.t;  // some methods leave it to who calls them
    return result;
  }

  StepResult exchange(const State end) {
    try {
      const auto better = better_rows(end);
      if (!better) return {};
      use(*better);
    } catch (const InputError&) {
      return {};  // the next step will say what is wrong
    }
    if (exchanges_++ == 0) first_exchange_ = end.t;
    collect(end);
    return inner().start(small_);
  }

  void watch(const State& s) {
    constraint_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    const double* g = (*constraint_)[Quantity::constraint];
    const MultiplierSpread& spread = *part_->spread;
    double size = 0;
    for (const double y : s.y) size = std::max(size, std::abs(y));
    const auto part = [&](int row) { return spread.in_units_of_position(row, g[row]) / (size > 0 ? size : 1.0); };
    for (const int row : part_->choice.rows) kept_off_ = std::max(kept_off_, part(row));
    for (const int row : part_->choice.left_out) {
      const double now = part(row);
      if (!(now > off_)) continue;
      if (off_ <= off) time_off_ = s.t;
      off_ = now;
      row_off_ = row;
    }
  }

  std::shared_ptr<const System> system_;
  BindMethod bind_;
  std::unique_ptr<Stepper> whole_;
  std::unique_ptr<Evaluation> constraint_;
  bool known_ = false;
  std::map<std::vector<int>, Part> parts_;
  Part* part_ = nullptr;
  State small_, out_;
  mutable State shown_;
  mutable std::vector<double> g_;
  mutable ContactStatistics contacts_;
  Counters discarded_;
  long exchanges_ = 0;
  double first_exchange_ = 0;
  double off_ = 0, kept_off_ = 0, time_off_ = 0;
  int row_off_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> bind_to_independent_rows(std::shared_ptr<const System> system, BindMethod bind) {
  std::unique_ptr<Stepper> whole = bind(system);
  if (const auto* any = dynamic_cast<const AnyRank*>(whole.get()); any && any->takes_any_rank()) return whole;
  return std::make_unique<RedundantRows>(std::move(system), std::move(bind), std::move(whole));
}

}  // namespace hinge
