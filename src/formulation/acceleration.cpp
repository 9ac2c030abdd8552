#include "formulation/acceleration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

// One number after the other: what has just been written one by one would be slow to read in pairs.
bool finite(const double* x, int n) {
  for (int i = 0; i < n; ++i)
    if (!(std::abs(x[i]) <= std::numeric_limits<double>::max())) return false;
  return true;
}

}  // namespace

SaddleKernel acceleration_kernel(const System& system, LinearAlgebra choice) {
  using Q = Quantity;
  const bool constant_mass = system.is_constant(Q::momentum_z);
  if (system.structure().reaction_is_ideal)
    return {system.pattern(Q::momentum_z), system.pattern(Q::constraint_rate_z), constant_mass, choice};
  return {system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi), system.pattern(Q::constraint_rate_z),
          constant_mass, choice};
}

Acceleration::Acceleration(std::shared_ptr<const System> system, LinearAlgebra choice,
                           const FormulationOptions& options)
    : system_(std::move(system)),
      ny_(system_->ny()),
      nz_(system_->nz()),
      m_(system_->npsi()),
      velocity_is_z_(system_->structure().velocity_is_z),
      ideal_(system_->structure().reaction_is_ideal),
      linear_(system_->structure().reaction_is_linear),
      affine_(system_->structure().reaction_is_affine),
      constant_mass_(system_->is_constant(Q::momentum_z)),
      kernel_(acceleration_kernel(*system_, choice)),
      change_(static_cast<std::size_t>(system_->npsi())) {
  Quantities wanted{Q::momentum_z, Q::acceleration_force, Q::constraint_rate_z, Q::constraint_curvature};
  if (!velocity_is_z_) wanted.insert(Q::velocity);
  if (!ideal_) wanted.insert(Q::reaction_psi);
  if (!linear_) wanted.insert(Q::reaction);
  if (options.formulation == Formulation::baumgarte) {
    damping_ = 2 * options.alpha;
    stiffness_ = options.beta * options.beta;
    wanted.insert(Q::constraint);
    wanted.insert(Q::constraint_rate);
  }
  at_ = system_->evaluation(wanted);
  choose_code_ = linear_ && system_->nrates() == system_->npsi() && options.formulation != Formulation::baumgarte;
}

SaddleKernel& Acceleration::matrix() {
  const Evaluation& e = *at_;
  if (!std::exchange(by_code_, false)) return kernel_;
  if (!motion_)
    kernel_.factor(e[Q::momentum_z], ideal_ ? nullptr : e[Q::reaction_psi], e[Q::constraint_rate_z]);
  else if (motion_->kept())
    kernel_.factor(constant_mass_ ? e[Q::momentum_z] : motion_->mass(), ideal_ ? nullptr : motion_->reaction(),
                   motion_->gradient());
  else
    kernel_.forget();
  return kernel_;
}

void Acceleration::choose_code() {
  choose_code_ = false;
  if (!kernel_.small()) return;
  motion_ = MotionCode::make(system_, kernel_.exchanges());
  if (motion_) return;
  const Evaluation& e = *at_;
  code_ = SaddleCode::make({.a = system_->pattern(Q::momentum_z),
                            .c = system_->pattern(Q::constraint_rate_z),
                            .b = ideal_ ? nullptr : &system_->pattern(Q::reaction_psi),
                            .constant = constant_mass_ ? e[Q::momentum_z] : nullptr,
                            .exchanges = kernel_.exchanges()});
}

// Where the code leaves the decision to kernel_, it will do so at the next points, too.
bool Acceleration::solve_by_code() {
  if (without_code_ > 0) return --without_code_, false;
  const Evaluation& e = *at_;
  if (code_->solve(e[Q::momentum_z], ideal_ ? nullptr : e[Q::reaction_psi], e[Q::constraint_rate_z],
                   e[Q::acceleration_force], e[Q::constraint_curvature]))
    return true;
  without_code_ = 100;
  return false;
}

// -c, or with the stabilising terms
void Acceleration::curvature(double* out) const {
  const Evaluation& e = *at_;
  const int m = system_->nrates();
  for (int i = 0; i < m; ++i) out[i] = -e[Q::constraint_curvature][i];
  if (damping_ == 0 && stiffness_ == 0) return;
  for (int i = 0; i < m; ++i) out[i] -= damping_ * e[Q::constraint_rate][i];
  for (int i = 0; i < system_->ng(); ++i) out[i] -= stiffness_ * e[Q::constraint][i];
}

bool Acceleration::compute_in_parts(double t, const double* y, const double* z, double* psi, double* velocity,
                                    double* z_rate) {
  if (motion_) without_code_ = without_code_ > 0 ? without_code_ - 1 : 100;
  const int nz = nz_, m = m_;
  if (!linear_) return iterate(t, y, z, psi, velocity, z_rate);
  const Evaluation& e = *at_;
  at_->at(t, y, z, psi);
  by_code_ = code_ && solve_by_code();
  if (by_code_) {
    copy_few(code_->x(), nz, z_rate);
    copy_few(code_->mu(), m, psi);
  } else {
    if (!kernel_.factor(e[Q::momentum_z], ideal_ ? nullptr : e[Q::reaction_psi], e[Q::constraint_rate_z])) return false;
    if (choose_code_) choose_code();
    copy_few(e[Q::acceleration_force], nz, z_rate);
    curvature(psi);
    kernel_.solve(z_rate, psi);
  }
  copy_few(velocity_is_z_ ? z : e[Q::velocity], ny_, velocity);
  return by_code_ || (finite(z_rate, nz) && finite(psi, m));
}

// Newton's iteration for psi; a reaction that is affine is solved at once.
bool Acceleration::iterate(double t, const double* y, const double* z, double* psi, double* velocity, double* z_rate) {
  const int nz = system_->nz(), m = system_->npsi();
  const Evaluation& e = *at_;
  const bool solved = solved_by_newton(Settling(newton_policy::acceleration), [&]() -> Increment {
    at_->at(t, y, z, psi);
    if (!kernel_.factor(e[Q::momentum_z], ideal_ ? nullptr : e[Q::reaction_psi], e[Q::constraint_rate_z]))
      return no_increment;
    for (int i = 0; i < nz; ++i) z_rate[i] = e[Q::acceleration_force][i] + e[Q::reaction][i];
    curvature(change_.data());
    kernel_.solve(z_rate, change_.data());
    if (!finite(z_rate, nz) || !finite(change_.data(), m)) return no_increment;
    double change = 0, size = 1;
    for (int i = 0; i < m; ++i) {
      const double d = change_[static_cast<std::size_t>(i)];
      psi[i] += d;
      change = std::max(change, std::abs(d));
      size = std::max(size, std::abs(psi[i]));
    }
    return {affine_ ? already_solved : change, size};
  });
  if (solved) std::copy_n(velocity_is_z_ ? z : e[Q::velocity], system_->ny(), velocity);
  return solved;
}

}  // namespace hinge
