#include "method/energy/energy_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "formulation/energy_step.hpp"
#include "formulation/symmetries.hpp"
#include "hinge/error.hpp"
#include "method/redundant_rows.hpp"
#include "method/step_failure.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/at_rounding.hpp"
#include "solve/newton/newton.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Treatment = ConstraintTreatment;
// Increments that are smaller than this, relative, and do not shrink any more, are rounding in a badly scaled equation.
constexpr double surely_rounding = 1e-6;
// mu h^2/M times this is how a penalty magnifies rounding of the constraints; from here on it matters.
constexpr double penalty_rounding = 1e-9;
// Newton's method needs up to this many iterations where nothing is wrong.
constexpr int few_iterations = 10;
// Augmentations in a row that do not bring |g| below what it was before: it is rounding.
constexpr int without_progress = 20;

class EnergyMomentum final : public Stepper, public AnyRank {
 public:
  EnergyMomentum(std::shared_ptr<const System> system, const EnergyMomentumOptions& which,
                 const SolverOptions& options);
  StepResult step(State& state, double h) override;
  bool takes_any_rank() const override { return which_.constraints != ConstraintTreatment::multiplier; }
  void reset() override {
    forget();
    have_momentum_ = false;
  }
  const char* discrete_energy_name() const override;
  double discrete_energy(double energy, const double* g) const override;
  double summed_work() const override { return work_; }
  void set_summed_work(double work) override { work_ = work; }

 private:
  using Q = Quantity;
  void forget() {
    kept_ = false;
    newton_.forget();
  }
  bool solve(double h);
  bool iterate(double h, bool full);
  void measure_states(double h, const double* entries);
  bool left_rounding(const double* const* inputs, const double* residual);
  double increment_size(double h) const;
  StepResult augment(const State& state, double h);
  StepResult failure(const State& state, double h, const char* what) const;
  bool project(double t);
  double constraint_size() const;
  double constraint_sum() const;
  void evaluate(double h);

  std::shared_ptr<const System> system_;
  EnergyMomentumOptions which_;
  SolverOptions options_;
  ConstantMassForm form_;
  EnergyStep step_;
  int n_, m_;
  bool momentum_is_z_;
  std::unique_ptr<LinearSolver> solver_;
  std::unique_ptr<Evaluation> start_, rate_;
  std::unique_ptr<SaddlePoint> projector_;
  std::vector<double> matrix_scratch_, value_scratch_, x_, guess_, dx_, q0_, p0_, g0_, lam_k_, given_, p1_, z1_, q1_,
      psi_, right_, handed_on_, within_;
  double unit_ = 1, last_h_ = 0, t0_ = 0;
  Convergence newton_{options_.max_iterations};
  double work_ = 0;  // of the given multipliers, the sum of lam_k.(g1 - g0) over all steps, less that of forces
  bool kept_ = false, have_momentum_ = false;
};

EnergyMomentum::EnergyMomentum(std::shared_ptr<const System> system, const EnergyMomentumOptions& which,
                               const SolverOptions& options)
    : system_(std::move(system)),
      which_(which),
      options_(options),
      form_(constant_mass_form(*system_, "energy-momentum")),
      step_(energy_step(form_, which.constraints, which.general)),
      n_(form_.n),
      m_(form_.m),
      momentum_is_z_(system_->structure().z_is_momentum) {
  options_.validate();
  solver_ = make_linear_solver(step_.pattern, options.linear_algebra);
  start_ = system_->evaluation({Q::momentum, Q::velocity, Q::constraint, Q::force});
  if (which_.project_velocity && m_ > 0) {
    rate_ = system_->evaluation({Q::constraint_rate, Q::constraint_rate_z, Q::momentum_z, Q::reaction_psi});
    projector_ = std::make_unique<SaddlePoint>(system_->pattern(Q::momentum_z), system_->pattern(Q::reaction_psi),
                                               system_->pattern(Q::constraint_rate_z), options.linear_algebra);
  }
  matrix_scratch_ = step_.residual_and_matrix->make_scratch();
  value_scratch_ = step_.values->make_scratch();
  const auto size = [](int k) { return static_cast<std::size_t>(k); };
  for (auto* v : {&x_, &guess_, &dx_}) v->resize(size(step_.unknowns));
  for (auto* v : {&q0_, &p0_, &p1_, &z1_, &q1_}) v->resize(size(n_));
  for (auto* v : {&g0_, &lam_k_, &given_, &psi_}) v->resize(size(m_));
  right_.resize(size(n_ + m_));
  handed_on_.resize(size(form_.states));
  multipliers_.resize(size(m_));
}

