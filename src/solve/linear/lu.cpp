#include "solve/linear/lu.hpp"

#include <type_traits>

#include "solve/linear/parity.hpp"

namespace hinge {

template <class Number>
Lu<Number>::Lu(Eigen::Index rows) : lu_(rows), work_(rows) {}

template <class Number>
Lu<Number>::Lu(const Matrix& a) : lu_(a), work_(a.rows()) {}

template <class Number>
void Lu<Number>::factor(const Matrix& a) {
  lu_.compute(a);
}

template <class Number>
double Lu<Number>::pivot_ratio() const {
  if (lu_.rows() == 0) return 1;
  const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
  return pivots.minCoeff() / pivots.maxCoeff();
}

template <class Number>
Number Lu<Number>::determinant() const {
  return lu_.rows() == 0 ? Number(1) : lu_.determinant();
}

template <class Number>
int Lu<Number>::determinant_sign() const {
  visited_.resize(static_cast<std::size_t>(lu_.rows()));
  int sign = parity(lu_.permutationP().indices().data(), visited_);
  for (Eigen::Index k = 0; k < lu_.rows(); ++k) sign = std::real(lu_.matrixLU()(k, k)) < 0 ? -sign : sign;
  return sign;
}

namespace {

constexpr Eigen::Index smallest_for_eigen = 9;

// Columns of L and then of U, one after the other: what Eigen does with so few rows, without its calls.
template <class Number>
void solve_few(const Number* lu, const int* permutation, Eigen::Index n, Number* x) {
  Number y[static_cast<std::size_t>(smallest_for_eigen)];
  for (Eigen::Index i = 0; i < n; ++i) y[permutation[i]] = x[i];
  for (Eigen::Index k = 0; k < n; ++k)
    for (Eigen::Index i = k + 1; i < n; ++i) y[i] -= y[k] * lu[k * n + i];
  for (Eigen::Index k = n; k-- > 0;) {
    x[k] = y[k] /= lu[k * n + k];
    for (Eigen::Index i = 0; i < k; ++i) y[i] -= y[k] * lu[k * n + i];
  }
}

}  // namespace

template <class Number>
void Lu<Number>::solve(Number* x) const {
  if constexpr (std::is_same_v<Number, double>)
    if (lu_.rows() < smallest_for_eigen)
      return solve_few(lu_.matrixLU().data(), lu_.permutationP().indices().data(), lu_.rows(), x);
  Eigen::Map<Vector> v(x, lu_.rows());
  work_ = lu_.permutationP() * v;  // in place it would allocate
  lu_.matrixLU().template triangularView<Eigen::UnitLower>().solveInPlace(work_);
  lu_.matrixLU().template triangularView<Eigen::Upper>().solveInPlace(work_);
  v = work_;
}

template <class Number>
auto Lu<Number>::inverse() const -> Matrix {
  return lu_.inverse();
}

template <class Number>
void Lu<Number>::inverse(RowMatrix& out) const {
  out = lu_.inverse();
}

template class Lu<double>;
template class Lu<std::complex<double>>;

}  // namespace hinge
