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

constexpr double worth_an_exchange = 1.6, good_enough = 1.05;
constexpr int most_exchanges = 60;  // at once
// A row that was left out is violated by more than this part of the position, and much more than the kept ones.
constexpr double off = 1e-8, much_more = 100;
// Rows that differ from a combination of others by more than this, of a unit vector, differ by more than rounding.
constexpr double differs = 1e-11;
constexpr std::size_t most_parts = 32;  // kept
// Kept rows that hold to this part of the position, or of the velocity, hold to rounding.
constexpr double round_off = 1e-12, few_roundings = 4e-15;

class RedundantRows final : public StepperAround {
 public:
  RedundantRows(std::shared_ptr<const System> system, BindMethod bind, std::unique_ptr<Stepper> whole)
      : StepperAround(whole->chooses_steps()),
        system_(std::move(system)),
        bind_(std::move(bind)),
        whole_(std::move(whole)),
        constraint_(system_->evaluation({Quantity::constraint, Quantity::constraint_rate})) {}

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

  StepAhead* ahead(const State& state, double limit) override {
    return known_ && !part_ ? inner().ahead(state, limit) : nullptr;
  }

  StepResult continue_from(const State& state) override {
    if (!part_) return StepperAround::continue_from(state);
    collect(state);
    return counted(inner().continue_from(small_));
  }

  // Asked of the one that made the last step.
  void interpolate(double t, State& state) const override {
    if (!made_) return inner().interpolate(t, state);
    prepare(state);
    made_->stepper->interpolate(t, shown_);
    show(t, state);
  }
  void sketch(double t, State& state) const override {
    if (!made_) return inner().sketch(t, state);
    prepare(state);
    made_->stepper->sketch(t, shown_);
    show(t, state);
  }

  double discrete_energy(double energy, const double* g) const override {
    if (!part_) return inner().discrete_energy(energy, g);
    g_.resize(part_->choice.rows.size());
    for (std::size_t k = 0; k < g_.size(); ++k) g_[k] = g[part_->choice.rows[k]];
    return inner().discrete_energy(energy, g_.data());
  }

  void set_contact_statistics(const ContactStatistics& s) override {
    for (auto& [rows, part] : parts_)
      if (&part != part_) part.stepper->set_contact_statistics({});
    inner().set_contact_statistics(s);
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
    if (apart_ > differs)
      list.push_back({fmt::format("constraint {} was taken for a combination of others, which it is not exactly: "
                                  "gradients of length one differ by",
                                  system_->layout().constraints[static_cast<std::size_t>(row_apart_)]),
                      apart_, "leave it out, or write it so that it follows from the others, or differs clearly"});
    return list;
  }

 private:
  struct Part {
    RowChoice choice;
    std::shared_ptr<const System> system;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<MultiplierSpread> spread, shown;  // at the end of the last step; within it
  };

