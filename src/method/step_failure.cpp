#include "method/step_failure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "formulation/start/scaled_rows.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

std::string too_short(const System& system, const State& state, double h) {
  using Q = Quantity;
  constexpr double drowned = 1e-3, negligible = 1e-6;  // rounding relative to the accelerations
  const auto e = system.evaluation({Q::velocity, Q::velocity_z, Q::momentum_z, Q::force, Q::reaction});
  e->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  const auto largest = [&](Q q) { return biggest((*e)[q], static_cast<int>(system.pattern(q).entries())); };
  const double y = biggest(state.y.data(), system.ny()), v = biggest((*e)[Q::velocity], system.ny());
  const double kick = larger(biggest((*e)[Q::force], system.nz()), biggest((*e)[Q::reaction], system.nz()));
  // that of a circular motion, |v|^2 / |y|, and what forces and reactions do, v_z p_z^-1 (f + r)
  const double acceleration = v * v / y + kick * largest(Q::velocity_z) / largest(Q::momentum_z);
  const double rounding = std::numeric_limits<double>::epsilon() * y * rounding_growth(system.npsi()) / (h * h);
  const double share = rounding / acceleration;
  if (!std::isfinite(share) || !(share > drowned)) return "";  // without accelerations no step is long enough
  const double enough = std::abs(h) * std::sqrt(share / negligible);
  return fmt::format(
      "the step is too short for double precision: multipliers are found from positions divided by h^2, and the "
      "rounding "
      "of the positions is then {:.1g} times the accelerations here; take a longer step, {:.0e} or more (if this is "
      "the "
      "last step, fitted to the end, choose another end)",
      share, std::pow(10, std::ceil(std::log10(enough))));
}

std::string nearly_dependent(const System& system, const State& state) {
  constexpr double near = 0.02;  // of pivots of scaled rows, and of the shortest row in the longest
  if (system.ng() == 0) return "";
  ScaledRows rows(system);
  const ConstraintRank rank = constraint_rank(system, state.t, state.y.data(), state.z.data());
  if (!rows.at(state.t, state.y.data(), state.z.data())) return "";
  const auto [shortest, longest] = std::minmax_element(rows.length().begin(), rows.length().end());
  if (rank.full() && rank.smallest > near && *shortest > near * *longest) return "";
  return "; the constraints are nearly dependent here (a dead point, or a change point, where a linkage lies in one "
         "line), and their forces grow without limit. Where there are no contacts take another method (gauss-lobatto, "
         "or bdf with a tolerance, which pass such positions); else keep away from the position, or drive the "
         "mechanism by a torque";
}

StepResult explain_failure(const System& system, const State& state, double h, const char* what, const Convergence& c) {
  std::string reason = fmt::format("in the step from t = {:g} (h = {:g}), {} could not be solved", state.t, h, what);
  const ConstraintRank rank = constraint_rank(system, state.t, state.y.data(), state.z.data());
  if (!rank.full()) {
    reason += fmt::format(": the matrix is singular because the constraints are dependent here: {}",
                          rank.describe(system.layout()));
  } else if (const std::string why = too_short(system, state, h); !why.empty()) {
    reason += ": " + why;
  } else if (!std::isfinite(c.last())) {
    reason += fmt::format(
        ": an expression became infinite or not a number there (a division by zero, a root or logarithm of a negative "
        "number, or an overflow){}",
        c.count() > 1 ? fmt::format(" in iteration {}; if the iteration ran away, the step is too long for the motion "
                                    "here, try a smaller one",
                                    c.count())
                      : "");
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
