// By how much a DAE F(t, x, x') = 0 multiplies errors along a motion: those that steps have made before are carried on
// by the equations, and where these drive neighbouring motions apart no error test of a step sees it.
//
//   F_x d + F_x' d' = 0
//
// is followed for one direction d, relative to the largest that each unknown has been, which turns by itself into the
// one that grows most. Steps of it span several of the method, as it need not be accurate: of the two-stage SDIRK
// method
//
//   Z = M^-1 c F_x' d,   d1 = M^-1 c F_x' (d + (1/g - 1) (Z - d)),   M = F_x + c F_x',   c = 1/(g h),   g = 1 -
//   1/sqrt(2)
//
// of order 2, which neither damps nor drives what oscillates, and forgets what is stiff. Unknowns without derivatives
// follow the others and do not count.
#pragma once

#include <memory>
#include <vector>

#include "formulation/implicit/symbolic_problem.hpp"
#include "hinge/simulate.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

class GrowthWatch {
 public:
  void begin(const System& system);
  /// After a step; `work`: evaluations of the method so far.
  void see(const State& state, long work);
  /// The most that an error has been multiplied by, from any time to any later one.
  double most() const;
  /// How far another state is off this one: of the unknown that is furthest off, as a part of its largest size so far.
  double apart(const State& state, const State& other) const;
  /// A state at which it was about as large as ever.
  const State& peak() const { return peak_; }
  /// What a run with a tolerance may be off by, as a part of an unknown. Is it so much that it may be more?
  double allowed(const Tolerance& tolerance) const;
  bool suspect(const Tolerance& tolerance) const;
  static constexpr double much = 30;  // of growth

 private:
  bool set_up();
  void look(const State& state, double h);
  bool carry(double h, int parts);
  double part(const Tolerance& tolerance) const;
  double product(const std::vector<double>& a, const std::vector<double>& b) const;

  const SymbolicSystem* system_ = nullptr;
  CompiledRows rows_;
  std::unique_ptr<LinearSolver> solver_;
  std::vector<char> counts_;  // by unknowns: is its derivative in the equations?
  std::vector<double> f_x_, f_rate_, matrix_, d_, from_, z_, size_;
  double time_ = 0, log_ = 0, lowest_ = 0, most_ = 0, at_peak_ = 0;
  long work_ = 0, steps_ = 0;
  int looks_ = 0, parts_ = 1;
  State peak_;
};

}  // namespace hinge
