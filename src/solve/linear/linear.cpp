#include "solve/linear/linear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <klu.h>

#include "solve/linear/compact_lu.hpp"
#include "solve/linear/lu.hpp"
#include "solve/linear/parity.hpp"

namespace hinge {

namespace {

// A pivot this much smaller than the largest means singular. Rounding alone leaves pivots of 1e-16 to 1e-13 in a
// singular matrix of 2 to 200 rows.
constexpr double singular_ratio = 1e-13, complex_singular_ratio = 1e-14;

template <class Number>
void solve_between(Factors<Number>& factors, std::size_t n, Number* x, const double* r, const double* c) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= r[i];
  factors.solve(x);
  for (std::size_t i = 0; i < n; ++i) x[i] *= c[i];
}

template <class Number>
class DenseFactors final : public Factors<Number> {
 public:
  explicit DenseFactors(const Pattern& pattern)
      : pattern_(pattern), matrix_(pattern.rows, pattern.rows), lu_(pattern.rows) {
    matrix_.setZero();
  }
  bool factor(const Number* values, double ratio) override {
    for (int i = 0; i < pattern_.rows; ++i)
      for (int k = pattern_.row_start[static_cast<std::size_t>(i)];
           k < pattern_.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        matrix_(i, pattern_.column[static_cast<std::size_t>(k)]) = values[k];
    lu_.factor(matrix_);
    return lu_.regular(ratio);
  }
  void solve(Number* x) override { lu_.solve(x); }
  void solve(Number* x, const double* r, const double* c) override {
    solve_between(*this, static_cast<std::size_t>(pattern_.rows), x, r, c);
  }
  int determinant_sign() override { return lu_.determinant_sign(); }
  const char* name() const override { return "dense LU"; }

 private:
  const Pattern pattern_;
  typename Lu<Number>::Matrix matrix_;
  Lu<Number> lu_;
};

class CompactFactors final : public Factors<double> {
 public:
  explicit CompactFactors(const Pattern& pattern) : lu_(pattern), ones_(static_cast<std::size_t>(pattern.rows), 1.0) {}
  bool factor(const double* values, double ratio) override { return lu_.factor(values, ratio); }
  void solve(double* x) override { lu_.solve(x, ones_.data(), ones_.data()); }
  void solve(double* x, const double* r, const double* c) override { lu_.solve(x, r, c); }
  int determinant_sign() override { return lu_.determinant_sign(); }
  const char* name() const override { return "compact LU"; }

 private:
  CompactLu lu_;
  std::vector<double> ones_;
};

// A large matrix with zeros on its diagonal, as constraints bring them, gets pivots elsewhere, for which an order that
// counts on the diagonal (AMD, which KLU takes else) was not made: of a chain of bodies it fills a share of all places.
bool needs_other_pivots(const Pattern& pattern) {
  constexpr int large = 1000;
  if (pattern.rows < large) return false;
  int zeros = 0;
  for (int i = 0; i < pattern.rows; ++i) {
    const auto row = pattern.column.begin();
    zeros += !std::binary_search(row + pattern.row_start[static_cast<std::size_t>(i)],
                                 row + pattern.row_start[static_cast<std::size_t>(i) + 1], i);
  }
  return 10 * zeros > pattern.rows;
}
constexpr int by_columns = 1;  // KLU's number of COLAMD

// KLU has its functions twice. It wants compressed columns; our rows are the columns of the transpose, so A x = b is a
// transposed solve. Its interface knows no const; it does not write.
template <class Number>
class SparseFactors final : public Factors<Number> {
  static constexpr bool real = std::is_same_v<Number, double>;

 public:
  explicit SparseFactors(const Pattern& pattern) : pattern_(pattern) {
    klu_defaults(&common_);
    common_.scale = 0;  // done already
    if (needs_other_pivots(pattern)) common_.ordering = by_columns;
    symbolic_ = klu_analyze(pattern_.rows, row_start(), column(), &common_);
    require_memory();
    visited_.resize(static_cast<std::size_t>(pattern.rows));
  }
  ~SparseFactors() override {
    free_numeric();
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }
  SparseFactors(const SparseFactors&) = delete;
  SparseFactors& operator=(const SparseFactors&) = delete;

