// The few vector operations that iterations and steps are made of.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hinge {

/// Maximum that keeps a NaN.
inline double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// Largest absolute value; NaN if there is one. Without their sign numbers are in the order of their bits, NaN last.
/// Two lanes, so that the comparisons do not wait for each other.
inline double biggest(const double* x, int n) {
  constexpr std::uint64_t all_but_sign = ~std::uint64_t{0} >> 1;
  std::uint64_t first = 0, second = 0;
  int i = 0;
  for (; i + 2 <= n; i += 2) {
    first = std::max(first, std::bit_cast<std::uint64_t>(x[i]) & all_but_sign);
    second = std::max(second, std::bit_cast<std::uint64_t>(x[i + 1]) & all_but_sign);
  }
  if (i < n) first = std::max(first, std::bit_cast<std::uint64_t>(x[i]) & all_but_sign);
  return std::bit_cast<double>(std::max(first, second));
}

inline double biggest(const std::vector<double>& x) { return biggest(x.data(), static_cast<int>(x.size())); }

inline bool all_finite(const double* x, int n) {
  return std::all_of(x, x + n, [](double value) { return std::isfinite(value); });
}
inline bool all_finite(const std::vector<double>& x) { return all_finite(x.data(), static_cast<int>(x.size())); }

/// Roundings of many constraints that hang together add up like a random walk: how many times one rounding.
inline double rounding_growth(int constraints) { return std::max(1.0, std::sqrt(constraints) / 8); }

/// y += factor x
inline void axpy(double factor, const double* x, int n, double* y) {
  for (int i = 0; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace hinge
