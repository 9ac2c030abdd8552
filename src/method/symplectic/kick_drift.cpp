#include "method/symplectic/kick_drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/symplectic/step_rounding.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

bool has_small_constant_mass(const System& system) {
  return system.is_constant(Quantity::momentum_z) &&
         BlockInverse(system.pattern(Quantity::momentum_z)).largest() <= SchurComplement::largest_mass_block;
}

void require_regular_mass(const System& system, const char* method) {
  if (!has_small_constant_mass(system)) return;
  const auto mass = system.evaluation({Quantity::momentum_z});
  const std::vector<double> zero(static_cast<std::size_t>(std::max({system.ny(), system.nz(), system.npsi(), 1})), 0.0);
  mass->at(0, zero.data(), zero.data(), zero.data());
  BlockInverse inverse(system.pattern(Quantity::momentum_z));
  std::vector<double> values(inverse.pattern().entries());
  if (!inverse.compute((*mass)[Quantity::momentum_z], values.data()))
    throw UnsuitableMethod(
        fmt::format("{} needs a regular mass matrix, but nothing resists a change of {} except the constraints; use "
                    "gauss-lobatto, which can treat that",
                    method, system.layout().z_name(inverse.singular_row())));
}

KickDrift::KickDrift(const System& system, const SolverOptions& options, Counters& counters)
    : system_(system),
      ny_(system.ny()),
      nz_(system.nz()),
      m_(system.npsi()),
      counters_(counters),
      small_(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi), system.pattern(Q::constraint_rate_z),
             options.linear_algebra),
      newton_(options.max_iterations, newton_policy::position_level) {
  velocity_is_z_ = system_.structure().velocity_is_z;
  start_ = system_.evaluation({Q::force, Q::reaction_psi, Q::velocity});
  velocity_ = system_.evaluation({Q::velocity});
  position_ = system_.evaluation({Q::constraint});
  reference_ = system_.evaluation({Q::momentum_z, Q::constraint_rate_z, Q::velocity_z});
  const auto n = [](int k) { return static_cast<std::size_t>(k); };
  for (auto* v : {&f_, &kick_, &change_}) v->resize(n(nz_));
  for (auto* v : {&v_, &velocity_change_}) v->resize(n(ny_));
  increment_.resize(n(m_));
  rpsi_.resize(system_.pattern(Q::reaction_psi).entries());
  velocity_z_.resize(system_.pattern(Q::velocity_z).entries());
}

void KickDrift::begin(const State& state) {
  start_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  ++counters_.evaluations;
  take_forces((*start_)[Q::force], (*start_)[Q::reaction_psi]);
  std::copy_n((*start_)[Q::velocity], ny_, v_.data());
}

void KickDrift::take_forces(const double* force, const double* reaction_psi) {
  std::copy_n(force, nz_, f_.data());
  std::copy_n(reaction_psi, rpsi_.size(), rpsi_.data());
}

// As in the general SPARK step: increments are judged by what they do, y to eps |y| and v at the end to eps |v|.
bool KickDrift::prepare(const From& from, double h, const double* psi) {
  constexpr double tiny = 1e-200;
  if (!small_.factored()) {
    newton_.begin();
    if (!renew_small(from.t, from.y, from.z, psi)) return false;
  }
  const double size_h = std::abs(h);
  small_.solve_mass(f_.data(), change_.data());
  const double a = velocity_size(change_.data());
  const double v = biggest(v_.data(), ny_) + (std::isfinite(a) ? size_h * a : 0);
  unit_y_ = epsilon * rounding_growth(m_) * std::max({biggest(from.y, ny_), size_h * v, tiny});
  unit_v_ = 2 * epsilon * std::max(v, tiny);
  return true;
}

void KickDrift::raise_unit_velocity(const double* force, double time) {
  small_.solve_mass(force, change_.data());
  const double v = std::max(biggest(v_.data(), ny_), std::abs(time) * velocity_size(change_.data()));
  if (std::isfinite(v)) unit_v_ = std::max(unit_v_, 2 * epsilon * v);
}

// |v_z dz|, with v_z as it was at the last renewal of the small matrix
double KickDrift::velocity_size(const double* dz) {
  return size_in_velocities(system_, velocity_z_, dz, velocity_change_);
}

// S = g_y v_z (y1) p_z^-1 r_psi (y0), the exact Newton matrix
bool KickDrift::renew_small(double t1, const double* y1, const double* z, const double* psi) {
  reference_->at(t1, y1, z, psi);
  ++counters_.factorisations;
  ++counters_.evaluations;
  std::copy_n((*reference_)[Q::velocity_z], velocity_z_.size(), velocity_z_.data());
  return small_.factor_in_order((*reference_)[Q::momentum_z], rpsi_.data(), (*reference_)[Q::constraint_rate_z]);
}

void KickDrift::kick(const double* force, const double* reaction_psi, const double* psi, double weight,
                     const double* from, double* to) {
  for (int a = 0; a < nz_; ++a) kick_[static_cast<std::size_t>(a)] = weight * force[a];
  multiply_add(system_.pattern(Q::reaction_psi), reaction_psi, psi, weight, kick_.data());
  small_.solve_mass(kick_.data(), to);
  axpy(1.0, from, nz_, to);
}