// With a matrix that is kept while it serves; where that fails, from the same guess with a new one in every iteration.
bool EnergyMomentum::solve(double h) {
  using Newton = SolverOptions::Newton;
  guess_ = x_;
  if (options_.newton == Newton::full || !iterate(h, false)) {
    if (options_.newton == Newton::simplified) return false;
    x_ = guess_;
    ++counters_.full_newton;
    if (!iterate(h, true)) return false;
  }
  evaluate(h);
  return true;
}

// Newton's method for the increment u and what else is unknown.
bool EnergyMomentum::iterate(double h, bool full) {
  newton_.use(full ? newton_policy::full_discrete_gradient : newton_policy::discrete_gradient);
  const double* const inputs[EnergyStep::inputs] = {&h,         &which_.penalty, &t0_,          q0_.data(),
                                                    p0_.data(), g0_.data(),      lam_k_.data(), x_.data()};
  const auto unknowns = static_cast<std::size_t>(step_.unknowns);
  return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
    ++counters_.iterations;
    const bool renew = !kept_ || newton_.renew(), stalled = !which_.general && stalls(newton_);
    if (const int s = step_.explicit_unknown; s >= 0) {  // eliminated: always that of the other unknowns
      evaluate(h);
      x_[static_cast<std::size_t>(s)] -= value_scratch_[step_.values->first_output() + static_cast<std::size_t>(s)];
    }
    ++counters_.evaluations;
    const Evaluator& tape = renew ? *step_.residual_and_matrix : *step_.values;
    double* scratch = renew ? matrix_scratch_.data() : value_scratch_.data();
    tape.evaluate(inputs, scratch);
    const double* out = scratch + tape.first_output();
    if (renew) {
      ++counters_.factorisations;
      kept_ = solver_->factor(out + unknowns);
      if (!kept_ && !std::all_of(out, out + tape.output_count(), [](double x) { return std::isfinite(x); }))
        return std::numeric_limits<double>::quiet_NaN();
      if (!kept_) return no_increment;
      measure_states(h, out + unknowns);
      if (!full || newton_.count() == 0) newton_.matrix_renewed();
    }
    const bool solved = stalled && left_rounding(inputs, out);
    for (std::size_t k = 0; k < unknowns; ++k) dx_[k] = -out[k];
    solver_->solve(dx_.data());
    axpy(1.0, dx_.data(), step_.unknowns, x_.data());
    return solved ? already_solved : increment_size(h);
  });
}

// Is the residual nothing but rounding?
bool EnergyMomentum::left_rounding(const double* const* inputs, const double* residual) {
  within_.assign(static_cast<std::size_t>(step_.unknowns), 0.0);
  if (stalls_for_long(newton_)) step_.rounding.add(inputs, within_.data());
  const double* entries =
      matrix_scratch_.data() + step_.residual_and_matrix->first_output() + static_cast<std::size_t>(step_.unknowns);
  return residual_is_rounding(step_.pattern, residual, within_.data(), [&](auto, std::size_t e, std::size_t k) {
    return std::abs(entries[e]) * (std::abs(x_[k]) + (k < q0_.size() ? std::abs(q0_[k]) : 0));
  });
}

