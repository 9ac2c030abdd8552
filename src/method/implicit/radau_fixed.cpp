// Radau IIA with s stages and steps of given length h:
//
//   F(t0 + c_i h, X_i, X'_i) = 0,   X_i = x0 + h sum_j a_ij X'_j,   i = 1..s,   x1 = X_s
//
// The stage equations are solved to round-off. Order 2 s - 1; of multipliers too where the formulation determines them
// (index-1, projected-invariants, ...), else s. Preserved: the constraints that are rows of F. Not preserved: energy,
// symplecticity, symmetry; fast motions are damped.
//
// Reference: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, IV.8 and VII.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hinge/error.hpp"
#include "method/implicit/radau.hpp"
#include "method/implicit/radau_coupled.hpp"
#include "method/implicit/radau_stages.hpp"
#include "method/implicit/round_off.hpp"
#include "method/step_failure.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/at_rounding.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

class RadauStepper final : public Stepper {
 public:
  RadauStepper(std::shared_ptr<const System> system, const RadauOptions& radau, const SolverOptions& solver)
      : system_(std::move(system)),
        solver_(solver),
        tableau_(radau_tableau(radau.stages > 0 ? radau.stages : 3)),
        problem_(formulate(system_, radau.formulation)),
        stages_(*problem_, tableau_.stages, solver.linear_algebra, counters_),
        noise_(*system_, *problem_),
        report_(system_, *problem_, radau) {
    stages_.use(tableau_);
    const auto n = static_cast<std::size_t>(problem_->size()), s = static_cast<std::size_t>(tableau_.stages);
    for (auto* v : {&x0_, &rate0_, &x1_, &rate1_, &weight_}) v->assign(n, 0.0);
    for (auto* v : {&z_, &dz_, &old_}) v->assign(n * s, 0.0);
    weight_.resize(s);
    ends_at_.y.resize(static_cast<std::size_t>(system_->ny()));
    ends_at_.z.resize(static_cast<std::size_t>(system_->nz()));
    ends_at_.psi.resize(static_cast<std::size_t>(system_->npsi()));
  }

  void reset() override {
    known_ = needs_coupled_ = false;
    noise_.count(RoundOff::Far::own);
  }

  StepResult step(State& state, double h) override {
    const bool goes_on = known_ && state.y == ends_at_.y && state.z == ends_at_.z;
    if (goes_on) {
      x0_ = x1_;
      rate0_ = rate1_;
    } else if (!begin(state)) {
      known_ = false;
      return explain_failure(*system_, state, h, "the equations of the accelerations");
    }
    predict(h, goes_on);
    if (!needs_coupled_ && !solve(state.t, h)) {
      needs_coupled_ = true;  // and so will the steps to come
      predict(h, goes_on);
    }
    if (needs_coupled_ && !solve_coupled(state.t, h) && !solve_far_away(state.t, h, goes_on)) {
      needs_coupled_ = false;
      known_ = false;
      return explain_failure(*system_, state, h, "the stage equations", newton_);
    }
    const std::size_t n = x0_.size(), last = static_cast<std::size_t>(tableau_.stages - 1);
    for (std::size_t k = 0; k < n; ++k) x1_[k] = x0_[k] + z_[last * n + k];
    stages_.rate(static_cast<int>(last), h, z_.data(), rate1_.data());
    report_.fill(state.t + h, x1_.data(), rate1_.data(), state);
    ends_at_.y = state.y;
    ends_at_.z = state.z;
    multipliers_ = state.psi;
    if (problem_->accepted(state.t, x1_.data()) == ImplicitProblem::Change::pattern) stages_.match_pattern();
    old_ = z_;
    h_old_ = h;
    known_ = true;
    ++counters_.steps;
    return {};
  }

 private:
  bool begin(const State& state) {
    if (!problem_->from_state(state, x0_.data(), rate0_.data())) return false;
    stages_.match_pattern();
    return true;
  }

  // Z from the polynomial of the last step, continued; else from the rates at the start.
  void predict(double h, bool goes_on) {
    const std::size_t n = x0_.size(), s = static_cast<std::size_t>(tableau_.stages);
    for (std::size_t i = 0; i < s; ++i) {
      const double c = tableau_.c(static_cast<Eigen::Index>(i));
      double* z = z_.data() + i * n;
      if (!goes_on) {
        for (std::size_t k = 0; k < n; ++k) z[k] = c * h * rate0_[k];
        continue;
      }
      tableau_.weights(1 + c * h / h_old_, weight_.data());
      for (std::size_t k = 0; k < n; ++k) {
        double sum = -old_[(s - 1) * n + k];
        for (std::size_t j = 0; j < s; ++j) sum += weight_[j] * old_[j * n + k];
        z[k] = problem_->unknowns()[k].vanishes ? -x0_[k] : sum;
      }
    }
  }

