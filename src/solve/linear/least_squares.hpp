// The shortest x with  A x = b, or, where there is none, with the smallest |A x - b|.
#pragma once

#include <vector>

#include "hinge/solve.hpp"

namespace hinge {

/// Small systems by a complete orthogonal decomposition, whatever their rank; large ones by a sparse factorisation of
/// [I A; A^T 0] or [I A^T; A 0], which needs full rank. False where that fails.
bool least_squares(const Pattern& a, const double* values, const double* b, double* x);

}  // namespace hinge
