#include "method/wrap/piecewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/implicit/bdf.hpp"
#include "method/stepper_around.hpp"
#include "method/wrap/sliding.hpp"
#include "method/wrap/smooth_piece.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_branches = 256;  // each piece has equations and derivatives of its own
constexpr std::size_t most_pieces = 64;     // kept
constexpr int looks = 4;                    // for roots in a step
constexpr double no_progress = 1e-10;       // part of a step
constexpr double euler_part = 1e-8;         // of the last step
constexpr double near_end = 1e-3;           // part of a step
constexpr double no_cap = std::numeric_limits<double>::infinity();
constexpr long short_piece = 2;        // steps
constexpr int most_short_pieces = 30;  // in a row,
constexpr double crowded = 1e-6;       // in this part of the time left
constexpr double epsilon = std::numeric_limits<double>::epsilon();

class PiecewiseStepper final : public StepperAround {
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
        branches_(*system_->equations().graph, functions_of(system_->equations())),
        roots_(system_->equations().tape(branches_.graph(), branches_.roots())),
        root_scratch_(roots_->make_scratch()),
        sliding_(*system_, branches_),
        sides_(branches_.size(), 1) {
    values_.resize(branches_.size());
    discarded_contacts_.momentum_balance = -1;  // not measured
    const Equations& eq = system_->equations();
    whole_ = method_.bind(system_, solver, adaptive);  // says what does not fit
    if (is_dae_) {
      euler_ = implicit_euler(system_);
      differential_.assign(eq.y.size(), 0);
      Graph graph = *eq.graph;
      for (const int j : jacobian(graph, eq.residual, eq.z).column) differential_[static_cast<std::size_t>(j)] = 1;
    }
  }

  StepResult start(const State& state) override {
    sample_ = state;
    pending_ = false;
    cap_ = no_cap;
    stuck_ = short_pieces_ = 0;
    steps_here_ = 0;
    sliding_.forget();
    find_sides(state);
    choose_piece();
    return StepperAround::start(state);
  }

  StepResult continue_from(const State& state) override {
    return pending_ ? StepResult{} : StepperAround::continue_from(state);
  }

  StepResult advance(State& state, double limit) override {
    given_ = state;
    for (;;) {
      if (pending_)
        if (StepResult result = change_branches(state, limit); !result) return refuse(state, result);
      before_ = state;
      const bool capped = cap_ < limit;
      if (StepResult result = counted(stepper().advance(state, std::min(cap_, limit))); !result) {
        if (++stuck_ > most_stuck() || !ends_here(before_)) return refuse(state, result);
        pending_ = true;
        cap_ = no_cap;
        continue;
      }
      ++steps_here_;
      if (!find_change(state)) {
        if (state.t >= cap_) cap_ = no_cap;
        stuck_ = 0;
        return {};
      }
      const double length = state.t - before_.t, part = change_ - before_.t;
      if (!capped) last_length_ = length;
      const bool progress = part > std::max(no_progress * length, 8 * epsilon * std::abs(before_.t));
      if (progress && again_ && !capped && part < (1 - near_end) * length && part > near_end * length) {
        cap_ = change_;  // once more, so that the root is at the end of a step, where the method is most accurate
        state = before_;
        if (StepResult result = counted(stepper().start(state)); !result) return refuse(state, result);
        continue;
      }
      cap_ = no_cap;
      pending_ = true;
      if (progress) {
        stepper().interpolate(change_, state);
        state.t = change_;
        stuck_ = 0;
        return {};
      }
      state = before_;  // already beyond the root
      if (++stuck_ > most_stuck()) return refuse(state, to_and_fro(before_.t));
    }
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> list;
    if (changes_ == 0 && piece_) list = stepper().remarks();
    if (changes_ > 0)
      list.push_back(
          fmt::format("the equations change to another branch {} time{}, first at t = {:.10g}: started anew there",
                      changes_, changes_ == 1 ? "" : "s", first_change_));
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
    return all;
  }

 private:
  struct Piece {
    SmoothPiece smooth;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<Stepper> euler;
  };

  int most_stuck() const { return 2 * static_cast<int>(branches_.size()) + 4; }
  Stepper& stepper() const { return *piece_->stepper; }

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

  void find_sides(const State& s) {
    const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
    roots_->evaluate(inputs, root_scratch_.data(), values_.data());
    for (std::size_t k = 0; k < sides_.size(); ++k)
      sides_[k] = values_[k] > 0 || (values_[k] == 0 && branches_.at_zero()[k] > 0);
  }

  std::unique_ptr<Stepper> implicit_euler(std::shared_ptr<const System> system) const {
    BdfOptions options;
    options.order = 1;
    return make_fixed_bdf(std::move(system), options, solver_);
  }

