#include "simulate/page/thinned_rows.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

ThinnedRows::ThinnedRows(std::size_t columns, std::size_t capacity)
    : columns_(columns), capacity_(std::max<std::size_t>(4, capacity / 4 * 4)), open_(columns) {
  start_bucket();
}

void ThinnedRows::start_bucket() {
  filled_ = 0;
  std::fill(open_.begin(), open_.end(), Extremes{NAN, NAN, 0, 0});
}

void ThinnedRows::add(double t, std::span<const double> values) {
  if (times_.size() == capacity_) halve();
  ++seen_;
  if (bucket_ == 2) {
    times_.push_back(t);
    values_.insert(values_.end(), values.begin(), values.end());
    return;
  }
  if (filled_ == 0) first_time_ = t;
  last_time_ = t;
  for (std::size_t k = 0; k < columns_; ++k) {
    Extremes& e = open_[k];
    const double x = values[k];
    if (std::isnan(x)) continue;
    if (!(e.low <= x)) e.low = x, e.low_at = filled_;  // also the first one
    if (!(e.high >= x)) e.high = x, e.high_at = filled_;
  }
  if (++filled_ == bucket_) end_bucket();
}

void ThinnedRows::end_bucket() {
  const std::size_t count = std::min<std::size_t>(filled_, 2);
  for (std::size_t row = 0; row < count; ++row) {
    times_.push_back(row == 0 ? first_time_ : last_time_);
    for (const Extremes& e : open_) values_.push_back((e.low_at <= e.high_at) == (row == 0) ? e.low : e.high);
  }
  start_bucket();
}

// Two pairs, four numbers in the order in which they occurred, become their minimum and maximum.
void ThinnedRows::halve() {
  const std::size_t pairs = times_.size() / 4;
  for (std::size_t p = 0; p < pairs; ++p) {
    times_[2 * p] = times_[4 * p];
    times_[2 * p + 1] = times_[4 * p + 3];
    for (std::size_t k = 0; k < columns_; ++k) {
      std::size_t low = 4, high = 4;
      double x[4];
      for (std::size_t i = 0; i < 4; ++i) {
        x[i] = values_[(4 * p + i) * columns_ + k];
        if (std::isnan(x[i])) continue;
        if (low == 4 || x[i] < x[low]) low = i;
        if (high == 4 || x[i] > x[high]) high = i;
      }
      values_[2 * p * columns_ + k] = low == 4 ? NAN : x[std::min(low, high)];
      values_[(2 * p + 1) * columns_ + k] = low == 4 ? NAN : x[std::max(low, high)];
    }
  }
  times_.resize(2 * pairs);
  values_.resize(2 * pairs * columns_);
  bucket_ *= 2;
}

void ThinnedRows::finish() {
  if (filled_ > 0) end_bucket();
}

std::vector<double> ThinnedRows::column(std::size_t k, std::size_t first, std::size_t count) const {
  std::vector<double> out;
  out.reserve(count);
  for (std::size_t row = first; row < first + count; ++row) out.push_back(values_[row * columns_ + k]);
  return out;
}

}  // namespace hinge
