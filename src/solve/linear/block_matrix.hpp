// A square sparse matrix that is put together from blocks with fixed patterns at fixed places: a Newton matrix.
//
//   BlockMatrix m(size);
//   const int mass = m.place(p_z, row, column);   // once for every block
//   m.finish(choice);                             // then the pattern is known
//   m.clear(); m.add(mass, 1.0, values); m.factor(); m.solve(x);
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "solve/linear/linear.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

class BlockMatrix {
 public:
  explicit BlockMatrix(int size) : size_(size), builder_(std::make_unique<PatternBuilder>(size, size)) {}

  int size() const { return size_; }
  /// A block whose first entry stands at (row, column); blocks may overlap and then add up. Returns its number.
  int place(const Pattern& pattern, int row, int column);
  void finish(LinearAlgebra choice);

  void clear() { std::fill(values_.begin(), values_.end(), 0.0); }
  void add(int block, double factor, const double* values);
  bool factor() { return solver_->factor(values_.data()); }
  void solve(double* x) { solver_->solve(x); }
  int determinant_sign() { return solver_->determinant_sign(); }

 private:
  int size_;
  std::unique_ptr<PatternBuilder> builder_;
  std::vector<std::size_t> first_;  // of each block: where its entries begin in where_
  std::vector<int> where_;          // of each entry: its position among the values
  std::size_t entries_ = 0;
  std::vector<double> values_;
  std::unique_ptr<LinearSolver> solver_;
};

/// Pattern of the identity.
Pattern identity_pattern(int size);

}  // namespace hinge
