// How well constraints, and positions, can be known in double precision, wherever the origin is.
//
//   g_i, and its rate   not better than  w_i, what rounding within the expression may come to, by interval arithmetic
//   a position          not better than  eps |y|,  w_i / |G_i|,  and eps (h |v| + h^2 |a|), which steps add up
//
// A pendulum that hangs in the origin, x^2 + (y - 1)^2 - 1 = 0, has w = eps; y = x^2/2 is less than that for long.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "expression/rounding_bounds.hpp"
#include "hinge/system.hpp"

namespace hinge {

class ConstraintRounding {
 public:
  /// The system has to stay. Costs nothing until it is asked for something, which allocates the first time.
  explicit ConstraintRounding(const System& system) : system_(&system) {}
  /// What would be allocated then; of large systems later.
  void prepare();
  /// w of Quantity::constraint or constraint_rate; zeros where nothing is known, as of compiled functions.
  const std::vector<double>& rows(Quantity level, double t, const double* y, const double* z, const double* psi);
  /// Are residuals of that level nothing but rounding?
  bool covers(Quantity level, const double* residual, double t, const double* y, const double* z, const double* psi);
  /// h |v| + h^2 |a|, of the forces alone.
  double way(const State& state, double h);
  /// Positions are not known better than eps times this.
  double reach(const State& state, double h);
  /// Of all z, where way() or reach() was asked for last.
  double mass() const { return mass_; }

 private:
  struct Level {
    bool made = false;
    RoundingBounds bounds;
    std::vector<double> rows;
  };
  Level& make(Quantity level);
  void make_parts();

  const System* system_;
  std::array<Level, 2> levels_;
  std::unique_ptr<Evaluation> parts_;
  double mass_ = 0;
  bool prepared_ = false;
};

}  // namespace hinge
