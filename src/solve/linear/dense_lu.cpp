#include "solve/linear/dense_lu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr int slab = 256;   // columns of A at a time: what is packed of them stays in the first-level cache
constexpr int widest = 16;  // rows of a tile
constexpr int small = 8;    // where recursion ends
// Of products that are shared out over threads: their multiplications, and columns that a thread takes at least, some
// tiles of any width.
constexpr double worth_threads = 2e7;
constexpr int abreast = 24;

// C -= A B for a tile of `vectors * width` rows and `columns` columns; A packed, rows of a tile side by side.
template <int width, int vectors, int columns>
[[gnu::always_inline]] inline void tile(int k, const double* A, const double* B, int ldb, double* C, int ldc) {
  using Vector [[gnu::vector_size(width * 8)]] = double;
  Vector sum[static_cast<std::size_t>(vectors)][static_cast<std::size_t>(columns)] = {};
  for (int l = 0; l < k; ++l) {
    Vector a[static_cast<std::size_t>(vectors)];
    for (int v = 0; v < vectors; ++v) __builtin_memcpy(&a[v], A + (l * vectors + v) * width, sizeof(Vector));
    for (int j = 0; j < columns; ++j) {
      const double b = B[l + static_cast<std::ptrdiff_t>(j) * ldb];
      for (int v = 0; v < vectors; ++v) sum[v][j] += a[v] * b;
    }
  }
  for (int j = 0; j < columns; ++j)
    for (int v = 0; v < vectors; ++v) {
      double* to = C + static_cast<std::ptrdiff_t>(j) * ldc + v * width;
      Vector c;
      __builtin_memcpy(&c, to, sizeof c);
      c -= sum[v][j];
      __builtin_memcpy(to, &c, sizeof c);
    }
}

// As many tiles of this height as fit; returns the first row that is left.
template <int width, int vectors, int columns>
[[gnu::always_inline]] inline int strips(int first, int m, int n, int k, const double* A, int lda, const double* B,
                                         int ldb, double* C, int ldc, double* packed) {
  constexpr int height = width * vectors;
  int i = first;
  for (; i + height <= m; i += height) {
    for (int l = 0; l < k; ++l)
      __builtin_memcpy(packed + l * height, A + i + static_cast<std::ptrdiff_t>(l) * lda, sizeof(double) * height);
    int j = 0;
    for (; j + columns <= n; j += columns)
      tile<width, vectors, columns>(k, packed, B + static_cast<std::ptrdiff_t>(j) * ldb, ldb,
                                    C + i + static_cast<std::ptrdiff_t>(j) * ldc, ldc);
    for (; j + 2 <= n; j += 2)
      tile<width, vectors, 2>(k, packed, B + static_cast<std::ptrdiff_t>(j) * ldb, ldb,
                              C + i + static_cast<std::ptrdiff_t>(j) * ldc, ldc);
    for (; j < n; ++j)
      tile<width, vectors, 1>(k, packed, B + static_cast<std::ptrdiff_t>(j) * ldb, ldb,
                              C + i + static_cast<std::ptrdiff_t>(j) * ldc, ldc);
  }
  return i;
}

template <int width, int columns>
[[gnu::always_inline]] inline void all_strips(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                                              double* C, int ldc) {
  alignas(64) double packed[widest * slab];
  int done = strips<width, 2, columns>(0, m, n, k, A, lda, B, ldb, C, ldc, packed);
  done = strips<width, 1, columns>(done, m, n, k, A, lda, B, ldb, C, ldc, packed);
  if constexpr (width > 2) done = strips<2, 1, 4>(done, m, n, k, A, lda, B, ldb, C, ldc, packed);
  strips<1, 1, 4>(done, m, n, k, A, lda, B, ldb, C, ldc, packed);
}

