#include "formulation/start/scaled_rows.hpp"

#include <algorithm>
#include <cmath>

#include "formulation/fewer_rows.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Q = Quantity;

void add_diagonal(const Pattern& p, const double* values, std::vector<double>& out) {
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      if (p.column[at(k)] == i) out[at(i)] += values[k];
}

}  // namespace

ScaledRows::ScaledRows(const System& system, ConstraintLevel level)
    : system_(system),
      matrix_(system.structure().has_bodies || level == ConstraintLevel::velocity ? Q::constraint_rate_z
                                                                                  : Q::constraint_y),
      pattern_(
          row_range(system.pattern(matrix_), 0, level == ConstraintLevel::velocity ? system.nrates() : system.ng())),
      e_(system.evaluation({Q::constraint, matrix_, Q::velocity_z, Q::momentum_z})),
      values_(pattern_.entries()),
      length_(hinge::at(pattern_.rows)),
      scale_(hinge::at(pattern_.columns)),
      psi_(hinge::at(std::max(system.npsi(), 1)), 0.0) {}

// Leaves the inertias in scale_; what has none counts as the heaviest, which is moved least.
bool ScaledRows::evaluate(double t, const double* y, const double* z) {
  using hinge::at;
  e_->at(t, y, z, psi_.data());
  const double* g = (*e_)[matrix_];
  if (!all_finite(g, static_cast<int>(pattern_.entries())) || !all_finite(this->g(), system_.ng())) return false;
  std::vector<double>& mass = scale_;
  std::fill(mass.begin(), mass.end(), 0.0);
  if (system_.nz() == columns()) add_diagonal(system_.pattern(Q::momentum_z), (*e_)[Q::momentum_z], mass);
  if (matrix_ == Q::constraint_y && system_.nz() == system_.ny() && !system_.structure().velocity_is_z) {
    step_.assign(mass.size(), 0.0);
    add_diagonal(system_.pattern(Q::velocity_z), (*e_)[Q::velocity_z], step_);
    for (std::size_t j = 0; j < mass.size(); ++j) mass[j] = step_[j] > 0 ? mass[j] / step_[j] : 0.0;
  }
  double heaviest = 0;
  for (const double m : mass)
    if (std::isfinite(m)) heaviest = std::max(heaviest, m);
  for (double& m : mass) m = heaviest > 0 ? (m > 0 && std::isfinite(m) ? m : heaviest) : 1.0;
  return true;
}

bool ScaledRows::at(double t, const double* y, const double* z) {
  using hinge::at;
  if (!evaluate(t, y, z)) return false;
  const double* g = (*e_)[matrix_];
  for (double& m : scale_) m = 1 / std::sqrt(m);
  for (int i = 0; i < rows(); ++i) {
    const int first = pattern_.row_start[at(i)], last = pattern_.row_start[at(i) + 1];
    double length = 0;
    for (int k = first; k < last; ++k) length = std::hypot(length, g[k] * scale_[at(pattern_.column[at(k)])]);
    length_[at(i)] = length;
    for (int k = first; k < last; ++k)
      values_[at(k)] = length > 0 ? g[k] * scale_[at(pattern_.column[at(k)])] / length : 0.0;
  }
  return true;
}

bool ScaledRows::measure(double t, const double* y, const double* z) {
  using hinge::at;
  if (!evaluate(t, y, z)) return false;
  const double* g = (*e_)[matrix_];
  for (int i = 0; i < rows(); ++i) {
    double squares = 0;
    for (int k = pattern_.row_start[at(i)]; k < pattern_.row_start[at(i) + 1]; ++k)
      squares += g[k] * g[k] / scale_[at(pattern_.column[at(k)])];
    if (!(squares < 1e280) || squares < 1e-280) return this->at(t, y, z);  // squares may be no numbers
    length_[at(i)] = std::sqrt(squares);
  }
  return true;
}

void ScaledRows::move(const double* y, const std::vector<double>& u, std::vector<double>& out) const {
  step_.resize(u.size());
  for (std::size_t j = 0; j < u.size(); ++j) step_[j] = scale_[j] * u[j];
  out.assign(y, y + system_.ny());
  if (system_.structure().has_bodies) return system_.move(y, step_.data(), 1, out.data());
  for (std::size_t j = 0; j < u.size(); ++j) out[j] += step_[j];
}