// What other unknowns hand on to [states]: by rounding of these the states are uncertain, too.
void EnergyMomentum::measure_states(double h, const double* entries) {
  const Pattern& p = step_.pattern;
  const auto row = [&](int i) {
    double sum = 0;
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto from = static_cast<std::size_t>(p.column[static_cast<std::size_t>(k)]);
      if (static_cast<int>(from) == i) continue;
      sum += std::abs(entries[k]) * (std::abs(x_[from]) + (from < q0_.size() ? std::abs(q0_[from]) : 0));
    }
    return sum;
  };
  for (int k = 0; k < form_.states; ++k) {
    const int i = n_ - form_.states + k;
    handed_on_[static_cast<std::size_t>(k)] = row(i) + (which_.general ? std::abs(h) / 2 * row(n_ + i) : 0);
  }
}

// Of u in units of its rounding: one for all coordinates, one for each of [states], which may be of any size.
double EnergyMomentum::increment_size(double h) const {
  const int coordinates = n_ - form_.states;
  double size = biggest(dx_.data(), coordinates) / unit_;
  for (std::size_t k = 0; k < handed_on_.size(); ++k) {
    const std::size_t i = static_cast<std::size_t>(coordinates) + k;
    const double unit = std::abs(h * p0_[i]) + std::abs(x_[i]) + handed_on_[k];
    size = larger(size, std::abs(dx_[i]) / (2 * epsilon * std::max(unit, 1e-200)));
  }
  return size;
}

// The forces, multipliers and changes of the constraints at the accepted unknowns.
void EnergyMomentum::evaluate(double h) {
  const double* const inputs[EnergyStep::inputs] = {&h,         &which_.penalty, &t0_,          q0_.data(),
                                                    p0_.data(), g0_.data(),      lam_k_.data(), x_.data()};
  step_.values->evaluate(inputs, value_scratch_.data());
  ++counters_.evaluations;
}

// |g0 + g1|
double EnergyMomentum::constraint_sum() const {
  const double* change =
      value_scratch_.data() + step_.values->first_output() + static_cast<std::size_t>(step_.unknowns + n_ + m_);
  double sum = 0;
  for (int i = 0; i < m_; ++i) {
    const double g = 2 * g0_[static_cast<std::size_t>(i)] + change[i];
    sum += g * g;
  }
  return std::sqrt(sum);
}

// |g1|, Euclidean as the tolerance is
double EnergyMomentum::constraint_size() const {
  const double* change =
      value_scratch_.data() + step_.values->first_output() + static_cast<std::size_t>(step_.unknowns + n_ + m_);
  double sum = 0;
  for (int i = 0; i < m_; ++i) {
    const double g = g0_[static_cast<std::size_t>(i)] + change[i];
    sum += g * g;
  }
  return std::sqrt(sum);
}

// What options of this method have to do with it, else what is common to all methods.
StepResult EnergyMomentum::failure(const State& state, double h, const char* what) const {
  const std::string where =
      fmt::format("in the step from t = {:g} (h = {:g}), {} could not be solved", state.t, h, what);
  const double lightest = biggest(form_.inverse.data(), static_cast<int>(form_.inverse.size()));
  const double magnified = which_.penalty * h * h * lightest * epsilon;
  if (which_.constraints != Treatment::multiplier && magnified > penalty_rounding)
    return {false,
            fmt::format("{}: the penalty {:g} is too large for double precision, rounding of the constraints times "
                        "mu h^2/M is {:.0e}; take {:.0e} or less, or constraints = \"multiplier\"",
                        where, which_.penalty, magnified,
                        std::pow(10, std::floor(std::log10(which_.penalty * penalty_rounding / magnified))))};
  if (which_.general && newton_.noise() * newton_.last() * epsilon < surely_rounding && newton_.theta() > 0.1)
    return {false, fmt::format("{}: the general derivative divides differences of energies by |dz|^2, and here their "
                               "rounding is larger than what is left to be solved; use derivative = \"equivariant\"",
                               where)};
  if (options_.max_iterations < few_iterations && newton_.exhausted())
    return {false, fmt::format("{} with max_iterations = {}: Newton's iteration had not come to its end; allow {} or "
                               "more",
                               where, options_.max_iterations, few_iterations)};
  return explain_failure(*system_, state, h, what, newton_);
}