  bool factor(const Number* values, double ratio) override {
    if (!symbolic_) return false;  // structurally singular
    auto* const numbers = const_cast<double*>(reinterpret_cast<const double*>(values));
    const auto growth = real ? klu_rgrowth : klu_z_rgrowth;
    if (numeric_) {  // same pivots first; chosen anew where those have become bad
      const auto refactor = real ? klu_refactor : klu_z_refactor;
      if (refactor(row_start(), column(), numbers, symbolic_, numeric_, &common_) &&
          growth(row_start(), column(), numbers, symbolic_, numeric_, &common_) && common_.rgrowth > acceptable_ &&
          well_conditioned(ratio))
        return true;
      free_numeric();
    }
    numeric_ = (real ? klu_factor : klu_z_factor)(row_start(), column(), numbers, symbolic_, &common_);
    require_memory();
    if (!numeric_ || !well_conditioned(ratio)) return false;
    // where new pivots let entries grow as much, newer ones would be no better
    acceptable_ = 1e-3;
    if (growth(row_start(), column(), numbers, symbolic_, numeric_, &common_))
      acceptable_ = std::clamp(0.1 * common_.rgrowth, 1e-8, acceptable_);
    return true;
  }
  void solve(Number* x) override {
    if constexpr (real)
      klu_tsolve(symbolic_, numeric_, pattern_.rows, 1, x, &common_);
    else
      klu_z_tsolve(symbolic_, numeric_, pattern_.rows, 1, reinterpret_cast<double*>(x), 0, &common_);
  }
  void solve(Number* x, const double* r, const double* c) override {
    solve_between(*this, static_cast<std::size_t>(pattern_.rows), x, r, c);
  }
  // P A Q = L U with the diagonal of U kept apart
  int determinant_sign() override {
    return sign_of_product(static_cast<const double*>(numeric_->Udiag), pattern_.rows) *
           parity(numeric_->Pnum, visited_) * parity(symbolic_->Q, visited_);
  }
  const char* name() const override { return "sparse LU (KLU)"; }

 private:
  void free_numeric() {
    if (numeric_) (real ? klu_free_numeric : klu_z_free_numeric)(&numeric_, &common_);
  }
  // Memory that is missing is no property of the matrix.
  void require_memory() const {
    if (common_.status == KLU_OUT_OF_MEMORY || common_.status == KLU_TOO_LARGE) throw std::bad_alloc();
  }
  bool well_conditioned(double ratio) {
    return common_.status == KLU_OK && (real ? klu_rcond : klu_z_rcond)(symbolic_, numeric_, &common_) &&
           common_.rcond > ratio;
  }
  int* row_start() const { return const_cast<int*>(pattern_.row_start.data()); }
  int* column() const { return const_cast<int*>(pattern_.column.data()); }

  const Pattern pattern_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  double acceptable_ = 1e-3;  // growth of entries (KLU's rgrowth, its reciprocal) up to which pivots are kept
  std::vector<char> visited_;
};

// Small, and half empty at least.
bool prefers_compact(const Pattern& p) {
  const double n = p.rows;
  return n >= 3 && n <= 40 && static_cast<double>(p.entries()) <= 0.5 * n * n;
}

template <class Number>
std::unique_ptr<Factors<Number>> make_factors(const Pattern& pattern, LinearAlgebra choice) {
  if (pattern.rows != pattern.columns) throw std::logic_error("a linear system needs a square matrix");
  if constexpr (std::is_same_v<Number, double>)
    if (choice == LinearAlgebra::automatic && prefers_compact(pattern))
      return std::make_unique<CompactFactors>(pattern);
  if (choice == LinearAlgebra::dense || (choice == LinearAlgebra::automatic && prefers_dense(pattern)))
    return std::make_unique<DenseFactors<Number>>(pattern);
  return std::make_unique<SparseFactors<Number>>(pattern);
}

double size_of(double x) { return std::abs(x); }
double size_of(std::complex<double> x) { return std::abs(x.real()) + std::abs(x.imag()); }  // near enough, no root

// Largest entries -> factors; false where all entries are zero.
bool largest_to_scale(std::vector<double>& largest) {
  for (double& x : largest) {
    if (x == 0) return false;
    // 2^-ilogb(x), where the exponent field of a double can hold that
    const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52);
    x = exponent > 0 && exponent < 2046 ? std::bit_cast<double>(static_cast<std::uint64_t>(2046 - exponent) << 52)
                                        : std::ldexp(1.0, -std::ilogb(x));
  }
  return true;
}

}  // namespace

bool prefers_dense(const Pattern& p) {
  const double n = p.rows;
  return n <= 24 || (n <= 200 && static_cast<double>(p.entries()) > 0.15 * n * n);
}

