#include "method/implicit/radau_adaptive.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

namespace {

constexpr double safety = 0.9;
constexpr double least_quotient = 1.0 / 8, largest_quotient = 5;  // of h / h_new
constexpr double good_contraction = 1e-3;                         // the derivatives serve the next step, too
constexpr double keep_step_up_to = 1.2;                           // times h: not worth new factorisations
constexpr double projected_part =
    0.25;                            // rows of mechanical systems are projected: less will do in the choice of steps
constexpr double unsure = 5;         // a guess may be off by that factor
constexpr int most_stagewise = 300;  // unknowns: full matrices
constexpr int settle_after = 3, settle_each = 8;  // tries of a step
// Of what Newton's iteration may leave, and iterations for that: errors beside a steady motion are less overestimated.
constexpr double part_beside_courses = 0.1;
constexpr int more_beside_courses = 3;
constexpr double good_start = 0.5;  // the step is lengthened only as far as this contraction can be expected

// Which unknowns does a state show as they are? Multipliers of mechanical systems and what is of higher index in a DAE
// are computed from the others.
std::vector<char> shown_unknowns(const System& system, const ImplicitProblem& problem) {
  std::vector<char> shown;
  const auto motion = static_cast<std::size_t>(system.ny() + system.nz());
  for (const ImplicitProblem::Unknown& u : problem.unknowns())
    shown.push_back(system.structure().is_dae ? u.tested : shown.size() < motion);
  return shown;
}

bool of_index_one(const ImplicitProblem& problem) {
  return std::all_of(problem.unknowns().begin(), problem.unknowns().end(), [](const auto& u) { return u.index == 1; });
}

// Coordinates that move along go with the derivatives of every stage, which velocity constraints do not have.
std::unique_ptr<ImplicitProblem> formulate_for_steps(const std::shared_ptr<const System>& system,
                                                     const FormulationOptions& options) {
  return system->nw() > 0 ? formulate(system, options, 0.5, Correction::free_of_mass)
                          : formulate_moving(system, options, 0.5, Correction::free_of_mass);
}

}  // namespace

RadauAdaptive::RadauAdaptive(std::shared_ptr<const System> system, const RadauOptions& radau,
                             const SolverOptions& solver, const StepOptions& options)
    : Stepper(true),
      system_(std::move(system)),
      options_(options),
      variable_(radau.stages == 0),
      tableaus_{radau_tableau(3), radau_tableau(5), radau_tableau(7)},
      problem_(formulate_for_steps(system_, radau.formulation)),
      stages_(*problem_, variable_ ? most_stages : radau.stages, solver.linear_algebra, counters_),
      report_(system_, *problem_, radau,
              radau.projection ? Projection::none : levels_at_ends(radau.formulation.formulation)),
      reported_(system_->structure().is_dae),
      determines_(reported_ || (system_->nrates() > 0 && levels_of(radau.formulation.formulation) != Projection::none)),
      settles_(reported_ && problem_->size() == system_->ny() && of_index_one(*problem_)),
      shown_(shown_unknowns(*system_, *problem_)),
      may_turn_(system_->structure().has_bodies && problem_->projected_invariants().psi > 0 &&
                problem_->size() <= most_stagewise) {
  const auto n = static_cast<std::size_t>(problem_->size());
  for (auto* v : {&x0_, &rate0_, &size_, &weight_, &error_, &trial_, &slope_, &now_.from, &last_.from})
    v->assign(n, 0.0);
  for (auto* v : {&now_.z, &last_.z, &dz_, &predicted_}) v->assign(n * most_stages, 0.0);
  const Formulation form = radau.formulation.formulation;
  const Projection kept = levels_of(form);
  const Projection which = radau.projection.value_or(kept == Projection::both ? kept : Projection::none);
  if (system_->nrates() > 0 && which != Projection::none) projection_.emplace(system_, which, solver.linear_algebra);
  if (system_->nrates() > 0)
    row_.emplace(system_, radau.projection.value_or(levels_between(form)), radau.formulation, solver.linear_algebra,
                 radau.multipliers != RadauOptions::Multipliers::formulation);
  leaves_constraints_ = reported_ || (system_->nrates() > 0 && has_position_level(form) && !projection_);
  if (options_.tolerance.relative == 0) options_.tolerance.relative = 1e-13;
  dense_.emplace(*problem_, variable_ ? most_stages : radau.stages, solver.linear_algebra, options_.tolerance, shown_);
  use(variable_ ? 0 : static_cast<std::size_t>((radau.stages - 3) / 2));
}

