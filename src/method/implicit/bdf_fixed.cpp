// BDF of order k with steps of given length h:
//
//   F(t_n, x_n, x'_n) = 0,   x'_n = (1/h) sum_{i=0..k} alpha_i x_{n-i}
//   sum_{i=0..k} alpha_i x_{n-i} = sum_{j=1..k} (1/j) nabla^j x_n
//
// Order k for positions, velocities and multipliers in every formulation, k = 1..5. Keeps the constraints that are rows
// of F, to round-off; keeps neither energy nor the symplectic form, and damps.
//
// The first k - 1 steps, and a step of another length than those before or whose equations Newton does not solve with
// the k - 2 that follow it, are made by Radau IIA with three stages, whose error is one power of h smaller than any
// that BDF-5 makes. They run in the formulation projected-invariants, which is accurate in positions and velocities
// alike.
//
// Newton's iteration goes on until increments no longer shrink. In the variant "ssf" of the formulation "extended" the
// unknowns mu and tau are zero in the equations, and in their derivatives: what is solved then is
//
//   [ A1  A2^T ] [ dx    ]     [ psi1 ]      psi1: the equations without mu and tau, A1 their derivatives
//   [ A2   0   ] [ sigma ] = - [ psi2 ]      psi2 = (V, C), A2 their derivatives
//
// and its fixed point is the BDF solution of "extended" (Petzold and Potra 1992).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "formulation/project/projection.hpp"
#include "method/implicit/bdf.hpp"
#include "method/implicit/iteration_matrix.hpp"
#include "method/implicit/radau.hpp"
#include "method/implicit/round_off.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/at_rounding.hpp"

namespace hinge {

namespace {

constexpr int most_order = 5;
constexpr double alpha[most_order][most_order + 1] = {{1, -1},
                                                      {3. / 2, -2, 1. / 2},
                                                      {11. / 6, -3, 3. / 2, -1. / 3},
                                                      {25. / 12, -4, 3, -4. / 3, 1. / 4},
                                                      {137. / 60, -5, 5, -10. / 3, 5. / 4, -1. / 5}};
// x_n ~ sum_{i=1..k} extrapolation_i x_{n-i}
constexpr double extrapolation[most_order][most_order] = {
    {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}, {5, -10, 10, -5, 1}};

}  // namespace

class FixedBdf final : public Stepper {
 public:
  FixedBdf(std::shared_ptr<const System> system, const BdfOptions& options, const SolverOptions& solver)
      : system_(std::move(system)),
        options_(options),
        problem_(formulate(system_, options.form, options.keep_partition)),
        matrix_(*problem_, solver.linear_algebra),
        noise_(*system_, *problem_),
        n_(static_cast<std::size_t>(problem_->size())) {
    for (auto& x : history_) x.resize(n_);
    for (auto* x : {&x_, &rate_, &known_, &increment_}) x->resize(n_);
    if (options.ssf)
      for (std::size_t i = 0; i < n_; ++i)
        if (problem_->unknowns()[i].index > 1) sigma_.push_back(i);
    SolverOptions own;
    own.linear_algebra = solver.linear_algebra;
    starter_ = make_radau_stepper(system_, {.stages = 3}, own);
    multipliers_.resize(static_cast<std::size_t>(system_->npsi()));
    if (system_->nrates() > 0 && options.projection.value_or(Projection::none) != Projection::none)
      projection_.emplace(system_, *options.projection, solver.linear_algebra);
  }

  void reset() override { count_ = 0; }

  /// One more known point, `h` after the one before.
  bool push(const State& state, double h) {
    std::rotate(history_.begin(), history_.end() - 1, history_.end());
    if (!problem_->from_state(state, history_[0].data(), rate_.data())) return false;
    matrix_.rebuild();  // a chart may have been chosen
    fresh_pattern_ = true;
    h_ = h;
    count_ = std::min(count_ + 1, options_.order);
    return true;
  }

