// The inverse of a small, well-conditioned matrix written down in full: blocks of mass matrices.
#pragma once

namespace hinge {

/// Blocks up to this size are inverted.
inline constexpr int largest_inverse = 12;

/// Gauss-Jordan with row exchanges: matrix (row by row) -> inverse; `work` holds size * size numbers. False where a
/// pivot is so much smaller than the largest entry that the plain formulas would lose digits.
bool invert_small(double* matrix, int size, double* work);

}  // namespace hinge
