// The shortest x with  A x = b, or, where there is none, with the smallest |A x - b|.
#pragma once

#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

/// Small systems by a complete orthogonal decomposition, whatever their rank; large ones by a sparse factorisation of
/// [I A; A^T 0] or [I A^T; A 0], which needs full rank. False where that fails. `largest_dense`: up to which number of
/// rows and columns a system is small; less where it is solved often.
bool least_squares(const Pattern& a, const double* values, const double* b, double* x, int largest_dense = 800);

}  // namespace hinge
