#include "solve/linear/block_matrix.hpp"

namespace hinge {

int BlockMatrix::place(const Pattern& pattern, int row, int column) {
  first_.push_back(entries_);
  for (int i = 0; i < pattern.rows; ++i)
    for (auto k = pattern.row_start[static_cast<std::size_t>(i)];
         k < pattern.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      builder_->add(row + i, column + pattern.column[static_cast<std::size_t>(k)]);
  entries_ += pattern.entries();
  return static_cast<int>(first_.size()) - 1;
}

void BlockMatrix::finish(LinearAlgebra choice) {
  const Pattern pattern = builder_->build(where_);
  builder_.reset();
  first_.push_back(entries_);
  values_.resize(pattern.entries());
  solver_ = make_linear_solver(pattern, choice);
}

void BlockMatrix::add(int block, double factor, const double* values) {
  if (factor == 0) return;
  const auto begin = first_[static_cast<std::size_t>(block)], end = first_[static_cast<std::size_t>(block) + 1];
  for (auto k = begin; k < end; ++k) values_[static_cast<std::size_t>(where_[k])] += factor * values[k - begin];
}

Pattern identity_pattern(int size) {
  Pattern identity{size, size, {0}, {}};
  for (int k = 0; k < size; ++k) {
    identity.column.push_back(k);
    identity.row_start.push_back(k + 1);
  }
  return identity;
}

}  // namespace hinge