// Z from L, and y1 = y0 + (h/2) (v(t0, Z) + v(t1, Z))
void KickDrift::drift(const From& from, double weight, double h, const double* psi, double* z, double* y1) {
  kick(f_.data(), rpsi_.data(), psi, weight, from.z, z);
  std::copy_n(from.y, ny_, y1);
  if (velocity_is_z_) {
    axpy(h, z, ny_, y1);
    std::copy_n(z, ny_, v_.data());
    return;
  }
  for (const double t : {from.t, from.t + h}) {
    velocity_->at(t, from.y, z, psi);
    ++counters_.evaluations;
    axpy(h / 2, (*velocity_)[Q::velocity], ny_, y1);
  }
  std::copy_n((*velocity_)[Q::velocity], ny_, v_.data());
}

// For point masses in one pass: long chains are limited by memory, not by arithmetic.
double KickDrift::kick_by_increment(const double* reaction_psi, const double* dpsi, double weight, double h, double* z,
                                    double* y) {
  const Pattern& p = system_.pattern(Q::reaction_psi);
  const double* inverse = small_.diagonal_inverse();
  if (!inverse || !velocity_is_z_) {
    std::fill(kick_.begin(), kick_.end(), 0.0);
    multiply_add(p, reaction_psi, dpsi, weight, kick_.data());
    small_.solve_mass(kick_.data(), change_.data());
    axpy(1.0, change_.data(), nz_, z);
    if (y && velocity_is_z_) axpy(h, change_.data(), nz_, y);
    return velocity_size(change_.data());
  }
  double size = 0;
  bool nan = false;
  int k = 0;
  for (int i = 0; i < nz_; ++i) {
    double sum = 0;
    for (const int end = p.row_start[static_cast<std::size_t>(i) + 1]; k < end; ++k)
      sum += reaction_psi[k] * dpsi[p.column[static_cast<std::size_t>(k)]];
    const double dz = weight * inverse[i] * sum, a = std::abs(dz);
    z[i] += dz;
    if (y) y[i] += h * dz;
    size = size < a ? a : size;
    nan |= a != a;
  }
  return nan ? std::numeric_limits<double>::quiet_NaN() : size;
}

// One increment with the matrix that there is; its size in units of v.
double KickDrift::improve(const From& from, double weight, double h, double* psi, double* z, double* y1) {
  const double t1 = from.t + h;
  ++counters_.iterations;
  ++counters_.evaluations;
  position_->at(t1, y1, z, psi);
  // h w S dL = -g(y1)
  for (int a = 0; a < m_; ++a) increment_[static_cast<std::size_t>(a)] = -(*position_)[Q::constraint][a] / (weight * h);
  small_.solve(increment_.data());
  axpy(1.0, increment_.data(), m_, psi);
  // y1 moves by h v_z dZ; at the end the sums are made anew, so that rounding does not add up
  const double size = kick_by_increment(rpsi_.data(), increment_.data(), weight, h, z, y1);
  if (!velocity_is_z_) drift(from, weight, h, psi, z, y1);
  return size;
}

// The drift, the matrix there, two increments and the sums made anew; the size of the second one.
double KickDrift::begin_increments(const From& from, double weight, double h, double* psi, double* z, double* y1) {
  double size = 0;
  if (code_ && code_->begin_position({from.t + h, weight, h, from.y, from.z, f_.data(), rpsi_.data(), psi, z, y1},
                                     small_, size)) {
    ++counters_.factorisations;
    counters_.evaluations += 3;
    counters_.iterations += 2;
    std::copy_n(z, ny_, v_.data());
    return size;
  }
  drift(from, weight, h, psi, z, y1);
  if (!renew_small(from.t + h, y1, z, psi)) return no_increment;
  for (int k = 0; k < 2; ++k) size = improve(from, weight, h, psi, z, y1);
  if (velocity_is_z_) drift(from, weight, h, psi, z, y1);
  return size;
}

bool KickDrift::solve(const From& from, double weight, double h, double* psi, double* z, double* y1) {
  const double t1 = from.t + h, unit = unit_y_ / std::abs(h);
  if (code_in_ > 0 && --code_in_ == 0) code_ = KickCode::make(system_, small_);
  if (!renews_always()) drift(from, weight, h, psi, z, y1);
  if (m_ == 0) return std::isfinite(biggest(y1, ny_));
  bool renewed = false, sums_are_new = false;
  const bool solved = solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
    sums_are_new = renews_always() && newton_.count() == 0;
    if (sums_are_new) {
      const double size = begin_increments(from, weight, h, psi, z, y1);
      newton_.matrix_renewed();
      return size == no_increment ? size : size / unit;
    }
    if (!renewed && newton_.renew()) {
      renewed = true;
      if (!renew_small(t1, y1, z, psi)) return no_increment;
      newton_.matrix_renewed();
    }
    if (!code_) return improve(from, weight, h, psi, z, y1) / unit;
    ++counters_.iterations;
    ++counters_.evaluations;
    return code_->improve_position({t1, weight, h, y1, z, psi, rpsi_.data()}, small_) / unit;
  });
  if (velocity_is_z_ && !sums_are_new) drift(from, weight, h, psi, z, y1);
  return solved;
}

}  // namespace hinge
