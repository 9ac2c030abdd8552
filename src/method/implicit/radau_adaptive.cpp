// Radau IIA with 3, 5 or 7 stages and steps that meet a tolerance.
//
//   weights   sc = atol' + rtol' |x|, rtol' = rtol^((s+1)/(2 s)) / 10, atol' = rtol' atol/rtol; an unknown of index nu
//   is
//             multiplied with h^(nu-1), and so is one that is well scaled as h^(nu-1) x. Unknowns that are zero on
//             every solution do not count: what they do to the others is seen there
//   error     err = -((mu/h) F_x' + F_x)^-1 F(t0, x0, u'(t0)), mu the real eigenvalue: the defect of the polynomial u
//             at t0, smoothed, of order h^(s+1). Where it is too large in the first step or after a refused one, once
//             more with x0 + err in the place of x0, which cuts what very stiff parts add. Multipliers of mechanical
//             systems, which occur without derivative, do not count where the problem says so; the unknowns of higher
//             index of a DAE do
//   Newton    stops when  theta/(1-theta) |dZ| <= max(10 eps/rtol', min(0.03, sqrt(rtol')))
//   step      h_new = h / clip(err^(1/(s+1)) / fac, 1/8, 5), fac = min(0.9, 0.9 (2 k + 1)/(2 k + its)), k iterations at
//             most; not longer than what two steps of equal growth of the error allow (Gustafsson), and not longer
//             than Newton's iteration will bear: h_new <= h max(0.8, 0.5 / slowest contraction)
//
// F_x and F_x' are taken in the middle of the step, from the continued polynomial of the last one: on the double
// spherical pendulum that saves a third of the iterations against the start of the step. They are kept while
// theta <= 1e-3, the factorisations while moreover 1 <= h_new/h <= 1.2.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "formulation/project/projection.hpp"
#include "formulation/start/constraint_rank.hpp"
#include "hinge/error.hpp"
#include "method/implicit/radau.hpp"
#include "method/implicit/radau_stages.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double safety = 0.9;
constexpr double least_quotient = 1.0 / 8, largest_quotient = 5;  // of h / h_new
constexpr double good_contraction = 1e-3;                         // the derivatives serve the next step, too
constexpr double keep_step_up_to = 1.2;                           // times h: not worth new factorisations
constexpr double good_start = 0.5;  // the step is lengthened only as far as this contraction can be expected
constexpr int most_stages = 7;

class RadauAdaptive final : public Stepper {
 public:
  RadauAdaptive(std::shared_ptr<const System> system, const RadauOptions& radau, const SolverOptions& solver,
                const StepOptions& options)
      : Stepper(true),
        system_(std::move(system)),
        options_(options),
        variable_(radau.stages == 0),
        tableaus_{radau_tableau(3), radau_tableau(5), radau_tableau(7)},
        problem_(formulate(system_, radau.formulation, 0.5, Correction::free_of_mass)),
        stages_(*problem_, variable_ ? most_stages : radau.stages, solver.linear_algebra, counters_),
        report_(system_, *problem_, radau),
        reported_(system_->structure().is_dae) {
    const auto n = static_cast<std::size_t>(problem_->size());
    for (auto* v : {&x0_, &rate0_, &x1_, &weight_, &error_, &trial_, &slope_, &from_, &moved_}) v->assign(n, 0.0);
    for (auto* v : {&z_, &dz_, &old_}) v->assign(n * most_stages, 0.0);
    const Formulation form = radau.formulation.formulation;
    const bool both = has_position_level(form) && has_velocity_level(form);
    const Projection which = radau.projection.value_or(both ? Projection::both : Projection::none);
    if (system_->ng() > 0 && which != Projection::none) projection_.emplace(system_, which, solver.linear_algebra);
    if (options_.tolerance.relative == 0) options_.tolerance.relative = 1e-13;
    use(variable_ ? 0 : static_cast<std::size_t>((radau.stages - 3) / 2));
  }

  StepResult start(const State& state) override;
  StepResult advance(State& state, double limit) override;
  StepResult continue_from(const State& state) override;
  void interpolate(double t, State& state) const override;
  std::vector<std::string> remarks() const override;

