// Complex linear systems with the pattern of a real one: the shifted matrices of implicit Runge-Kutta methods.
#pragma once

#include <complex>
#include <memory>

#include "hinge/solve.hpp"

namespace hinge {

/// As LinearSolver, for complex numbers. The matrix is taken as it is: rows and columns are to be scaled before.
class ComplexLinearSolver {
 public:
  virtual ~ComplexLinearSolver() = default;
  /// Factorises; `values` in the pattern's order. False when the matrix is singular to working precision.
  virtual bool factor(const std::complex<double>* values) = 0;
  /// x <- A^-1 x
  virtual void solve(std::complex<double>* x) = 0;
};

/// The same choice between dense and sparse as make_linear_solver().
std::unique_ptr<ComplexLinearSolver> make_complex_solver(const Pattern& pattern, LinearAlgebra choice);

}  // namespace hinge
