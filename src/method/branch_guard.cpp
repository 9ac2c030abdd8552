#include "method/branch_guard.hpp"

#include <limits>

#include <fmt/format.h>

#include "formulation/acceleration.hpp"
#include "method/step_failure.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {
// Points on the way from one multiplier to another.
constexpr int samples = 8;
}  // namespace

BranchGuard::BranchGuard(const System& system, LinearAlgebra choice)
    : system_(system),
      needed_(system.npsi() > 0 &&
              (!system.structure().reaction_is_affine || !system.pattern(Quantity::reaction_z).empty())) {
  using Q = Quantity;
  if (!needed_) return;
  at_from_ = system.evaluation({Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  at_to_ = system.evaluation({Q::reaction_psi});
  saddle_ = std::make_unique<SaddlePoint>(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi),
                                          system.pattern(Q::constraint_rate_z), choice);
  step_.resize(static_cast<std::size_t>(system.npsi()));
  point_.resize(static_cast<std::size_t>(system.npsi()));
  right_.resize(static_cast<std::size_t>(system.nz() + system.npsi()));
}

double BranchGuard::change(double t, const double* y, const double* z, const double* from, const double* to) {
  using Q = Quantity;
  const int m = system_.npsi(), nz = system_.nz();
  for (int k = 0; k < m; ++k) step_[static_cast<std::size_t>(k)] = to[k] - from[k];
  const double length = biggest(step_.data(), m);
  if (length == 0) return 0;
  const Evaluation &a = *at_from_, &b = *at_to_;
  at_from_->at(t, y, z, from);
  if (!saddle_->factor(a[Q::momentum_z], a[Q::reaction_psi], 1.0, a[Q::constraint_rate_z]))
    return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (int sample = 1; sample <= samples; ++sample) {
    for (int k = 0; k < m; ++k) point_[static_cast<std::size_t>(k)] = from[k] + sample * (to[k] - from[k]) / samples;
    at_to_->at(t, y, z, point_.data());
    // p_z x - r_psi(from) mu = r_psi(point) d,  g_y v_z x = 0   gives   mu = -S(from)^-1 S(point) d
    std::fill(right_.begin(), right_.end(), 0.0);
    multiply_add(system_.pattern(Q::reaction_psi), b[Q::reaction_psi], step_.data(), 1.0, right_.data());
    saddle_->solve(right_.data());
    for (int k = 0; k < m; ++k)
      worst = larger(worst, std::abs(-right_[static_cast<std::size_t>(nz + k)] - step_[static_cast<std::size_t>(k)]));
  }
  worst /= length;
  return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

int BranchGuard::side(double t, const double* y, const double* z, const double* psi) {
  using Q = Quantity;
  const Evaluation& a = *at_from_;
  at_from_->at(t, y, z, psi);
  const bool regular = saddle_->factor(a[Q::momentum_z], a[Q::reaction_psi], 1.0, a[Q::constraint_rate_z]);
  return regular ? saddle_->determinant_sign() : 0;
}

namespace {

// Does the motion go on over a step? The consistent multipliers at its start, and after an explicit step of Euler's
// method, are on one branch then.
bool motion_goes_on(const System& system, const State& state, double h) {
  Acceleration acceleration(std::shared_ptr<const System>(std::shared_ptr<void>(), &system));
  BranchGuard guard(system, LinearAlgebra::automatic);
  if (!guard.needed()) return false;
  State s = state;
  std::vector<double> v(s.y.size()), a(s.z.size());
  if (!acceleration.compute(s.t, s.y.data(), s.z.data(), s.psi.data(), v.data(), a.data())) return false;
  const std::vector<double> before = s.psi;
  const int side = guard.side(s.t, s.y.data(), s.z.data(), s.psi.data());
  s.t += h;
  axpy(h, v.data(), system.ny(), s.y.data());
  axpy(h, a.data(), system.nz(), s.z.data());
  return side != 0 && acceleration.compute(s.t, s.y.data(), s.z.data(), s.psi.data(), v.data(), a.data()) &&
         guard.change(s.t, s.y.data(), s.z.data(), before.data(), s.psi.data()) <= BranchGuard::allowed &&
         guard.side(s.t, s.y.data(), s.z.data(), s.psi.data()) == side;
}

}  // namespace

StepResult left_the_branch(const System& system, const State& state, double h, const char* which) {
  std::string reason = fmt::format(
      "in the step from t = {:g} (h = {:g}), {} left the branch of the consistent multiplier", state.t, h, which);
  if (const std::string why = too_short(system, state, h); !why.empty())
    reason += ": " + why;
  else
    reason +=
        ": the reaction is nonlinear, and the equations of this step have a solution on another branch only, or none; "
        "take a smaller step, or another alpha where the method has one. If smaller steps end here as well, " +
        std::string(motion_goes_on(system, state, h)
                        ? "take another method (gauss-lobatto, radau): the motion itself goes on, and it is the "
                          "equations of this method, whose multipliers are not the consistent ones, that end"
                        : "the motion itself ends: is the initial multiplier the one you meant?");
  return {false, reason};
}

}  // namespace hinge
