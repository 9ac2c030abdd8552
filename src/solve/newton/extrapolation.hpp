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
    const Past past = values();
    with_order(order_, [&]<int order>(Order<order>) {
      double* __restrict const to = x;  // no past value is there
      for (std::size_t i = 0; i < size_; ++i) to[i] = guess<order>(past, i);
    });
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

  using Past = std::array<const double*, static_cast<std::size_t>(most)>;  // the newest first
  Past values() const {
    Past all;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = past_[(newest_ + most - k) % most].data();
    return all;
  }

  // For unknowns as few as those of a mechanism loops of a length that is not known take longer than the sums.
  template <int order>
  struct Order {};
  template <class Action>
  static void with_order(int order, Action&& action) {
    switch (order) {
      case 1: return action(Order<1>());
      case 2: return action(Order<2>());
      case 3: return action(Order<3>());
      case 4: return action(Order<4>());
      case 5: return action(Order<5>());
      case 6: return action(Order<6>());
      case 7: return action(Order<7>());
      default: return action(Order<most>());
    }
  }

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
  template <int order>
  static double guess(const Past& past, std::size_t i) {
    constexpr auto& c = all_coefficients[static_cast<std::size_t>(order)];
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(order); ++k) sum += c[k] * past[k][i];
    return sum;
  }

  double error(int order, const Past& past, const double* x) const {
    // a sample is enough to choose an order by
    const std::size_t stride = std::max<std::size_t>(1, size_ / 64);
    double sum = 0;
    with_order(order, [&]<int q>(Order<q>) {
      for (std::size_t i = 0; i < size_; i += stride) {
        const double off = guess<q>(past, i) - x[i];
        sum += off * off;
      }
    });
    return sum;
  }

  void choose_order(const double* x) {
    int best = order_;
    const Past past = values();
    double least = error(order_, past, x);
    for (const int q : {order_ - 1, order_ + 1}) {
      if (q < 1 || q > count_) continue;
      const double e = error(q, past, x);
      if (e < least) least = e, best = q;
    }
    order_ = best;
  }

  std::array<std::vector<double>, most> past_;
  std::size_t size_ = 0, newest_ = 0;
  int count_ = 0, order_ = 1;
};

}  // namespace hinge