 private:
  const RadauTableau& tableau() const { return tableaus_[level_]; }
  std::size_t stages() const { return static_cast<std::size_t>(tableau().stages); }

  void use(std::size_t level);
  void set_weights(double h);
  double first_step(double limit) const;
  void predict(double h);
  void linearise(double h);
  bool solve(double h);
  double estimate(double h);
  void project(State& state);
  void choose_order(double quotient);
  double norm(const double* x) const;
  StepResult give_up(double h, const char* what) const;

  std::shared_ptr<const System> system_;
  StepOptions options_;
  bool variable_;
  std::array<RadauTableau, 3> tableaus_;
  std::size_t level_ = 0, old_level_ = 0;
  std::unique_ptr<ImplicitProblem> problem_;
  RadauStages stages_;
  RadauReport report_;
  bool reported_;  // are unknowns of higher index results? Multipliers of mechanical systems can be computed anew
  std::optional<ConstraintProjection> projection_;
  double relative_ = 0, absolute_ = 0;  // rtol', atol'

  double t_ = 0, h_ = 0;          // where we are; the next step
  double h_old_ = 0, t_old_ = 0;  // the last accepted one, whose polynomial is from_ + sum w_j old_j
  bool has_polynomial_ = false, first_ = true, rejected_ = false;
  enum class Derivatives { old, middle, start };  // of an earlier step; of this one, in its middle or at its start
  Derivatives derivatives_ = Derivatives::old;
  bool linearise_ = true;
  double factored_h_ = 0;
  double error_before_ = 0, accepted_h_ = 0;
  int since_order_change_ = 0;
  WithinTolerance newton_{newton_policy::collocation_within_tolerance};
  std::array<long, 3> steps_with_{};
  std::vector<double> x0_, rate0_, x1_, weight_, error_, trial_, slope_, from_, moved_, z_, dz_, old_;
};

void RadauAdaptive::use(std::size_t level) {
  level_ = level;
  stages_.use(tableau());
  const double s = tableau().stages, given = options_.tolerance.relative;
  relative_ = 0.1 * std::pow(given, (s + 1) / (2 * s));
  absolute_ = relative_ * options_.tolerance.absolute / given;
  newton_.policy.limit = 7 + (tableau().stages - 3) * 5 / 2;
  newton_.policy.enough = std::max(10 * epsilon / relative_, std::min(0.03, std::sqrt(relative_)));
  factored_h_ = 0;
  since_order_change_ = 0;
}

StepResult RadauAdaptive::start(const State& state) {
  if (!problem_->from_state(state, x0_.data(), rate0_.data()))
    return {false, fmt::format("at t = {:g} the accelerations cannot be computed: the mass is singular there, or the "
                               "constraints are dependent",
                               state.t)};
  stages_.match_pattern();
  t_ = t_old_ = state.t;
  h_ = options_.first_step;
  from_ = x0_;
  has_polynomial_ = rejected_ = false;
  derivatives_ = Derivatives::old;
  first_ = linearise_ = true;
  newton_.forget();
  h_old_ = 0;
  use(variable_ ? 0 : level_);
  return {};
}

// Step, order and polynomial stay as they are: the state has moved by no more than the error of a step.
StepResult RadauAdaptive::continue_from(const State& state) {
  if (h_old_ == 0 || state.t != t_) return start(state);
  if (!problem_->from_state(state, x0_.data(), rate0_.data())) return start(state);  // says why not
  stages_.match_pattern();
  linearise_ = true;
  return {};
}

double RadauAdaptive::norm(const double* x) const {
  double sum = 0;
  for (std::size_t k = 0; k < weight_.size(); ++k) sum += (x[k] * weight_[k]) * (x[k] * weight_[k]);
  return std::sqrt(sum / static_cast<double>(weight_.size()));
}