  StepResult step(State& state, double h) override {
    ++counters_.steps;
    if (count_ > 0 && std::abs(h - h_) > 1e-9 * std::abs(h)) count_ = 0;
    const bool first = count_ == 0;
    if (first && !push(state, h))
      return {false, fmt::format("at t = {:g} accelerations and multipliers are not determined: the constraints are "
                                 "dependent there, or nothing gives a free motion inertia",
                                 state.t)};
    const bool starts = count_ < options_.order;
    StepResult result = starts ? start_up(state, h) : follow(state, h);
    if (!result && !starts && restart(state, h)) result = {};
    if (!result) count_ = 0;
    std::copy(state.psi.begin(), state.psi.end(), multipliers_.begin());
    return result;
  }

 private:
  // By a one-step method, until there is a history.
  StepResult start_up(State& state, double h) {
    next_ = state;
    const Counters before = starter_->counters();
    if (StepResult result = starter_->step(next_, h); !result) return result;
    const Counters& now = starter_->counters();
    counters_.iterations += now.iterations - before.iterations;
    counters_.evaluations += now.evaluations - before.evaluations;
    counters_.factorisations += now.factorisations - before.factorisations;
    counters_.solved_since(before, now);
    if (!push(next_, h)) return bdf_failure(*system_, state, h, NewtonTrouble::singular);
    problem_->to_state(next_.t, history_[0].data(), rate_.data(), next_);
    std::swap(state, next_);
    return {};
  }

  // Equations of BDF that Newton does not solve: mu and tau take what its error is off the constraints, and where units
  // of one vector differ by powers of ten they become large. The error of the starter is much smaller.
  bool restart(State& state, double h) {
    count_ = 0;
    return push(state, h) && start_up(state, h);
  }

  StepResult follow(State& state, double h) {
    const auto k = static_cast<std::size_t>(options_.order);
    const double t = state.t + h, c = alpha[k - 1][0] / h;
    for (std::size_t i = 0; i < n_; ++i) {
      double known = 0, guess = 0;
      for (std::size_t j = 0; j < k; ++j) {
        known += alpha[k - 1][j + 1] * history_[j][i];
        guess += extrapolation[k - 1][j] * history_[j][i];
      }
      known_[i] = known / h;
      x_[i] = problem_->unknowns()[i].tested ? guess : history_[0][i];
    }
    if (const NewtonTrouble trouble = solve(t, h, c); trouble != NewtonTrouble::none)
      return bdf_failure(*system_, state, h, trouble);
    next_ = state;
    problem_->to_state(t, x_.data(), rate_.data(), next_);
    if (projection_) {
      if (!projection_->project(t, next_.y.data(), next_.z.data(), next_.psi.data()))
        return bdf_failure(*system_, state, h, NewtonTrouble::slow);
      std::copy(next_.y.begin(), next_.y.end(), x_.begin());
      std::copy(next_.z.begin(), next_.z.end(), x_.begin() + static_cast<std::ptrdiff_t>(next_.y.size()));
    }
    std::swap(state, next_);
    std::rotate(history_.begin(), history_.end() - 1, history_.end());
    std::swap(history_[0], x_);
    const auto change = problem_->accepted(t, history_[0].data());
    if (change != ImplicitProblem::Change::none) fresh_pattern_ = true;
    if (change == ImplicitProblem::Change::pattern) matrix_.rebuild();
    return {};
  }

