// BDF with steps and orders chosen to meet a tolerance: bdf.hpp says how.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "method/consistent_row.hpp"
#include "method/implicit/bdf.hpp"
#include "method/implicit/bdf_coefficients.hpp"
#include "method/implicit/increment_units.hpp"
#include "method/implicit/iteration_matrix.hpp"
#include "method/implicit/pairs.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr int most_failures = 12;
constexpr double matrix_range = 0.6, lost_in_time = 1e4;  // c / (c of the matrix) and its inverse; roundings of t
constexpr std::size_t few_unknowns = 40;  // up to here a new matrix costs about as much as two iterations

class AdaptiveBdf final : public Stepper {
 public:
  AdaptiveBdf(std::shared_ptr<const System> system, const BdfOptions& options, const SolverOptions& solver,
              const StepOptions& adaptive)
      : Stepper(true),
        system_(std::move(system)),
        problem_(formulate_moving(system_, options.form, options.keep_partition, Correction::free_of_mass)),
        matrix_(*problem_, solver.linear_algebra),
        units_(*problem_, system_->structure().is_dae ? problem_->size() : system_->ny() + system_->nz()),
        adaptive_(adaptive),
        n_(static_cast<std::size_t>(problem_->size())),
        padded_((n_ + at_once - 1) / at_once * at_once),
        most_order_(static_cast<std::size_t>(options.order)) {
    for (auto* list : {&phi_, &star_})
      for (auto& x : *list) x.assign(padded_, 0.0);
    for (auto* x : {&x_, &rate_, &e_, &d_, &size_, &weight_, &newton_weight_, &shown_, &shown_rate_})
      x->resize(padded_);
    for (std::size_t i = 0; i < n_; ++i)
      if (problem_->unknowns()[i].tested) tested_.push_back(i);
    const Formulation form = options.form.formulation;
    if (system_->nrates() > 0 &&
        (form == Formulation::index_3 || form == Formulation::index_2 || form == Formulation::ggl))
      end_.emplace(system_, options.projection ? Projection::none : levels_at_ends(form), options.form,
                   solver.linear_algebra);
    const Projection kept = levels_of(form);
    const Projection which = options.projection.value_or(kept == Projection::both ? kept : Projection::none);
    if (system_->nrates() > 0 && which != Projection::none) projection_.emplace(system_, which, solver.linear_algebra);
    if (system_->nrates() > 0)
      row_.emplace(system_, options.projection.value_or(levels_between(form)), options.form, solver.linear_algebra);
  }

  StepResult start(const State& state) override {
    t_ = state.t;
    problem_->stand_still(t_);
    if (!problem_->from_state(state, x_.data(), rate_.data()))
      return bdf_failure(*system_, state, 0, NewtonTrouble::singular);
    matrix_.rebuild();  // a chart may have been chosen
    matrix_c_ = 0;
    for (auto& x : phi_) std::fill(x.begin(), x.end(), 0.0);
    phi_[0] = x_;
    used_ = {};
    k_ = k_used_ = 1;
    h_ = h_used_ = 0;
    growing_ = true;
    raised_ = refused_ = 0;
    return {};
  }

  StepResult advance(State& state, double limit) override;

  void interpolate(double t, State& state) const override { show_between(t, state, true); }
  void sketch(double t, State& state) const override { show_between(t, state, false); }

 private:
  void show_between(double t, State& state, bool exactly) const {
    BdfCoefficients::List value{}, slope{};
    used_.interpolation(t - t_, k_used_, value, slope);
    std::fill(shown_.begin(), shown_.end(), 0.0);
    std::fill(shown_rate_.begin(), shown_rate_.end(), 0.0);
    for (std::size_t j = 0; j <= k_used_; ++j)
      for (std::size_t i = 0; i < n_; ++i) {
        shown_[i] += value[j] * phi_[j][i];
        shown_rate_[i] += slope[j] * phi_[j][i];
      }
    show(t, shown_.data(), shown_rate_.data(), state);
    if (t != t_ && row_) row_->settle(t, state);
    if (exactly && system_->structure().is_dae) problem_->show(t, shown_.data(), shown_rate_.data(), state);
  }

  struct Estimates {
    double same = 0, lower = 0, higher = 0;  // errors at orders k, k - 1, k + 1, times order + 1
    std::size_t order = 1;                   // k, or k - 1 where that is at least as good
    double chosen = 0;                       // error at that order
  };