RowGram::RowGram(const Pattern& rows, const std::vector<int>& chosen) {
  part_ = some_rows(rows, chosen, from_);
  transpose_ = transposed(part_, back_);
  product_ = SparseProduct(part_, transpose_);
  // a row of zeros has no entry on the diagonal: the pattern gets one
  Pattern gram;
  gram.rows = gram.columns = part_.rows;
  const Pattern& p = product_.pattern();
  for (int i = 0; i < p.rows; ++i) {
    std::vector<int> columns(p.column.begin() + p.row_start[at(i)], p.column.begin() + p.row_start[at(i) + 1]);
    if (std::find(columns.begin(), columns.end(), i) == columns.end()) columns.push_back(i);
    std::sort(columns.begin(), columns.end());
    gram.column.insert(gram.column.end(), columns.begin(), columns.end());
    gram.row_start.push_back(static_cast<int>(gram.column.size()));
  }
  solver_ = make_linear_solver(gram, LinearAlgebra::automatic);
  prepare_ldlt(gram);
  a_.resize(part_.entries());
  a_transposed_.resize(part_.entries());
  products_.resize(p.entries());
  gram_.resize(gram.entries());
  for (int i = 0; i < gram.rows; ++i)
    for (int k = gram.row_start[at(i)]; k < gram.row_start[at(i) + 1]; ++k) {
      if (gram.column[at(k)] == i) diagonal_.push_back(k);
      for (int l = p.row_start[at(i)]; l < p.row_start[at(i) + 1]; ++l)
        if (p.column[at(l)] == gram.column[at(k)]) place_.push_back({l, k});
    }
}

void RowGram::prepare_ldlt(const Pattern& gram) {
  constexpr double most_multiplications = 1e6;
  std::vector<int> begin{0}, neighbours;
  for (int i = 0; i < gram.rows; ++i) {
    for (int k = gram.row_start[at(i)]; k < gram.row_start[at(i) + 1]; ++k)
      if (gram.column[at(k)] != i) neighbours.push_back(gram.column[at(k)]);
    begin.push_back(static_cast<int>(neighbours.size()));
  }
  ldlt_ = SparseLdlt(begin, neighbours, most_multiplications);
  if (!ldlt_.usable()) return;
  for (int p = 0; p < gram.rows; ++p) {
    const int i = ldlt_.order()[at(p)];
    const auto first = gram.column.begin() + gram.row_start[at(i)],
               last = gram.column.begin() + gram.row_start[at(i) + 1];
    for (int e = ldlt_.row_start()[at(p)]; e < ldlt_.row_start()[at(p) + 1]; ++e) {
      const auto found = std::find(first, last, ldlt_.order()[at(ldlt_.column()[at(e)])]);
      ldlt_from_.push_back(found == last ? -1 : static_cast<int>(found - gram.column.begin()));
    }
  }
  ldlt_values_.resize(ldlt_from_.size());
  ordered_.resize(at(gram.rows));
}

bool RowGram::factor(const std::vector<double>& values, double shift) {
  for (std::size_t k = 0; k < a_.size(); ++k) a_[k] = values[at(from_[k])];
  for (std::size_t k = 0; k < a_.size(); ++k) a_transposed_[k] = a_[at(back_[k])];
  product_.multiply(a_.data(), a_transposed_.data(), products_.data());
  std::fill(gram_.begin(), gram_.end(), 0.0);
  for (const auto& [product, place] : place_) gram_[at(place)] = products_[at(product)];
  for (const int k : diagonal_) gram_[at(k)] += shift;
  by_ldlt_ = false;
  if (ldlt_.usable()) {
    for (std::size_t e = 0; e < ldlt_from_.size(); ++e)
      ldlt_values_[e] = ldlt_from_[e] < 0 ? 0.0 : gram_[at(ldlt_from_[e])];
    by_ldlt_ = ldlt_.factor(ldlt_values_.data()) && ldlt_.weakest() >= SparseLdlt::doubtful;
  }
  return by_ldlt_ || solver_->factor(gram_.data());
}

void RowGram::solve(double* x) {
  if (!by_ldlt_) return solver_->solve(x);
  for (std::size_t p = 0; p < ordered_.size(); ++p) ordered_[p] = x[ldlt_.order()[p]];
  ldlt_.solve(ordered_.data());
  for (std::size_t p = 0; p < ordered_.size(); ++p) x[ldlt_.order()[p]] = ordered_[p];
}

}  // namespace hinge
