// How well a DAE F(t, x, x') = 0 is kept: its algebraic equations, those without x', and its hidden constraints.
// Where equations have to be combined to lose x', as in the node equations of a circuit, the combination counts.
//
// Hidden constraints are the derivatives F_i^(k), k = 1..c_i, of the structure analysis. In them x'' is replaced by
// what equations  a x_j' = f(t, x), a a number, make of it, x_j'' = (f_t + f_x x') / a, so that they are functions of
// (t, x, x'); those that need other second derivatives say nothing about x and are left out. For x' = u, x^2 + y^2 = 1
// this gives 2 (x x' + y y') and 2 (x'^2 + y'^2 + x u' + y v').
//
// Whether |F_i| is much is told by what it is made of: off = |F_i| / sum_j |dF_i/dx_j| max |x_j|, where |F_i| is
// largest at two times, one after the other: where equations jump, one state belongs to what was before.
#pragma once

#include <cmath>

#include "hinge/memory.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

class DaeLevels {
 public:
  explicit DaeLevels(const SymbolicSystem& system);
  void at(const State& state);

  bool empty() const { return rows_.size() == 0; }
  double algebraic = 0;  ///< max |F_i|; not a number where one of them is none
  double hidden = 0;     ///< max |F_i^(k)| of those that are numbers

  /// Forgets what an earlier run has shown.
  void begin();
  /// Takes what at() has found at this state into account.
  void take(const State& state);
  /// The largest `off` of all F_i.
  double off() const;
  /// For checkpoints.
  void exchange(Memory& memory) { memory(worst_, worst_slopes_, sizes_, now_, before_, time_); }

 private:
  StateFunctions rows_, slopes_;
  std::size_t algebraic_count_ = 0;
  std::vector<int> row_start_, column_;      // of the slopes
  std::vector<double> seen_, now_, before_;  // |F_i| at the last state; at its time, and at the one before
  double time_ = NAN;
  std::vector<double> worst_, worst_slopes_, sizes_;  // the largest |F_i|, |dF_i/dx_j| there; the largest |x_j|
};

}  // namespace hinge
