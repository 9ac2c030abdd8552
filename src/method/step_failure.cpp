#include "method/step_failure.hpp"

#include <cmath>

#include <fmt/format.h>

#include "formulation/constraint_rank.hpp"

namespace hinge {

StepResult explain_failure(const System& system, const State& state, double h, const char* what, const Convergence& c) {
  std::string reason = fmt::format("in the step from t = {:g} (h = {:g}), {} could not be solved", state.t, h, what);
  const ConstraintRank rank = constraint_rank(system, state.t, state.y.data());
  if (!rank.full()) {
    reason += fmt::format(": the matrix is singular because the constraints are dependent here: {}",
                          rank.describe(system.layout()));
  } else if (!std::isfinite(c.last())) {
    reason +=
        ": an expression became infinite or not a number there (a division by zero, a root or logarithm of a "
        "negative number, or an overflow)";
  } else if (c.count() > 0) {
    reason += fmt::format(
        ": after {} iterations the increment was still {:.1e} times round-off, contraction {:.2g}; the step is likely "
        "too long for the motion here, try a smaller one",
        c.count(), c.last(), c.theta());
  } else {
    reason += ": the iteration matrix is singular, or an expression in it is infinite or not a number there";
  }
  return {false, reason};
}

}  // namespace hinge
