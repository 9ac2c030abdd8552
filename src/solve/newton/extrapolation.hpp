// A first guess for the unknowns of the next step: each is continued by the polynomial through its last few values.
//
// Order q means  x_{n+1} ~ sum_{k=0}^{q-1} (-1)^k C(q, k+1) x_{n-k},  wrong by the backward difference of order q. The
// order that would have been best for the step just taken, or one of its neighbours, is used for the next.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace hinge {

class Extrapolation {
 public:
  static constexpr int most = 8;

  explicit Extrapolation(std::size_t size) : size_(size) { past_.fill(std::vector<double>(size)); }

  void reset() { count_ = 0, order_ = 1; }
  bool ready() const { return count_ > 0; }

  /// x <- continuation of the past values.
  void predict(double* x) const {
    const auto& c = coefficients(order_);
    std::fill_n(x, size_, 0.0);
    for (std::size_t k = 0; k < at(order_); ++k) {
      const double* from = past(k).data();
      for (std::size_t i = 0; i < size_; ++i) x[i] += c[k] * from[i];
    }
  }

  /// Takes the values of an accepted step and settles the order for the next.
  void push(const double* x) {
    if (count_ > 0) choose_order(x);
    newest_ = (newest_ + 1) % most;
    std::copy_n(x, size_, past_[newest_].begin());
    count_ = std::min(count_ + 1, most);
  }

 private:
  static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }
  const std::vector<double>& past(std::size_t k) const { return past_[(newest_ + most - k) % most]; }

  // (-1)^k C(order, k + 1), all of them worked out beforehand: divisions would take longer than the sums
  static constexpr auto all_coefficients = [] {
    std::array<std::array<double, static_cast<std::size_t>(most)>, static_cast<std::size_t>(most) + 1> all{};
    for (int order = 0; order <= most; ++order) {
      double coefficient = 1;
      for (int k = 0; k < order; ++k) {
        coefficient *= static_cast<double>(order - k) / (k + 1);
        all[static_cast<std::size_t>(order)][static_cast<std::size_t>(k)] = k % 2 == 0 ? coefficient : -coefficient;
      }
    }
    return all;
  }();
  static const std::array<double, static_cast<std::size_t>(most)>& coefficients(int order) {
    return all_coefficients[at(order)];
  }

  double error(int order, const double* x) const {
    const auto& c = coefficients(order);
    // a sample is enough to choose an order by
    const std::size_t stride = std::max<std::size_t>(1, size_ / 64);
    double sum = 0;
    for (std::size_t i = 0; i < size_; i += stride) {
      double guess = 0;
      for (std::size_t k = 0; k < at(order); ++k) guess += c[k] * past(k)[i];
      sum += (guess - x[i]) * (guess - x[i]);
    }
    return sum;
  }

  void choose_order(const double* x) {
    int best = order_;
    double least = error(order_, x);
    for (const int q : {order_ - 1, order_ + 1}) {
      if (q < 1 || q > count_) continue;
      const double e = error(q, x);
      if (e < least) least = e, best = q;
    }
    order_ = best;
  }

  std::array<std::vector<double>, most> past_;
  std::size_t size_ = 0, newest_ = 0;
  int count_ = 0, order_ = 1;
};

}  // namespace hinge
