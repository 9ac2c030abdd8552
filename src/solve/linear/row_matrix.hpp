// Small dense matrices row by row, for loops without a library, which are faster for a dozen rows.
#pragma once

#include <cstddef>
#include <vector>

namespace hinge {

struct RowMatrix {
  int rows = 0, columns = 0;
  std::vector<double> values;
  void resize(int r, int c) {
    rows = r;
    columns = c;
    values.assign(static_cast<std::size_t>(r) * static_cast<std::size_t>(c), 0.0);
  }
  double* row(int i) { return values.data() + static_cast<std::ptrdiff_t>(i) * columns; }
  const double* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * columns; }
};

/// y += sign A x, with sign 1 or -1, for S columns side by side.
template <int S>
void add_product(const RowMatrix& a, const double* x, double sign, double* y) {
  for (int i = 0; i < a.rows; ++i) {
    const double* row = a.row(i);
    double sum[static_cast<std::size_t>(S)] = {};
    for (int j = 0; j < a.columns; ++j)
      for (int l = 0; l < S; ++l) sum[l] += row[j] * x[S * j + l];
    for (int l = 0; l < S; ++l) y[S * i + l] += sign * sum[l];
  }
}

/// c = a b.
void product(const RowMatrix& a, const RowMatrix& b, RowMatrix& c);
void transpose(const RowMatrix& a, RowMatrix& out);
/// Elimination with row pivots, rows and then columns scaled to a largest entry of 1 before; a is lost. False where a
/// is singular. `work`: as many numbers as a has rows.
bool invert(RowMatrix& a, RowMatrix& inverse, double* work);
/// The same after geometric means of the smallest and the largest entry of each row and column have been made 1 again
/// and again: light masses beside steep constraints, [M G^T; G 0] with entries a factor of 1e15 apart, are regular
/// whatever their units. Costs more, and is tried where the other way fails.
bool invert_balanced(RowMatrix& a, RowMatrix& inverse, double* work);
/// G^T = Q R by Householder reflections:  plus = Q1 R^-T, so that G plus = I = plus^T G^T,  and kernel = Q2. False
/// where rows of G are dependent. Work space: r and q with room for m x n and n x n, and n numbers.
bool split(const RowMatrix& g, RowMatrix& plus, RowMatrix& kernel, RowMatrix& r, RowMatrix& q, double* work);

}  // namespace hinge
