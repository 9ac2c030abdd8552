// A start with the equations of another branch, from where a step has come to: consistent values, and what jumps on the
// way to them.
#pragma once

#include <optional>
#include <vector>

#include "hinge/doubt.hpp"
#include "hinge/method.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class BranchStart {
 public:
  BranchStart(const SymbolicSystem& system, const Tolerance& tolerance);
  /// The values of `branch` nearest to a state; of a DAE with what the equations differentiate as it is. Throws
  /// InputError where there are none.
  State consistent(const SymbolicSystem& branch, const State& at) const;
  /// Something whose derivative is in the equations jumps, and what integrates the impulse of that does not know.
  void watch_impulses(const State& before, const State& after);
  std::optional<Doubt> doubt() const;

 private:
  State consistent_from(const SymbolicSystem& branch, const State& at) const;
  double largest_jump(const State& before, const State& after) const;

  bool is_dae_;
  std::vector<char> differential_;  // of a DAE: unknowns whose derivatives are in the equations
  double smallest_;
  double impulse_ = 0, impulse_time_ = 0;  // largest jump; the first
};

}  // namespace hinge
