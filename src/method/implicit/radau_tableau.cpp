#include "method/implicit/radau_tableau.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "solve/linear/lu.hpp"
#include "solve/linear/spectrum.hpp"

#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Real = long double;
using Reals = std::vector<Real>;

// P_n(x) and P_n'(x), |x| < 1
std::pair<Real, Real> legendre(int n, Real x) {
  Real before = 1, now = x;
  if (n == 0) return {1, 0};
  for (int k = 2; k <= n; ++k) {
    const Real next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  return {now, n * (before - x * now) / (1 - x * x)};
}

// The roots of P_s - P_{s-1} other than 1, by Newton's iteration from between the extrema of a cosine.
Reals nodes(int s) {
  Reals c;
  for (int k = 1; k < s; ++k) {
    const Real guess = -std::cos(std::acos(Real(-1)) * (2 * k - 1) / (2 * s - 1));
    const Real x = newton_root(guess, [s](Real at) {
      const auto [p, dp] = legendre(s, at);
      const auto [q, dq] = legendre(s - 1, at);
      return (p - q) / (dp - dq);
    });
    c.push_back((1 + x) / 2);
  }
  c.push_back(1);
  return c;
}

// Values (or derivatives) at theta of the Lagrange polynomials of `at` that belong to its entries from `first` on.
void lagrange(const Reals& at, std::size_t first, Real theta, bool derivative, double* out) {
  for (std::size_t j = first; j < at.size(); ++j) {
    Real sum = 0;
    if (!derivative) {
      sum = 1;
      for (std::size_t k = 0; k < at.size(); ++k)
        if (k != j) sum *= (theta - at[k]) / (at[j] - at[k]);
    } else {
      for (std::size_t l = 0; l < at.size(); ++l) {
        if (l == j) continue;
        Real product = 1 / (at[j] - at[l]);
        for (std::size_t k = 0; k < at.size(); ++k)
          if (k != j && k != l) product *= (theta - at[k]) / (at[j] - at[k]);
        sum += product;
      }
    }
    out[j - first] = static_cast<double>(sum);
  }
}

void add_spectrum(RadauTableau& t) {
  const auto [values, v] = eigenpairs(t.gamma);
  const Eigen::MatrixXcd inverse = Lu<RadauTableau::Complex>(v).inverse();
  for (Eigen::Index k = 0; k < t.stages; ++k) {
    const RadauTableau::Complex mu = values(k);
    if (mu.imag() > 0) {
      t.eigenvalues.push_back(mu);
      t.right.emplace_back(v.col(k));
      t.left.emplace_back(inverse.row(k).transpose());
    } else if (mu.imag() == 0) {
      t.real_eigenvalue = mu.real();
      // an eigenvector is known up to a factor: the product of both is what counts
      t.real_right = v.col(k).real();
      t.real_left = inverse.row(k).transpose().real();
    }
  }
}

// On a grid: where exactly the maxima are does not matter.
void add_between(RadauTableau& t) {
  std::vector<std::pair<double, double>> maxima;  // of |w|, with their places
  for (std::size_t k = 0; k + 1 < t.at.size(); ++k) {
    const auto low = static_cast<double>(t.at[k]), high = static_cast<double>(t.at[k + 1]);
    std::pair<double, double> best{0, low};
    for (int i = 1; i < 32; ++i) {
      const double theta = low + (high - low) * i / 32;
      best = std::max(best, {std::abs(t.w(theta)), theta});
    }
    maxima.push_back(best);
  }
  std::sort(maxima.rbegin(), maxima.rend());
  t.largest_between = maxima.front().first;
  for (std::size_t k = 0; k < std::min<std::size_t>(maxima.size(), 2); ++k) t.between.push_back(maxima[k].second);
}

}  // namespace

double RadauTableau::w(double theta) const {
  double product = 1;
  for (const long double node : at) product *= theta - static_cast<double>(node);
  return product;
}

void RadauTableau::weights(double theta, double* w) const { lagrange(at, 1, theta, false, w); }
void RadauTableau::rate_weights(double theta, double* w) const { lagrange(at, 1, theta, true, w); }

namespace {

RadauTableau make_tableau(int stages) {
  RadauTableau t;
  t.stages = stages;
  const Reals c = nodes(stages);
  t.at = {0};
  t.at.insert(t.at.end(), c.begin(), c.end());
  t.c.resize(stages);
  t.gamma.resize(stages, stages);
  t.start.resize(stages);
  std::vector<double> row(static_cast<std::size_t>(stages));
  for (int i = 0; i < stages; ++i) {
    t.c(i) = static_cast<double>(c[static_cast<std::size_t>(i)]);
    lagrange(t.at, 1, c[static_cast<std::size_t>(i)], true, row.data());
    for (int j = 0; j < stages; ++j) t.gamma(i, j) = row[static_cast<std::size_t>(j)];
  }
  lagrange(t.at, 1, 0, true, t.start.data());
  add_spectrum(t);
  add_between(t);
  return t;
}

}  // namespace

const RadauTableau& radau_tableau(int stages) {
  static std::mutex mutex;
  static std::map<int, RadauTableau> known;
  const std::lock_guard lock(mutex);
  const auto at = known.find(stages);
  return at != known.end() ? at->second : known.emplace(stages, make_tableau(stages)).first->second;
}

}  // namespace hinge
