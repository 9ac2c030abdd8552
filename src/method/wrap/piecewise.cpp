// A little over 400 lines: one state machine, whose parts share everything.
#include "method/wrap/piecewise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/implicit/bdf.hpp"
#include "method/stepper_around.hpp"
#include "method/wrap/branch_start.hpp"
#include "method/wrap/change_search.hpp"
#include "method/wrap/sampled.hpp"
#include "method/wrap/sliding.hpp"
#include "method/wrap/split_steps.hpp"
#include "method/wrap/time_kinks.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_pieces = 64;  // kept
constexpr int most_shortenings = 6;      // of a step that is not clear
constexpr int most_refinements = 60;     // of a step that passes by a pulse
constexpr double nothing_missed = 1e4;   // gaps around a kink of t: no change matters within
constexpr double no_progress = 1e-10;    // part of a step
constexpr double euler_part = 1e-8;      // of the last step
constexpr double near_end = 1e-3;        // part of a step
constexpr double no_cap = std::numeric_limits<double>::infinity(), no_kink = no_cap;
constexpr long short_piece = 2;        // steps
constexpr int most_short_pieces = 30;  // in a row,
constexpr double crowded = 1e-6;       // in this part of the time left

class PiecewiseStepper final : public StepperAround {
  using Change = ChangeSearch::Outcome;

 public:
  PiecewiseStepper(const MethodChoice& method, std::shared_ptr<const SymbolicSystem> system,
                   const SolverOptions& solver, const StepOptions& adaptive)
      : StepperAround(true),
        system_(std::move(system)),
        solver_(solver),
        adaptive_(adaptive),
        method_(method),
        again_(!method.info.can.full_interpolation),
        is_dae_(system_->structure().is_dae),
        source_(system_),
        branches_(source_.branches),
        kinks_(system_->equations()),
        jumps_(system_),
        sliding_(*system_, branches_),
        start_(*system_, adaptive.tolerance),
        sides_(branches_.size(), 1),
        search_(adaptive.tolerance) {
    discarded_contacts_.momentum_balance = -1;         // not measured
    whole_ = method_.bind(system_, solver, adaptive);  // says what does not fit
    if (is_dae_) euler_ = implicit_euler(system_);
  }

  StepResult start(const State& state) override {
    cap_ = no_cap;
    stuck_ = short_pieces_ = refinements_ = shortenings_ = 0;
    steps_here_ = 0;
    sliding_.forget();
    source_.find_sides(state, sides_);
    next_sides_ = sides_;
    choose_piece();
    pending_ = kinks_.at(state.t);  // then it has to begin on the other side
    kink_ = pending_ ? state.t : no_kink;
    return StepperAround::start(state);
  }

  StepResult continue_from(const State& state) override {
    return pending_ ? StepResult{} : StepperAround::continue_from(state);
  }

