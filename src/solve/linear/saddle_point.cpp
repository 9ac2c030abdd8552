#include "solve/linear/saddle_point.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"

namespace hinge {

namespace {

struct Numbers {
  bool strong = true;
  void demand_strong(double pivot, double at_first) {
    strong = strong && weak_pivot * std::abs(at_first) < std::abs(pivot);
  }
  static double inverse(double a) { return 1 / a; }
  static double times(double a, double b) { return a * b; }
  static double minus(double a, double b) { return a - b; }
  static double negate(double a) { return -a; }
};

}  // namespace

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
  if (c.rows <= largest_inverse) schur_inverse_.resize(static_cast<std::size_t>(c.rows * c.rows));
}

bool SchurComplement::factor(const double* a, const double* b, const double* c) {
  return factored_ = multiply(a, b, c) && factor_schur();
}

bool SchurComplement::factor_in_order(const double* a, const double* b, const double* c) {
  return factored_ = multiply(a, b, c) && ((!schur_inverse_.empty() && invert_schur()) || factor_schur());
}

// A^-1 and S
bool SchurComplement::multiply(const double* a, const double* b, const double* c) {
  if (!mass_.compute(a, inverse_.data())) return false;
  if (!solver_) return true;
  inverse_times_b_.multiply(inverse_.data(), b, inverse_b_.data());
  c_times_.multiply(c, inverse_b_.data(), schur_.data());
  return true;
}

bool SchurComplement::factor_schur() {
  if (!solver_) return true;
  if (!solver_->factor(schur_.data())) return false;
  if (schur_inverse_.empty()) return true;
  const auto m = static_cast<std::size_t>(c_times_.pattern().rows);
  for (std::size_t j = 0; j < m; ++j) {
    double column[largest_inverse] = {};
    column[j] = 1;
    solver_->solve(column);
    for (std::size_t i = 0; i < m; ++i) schur_inverse_[i * m + j] = column[i];
  }
  return true;
}

// False where rows should be exchanged, or nothing helps.
bool SchurComplement::invert_schur() {
  const Pattern& s = c_times_.pattern();
  std::fill(schur_inverse_.begin(), schur_inverse_.end(), 0.0);
  for (int i = 0; i < s.rows; ++i)
    for (int k = s.row_start[at(i)]; k < s.row_start[at(i) + 1]; ++k)
      schur_inverse_[at(i * s.rows + s.column[at(k)])] = schur_[at(k)];
  Numbers numbers;
  invert_in_order(numbers, schur_inverse_.data(), s.rows);
  double sum = 0;
  for (const double x : schur_inverse_) sum += std::abs(x);
  return numbers.strong && std::isfinite(sum);
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
  if (!solver_) return;
  if (schur_inverse_.empty()) return solver_->solve(x);
  const int m = c_times_.pattern().rows;
  double sum[largest_inverse] = {};
  const double* entry = schur_inverse_.data();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) sum[i] += *entry++ * x[j];
  for (int i = 0; i < m; ++i) x[i] = sum[i];
}

SaddlePoint::SaddlePoint(const Pattern& a, const Pattern& b, const Pattern& c, LinearAlgebra choice)
    : matrix_(a.rows + c.rows) {
  matrix_.place(a, 0, 0);
  matrix_.place(b, 0, a.rows);
  matrix_.place(c, a.rows, 0);
  matrix_.finish(choice);
}

bool SaddlePoint::factor(const double* a, const double* b, double factor, const double* c) {
  matrix_.clear();
  matrix_.add(0, 1.0, a);
  matrix_.add(1, -factor, b);
  matrix_.add(2, 1.0, c);
  return matrix_.factor();
}

}  // namespace hinge
