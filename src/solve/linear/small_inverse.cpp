#include "solve/linear/small_inverse.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

bool invert_small(double* matrix, int size, double* work) {
  const auto n = static_cast<std::size_t>(size);
  if (size == 1) {
    matrix[0] = 1 / matrix[0];
    return std::isfinite(matrix[0]);
  }
  if (size == 2) {
    const double a = matrix[0], b = matrix[1], c = matrix[2], d = matrix[3], product = a * d, det = product - b * c;
    if (!(std::abs(det) > weak_pivot * std::abs(product))) return false;
    matrix[0] = d / det, matrix[1] = -b / det, matrix[2] = -c / det, matrix[3] = a / det;
    return std::isfinite(matrix[0] + matrix[1] + matrix[2] + matrix[3]);
  }
  std::fill_n(work, n * n, 0.0);
  double biggest = 0;
  for (std::size_t i = 0; i < n; ++i) work[i * n + i] = 1;
  for (std::size_t k = 0; k < n * n; ++k) biggest = std::max(biggest, std::abs(matrix[k]));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(matrix[i * n + k]) > std::abs(matrix[best * n + k])) best = i;
    const double pivot = matrix[best * n + k];
    if (!(std::abs(pivot) > weak_pivot * biggest)) return false;
    if (best != k)
      for (std::size_t j = 0; j < n; ++j) {
        std::swap(matrix[k * n + j], matrix[best * n + j]);
        std::swap(work[k * n + j], work[best * n + j]);
      }
    for (std::size_t j = 0; j < n; ++j) matrix[k * n + j] /= pivot, work[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double f = matrix[i * n + k];
      if (i == k || f == 0) continue;
      for (std::size_t j = 0; j < n; ++j)
        matrix[i * n + j] -= f * matrix[k * n + j], work[i * n + j] -= f * work[k * n + j];
    }
  }
  std::copy_n(work, n * n, matrix);
  return true;
}

}  // namespace hinge