void RadauAdaptive::set_weights(double h) {
  const auto& unknowns = problem_->unknowns();
  for (std::size_t k = 0; k < weight_.size(); ++k) {
    double w = 1;
    for (int power = std::max(unknowns[k].index - 1, unknowns[k].scale); power > 0; --power) w *= h;
    weight_[k] = unknowns[k].vanishes ? 0 : w / (absolute_ + relative_ * std::abs(x0_[k]));
  }
}

// As long as x changes by about a hundredth.
double RadauAdaptive::first_step(double limit) const {
  double h = 1e-3 * (std::isfinite(limit) ? limit - t_ : 1);
  const double size = norm(x0_.data()), speed = norm(rate0_.data());
  if (speed > 0 && size > 1e-5 * speed * h) h = std::min(h, 0.01 * size / speed);
  return h;
}

void RadauAdaptive::predict(double h) {
  const std::size_t n = x0_.size(), s = stages();
  if (!has_polynomial_) {
    for (std::size_t i = 0; i < s; ++i)
      for (std::size_t k = 0; k < n; ++k) z_[i * n + k] = tableau().c(static_cast<Eigen::Index>(i)) * h * rate0_[k];
    return;
  }
  // the last polynomial, continued
  const RadauTableau& old = tableaus_[old_level_];
  const auto so = static_cast<std::size_t>(old.stages);
  std::array<double, most_stages> w{};
  for (std::size_t i = 0; i < s; ++i) {
    old.weights(1 + tableau().c(static_cast<Eigen::Index>(i)) * h / h_old_, w.data());
    double* z = z_.data() + i * n;
    for (std::size_t k = 0; k < n; ++k) z[k] = from_[k] - x0_[k];
    for (std::size_t j = 0; j < so; ++j)
      for (std::size_t k = 0; k < n; ++k) z[k] += w[j] * old_[j * n + k];
    for (std::size_t k = 0; k < n; ++k)
      if (problem_->unknowns()[k].vanishes) z[k] = -x0_[k];
  }
}

// In the middle of the step, where the last polynomial leads to, unless that is far from known ground.
void RadauAdaptive::linearise(double h) {
  const std::size_t n = x0_.size(), middle = (stages() - 1) / 2;
  if (has_polynomial_ && !rejected_ && h <= 1.5 * h_old_) {
    for (std::size_t k = 0; k < n; ++k) trial_[k] = x0_[k] + z_[middle * n + k];
    stages_.rate(static_cast<int>(middle), h, z_.data(), slope_.data());
    stages_.linearise(t_ + tableau().c(static_cast<Eigen::Index>(middle)) * h, trial_.data(), slope_.data());
    derivatives_ = Derivatives::middle;
  } else {
    stages_.linearise(t_, x0_.data(), rate0_.data());
    derivatives_ = Derivatives::start;
  }
  linearise_ = false;
  factored_h_ = 0;
}

bool RadauAdaptive::solve(double h) {
  const std::size_t n = x0_.size(), s = stages();
  return solved_by_newton(newton_, [&]() -> Increment {
    if (!stages_.iterate(t_, x0_.data(), h, z_.data(), dz_.data())) return no_increment;
    double sum = 0;
    for (std::size_t i = 0; i < s; ++i) {
      const double one = norm(dz_.data() + i * n);
      sum += one * one;
    }
    return std::sqrt(sum / static_cast<double>(s));
  });
}

double RadauAdaptive::estimate(double h) {
  const std::size_t n = x0_.size(), s = stages();
  std::fill(slope_.begin(), slope_.end(), 0.0);
  for (std::size_t j = 0; j < s; ++j) {
    const double w = tableau().start(static_cast<Eigen::Index>(j)) / h;
    for (std::size_t k = 0; k < n; ++k) slope_[k] += w * z_[j * n + k];
  }
  const auto defect = [&](const double* x) {
    problem_->residual(t_, x, slope_.data(), error_.data());
    ++counters_.evaluations;
    stages_.solve_real(error_.data());
    for (std::size_t k = 0; k < n; ++k)
      if (const auto& u = problem_->unknowns()[k];
          !u.tested && !stages_.is_differential(k) && !(reported_ && u.index > 1))
        error_[k] = 0;
    return norm(error_.data());
  };
  double size = defect(x0_.data());
  if (size >= 1 && (first_ || rejected_)) {
    for (std::size_t k = 0; k < n; ++k) trial_[k] = x0_[k] - error_[k];
    size = defect(trial_.data());
  }
  return std::isfinite(size) ? std::max(size, 1e-10) : 1e10;
}

