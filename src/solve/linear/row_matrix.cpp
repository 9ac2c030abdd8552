#include "solve/linear/row_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hinge {

namespace {

constexpr double dependent = 1e-12;

}  // namespace

void product(const RowMatrix& a, const RowMatrix& b, RowMatrix& c) {
  std::fill(c.values.begin(), c.values.end(), 0.0);
  for (int i = 0; i < a.rows; ++i) {
    double* out = c.row(i);
    for (int k = 0; k < a.columns; ++k) {
      const double factor = a.row(i)[k];
      const double* from = b.row(k);
      for (int j = 0; j < b.columns; ++j) out[j] += factor * from[j];
    }
  }
}

void transpose(const RowMatrix& a, RowMatrix& out) {
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) out.row(j)[i] = a.row(i)[j];
}

bool invert(RowMatrix& a, RowMatrix& inverse, double* work) {
  const int n = a.rows;
  std::fill_n(work, n, 0.0);
  std::fill(inverse.values.begin(), inverse.values.end(), 0.0);
  for (int i = 0; i < n; ++i) {
    double size = 0;
    for (int j = 0; j < n; ++j) size = std::max(size, std::abs(a.row(i)[j]));
    if (!(size > 0) || !std::isfinite(size)) return false;
    for (int j = 0; j < n; ++j) {
      a.row(i)[j] /= size;
      work[j] = std::max(work[j], std::abs(a.row(i)[j]));
    }
    inverse.row(i)[i] = 1 / size;
  }
  for (int j = 0; j < n; ++j) {
    if (!(work[j] > 0)) return false;
    for (int i = 0; i < n; ++i) a.row(i)[j] /= work[j];
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a.row(i)[k]) > std::abs(a.row(best)[k])) best = i;
    if (!(std::abs(a.row(best)[k]) > 1e-14)) return false;
    if (best != k) {
      std::swap_ranges(a.row(k), a.row(k) + n, a.row(best));
      std::swap_ranges(inverse.row(k), inverse.row(k) + n, inverse.row(best));
    }
    double *own = a.row(k), *own_inverse = inverse.row(k);
    const double pivot = 1 / own[k];
    for (int j = k; j < n; ++j) own[j] *= pivot;
    for (int j = 0; j < n; ++j) own_inverse[j] *= pivot;
    for (int i = 0; i < n; ++i) {
      double *other = a.row(i), *other_inverse = inverse.row(i);
      const double factor = other[k];
      if (i == k || factor == 0) continue;
      for (int j = k; j < n; ++j) other[j] -= factor * own[j];
      for (int j = 0; j < n; ++j) other_inverse[j] -= factor * own_inverse[j];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) inverse.row(i)[j] /= work[i];
  return std::all_of(inverse.values.begin(), inverse.values.end(), [](double x) { return std::isfinite(x); });
}

bool invert_balanced(RowMatrix& a, RowMatrix& inverse, double* work) {
  constexpr int rounds = 12;
  const int n = a.rows;
  std::vector<double> scale(2 * static_cast<std::size_t>(n), 1.0);
  double *row = scale.data(), *column = row + n;
  // 1 over the geometric mean of the smallest and the largest entry of line i
  const auto balance = [&](bool rows, int i) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (int j = 0; j < n; ++j) {
      const double x = std::abs(rows ? a.row(i)[j] * column[j] : a.row(j)[i] * row[j]);
      if (x == 0) continue;
      low = std::min(low, x), high = std::max(high, x);
    }
    const double mean = std::sqrt(low) * std::sqrt(high);
    (rows ? row : column)[i] = mean > 0 && std::isfinite(mean) ? std::ldexp(1.0, -std::ilogb(mean)) : 1;
  };
  for (int round = 0; round < rounds; ++round)
    for (const bool rows : {true, false})
      for (int i = 0; i < n; ++i) balance(rows, i);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a.row(i)[j] *= row[i] * column[j];
  if (!invert(a, inverse, work)) return false;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) inverse.row(i)[j] *= column[i] * row[j];
  return std::all_of(inverse.values.begin(), inverse.values.end(), [](double x) { return std::isfinite(x); });
}

// Work is done on transposes, G = R^T Q^T, so that rows are what is reflected. Row k of r: column k of R; row k of q:
// column k of Q.
bool split(const RowMatrix& g, RowMatrix& plus, RowMatrix& kernel, RowMatrix& r, RowMatrix& q, double* work) {
  const int m = g.rows, n = g.columns;
  r.rows = m, r.columns = n, q.rows = q.columns = n;
  std::copy(g.values.begin(), g.values.end(), r.values.begin());
  std::fill(q.values.begin(), q.values.end(), 0.0);
  for (int i = 0; i < n; ++i) q.row(i)[i] = 1;
  for (int k = 0; k < m; ++k) {
    double* v = r.row(k);
    double size = 0, before = 0;  // of what is left of row k, and of the whole of it: reflections keep lengths
    for (int i = 0; i < k; ++i) before += v[i] * v[i];
    for (int i = k; i < n; ++i) size += v[i] * v[i];
    before = std::sqrt(before + size);
    size = std::sqrt(size);
    if (!(size > dependent * before)) return false;
    const double diagonal = v[k] > 0 ? -size : size;
    v[k] -= diagonal;
    const double beta = -1 / (diagonal * v[k]);
    for (int j = k + 1; j < m; ++j) {
      double* other = r.row(j);
      double s = 0;
      for (int i = k; i < n; ++i) s += v[i] * other[i];
      s *= beta;
      for (int i = k; i < n; ++i) other[i] -= s * v[i];
    }
    // q <- (I - beta v v^T) q restricted to rows k.. : H_k ... H_1 = Q^T, whose rows are the columns of Q
    std::fill_n(work, n, 0.0);
    for (int i = k; i < n; ++i)
      for (int j = 0; j < n; ++j) work[j] += v[i] * q.row(i)[j];
    for (int i = k; i < n; ++i) {
      const double factor = beta * v[i];
      for (int j = 0; j < n; ++j) q.row(i)[j] -= factor * work[j];
    }
    v[k] = diagonal;
  }
  for (int i = m; i < n; ++i)
    for (int j = 0; j < n; ++j) kernel.row(j)[i - m] = q.row(i)[j];
  for (int j = m - 1; j >= 0; --j) {  // X_j = (Q_j - sum_{i > j} R_ji X_i) / R_jj, in the place of Q_j
    for (int i = j + 1; i < m; ++i)
      for (int l = 0; l < n; ++l) q.row(j)[l] -= r.row(i)[j] * q.row(i)[l];
    for (int l = 0; l < n; ++l) {
      q.row(j)[l] /= r.row(j)[j];
      plus.row(l)[j] = q.row(j)[l];
    }
  }
  return true;
}

}  // namespace hinge
