// Contacts in a generalized-alpha step. The smooth motion carries no contact force; what contacts do are jumps
//
//   index-3   z1 = z~ + w,   y1 = y~ + (h/2) w    for contacts that the step without them leaves with gap <= eps
//   ggl       z1 = z~ + w,   y1 = y~ + U          0 <= gap(y1) _|_ nu >= 0, and Lambda for those with nu > 0
//
// with w = X Lambda, U = X_N nu + (h/2) P Lambda_T, X = M^-1 H^T with joints held, and laws between Lambda and H z1 + e
// H z0. Without the second part of U a contact that sticks would creep with the velocity (h/2) a_T. P are the columns
// X_T less what they do to the gaps of the contacts that are held,
//
//   P = X_T - X_N (H_N X_N)^-1 H_N X_T      (over contacts with nu > 0)
//
// so that friction does not open a contact which then would have none. In the equations of the step a jump is a change
// of y* and z*; of bodies in space U is one of h D, along their axes, and of z*. How y1 and z1 follow it, forces
// included, is seen by the factorised matrix of the step; so the contact problems have the effective Delassus matrix  H
// (dz1/dw) X, and the iteration over both problems is Newton's.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Core>

#include "body/body_table.hpp"
#include "method/nonsmooth/generalized_alpha.hpp"
#include "method/step_failure.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

// y1 changes as h v_z T dD does, with T of differentiate_turns() and dD = dy/h - (beta/gamma) dz
void GeneralizedAlpha::respond_by_turns(double h, const double* dy, const double* dz, double* rate) {
  std::vector<double>& change = turned_;
  change.resize(at(nz_));
  for (int k = 0; k < nz_; ++k) change[at(k)] = dy[k] / h - beta_ / gamma_ * dz[k];
  const double* mean = work_.data();  // as move_by_mean() left it
  for (const BodyPlace& place : bodies_of(*system_)->places) {
    Eigen::Map<Eigen::Vector3d> spin(change.data() + place.spin);
    spin = (turn_tangent(h, mean + place.spin) * spin).eval();
  }
  motion_->at(t1_, x_.data(), x_.data() + n_, x_.data() + n_ + nz_);
  multiply_add(system_->pattern(Quantity::velocity_z), (*motion_)[Quantity::velocity_z], change.data(), -1.0, rate);
}

// The velocities z for which y changes by dy in the unit of time.
const double* GeneralizedAlpha::as_velocity(const double* dy) {
  if (!turns_) return dy;
  turned_.assign(at(nz_), 0.0);
  for (const BodyPlace& place : bodies_of(*system_)->places) {
    const auto quaternion = [&](const double* y) {
      return Eigen::Quaterniond(y[place.rotation], y[place.rotation + 1], y[place.rotation + 2], y[place.rotation + 3]);
    };
    const Eigen::Quaterniond q = quaternion(x_.data());
    const Eigen::Vector3d spin = 2 / q.squaredNorm() * (q.conjugate() * quaternion(dy)).vec();
    std::copy_n(dy + place.x, 3, turned_.data() + place.v);
    std::copy_n(spin.data(), 3, turned_.data() + place.spin);
  }
  return turned_.data();
}

// A jump of positions by `factor` times a column of X.
void GeneralizedAlpha::shift_position(double factor, const double* column, double h) {
  if (turns_)
    axpy(factor / h, column, nz_, mean_.data());
  else
    axpy(factor, column, n_, y_star_.data());
}

// dx = -J^-1 F_rate (d rate), for a change (dy, dz) of (y*, z*)
void GeneralizedAlpha::respond(double h, const double* dy, const double* dz, double* dx) {
  std::vector<double>& rate = response_rate_;
  rate.assign(x_.size(), 0.0);
  if (turns_) respond_by_turns(h, dy, dz, rate.data());
  for (int k = 0; k < nz_; ++k) {
    if (!turns_) rate[at(k)] = -dy[k] / h + beta_ / gamma_ * dz[k];
    rate[at(n_ + k)] = -dz[k] / (h * gamma_ * weight_);
  }
  std::fill_n(dx, x_.size(), 0.0);
  multiply_add(problem_->pattern(), f_rate_.data(), rate.data(), -1.0, dx);
  for (std::size_t i = 0; i < x_.size(); ++i) dx[i] *= row_scale_[i];
  solver_->solve(dx);
  for (std::size_t i = 0; i < x_.size(); ++i) dx[i] *= column_scale_[i];
}