  Piece make_piece() {
    Piece piece{SmoothPiece(*system_, branches_, sides_), {}, {}};
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

  // Is a root function on its other side by more than the tolerance? Less than that is noise.
  bool is_passed(const State& s) {
    SmoothPiece& smooth = piece_->smooth;
    smooth.evaluate(s);
    if (!smooth.is_any_beyond()) return false;
    const std::vector<double> distance = smooth.distances(s, adaptive_.tolerance);
    passed_.clear();
    for (std::size_t k = 0; k < distance.size(); ++k)
      if (smooth.is_beyond(k) && distance[k] > 1) passed_.push_back(k);
    return !passed_.empty();
  }
  bool is_one_of_these_beyond(const State& s) {
    piece_->smooth.evaluate(s);
    return std::any_of(passed_.begin(), passed_.end(), [this](std::size_t k) { return piece_->smooth.is_beyond(k); });
  }
  // Where a branch cannot be continued beyond its end, a root function stops before its root: the next branch, then.
  bool ends_here(const State& s) {
    piece_->smooth.evaluate(s);
    const std::vector<double> distance = piece_->smooth.distances(s, adaptive_.tolerance);
    next_sides_ = sides_;
    for (std::size_t k = 0; k < distance.size(); ++k)
      if (distance[k] <= 1) flip(next_sides_, k);
    return next_sides_ != sides_;
  }
  void flip(Branches::Sides& sides, std::size_t k) const {
    char& side = sides[piece_->smooth.active()[k]];
    side = !side;
  }

  // The first time in the last step at which a root function is on its other side, to round-off.
  bool find_change(const State& after) {
    if (piece_->smooth.active().empty()) return false;
    double low = before_.t, high = low;
    bool found = false;
    for (int look = 1; look <= looks && !found; ++look) {
      low = high;
      high = look == looks ? after.t : before_.t + (after.t - before_.t) * look / looks;
      if (look == looks)
        sample_ = after;
      else
        probe(high);
      found = is_passed(sample_);
    }
    if (!found) return false;
    for (;;) {
      const double middle = low + (high - low) / 2;
      if (!(middle > low && middle < high)) break;
      probe(middle);
      (is_one_of_these_beyond(sample_) ? high : low) = middle;
    }
    change_ = high;
    if (high == after.t)
      sample_ = after;
    else
      probe(high);
    piece_->smooth.evaluate(sample_);
    next_sides_ = sides_;
    for (const std::size_t k : passed_)
      if (piece_->smooth.is_beyond(k)) flip(next_sides_, k);
    return true;
  }
  void probe(double t) {
    stepper().interpolate(t, sample_);
    sample_.t = t;
  }

  StepResult change_branches(State& state, double limit) {
    pending_ = false;
    if (changes_++ == 0) first_change_ = state.t;
    if (steps_here_ > short_piece || short_pieces_ == 0) {
      short_pieces_ = 0;
      crowd_begin_ = state.t;
    }
    ++short_pieces_;
    steps_here_ = 0;
    if (short_pieces_ > most_short_pieces && state.t - crowd_begin_ < crowded * (limit - crowd_begin_))
      return to_and_fro(state.t);
    const Branches::Sides before = sides_;
    find_sides_after(state, limit);
    if (sides_ == before) sides_ = next_sides_;
    bool settled = false;
    const std::shared_ptr<const SymbolicSystem> from = piece_->smooth.system();
    try {
      choose_piece();
      settled = is_dae_ && settle(state, limit);
      if (is_dae_ || system_->ng() > 0) state = consistent(state);
    } catch (const InputError& e) {
      if (!settled)
        return {false,
                fmt::format("at t = {:.15g}, where the equations change to another branch, they cannot be started "
                            "anew: {}",
                            state.t, e.what())};
    }
    if (sliding_.has_begun(from, piece_->smooth.system(), state, before, sides_)) return to_and_fro(state.t);
    return counted(stepper().start(state));
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
        find_sides(next);
        return;
      }
    }
    find_sides(state);
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

  State consistent(const State& at) const {
    Start start;
    start.consistent = Consistency::project;
    start.position = at.y;
    start.multiplier = at.psi;
    switch (system_->layout().kind) {
      case SystemKind::dae:
        start.velocity = at.z;
        start.given = differential_;
        start.given_velocity.assign(at.z.size(), 0);
        break;
      case SystemKind::hamiltonian: start.momentum = at.z; break;
      default: start.velocity = at.z;
    }
    return consistent_start(*piece_->smooth.system(), at.t, start);
  }

  StepResult to_and_fro(double t) const {
    return {false,
            fmt::format(
                "at t = {:.12g} the equations lead back from both sides of a place where they jump (in if, min, max, "
                "abs or sign), as dry friction at rest does: no solution goes on from there. Make the jump "
                "continuous, for instance tanh(v/0.001) in the place of sign(v), or take steps of given length",
                t)};
  }

  std::shared_ptr<const SymbolicSystem> system_;
  SolverOptions solver_;
  StepOptions adaptive_;
  MethodChoice method_;
  bool again_;  // is the interpolation less accurate than the ends of steps?
  bool is_dae_;
  Branches branches_;
  std::unique_ptr<Evaluator> roots_;
  std::vector<double> root_scratch_, values_;
  Sliding sliding_;
  std::vector<char> differential_;
  std::unique_ptr<Stepper> euler_;

  std::map<Branches::Sides, Piece> pieces_;
  Piece* piece_ = nullptr;
  Branches::Sides sides_, next_sides_;
  std::vector<std::size_t> passed_;  // root functions, in the last step
  State given_, before_, sample_;
  double last_length_ = 0;  // of the step in which the change was found
  double cap_ = no_cap;     // where the present step shall end
  double change_ = 0, first_change_ = 0, crowd_begin_ = 0;
  bool pending_ = false;  // the last step has ended at a root
  int stuck_ = 0, short_pieces_ = 0;
  long steps_here_ = 0, changes_ = 0;
  std::unique_ptr<Stepper> whole_;  // answers before the start
  Counters discarded_;
  ContactStatistics discarded_contacts_;
  mutable ContactStatistics contacts_;
};

}  // namespace

std::unique_ptr<Stepper> bind_piecewise(const MethodChoice& method, std::shared_ptr<const System> system,
                                        const SolverOptions& solver, const StepOptions& adaptive) {
  if (auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system); symbolic && adaptive.chosen()) {
    const Branches branches(*symbolic->equations().graph, functions_of(symbolic->equations()));
    if (branches.size() > 0 && branches.size() <= most_branches)
      return std::make_unique<PiecewiseStepper>(method, std::move(symbolic), solver, adaptive);
  }
  return method.bind(std::move(system), solver, adaptive);
}

}  // namespace hinge
