// Contacts in a generalized-alpha step. The smooth motion carries no contact force; what contacts do are jumps
//
//   z1 = z~ + w,   y1 = y~ + (h/2) w    formulation index-3:  contacts that the step without them leaves with gap <=
//   eps, z1 = z~ + w,   y1 = y~ + U          formulation ggl:      0 <= gap(y1) _|_ nu >= 0, then those with nu > 0
//
// with w = X Lambda, U = X nu, X = M^-1 H^T with joints held, and laws between Lambda and H z1 + e H z0. In the
// equations of the step a jump is a change of y* and z*. How y1 and z1 follow it, forces included, is seen by the
// factorised matrix of the step; so the contact problems have the effective Delassus matrix  H (dz1/dw) X, and the
// iteration over both problems is Newton's.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "method/contact_band.hpp"
#include "method/generalized_alpha.hpp"
#include "method/step_failure.hpp"
#include "method/vectors.hpp"
#include "solve/sparse.hpp"

namespace hinge {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

// dx = -J^-1 F_rate (d rate), for a change (dy, dz) of (y*, z*)
void GeneralizedAlpha::respond(double h, const double* dy, const double* dz, double* dx) {
  std::vector<double>& rate = response_rate_;
  rate.assign(x_.size(), 0.0);
  for (int k = 0; k < n_; ++k) {
    rate[at(k)] = -dy[k] / h + beta_ / gamma_ * dz[k];
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
  std::vector<double> dx(x_.size()), shift(at(n_)), zero(at(n_), 0.0), u(at(contacts_->rows()));
  const auto normal_or_all = [&](const double* z, Eigen::Ref<Eigen::VectorXd> out) {
    contacts_->velocities(z, u.data());
    contacts_->subtract_drift(u.data());
    for (int k = 0; k < rows; ++k) out[k] = u[at(k * stride)];
  };
  for (int j = 0; j < rows; ++j) {
    const double* column = contacts_->response(j * stride);
    std::copy_n(column, n_, shift.data());
    if (position) {
      respond(h, shift.data(), zero.data(), dx.data());
      normal_or_all(dx.data(), W.col(j));
    } else {
      std::vector<double> half(shift);
      for (double& v : half) v *= two_levels_ ? 0.0 : h / 2;
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

// x_ solves the step without contacts and the stars are those of it. Finds the contacts at its end and the jumps.
bool GeneralizedAlpha::resolve_contacts(const State& state, double h, Convergence& convergence) {
  const double t1 = state.t + h;
  const double eps = 1e-12 * std::max(contacts_->finder().length_scale(), biggest(x_.data(), n_));
  // those that are penetrated, and ten times as far: see below
  const double band = std::max(contact_band(*system_, state.z.data(), h), contact_band(*system_, x_.data() + n_, h));
  contacts_->find(t1, x_.data(), 10 * band, false);
  const ContactList& l = contacts_->list();
  const int d = contacts_->dimension();
  // on the position level also those that others may push into contact
  const double depth = l.count > 0 ? -*std::min_element(l.gap.begin(), l.gap.end()) : 0;
  const double limit = two_levels_ && depth >= -eps ? std::max(eps, 10 * depth) : eps;
  for (int i = 0; i < l.count; ++i)
    if (l.gap[at(i)] <= limit) contacts_->active.push_back(i);
  if (contacts_->active.empty()) return true;
  const auto e = system_->evaluation({Quantity::momentum_z, Quantity::constraint_rate_z});
  e->at(t1, x_.data(), x_.data() + n_, state.psi.data());
  if (!contacts_->factor((*e)[Quantity::momentum_z], (*e)[Quantity::constraint_rate_z])) return false;

  const int rows = contacts_->rows();
  before_.resize(at(rows));
  contacts_->velocities(state.z.data(), before_.data());
  shift_.assign(at(rows), 0.0);
  for (std::size_t a = 0; a < contacts_->active.size(); ++a)
    shift_[a * at(d)] = l.restitution[at(contacts_->active[a])] * before_[a * at(d)];
  gap_.resize(at(l.count));
  const std::vector<double> y_free = y_star_, z_free = z_star_;
  lambda_ = Eigen::VectorXd::Zero(rows);
  Eigen::VectorXd nu = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(contacts_->active.size()));
  asleep_.assign(contacts_->active.size(), 0);
  double last = INFINITY;
  for (int iteration = 0; iteration < 30; ++iteration) {
    const Eigen::VectorXd old_nu = nu, old_lambda = lambda_;
    contacts_->finder().gaps(t1, x_.data(), l, gap_.data());
    if (two_levels_ && !update_jump(true, h, nu)) return false;
    for (int a = 0; two_levels_ && a < nu.size(); ++a) asleep_[at(a)] = !(nu[a] > 0);  // no impulse without contact
    if (!update_jump(false, h, lambda_)) return false;
    double change = 0;
    y_star_ = y_free, z_star_ = z_free;
    for (int k = 0; k < rows; ++k) {
      const double* column = contacts_->response(k);
      axpy(lambda_[k], column, n_, z_star_.data());
      if (!two_levels_) axpy(h / 2 * lambda_[k], column, n_, y_star_.data());
      if (two_levels_ && k % d == 0) axpy(nu[k / d], column, n_, y_star_.data());
      const double size = biggest(column, n_);
      change = larger(change, size * std::abs(lambda_[k] - old_lambda[k]));
      if (two_levels_ && k % d == 0) change = larger(change, size * std::abs(nu[k / d] - old_nu[k / d]) / std::abs(h));
    }
    if (!solve(t1, h, convergence)) return false;
    const double scale = biggest(x_.data() + n_, n_) + biggest(state.z.data(), n_) +
                         biggest(x_.data(), n_) / std::abs(h) + std::abs(h) * biggest(a_.data(), n_) +
                         std::abs(h) * biggest(w_.data(), n_);
    if (change <= 1e-15 * scale || (change <= 1e-11 * scale && change >= 0.5 * last)) {
      contacts_->count_energy(lambda_.data(), state.z.data(), x_.data() + n_);
      return true;
    }
    last = change;
  }
  contacts_->failure = "forces and contacts do not settle; shorten the step";
  return false;
}

}  // namespace hinge
