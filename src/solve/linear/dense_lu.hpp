// Dense kernels of sparse factorisations, with the widest registers that the processor has.
//
// Which ones those are is found out when the program runs. Every entry of a result is computed by the same operations
// in the same order whatever the width (products are summed over k = 0, 1, ...; no fused multiply-add), so that results
// do not depend on the machine.
#pragma once

namespace hinge {

/// Matrices are stored by columns; ld is the distance of one column to the next.

/// C -= A B with C m x n, A m x k, B k x n.
void subtract_product(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc);

/// Eliminates the first p of n unknowns, in place:
///   [A11 A12]   [P^T L11    ] [U11 U12]
///   [A21 A22] = [ L21     I ] [     S ]        A11 p x p; rows are exchanged among the first p
/// L11 (unit diagonal not stored), L21, U11, U12 and S replace A. Row exchange[i] became row i at step i, as in LAPACK.
/// False where a pivot vanishes or is not finite.
bool eliminate(int n, int p, double* A, int lda, int* exchange);

}  // namespace hinge
