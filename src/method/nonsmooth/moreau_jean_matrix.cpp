#include "method/nonsmooth/moreau_jean_matrix.hpp"

#include <algorithm>

#include "solve/index.hpp"

namespace hinge {

namespace {

using Q = Quantity;

}  // namespace

MoreauJeanMatrix::MoreauJeanMatrix(std::shared_ptr<const System> system, bool forces, const SpinBalance* spins)
    : system_(std::move(system)), constant_mass_(system_->is_constant(Q::momentum_z)), spins_(spins) {
  const Pattern &mass = system_->pattern(Q::momentum_z), &f_y = system_->pattern(Q::force_y),
                &f_z = system_->pattern(Q::force_z);
  const bool direct = system_->structure().velocity_is_z;
  forces = forces && !(f_y.empty() && f_z.empty());
  PatternBuilder builder(system_->nz(), system_->nz());
  const auto add = [&](const Pattern& p) {
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) builder.add(i, p.column[at(k)]);
  };
  add(mass);
  if (forces) {
    add(f_z);
    if (!direct) {
      product_ = SparseProduct(f_y, system_->pattern(Q::velocity_z));
      product_values_.resize(product_.pattern().entries());
    }
    add(direct ? f_y : product_.pattern());
    std::vector<int> unused;
    add(transposed(builder.build(unused), unused));  // room for the symmetric part
  }
  std::size_t blocks = 0;
  if (spins_)
    for (const SpinBalance::Body& b : spins_->bodies()) {
      if (b.isotropic()) continue;
      for (int k = 0; k < 9; ++k) builder.add(b.spin + k / 3, b.spin + k % 3);
      ++blocks;
    }
  std::vector<int> place;
  pattern_ = builder.build(place);
  const auto begin = place.begin();
  spin_place_.assign(place.end() - static_cast<std::ptrdiff_t>(9 * blocks), place.end());
  const auto n = static_cast<std::ptrdiff_t>(mass.entries()), n_z = static_cast<std::ptrdiff_t>(f_z.entries()),
             n_y = static_cast<std::ptrdiff_t>(direct ? f_y.entries() : product_.pattern().entries());
  mass_place_.assign(begin, begin + n);
  if (!forces) return;
  force_z_place_.assign(begin + n, begin + n + n_z);
  force_y_place_.assign(begin + n + n_z, begin + n + n_z + n_y);
  transposed(pattern_, mirror_);
  Quantities wanted{Q::force_y, Q::force_z};
  if (!direct) wanted.insert(Q::velocity_z);
  derivatives_ = system_->evaluation(wanted);
}

void MoreauJeanMatrix::mass(const double* M, double* S) const {
  std::fill_n(S, pattern_.entries(), 0.0);
  for (std::size_t k = 0; k < mass_place_.size(); ++k) S[mass_place_[k]] += M[k];
}

void MoreauJeanMatrix::assemble(const double* M, double step, bool symmetric, double* S) const {
  mass(M, S);
  if (!has_forces()) return;
  const Evaluation& e = *derivatives_;
  const double *f_y = e[Q::force_y], *f_z = e[Q::force_z];
  if (!product_values_.empty()) {
    product_.multiply(f_y, e[Q::velocity_z], product_values_.data());
    f_y = product_values_.data();
  }
  for (std::size_t k = 0; k < force_y_place_.size(); ++k) S[force_y_place_[k]] -= step * step * f_y[k];
  // with a mass that changes, f_z and p_y cancel in part; the iteration does without them then
  if (constant_mass_)
    for (std::size_t k = 0; k < force_z_place_.size(); ++k) S[force_z_place_[k]] -= step * f_z[k];
  if (spins_) {
    const int* block = spin_place_.data();
    for (const SpinBalance::Body& b : spins_->bodies()) {
      if (b.isotropic()) continue;
      for (int k = 0; k < 3; ++k) {  // the torque (J1 - J2) w1 w2, cyclic
        const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        const double factor = step * (b.J[k1] - b.J[k2]), *w = spins_at_ + b.spin;
        S[block[3 * k + k1]] += factor * w[k2];
        S[block[3 * k + k2]] += factor * w[k1];
      }
      block += 9;
    }
  }
  if (!symmetric) return;
  for (int k = 0; k < static_cast<int>(mirror_.size()); ++k)
    if (mirror_[at(k)] > k) S[k] = S[mirror_[at(k)]] = (S[k] + S[mirror_[at(k)]]) / 2;
}

void MoreauJeanMatrix::middle_inertias(const double* z, double h, double* S) const {
  const int* block = spin_place_.data();
  for (const SpinBalance::Body& b : spins_->bodies()) {
    if (b.isotropic()) continue;
    const double* w = z + b.spin;
    if (w[0] != 0 || w[1] != 0 || w[2] != 0) {
      double J[9];
      SpinBalance::middle_inertia(b, z, h, J);
      for (int k = 0; k < 9; ++k) S[block[k]] += J[k] - (k % 4 == 0 ? b.J[k / 4] : 0);
    }
    block += 9;
  }
}

}  // namespace hinge