  Stepper& inner() const override { return part_ ? *part_->stepper : *whole_; }
  Counters work() const override {
    if (parts_.empty()) return whole_->counters();
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
        if (choice.redundant()) {
          use(choice);
          if (part_->spread->at(state.t, state.y.data(), state.z.data())) {
            apart_ = part_->spread->apart();
            row_apart_ = part_->spread->row_apart();
          }
        }
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
        std::erase_if(parts_, [&](const auto& entry) {
          if (&entry.second == made_) return false;
          discarded_ += entry.second.stepper->counters();
          return true;
        });
      }
      found = parts_.emplace(choice.rows, Part{}).first;
      Part& part = found->second;
      part.choice = choice;
      part.system = with_fewer_rows(system_, choice);
      part.stepper = bind_(part.system);
      part.spread = std::make_unique<MultiplierSpread>(*system_, part.choice);
      part.shown = std::make_unique<MultiplierSpread>(*system_, part.choice);
    }
    part_ = &found->second;
    out_ = {};
  }

  // Rows with a larger volume at a state, where there are some that are much better.
  std::unique_ptr<RowChoice> better_rows(const State& s) const {
    const MultiplierSpread& now = *part_->spread;
    const bool regular = part_->spread->at(s.t, s.y.data(), s.z.data());
    if (regular && !(now.largest() > worth_an_exchange)) return nullptr;
    if (!part_->choice.paired) {
      auto anew = std::make_unique<RowChoice>(independent_rows(*system_, s.t, s.y, s.z));
      return anew->rows == part_->choice.rows ? nullptr : std::move(anew);
    }
    // One row after the other, as long as their volume becomes larger. Where all choices are singular, for an instant,
    // the position is passed with the rows as they are.
    std::vector<int> rows = part_->choice.rows;
    int in = now.worst_left_out(), out = now.worst_kept();
    if (!regular) {  // anew
      const ConstraintRank rank = constraint_rank(*system_, s.t, s.y.data());
      if (rank.rank != static_cast<int>(rows.size()) || rank.kept == rows) return nullptr;
      return std::make_unique<RowChoice>(choice_of(rank.kept, system_->ng()));
    }
    for (int k = 0; k < most_exchanges; ++k) {
      *std::find(rows.begin(), rows.end(), out) = in;
      std::sort(rows.begin(), rows.end());
      auto other = std::make_unique<RowChoice>(choice_of(rows, system_->ng()));
      MultiplierSpread there(*system_, *other);
      if (!there.at(s.t, s.y.data(), s.z.data())) return nullptr;
      if (!(there.largest() > good_enough)) return other;
      in = there.worst_left_out();
      out = there.worst_kept();
    }
    return nullptr;
  }

  // small_ = state with the multipliers of the kept rows
  void collect(const State& state) {
    small_.t = state.t;
    if (small_.psi.size() == part_->choice.multipliers.size() && out_.psi == state.psi && out_.y == state.y &&
        out_.z == state.z)
      return;
    small_.y = state.y;
    small_.z = state.z;
    part_->spread->at(state.t, state.y.data(), state.z.data());
    part_->spread->collect(state.psi, small_.psi);
  }

  void expand(const State& from, State& state, MultiplierSpread& spread) const {
    state.y = from.y;
    state.z = from.z;
    spread.at(state.t, state.y.data(), state.z.data());
    spread.expand(from.psi, state.psi);
  }

  void prepare(const State& state) const {
    shown_.psi.resize(made_->choice.multipliers.size());
    shown_.y.resize(state.y.size());
    shown_.z.resize(state.z.size());
  }
  void show(double t, State& state) const {
    state.y = shown_.y;
    state.z = shown_.z;
    made_->shown->at(t, state.y.data(), state.z.data());
    made_->shown->expand(shown_.psi, state.psi);
  }

  // The end of a step: all multipliers, rows that were left out, better rows.
  StepResult arrive(State& state, double t) {
    state.t = t;
    made_ = part_;
    expand(small_, state, *part_->spread);
    watch(state);
    if (holds(state)) polish(state);  // what is shown; the method goes on from what it has
    StepResult result;
    out_ = state;
    const double shown = small_.t;
    if (part_->spread->largest() > worth_an_exchange) {
      const double work = inner().summed_work();
      result = exchange(state);
      inner().set_summed_work(work);
    }
    small_.t = state.t = shown;  // some methods leave it to who calls them
    return result;
  }

  StepResult exchange(State& end) {
    try {
      const auto better = better_rows(end);
      if (!better) return {};
      use(*better);
    } catch (const InputError&) {
      return {};  // the next step will say what is wrong
    }
    if (exchanges_++ == 0) first_exchange_ = end.t;
    out_ = {};
    collect(end);
    out_ = end;
    return inner().start(small_);
  }

  // Does the method keep both levels to rounding?
  bool holds(const State& s) const {
    constraint_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    return residual(part_->choice.rows, Quantity::constraint, s.y) < round_off &&
           residual(part_->choice.rows, Quantity::constraint_rate, s.z) < round_off;
  }

  // What the kept rows have magnified is taken back.
  void polish(State& state) {
    const double g = residual(part_->choice.left_out, Quantity::constraint, state.y);
    const double rate = residual(part_->choice.left_out, Quantity::constraint_rate, state.z);
    if (!(g > few_roundings) && !(rate > few_roundings)) return;
    if (g > off || rate > off) return;  // no rounding: rows that contradict each other are not averaged
    if (!polish_) polish_ = std::make_unique<RowPolish>(*system_);
    polish_->polish(state.t, state.y, state.z);
  }

  // The largest of these rows at the state that was evaluated last, as a part of x.
  double residual(const std::vector<int>& rows, Quantity q, const std::vector<double>& x) const {
    double size = 0, largest = 0;
    for (const double a : x) size = std::max(size, std::abs(a));
    for (const int row : rows)
      largest = std::max(largest, part_->spread->in_units_of_position(row, (*constraint_)[q][row]));
    return size > 0 ? largest / size : largest;
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
  std::unique_ptr<RowPolish> polish_;
  bool known_ = false;
  std::map<std::vector<int>, Part> parts_;
  Part* part_ = nullptr;  // makes the next step
  Part* made_ = nullptr;  // made the last one
  State small_, out_;
  mutable State shown_;
  mutable std::vector<double> g_;
  mutable ContactStatistics contacts_;
  Counters discarded_;
  long exchanges_ = 0;
  double first_exchange_ = 0;
  double off_ = 0, kept_off_ = 0, time_off_ = 0;
  int row_off_ = 0;
  double apart_ = 0;  // of the rows left out and combinations of the kept ones, when the motion began
  int row_apart_ = 0;
};

}  // namespace

std::unique_ptr<Stepper> bind_to_independent_rows(std::shared_ptr<const System> system, BindMethod bind) {
  std::unique_ptr<Stepper> whole = bind(system);
  if (const auto* any = dynamic_cast<const AnyRank*>(whole.get()); any && any->takes_any_rank()) return whole;
  return std::make_unique<RedundantRows>(std::move(system), std::move(bind), std::move(whole));
}

}  // namespace hinge
