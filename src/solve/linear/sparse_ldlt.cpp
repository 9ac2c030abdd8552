#include "solve/linear/sparse_ldlt.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include <amd.h>

#include "solve/index.hpp"

namespace hinge {

SparseLdlt::SparseLdlt(const std::vector<int>& begin, const std::vector<int>& neighbours, double most)
    : rows_(static_cast<int>(begin.size()) - 1) {
  tridiagonal_ = along_paths(begin, neighbours);
  usable_ = tridiagonal_ || by_minimum_degree(begin, neighbours, most);
  if (!usable_) return;
  place_entries(begin, neighbours);
  inverse_.resize(at(rows_));
  if (tridiagonal_) {
    multiplications_ = 2.0 * rows_;
    l_.resize(at(rows_));
  }
}

// The rows along paths, one path after the other; false where a row meets more than two others, or a path is closed.
bool SparseLdlt::along_paths(const std::vector<int>& begin, const std::vector<int>& neighbours) {
  const auto degree = [&](int i) { return begin[at(i) + 1] - begin[at(i)]; };
  for (int i = 0; i < rows_; ++i)
    if (degree(i) > 2) return false;
  std::vector<char> taken(at(rows_), 0);
  for (int first = 0; first < rows_; ++first) {
    if (taken[at(first)] || degree(first) > 1) continue;
    for (int i = first; i >= 0;) {
      taken[at(i)] = 1;
      order_.push_back(i);
      int next = -1;
      for (int k = begin[at(i)]; k < begin[at(i) + 1]; ++k)
        if (!taken[at(neighbours[at(k)])]) next = neighbours[at(k)];
      i = next;
    }
  }
  if (static_cast<int>(order_.size()) == rows_) return true;
  order_.clear();
  return false;
}

bool SparseLdlt::by_minimum_degree(const std::vector<int>& begin, const std::vector<int>& neighbours, double most) {
  order_.resize(at(rows_));
  const int status = amd_order(rows_, begin.data(), neighbours.data(), order_.data(), nullptr, nullptr);
  if (status == AMD_OUT_OF_MEMORY) throw std::bad_alloc();
  if (status < AMD_OK) return false;
  std::vector<int> place(at(rows_)), parent(at(rows_), -1), ancestor(at(rows_), -1), seen(at(rows_), -1);
  for (int k = 0; k < rows_; ++k) place[at(order_[at(k)])] = k;
  // Row k of L has the entries that lie, in the tree of eliminations, between those of row k of S and k itself.
  std::vector<int> count(at(rows_), 0);
  pattern_start_.assign(1, 0);
  for (int k = 0; k < rows_; ++k) {
    const int row = order_[at(k)];
    seen[at(k)] = k;
    for (int e = begin[at(row)]; e < begin[at(row) + 1]; ++e)
      for (int i = place[at(neighbours[at(e)])]; i < k && seen[at(i)] != k; i = parent[at(i)]) {
        if (parent[at(i)] < 0) parent[at(i)] = k;
        seen[at(i)] = k;
        pattern_.push_back(i);
        multiplications_ += ++count[at(i)] + 1;
      }
    if (multiplications_ > most) return false;
    std::sort(pattern_.begin() + pattern_start_.back(), pattern_.end());
    pattern_start_.push_back(static_cast<int>(pattern_.size()));
  }
  l_start_.assign(1, 0);
  for (const int n : count) l_start_.push_back(l_start_.back() + n);
  l_end_ = l_start_;
  l_row_.resize(pattern_.size());
  for (int k = 0; k < rows_; ++k)
    for (int p = pattern_start_[at(k)]; p < pattern_start_[at(k) + 1]; ++p)
      l_row_[at(l_end_[at(pattern_[at(p)])]++)] = k;
  l_.resize(pattern_.size());
  work_.assign(at(rows_), 0.0);
  return true;
}

void SparseLdlt::place_entries(const std::vector<int>& begin, const std::vector<int>& neighbours) {
  std::vector<int> place(at(rows_));
  for (int k = 0; k < rows_; ++k) place[at(order_[at(k)])] = k;
  for (int k = 0; k < rows_; ++k) {
    const int row = order_[at(k)];
    for (int e = begin[at(row)]; e < begin[at(row) + 1]; ++e)
      if (const int j = place[at(neighbours[at(e)])]; j < k) column_.push_back(j);
    std::sort(column_.begin() + row_start_.back(), column_.end());
    if (tridiagonal_ && k > 0 && static_cast<int>(column_.size()) == row_start_.back()) column_.push_back(k - 1);
    column_.push_back(k);
    row_start_.push_back(static_cast<int>(column_.size()));
  }
}

// Row after row: y = the row of S, then for each entry of the row of L in turn  y_j is final,  l = y_j / d_j.
bool SparseLdlt::factor(double* values) {
  weakest_ = 1;
  if (tridiagonal_) return factor_tridiagonal(values);
  double* const y = work_.data();
  std::copy(l_start_.begin(), l_start_.end() - 1, l_end_.begin());
  for (int k = 0; k < rows_; ++k) {
    const int last = row_start_[at(k) + 1] - 1;
    for (int e = row_start_[at(k)]; e < last; ++e) y[column_[at(e)]] = values[e];
    const double whole = values[last];
    double pivot = whole;
    for (int p = pattern_start_[at(k)]; p < pattern_start_[at(k) + 1]; ++p) {
      const int j = pattern_[at(p)];
      const double value = y[j];
      y[j] = 0;
      int& end = l_end_[at(j)];
      for (int e = l_start_[at(j)]; e < end; ++e) y[l_row_[at(e)]] -= l_[at(e)] * value;
      const double l = value * inverse_[at(j)];
      pivot -= l * value;
      l_[at(end++)] = l;
    }
    if (!(pivot > weak * whole)) {
      std::fill(work_.begin(), work_.end(), 0.0);
      return false;
    }
    weakest_ = std::min(weakest_, pivot / whole);
    inverse_[at(k)] = 1 / pivot;
    if (!std::isfinite(inverse_[at(k)])) return false;
  }
  return true;
}

void SparseLdlt::solve(double* x) const {
  if (tridiagonal_) return solve_tridiagonal(x);
  for (int j = 0; j < rows_; ++j) {
    const double value = x[j];
    for (int e = l_start_[at(j)]; e < l_start_[at(j) + 1]; ++e) x[l_row_[at(e)]] -= l_[at(e)] * value;
  }
  for (int j = rows_; j-- > 0;) {
    double sum = x[j] * inverse_[at(j)];
    for (int e = l_start_[at(j)]; e < l_start_[at(j) + 1]; ++e) sum -= l_[at(e)] * x[l_row_[at(e)]];
    x[j] = sum;
  }
}

// l_[i] couples rows i and i + 1, and belongs to the one of them that is eliminated first. The row in the middle is
// left to the end, and gets what both sides have for it. Entries: the diagonal at 2 i, the one before it at 2 i - 1.
bool SparseLdlt::factor_tridiagonal(const double* values) {
  const int n = rows_, middle = n / 2;
  if (n == 0) return true;
  double *const l = l_.data(), *const inverse = inverse_.data();
  double up = values[0], down = values[2 * n - 2], from_below = 0;
  double weakest[2] = {1, 1}, of[2] = {1, 1};  // the smallest pivot / diagonal so far, compared without a division
  const auto compare = [&](int side, double pivot, double diagonal) {
    if (!(pivot * of[side] < weakest[side] * diagonal)) return;
    weakest[side] = pivot;
    of[side] = diagonal;
  };
  int i = 0, j = n - 1;
  const auto forward = [&] {
    compare(0, up, values[2 * i]);
    inverse[i] = 1 / up;
    const double coupling = values[2 * i + 1];
    l[i] = coupling * inverse[i];
    up = values[2 * i + 2] - coupling * l[i];
    ++i;
  };
  const auto backward = [&] {
    compare(1, down, values[2 * j]);
    inverse[j] = 1 / down;
    const double coupling = values[2 * j - 1];
    l[j - 1] = coupling * inverse[j];
    from_below = coupling * l[j - 1];
    --j;
    down = values[2 * j] - from_below;
  };
  while (i < middle && j > middle) {
    forward();
    backward();
  }
  while (i < middle) forward();  // one more, where the number of rows is even
  const double both = up - from_below;
  compare(0, both, values[2 * middle]);
  inverse[middle] = 1 / both;
  weakest_ = std::min(weakest[0] / of[0], weakest[1] / of[1]);
  if (!(weakest_ > weak)) return false;
  // An infinite or undefined number anywhere makes one of these so; a negative pivot was found above.
  double sum[4] = {0, 0, 0, 0};
  int k = 0;
  for (; k + 4 <= n; k += 4)
    for (int lane = 0; lane < 4; ++lane) sum[lane] += inverse[k + lane];
  for (; k < n; ++k) sum[0] += inverse[k];
  const double all = sum[0] + sum[1] + sum[2] + sum[3];
  return all > 0 && std::isfinite(all);
}

void SparseLdlt::solve_tridiagonal(double* x) const {
  const int n = rows_, middle = n / 2;
  if (n == 0) return;
  const double *const l = l_.data(), *const inverse = inverse_.data();
  double up = x[0], down = x[n - 1];
  int i = 0, j = n - 1;
  for (; i + 1 < middle && j - 1 > middle; ++i, --j) {
    x[i + 1] = up = x[i + 1] - l[i] * up;
    x[j - 1] = down = x[j - 1] - l[j - 1] * down;
  }
  for (; i + 1 < middle; ++i) x[i + 1] = up = x[i + 1] - l[i] * up;
  for (; j - 1 > middle; --j) x[j - 1] = down = x[j - 1] - l[j - 1] * down;
  double sum = x[middle];
  if (middle > 0) sum -= l[middle - 1] * up;
  if (middle < n - 1) sum -= l[middle] * down;
  x[middle] = up = down = sum * inverse[middle];
  for (i = j = middle; i > 0 && j < n - 1; --i, ++j) {
    x[i - 1] = up = x[i - 1] * inverse[i - 1] - l[i - 1] * up;
    x[j + 1] = down = x[j + 1] * inverse[j + 1] - l[j] * down;
  }
  for (; i > 0; --i) x[i - 1] = up = x[i - 1] * inverse[i - 1] - l[i - 1] * up;
}

}  // namespace hinge
