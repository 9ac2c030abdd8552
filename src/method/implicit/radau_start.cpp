#include "method/implicit/radau_start.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "method/vectors.hpp"

namespace hinge {

namespace {

const double root6 = std::sqrt(6.0);
const double nodes[3] = {(4 - root6) / 10, (4 + root6) / 10, 1};
const double tableau[3][3] = {
    {(88 - 7 * root6) / 360, (296 - 169 * root6) / 1800, (-2 + 3 * root6) / 225},
    {(296 + 169 * root6) / 1800, (88 + 7 * root6) / 360, (-2 - 3 * root6) / 225},
    {(16 - root6) / 36, (16 + root6) / 36, 1. / 9},
};

}  // namespace

RadauStart::RadauStart(ImplicitProblem& problem, LinearAlgebra choice)
    : problem_(problem), choice_(choice), n_(static_cast<std::size_t>(problem.size())) {
  Eigen::Matrix3d a;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) a(i, j) = tableau[i][j];
  const Eigen::Matrix3d inverse = a.inverse();
  for (std::size_t i = 0; i < stages; ++i)
    for (std::size_t j = 0; j < stages; ++j)
      gamma_[i][j] = inverse(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  for (auto* v : {&x0_, &rate_}) v->resize(n_);
  for (auto* v : {&x_, &increment_}) v->resize(stages * n_);
}

// Row i of stage s has the entries of row i of the problem once for every stage.
void RadauStart::rebuild() {
  of_stage_ = problem_.pattern();
  const Pattern& p = problem_.pattern();
  const int n = p.rows;
  pattern_ = Pattern{static_cast<int>(stages) * n, static_cast<int>(stages) * n, {0}, {}};
  for (std::size_t s = 0; s < stages; ++s)
    for (std::size_t i = 0; i < n_; ++i) {
      for (int other = 0; other < static_cast<int>(stages); ++other)
        for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k)
          pattern_.column.push_back(other * n + p.column[static_cast<std::size_t>(k)]);
      pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
    }
  values_.resize(pattern_.entries());
  f_x_.resize(p.entries());
  f_rate_.resize(p.entries());
  solver_ = make_linear_solver(pattern_, choice_);
}

void RadauStart::rates(std::size_t stage, double h) {
  for (std::size_t i = 0; i < n_; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < stages; ++j) sum += gamma_[stage][j] * (x_[j * n_ + i] - x0_[i]);
    rate_[i] = sum / h;
  }
}

// Rows and unknowns are scaled by powers of h as in IterationMatrix.
bool RadauStart::factor(double t, double h) {
  const Pattern& p = problem_.pattern();
  const double size = std::abs(h);
  auto value = values_.begin();
  for (std::size_t s = 0; s < stages; ++s) {
    rates(s, h);
    problem_.jacobian(t + nodes[s] * h, x_.data() + s * n_, rate_.data(), f_x_.data(), f_rate_.data());
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t other = 0; other < stages; ++other)
        for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k) {
          const int power = problem_.row_scale()[i] - problem_.unknowns()[static_cast<std::size_t>(p.column[k])].scale;
          const double entry = (other == s ? f_x_[k] : 0.0) + gamma_[s][other] / h * f_rate_[k];
          *value++ = entry * std::pow(size, power);
        }
  }
  return solver_->factor(values_.data());
}

NewtonTrouble RadauStart::step(State& state, double h, Counters& counters) {
  constexpr int most_iterations = 25;
  if (!problem_.from_state(state, x0_.data(), rate_.data())) return NewtonTrouble::singular;
  // a derivative array may have chosen other unknowns, with another pattern of the same size
  const Pattern& p = problem_.pattern();
  if (!solver_ || p.row_start != of_stage_.row_start || p.column != of_stage_.column) rebuild();
  for (std::size_t s = 0; s < stages; ++s)
    for (std::size_t i = 0; i < n_; ++i) x_[s * n_ + i] = x0_[i] + nodes[s] * h * rate_[i];
  double last = INFINITY;
  for (int k = 0; k < most_iterations; ++k) {
    ++counters.factorisations;
    if (!factor(state.t, h)) return NewtonTrouble::singular;
    for (std::size_t s = 0; s < stages; ++s) {
      rates(s, h);
      double* out = increment_.data() + s * n_;
      problem_.residual(state.t + nodes[s] * h, x_.data() + s * n_, rate_.data(), out);
      for (std::size_t i = 0; i < n_; ++i) out[i] *= std::pow(std::abs(h), problem_.row_scale()[i]);
    }
    ++counters.iterations;
    counters.evaluations += static_cast<long>(stages);
    solver_->solve(increment_.data());
    double change = 0, size = 1e-200;
    for (std::size_t s = 0; s < stages; ++s)
      for (std::size_t i = 0; i < n_; ++i) {
        const double scaled = increment_[s * n_ + i];  // of h^b x
        x_[s * n_ + i] -= scaled * std::pow(std::abs(h), -problem_.unknowns()[i].scale);
        change = larger(change, std::abs(scaled));
        size = larger(size, std::abs(x_[s * n_ + i]) * std::pow(std::abs(h), problem_.unknowns()[i].scale));
      }
    change /= size;
    if (!std::isfinite(change)) return NewtonTrouble::not_finite;
    if (change <= 1e-16 || (k > 0 && change >= 0.5 * last && change < 1e-8)) {
      rates(2, h);
      problem_.to_state(state.t + h, x_.data() + 2 * n_, rate_.data(), state);
      return NewtonTrouble::none;
    }
    last = change;
  }
  return NewtonTrouble::slow;
}

}  // namespace hinge
