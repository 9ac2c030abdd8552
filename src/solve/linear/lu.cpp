#include "solve/linear/lu.hpp"

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

template <class Number>
void Lu<Number>::solve(Number* x) const {
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
