#include "method/implicit/radau_coupled.hpp"

#include <cmath>

namespace hinge {

void RadauCoupled::match_pattern() {
  const Pattern& p = problem_.pattern();
  if (solver_ && p.row_start == pattern_.row_start && p.column == pattern_.column) return;
  pattern_ = p;
  const int s = tableau_.stages;
  Pattern all;
  all.rows = all.columns = s * p.rows;
  for (int i = 0; i < s; ++i)
    for (std::size_t row = 0; row < static_cast<std::size_t>(p.rows); ++row) {
      for (int j = 0; j < s; ++j)
        for (auto e = static_cast<std::size_t>(p.row_start[row]); e < static_cast<std::size_t>(p.row_start[row + 1]);
             ++e)
          all.column.push_back(j * p.rows + p.column[e]);
      all.row_start.push_back(static_cast<int>(all.column.size()));
    }
  solver_ = make_linear_solver(all, choice_);
  values_.resize(all.entries());
  for (auto* v : {&f_x_, &f_rate_}) v->resize(p.entries());
  for (auto* v : {&x_, &rate_}) v->resize(static_cast<std::size_t>(p.rows));
}

// Rows and columns are scaled by the solver.
RadauCoupled::Outcome RadauCoupled::iterate(double t0, const double* x0, double h, double* z, double* dz) {
  match_pattern();
  const auto n = static_cast<std::size_t>(pattern_.rows), s = static_cast<std::size_t>(tableau_.stages);
  std::size_t at = 0;
  double sum = 0;
  for (std::size_t i = 0; i < s; ++i) {
    const auto gamma = [&](std::size_t j) {
      return tableau_.gamma(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) / h;
    };
    for (std::size_t k = 0; k < n; ++k) {
      x_[k] = x0[k] + z[i * n + k];
      rate_[k] = 0;
      for (std::size_t j = 0; j < s; ++j) rate_[k] += gamma(j) * z[j * n + k];
    }
    const double t = t0 + tableau_.c(static_cast<Eigen::Index>(i)) * h;
    problem_.residual(t, x_.data(), rate_.data(), dz + i * n);
    problem_.jacobian(t, x_.data(), rate_.data(), f_x_.data(), f_rate_.data());
    counters_.evaluations += 2;
    for (std::size_t k = 0; k < n; ++k) {
      dz[i * n + k] = -dz[i * n + k];
      sum += dz[i * n + k];
    }
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t j = 0; j < s; ++j)
        for (auto e = static_cast<std::size_t>(pattern_.row_start[row]);
             e < static_cast<std::size_t>(pattern_.row_start[row + 1]); ++e) {
          values_[at++] = gamma(j) * f_rate_[e] + (i == j ? f_x_[e] : 0);
          sum += values_[at - 1];
        }
  }
  ++counters_.iterations;
  ++counters_.factorisations;
  ++counters_.full_newton;
  if (!std::isfinite(sum)) return Outcome::not_finite;
  if (!solver_->factor(values_.data())) return Outcome::singular;
  solver_->solve(dz);
  for (std::size_t k = 0; k < s * n; ++k) z[k] += dz[k];
  return Outcome::improved;
}

}  // namespace hinge
