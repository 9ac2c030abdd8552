// The linear algebra under every constrained step:
//
//   [ A   -B ] [x  ]   [a]        A = p_z (nz x nz),  B = r_psi (nz x m),  C = g_y v_z (m x nz)
//   [ C    0 ] [mu ] = [b]
//
// SchurComplement keeps A^-1 and the factorised small matrix  S = C A^-1 B  for as long as its user likes;
// SaddlePoint factorises the whole matrix, which also works when A is singular but regular on the kernel of C.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hinge/solve.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

class SchurComplement {
 public:
  /// Above this block size an explicit inverse of A costs more than it saves.
  static constexpr int largest_mass_block = 64;

  SchurComplement(const Pattern& a, const Pattern& b, const Pattern& c, LinearAlgebra choice);

  /// False when A does not fall apart into small blocks: then S would be full, and SaddlePoint is the better tool.
  bool applicable() const { return applicable_; }
  /// Computes A^-1 and factorises S. False when either is singular.
  bool factor(const double* a, const double* b, const double* c);
  /// The same; where S^-1 is written down, by fewer operations, with pivots as they come unless one is weak.
  bool factor_in_order(const double* a, const double* b, const double* c);
  bool factored() const { return factored_; }
  /// The kept matrices are of no use any more.
  void forget() { factored_ = false; }
  /// out = A^-1 x
  void solve_mass(const double* x, double* out) const;
  /// The diagonal of A^-1 where A is diagonal, else null: for loops that do several things in one pass.
  const double* diagonal_inverse() const { return mass_.largest() == 1 ? inverse_.data() : nullptr; }
  /// A^-1, and its pattern.
  const double* mass_inverse() const { return inverse_.data(); }
  const Pattern& mass_inverse_pattern() const { return mass_.pattern(); }
  /// x <- S^-1 x
  void solve(double* x);
  /// Up to so many constraints S^-1 is written down, row by row: a product takes less than a call. For increments of
  /// iterations, whose rounding the next one corrects.
  static constexpr int largest_inverse = 4;
  const double* schur_inverse() const { return schur_inverse_.data(); }
  /// One that somebody else has computed, beside the same A^-1 as before.
  void take_inverse(const double* schur_inverse) {
    std::copy_n(schur_inverse, schur_inverse_.size(), schur_inverse_.data());
  }
  const char* solver_name() const { return solver_ ? solver_->name() : "no constraints"; }

 private:
  bool multiply(const double* a, const double* b, const double* c);
  bool factor_schur();
  bool invert_schur();
  bool applicable_ = false, factored_ = false;
  BlockInverse mass_;
  std::vector<double> inverse_, inverse_b_, schur_, schur_inverse_;
  SparseProduct inverse_times_b_, c_times_;
  std::unique_ptr<LinearSolver> solver_;
};

class SaddlePoint {
 public:
  SaddlePoint(const Pattern& a, const Pattern& b, const Pattern& c, LinearAlgebra choice);
  /// Factorises [[a, -factor b], [c, 0]].
  bool factor(const double* a, const double* b, double factor, const double* c);
  /// x = (first nz, then m numbers), in place.
  void solve(double* x) { matrix_.solve(x); }
  int determinant_sign() { return matrix_.determinant_sign(); }

 private:
  BlockMatrix matrix_;
};

}  // namespace hinge
