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

}  // namespace hinge
