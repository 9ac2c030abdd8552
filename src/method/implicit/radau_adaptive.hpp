// Radau IIA with 3, 5 or 7 stages and steps that meet a tolerance.
//
//   weights   sc = atol' + rtol' |x|, rtol' = rtol^((s+1)/(2 s)) / 10, atol' = rtol' atol/rtol; an unknown of index nu
//   is
//             multiplied with h^(nu-1), and so is one that is well scaled as h^(nu-1) x. Unknowns that are zero on
//             every solution do not count: what they do to the others is seen there. For rtol here stands atol/X where
//             that is larger, X the largest unknown so far or 1: with an rtol that is tiny atol' would be huge
//   error     err = -((mu/h) F_x' + F_x)^-1 F(t0, x0, u'(t0)), mu the real eigenvalue: the defect of the polynomial u
//             at t0, smoothed, of order h^(s+1). Where it is too large in the first step or after a refused one, once
//             more with x0 + err in the place of x0, which cuts what very stiff parts add. Multipliers of mechanical
//             systems, which occur without derivative, do not count where the problem says so; the unknowns of higher
//             index of a DAE do
//   between   what constraints and algebraic equations determine has no defect at t0: the step is so short that the
//             defect of u between its nodes (radau_dense.hpp) is below the tolerance as well, in the largest norm. It
//             is computed where the last polynomial, continued, does not show that it is small
//   Newton    stops when  theta/(1-theta) |dZ| <= max(10 eps/rtol', min(0.03, sqrt(rtol')))
//   step      h_new = h / clip(err^(1/(s+1)) / fac, 1/8, 5), fac = min(0.9, 0.9 (2 k + 1)/(2 k + its)), k iterations at
//             most; not longer than what two steps of equal growth of the error allow (Gustafsson), and not longer
//             than Newton's iteration will bear: h_new <= h max(0.8, 0.5 / slowest contraction)
//
// F_x and F_x' are taken in the middle of the step, from the continued polynomial of the last one: on the double
// spherical pendulum that saves a third of the iterations against the start of the step. They are kept while
// theta <= 1e-3, the factorisations while moreover 1 <= h_new/h <= 1.2. Where the iteration fails for a system of
// bodies, it is repeated with the derivatives of each stage (radau_stagewise.hpp), and so for the next twenty steps.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formulation/project/projection.hpp"
#include "method/consistent_row.hpp"
#include "method/implicit/radau.hpp"
#include "method/implicit/radau_dense.hpp"
#include "method/implicit/radau_stagewise.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

class RadauAdaptive final : public Stepper {
 public:
  static constexpr int most_stages = 7;

  RadauAdaptive(std::shared_ptr<const System> system, const RadauOptions& radau, const SolverOptions& solver,
                const StepOptions& options);

  StepResult start(const State& state) override;
  StepResult advance(State& state, double limit) override;
  StepResult continue_from(const State& state) override;
  void interpolate(double t, State& state) const override { show(t, state, true); }
  void sketch(double t, State& state) const override { show(t, state, false); }
  std::vector<std::string> remarks() const override;

 private:
  const RadauTableau& tableau() const { return tableaus_[level_]; }
  std::size_t stages() const { return static_cast<std::size_t>(tableau().stages); }

  void use(std::size_t level);
  void use_tolerances();
  void watch_size();
  void set_weights(double h);
  double first_step(double limit) const;
  void settle();
  void predict(double h);
  void predict_steadily(double h);
  void linearise(double h);
  bool solve(double h);
  bool solve_stagewise(double h);
  double increment_size() const;
  bool leaves_defect(double h);
  double estimate(double h);
  struct Between {
    double error;
    bool guessed;
  };
  Between estimate_between(double h);
  double continuation_error(double h) const;
  void accept(double h, double error, bool last, double limit, double wish, State& state);
  double quotient(double error) const;
  double next_step(double h, double error) const;
  void project(State& state);
  void move_along();
  void show(double t, State& state, bool exactly) const;
  void choose_order(double quotient);
  double norm(const double* x) const;
  StepResult give_up(double h, const char* what) const;

  std::shared_ptr<const System> system_;
  StepOptions options_;
  bool variable_;
  std::array<RadauTableau, 3> tableaus_;
  std::size_t level_ = 0;
  std::unique_ptr<ImplicitProblem> problem_;
  RadauStages stages_;
  RadauReport report_;
  bool reported_;    // are unknowns of higher index results? Multipliers of mechanical systems can be computed anew
  bool determines_;  // do constraints or, perhaps, algebraic equations determine some of what is shown?
  bool leaves_constraints_ = false;  // as Newton's iteration leaves them, without a projection
  bool settles_;                     // see settle()
  std::vector<char> shown_;
  std::optional<ConstraintProjection> projection_;
  mutable std::optional<ConsistentRow> row_;
  mutable std::optional<RadauDense> dense_;
  double relative_ = 0, absolute_ = 0;  // rtol', atol'
  double largest_ = 1, given_ = 0;      // of all unknowns, at least 1; rtol, or what atol is of that

  double t_ = 0, h_ = 0;        // where we are; the next step
  RadauPolynomial now_, last_;  // of the step being tried, of the last accepted one
  double error_of_u_ = 0;       // between the nodes
  double last_error_ = 0;       // the same of the last step, in units of the tolerance
  bool has_polynomial_ = false, first_ = true, rejected_ = false;
  enum class Derivatives { old, middle, start };  // of an earlier step; of this one, in its middle or at its start
  Derivatives derivatives_ = Derivatives::old;
  bool linearise_ = true;
  bool may_turn_;                                           // bodies do: see radau_stagewise.hpp
  int stagewise_steps_ = 0;                                 // to come, before the simplified iteration is tried again
  std::array<std::optional<RadauStagewise>, 3> stagewise_;  // of each number of stages
  double factored_h_ = 0;
  double error_before_ = 0, accepted_h_ = 0;
  int since_order_change_ = 0;
  WithinTolerance newton_{newton_policy::collocation_within_tolerance};
  std::array<long, 3> steps_with_{};
  std::vector<double> x0_, rate0_, size_, weight_, error_, dz_, predicted_;
  mutable std::vector<double> trial_, slope_;
};

}  // namespace hinge
