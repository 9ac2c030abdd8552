// The fixed-leading-coefficient form of BDF with changing steps and orders (Brenan, Campbell and Petzold).
//
// History: phi_1 .. phi_{k+2}, scaled divided differences of x at t_n, t_{n-1}, ...; psi_i = t_n - t_{n-i}. For a step
// h to t_{n+1} at order k, i = 1 .. k+1:
//
//   psi_i = t_{n+1} - t_{n+1-i}      beta_1 = 1,  beta_i = beta_{i-1} psi_{i-1}(n+1) / psi_{i-1}(n)
//   alpha_i = h / psi_i              sigma_1 = 1, sigma_i = (i-1) alpha_i sigma_{i-1}
//   gamma_1 = 0, gamma_i = gamma_{i-1} + alpha_{i-1} / h
//   alpha_s = -sum_{j<=k} 1/j        alpha_0 = -sum_{j<=k} alpha_j
//
// Predictor: x = sum phi*_i, x' = sum gamma_i phi*_i with phi*_i = beta_i phi_i. Corrector: x' = predicted x' + c e
// with c = -alpha_s / h and e = x - predicted x. The local error is  error_factor |e|.
//
// In the code indices begin with 0: phi_1 is phi[0].
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace hinge {

struct BdfCoefficients {
  static constexpr std::size_t most_order = 5;
  using List = std::array<double, most_order + 2>;
  List psi{}, beta{}, alpha{}, sigma{}, gamma{};
  double c = 0, error_factor = 0;
  int equal_steps = 0;  // with the same h and k, this one included

  /// `before` are those of the last accepted step, which had the length h_before and the order k_before.
  void set(const BdfCoefficients& before, double h_before, std::size_t k_before, double h, std::size_t k) {
    const int same = h == h_before && k == k_before ? before.equal_steps : 0;
    equal_steps = std::min(same + 1, static_cast<int>(k_before) + 2);
    beta[0] = alpha[0] = sigma[0] = 1;
    gamma[0] = 0;
    double span = h, alpha_s = 0, alpha_0 = 0;
    for (std::size_t i = 1; i <= k; ++i) {
      psi[i - 1] = span;
      beta[i] = beta[i - 1] * span / before.psi[i - 1];
      span = before.psi[i - 1] + h;
      alpha[i] = h / span;
      sigma[i] = static_cast<double>(i) * sigma[i - 1] * alpha[i];
      gamma[i] = gamma[i - 1] + alpha[i - 1] / h;
      alpha_s -= 1 / static_cast<double>(i);
      alpha_0 -= alpha[i - 1];
    }
    psi[k] = span;
    c = -alpha_s / h;
    error_factor = std::max(alpha[k], std::abs(alpha[k] + alpha_s - alpha_0));
  }

  /// Weights w_j, j = 0 .. k, with x(t_n + s) ~ sum_j w_j phi[j], and those of x'.
  void interpolation(double s, std::size_t k, List& value, List& rate) const {
    value[0] = 1;
    rate[0] = 0;
    double before = 0;  // psi_{j-1}
    for (std::size_t j = 1; j <= k; ++j) {
      const double factor = (s + before) / psi[j - 1];
      rate[j] = rate[j - 1] * factor + value[j - 1] / psi[j - 1];
      value[j] = value[j - 1] * factor;
      before = psi[j - 1];
    }
  }

  /// History whose values x(t_n + s) at the last points become `change(s, x)`.
  template <class History, class Change>
  void change_values(std::size_t points, History& phi, History& work, Change&& change) const {
    const auto place = [this](std::size_t i) { return i == 0 ? 0.0 : -psi[i - 1]; };
    const std::size_t n = phi[0].size();
    for (std::size_t i = 0; i < points; ++i) {
      double factor = 1;
      std::fill(work[i].begin(), work[i].end(), 0.0);
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t k = 0; k < n; ++k) work[i][k] += factor * phi[j][k];
        factor *= (place(i) - place(j)) / psi[j];
      }
      change(place(i), work[i].data());
    }
    for (std::size_t i = 0; i < points; ++i) phi[i] = work[i];
    for (std::size_t j = 1; j < points; ++j)  // divided differences
      for (std::size_t i = points - 1; i >= j; --i)
        for (std::size_t k = 0; k < n; ++k) phi[i][k] = (phi[i - 1][k] - phi[i][k]) / (place(i - j) - place(i));
    double factor = 1;
    for (std::size_t j = 1; j < points; ++j) {
      factor *= psi[j - 1];
      for (std::size_t k = 0; k < n; ++k) phi[j][k] *= factor;
    }
  }
};

}  // namespace hinge
