#include "solve/linear/linear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <klu.h>

#include "solve/linear/compact_lu.hpp"
#include "solve/linear/lu.hpp"
#include "solve/linear/parity.hpp"

namespace hinge {

namespace {

// A pivot this much smaller than the largest means singular. Rounding alone leaves pivots of 1e-16 to 1e-13 in a
// singular matrix of 2 to 200 rows.
constexpr double singular_ratio = 1e-13;

// Rows and then columns are scaled to a largest entry between 1 and 2, so that units do not decide what is singular:
// A x = b  becomes  (R A C) (C^-1 x) = R b.  Powers of two, so that scaling does not round.
class Equilibrated : public LinearSolver {
 public:
  explicit Equilibrated(const Pattern& pattern)
      : pattern_(pattern),
        scaled_(pattern.entries()),
        row_scale_(static_cast<std::size_t>(pattern.rows)),
        column_scale_(static_cast<std::size_t>(pattern.rows)) {}

  bool factor(const double* values) final {
    if (pattern_.rows == 0) return true;
    std::fill(row_scale_.begin(), row_scale_.end(), 0.0);
    std::fill(column_scale_.begin(), column_scale_.end(), 0.0);
    for (std::size_t k = 0; k < pattern_.entries(); ++k)
      if (!std::isfinite(values[k])) return false;
    const auto for_each_entry = [this](auto&& visit) {
      for (std::size_t i = 0; i < row_scale_.size(); ++i)
        for (auto k = static_cast<std::size_t>(pattern_.row_start[i]);
             k < static_cast<std::size_t>(pattern_.row_start[i + 1]); ++k)
          visit(k, row_scale_[i], column_scale_[static_cast<std::size_t>(pattern_.column[k])]);
    };
    for_each_entry([&](std::size_t k, double& row, double&) { row = std::max(row, std::abs(values[k])); });
    if (!largest_to_scale(row_scale_)) return false;
    for_each_entry([&](std::size_t k, double row, double& column) {
      scaled_[k] = row * values[k];
      column = std::max(column, std::abs(scaled_[k]));
    });
    if (!largest_to_scale(column_scale_)) return false;
    for_each_entry([&](std::size_t k, double, double column) { scaled_[k] *= column; });
    return factor_scaled(scaled_.data());
  }

  void solve(double* x) final {
    if (pattern_.rows == 0) return;
    solve_between(x, row_scale_.data(), column_scale_.data());
  }

 protected:
  virtual bool factor_scaled(double* values) = 0;
  virtual void solve_scaled(double* x) = 0;
  virtual void solve_between(double* x, const double* r, const double* c) {
    for (std::size_t i = 0; i < row_scale_.size(); ++i) x[i] *= r[i];
    solve_scaled(x);
    for (std::size_t i = 0; i < row_scale_.size(); ++i) x[i] *= c[i];
  }

  const Pattern pattern_;

 private:
  // Largest entries -> factors; false where all entries are zero.
  static bool largest_to_scale(std::vector<double>& largest) {
    for (double& x : largest) {
      if (x == 0) return false;
      // 2^-ilogb(x), where the exponent field of a double can hold that
      const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52);
      x = exponent > 0 && exponent < 2046 ? std::bit_cast<double>(static_cast<std::uint64_t>(2046 - exponent) << 52)
                                          : std::ldexp(1.0, -std::ilogb(x));
    }
    return true;
  }

  std::vector<double> scaled_, row_scale_, column_scale_;
};

class DenseLu final : public Equilibrated {
 public:
  explicit DenseLu(const Pattern& pattern)
      : Equilibrated(pattern), matrix_(pattern.rows, pattern.rows), lu_(pattern.rows) {
    matrix_.setZero();
  }

  int determinant_sign() override { return lu_.determinant_sign(); }
  const char* name() const override { return "dense LU"; }