// lam_{k+1} = lam_k + c (lam - lam_k) until the constraints hold. The limit of this has g1 = -g0, as mu (g0 + g1) = 0:
// it stalls where |g0| is above the tolerance, which happens at the start or when a solution with rounding is large.
// Once g1 has come to -g0, lam_k is moved by c mu g1 instead, whose limit has g1 = 0.
StepResult EnergyMomentum::augment(const State& state, double h) {
  if (which_.warm_start)
    lam_k_ = state.psi;
  else
    std::fill(lam_k_.begin(), lam_k_.end(), 0.0);
  double before = std::numeric_limits<double>::infinity(), least = before;
  int idle = 0;
  bool stalled = false;
  for (int k = 0; k < which_.max_augmentations; ++k) {
    ++counters_.augmentations;
    if (!solve(h)) return failure(state, h, "the step");
    given_ = lam_k_;  // of this solution
    const double size = constraint_size();
    if (size < which_.tolerance) return {};
    stalled = stalled || (!which_.general && size > 0.95 * before && constraint_sum() < 0.1 * size);
    before = size;
    idle = size < least ? 0 : idle + 1;
    least = std::min(least, size);
    if (idle >= without_progress)
      return {false,
              fmt::format("in the step from t = {:g} (h = {:g}), |g| stays at {:.1e} whatever the multipliers are: "
                          "that is rounding, and tolerance_constraint = {:.1e} cannot be reached; {:.0e} can",
                          state.t, h, least, which_.tolerance, std::pow(10, std::ceil(std::log10(4 * least))))};
    const double* lam =
        value_scratch_.data() + step_.values->first_output() + static_cast<std::size_t>(step_.unknowns + n_);
    for (std::size_t i = 0; i < lam_k_.size(); ++i)
      lam_k_[i] += which_.update_factor * (lam[i] - lam_k_[i] - (stalled ? which_.penalty * g0_[i] : 0.0));
  }
  return {false, fmt::format("in the step from t = {:g} (h = {:g}), {} augmentation{} left |g| = {:.2e}, above "
                             "the tolerance {:.2e}; a larger penalty, a larger tolerance or warm_start = true need "
                             "fewer",
                             state.t, h, which_.max_augmentations, which_.max_augmentations == 1 ? "" : "s",
                             constraint_size(), which_.tolerance)};
}

// z <- z + p_z^-1 r_psi mu with 0 = g_y v at the new position in q0_: the nearest velocity in the mass metric
bool EnergyMomentum::project(double t) {
  const Evaluation& e = *rate_;
  rate_->at(t, q0_.data(), z1_.data(), psi_.data());
  if (!projector_->factor(e[Q::momentum_z], e[Q::reaction_psi], 1.0, e[Q::constraint_rate_z])) return false;
  std::fill(right_.begin(), right_.end(), 0.0);
  for (int i = 0; i < m_; ++i) right_[static_cast<std::size_t>(n_ + i)] = -e[Q::constraint_rate][i];
  projector_->solve(right_.data());
  axpy(1.0, right_.data(), n_, z1_.data());
  return true;
}

const char* EnergyMomentum::discrete_energy_name() const {
  if (which_.project_velocity && m_ > 0) return nullptr;
  const bool exact = m_ == 0 || which_.constraints == Treatment::multiplier;
  if (exact) return form_.has_forces ? "H - work of forces" : nullptr;
  if (form_.has_forces)
    return which_.constraints == Treatment::penalty ? "H + mu |g|^2 - work of forces"
                                                    : "H + mu |g|^2 + sum lam_k.dg - work of forces";
  return which_.constraints == Treatment::penalty ? "H + mu |g|^2" : "H + mu |g|^2 + sum lam_k.dg";
}

