#include "formulation/implicit/array_problem.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double keep_above = 0.5;  // of the best determinant, as for charts of mechanical systems

}  // namespace

ArrayProblem::ArrayProblem(DaeStructure& structure) : array_(structure) {
  const int n = array_.size(), rows = array_.pattern().rows;
  for (int k = 0; k < n; ++k) {
    const auto [j, order] = array_.places()[at(k)];
    const bool highest = order == array_.highest(j);
    (highest ? high_ : low_).push_back(k);
    unknowns_.push_back({1, order == 0 || !highest, 0});
  }
  const int free = rows - static_cast<int>(high_.size());
  values_.resize(array_.pattern().entries());
  top_.resize(rows, static_cast<Eigen::Index>(high_.size()));
  rest_.resize(rows, static_cast<Eigen::Index>(low_.size()));
  free_.resize(free, static_cast<Eigen::Index>(low_.size()));
  own_.resize(free, free);
  for (int k = 0; k < free; ++k) dependent_.push_back(k);  // until there is a point to choose at
  rebuild();
}

// The array's Jacobian with the highest derivatives eliminated: rows that tie the lower ones to each other.
bool ArrayProblem::factor(double t, const double* x) {
  array_.jacobian(t, x, values_.data());
  top_.setZero();
  rest_.setZero();
  const Pattern& p = array_.pattern();
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      const auto [j, order] = array_.places()[at(p.column[at(k)])];
      if (order == array_.highest(j))
        top_(i, j) = values_[at(k)];
      else
        rest_(i, p.column[at(k)] - j) = values_[at(k)];  // one highest derivative per unknown stands before it
    }
  if (!rest_.allFinite() || !top_.allFinite()) return false;
  eliminate_columns(top_, rest_);
  free_ = rest_.bottomRows(free_.rows());
  if (free_.size() > 0) free_qr_.factor(free_);
  return true;
}

void ArrayProblem::choose() {
  if (free_.rows() > 0) {
    dependent_.assign(free_qr_.order().data(), free_qr_.order().data() + free_.rows());
  }
  rebuild();
}

void ArrayProblem::rebuild() {
  std::vector<char> is_dependent(low_.size(), 0);
  for (const int k : dependent_) is_dependent[at(k)] = 1;
  integrated_.clear();
  for (std::size_t k = 0; k < low_.size(); ++k)
    if (!is_dependent[k]) integrated_.push_back(low_[k]);
  pattern_ = array_.pattern();
  row_scale_.assign(at(pattern_.rows), 0);
  for (const int s : integrated_) {
    pattern_.column.push_back(s);
    pattern_.column.push_back(s + 1);
    pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
    row_scale_.push_back(1);
  }
  pattern_.rows += static_cast<int>(integrated_.size());
}

void ArrayProblem::residual(double t, const double* x, const double* rate, double* out) {
  array_.residual(t, x, out);
  out += array_.pattern().rows;
  for (const int s : integrated_) *out++ = rate[s] - x[s + 1];
}

void ArrayProblem::jacobian(double t, const double* x, const double*, double* f_x, double* f_rate) {
  array_.jacobian(t, x, f_x);
  std::fill_n(f_rate, pattern_.entries(), 0.0);
  for (std::size_t k = array_.pattern().entries(); k < pattern_.entries(); k += 2) {
    f_x[k] = 0;
    f_x[k + 1] = -1;
    f_rate[k] = 1;
  }
}

bool ArrayProblem::from_state(const State& state, double* x, double* rate) {
  if (!array_.complete(state.t, state.y.data(), state.z.data(), full_, full_rate_)) return false;
  std::copy(full_.begin(), full_.end(), x);
  std::copy(full_rate_.begin(), full_rate_.end(), rate);
  if (!factor(state.t, x)) return false;
  choose();
  return true;
}

void ArrayProblem::to_state(double t, const double* x, const double* rate, State& state) const {
  state.t = t;
  for (std::size_t j = 0; j < state.y.size(); ++j) {
    const int first = array_.first(static_cast<int>(j));
    state.y[j] = x[first];
    state.z[j] = array_.highest(static_cast<int>(j)) > 0 ? x[first + 1] : rate[first];
  }
}

void ArrayProblem::show(double t, const double* x, const double* rate, State& state) {
  to_state(t, x, rate, state);
  full_.assign(x, x + size());
  full_rate_.assign(at(size()), 0.0);
  free_unknowns_.assign(at(size()), 0);
  scale_.resize(at(size()));
  for (std::size_t k = 0; k < scale_.size(); ++k) scale_[k] = DerivativeArray::shown_scale(x[k], false);
  for (const int s : integrated_) scale_[at(s)] = DerivativeArray::shown_scale(x[s], true);
  if (!array_.solve(t, full_, free_unknowns_, scale_, true) || !array_.rates(t, full_.data(), full_rate_.data(), true))
    return;
  for (std::size_t j = 0; j < state.y.size(); ++j) {
    const auto first = at(array_.first(static_cast<int>(j)));
    state.y[j] = full_[first];
    state.z[j] = full_rate_[first];
  }
}

ImplicitProblem::Change ArrayProblem::accepted(double t, const double* x) {
  if (free_.rows() == 0 || integrated_.empty() || !factor(t, x)) return Change::none;
  const double best = free_qr_.volume();
  for (Eigen::Index k = 0; k < own_.cols(); ++k) own_.col(k) = free_.col(dependent_[static_cast<std::size_t>(k)]);
  own_lu_.factor(own_);
  if (std::abs(own_lu_.determinant()) >= keep_above * best) return Change::none;
  choose();
  return Change::pattern;
}

}  // namespace hinge
