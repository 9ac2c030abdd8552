// The few vector operations that steps are made of.
#pragma once

#include <cmath>

namespace hinge {

/// Maximum that keeps a NaN.
inline double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// Largest absolute value; NaN if there is one.
inline double biggest(const double* x, int n) {
  double m = 0;
  for (int i = 0; i < n; ++i) m = larger(std::abs(x[i]), m);
  return m;
}

/// y += factor x
inline void axpy(double factor, const double* x, int n, double* y) {
  for (int i = 0; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace hinge