  void first_step(double limit);
  void set_weights();
  void predict();
  NewtonTrouble correct(double t, double h);
  NewtonTrouble iterate(double t);
  Estimates estimate(double size, double error) const;
  void accept(double t, double h);
  void move_along();
  void choose_next(const Estimates& errors, double h, std::size_t k_before);
  void project(State& state);
  void show(double t, const double* x, const double* rate, State& state) const;

  // Root of the mean square of a vector, in units of the tolerance, over the tested unknowns.
  template <class Entry>
  double norm(Entry&& entry) const {
    double sum = 0;
    for (const std::size_t i : tested_) {
      const double part = entry(i) * weight_[i];
      sum += part * part;
    }
    return std::sqrt(sum / static_cast<double>(tested_.size()));
  }
  static double growth(double error, std::size_t k) {
    return std::pow(2 * error + 1e-4, -1 / static_cast<double>(k + 1));
  }

  std::shared_ptr<const System> system_;
  std::unique_ptr<ImplicitProblem> problem_;
  IterationMatrix matrix_;
  IncrementUnits units_;
  StepOptions adaptive_;
  std::size_t n_, padded_, most_order_;
  std::vector<std::size_t> tested_;

  std::array<std::vector<double>, BdfCoefficients::most_order + 2> phi_, star_;
  BdfCoefficients used_, now_;  // of the last accepted step, of the one being tried
  std::size_t k_ = 1, k_used_ = 1;
  double t_ = 0, h_ = 0, h_used_ = 0;
  WithinTolerance newton_{newton_policy::multistep_within_tolerance};
  double matrix_c_ = 0;        // 0: there is no matrix
  bool matrix_tired_ = false;  // it took more than two iterations last time
  int raised_ = 0;             // steps for which the order is not lowered again
  int refused_ = 0;            // steps for which the step is not doubled again
  bool growing_ = true;        // at the start orders and steps grow from step to step
  std::vector<double> x_, rate_, e_, d_, size_, weight_, newton_weight_;  // weights are reciprocal
  mutable std::vector<double> shown_, shown_rate_;
  std::optional<ConstraintProjection> projection_;
  mutable std::optional<ConsistentRow> end_, row_;  // of steps; between them
};

void AdaptiveBdf::first_step(double limit) {
  set_weights();
  const double speed = norm([this](std::size_t i) { return rate_[i]; });
  h_ = adaptive_.first_step;
  if (!(h_ > 0)) {
    h_ = std::isfinite(limit) ? 1e-3 * (limit - t_) : 1e-3;
    // not so short that rounding would rule it; the error test shortens it where it must
    if (speed * h_ > 0.5) h_ = std::max(0.5 / speed, 1e-6 * h_);
    h_ = std::max(h_, std::min(std::isfinite(limit) ? limit - t_ : h_, lost_in_time * epsilon * std::abs(t_)));
  }
  for (std::size_t i = 0; i < n_; ++i) phi_[1][i] = h_ * rate_[i];
  used_.psi[0] = h_;
}

// 1 / (relative |x| + absolute). Where only a relative tolerance is given, zeros are judged beside the largest number.
void AdaptiveBdf::set_weights() {
  const auto [relative, absolute] = adaptive_.tolerance;
  problem_->sizes(phi_[0].data(), size_.data());
  double largest = 1e-200;
  for (const std::size_t i : tested_) largest = std::max(largest, size_[i]);
  const double least = 1e-6 * relative * largest;
  for (std::size_t i = 0; i < n_; ++i) weight_[i] = 1 / std::max(relative * size_[i] + absolute, least);
}

void AdaptiveBdf::predict() {
  for (std::size_t i = 0; i < padded_; i += at_once) {
    TwoNumbers x = now_.beta[0] * two_of(phi_[0], i), rate{};
    keep(x, star_[0], i);
    for (std::size_t j = 1; j <= k_; ++j) {
      const TwoNumbers star = now_.beta[j] * two_of(phi_[j], i);
      keep(star, star_[j], i);
      x += star;
      rate += now_.gamma[j] * star;
    }
    keep(x, x_, i);
    keep(rate, rate_, i);
  }
}

