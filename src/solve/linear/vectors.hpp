// The few vector operations that iterations and steps are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hinge {

/// Maximum that keeps a NaN.
inline double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// Largest absolute value; NaN if there is one. Four lanes, so that the comparisons do not wait for each other.
inline double biggest(const double* x, int n) {
  double lane[4] = {0, 0, 0, 0};
  bool nan = false;
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) {
      const double a = std::abs(x[i + k]);
      lane[k] = lane[k] < a ? a : lane[k];
      nan |= a != a;
    }
  for (; i < n; ++i) {
    const double a = std::abs(x[i]);
    lane[0] = lane[0] < a ? a : lane[0];
    nan |= a != a;
  }
  if (nan) return std::numeric_limits<double>::quiet_NaN();
  return std::max(std::max(lane[0], lane[1]), std::max(lane[2], lane[3]));
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