// One pass: jumps for the motion x_ that belongs to the present ones. `jump` (Lambda or nu) is updated; false where the
// problem has no solution.
bool GeneralizedAlpha::update_jump(bool position, double h, Eigen::VectorXd& jump) {
  const int d = contacts_->dimension(),
            rows = position ? static_cast<int>(contacts_->active.size()) : contacts_->rows();
  const int stride = position ? d : 1;
  Eigen::MatrixXd W(rows, rows);
  std::vector<double> dx(x_.size()), shift(at(nz_)), zero(at(nz_), 0.0), u(at(contacts_->rows()));
  const auto normal_or_all = [&](const double* z, Eigen::Ref<Eigen::VectorXd> out) {
    contacts_->velocities(z, u.data());
    contacts_->subtract_drift(u.data());
    for (int k = 0; k < rows; ++k) out[k] = u[at(k * stride)];
  };
  for (int j = 0; j < rows; ++j) {
    const double* column = contacts_->response(j * stride);
    std::copy_n(column, nz_, shift.data());
    if (position) {
      respond(h, shift.data(), zero.data(), dx.data());
      normal_or_all(as_velocity(dx.data()), W.col(j));
    } else {
      std::vector<double> half(at(nz_), 0.0);
      if (!two_levels_) axpy(h / 2, column, nz_, half.data());
      if (two_levels_ && j % d != 0) axpy(h / 2, tangents_.col(j).data(), nz_, half.data());
      respond(h, half.data(), shift.data(), dx.data());
      normal_or_all(dx.data() + n_, W.col(j));
    }
  }
  Eigen::VectorXd q = -W * jump;
  if (position) {
    for (int k = 0; k < rows; ++k) q[k] += gap_[at(contacts_->active[at(k)])];
  } else {
    contacts_->velocities(x_.data() + n_, u.data());
    for (int k = 0; k < rows; ++k) q[k] += u[at(k)] + shift_[at(k)];
  }
  if (!q.allFinite() || !W.allFinite()) return false;
  return contacts_->solve_explicit(std::move(W), std::move(q), position ? 1 : d,
                                   position ? std::vector<char>{} : asleep_, jump);
}