template <class Number>
ScaledSolver<Number>::ScaledSolver(const Pattern& pattern, LinearAlgebra choice)
    : pattern_(pattern),
      scaled_(pattern.entries()),
      row_scale_(static_cast<std::size_t>(pattern.rows)),
      column_scale_(static_cast<std::size_t>(pattern.rows)),
      factors_(make_factors<Number>(pattern, choice)) {}

template <class Number>
bool ScaledSolver<Number>::factor(const Number* values) {
  constexpr double ratio = std::is_same_v<Number, double> ? singular_ratio : complex_singular_ratio;
  if (pattern_.rows == 0) return true;
  std::fill(row_scale_.begin(), row_scale_.end(), 0.0);
  std::fill(column_scale_.begin(), column_scale_.end(), 0.0);
  for (std::size_t k = 0; k < pattern_.entries(); ++k)
    if (!std::isfinite(size_of(values[k]))) return false;
  const auto for_each_entry = [this](auto&& visit) {
    for (std::size_t i = 0; i < row_scale_.size(); ++i)
      for (auto k = static_cast<std::size_t>(pattern_.row_start[i]);
           k < static_cast<std::size_t>(pattern_.row_start[i + 1]); ++k)
        visit(k, row_scale_[i], column_scale_[static_cast<std::size_t>(pattern_.column[k])]);
  };
  for_each_entry([&](std::size_t k, double& row, double&) { row = std::max(row, size_of(values[k])); });
  if (!largest_to_scale(row_scale_)) return false;
  for_each_entry([&](std::size_t k, double row, double& column) {
    scaled_[k] = row * values[k];
    column = std::max(column, size_of(scaled_[k]));
  });
  if (!largest_to_scale(column_scale_)) return false;
  for_each_entry([&](std::size_t k, double, double column) { scaled_[k] *= column; });
  return factors_->factor(scaled_.data(), ratio) || factor_balanced(values, ratio);
}

// Geometric means of the smallest and the largest entry of each row, and then of each column, made 1 again and again:
// that comes to one end whatever the units of rows and columns. Costs more, and is tried where the other way fails.
template <class Number>
bool ScaledSolver<Number>::factor_balanced(const Number* values, double ratio) {
  constexpr int rounds = 12;
  const auto balance = [&](std::vector<double>& own, const std::vector<double>& other, bool rows) {
    std::vector<double> low(own.size(), std::numeric_limits<double>::infinity()), high(own.size(), 0.0);
    for (std::size_t i = 0; i < own.size(); ++i)
      for (auto k = static_cast<std::size_t>(pattern_.row_start[i]);
           k < static_cast<std::size_t>(pattern_.row_start[i + 1]); ++k) {
        const auto j = static_cast<std::size_t>(pattern_.column[k]);
        const double x = size_of(values[k]) * other[rows ? j : i];
        if (x == 0) continue;
        low[rows ? i : j] = std::min(low[rows ? i : j], x);
        high[rows ? i : j] = std::max(high[rows ? i : j], x);
      }
    for (std::size_t i = 0; i < own.size();
         ++i) {  // an empty row stays as it is, and so does one with an entry that is none
      const double mean = std::sqrt(low[i]) * std::sqrt(high[i]);
      own[i] = mean > 0 && std::isfinite(mean) ? std::ldexp(1.0, -std::ilogb(mean)) : 1;
    }
  };
  for (int n = 0; n < rounds; ++n) {
    balance(row_scale_, column_scale_, true);
    balance(column_scale_, row_scale_, false);
  }
  for (std::size_t i = 0; i < row_scale_.size(); ++i)
    for (auto k = static_cast<std::size_t>(pattern_.row_start[i]);
         k < static_cast<std::size_t>(pattern_.row_start[i + 1]); ++k)
      scaled_[k] = row_scale_[i] * column_scale_[static_cast<std::size_t>(pattern_.column[k])] * values[k];
  for (const Number& x : scaled_)
    if (!std::isfinite(size_of(x))) return false;
  return factors_->factor(scaled_.data(), ratio);
}

template class ScaledSolver<double>;
template class ScaledSolver<std::complex<double>>;

std::unique_ptr<LinearSolver> make_linear_solver(const Pattern& pattern, LinearAlgebra choice) {
  return std::make_unique<LinearSolver>(pattern, choice);
}
std::unique_ptr<ComplexLinearSolver> make_complex_solver(const Pattern& pattern, LinearAlgebra choice) {
  return std::make_unique<ComplexLinearSolver>(pattern, choice);
}

}  // namespace hinge