// A step with given multipliers conserves H + lam_k.g + mu |g|^2, and lam_k changes between steps.
double EnergyMomentum::discrete_energy(double energy, const double* g) const {
  if (which_.constraints == Treatment::multiplier) return energy + work_;
  double squares = 0;
  for (int i = 0; i < m_; ++i) squares += g[i] * g[i];
  return energy + which_.penalty * squares + work_;
}

StepResult EnergyMomentum::step(State& state, double h) {
  ++counters_.steps;
  if (std::abs(h - last_h_) > 1e-9 * std::abs(h)) kept_ = false;
  last_h_ = h;
  start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  t0_ = state.t;
  q0_ = state.y;
  // The momentum as the last step left it, where it is the same motion: M M^-1 p would round the same way every time.
  if (have_momentum_ && state.y == q1_ && state.z == z1_)
    p0_ = p1_;
  else
    std::copy_n((*start_)[Q::momentum], n_, p0_.data());
  std::copy_n((*start_)[Q::constraint], m_, g0_.data());
  const double* v0 = (*start_)[Q::velocity];
  // u to round-off of h v, so that what is kept is kept to round-off of p
  std::fill(dx_.begin(), dx_.end(), 0.0);
  multiply_add(form_.inverse_pattern, form_.inverse.data(), (*start_)[Q::force], h * h, dx_.data());
  const int coordinates = n_ - form_.states;
  unit_ = 2 * epsilon * std::max(std::abs(h) * biggest(v0, coordinates) + biggest(dx_.data(), coordinates), 1e-200);
  std::fill(x_.begin(), x_.end(), 0.0);
  for (int k = 0; k < n_; ++k) x_[static_cast<std::size_t>(k)] = h * v0[k];
  if (which_.constraints == Treatment::multiplier) std::copy_n(state.psi.data(), m_, x_.data() + step_.unknowns - m_);

  StepResult result;
  if (which_.constraints == Treatment::augmented)
    result = augment(state, h);
  else if (!solve(h))
    result = failure(state, h, "the step");
  if (!result) {
    forget();
    return result;
  }
  const double* out = value_scratch_.data() + step_.values->first_output();
  const double *force = out + step_.unknowns, *lam = force + n_, *change = lam + m_;
  // p1 = p0 - h (dd U + sum lam dd g)
  for (int k = 0; k < n_; ++k) p1_[static_cast<std::size_t>(k)] = p0_[static_cast<std::size_t>(k)] - h * force[k];
  if (momentum_is_z_) {
    z1_ = p1_;
  } else {
    std::fill(z1_.begin(), z1_.end(), 0.0);
    multiply_add(form_.inverse_pattern, form_.inverse.data(), p1_.data(), 1.0, z1_.data());
  }
  std::copy_n(lam, m_, psi_.data());
  axpy(1.0, x_.data(), n_, q0_.data());
  if (projector_ && !project(state.t + h)) return failure(state, h, "the projection of the velocity");
  state.t += h;
  q1_ = q0_;
  have_momentum_ = !projector_;
  state.y = q0_;
  state.z = z1_;
  state.psi = psi_;
  multipliers_ = psi_;
  for (int i = 0; i < m_; ++i) work_ += given_[static_cast<std::size_t>(i)] * change[i];
  work_ -= change[m_];
  return {};
}

}  // namespace

std::unique_ptr<Stepper> make_energy_momentum(std::shared_ptr<const System> system, const EnergyMomentumOptions& which,
                                              const SolverOptions& options) {
  return std::make_unique<EnergyMomentum>(std::move(system), which, options);
}

}  // namespace hinge
