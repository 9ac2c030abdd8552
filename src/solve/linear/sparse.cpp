#include "solve/linear/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Dense>

#include "solve/index.hpp"

namespace hinge {

Pattern Pattern::dense(int rows, int columns) {
  Pattern p{rows, columns, {0}, {}};
  p.column.reserve(at(rows) * at(columns));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) p.column.push_back(j);
    p.row_start.push_back(static_cast<int>(p.column.size()));
  }
  return p;
}

void multiply_add(const Pattern& a, const double* values, const double* x, double factor, double* y) {
  for (int i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) sum += values[k] * x[a.column[at(k)]];
    y[i] += factor * sum;
  }
}

SparseProduct::SparseProduct(const Pattern& a, const Pattern& b) {
  pattern_.rows = a.rows;
  pattern_.columns = b.columns;
  std::vector<int> place(at(b.columns), -1);
  std::vector<int> row;
  for (int i = 0; i < a.rows; ++i) {
    row.clear();
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) {
      const int j = a.column[at(k)];
      for (int l = b.row_start[at(j)]; l < b.row_start[at(j) + 1]; ++l)
        if (place[at(b.column[at(l)])] < 0) {
          place[at(b.column[at(l)])] = 0;
          row.push_back(b.column[at(l)]);
        }
    }
    std::sort(row.begin(), row.end());
    for (const int c : row) {
      place[at(c)] = static_cast<int>(pattern_.column.size());
      pattern_.column.push_back(c);
    }
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) {
      const int j = a.column[at(k)];
      for (int l = b.row_start[at(j)]; l < b.row_start[at(j) + 1]; ++l)
        terms_.push_back({k, l, place[at(b.column[at(l)])]});
    }
    for (const int c : row) place[at(c)] = -1;
    pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
  }
}

void SparseProduct::multiply(const double* a, const double* b, double* c) const {
  std::fill_n(c, pattern_.entries(), 0.0);
  for (const Term& t : terms_) c[t.c] += a[t.a] * b[t.b];
}

int PatternBuilder::add(int row, int column) {
  row_.push_back(row);
  column_.push_back(column);
  return static_cast<int>(row_.size()) - 1;
}

namespace {

// The numbers 0, 1, ... or those of `before`, sorted by their keys, equal ones in the order in which they came.
std::vector<int> sorted_by(const std::vector<int>& key, const std::vector<int>* before = nullptr) {
  const int last = key.empty() ? -1 : *std::max_element(key.begin(), key.end());
  std::vector<int> next(at(last) + 2, 0), order(key.size());
  for (const int k : key) ++next[at(k) + 1];
  for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  for (std::size_t e = 0; e < key.size(); ++e) {
    const int number = before ? (*before)[e] : static_cast<int>(e);
    order[at(next[at(key[at(number)])]++)] = number;
  }
  return order;
}

}  // namespace

Pattern PatternBuilder::build(std::vector<int>& place) const {
  const std::vector<int> by_column = sorted_by(column_);
  const std::vector<int> order = sorted_by(row_, &by_column);
  Pattern p{rows_, columns_, std::vector<int>(at(rows_) + 1, 0), {}};
  place.assign(row_.size(), 0);
  int last_row = -1, last_column = -1;
  for (const int e : order) {
    if (row_[at(e)] != last_row || column_[at(e)] != last_column) {
      last_row = row_[at(e)];
      last_column = column_[at(e)];
      p.column.push_back(last_column);
      ++p.row_start[at(last_row) + 1];
    }
    place[at(e)] = static_cast<int>(p.column.size()) - 1;
  }
  for (int i = 0; i < rows_; ++i) p.row_start[at(i) + 1] += p.row_start[at(i)];
  return p;
}

Pattern row_range(const Pattern& p, int first, int count) {
  Pattern part{count, p.columns, {0}, {}};
  for (int i = first; i < first + count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    part.column.insert(part.column.end(), p.column.begin() + p.row_start[at], p.column.begin() + p.row_start[at + 1]);
    part.row_start.push_back(static_cast<int>(part.column.size()));
  }
  return part;
}

Pattern transposed(const Pattern& p, std::vector<int>& from) {
  Pattern result{p.columns, p.rows, std::vector<int>(at(p.columns + 1), 0), std::vector<int>(p.entries())};
  for (const int j : p.column) ++result.row_start[at(j + 1)];
  for (int j = 0; j < p.columns; ++j) result.row_start[at(j + 1)] += result.row_start[at(j)];
  from.resize(p.entries());
  std::vector<int> next(result.row_start.begin(), result.row_start.end() - 1);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      const auto place = at(next[at(p.column[at(k)])]++);
      result.column[place] = i;
      from[place] = k;
    }
  return result;
}

