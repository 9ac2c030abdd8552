#include "method/nonsmooth/moreau_jean_matrix.hpp"

#include <algorithm>

namespace hinge {

namespace {

using Q = Quantity;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

MoreauJeanMatrix::MoreauJeanMatrix(std::shared_ptr<const System> system, bool forces)
    : system_(std::move(system)), constant_mass_(system_->is_constant(Q::momentum_z)) {
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
  std::vector<int> place;
  pattern_ = builder.build(place);
  const auto begin = place.begin();
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
  if (!symmetric) return;
  for (int k = 0; k < static_cast<int>(mirror_.size()); ++k)
    if (mirror_[at(k)] > k) S[k] = S[mirror_[at(k)]] = (S[k] + S[mirror_[at(k)]]) / 2;
}

}  // namespace hinge
