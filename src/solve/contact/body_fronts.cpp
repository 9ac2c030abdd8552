#include "solve/contact/body_fronts.hpp"

#include <algorithm>

#include "solve/index.hpp"
#include "solve/linear/dense_lu.hpp"

namespace hinge {

// False where they are what they were.
bool BodyFronts::list_nodes(const SparseRows& A, int size) {
  listed_.resize(at(elements()));
  for (int e = 0; e < elements(); ++e) {
    std::vector<int>& list = listed_[at(e)];
    list.clear();
    for (int row = first_[at(e)]; row < first_[at(e) + 1]; ++row)
      for (SparseRows::InnerIterator entry(A, row); entry; ++entry) {
        const int node = static_cast<int>(entry.col()) / size;
        if (list.empty() || list.back() != node) list.push_back(node);
      }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  if (listed_ == nodes_) return false;
  nodes_.swap(listed_);
  return true;
}

void BodyFronts::bind(const SparseRows& A, int contacts, int rows, int bilateral) {
  const int columns = static_cast<int>(A.cols()), were = columns_;
  const bool was_whole = whole_;
  columns_ = columns;
  first_.clear();
  for (int e = 0; e <= contacts; ++e) first_.push_back(e * rows);
  for (int k = 0; k < bilateral; ++k) first_.push_back(first_.back() + 1);
  whole_ = columns > 0 && A.nonZeros() == A.rows() * A.cols();
  // Bodies of six or three velocities, or single velocities where that does not fit.
  const int size = whole_ ? columns : columns % 6 == 0 ? 6 : columns % 3 == 0 ? 3 : 1;
  const bool anew = list_nodes(A, size) || columns != were || whole_ != was_whole;
  if (anew) fronts_ = FrontalLu(columns / size, size, whole_ ? std::vector<std::vector<int>>{{0}} : nodes_);
  part_.clear();
  std::size_t end = 0;
  operations_ = fronts_.operations();
  for (int e = 0; e < elements(); ++e) {
    const auto n = nodes_[at(e)].size() * at(size), count = at(first_[at(e) + 1] - first_[at(e)]);
    part_.push_back(end);
    end += n * count;
    operations_ += static_cast<double>(n * (n + 3) * count * 2);
  }
  values_.assign(end, 0.0);
  for (int e = 0; e < elements(); ++e) {
    const std::vector<int>& list = nodes_[at(e)];
    double* to = values_.data() + part_[at(e)];
    for (int row = first_[at(e)]; row < first_[at(e) + 1]; ++row, to += list.size() * at(size))
      for (SparseRows::InnerIterator entry(A, row); entry; ++entry) {
        const int column = static_cast<int>(entry.col());
        const auto place = std::lower_bound(list.begin(), list.end(), column / size) - list.begin();
        to[place * size + column % size] = entry.value();
      }
  }
  if (whole_) weighed_.resize(values_.size());
}

// K = A^T C A of an element: a product of three columns by three rows
void BodyFronts::multiply(int e, const Eigen::Matrix3d& C, Eigen::MatrixXd& K) const {
  const Eigen::Index n = K.rows();
  const int count = first_[at(e) + 1] - first_[at(e)];
  const double* A = values_.data() + part_[at(e)];
  for (Eigen::Index j = 0; j < n; ++j) {
    double c[3] = {};
    for (int row = 0; row < count; ++row)
      for (int k = 0; k < count; ++k) c[row] += C(row, k) * A[k * n + j];
    double* to = K.col(j).data();
    for (Eigen::Index i = 0; i < n; ++i) to[i] = c[0] * A[i];
    for (int row = 1; row < count; ++row)
      for (Eigen::Index i = 0; i < n; ++i) to[i] += c[row] * A[row * n + i];
  }
}

// Rows of -C A
void BodyFronts::weigh(int e, const Eigen::Matrix3d& C) {
  const int count = first_[at(e) + 1] - first_[at(e)], rows = first_.back();
  const double* A = values_.data() + part_[at(e)];
  for (int j = 0; j < columns_; ++j)
    for (int row = 0; row < count; ++row) {
      double sum = 0;
      for (int k = 0; k < count; ++k) sum -= C(row, k) * A[k * columns_ + j];
      weighed_[at(j) * at(rows) + at(first_[at(e)] + row)] = sum;
    }
}

void BodyFronts::multiply_whole(Eigen::MatrixXd& K) const {
  const int n = columns_, rows = first_.back();
  subtract_product(n, n, rows, values_.data(), n, weighed_.data(), rows, K.data(), n);
}

}  // namespace hinge