void RadauAdaptive::use(std::size_t level) {
  level_ = level;
  stages_.use(tableau());
  use_tolerances();
  factored_h_ = 0;
  since_order_change_ = 0;
}

// The estimate is of lower order than the method: of something of size S it may be S (T/S)^((s+1)/2s) for a tolerance
// T. S is |x|, and atol/rtol for what is smaller; but nothing that is larger than all there is (nor than 1), as where
// rtol is tiny and atol alone counts.
void RadauAdaptive::use_tolerances() {
  const auto [relative, absolute] = options_.tolerance;
  const double s = tableau().stages;
  given_ = std::max(relative, std::min(absolute / largest_, 1.0));
  relative_ = 0.1 * std::pow(given_, (s + 1) / (2 * s));
  absolute_ = relative_ * absolute / given_;
  newton_.policy.enough = std::max(10 * epsilon / relative_, std::min(0.03, std::sqrt(relative_)));
  newton_.policy.limit = 7 + (tableau().stages - 3) * 5 / 2;
  if (!problem_->moves()) return;
  newton_.policy.enough *= part_beside_courses;
  newton_.policy.limit += more_beside_courses;
}

void RadauAdaptive::watch_size() {
  if (options_.tolerance.absolute <= options_.tolerance.relative * largest_) return;
  double largest = largest_;
  for (const double x : x0_) largest = std::max(largest, std::abs(x));
  if (largest > largest_) {
    largest_ = largest;
    use_tolerances();
  }
}

StepResult RadauAdaptive::start(const State& state) {
  if (problem_->moves())
    for (auto& stagewise : stagewise_) stagewise.reset();
  problem_->stand_still(state.t);
  if (!problem_->from_state(state, x0_.data(), rate0_.data()))
    return {false, fmt::format("at t = {:g} the accelerations cannot be computed: the mass is singular there, or the "
                               "constraints are dependent",
                               state.t)};
  stages_.match_pattern();
  t_ = last_.t = state.t;
  h_ = options_.first_step;
  has_polynomial_ = rejected_ = false;
  derivatives_ = Derivatives::old;
  first_ = linearise_ = true;
  newton_.forget();
  last_.h = 0;
  dense_->forget();
  largest_ = 1;
  use(variable_ ? 0 : level_);
  watch_size();
  return {};
}

// Step, order and polynomial stay as they are: the state has moved by no more than the error of a step.
StepResult RadauAdaptive::continue_from(const State& state) {
  if (last_.h == 0 || state.t != t_) return start(state);
  if (!problem_->from_state(state, x0_.data(), rate0_.data())) return start(state);  // says why not
  stages_.match_pattern();
  linearise_ = true;
  dense_->forget();
  return {};
}

void RadauAdaptive::predict(double h) {
  const std::size_t n = x0_.size(), s = stages();
  now_.tableau = &tableau();
  now_.t = t_;
  now_.h = h;
  now_.from = x0_;
  for (std::size_t i = 0; i < s; ++i) {
    const double c = tableau().c(static_cast<Eigen::Index>(i));
    double* z = now_.z.data() + i * n;
    if (!has_polynomial_) {
      for (std::size_t k = 0; k < n; ++k) z[k] = c * h * rate0_[k];
      continue;
    }
    last_.value(1 + c * h / last_.h, z);  // continued
    for (std::size_t k = 0; k < n; ++k) z[k] = problem_->unknowns()[k].vanishes ? -x0_[k] : z[k] - x0_[k];
  }
  if (determines_) std::copy_n(now_.z.data(), s * n, predicted_.data());
}

