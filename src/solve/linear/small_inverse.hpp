// The inverse of a small, well-conditioned matrix written down in full: blocks of mass matrices.
#pragma once

namespace hinge {

/// Blocks up to this size are inverted.
inline constexpr int largest_inverse = 12;
/// A pivot this much smaller than the largest entry: the plain formulas would lose digits.
inline constexpr double weak_pivot = 1e-6;

/// Gauss-Jordan with row exchanges: matrix (row by row) -> inverse; `work` holds size * size numbers. False where a
/// pivot is weak.
bool invert_small(double* matrix, int size, double* work);

/// The same in place, without exchanges, said once for numbers and for expressions that machine code is made of. It is
/// safe where arithmetic.demand_strong(a, b) has found |a| above a `weak_pivot` of |b| every time: for pivots beside
/// what stood there at first, and for products that tell by how much other diagonal entries change. Units do not
/// matter.
template <class Arithmetic, class Number>
void invert_in_order(Arithmetic&& arithmetic, Number* matrix, int size) {
  const auto entry = [=](int i, int j) -> Number& { return matrix[i * size + j]; };
  Number at_first[largest_inverse];
  for (int k = 0; k < size; ++k) at_first[k] = entry(k, k);
  for (int k = 0; k < size; ++k) {
    arithmetic.demand_strong(entry(k, k), at_first[k]);
    for (int i = k + 1; i < size; ++i)
      arithmetic.demand_strong(arithmetic.times(entry(k, k), at_first[i]), arithmetic.times(entry(i, k), entry(k, i)));
    const Number over_pivot = arithmetic.inverse(entry(k, k));
    for (int j = 0; j < size; ++j)
      if (j != k) entry(k, j) = arithmetic.times(entry(k, j), over_pivot);
    for (int i = 0; i < size; ++i) {
      if (i == k) continue;
      const Number factor = entry(i, k);
      for (int j = 0; j < size; ++j)
        if (j != k) entry(i, j) = arithmetic.minus(entry(i, j), arithmetic.times(factor, entry(k, j)));
      entry(i, k) = arithmetic.negate(arithmetic.times(factor, over_pivot));
    }
    entry(k, k) = over_pivot;
  }
}

}  // namespace hinge