// Newton's iteration, from the predicted x_ and rate_.
NewtonTrouble AdaptiveBdf::iterate(double t) {
  for (std::size_t i = 0; i < n_; ++i) newton_weight_[i] = units_.weight(i, 1 / weight_[i]);
  const double correction = 2 / (1 + now_.c / matrix_c_);
  std::fill(e_.begin(), e_.end(), 0.0);
  const NewtonTrouble trouble = newton(Booked(newton_, counters_), [&]() -> Increment {
    problem_->residual(t, x_.data(), rate_.data(), d_.data());
    ++counters_.evaluations;
    ++counters_.iterations;
    matrix_.solve(d_.data());
    double sum = 0;
    for (std::size_t i = 0; i < padded_; i += at_once) {
      const TwoNumbers change = -correction * two_of(d_, i), part = change * two_of(newton_weight_, i);
      keep(two_of(e_, i) + change, e_, i);
      keep(two_of(x_, i) + change, x_, i);
      keep(two_of(rate_, i) + now_.c * change, rate_, i);
      for (std::size_t l = 0; l < at_once; ++l) sum += part[l] * part[l];
    }
    return std::sqrt(sum / static_cast<double>(n_));
  });
  if (newton_.count() > 1) matrix_tired_ = newton_.count() > 2;
  return trouble;
}

// With the matrix at hand where it is near enough, else with a new one; of few unknowns also where the last step took
// more than the two iterations that every step has.
NewtonTrouble AdaptiveBdf::correct(double t, double h) {
  const double ratio = matrix_c_ == 0 ? 0 : now_.c / matrix_c_;
  if (ratio >= matrix_range && ratio <= 1 / matrix_range && !(matrix_tired_ && n_ <= few_unknowns)) {
    if (iterate(t) == NewtonTrouble::none) return NewtonTrouble::none;
    predict();
  }
  matrix_.evaluate(t, x_.data(), rate_.data());
  ++counters_.evaluations;
  ++counters_.factorisations;
  matrix_c_ = 0;
  if (!matrix_.factor(h, now_.c)) return NewtonTrouble::singular;
  matrix_c_ = now_.c;
  for (std::size_t i = 0; i < n_; ++i) d_[i] = 1 / weight_[i];
  units_.update(matrix_.f_x(), matrix_.f_rate(), now_.c, x_.data(), d_);
  return iterate(t);
}

AdaptiveBdf::Estimates AdaptiveBdf::estimate(double size, double error) const {
  Estimates r;
  const double k = static_cast<double>(k_), own = now_.sigma[k_] * size;
  r.same = (k + 1) * own;
  r.order = k_;
  r.chosen = own;
  if (k_ == 1) return r;
  const double lower = now_.sigma[k_ - 1] * norm([&](std::size_t i) { return star_[k_][i] + e_[i]; });
  r.lower = k * lower;
  bool lowered = r.lower <= r.same / 2;
  if (k_ > 2) {
    const double lowest =
        (k - 1) * now_.sigma[k_ - 2] * norm([&](std::size_t i) { return star_[k_ - 1][i] + star_[k_][i] + e_[i]; });
    lowered = std::max(r.lower, lowest) <= r.same;
  }
  if (lowered && (raised_ == 0 || error > 1)) {
    r.order = k_ - 1;
    r.chosen = lower;
  }
  return r;
}

void AdaptiveBdf::accept(double t, double h) {
  for (std::size_t i = 0; i < padded_; i += at_once) {
    TwoNumbers sum = two_of(e_, i);
    keep(sum, phi_[k_ + 1], i);
    for (std::size_t j = k_ + 1; j-- > 0;) keep(sum = two_of(star_[j], i) + sum, phi_[j], i);
  }
  used_ = now_;
  t_ = t;
  h_used_ = h;
  k_used_ = k_;
  if (raised_ > 0) --raised_;
  if (refused_ > 0) --refused_;
  ++counters_.steps;
  const auto change = problem_->accepted(t_, phi_[0].data());
  if (change != ImplicitProblem::Change::none) matrix_c_ = 0;
  if (change == ImplicitProblem::Change::pattern) matrix_.rebuild();
}

// Order and length of the next step, with the error left by the last one.
void AdaptiveBdf::choose_next(const Estimates& errors, double h, std::size_t k_before) {
  if (errors.order < k_ || k_ == most_order_) growing_ = false;
  if (growing_) {
    ++k_;
    h_ = 2 * h;
    return;
  }
  double error = errors.chosen;
  const bool known = now_.equal_steps >= static_cast<int>(k_) + 2 && k_ <= k_before && k_ < most_order_;
  if (errors.order < k_) {
    --k_;
  } else if (known) {
    // star_[k + 1] = phi_[k + 1] as the steps are equal: the error of the step before
    const double higher = norm([&](std::size_t i) { return e_[i] - star_[k_ + 1][i]; });
    if (k_ > 1 && errors.lower <= std::min(errors.same, higher)) {
      error = errors.lower / static_cast<double>(k_);
      --k_;
    } else if (higher < (k_ == 1 ? errors.same / 2 : errors.same)) {
      ++k_;
      if (k_ == 2) raised_ = 3;
      error = higher / static_cast<double>(k_ + 1);
    }
  }
  // doubled where growth(error, k) >= 2
  const double size = 2 * error + 1e-4;
  h_ = std::ldexp(size, static_cast<int>(k_) + 1) <= 1 ? (refused_ > 0 ? h : 2 * h)
       : size >= 1                                     ? h * std::clamp(growth(error, k_), 0.5, 0.9)
                                                       : h;
}

