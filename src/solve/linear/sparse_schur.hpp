// The saddle-point matrix of large mechanisms under ideal constraints,
//
//   [ A   C^T ] [x  ]   [a]      A symmetric, in small blocks: point masses, bodies
//   [ C    0  ] [mu ] = [b]
//
// by its Schur complement  S = C A^-1 C^T = L D L^T  with everything about positions worked out once:
//   W^T = C A^-1,   mu = S^-1 (W^T a - b),   x = A^-1 a - W mu.
// A constraint meets the few that share a body with it, so S is sparse, and a factorisation costs a multiple of their
// number. Where many constraints meet at one body S is full while the whole matrix is not: then this is not usable().
#pragma once

#include <vector>

#include "hinge/solve.hpp"
#include "solve/linear/sparse_ldlt.hpp"

namespace hinge {

class SparseSchur {
 public:
  /// `constant_mass`: A never changes, so its inverse is computed once.
  SparseSchur(const Pattern& a, const Pattern& c, bool constant_mass);

  bool usable() const { return usable_; }
  /// False where S is of no use: A not symmetric, not positive or nearly singular, S nearly singular.
  bool factor(const double* a, const double* c);
  /// Both in place. One step of refinement where S is doubtful.
  void solve(double* x, double* mu);
  bool refines() const { return refines_; }
  const SparseLdlt& complement() const { return ldlt_; }

 private:
  struct Block {
    int first, size;      // rows first, ..., first + size - 1 of order_
    std::size_t inverse;  // where its inverse begins, row by row
  };
  struct Row {              // of C and of W^T, in the order of elimination
    int c, c_end, w, runs;  // its entries, and where its runs begin
  };
  struct Segment {                  // of a row of W^T: the rows of one block
    int block, w, first_part, end;  // where it begins, and the entries of C it comes from
  };
  struct Part {
    int c, local;
  };
  // `unit_` numbers side by side: loops over runs have their length at compile time
  struct Run {
    int first, second;
  };
  struct Taker {
    int row, w;  // of W^T; where its entries of the point begin
  };
  bool find_blocks(const Pattern& a);
  bool order_constraints(const Pattern& a, const Pattern& c);
  void lay_out_rows(const Pattern& c);
  void find_runs(const Pattern& c);
  void find_takers();
  bool invert_mass(const double* a);
  void multiply_blocks(const double* c);
  template <int U, bool points>
  void fill_schur(const double* c);
  void apply_inverse_mass(double* x);
  template <int U>
  void solve_once(double* x, double* mu);
  template <int U>
  void take_all(double* x, double* mu) const;
  template <int U>
  void solve_with(double* x, double* mu);

  int nz_, m_, unit_ = 1;
  bool constant_mass_, usable_ = false, have_mass_ = false, diagonal_ = false, refines_ = false;
  SparseLdlt ldlt_;
  std::vector<Block> blocks_;
  std::vector<int> order_, block_of_, local_;  // rows block after block; of each row its block and its place in it
  std::vector<int> place_, mirror_;            // of each entry of A: in inverse_, and its mirror image in A
  std::vector<Row> rows_;
  std::vector<int> w_column_, c_column_;
  std::vector<Segment> segments_;
  std::vector<Part> parts_;
  std::vector<int> product_start_;  // of each entry of S
  std::vector<Run> products_;       // entries of C, entries of W
  std::vector<Run> w_runs_;         // of rows of W^T: entries, columns
  std::vector<Taker> takers_;       // point after point
  std::vector<int> taker_end_;      // of each
  std::vector<double> inverse_, w_inverse_, work_, w_, c_, schur_, mu_, right_, x_;
};

}  // namespace hinge
