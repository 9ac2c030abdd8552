#include "solve/linear.hpp"

#include <cmath>
#include <stdexcept>

#include <klu.h>
#include <Eigen/Dense>

namespace hinge {

namespace {

// A pivot this much smaller than the largest means singular.
constexpr double singular_ratio = 1e-15;

class DenseLu final : public LinearSolver {
 public:
  explicit DenseLu(const Pattern& pattern)
      : pattern_(pattern), matrix_(pattern.rows, pattern.rows), lu_(pattern.rows), work_(pattern.rows) {
    matrix_.setZero();
  }

  bool factor(const double* values) override {
    for (int i = 0; i < pattern_.rows; ++i)
      for (int k = pattern_.row_start[static_cast<std::size_t>(i)];
           k < pattern_.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        matrix_(i, pattern_.column[static_cast<std::size_t>(k)]) = values[k];
    if (!matrix_.allFinite()) return false;
    lu_.compute(matrix_);
    const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
    return pivots.minCoeff() > singular_ratio * pivots.maxCoeff();
  }

  void solve(double* x) override {
    Eigen::Map<Eigen::VectorXd> v(x, pattern_.rows);
    work_ = lu_.permutationP() * v;
    lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(work_);
    lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(work_);
    v = work_;
  }

  const char* name() const override { return "dense LU"; }

 private:
  Pattern pattern_;
  Eigen::MatrixXd matrix_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::VectorXd work_;
};

// KLU wants compressed columns; our rows are the columns of the transpose, so A x = b is a transposed solve.
class SparseLu final : public LinearSolver {
 public:
  explicit SparseLu(const Pattern& pattern) : pattern_(pattern) {
    klu_defaults(&common_);
    symbolic_ = klu_analyze(pattern_.rows, pattern_.row_start.data(), pattern_.column.data(), &common_);
  }
  ~SparseLu() override {
    if (numeric_) klu_free_numeric(&numeric_, &common_);
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }
  SparseLu(const SparseLu&) = delete;
  SparseLu& operator=(const SparseLu&) = delete;

  bool factor(const double* values) override {
    if (!symbolic_) return false;  // structurally singular
    for (std::size_t k = 0; k < pattern_.entries(); ++k)
      if (!std::isfinite(values[k])) return false;
    auto* v = const_cast<double*>(values);  // KLU's interface; it does not write
    if (numeric_) {                         // same pivots first; chosen anew where those have become bad
      if (klu_refactor(pattern_.row_start.data(), pattern_.column.data(), v, symbolic_, numeric_, &common_) &&
          klu_rgrowth(pattern_.row_start.data(), pattern_.column.data(), v, symbolic_, numeric_, &common_) &&
          common_.rgrowth > 1e-6 && well_conditioned())
        return true;
      klu_free_numeric(&numeric_, &common_);
    }
    numeric_ = klu_factor(pattern_.row_start.data(), pattern_.column.data(), v, symbolic_, &common_);
    return numeric_ && well_conditioned();
  }

  void solve(double* x) override { klu_tsolve(symbolic_, numeric_, pattern_.rows, 1, x, &common_); }

  const char* name() const override { return "sparse LU (KLU)"; }

 private:
  bool well_conditioned() {
    return common_.status == KLU_OK && klu_rcond(symbolic_, numeric_, &common_) && common_.rcond > singular_ratio;
  }

  Pattern pattern_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
};

bool prefer_dense(const Pattern& p) {
  const double n = p.rows;
  return n <= 24 || (n <= 200 && static_cast<double>(p.entries()) > 0.15 * n * n);
}

}  // namespace

std::unique_ptr<LinearSolver> make_linear_solver(const Pattern& pattern, LinearAlgebra choice) {
  if (pattern.rows != pattern.columns) throw std::logic_error("a linear system needs a square matrix");
  const bool dense = choice == LinearAlgebra::dense || (choice == LinearAlgebra::automatic && prefer_dense(pattern));
  if (dense) return std::make_unique<DenseLu>(pattern);
  return std::make_unique<SparseLu>(pattern);
}

}  // namespace hinge