StepResult AdaptiveBdf::advance(State& state, double limit) {
  move_along();
  if (h_ == 0) first_step(limit);
  set_weights();
  int refused = 0, unsolved = 0;
  for (;;) {
    double h = h_;
    if (adaptive_.max_step > 0) h = std::min(h, adaptive_.max_step);
    double t = t_ + h;
    if (t_ + 1.001 * h >= limit) {
      t = limit;
      h = limit - t_;
    }
    if (!(h > 16 * epsilon * std::abs(t_)) || refused + unsolved > most_failures) {
      h_ = h;
      return {false, fmt::format("at t = {:g} steps of {:g} are still too long: {}", t_, h,
                                 unsolved > refused ? "the equations of a step cannot be solved; the motion may come "
                                                      "to a point where it has no continuation (a singular "
                                                      "position, dependent constraints, an expression that leaves "
                                                      "its domain), or the tolerance is too small for double precision"
                                                    : "the error test fails; the tolerance may be too small for "
                                                      "double precision, or the equations jump")};
    }
    now_.set(used_, h_used_, k_used_, h, k_);
    predict();
    if (correct(t, h) != NewtonTrouble::none) {
      ++counters_.failed;
      ++unsolved;
      growing_ = false;
      h_ = h / 4;
      continue;
    }
    const double size = norm([&](std::size_t i) { return e_[i]; }), error = now_.error_factor * size;
    const Estimates errors = estimate(size, error);
    if (error <= 1) {
      const std::size_t k_before = k_used_;
      if (k_ < most_order_) star_[k_ + 1].swap(phi_[k_ + 1]);  // kept for choose_next, as accept overwrites it
      accept(t, h);
      choose_next(errors, h, k_before);
      project(state);
      show(t_, x_.data(), rate_.data(), state);
      return {};
    }
    ++counters_.rejected;
    ++refused;
    growing_ = false;
    k_ = refused < 3 ? errors.order : 1;
    refused_ = static_cast<int>(k_) + 3;
    h_ = h * (refused == 1 ? std::clamp(0.9 * growth(errors.chosen, k_), 0.25, 0.9) : 0.25);
  }
}

// y and z onto the constraints. All divided differences contain the newest point once, so all change by the same; where
// there is no nearest point, what Newton's iteration has found is kept.
void AdaptiveBdf::project(State& state) {
  if (!projection_) return;
  problem_->to_state(t_, x_.data(), rate_.data(), state);
  Acceleration* const near = end_ ? end_->acceleration() : nullptr;
  if (!projection_->project(t_, state.y.data(), state.z.data(), state.psi.data(), near)) return;
  std::copy(x_.begin(), x_.end(), shown_.begin());
  problem_->set_motion(t_, state, shown_.data());
  for (std::size_t i = 0; i < state.y.size() + state.z.size(); ++i) {
    const double change = shown_[i] - x_[i];
    x_[i] += change;
    for (std::size_t j = 0; j <= k_used_ + 1; ++j) phi_[j][i] += change;
  }
}

// Coordinates that move along are chosen anew with every step.
void AdaptiveBdf::move_along() {
  const bool moved = problem_->moves();
  if (!problem_->aim(t_, x_.data(), rate_.data())) return;
  problem_->carry(t_, x_.data(), rate_.data());
  if (h_used_ == 0)
    phi_[0] = x_;  // there is but a state and its slope
  else
    used_.change_values(k_used_ + 2, phi_, star_, [&](double s, double* x) { problem_->carry(t_ + s, x, nullptr); });
  problem_->go();
  if (problem_->moves() == moved) return;
  matrix_.rebuild();
  matrix_c_ = 0;
}

void AdaptiveBdf::show(double t, const double* x, const double* rate, State& state) const {
  problem_->to_state(t, x, rate, state);
  if (end_) end_->settle(t, state);
}

}  // namespace

std::unique_ptr<Stepper> make_adaptive_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                           const SolverOptions& solver, const StepOptions& adaptive) {
  return std::make_unique<AdaptiveBdf>(std::move(system), options, solver, adaptive);
}

}  // namespace hinge