// P, a column per tangential row (those of normals stay unused); H_N X of all active contacts is known.
void GeneralizedAlpha::hold_gaps(const Eigen::MatrixXd& normal_response) {
  const int d = contacts_->dimension(), count = static_cast<int>(contacts_->active.size());
  std::vector<int> held;
  for (int a = 0; a < count; ++a)
    if (!asleep_[at(a)]) held.push_back(a);
  const auto size = static_cast<Eigen::Index>(held.size());
  Eigen::MatrixXd W(size, size), right(size, count * d);
  for (Eigen::Index i = 0; i < size; ++i) {
    right.row(i) = normal_response.row(held[static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < size; ++j) W(i, j) = right(i, held[static_cast<std::size_t>(j)] * d);
  }
  Eigen::MatrixXd share;
  if (size > 0) share = ShortestSolution(W).of_all(right);
  tangents_.setZero(nz_, count * d);
  for (int a = 0; a < count; ++a) {
    if (asleep_[at(a)]) continue;
    for (int k = a * d + 1; k < (a + 1) * d; ++k) {
      tangents_.col(k) = Eigen::Map<const Eigen::VectorXd>(contacts_->response(k), nz_);
      for (Eigen::Index i = 0; i < size; ++i)
        tangents_.col(k) -= share(i, k) * Eigen::Map<const Eigen::VectorXd>(
                                              contacts_->response(held[static_cast<std::size_t>(i)] * d), nz_);
    }
  }
}

// x_ solves the step without contacts and the stars are those of it. Finds the contacts at its end and the jumps.
bool GeneralizedAlpha::resolve_contacts(const State& state, double h) {
  const double t1 = state.t + h;
  const double eps = 1e-12 * std::max(contacts_->finder().length_scale(), biggest(x_.data(), n_));
  const bool bodies = system_->structure().has_bodies;
  contacts_->find(t1, x_.data(), bodies ? eps : HUGE_VAL, false);
  const ContactList& l = contacts_->list();
  const int d = contacts_->dimension();
  // on the position level also those that others may push into contact
  const double depth = l.count > 0 ? -*std::min_element(l.gap.begin(), l.gap.end()) : -HUGE_VAL;
  const double limit = two_levels_ && depth >= -eps ? std::max(eps, 10 * depth) : eps;
  if (bodies && limit > eps) contacts_->find(t1, x_.data(), limit, false);
  for (int i = 0; i < l.count; ++i)
    if (l.gap[at(i)] <= limit) contacts_->active.push_back(i);
  if (contacts_->active.empty()) return true;
  const auto e = system_->evaluation({Quantity::momentum_z, Quantity::constraint_rate_z});
  e->at(t1, x_.data(), x_.data() + n_, state.psi.data());
  if (!contacts_->factor((*e)[Quantity::momentum_z], (*e)[Quantity::constraint_rate_z])) return false;

  const int rows = contacts_->rows();
  before_.resize(at(rows));
  start_z_ = state.z;
  if (spins_) spins_->turn_between(state.y.data(), x_.data(), start_z_.data());  // along the axes of the end
  contacts_->velocities(start_z_.data(), before_.data());
  shift_.assign(at(rows), 0.0);
  for (std::size_t a = 0; a < contacts_->active.size(); ++a)
    shift_[a * at(d)] = l.restitution[at(contacts_->active[a])] * before_[a * at(d)];
  gap_.resize(at(l.count));
  std::vector<double>& position = turns_ ? mean_ : y_star_;
  const double unit = turns_ ? h : 1;  // of a change of it
  const std::vector<double> y_free = position, z_free = z_star_;
  std::vector<double> old_y, old_z;
  lambda_ = Eigen::VectorXd::Zero(rows);
  Eigen::VectorXd nu = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(contacts_->active.size()));
  asleep_.assign(contacts_->active.size(), 0);
  Eigen::MatrixXd normal_response(two_levels_ && d > 1 ? nu.size() : 0, rows);
  if (normal_response.rows() > 0) {
    std::vector<double> u(at(rows));
    for (int k = 0; k < rows; ++k) {
      contacts_->velocities(contacts_->response(k), u.data());
      contacts_->subtract_drift(u.data());
      for (int a = 0; a < nu.size(); ++a) normal_response(a, k) = u[at(a * d)];
    }
  }
  Settling rule(newton_policy::contacts_and_forces);
  const NewtonTrouble trouble = newton(rule, [&]() -> Increment {
    contacts_->finder().gaps(t1, x_.data(), l, gap_.data());
    if (two_levels_ && !update_jump(true, h, nu)) return no_increment;
    // no impulse without contact; where that goes to and fro, what has been held once stays so
    for (int a = 0; two_levels_ && a < nu.size(); ++a)
      asleep_[at(a)] = !(nu[a] > 0) && (rule.count() < 8 || asleep_[at(a)]);
    if (normal_response.rows() > 0) hold_gaps(normal_response);
    if (!update_jump(false, h, lambda_)) return no_increment;
    old_y = position, old_z = z_star_;
    position = y_free, z_star_ = z_free;
    for (int k = 0; k < rows; ++k) {
      const double* column = contacts_->response(k);
      axpy(lambda_[k], column, nz_, z_star_.data());
      if (!two_levels_) shift_position(h / 2 * lambda_[k], column, h);
      if (two_levels_ && k % d == 0) shift_position(nu[k / d], column, h);
      if (two_levels_ && k % d != 0) shift_position(h / 2 * lambda_[k], tangents_.col(k).data(), h);
    }
    // of the jumps themselves: impulses need not be unique
    double change = 0;
    for (int k = 0; k < nz_; ++k)
      change = larger(change, larger(std::abs(z_star_[at(k)] - old_z[at(k)]),
                                     unit * std::abs(position[at(k)] - old_y[at(k)]) / std::abs(h)));
    if (!solve(t1, h)) return no_increment;
    return {change, biggest(x_.data() + n_, nz_) + biggest(state.z.data(), nz_) + biggest(x_.data(), n_) / std::abs(h) +
                        std::abs(h) * biggest(a_.data(), nz_) + std::abs(h) * biggest(w_.data(), nz_)};
  });
  if (trouble == NewtonTrouble::slow || trouble == NewtonTrouble::not_finite)
    contacts_->failure = "forces and contacts do not settle; shorten the step";
  if (trouble != NewtonTrouble::none) return false;
  contacts_->count_energy(lambda_.data(), start_z_.data(), x_.data() + n_);
  if (two_levels_) count_displacement(h, (*e)[Quantity::momentum_z], y_free, z_free);
  return true;
}

// The sums r.(u0 + u1)/2 are the energy where y1 = y~ + (h/2) w. What U differs from that is a way along the forces.
void GeneralizedAlpha::count_displacement(double h, const double* mass, const std::vector<double>& y_free,
                                          const std::vector<double>& z_free) {
  rates(h);
  const std::vector<double>& position = turns_ ? mean_ : y_star_;
  const double unit = turns_ ? h : 1;
  std::vector<double> force(at(nz_), 0.0);
  multiply_add(system_->pattern(Quantity::momentum_z), mass, rate_.data() + n_, 1.0, force.data());
  for (int k = 0; k < nz_; ++k)
    contacts_->statistics.impact_loss +=
        force[at(k)] * (unit * (position[at(k)] - y_free[at(k)]) - h / 2 * (z_star_[at(k)] - z_free[at(k)]));
}

}  // namespace hinge
