#include "solve/saddle_point.hpp"

#include <algorithm>

namespace hinge {

SchurComplement::SchurComplement(const Pattern& a, const Pattern& b, const Pattern& c, LinearAlgebra choice)
    : mass_(a) {
  applicable_ = mass_.largest() <= largest_mass_block;
  if (!applicable_) return;
  inverse_.resize(mass_.pattern().entries());
  if (c.rows == 0) return;
  inverse_times_b_ = SparseProduct(mass_.pattern(), b);
  c_times_ = SparseProduct(c, inverse_times_b_.pattern());
  inverse_b_.resize(inverse_times_b_.pattern().entries());
  schur_.resize(c_times_.pattern().entries());
  solver_ = make_linear_solver(c_times_.pattern(), choice);
}

bool SchurComplement::factor(const double* a, const double* b, const double* c) {
  factored_ = mass_.compute(a, inverse_.data());
  if (!factored_ || !solver_) return factored_;
  inverse_times_b_.multiply(inverse_.data(), b, inverse_b_.data());
  c_times_.multiply(c, inverse_b_.data(), schur_.data());
  return factored_ = solver_->factor(schur_.data());
}

void SchurComplement::solve_mass(const double* x, double* out) const {
  if (mass_.largest() == 1) {
    for (std::size_t i = 0; i < inverse_.size(); ++i) out[i] = inverse_[i] * x[i];
    return;
  }
  std::fill_n(out, mass_.pattern().rows, 0.0);
  multiply_add(mass_.pattern(), inverse_.data(), x, 1.0, out);
}

void SchurComplement::solve(double* x) {
  if (solver_) solver_->solve(x);
}

SaddlePoint::SaddlePoint(const Pattern& a, const Pattern& b, const Pattern& c, LinearAlgebra choice) {
  const int n = a.rows, m = c.rows;
  PatternBuilder builder(n + m, n + m);
  const auto insert = [&builder](const Pattern& p, int row0, int column0) {
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        builder.add(row0 + i, column0 + p.column[static_cast<std::size_t>(k)]);
  };
  insert(a, 0, 0);
  insert(b, 0, n);
  insert(c, n, 0);
  std::vector<int> place;
  const Pattern pattern = builder.build(place);
  const auto a_end = place.begin() + static_cast<std::ptrdiff_t>(a.entries());
  const auto b_end = a_end + static_cast<std::ptrdiff_t>(b.entries());
  place_a_.assign(place.begin(), a_end);
  place_b_.assign(a_end, b_end);
  place_c_.assign(b_end, place.end());
  values_.resize(pattern.entries());
  solver_ = make_linear_solver(pattern, choice);
}

bool SaddlePoint::factor(const double* a, const double* b, double factor, const double* c) {
  for (std::size_t k = 0; k < place_a_.size(); ++k) values_[static_cast<std::size_t>(place_a_[k])] = a[k];
  for (std::size_t k = 0; k < place_b_.size(); ++k) values_[static_cast<std::size_t>(place_b_[k])] = -factor * b[k];
  for (std::size_t k = 0; k < place_c_.size(); ++k) values_[static_cast<std::size_t>(place_c_[k])] = c[k];
  return solver_->factor(values_.data());
}

}  // namespace hinge
