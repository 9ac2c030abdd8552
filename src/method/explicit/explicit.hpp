// Explicit Runge-Kutta methods for the index-1 form
//
//   y' = v(t, y, z),   z' = eta(t, y, z),   psi = zeta(t, y, z)
//
// where eta and zeta solve the acceleration level (formulation/acceleration.hpp): one small linear system per stage.
// After every step positions and velocities are projected onto their constraints (formulation/project). Without
// that they drift: |g| like t^2, |g_t + G v| like t; with Baumgarte's terms they stay at the size of the local error.
//
// Dormand and Prince's methods of order 5 and 8, with fixed or chosen steps, for systems that are not stiff. Order 5
// or 8 in y, z and psi. Preserved: both constraint levels at round-off, with projection = "both". Not preserved:
// symplecticity, symmetry, momentum maps, energy.
//
// Reference: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993;
// projection: E. Eich, SIAM J. Numer. Anal. 30 (1993) 1467-1482.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "formulation/acceleration.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/method.hpp"
#include "method/explicit/dormand_prince.hpp"
#include "method/explicit/explicit_lanes.hpp"
#include "method/explicit/weighted_sum.hpp"
#include "method/step_control.hpp"

namespace hinge {

/// One step after the other: x = (y, z), its rates, and the stages between.
class ExplicitStages {
 public:
  ExplicitStages(std::shared_ptr<const System> system, const ExplicitOptions& options, LinearAlgebra choice);

  /// Begins at a state. False where the accelerations cannot be computed.
  bool begin(const State& state);
  /// Is this where the last step ended?
  bool continues(const State& state, double tolerance_in_t) const;
  /// From the end of the last step on.
  void move_on();
  /// All stages of a step of h, and x1; nothing is projected yet. The tolerance is that of error().
  bool stages(double h, const Tolerance& tolerance = {});
  /// The step of h that stages() would be asked for next; null where it cannot be computed with others. After
  /// move_on().
  ExplicitAhead* ahead(double h, const Tolerance& tolerance);
  /// Of that step, once it has been computed.
  double asked_ahead() const { return ahead_->h; }
  void refuse_ahead() { evaluations_ += tableau_.stages - 1; }
  double error_ahead() const { return measured(ahead_->errors.first, ahead_->errors.second); }
  /// The error estimate of that step relative to the tolerance.
  double error(double h, const Tolerance& tolerance);
  /// Projects x1 and computes its rates and multipliers.
  bool finish(double h);
  /// Is |h lambda| of the fastest motion, from the last two points at t0 + h, beyond what is stable? After finish().
  bool stiff(double h) const;
  /// Length of a first step.
  double first_step(const Tolerance& tolerance, double most);
  void end_state(State& state) const;
  void interpolate(double t, State& state) const;

  const ExplicitTableau& tableau() const { return tableau_; }
  double time() const { return t0_; }
  const System& system() const { return *system_; }
  /// Passes over functions of the system, and those among them that factorised a matrix.
  long evaluations() const { return evaluations_ + projection_.evaluations(); }
  long factorisations() const { return evaluations_; }
  const std::vector<double>& psi() const { return psi_; }

 private:
  double measured(double first, double second) const;
  struct Dense;  // made when it is first asked for
  double* rate(int stage) const { return rows_.data() + rates_ + stage * stride_; }
  bool rates(double t, const double* x, double* out);
  bool rates_at_end(double h);
  void combine(const ExplicitTableau::Row& row, const double* x, double h, double* out) const;
  void use_code();
  void prepare_dense() const;

  std::shared_ptr<const System> system_;
  const ExplicitTableau& tableau_;
  ExplicitOptions options_;
  LinearAlgebra choice_;
  int ny_, nz_, n_, padded_;
  Acceleration acceleration_;
  ConstraintProjection projection_;
  double t0_ = 0, h_ = 0;
  std::vector<double> x0_, x1_, stage_, last_stage_, psi_, start_psi_, error_;
  // Rates of all stages; interpolation adds its own. Where there is code for them, rows are its scratch arrays, so that
  // it writes them to where they are read.
  mutable std::vector<double> rows_;
  int stride_, rates_ = 0;
  StageLoop loop_;
  StageLoop::Errors errors_{};  // of the last step, where the loop made it
  bool by_loop_ = false, was_ahead_ = false;
  mutable bool wants_rows_ = false, has_rows_ = true;  // of all stages, for interpolation
  std::unique_ptr<ExplicitAhead> ahead_;
  long evaluations_ = 0;
  mutable std::shared_ptr<Dense> dense_;
  mutable bool dense_ready_ = false;
};

class ExplicitStepper final : public Stepper {
 public:
  ExplicitStepper(std::shared_ptr<const System> system, const ExplicitOptions& options, const SolverOptions& solver,
                  const StepOptions& steps);
  StepResult start(const State& state) override;
  StepResult step(State& state, double h) override;
  StepResult advance(State& state, double limit) override;
  StepAhead* ahead(const State& state, double limit) override;
  void interpolate(double t, State& state) const override { stages_.interpolate(t, state); }
  void reset() override { begun_ = false; }
  /// Have the last steps been bound by stability instead of accuracy?
  bool stiff() const { return stiff_steps_ >= 15; }
  double next_step() const { return h_; }
  std::vector<std::string> remarks() const override;

 private:
  void look_for_stiffness(double t, double h);
  bool refuse_ahead();
  void count() {
    counters_.evaluations = stages_.evaluations();
    counters_.factorisations = stages_.factorisations();
  }

  ExplicitStages stages_;
  StepOptions options_;
  StepControl control_;
  double ahead_from_ = 0, ahead_limit_ = 0;
  bool begun_ = false;  // by a step of given length
  double h_ = 0;        // the next of chosen ones
  int stiff_steps_ = 0, other_steps_ = 0;
  double stiff_since_ = INFINITY;
};

}  // namespace hinge