// In the middle of the step, where the last polynomial leads to, unless that is far from known ground.
void RadauAdaptive::linearise(double h) {
  const std::size_t n = x0_.size(), middle = (stages() - 1) / 2;
  if (has_polynomial_ && !rejected_ && h <= 1.5 * last_.h) {
    for (std::size_t k = 0; k < n; ++k) trial_[k] = x0_[k] + now_.z[middle * n + k];
    stages_.rate(static_cast<int>(middle), h, now_.z.data(), slope_.data());
    stages_.linearise(t_ + tableau().c(static_cast<Eigen::Index>(middle)) * h, trial_.data(), slope_.data());
    derivatives_ = Derivatives::middle;
  } else {
    stages_.linearise(t_, x0_.data(), rate0_.data());
    derivatives_ = Derivatives::start;
  }
  linearise_ = false;
  factored_h_ = 0;
}

double RadauAdaptive::increment_size() const {
  const std::size_t n = x0_.size(), s = stages();
  double sum = 0;
  for (std::size_t i = 0; i < s; ++i) {
    const double one = norm(dz_.data() + i * n);
    sum += one * one;
  }
  return std::sqrt(sum / static_cast<double>(s));
}

bool RadauAdaptive::solve(double h) {
  if (stagewise_steps_ > 0) return solve_stagewise(h);
  // What is left of algebraic equations at the end is a defect at the next t0, however short the next step: the first
  // increment is not the last one because earlier steps converged fast. A projection does as well.
  if (leaves_constraints_) newton_.forget();
  return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
    if (!stages_.iterate(t_, x0_.data(), h, now_.z.data(), dz_.data())) return no_increment;
    return increment_size();
  });
}

StepResult RadauAdaptive::advance(State& state, double limit) {
  int singular = 0, tries = 0;
  if (h_ <= 0) {
    set_weights(1);
    h_ = first_step(limit);
  }
  move_along();
  const char* trouble = "";
  for (;;) {
    double h = options_.max_step > 0 ? std::min(h_, options_.max_step) : h_;
    const double wish = h;
    const bool last = t_ + 1.0001 * h >= limit;
    if (last) h = limit - t_;
    if (tries > 0 && (tries > 60 || 0.1 * h <= std::abs(t_) * epsilon || h < 1e-290)) return give_up(h, trouble);
    if (tries % settle_each == settle_after) settle();
    ++tries;

    predict(h);
    if (linearise_) linearise(h);
    const bool stagewise = stagewise_steps_ > 0;
    if (h != factored_h_) {
      if (!stages_.factor(h, !stagewise)) {
        trouble = "the iteration matrix is singular";
        if (++singular > 5) return give_up(h, trouble);
        h_ = h / 2;
        linearise_ = derivatives_ != Derivatives::start;
        rejected_ = true;
        ++counters_.failed;
        factored_h_ = 0;
        continue;
      }
      factored_h_ = stagewise ? 0 : h;
    }
    set_weights(h);
    if (!solve(h) && (stagewise || derivatives_ == Derivatives::old || !solve_stagewise(h))) {
      trouble = "the iteration for the stages does not converge";
      ++counters_.failed;
      rejected_ = derivatives_ != Derivatives::old;
      if (rejected_) h_ = newton_.shrink() * h;  // else once more with new derivatives
      linearise_ = derivatives_ != Derivatives::start;
      newton_.forget();
      continue;
    }
    if (leaves_defect(h)) {
      trouble =
          "the iteration for the stages ends where the equations do not hold: their slopes change by powers of ten";
      ++counters_.failed;
      h_ = h / 4;
      rejected_ = linearise_ = true;
      newton_.forget();
      continue;
    }
    double error = estimate(h);
    if (error < 1) {
      // The estimate is a norm of all unknowns together, and larger than the error of u by a factor of about six.
      const double at_start = error * std::sqrt(static_cast<double>(x0_.size())) / 4;
      const auto [between, guessed] = estimate_between(h);
      error_of_u_ = std::max(at_start, guessed ? unsure * between : between);
      // Of a polynomial of fewer stages the guess is far too large: it then says nothing about the next step.
      if (!guessed || last_.stages() == stages()) error = std::max(error, (reported_ ? 1 : projected_part) * between);
    }
    if (error >= 1) {
      trouble = "the error does not get below the tolerance";
      ++counters_.rejected;
      h_ = first_ ? 0.1 * h : h / quotient(error);
      rejected_ = true;
      linearise_ = derivatives_ == Derivatives::old;
      continue;
    }
    accept(h, error, last, limit, wish, state);
    return {};
  }
}