  StepResult advance(State& state, double limit) override {
    given_ = state;
    broken_ = 0;
    for (;;) {
      if (pending_) {
        if (kink_ < no_kink && limit <= kink_ + TimeKinks::gap(kink_)) {
          go_on_to(limit, state);
          return {};
        }
        if (StepResult result = change_branches(state, limit); !result) return refuse(state, result);
      }
      before_ = state;
      const double kink = kinks_.next(state.t, limit + TimeKinks::gap(limit));
      const double stop = kink < no_kink ? kink - TimeKinks::gap(kink) : no_kink;
      const double end = std::min({limit, stop, limit < no_cap ? limit : kinks_.known_until()});
      const bool capped = cap_ < end;
      if (StepResult result = counted(stepper().advance(state, std::min(cap_, end))); !result) {
        if (++stuck_ > most_stuck() || !ends_here(before_)) return refuse(state, result);
        pending_ = true;
        cap_ = no_cap;
        continue;
      }
      reached_ = state.t;
      const double length = state.t - before_.t;
      if (refinements_ < most_refinements)
        if (const auto pulse = piece_->functions.unseen(before_.t, state.t)) {
          ++refinements_;
          if (StepResult result = again_until(state, *pulse); !result) return refuse(state, result);
          continue;
        }
      ++steps_here_;
      const Change change = search_.find(piece_->smooth, stepper(), before_, state);
      // just before a jump of t bounds see both of its sides, however short the rest of the way there is
      const bool unclear = change == Change::unclear && length > nothing_missed * TimeKinks::gap(state.t);
      if (unclear && shortenings_++ < most_shortenings) {
        if (StepResult result = again_until(state, before_.t + length / 8); !result) return refuse(state, result);
        continue;
      }
      if (change != Change::found) {
        if (unclear && unclear_++ == 0) first_unclear_ = before_.t;
        if (state.t >= cap_) cap_ = no_cap;
        stuck_ = refinements_ = shortenings_ = 0;
        if (!(state.t < stop)) {
          pending_ = true;
          kink_ = kink;
          next_sides_ = sides_;
          last_length_ = length;
          if (limit <= kink + TimeKinks::gap(kink)) go_on_to(limit, state);
        }
        return {};
      }
      const double part = search_.time() - before_.t;
      next_sides_ = sides_;
      passed_ = state;
      stepper().sketch(search_.time(), passed_);
      for (const std::size_t k : search_.passed()) flip(next_sides_, k, passed_);
      if (!capped) last_length_ = length;
      const bool progress = part > std::max(no_progress * length, 8 * epsilon * std::abs(before_.t));
      if (progress && again_ && !capped && part < (1 - near_end) * length && part > near_end * length) {
        // once more, so that the root is at the end of a step, where the method is most accurate
        if (StepResult result = again_until(state, search_.time()); !result) return refuse(state, result);
        continue;
      }
      cap_ = no_cap;
      pending_ = true;
      kink_ = no_kink;
      if (progress) {
        stepper().sketch(search_.time(), state);
        state.t = search_.time();
        stuck_ = refinements_ = shortenings_ = 0;
        return {};
      }
      state = before_;  // already beyond the root
      if (++stuck_ > most_stuck()) return refuse(state, to_and_fro(before_.t));
    }
  }

  // A step that ends at a kink ends just before it, whatever its end is called: with the equations of that side.
  void interpolate(double t, State& state) const override {
    stepper().interpolate(std::min(t, reached_), state);
    state.t = t;
  }
  void sketch(double t, State& state) const override {
    stepper().sketch(std::min(t, reached_), state);
    state.t = t;
  }

