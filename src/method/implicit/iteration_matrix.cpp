#include "method/implicit/iteration_matrix.hpp"

#include <cmath>
#include <cstdlib>

#include "method/implicit/power.hpp"

namespace hinge {

IterationMatrix::IterationMatrix(ImplicitProblem& problem, LinearAlgebra choice) : problem_(problem), choice_(choice) {
  rebuild();
}

void IterationMatrix::rebuild() {
  const Pattern& p = problem_.pattern();
  if (p.rows != p.columns) return;  // a chart is chosen with the first state
  solver_ = make_linear_solver(p, choice_);
  for (auto* v : {&f_x_, &f_rate_, &values_}) v->assign(p.entries(), 0.0);
  for (auto* v : {&row_, &column_}) v->assign(static_cast<std::size_t>(p.rows), 1.0);
}

void IterationMatrix::evaluate(double t, const double* x, const double* rate) {
  problem_.jacobian(t, x, rate, f_x_.data(), f_rate_.data());
}

void IterationMatrix::scale(double h) {
  const double size = std::abs(h);
  for (std::size_t i = 0; i < row_.size(); ++i) {
    row_[i] = power(size, problem_.row_scale()[i]);
    column_[i] = power(size, -problem_.unknowns()[i].scale);
  }
}

bool IterationMatrix::factor(double h, double c) {
  scale(h);
  const Pattern& p = problem_.pattern();
  for (std::size_t i = 0; i < row_.size(); ++i)
    for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
      values_[k] = row_[i] * column_[static_cast<std::size_t>(p.column[k])] * (f_x_[k] + c * f_rate_[k]);
  return solver_->factor(values_.data());
}

void IterationMatrix::solve(double* x) {
  for (std::size_t i = 0; i < row_.size(); ++i) x[i] *= row_[i];
  solver_->solve(x);
  for (std::size_t i = 0; i < row_.size(); ++i) x[i] *= column_[i];
}

}  // namespace hinge