  // F(t, x, known + c x) = 0. The matrix is kept while it works.
  NewtonTrouble solve(double t, double h, double c) {
    if (c != c_ || fresh_pattern_) last_rate_ = 1;
    for (std::size_t i = 0; i < n_; ++i) rate_[i] = known_[i] + c * x_[i];
    noise_.begin(h, x_.data(), rate_.data());
    if (!fresh_pattern_) noise_.spread(matrix_.f_x(), matrix_.f_rate(), c);
    Settling rule(newton_policy::multistep);
    bool lost = false;  // what comes out of a long way may be another solution
    NewtonTrouble trouble = newton(Booked(rule, counters_), [&]() -> Increment {
      if (rule.count() > 1) last_rate_ = rule.theta();
      for (const std::size_t i : sigma_) x_[i] = 0;
      for (std::size_t i = 0; i < n_; ++i) rate_[i] = known_[i] + c * x_[i];
      if (last_rate_ > newton_policy::multistep_renew_above || !sigma_.empty()) {
        matrix_.evaluate(t, x_.data(), rate_.data());
        noise_.spread(matrix_.f_x(), matrix_.f_rate(), c);
        ++counters_.factorisations;
        if (!matrix_.factor(h, c)) {
          c_ = 0;
          return no_increment;
        }
        c_ = c;
        rule.matrix_renewed();
        fresh_pattern_ = false;
        last_rate_ = 0;
      }
      problem_->residual(t, x_.data(), rate_.data(), increment_.data());
      ++counters_.evaluations;
      ++counters_.iterations;
      const bool stalled = stalls(rule), deep = stalls_for_long(rule);
      const bool solved = stalled && left_rounding(t, c, deep);
      matrix_.solve(increment_.data());
      if (solved) return already_solved;
      if (deep) noise_.raise_by_rows(within_.data(), matrix_.f_x(), matrix_.f_rate());
      const double change = correct();
      lost = rule.count() >= newton_policy::multistep_patience && change > newton_policy::multistep_near;
      return lost ? no_increment : change;
    });
    for (std::size_t i = 0; i < n_; ++i) rate_[i] = known_[i] + c * x_[i];
    if (lost) trouble = NewtonTrouble::slow;
    if (trouble == NewtonTrouble::slow) last_rate_ = 1;
    return trouble;
  }

  // Is the residual, in the place of the increment, nothing but rounding?
  bool left_rounding(double t, double c, bool within) {
    within_.assign(static_cast<std::size_t>(problem_->pattern().rows), 0.0);
    if (within) problem_->add_rounding(t, x_.data(), rate_.data(), within_.data());
    return residual_is_rounding(problem_->pattern(), increment_.data(), within_.data(),
                                [&](auto, std::size_t e, std::size_t k) {
                                  return std::abs(matrix_.f_x()[e] * x_[k]) +
                                         std::abs(matrix_.f_rate()[e]) * (std::abs(c * x_[k]) + std::abs(known_[k]));
                                });
  }

  // x <- x - increment; the size of the increment, relative to what rounding is measured by.
  double correct() {
    for (std::size_t i = 0; i < n_; ++i) x_[i] -= increment_[i];
    noise_.raise(x_.data());
    double change = 0;
    auto sigma = sigma_.begin();
    for (std::size_t i = 0; i < n_; ++i) {
      if (sigma != sigma_.end() && *sigma == i)
        ++sigma;
      else
        change = larger(change, std::abs(increment_[i]) / noise_[i]);
    }
    return epsilon * change;
  }

  std::shared_ptr<const System> system_;
  BdfOptions options_;
  std::unique_ptr<ImplicitProblem> problem_;
  IterationMatrix matrix_;
  RoundOff noise_;
  std::unique_ptr<Stepper> starter_;
  std::size_t n_;
  std::optional<ConstraintProjection> projection_;
  std::array<std::vector<double>, most_order> history_;  // the newest first
  int count_ = 0;                                        // of known ones
  double h_ = 0, c_ = 0, last_rate_ = 1;
  bool fresh_pattern_ = true;
  std::vector<std::size_t> sigma_;
  std::vector<double> x_, rate_, known_, increment_, within_;
  State next_;
};

std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver) {
  return std::make_unique<FixedBdf>(std::move(system), options, solver);
}

std::unique_ptr<Stepper> make_fixed_bdf(std::shared_ptr<const System> system, const BdfOptions& options,
                                        const SolverOptions& solver, const std::vector<State>& history, double h) {
  auto stepper = std::make_unique<FixedBdf>(std::move(system), options, solver);
  for (const State& state : history) stepper->push(state, h);
  return stepper;
}

}  // namespace hinge
