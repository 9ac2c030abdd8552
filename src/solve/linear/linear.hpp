// Factorise once, solve often: one interface for small dense and large sparse systems.
#pragma once

#include <memory>

#include "hinge/solve.hpp"

namespace hinge {

/// A factorisation of square matrices that share one pattern. After the first factor() nothing is allocated, except
/// by the sparse one when it has to choose new pivots.
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// Factorises; `values` in the pattern's order. False when the matrix is singular to working precision.
  virtual bool factor(const double* values) = 0;
  /// x <- A^-1 x
  virtual void solve(double* x) = 0;
  /// Sign of the determinant of what was factorised last: 1 or -1.
  virtual int determinant_sign() = 0;
  /// "dense LU", "sparse LU (KLU)".
  virtual const char* name() const = 0;
};

/// Is a matrix with this pattern better treated as dense? What LinearAlgebra::automatic means.
bool prefers_dense(const Pattern& pattern);

/// Eigen's LU with partial pivoting, or KLU with its symbolic analysis done here, once.
std::unique_ptr<LinearSolver> make_linear_solver(const Pattern& pattern, LinearAlgebra choice);

}  // namespace hinge