  bool solve(double t, double h) {
    noise_.begin(h, x0_.data(), rate0_.data());
    return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
      const bool stalled = stalls(newton_), deep = stalls_for_long(newton_);
      if (renew()) {
        linearise(t, h);
        noise_.spread(stages_.f_x(), stages_.f_rate(), tableau_.stages / std::abs(h));
        if (!stages_.factor(h)) return no_increment;
        newton_.matrix_renewed();
      }
      if (!stages_.iterate(t, x0_.data(), h, z_.data(), dz_.data())) return std::numeric_limits<double>::quiet_NaN();
      if (stalled && stages_.left_rounding(h, z_.data(), deep)) return already_solved;
      if (deep) raise_noise(t, h);
      return size();
    });
  }

  // Increments may be as small as rounding lets them be far from the origin.
  bool solve_far_away(double t, double h, bool goes_on) {
    if (system_->structure().is_dae) return false;
    const RoundOff::Far before = noise_.counted();
    for (const RoundOff::Far far : {RoundOff::Far::rows, RoundOff::Far::positions})
      for (const bool coupled : {false, true}) {
        if (far <= before) continue;
        noise_.count(far);  // and so in the steps to come
        predict(h, goes_on);
        newton_.forget();
        needs_coupled_ = coupled;
        if (coupled ? solve_coupled(t, h) : solve(t, h)) return true;
      }
    noise_.count(before);
    return false;
  }

  // What is found must be near the guess: with exact derivatives there is no other solution there where the second
  // increment is up to a quarter of the first (Newton and Kantorovich).
  bool solve_coupled(double t, double h) {
    constexpr double alone = 0.25;
    if (!coupled_) coupled_.emplace(*problem_, tableau_, solver_.linear_algebra, counters_);
    noise_.begin(h, x0_.data(), rate0_.data());
    noise_.spread(stages_.f_x(), stages_.f_rate(), tableau_.stages / std::abs(h));
    newton_.forget();
    const bool solved = solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
      newton_.matrix_renewed();
      switch (coupled_->iterate(t, x0_.data(), h, z_.data(), dz_.data())) {
        case RadauCoupled::Outcome::singular: return no_increment;
        case RadauCoupled::Outcome::not_finite: return std::numeric_limits<double>::quiet_NaN();
        case RadauCoupled::Outcome::improved: break;
      }
      return size();
    });
    return solved && newton_.first_contraction() <= alone;
  }

  // By what rounding within the equations makes of positions, at the end of the step.
  void raise_noise(double t, double h) {
    const std::size_t n = x0_.size(), last = static_cast<std::size_t>(tableau_.stages - 1);
    for (std::size_t k = 0; k < n; ++k) x1_[k] = x0_[k] + z_[last * n + k];
    stages_.rate(static_cast<int>(last), h, z_.data(), rate1_.data());
    within_.assign(static_cast<std::size_t>(problem_->pattern().rows), 0.0);
    problem_->add_rounding(t + h, x1_.data(), rate1_.data(), within_.data());
    noise_.raise_by_rows(within_.data(), stages_.f_x(), stages_.f_rate());
  }

  // Of an increment, in units of round-off.
  double size() {
    const std::size_t n = x0_.size(), s = static_cast<std::size_t>(tableau_.stages);
    for (std::size_t i = 0; i < s; ++i) noise_.raise(z_.data() + i * n);
    double largest = 0;
    for (std::size_t i = 0; i < s; ++i)
      for (std::size_t k = 0; k < n; ++k) largest = larger(largest, std::abs(dz_[i * n + k]) / noise_[k]);
    return largest;
  }

  bool renew() const {
    using Newton = SolverOptions::Newton;
    if (newton_.count() == 0 || solver_.newton == Newton::full) return true;
    return solver_.newton == Newton::automatic && newton_.count() > 1 && (newton_.renew() || newton_.count() % 8 == 0);
  }

  // At the start; when that has turned out to be slow, in the middle of the step, where the stages are now.
  void linearise(double t, double h) {
    if (newton_.count() == 0) return stages_.linearise(t, x0_.data(), rate0_.data());
    const std::size_t n = x0_.size(), middle = (static_cast<std::size_t>(tableau_.stages) - 1) / 2;
    for (std::size_t k = 0; k < n; ++k) x1_[k] = x0_[k] + z_[middle * n + k];
    stages_.rate(static_cast<int>(middle), h, z_.data(), rate1_.data());
    stages_.linearise(t + tableau_.c(static_cast<Eigen::Index>(middle)) * h, x1_.data(), rate1_.data());
    ++counters_.full_newton;
  }

  std::shared_ptr<const System> system_;
  SolverOptions solver_;
  RadauTableau tableau_;
  std::unique_ptr<ImplicitProblem> problem_;
  RadauStages stages_;
  RoundOff noise_;
  RadauReport report_;
  State ends_at_;  // y and z after the last step
  bool known_ = false, needs_coupled_ = false;
  std::optional<RadauCoupled> coupled_;
  double h_old_ = 0;
  // one matrix for all stages: in long steps the contraction is 0.5, and round-off is fifty bits away
  Convergence newton_{2 * solver_.max_iterations, system_->structure().is_symbolic
                                                      ? newton_policy::collocation
                                                      : newton_policy::collocation_by_differences};
  std::vector<double> x0_, rate0_, x1_, rate1_, weight_, z_, dz_, old_, within_;
};

}  // namespace

std::unique_ptr<Stepper> make_radau_stepper(std::shared_ptr<const System> system, const RadauOptions& radau,
                                            const SolverOptions& solver) {
  return std::make_unique<RadauStepper>(std::move(system), radau, solver);
}

}  // namespace hinge