// h / h_new
double RadauAdaptive::quotient(double error) const {
  const double k = 2 * newton_.policy.limit;
  const double factor = std::min(safety, safety * (k + 1) / (k + newton_.count()));
  return std::clamp(std::pow(error, 1.0 / (tableau().stages + 1)) / factor, least_quotient, largest_quotient);
}

double RadauAdaptive::next_step(double h, double error) const {
  double part = quotient(error);
  if (!first_ && accepted_h_ > 0) {
    const double power = 1.0 / (tableau().stages + 1);
    const double predicted = accepted_h_ / h * std::pow(error * error / error_before_, power) / safety;
    part = std::max(part, std::clamp(predicted, least_quotient, largest_quotient));
  }
  double next = h / part;
  if (const double slowest = newton_.slowest(); slowest > 0)
    next = std::min(next, h * std::max(0.8, good_start / slowest));
  return rejected_ ? std::min(next, h) : next;
}

void RadauAdaptive::accept(double h, double error, bool last, double limit, double wish, State& state) {
  double next = next_step(h, error);
  accepted_h_ = h;
  error_before_ = std::max(1e-2, error);
  last_error_ = error_of_u_ * relative_ / given_;
  std::swap(now_, last_);
  dense_->forget();
  t_ = last ? limit : t_ + h;
  last_.value(1, x0_.data());
  stages_.rate(tableau().stages - 1, h, last_.z.data(), rate0_.data());
  project(state);
  watch_size();
  ++steps_with_[level_];
  ++counters_.steps;
  const ImplicitProblem::Change change = problem_->accepted(t_, x0_.data());
  if (change == ImplicitProblem::Change::pattern) stages_.match_pattern();
  linearise_ = newton_.theta() > good_contraction || stagewise_steps_ > 0 || change != ImplicitProblem::Change::none;
  derivatives_ = Derivatives::old;
  if (variable_) choose_order(next / h);
  if (!linearise_ && next >= h && next <= keep_step_up_to * h) next = h;
  h_ = last ? std::max(next, wish) : next;
  has_polynomial_ = true;
  first_ = rejected_ = false;
  report_.fill(t_, x0_.data(), rate0_.data(), state);
}

// y and z at the end of the step onto the constraints; where there is no nearest point, they stay.
void RadauAdaptive::project(State& state) {
  if (!projection_) return;
  problem_->to_state(t_, x0_.data(), rate0_.data(), state);
  if (!projection_->project(t_, state.y.data(), state.z.data(), state.psi.data())) return;
  problem_->set_motion(t_, state, x0_.data());
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

// At a time within the last step.
void RadauAdaptive::show(double t, State& state, bool exactly) const {
  if (last_.h == 0 || t == t_) {
    report_.fill(t, x0_.data(), rate0_.data(), state);
    if (reported_ && exactly) problem_->show(t, x0_.data(), rate0_.data(), state);
    return;
  }
  if (exactly) {
    dense_->at(last_, x0_, last_error_, t, trial_.data(), slope_.data());
    problem_->show(t, trial_.data(), slope_.data(), state);
  } else {
    dense_->sketch(last_, x0_, t, trial_.data(), slope_.data());
    problem_->to_state(t, trial_.data(), slope_.data(), state);
  }
  if (row_) row_->settle(t, state);
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

std::unique_ptr<Stepper> make_radau_adaptive(std::shared_ptr<const System> system, const RadauOptions& radau,
                                             const SolverOptions& solver, const StepOptions& adaptive) {
  if (radau.stages != 0 && radau.stages != 3 && radau.stages != 5 && radau.stages != 7)
    throw OptionError(
        "stages", fmt::format("with a tolerance radau takes 3, 5 or 7 stages, or \"variable\", not {}", radau.stages));
  return std::make_unique<RadauAdaptive>(std::move(system), radau, solver, adaptive);
}

}  // namespace hinge
