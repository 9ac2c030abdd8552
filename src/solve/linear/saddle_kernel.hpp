// The saddle-point matrix of mechanisms, factorised anew at every stage of an explicit method:
//
//   [ A   -B ] [x  ]   [a]
//   [ C    0 ] [mu ] = [b]
//
// Where A falls apart into small, well-conditioned blocks (point masses, bodies, arms) its inverse is written down
// block by block, and only  S = C A^-1 B  is factorised:  mu = S^-1 (b - C A^-1 a),  x = A^-1 (a + B mu). Plain loops
// over flat arrays, no calls. Large mechanisms under ideal constraints go through SparseSchur, the same with a sparse
// S. Everything else, singular A included, goes through SaddlePoint, which also decides what is singular.
#pragma once

#include <memory>
#include <vector>

#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse_schur.hpp"

namespace hinge {

class SaddleKernel {
 public:
  /// Beyond this many constraints, SparseSchur or SaddlePoint.
  static constexpr int most_constraints = 16;
  /// A pivot of S this much smaller than its row: S is not used, SaddlePoint loses fewer digits.
  static constexpr double weak_schur = 1e-9;

  /// `constant_mass`: A never changes, so its inverse is computed once.
  SaddleKernel(const Pattern& a, const Pattern& b, const Pattern& c, bool constant_mass, LinearAlgebra choice);
  /// Where B = -C^T: ideal constraints.
  SaddleKernel(const Pattern& a, const Pattern& c, bool constant_mass, LinearAlgebra choice);

  /// `b` is null where B = -C^T. False when the matrix is singular.
  bool factor(const double* a, const double* b, const double* c);
  bool factored() const { return factored_; }
  /// Was the last matrix factorised by the plain loops here? Then with these exchanges of rows of S.
  bool small() const { return factored_ && !use_full_; }
  const std::vector<int>& exchanges() const { return pivot_; }
  void forget() { factored_ = false; }
  /// x = (nz numbers, then m), in place.
  void solve(double* x) { solve(x, x + nz_); }
  /// The same with the two parts in different places.
  void solve(double* x, double* mu);

 private:
  struct Entry {
    int row, column;
  };
  struct Block {
    int first, size;      // rows first, ..., first + size - 1 of order_
    std::size_t inverse;  // where its inverse begins, row by row
  };
  bool factor_for_size(const double* a, const double* b, const double* c);
  template <int M>
  bool factor_small(const double* a, const double* b, const double* c);
  template <int M>
  void solve_small(double* x, double* multiplier);
  // The same for point masses under ideal constraints, A diagonal and B = -C^T: S = -C A^-1 C^T is symmetric, and
  // nothing but its products of entries of C is computed.
  void prepare_point_masses();
  bool invert_diagonal(const double* a);
  bool factor_point_masses(const double* c);
  void solve_point_masses(double* x, double* multiplier);
  template <int M>
  bool factor_point_masses_of(const double* c);
  template <int M>
  void solve_point_masses_of(double* x, double* multiplier);
  bool invert_mass(const double* a);
  template <int M>
  bool factor_schur();
  void apply_inverse_mass(const double* x, double* out) const;

  int nz_, m_;
  bool small_ = false, diagonal_ = false, constant_mass_, have_mass_ = false, factored_ = false;
  bool use_full_ = false, use_sparse_ = false;
  Pattern a_pattern_, b_pattern_, c_pattern_;
  LinearAlgebra choice_;
  struct Product {
    int first, second;
  };
  std::vector<Product> products_;   // of entries of C that make up C A^-1 C^T, lower triangle, row by row
  std::vector<int> product_start_;  // of each entry of the lower triangle
  std::vector<Product> by_row_;     // entries of C column by column: which, and of which constraint
  std::vector<int> by_row_start_;
  bool point_masses_ = false, by_point_masses_ = false;
  std::vector<double> c_over_mass_;
  std::vector<Entry> b_entries_, c_entries_;
  std::vector<int> b_from_c_;  // entry of B -> entry of C, where B = -C^T
  std::vector<Block> blocks_;
  std::vector<int> order_, place_;  // rows block after block; of each entry of A: where it stands in the blocks
  std::vector<double> inverse_, work_, w_, c_, schur_, u_, b_values_, whole_;
  std::vector<int> pivot_;
  std::unique_ptr<SparseSchur> sparse_;
  std::unique_ptr<SaddlePoint> full_;
};

}  // namespace hinge