// B <- L^-1 B with few rows, several columns at a time: a column is one vector, and so are the columns of L, with zeros
// on and above the diagonal.
template <int m, int columns>
[[gnu::always_inline]] inline void small_columns(const double (&L)[small][8], double* B, int ldb) {
  using Vector [[gnu::vector_size(64)]] = double;
  Vector b[static_cast<std::size_t>(columns)] = {};
  for (int j = 0; j < columns; ++j)
    __builtin_memcpy(&b[j], B + static_cast<std::ptrdiff_t>(j) * ldb, sizeof(double) * m);
  for (int k = 0; k + 1 < m; ++k) {
    Vector l;
    __builtin_memcpy(&l, L[k], sizeof l);
    for (int j = 0; j < columns; ++j) b[j] -= l * b[j][k];
  }
  for (int j = 0; j < columns; ++j)
    __builtin_memcpy(B + static_cast<std::ptrdiff_t>(j) * ldb, &b[j], sizeof(double) * m);
}

template <int m>
[[gnu::always_inline]] inline void small_solve(int n, const double* L, int ldl, double* B, int ldb) {
  alignas(64) double packed[small][8] = {};
  for (int k = 0; k < m; ++k)
    for (int i = k + 1; i < m; ++i) packed[k][i] = L[i + static_cast<std::ptrdiff_t>(k) * ldl];
  int j = 0;
  for (; j + 4 <= n; j += 4) small_columns<m, 4>(packed, B + static_cast<std::ptrdiff_t>(j) * ldb, ldb);
  for (; j < n; ++j) small_columns<m, 1>(packed, B + static_cast<std::ptrdiff_t>(j) * ldb, ldb);
}

[[gnu::always_inline]] inline void any_small_solve(int m, int n, const double* L, int ldl, double* B, int ldb) {
  if (m == 8) return small_solve<8>(n, L, ldl, B, ldb);
  if (m == 6) return small_solve<6>(n, L, ldl, B, ldb);
  if (m == 4) return small_solve<4>(n, L, ldl, B, ldb);
  for (int j = 0; j < n; ++j) {
    double* b = B + static_cast<std::ptrdiff_t>(j) * ldb;
    for (int k = 0; k < m; ++k)
      for (int i = k + 1; i < m; ++i) b[i] -= L[i + static_cast<std::ptrdiff_t>(k) * ldl] * b[k];
  }
}

struct Kernels {
  void (*product)(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc);
  void (*small_solve)(int m, int n, const double* L, int ldl, double* B, int ldb);
};