std::vector<std::vector<int>> independent_blocks(const Pattern& pattern) {
  const int n = pattern.rows;
  std::vector<int> root(at(n)), number(at(n), -1);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](int i) {
    while (root[at(i)] != i) i = root[at(i)] = root[at(root[at(i)])];
    return i;
  };
  for (int i = 0; i < n; ++i)
    for (int k = pattern.row_start[at(i)]; k < pattern.row_start[at(i) + 1]; ++k)
      root[at(find(i))] = find(pattern.column[at(k)]);
  std::vector<std::size_t> sizes;
  sizes.reserve(at(n));
  for (int i = 0; i < n; ++i) {
    int& own = number[at(find(i))];
    if (own < 0) {
      own = static_cast<int>(sizes.size());
      sizes.push_back(0);
    }
    ++sizes[at(own)];
  }
  std::vector<std::vector<int>> blocks(sizes.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b].reserve(sizes[b]);
  for (int i = 0; i < n; ++i) blocks[at(number[at(find(i))])].push_back(i);
  return blocks;
}

BlockInverse::BlockInverse(const Pattern& pattern) : pattern_(pattern), local_(at(pattern.rows), 0) {
  const std::vector<std::vector<int>> blocks = independent_blocks(pattern);
  std::vector<const std::vector<int>*> block_of(at(pattern.rows));
  for (const std::vector<int>& block : blocks) {
    largest_ = std::max(largest_, static_cast<int>(block.size()));
    for (std::size_t k = 0; k < block.size(); ++k) {
      local_[at(block[k])] = static_cast<int>(k);
      block_of[at(block[k])] = &block;
    }
    if (block.size() > 1) blocks_.push_back(block);
  }
  inverse_pattern_.rows = inverse_pattern_.columns = pattern.rows;
  for (int i = 0; i < pattern.rows; ++i) {
    const std::vector<int>& block = *block_of[at(i)];
    if (block.size() == 1) {
      const bool present = pattern.row_start[at(i)] < pattern.row_start[at(i) + 1];
      single_.push_back({present ? pattern.row_start[at(i)] : -1, inverse_pattern_.row_start[at(i)]});
      single_row_.push_back(i);
    }
    inverse_pattern_.column.insert(inverse_pattern_.column.end(), block.begin(), block.end());
    inverse_pattern_.row_start.push_back(static_cast<int>(inverse_pattern_.column.size()));
  }
  work_.resize(2 * at(largest_) * at(largest_));
}

bool BlockInverse::compute(const double* values, double* inverse) {
  for (std::size_t k = 0; k < single_.size(); ++k) {
    const double x = single_[k].value < 0 ? 0.0 : values[single_[k].value];
    if (x == 0 || !std::isfinite(x)) {
      singular_row_ = single_row_[k];
      return false;
    }
    inverse[single_[k].inverse] = 1 / x;
  }
  for (const auto& block : blocks_) {
    const auto n = static_cast<Eigen::Index>(block.size());
    Eigen::Map<Eigen::MatrixXd> full(work_.data(), n, n), inv(work_.data() + n * n, n, n);
    full.setZero();
    for (Eigen::Index i = 0; i < n; ++i) {
      const int row = block[static_cast<std::size_t>(i)];
      for (int k = pattern_.row_start[at(row)]; k < pattern_.row_start[at(row) + 1]; ++k)
        full(i, local_[at(pattern_.column[at(k)])]) = values[k];
    }
    if (!full.allFinite()) {
      singular_row_ = block.front();
      return false;
    }
    // Gauss-Jordan with row pivoting, in place: blocks are small, and nothing is allocated
    inv.setIdentity();
    const double scale = full.cwiseAbs().maxCoeff();
    for (Eigen::Index c = 0; c < n; ++c) {
      Eigen::Index pivot = 0;
      const double size = full.col(c).tail(n - c).cwiseAbs().maxCoeff(&pivot);
      pivot += c;
      if (!(size > 1e-14 * scale)) {
        singular_row_ = block[static_cast<std::size_t>(pivot)];
        return false;
      }
      if (pivot != c) {
        full.row(c).swap(full.row(pivot));
        inv.row(c).swap(inv.row(pivot));
      }
      const double factor = 1 / full(c, c);
      full.row(c) *= factor;
      inv.row(c) *= factor;
      for (Eigen::Index r = 0; r < n; ++r) {
        if (r == c) continue;
        const double f = full(r, c);
        if (f == 0) continue;
        for (Eigen::Index j = 0; j < n; ++j) {
          full(r, j) -= f * full(c, j);
          inv(r, j) -= f * inv(c, j);
        }
      }
    }
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j)
        inverse[inverse_pattern_.row_start[at(block[static_cast<std::size_t>(i)])] + j] = inv(i, j);
  }
  return true;
}

}  // namespace hinge