  std::span<const Break> breaks() const override { return std::span(breaks_).first(broken_); }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> list;
    if (pieces_.size() == 1 && piece_) list = stepper().remarks();
    if (changes_ > 0)
      list.push_back(
          fmt::format("the equations change to another branch {} time{}, first at t = {:.10g}: started anew there",
                      changes_, changes_ == 1 ? "" : "s", first_change_));
    for (std::string& remark : jumps_.remarks()) list.push_back(std::move(remark));
    return list;
  }

  const ContactStatistics* contact_statistics() const override {
    if (!inner().contact_statistics()) return nullptr;
    contacts_ = discarded_contacts_;
    for (const auto& [sides, piece] : pieces_)
      if (&piece != piece_) contacts_ += *piece.stepper->contact_statistics();
    contacts_ += *inner().contact_statistics();
    std::stable_sort(contacts_.events.begin(), contacts_.events.end(),
                     [](const auto& a, const auto& b) { return a.t < b.t; });
    return &contacts_;
  }

  std::vector<Doubt> doubts() const override {
    std::vector<Doubt> all;
    for (const auto& [sides, piece] : pieces_)
      for (Doubt& doubt : piece.stepper->doubts()) all.push_back(std::move(doubt));
    if (unclear_ > 0)
      all.push_back(
          {fmt::format("steps in which a condition may have changed unnoticed, first at t = {:.6g}", first_unclear_),
           static_cast<double>(unclear_), "give a max_step that is shorter than such a change"});
    if (kinks_.lost_from() < before_.t) all.push_back(kinks_.doubt());
    if (auto doubt = start_.doubt()) all.push_back(std::move(*doubt));
    return all;
  }

 private:
  struct Piece {
    SmoothPiece smooth;
    TimeFunctions functions;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<Stepper> euler;
  };

  int most_stuck() const { return 2 * static_cast<int>(branches_.size()) + 4; }
  Stepper& stepper() const { return *piece_->stepper; }

  // The rest of the way to a kink, or to its other side: some units of rounding.
  void go_on_to(double t, State& state) {
    breaks_[broken_].before = state;
    state.t = t;
    breaks_[broken_++].after = state;
  }

  StepResult refuse(State& state, StepResult result) {
    state = given_;
    return result;
  }

  Stepper& inner() const override { return piece_ ? *piece_->stepper : *whole_; }
  Counters work() const override {
    Counters sum = discarded_;
    for (const auto& [sides, piece] : pieces_) sum += piece.stepper->counters();
    return sum;
  }

  // The last step once more, not beyond t.
  StepResult again_until(State& state, double t) {
    cap_ = t;
    state = before_;
    return counted(stepper().start(state));
  }

  std::unique_ptr<Stepper> implicit_euler(std::shared_ptr<const System> system) const {
    BdfOptions options;
    options.order = 1;
    return make_fixed_bdf(std::move(system), options, solver_);
  }

  Piece make_piece() {
    SmoothPiece smooth(source_, sides_);
    TimeFunctions functions(smooth.system()->equations());
    Piece piece{std::move(smooth), std::move(functions), {}, {}};
    piece.stepper = method_.bind(piece.smooth.system(), solver_, adaptive_);
    if (is_dae_) piece.euler = implicit_euler(piece.smooth.system());
    return piece;
  }

  void choose_piece() {
    auto at = pieces_.find(sides_);
    if (at == pieces_.end()) {
      if (pieces_.size() >= most_pieces) {
        for (const auto& [sides, piece] : pieces_) {
          discarded_ += piece.stepper->counters();
          if (const ContactStatistics* c = piece.stepper->contact_statistics()) discarded_contacts_ += *c;
        }
        pieces_.clear();
      }
      at = pieces_.emplace(sides_, make_piece()).first;
    }
    piece_ = &at->second;
  }

  // Where a branch cannot be continued beyond its end, a root function stops before its root: the next branch, then.
  bool ends_here(const State& s) {
    piece_->smooth.evaluate(s);
    const std::vector<double> distance = piece_->smooth.distances(s, adaptive_.tolerance);
    next_sides_ = sides_;
    for (std::size_t k = 0; k < distance.size(); ++k)
      if (distance[k] <= 1) flip(next_sides_, k, s);
    return next_sides_ != sides_;
  }
  void flip(Branches::Sides& sides, std::size_t k, const State& at) {
    const std::size_t root = piece_->smooth.active()[k];
    sides[root] = source_.next_side(root, sides[root], at);
  }

  StepResult change_branches(State& state, double limit) {
    pending_ = false;
    const bool of_time = kink_ < no_kink;
    if (of_time) {
      breaks_[0].before = state;
      if (StepResult result = pass_kink(state); !result) return result;
    } else {
      if (changes_++ == 0) first_change_ = state.t;
      if (steps_here_ > short_piece || short_pieces_ == 0) {
        short_pieces_ = 0;
        crowd_begin_ = state.t;
      }
      ++short_pieces_;
      if (short_pieces_ > most_short_pieces && state.t - crowd_begin_ < crowded * (limit - crowd_begin_))
        return to_and_fro(state.t);
    }
    steps_here_ = 0;
    const Branches::Sides before = sides_;
    find_sides_after(state, limit);
    if (sides_ == before) sides_ = next_sides_;
    bool settled = false;
    const std::shared_ptr<const SymbolicSystem> from = piece_->smooth.system();
    try {
      choose_piece();
      const State reached = state;
      settled = is_dae_ && settle(state, limit);
      if (is_dae_ || system_->nrates() > 0) state = start_.consistent(*piece_->smooth.system(), state);
      if (is_dae_ && !settled) start_.watch_impulses(reached, state);
    } catch (const InputError& e) {
      if (!settled)
        return {false,
                fmt::format("at t = {:.15g}, where the equations change to another branch, they cannot be started "
                            "anew: {}",
                            state.t, e.what())};
    }
    if (of_time) {
      breaks_[0].after = state;
      broken_ = 1;
    }
    if (!of_time && sliding_.has_begun(from, piece_->smooth.system(), state, before, sides_))
      return to_and_fro(state.t);
    return counted(stepper().start(state));
  }

  // To the other side of a kink that depends on time alone.
  StepResult pass_kink(State& state) {
    const double kink = std::exchange(kink_, no_kink);
    if (StepResult possible = jumps_.at(kink, state).possible; !possible) return possible;
    if (steps_here_ > 0 && changes_++ == 0) first_change_ = kink;
    state.t = std::max(state.t, kink + TimeKinks::gap(kink));
    short_pieces_ = 0;
    return {};
  }

  // The sides that the motion comes to. Of a DAE they are those after a short step of the implicit Euler method with
  // the equations as they stand: where several roots meet, signs at the point itself are rounding. Else they are those
  // here, but for the roots that have just been passed.
  void find_sides_after(const State& state, double limit) {
    const Branches::Sides before = sides_;
    if (is_dae_) {
      const double h = std::min(0.1 * std::sqrt(adaptive_.tolerance.relative) * last_length_, (limit - state.t) / 2);
      State next = state;
      euler_->reset();
      if (h > 0 && euler_->step(next, h)) {
        source_.find_sides(next, sides_);
        return;
      }
    }
    source_.find_sides(state, sides_);
    for (std::size_t k = 0; k < sides_.size(); ++k)
      if (next_sides_[k] != before[k]) sides_[k] = next_sides_[k];
  }

  // A very short step of the implicit Euler method with the new branch: it keeps what the equations differentiate, be
  // it sums like a' + b', and satisfies the others, which the values where a step was cut do up to its tolerance only.
  bool settle(State& state, double limit) {
    const double h = std::max(euler_part * last_length_, 64 * epsilon * std::abs(state.t));
    if (!(h > 0) || state.t + h >= limit) return false;
    State next = state;
    piece_->euler->reset();
    if (!piece_->euler->step(next, h)) return false;
    state = next;
    return true;
  }

  StepResult to_and_fro(double t) const {
    return {false,
            fmt::format("at t = {:.12g} the equations lead back from both sides of a place where they jump (in if, "
                        "min, max, abs, sign, floor or a table), as dry friction at rest does: no solution goes on "
                        "from there. {}",
                        t, instead_of_jumps)};
  }

  std::shared_ptr<const SymbolicSystem> system_;
  SolverOptions solver_;
  StepOptions adaptive_;
  MethodChoice method_;
  bool again_;  // is the interpolation less accurate than the ends of steps?
  bool is_dae_;
  PieceSource source_;
  const Branches& branches_;
  TimeKinks kinks_;
  PrescribedJumps jumps_;
  Sliding sliding_;
  BranchStart start_;
  std::unique_ptr<Stepper> euler_;

  std::map<Branches::Sides, Piece> pieces_;
  Piece* piece_ = nullptr;
  Branches::Sides sides_, next_sides_;
  ChangeSearch search_;
  State given_, before_, passed_;
  std::array<Break, 2> breaks_;  // at the beginning and the end of the last step
  std::size_t broken_ = 0;
  double reached_ = no_cap;  // by the last step of a piece
  double last_length_ = 0;   // of the step in which the change was found
  double cap_ = no_cap;      // where the present step shall end
  double first_change_ = 0, crowd_begin_ = 0;
  double kink_ = no_kink;  // where the last step has ended, if it was one of these,
  bool pending_ = false;   // or at a root
  int stuck_ = 0, short_pieces_ = 0, refinements_ = 0, shortenings_ = 0;
  long steps_here_ = 0, changes_ = 0, unclear_ = 0;
  double first_unclear_ = 0;
  std::unique_ptr<Stepper> whole_;  // answers before the start
  Counters discarded_;
  ContactStatistics discarded_contacts_;
  mutable ContactStatistics contacts_;
};

}  // namespace

std::unique_ptr<Stepper> bind_piecewise(const MethodChoice& method, std::shared_ptr<const System> system,
                                        const SolverOptions& solver, const StepOptions& adaptive) {
  std::unique_ptr<Stepper> stepper;
  const auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
  if (!adaptive.chosen())
    stepper = split_at_kinks(method.bind(system, solver, adaptive), system);
  else if (symbolic && (has_branches(symbolic->equations()) || symbolic->structure().depends_on_time))
    stepper = std::make_unique<PiecewiseStepper>(method, symbolic, solver, adaptive);
  else
    stepper = method.bind(system, solver, adaptive);
  return sample_states(std::move(stepper), std::move(system));
}

}  // namespace hinge
