#include "method/implicit/radau_stages.hpp"

#include <algorithm>
#include <cmath>

#include "method/implicit/power.hpp"
#include "solve/newton/at_rounding.hpp"

namespace hinge {

RadauStages::RadauStages(ImplicitProblem& problem, int most_stages, LinearAlgebra choice, Counters& counters)
    : problem_(problem), choice_(choice), counters_(counters), most_stages_(most_stages) {}

void RadauStages::use(const RadauTableau& tableau) { tableau_ = &tableau; }

void RadauStages::match_pattern() {
  const Pattern& p = problem_.pattern();
  if (built_ && p.row_start == pattern_.row_start && p.column == pattern_.column) return;
  built_ = true;
  pattern_ = p;
  n_ = static_cast<std::size_t>(p.rows);
  complex_.clear();
  reduced_.reset();
  const ImplicitProblem::Shape shape = problem_.projected_invariants();
  if (shape.psi > 0 && (choice_ == LinearAlgebra::dense || (choice_ == LinearAlgebra::automatic && p.rows <= 100))) {
    reduced_ = std::make_unique<RadauReduced>(p, shape, most_stages_);
  } else {
    real_ = make_linear_solver(p, choice_);
    for (int k = 0; k < most_stages_ / 2; ++k) complex_.push_back(make_complex_solver(p, choice_));
  }
  for (auto* v : {&f_x_, &f_rate_, &real_values_}) v->assign(p.entries(), 0.0);
  for (auto* v : {&row_, &column_, &real_work_}) v->assign(n_, 1.0);
  for (auto* v : {&f_, &x_, &rate_}) v->assign(static_cast<std::size_t>(most_stages_) * n_, 0.0);
  times_.assign(static_cast<std::size_t>(most_stages_), 0.0);
  complex_values_.assign(p.entries(), 0.0);
  complex_work_.assign(n_, 0.0);
  differential_.assign(n_, 0);
}

void RadauStages::linearise(double t, const double* x, const double* rate) {
  problem_.jacobian(t, x, rate, f_x_.data(), f_rate_.data());
  ++counters_.evaluations;
  std::fill(differential_.begin(), differential_.end(), char{0});
  for (std::size_t k = 0; k < f_rate_.size(); ++k)
    if (f_rate_[k] != 0) differential_[static_cast<std::size_t>(pattern_.column[k])] = 1;
  if (reduced_) regular_ = reduced_->linearise(f_x_.data(), f_rate_.data());
}

bool RadauStages::factor(double h, bool all) {
  if (reduced_) {
    counters_.factorisations += static_cast<long>(tableau_->eigenvalues.size()) + (tableau_->has_real() ? 1 : 0);
    return regular_ && reduced_->factor(h, *tableau_);
  }
  const double size = std::abs(h);
  for (std::size_t i = 0; i < n_; ++i) {
    row_[i] = power(size, problem_.row_scale()[i]);
    column_[i] = power(size, -problem_.unknowns()[i].scale);
  }
  const Pattern& p = problem_.pattern();
  const auto fill = [&](auto shift, auto* out) {
    for (std::size_t i = 0; i < n_; ++i)
      for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
        out[k] = row_[i] * column_[static_cast<std::size_t>(p.column[k])] * (f_x_[k] + shift * f_rate_[k]);
  };
  if (tableau_->has_real()) {
    fill(tableau_->real_eigenvalue / h, real_values_.data());
    ++counters_.factorisations;
    if (!real_->factor(real_values_.data())) return false;
  }
  for (std::size_t k = 0; all && k < tableau_->eigenvalues.size(); ++k) {
    fill(tableau_->eigenvalues[k] / h, complex_values_.data());
    ++counters_.factorisations;
    if (!complex_[k]->factor(complex_values_.data())) return false;
  }
  return true;
}

void RadauStages::solve_real(double* x) {
  if (reduced_) return reduced_->solve_real(x);
  for (std::size_t i = 0; i < n_; ++i) x[i] *= row_[i];
  real_->solve(x);
  for (std::size_t i = 0; i < n_; ++i) x[i] *= column_[i];
}

void RadauStages::rate(int i, double h, const double* z, double* out) const {
  const auto s = static_cast<std::size_t>(tableau_->stages);
  for (std::size_t j = 0; j < s; ++j) {
    const double g = tableau_->gamma(i, static_cast<Eigen::Index>(j)) / h;
    const double* from = z + j * n_;
    if (j == 0)
      for (std::size_t k = 0; k < n_; ++k) out[k] = g * from[k];
    else
      for (std::size_t k = 0; k < n_; ++k) out[k] += g * from[k];
  }
}

bool RadauStages::iterate(double t0, const double* x0, double h, double* z, double* dz) {
  const auto s = static_cast<std::size_t>(tableau_->stages);
  ++counters_.iterations;
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t k = 0; k < n_; ++k) x_[i * n_ + k] = x0[k] + z[i * n_ + k];
    rate(static_cast<int>(i), h, z, rate_.data() + i * n_);
    times_[i] = t0 + tableau_->c(static_cast<Eigen::Index>(i)) * h;
  }
  problem_.residuals(tableau_->stages, times_.data(), x_.data(), rate_.data(), f_.data());
  counters_.evaluations += tableau_->stages;
  double sum = 0;
  for (std::size_t i = 0; i < s; ++i)
    for (std::size_t k = 0; k < n_; ++k) {
      f_[i * n_ + k] *= -row_[k];
      sum += f_[i * n_ + k];
    }
  if (!std::isfinite(sum)) return false;
  if (reduced_) {
    reduced_->solve(f_.data(), dz);
    for (std::size_t k = 0; k < s * n_; ++k) z[k] += dz[k];
    return true;
  }
  std::fill_n(dz, s * n_, 0.0);
  if (tableau_->has_real()) {
    std::fill(real_work_.begin(), real_work_.end(), 0.0);
    for (std::size_t i = 0; i < s; ++i) {
      const double l = tableau_->real_left(static_cast<Eigen::Index>(i));
      for (std::size_t k = 0; k < n_; ++k) real_work_[k] += l * f_[i * n_ + k];
    }
    real_->solve(real_work_.data());
    for (std::size_t i = 0; i < s; ++i) {
      const double r = tableau_->real_right(static_cast<Eigen::Index>(i));
      for (std::size_t k = 0; k < n_; ++k) dz[i * n_ + k] += r * real_work_[k];
    }
  }
  for (std::size_t e = 0; e < tableau_->eigenvalues.size(); ++e) {
    std::fill(complex_work_.begin(), complex_work_.end(), Complex(0));
    for (std::size_t i = 0; i < s; ++i) {
      const Complex l = tableau_->left[e](static_cast<Eigen::Index>(i));
      for (std::size_t k = 0; k < n_; ++k) complex_work_[k] += l * f_[i * n_ + k];
    }
    complex_[e]->solve(complex_work_.data());
    // the conjugate pair contributes the conjugate
    for (std::size_t i = 0; i < s; ++i) {
      const Complex r = tableau_->right[e](static_cast<Eigen::Index>(i));
      for (std::size_t k = 0; k < n_; ++k)
        dz[i * n_ + k] += 2 * (r.real() * complex_work_[k].real() - r.imag() * complex_work_[k].imag());
    }
  }
  for (std::size_t i = 0; i < s; ++i)
    for (std::size_t k = 0; k < n_; ++k) {
      dz[i * n_ + k] *= column_[k];
      z[i * n_ + k] += dz[i * n_ + k];
    }
  return true;
}