void narrow(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
  all_strips<2, 4>(m, n, k, A, lda, B, ldb, C, ldc);
}
void narrow_solve(int m, int n, const double* L, int ldl, double* B, int ldb) { any_small_solve(m, n, L, ldl, B, ldb); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void wide(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C,
                                  int ldc) {
  all_strips<4, 6>(m, n, k, A, lda, B, ldb, C, ldc);
}
[[gnu::target("avx2")]] void wide_solve(int m, int n, const double* L, int ldl, double* B, int ldb) {
  any_small_solve(m, n, L, ldl, B, ldb);
}
[[gnu::target("avx512f")]] void widest_product(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                                               double* C, int ldc) {
  all_strips<8, 8>(m, n, k, A, lda, B, ldb, C, ldc);
}
[[gnu::target("avx512f")]] void widest_solve(int m, int n, const double* L, int ldl, double* B, int ldb) {
  any_small_solve(m, n, L, ldl, B, ldb);
}
Kernels choose() {
  if (__builtin_cpu_supports("avx512f")) return {widest_product, widest_solve};
  if (__builtin_cpu_supports("avx2")) return {wide, wide_solve};
  return {narrow, narrow_solve};
}
#else
Kernels choose() { return {narrow, narrow_solve}; }
#endif

const Kernels kernels = choose();

// About half, in whole groups of `small`.
int halved(int m) { return std::max(small, m / 2 / small * small); }

double* at(double* A, int ld, int i, int j) { return A + i + static_cast<std::ptrdiff_t>(j) * ld; }

// B <- L^-1 B, L m x m with unit diagonal, B m x n.
void solve_unit_lower(int m, int n, const double* L, int ldl, double* B, int ldb) {
  if (m <= small) return kernels.small_solve(m, n, L, ldl, B, ldb);
  const int half = halved(m);
  solve_unit_lower(half, n, L, ldl, B, ldb);
  subtract_product(m - half, n, half, L + half, ldl, B, ldb, B + half, ldb);
  solve_unit_lower(m - half, n, L + half + static_cast<std::ptrdiff_t>(half) * ldl, ldl, B + half, ldb);
}

// Factorises columns [first, last) of A below row `first`; rows up to n, exchanged among those up to p.
bool factorise_columns(int first, int last, int n, int p, double* A, int lda, int* exchange) {
  const int columns = last - first;
  if (columns > small) {
    const int middle = first + halved(columns);
    if (!factorise_columns(first, middle, n, p, A, lda, exchange)) return false;
    const int k = middle - first;
    solve_unit_lower(k, last - middle, at(A, lda, first, first), lda, at(A, lda, first, middle), lda);
    subtract_product(n - middle, last - middle, k, at(A, lda, middle, first), lda, at(A, lda, first, middle), lda,
                     at(A, lda, middle, middle), lda);
    return factorise_columns(middle, last, n, p, A, lda, exchange);
  }
  for (int k = first; k < last; ++k) {
    double* column = at(A, lda, 0, k);
    int pivot = k;
    for (int i = k + 1; i < p; ++i)
      if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
    exchange[k] = pivot;
    if (!(std::abs(column[pivot]) > 1e-300) || !std::isfinite(column[pivot])) return false;
    if (pivot != k)
      for (int j = 0; j < n; ++j) std::swap(*at(A, lda, k, j), *at(A, lda, pivot, j));
    const double inverse = 1 / column[k];
    for (int i = k + 1; i < n; ++i) column[i] *= inverse;
    for (int j = k + 1; j < last; ++j) {
      double* other = at(A, lda, 0, j);
      const double factor = other[k];
      for (int i = k + 1; i < n; ++i) other[i] -= column[i] * factor;
    }
  }
  return true;
}

}  // namespace

void subtract_product(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
  // Columns have nothing to do with each other: the same bits, whoever takes them.
  const int threads = 1.0 * m * n * k > worth_threads ? threads_here() : 1;
  parallel_ranges((n + abreast - 1) / abreast, threads,
                  [&](int first, int last) {
                    const int begin = first * abreast, columns = std::min(n, last * abreast) - begin;
                    for (int l = 0; l < k; l += slab)
                      kernels.product(m, columns, std::min(slab, k - l), A + static_cast<std::ptrdiff_t>(l) * lda, lda,
                                      B + l + static_cast<std::ptrdiff_t>(begin) * ldb, ldb,
                                      C + static_cast<std::ptrdiff_t>(begin) * ldc, ldc);
                  },
                  1);
}

bool eliminate(int n, int p, double* A, int lda, int* exchange) {
  if (!factorise_columns(0, p, n, p, A, lda, exchange)) return false;
  if (n == p) return true;
  if (n <= small) {  // the same operations, without a way to the widest registers
    for (int j = p; j < n; ++j) {
      double* b = at(A, lda, 0, j);
      for (int k = 0; k < p; ++k)
        for (int i = k + 1; i < p; ++i) b[i] -= *at(A, lda, i, k) * b[k];
      for (int i = p; i < n; ++i) {
        double sum = 0;
        for (int k = 0; k < p; ++k) sum += *at(A, lda, i, k) * b[k];
        b[i] -= sum;
      }
    }
    return true;
  }
  solve_unit_lower(p, n - p, A, lda, at(A, lda, 0, p), lda);
  subtract_product(n - p, n - p, p, at(A, lda, p, 0), lda, at(A, lda, 0, p), lda, at(A, lda, p, p), lda);
  return true;
}

}  // namespace hinge