StepResult RadauAdaptive::advance(State& state, double limit) {
  const std::size_t n = x0_.size();
  int singular = 0, tries = 0;
  if (h_ <= 0) {
    set_weights(1);
    h_ = first_step(limit);
  }
  const char* trouble = "";
  for (;;) {
    double h = options_.max_step > 0 ? std::min(h_, options_.max_step) : h_;
    const double wish = h;
    const bool last = t_ + 1.0001 * h >= limit;
    if (last) h = limit - t_;
    if (tries > 0 && (tries > 60 || 0.1 * h <= std::abs(t_) * epsilon || h < 1e-290)) return give_up(h, trouble);
    ++tries;

    predict(h);
    if (linearise_) linearise(h);
    if (h != factored_h_) {
      if (!stages_.factor(h)) {
        trouble = "the iteration matrix is singular";
        if (++singular > 5) return give_up(h, trouble);
        h_ = h / 2;
        linearise_ = derivatives_ != Derivatives::start;
        rejected_ = true;
        ++counters_.failed;
        factored_h_ = 0;
        continue;
      }
      factored_h_ = h;
    }
    set_weights(h);
    if (!solve(h)) {
      trouble = "the iteration for the stages does not converge";
      ++counters_.failed;
      rejected_ = derivatives_ != Derivatives::old;
      if (rejected_) h_ = newton_.shrink() * h;  // else once more with new derivatives
      linearise_ = derivatives_ != Derivatives::start;
      newton_.forget();
      continue;
    }
    const double error = estimate(h), power = 1.0 / (tableau().stages + 1);
    const double k = 2 * newton_.policy.limit;
    const double factor = std::min(safety, safety * (k + 1) / (k + newton_.count()));
    double quotient = std::clamp(std::pow(error, power) / factor, least_quotient, largest_quotient);
    if (error >= 1) {
      trouble = "the error does not get below the tolerance";
      ++counters_.rejected;
      h_ = first_ ? 0.1 * h : h / quotient;
      rejected_ = true;
      linearise_ = derivatives_ == Derivatives::old;
      continue;
    }

    // accepted
    if (!first_ && accepted_h_ > 0) {
      const double predicted = accepted_h_ / h * std::pow(error * error / error_before_, power) / safety;
      quotient = std::max(quotient, std::clamp(predicted, least_quotient, largest_quotient));
    }
    accepted_h_ = h;
    error_before_ = std::max(1e-2, error);
    from_ = x0_;
    std::swap(z_, old_);
    old_level_ = level_;
    t_old_ = t_;
    h_old_ = h;
    t_ = last ? limit : t_ + h;
    const std::size_t end = (stages() - 1) * n;
    for (std::size_t i = 0; i < n; ++i) x0_[i] = from_[i] + old_[end + i];
    stages_.rate(tableau().stages - 1, h, old_.data(), rate0_.data());
    project(state);
    ++steps_with_[level_];
    ++counters_.steps;
    double next = h / quotient;
    if (const double slowest = newton_.slowest(); slowest > 0)
      next = std::min(next, h * std::max(0.8, good_start / slowest));
    if (rejected_) next = std::min(next, h);
    const ImplicitProblem::Change change = problem_->accepted(t_, x0_.data());
    if (change == ImplicitProblem::Change::pattern) stages_.match_pattern();
    linearise_ = newton_.theta() > good_contraction || change != ImplicitProblem::Change::none;
    derivatives_ = Derivatives::old;
    if (variable_) choose_order(next / h);
    if (!linearise_ && next >= h && next <= keep_step_up_to * h) next = h;
    h_ = last ? std::max(next, wish) : next;
    has_polynomial_ = true;
    first_ = rejected_ = false;
    report_.fill(t_, x0_.data(), rate0_.data(), state);
    return {};
  }
}

