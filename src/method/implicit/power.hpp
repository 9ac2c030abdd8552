#pragma once

#include <cstdlib>

namespace hinge {

/// h^exponent, by multiplication
inline double power(double h, int exponent) {
  double p = 1;
  for (int k = 0; k < std::abs(exponent); ++k) p *= h;
  return exponent < 0 ? 1 / p : p;
}

}  // namespace hinge
