// LU with row exchanges of complex matrices of a few rows: plain loops without calls. A library's LU of two rows spends
// its time on getting started, and on hypot for absolute values; here |re| + |im| is measure enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace hinge {

class SmallComplexLu {
 public:
  using Complex = std::complex<double>;

  void resize(int n) {
    n_ = static_cast<std::size_t>(n);
    a_.assign(n_ * n_, Complex(0));
    exchange_.assign(n_, 0);
  }
  /// The matrix to be factorised, row by row.
  Complex& operator()(int i, int j) { return a_[static_cast<std::size_t>(i) * n_ + static_cast<std::size_t>(j)]; }

  /// In place. False where a pivot is less than 1e-14 times the largest, or not finite.
  bool factor() {
    double least = INFINITY, most = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      std::size_t best = k;
      for (std::size_t i = k + 1; i < n_; ++i)
        if (size(a_[i * n_ + k]) > size(a_[best * n_ + k])) best = i;
      exchange_[k] = best;
      if (best != k)
        for (std::size_t j = 0; j < n_; ++j) std::swap(a_[k * n_ + j], a_[best * n_ + j]);
      const Complex pivot = a_[k * n_ + k];
      least = std::min(least, size(pivot));
      most = std::max(most, size(pivot));
      const double square = pivot.real() * pivot.real() + pivot.imag() * pivot.imag();
      const Complex inverse(pivot.real() / square, -pivot.imag() / square);
      a_[k * n_ + k] = inverse;
      for (std::size_t i = k + 1; i < n_; ++i) {
        const Complex f = a_[i * n_ + k] = times(a_[i * n_ + k], inverse);
        for (std::size_t j = k + 1; j < n_; ++j) a_[i * n_ + j] -= times(f, a_[k * n_ + j]);
      }
    }
    return least > 1e-14 * most && std::isfinite(most);
  }

  void solve(Complex* x) const {
    for (std::size_t k = 0; k < n_; ++k) {
      if (exchange_[k] != k) std::swap(x[k], x[exchange_[k]]);
    }
    for (std::size_t i = 1; i < n_; ++i)
      for (std::size_t j = 0; j < i; ++j) x[i] -= times(a_[i * n_ + j], x[j]);
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = i + 1; j < n_; ++j) x[i] -= times(a_[i * n_ + j], x[j]);
      x[i] = times(x[i], a_[i * n_ + i]);
    }
  }

 private:
  static double size(Complex z) { return std::abs(z.real()) + std::abs(z.imag()); }
  static Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  std::size_t n_ = 0;
  std::vector<Complex> a_;
  std::vector<std::size_t> exchange_;
};

}  // namespace hinge
