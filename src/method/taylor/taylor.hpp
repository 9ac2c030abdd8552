// Taylor series of high order, for the equations as they are typed, whatever their index.
//
//   x(t0 + h) = sum_m x_m h^m,   m = 0, ..., p
//
// with coefficients by recurrences on the expressions (series_tape.hpp), stage by stage along the offsets of the
// structure (Pryce 2001): one system Jacobian per step, factorised once. Every step begins on all constraints, the
// hidden ones included: they hold to round-off, without drift. Between the ends of a step the solution is the series.
//
// Chosen steps: the order follows from the tolerance, p = 1 - a ln(tol), and the length from the last two terms of
// every number x, |x_m| h^m <= absolute + relative |x| (Jorba and Zou). At the end of a step the highest derivatives,
// which the equations determine anew, are compared with those of the series: a step that missed something is made
// shorter, without new coefficients.
//
// Order p in y, z and psi. Preserved: both constraint levels at round-off. Not preserved: symplecticity, symmetry,
// momentum maps, energy, but for errors of the size of the tolerance, which may be 1e-15. Not for stiff systems: steps
// are as short as the fastest motion.
//
// References: J. D. Pryce, BIT 41 (2001) 364-394; N. S. Nedialkov, J. D. Pryce, BIT 45 (2005) 561-591; A. Jorba, M.
// Zou, Experimental Mathematics 14 (2005) 99-117.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/method.hpp"
#include "method/taylor/series_point.hpp"

namespace hinge {

class TaylorStepper final : public Stepper {
 public:
  TaylorStepper(std::shared_ptr<const System> system, std::unique_ptr<SeriesPoint> point, const StepOptions& steps);
  StepResult start(const State& state) override;
  StepResult step(State& state, double h) override;
  StepResult advance(State& state, double limit) override;
  void interpolate(double t, State& state) const override { point_->interpolate(t, state, true); }
  void sketch(double t, State& state) const override { point_->interpolate(t, state, false); }
  void reset() override { begun_ = false; }

 private:
  StepResult expand(const State& state);
  double longest() const;
  bool diverges() const;
  bool holds(double h);
  StepResult meeting(const State& state, double h);
  StepResult vanishing(const State& state, double h) const;
  StepResult failure(const State& state, double h, const char* what) const;

  std::shared_ptr<const System> system_;
  std::unique_ptr<SeriesPoint> point_;
  StepOptions options_;
  bool depends_on_time_;
  bool begun_ = false;  // by a step of given length
  bool first_ = true;   // no step has been chosen yet: its length is a guess
  double last_ = 0;     // length of the last step
  double scale_ = 0;    // unit of the last series, a power of two
  double h_ = 0;        // length of the last step that was chosen, and about the scale of the next series
};

}  // namespace hinge
