#include "solve/linear/complex_linear.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <klu.h>

#include "solve/linear/linear.hpp"
#include "solve/linear/lu.hpp"

namespace hinge {

namespace {

using Complex = std::complex<double>;
constexpr double singular_ratio = 1e-14;

bool all_finite(const Complex* values, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    if (!std::isfinite(values[k].real()) || !std::isfinite(values[k].imag())) return false;
  return true;
}

class DenseComplexLu final : public ComplexLinearSolver {
 public:
  explicit DenseComplexLu(const Pattern& pattern)
      : pattern_(pattern), matrix_(pattern.rows, pattern.rows), lu_(pattern.rows) {
    matrix_.setZero();
  }

  bool factor(const Complex* values) override {
    if (pattern_.rows == 0) return true;
    if (!all_finite(values, pattern_.entries())) return false;
    for (int i = 0; i < pattern_.rows; ++i)
      for (int k = pattern_.row_start[static_cast<std::size_t>(i)];
           k < pattern_.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        matrix_(i, pattern_.column[static_cast<std::size_t>(k)]) = values[k];
    lu_.factor(matrix_);
    return lu_.regular(singular_ratio);
  }

  void solve(Complex* x) override { lu_.solve(x); }

 private:
  const Pattern pattern_;
  Eigen::MatrixXcd matrix_;
  Lu<Complex> lu_;
};

// As in linear.cpp: our rows are KLU's columns, so A x = b is a transposed solve.
class SparseComplexLu final : public ComplexLinearSolver {
 public:
  explicit SparseComplexLu(const Pattern& pattern) : pattern_(pattern) {
    klu_defaults(&common_);
    symbolic_ = klu_analyze(pattern_.rows, row_start(), column(), &common_);
  }
  ~SparseComplexLu() override {
    if (numeric_) klu_z_free_numeric(&numeric_, &common_);
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }
  SparseComplexLu(const SparseComplexLu&) = delete;
  SparseComplexLu& operator=(const SparseComplexLu&) = delete;

  bool factor(const Complex* values) override {
    if (!symbolic_ || !all_finite(values, pattern_.entries())) return false;
    auto* numbers = const_cast<double*>(reinterpret_cast<const double*>(values));
    if (numeric_) {  // same pivots first; chosen anew where those have become bad
      if (klu_z_refactor(row_start(), column(), numbers, symbolic_, numeric_, &common_) &&
          klu_z_rgrowth(row_start(), column(), numbers, symbolic_, numeric_, &common_) && common_.rgrowth > 1e-3 &&
          well_conditioned())
        return true;
      klu_z_free_numeric(&numeric_, &common_);
    }
    numeric_ = klu_z_factor(row_start(), column(), numbers, symbolic_, &common_);
    return numeric_ && well_conditioned();
  }

  void solve(Complex* x) override {
    klu_z_tsolve(symbolic_, numeric_, pattern_.rows, 1, reinterpret_cast<double*>(x), 0, &common_);
  }

 private:
  bool well_conditioned() {
    return common_.status == KLU_OK && klu_z_rcond(symbolic_, numeric_, &common_) && common_.rcond > singular_ratio;
  }
  int* row_start() const { return const_cast<int*>(pattern_.row_start.data()); }
  int* column() const { return const_cast<int*>(pattern_.column.data()); }

  const Pattern pattern_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

}  // namespace

std::unique_ptr<ComplexLinearSolver> make_complex_solver(const Pattern& pattern, LinearAlgebra choice) {
  if (pattern.rows != pattern.columns) throw std::logic_error("a linear system needs a square matrix");
  if (choice == LinearAlgebra::dense || (choice == LinearAlgebra::automatic && prefers_dense(pattern)))
    return std::make_unique<DenseComplexLu>(pattern);
  return std::make_unique<SparseComplexLu>(pattern);
}

}  // namespace hinge