 private:
  bool factor_scaled(double* values) override {
    for (int i = 0; i < pattern_.rows; ++i)
      for (int k = pattern_.row_start[static_cast<std::size_t>(i)];
           k < pattern_.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        matrix_(i, pattern_.column[static_cast<std::size_t>(k)]) = values[k];
    lu_.factor(matrix_);
    return lu_.regular(singular_ratio);
  }

  void solve_scaled(double* x) override { lu_.solve(x); }

  Eigen::MatrixXd matrix_;
  Lu<double> lu_;
};

class SmallSparseLu final : public Equilibrated {
 public:
  explicit SmallSparseLu(const Pattern& pattern) : Equilibrated(pattern), lu_(pattern) {}
  int determinant_sign() override { return lu_.determinant_sign(); }
  const char* name() const override { return "compact LU"; }

 private:
  bool factor_scaled(double* values) override { return lu_.factor(values, singular_ratio); }
  void solve_scaled(double*) override {}
  void solve_between(double* x, const double* r, const double* c) override { lu_.solve(x, r, c); }

  CompactLu lu_;
};

// KLU wants compressed columns; our rows are the columns of the transpose, so A x = b is a transposed solve.
class SparseLu final : public Equilibrated {
 public:
  explicit SparseLu(const Pattern& pattern) : Equilibrated(pattern) {
    klu_defaults(&common_);
    common_.scale = 0;  // done already
    symbolic_ = klu_analyze(pattern_.rows, row_start(), column(), &common_);
    visited_.resize(static_cast<std::size_t>(pattern.rows));
  }
  ~SparseLu() override {
    if (numeric_) klu_free_numeric(&numeric_, &common_);
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }
  SparseLu(const SparseLu&) = delete;
  SparseLu& operator=(const SparseLu&) = delete;

  const char* name() const override { return "sparse LU (KLU)"; }

  // P A Q = L U with the diagonal of U kept apart
  int determinant_sign() override {
    return sign_of_product(static_cast<const double*>(numeric_->Udiag), pattern_.rows) *
           parity(numeric_->Pnum, visited_) * parity(symbolic_->Q, visited_);
  }

 private:
  bool factor_scaled(double* values) override {
    if (!symbolic_) return false;  // structurally singular
    if (numeric_) {                // same pivots first; chosen anew where those have become bad
      if (klu_refactor(row_start(), column(), values, symbolic_, numeric_, &common_) &&
          klu_rgrowth(row_start(), column(), values, symbolic_, numeric_, &common_) && common_.rgrowth > 1e-3 &&
          well_conditioned())
        return true;
      klu_free_numeric(&numeric_, &common_);
    }
    numeric_ = klu_factor(row_start(), column(), values, symbolic_, &common_);
    return numeric_ && well_conditioned();
  }

  void solve_scaled(double* x) override { klu_tsolve(symbolic_, numeric_, pattern_.rows, 1, x, &common_); }

  bool well_conditioned() {
    return common_.status == KLU_OK && klu_rcond(symbolic_, numeric_, &common_) && common_.rcond > singular_ratio;
  }

  // KLU's interface knows no const; it does not write.
  int* row_start() const { return const_cast<int*>(pattern_.row_start.data()); }
  int* column() const { return const_cast<int*>(pattern_.column.data()); }

  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  std::vector<char> visited_;
};

}  // namespace

bool prefers_dense(const Pattern& p) {
  const double n = p.rows;
  return n <= 24 || (n <= 200 && static_cast<double>(p.entries()) > 0.15 * n * n);
}

namespace {

// Small, and half empty at least.
bool prefers_compact(const Pattern& p) {
  const double n = p.rows;
  return n >= 3 && n <= 40 && static_cast<double>(p.entries()) <= 0.5 * n * n;
}

}  // namespace

std::unique_ptr<LinearSolver> make_linear_solver(const Pattern& pattern, LinearAlgebra choice) {
  if (pattern.rows != pattern.columns) throw std::logic_error("a linear system needs a square matrix");
  if (choice == LinearAlgebra::automatic && prefers_compact(pattern)) return std::make_unique<SmallSparseLu>(pattern);
  const bool dense = choice == LinearAlgebra::dense || (choice == LinearAlgebra::automatic && prefers_dense(pattern));
  if (dense) return std::make_unique<DenseLu>(pattern);
  return std::make_unique<SparseLu>(pattern);
}

}  // namespace hinge
