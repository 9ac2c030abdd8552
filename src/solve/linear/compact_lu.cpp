#include "solve/linear/compact_lu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solve/index.hpp"
#include "solve/linear/parity.hpp"

namespace hinge {

namespace {

constexpr double choose_above = 0.25, keep_above = 0.03;  // of the column

}  // namespace

CompactLu::CompactLu(const Pattern& pattern) : n_(at(pattern.rows)), pattern_(pattern) {
  a_.resize(n_ * n_);
  there_.resize(n_ * n_);
  for (auto* list : {&row_, &column_, &row_of_, &column_of_}) list->resize(n_);
  place_.resize(pattern.entries());
  for (auto* list : {&below_, &right_, &lower_}) list->reserve(n_ * n_);
  for (auto* list : {&below_start_, &right_start_, &lower_start_}) list->reserve(n_ + 1);
  for (auto* list : {&lower_value_, &upper_value_}) list->reserve(n_ * n_);
  entries_.reserve(n_ * n_);
  inverse_.resize(n_);
  work_.resize(n_);
  visited_.resize(n_);
}

bool CompactLu::factor(const double* values, double singular_ratio) {
  if (!chosen_ || !refactor(values)) {
    chosen_ = choose_pivots(values);
    if (!chosen_ || !refactor(values)) return chosen_ = false;
  }
  double least = INFINITY, most = 0;
  for (std::size_t k = 0; k < n_; ++k) {
    least = std::min(least, std::abs(inverse_[k]));
    most = std::max(most, std::abs(inverse_[k]));
  }
  if (!(least > singular_ratio * most)) return false;
  gather();
  return true;
}

// On a_ in the original order; rows and columns are exchanged only in the lists.
bool CompactLu::choose_pivots(const double* values) {
  std::fill(a_.begin(), a_.end(), 0.0);
  std::fill(there_.begin(), there_.end(), char{0});
  for (std::size_t i = 0; i < n_; ++i)
    for (auto k = at(pattern_.row_start[i]); k < at(pattern_.row_start[i + 1]); ++k) {
      const std::size_t place = i * n_ + at(pattern_.column[k]);
      a_[place] = values[k];
      there_[place] = 1;
    }
  std::iota(row_.begin(), row_.end(), 0);
  std::iota(column_.begin(), column_.end(), 0);
  for (std::size_t k = 0; k < n_; ++k) {
    // row_of_ and column_of_ count the entries of what is left
    for (std::size_t i = k; i < n_; ++i) {
      row_of_[i] = column_of_[i] = 0;
      for (std::size_t j = k; j < n_; ++j) {
        row_of_[i] += there_[at(row_[i]) * n_ + at(column_[j])];
        column_of_[i] += there_[at(row_[j]) * n_ + at(column_[i])];
      }
    }
    std::size_t best_row = n_, best_column = n_;
    int least = 0;
    double size = 0;
    for (std::size_t j = k; j < n_; ++j) {
      double largest = 0;
      for (std::size_t i = k; i < n_; ++i) largest = std::max(largest, std::abs(a_[at(row_[i]) * n_ + at(column_[j])]));
      if (largest == 0) return false;
      for (std::size_t i = k; i < n_; ++i) {
        const double entry = std::abs(a_[at(row_[i]) * n_ + at(column_[j])]);
        if (entry < choose_above * largest) continue;
        const int cost = (row_of_[i] - 1) * (column_of_[j] - 1);
        if (best_row < n_ && (cost > least || (cost == least && entry <= size))) continue;
        best_row = i, best_column = j, least = cost, size = entry;
      }
    }
    std::swap(row_[k], row_[best_row]);
    std::swap(column_[k], column_[best_column]);
    const double* pivot_row = &a_[at(row_[k]) * n_];
    const std::size_t pivot_column = at(column_[k]);
    for (std::size_t i = k + 1; i < n_; ++i) {
      double* own = &a_[at(row_[i]) * n_];
      char* own_there = &there_[at(row_[i]) * n_];
      if (!own_there[pivot_column]) continue;
      const double f = own[pivot_column] / pivot_row[pivot_column];
      for (std::size_t j = k + 1; j < n_; ++j) {
        const std::size_t column = at(column_[j]);
        if (!there_[at(row_[k]) * n_ + column]) continue;
        own[column] -= f * pivot_row[column];
        own_there[column] = 1;
      }
    }
  }
  make_lists();
  return true;
}

void CompactLu::make_lists() {
  const auto entry = [this](std::size_t i, std::size_t j) { return there_[at(row_[i]) * n_ + at(column_[j])] != 0; };
  for (auto* list : {&below_, &right_, &lower_}) list->clear();
  for (auto* list : {&below_start_, &right_start_, &lower_start_}) list->assign(1, 0);
  entries_.clear();
  for (std::size_t k = 0; k < n_; ++k) {
    row_of_[at(row_[k])] = static_cast<int>(k);
    column_of_[at(column_[k])] = static_cast<int>(k);
    for (std::size_t i = 0; i < n_; ++i) {
      if (entry(k, i)) entries_.push_back(k * n_ + i);
      if (i < k && entry(k, i)) lower_.push_back(static_cast<int>(i));
      if (i > k && entry(i, k)) below_.push_back(static_cast<int>(i));
      if (i > k && entry(k, i)) right_.push_back(static_cast<int>(i));
    }
    below_start_.push_back(static_cast<int>(below_.size()));
    right_start_.push_back(static_cast<int>(right_.size()));
    lower_start_.push_back(static_cast<int>(lower_.size()));
  }
  for (std::size_t i = 0; i < n_; ++i)
    for (auto k = at(pattern_.row_start[i]); k < at(pattern_.row_start[i + 1]); ++k)
      place_[k] = at(row_of_[i]) * n_ + at(column_of_[at(pattern_.column[k])]);
  lower_value_.resize(lower_.size());
  upper_value_.resize(right_.size());
}

// False where a pivot has become too small.
bool CompactLu::refactor(const double* values) {
  double* const a = a_.data();
  for (const std::size_t place : entries_) a[place] = 0;
  for (std::size_t k = 0; k < place_.size(); ++k) a[place_[k]] = values[k];
  for (std::size_t k = 0; k < n_; ++k) {
    const int *row = below_.data() + below_start_[k], *row_end = below_.data() + below_start_[k + 1];
    const int *first = right_.data() + right_start_[k], *end = right_.data() + right_start_[k + 1];
    const double* pivot_row = a + k * n_;
    const double pivot = pivot_row[k];
    double largest = 0;
    for (const int* i = row; i != row_end; ++i) largest = std::max(largest, std::abs(a[at(*i) * n_ + k]));
    if (pivot == 0 || !(std::abs(pivot) >= keep_above * largest)) return false;
    const double inverse = inverse_[k] = 1 / pivot;
    for (; row != row_end; ++row) {
      double* own = a + at(*row) * n_;
      const double f = own[k] *= inverse;
      for (const int* j = first; j != end; ++j) own[*j] -= f * pivot_row[*j];
    }
  }
  return true;
}

// The numbers in the order in which solve() takes them.
void CompactLu::gather() {
  double* value = lower_value_.data();
  const int *l = lower_.data(), *u = right_.data();
  for (std::size_t k = 0; k < n_; ++k)
    for (const int* const end = lower_.data() + lower_start_[k + 1]; l != end; ++l) *value++ = a_[k * n_ + at(*l)];
  value = upper_value_.data();
  for (std::size_t k = 0; k < n_; ++k)
    for (const int* const end = right_.data() + right_start_[k + 1]; u != end; ++u) *value++ = a_[k * n_ + at(*u)];
}

void CompactLu::solve(double* x, const double* r, const double* c) {
  double* const w = work_.data();
  const double* value = lower_value_.data();
  const int* column = lower_.data();
  for (std::size_t k = 0; k < n_; ++k) {
    const std::size_t from = at(row_[k]);
    double sum = x[from] * r[from];
    for (const int* const end = lower_.data() + lower_start_[k + 1]; column != end; ++column)
      sum -= *value++ * w[*column];
    w[k] = sum;
  }
  value = upper_value_.data() + upper_value_.size();
  column = right_.data() + right_.size();
  for (std::size_t k = n_; k-- > 0;) {
    double sum = w[k];
    for (const int* const begin = right_.data() + right_start_[k]; column != begin;) sum -= *--value * w[*--column];
    w[k] = sum *= inverse_[k];
    const std::size_t to = at(column_[k]);
    x[to] = sum * c[to];
  }
}

int CompactLu::determinant_sign() {
  return sign_of_product(inverse_.data(), static_cast<int>(n_)) * parity(row_.data(), visited_) *
         parity(column_.data(), visited_);
}

}  // namespace hinge