bool RadauStages::left_rounding(double h, const double* z, bool within) {
  const auto s = static_cast<std::size_t>(tableau_->stages);
  // Rounding goes from stage to stage, so that the largest of all stages counts.
  within_.assign(n_, 0.0);
  std::vector<double>& of_stage = real_work_;
  for (std::size_t j = 0; within && j < s; ++j) {
    std::fill(of_stage.begin(), of_stage.end(), 0.0);
    problem_.add_rounding(times_[j], x_.data() + j * n_, rate_.data() + j * n_, of_stage.data());
    for (std::size_t i = 0; i < n_; ++i) within_[i] = std::max(within_[i], row_[i] * of_stage[i]);
  }
  for (std::size_t k = 0; k < n_; ++k) {
    double x = 0, rate = 0;
    for (std::size_t j = 0; j < s; ++j) x = std::max(x, std::abs(x_[j * n_ + k]));
    for (std::size_t j = 0; j < s; ++j)  // X is rounded itself, and slopes are differences of it over the step
      rate += tableau_->gamma.col(static_cast<Eigen::Index>(j)).cwiseAbs().maxCoeff() *
              (std::abs(z[j * n_ + k]) + x / roundings);
    x_[k] = x;
    rate_[k] = rate / std::abs(h);
  }
  const auto term = [&](std::size_t i, std::size_t e, std::size_t k) {
    return row_[i] * (std::abs(f_x_[e]) * x_[k] + std::abs(f_rate_[e]) * rate_[k]);
  };
  for (std::size_t i = 0; i < s; ++i)
    if (!residual_is_rounding(pattern_, f_.data() + i * n_, within_.data(), term)) return false;
  return true;
}

}  // namespace hinge
