// Where solutions of a DAE meet: its system Jacobian (formulation/implicit/dae_structure.hpp) changes its sign along
// the motion, continuously. There the equations do not say how it goes on: y^2 = x^2 at x = 0, or (1 - t) x' = -x at t
// = 1.
//
// Steps of given length may be thrown back there: the Jacobian goes straight to zero, and turns round instead.
// A jump of the sign, where the equations change to others, is nothing of this kind. An even number of changes in one
// step, or one without a change of sign, is not seen.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hinge/simulate.hpp"
#include "simulate/state_functions.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

class DaeSingularity {
 public:
  /// `resolved`: steps are chosen for a tolerance.
  void begin(const System& system, bool resolved);
  /// A state that a step of h has led to, or none (h = 0).
  void see(const State& state, double h);
  /// Has the sign changed in the last step?
  bool changed() const { return changed_; }
  /// Looks where, on the motion within that step.
  void locate(const State& before, const State& after, const std::function<void(double t, State& out)>& within);
  void doubts(std::vector<Doubt>& doubts) const;

 private:
  double determinant(const State& state);  // scaled; 0 where it is not known

  StateFunctions entries_;
  std::vector<std::size_t> places_;  // of the entries in the matrix
  int size_ = 0;
  std::vector<double> matrix_;
  bool changed_ = false;
  bool resolved_ = false;
  double last_ = 0, slope_ = 0;  // of the last step, by time
  long count_ = 0;
  double first_ = 0;
};

}  // namespace hinge
