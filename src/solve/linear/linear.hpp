// Factorise once, solve often: one interface for small dense and large sparse systems, real and complex.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

/// What stands behind the solvers: full LU, compact LU, KLU.
template <class Number>
class Factors {
 public:
  virtual ~Factors() = default;
  /// `values` in the pattern's order, all finite. False when the matrix is singular: a pivot (KLU: the reciprocal
  /// condition number) is less than `ratio` times the largest.
  virtual bool factor(const Number* values, double ratio) = 0;
  /// x <- A^-1 x
  virtual void solve(Number* x) = 0;
  /// x <- C A^-1 R x with diagonal matrices R and C.
  virtual void solve(Number* x, const double* r, const double* c) = 0;
  /// Sign of a real determinant.
  virtual int determinant_sign() = 0;
  virtual const char* name() const = 0;
};

/// A factorisation of square matrices that share one pattern. After the first factor() nothing is allocated, except
/// by the sparse one when it has to choose new pivots.
///
/// Rows and then columns are scaled to a largest entry between 1 and 2, so that units do not decide what is singular:
/// A x = b  becomes  (R A C) (C^-1 x) = R b.  Powers of two, so that scaling does not round.
template <class Number>
class ScaledSolver {
 public:
  ScaledSolver(const Pattern& pattern, LinearAlgebra choice);
  /// Factorises; `values` in the pattern's order. False when the matrix is singular to working precision.
  bool factor(const Number* values);
  /// x <- A^-1 x
  void solve(Number* x) {
    if (pattern_.rows > 0) factors_->solve(x, row_scale_.data(), column_scale_.data());
  }
  /// Sign of a real determinant of what was factorised last: 1 or -1.
  int determinant_sign() { return pattern_.rows > 0 ? factors_->determinant_sign() : 1; }
  /// "dense LU", "compact LU", "sparse LU (KLU)".
  const char* name() const { return factors_->name(); }

 private:
  bool factor_balanced(const Number* values, double ratio);

  Pattern pattern_;
  std::vector<Number> scaled_;
  std::vector<double> row_scale_, column_scale_;
  std::unique_ptr<Factors<Number>> factors_;
};

using LinearSolver = ScaledSolver<double>;
/// The shifted matrices of implicit Runge-Kutta methods.
using ComplexLinearSolver = ScaledSolver<std::complex<double>>;

/// Is a matrix with this pattern better treated as dense? What LinearAlgebra::automatic means.
bool prefers_dense(const Pattern& pattern);

std::unique_ptr<LinearSolver> make_linear_solver(const Pattern& pattern, LinearAlgebra choice);
std::unique_ptr<ComplexLinearSolver> make_complex_solver(const Pattern& pattern, LinearAlgebra choice);

}  // namespace hinge