// y and z at the end of the step onto the constraints; where there is no nearest point, they stay.
void RadauAdaptive::project(State& state) {
  if (!projection_) return;
  std::fill(moved_.begin(), moved_.end(), 0.0);
  problem_->to_state(t_, x0_.data(), rate0_.data(), state);
  if (!projection_->project(t_, state.y.data(), state.z.data(), state.psi.data())) return;
  for (std::size_t i = 0; i < state.y.size() + state.z.size(); ++i) {
    const double now = i < state.y.size() ? state.y[i] : state.z[i - state.y.size()];
    moved_[i] = now - x0_[i];
    x0_[i] = now;
  }
}

// More stages where Newton's iteration converges fast, fewer where it does not; not while the step changes much.
void RadauAdaptive::choose_order(double ratio) {
  // RADAU waits for 10 steps and a contraction of 0.002. With the derivatives taken in the middle of the step these
  // cost least on Andrews' mechanism and the double spherical pendulum, at all tolerances from 1e-6 to 1e-12.
  constexpr double up = 0.03, down = 0.8;
  constexpr int wait = 5;
  ++since_order_change_;
  if (newton_.theta() >= down && level_ > 0) {
    use(level_ - 1);
    accepted_h_ = 0;
  } else if (since_order_change_ > wait && level_ < 2 && ratio > 0.8 && ratio < 1.2 &&
             (newton_.count() == 1 || newton_.theta() <= up)) {
    use(level_ + 1);
    accepted_h_ = 0;
  }
}

void RadauAdaptive::interpolate(double t, State& state) const {
  const std::size_t n = x0_.size();
  std::array<double, most_stages> w{};
  auto& x = const_cast<std::vector<double>&>(trial_);
  auto& rate = const_cast<std::vector<double>&>(slope_);
  x = from_;
  std::fill(rate.begin(), rate.end(), 0.0);
  if (h_old_ > 0) {
    const RadauTableau& old = tableaus_[old_level_];
    const auto s = static_cast<std::size_t>(old.stages);
    const double theta = (t - t_old_) / h_old_;
    old.weights(theta, w.data());
    for (std::size_t j = 0; j < s; ++j)
      for (std::size_t k = 0; k < n; ++k) x[k] += w[j] * old_[j * n + k];
    for (std::size_t k = 0; k < n; ++k) x[k] += theta * moved_[k];  // so that it ends where the next step begins
    old.rate_weights(theta, w.data());
    for (std::size_t j = 0; j < s; ++j)
      for (std::size_t k = 0; k < n; ++k) rate[k] += w[j] / h_old_ * old_[j * n + k];
  } else {
    rate = rate0_;
  }
  report_.fill(t, x.data(), rate.data(), state);
}

StepResult RadauAdaptive::give_up(double h, const char* what) const {
  return {false, fmt::format("at t = {:.12g} the step has shrunk to {:.1g}: {}; the solution may end there (an "
                             "impasse, a singularity), an expression may jump or leave its domain, or the tolerance "
                             "is below what rounding allows for this formulation",
                             t_, h, what)};
}

std::vector<std::string> RadauAdaptive::remarks() const {
  if (!variable_ || steps_with_[0] + steps_with_[1] + steps_with_[2] == 0) return {};
  return {fmt::format("steps with 3, 5 and 7 stages: {}, {}, {}", steps_with_[0], steps_with_[1], steps_with_[2])};
}

}  // namespace

std::unique_ptr<Stepper> make_radau_adaptive(std::shared_ptr<const System> system, const RadauOptions& radau,
                                             const SolverOptions& solver, const StepOptions& adaptive) {
  if (radau.stages != 0 && radau.stages != 3 && radau.stages != 5 && radau.stages != 7)
    throw OptionError(
        "stages", fmt::format("with a tolerance radau takes 3, 5 or 7 stages, or \"variable\", not {}", radau.stages));
  return std::make_unique<RadauAdaptive>(std::move(system), radau, solver, adaptive);
}

}  // namespace hinge
