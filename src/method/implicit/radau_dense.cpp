#include "method/implicit/radau_dense.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solve/machine_numbers.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_pieces = 32;
constexpr int most_rounds = 3;
constexpr double newton_part = 0.05;  // of the tolerance, that Newton's iteration may leave
constexpr double enough = 0.5;        // of it, the error of a piece
constexpr int most_weights = 9;

// out += sum_j w_j Z_j / divisor
void add_stages(const RadauPolynomial& u, const double* w, double divisor, double* out) {
  const std::size_t n = u.from.size();
  for (std::size_t j = 0; j < u.stages(); ++j) {
    const double factor = w[j] / divisor;
    const double* z = u.z.data() + j * n;
    for (std::size_t k = 0; k < n; ++k) out[k] += factor * z[k];
  }
}

}  // namespace

void RadauPolynomial::value(double theta, double* x) const {
  std::array<double, most_weights> w{};
  tableau->weights(theta, w.data());
  std::copy(from.begin(), from.end(), x);
  add_stages(*this, w.data(), 1, x);
}

void RadauPolynomial::rate(double theta, double* out) const {
  std::array<double, most_weights> w{};
  tableau->rate_weights(theta, w.data());
  std::fill_n(out, from.size(), 0.0);
  add_stages(*this, w.data(), h, out);
}

void radau_defect(ImplicitProblem& problem, RadauStages& stages, const RadauPolynomial& u, double theta, double* x,
                  double* rate, double* delta) {
  u.value(theta, x);
  u.rate(theta, rate);
  problem.residual(u.time(theta), x, rate, delta);
  stages.solve_real(delta);
}

RadauDense::RadauDense(ImplicitProblem& problem, int most_stages, LinearAlgebra choice, const Tolerance& tolerance,
                       std::vector<char> shown)
    : problem_(problem), most_stages_(most_stages), choice_(choice), tolerance_(tolerance), shown_(std::move(shown)) {
  for (auto* v : {&x_, &rate_, &weight_, &shift_}) v->resize(shown_.size());
}

// In units of the tolerance, those of higher index multiplied with powers of h as in the error test of steps.
void RadauDense::set_weights(const RadauPolynomial& u) {
  double largest = 0;
  for (std::size_t k = 0; k < shown_.size(); ++k)
    if (shown_[k]) largest = std::max(largest, std::abs(u.from[k]));
  const double least = std::max(1e-6 * tolerance_.relative * largest, 1e-200);
  for (std::size_t k = 0; k < shown_.size(); ++k) {
    const ImplicitProblem::Unknown& unknown = problem_.unknowns()[k];
    const double size = std::max(std::abs(u.from[k]), std::abs(u.from[k] + u.z[(u.stages() - 1) * shown_.size() + k]));
    double w = 1 / std::max(tolerance_.absolute + tolerance_.relative * size, least);
    for (int power = std::max(unknown.index - 1, unknown.scale); power > 0; --power) w *= u.h;
    weight_[k] = unknown.vanishes ? 0 : w;
  }
}

bool RadauDense::linearise(const RadauPolynomial& u, double theta, double h) {
  u.value(theta, x_.data());
  u.rate(theta, rate_.data());
  stages_->linearise(u.time(theta), x_.data(), rate_.data());
  return stages_->factor(h);
}

// The stages of a piece, from the values of u.
bool RadauDense::solve(const RadauPolynomial& u, RadauPolynomial& piece) {
  const std::size_t n = shown_.size(), s = piece.stages();
  for (std::size_t i = 0; i < s; ++i) {
    double* z = piece.z.data() + i * n;
    u.value((piece.time(u.tableau->c(static_cast<Eigen::Index>(i))) - u.t) / u.h, z);
    for (std::size_t k = 0; k < n; ++k) z[k] -= piece.from[k];
  }
  WithinTolerance rule(newton_policy::collocation_within_tolerance);
  rule.policy.limit = 7 + (u.tableau->stages - 3) * 5 / 2;
  rule.policy.enough = std::max(10 * epsilon / tolerance_.relative, newton_part);
  return solved_by_newton(rule, [&]() -> Increment {
    if (!stages_->iterate(piece.t, piece.from.data(), piece.h, piece.z.data(), dz_.data())) return no_increment;
    double sum = 0;
    for (std::size_t i = 0; i < s; ++i)
      for (std::size_t k = 0; k < n; ++k) {
        const double part = dz_[i * n + k] * weight_[k];
        sum += part * part;
      }
    return std::sqrt(sum / static_cast<double>(n * s));
  });
}

double RadauDense::error_of(const RadauPolynomial& piece) {
  double worst = 0;
  for (const double theta : piece.tableau->between) {
    radau_defect(problem_, *stages_, piece, theta, x_.data(), rate_.data(), dz_.data());
    for (std::size_t k = 0; k < shown_.size(); ++k)
      if (const double size = std::abs(dz_[k]) * weight_[k]; shown_[k] && !(size <= worst)) worst = size;
  }
  return worst;
}

bool RadauDense::divide(const RadauPolynomial& u, std::size_t count) {
  const double h = u.h / static_cast<double>(count);
  if (!linearise(u, 0.5, h)) return false;
  for (std::size_t i = pieces_.size(); i < count; ++i) pieces_.push_back(u);
  for (std::size_t i = 0; i < count; ++i) {
    RadauPolynomial& piece = pieces_[i];
    piece.tableau = u.tableau;
    piece.t = u.time(static_cast<double>(i) / static_cast<double>(count));
    piece.h = h;
    if (i == 0)
      piece.from = u.from;
    else
      pieces_[i - 1].value(1, piece.from.data());
    if (solve(u, piece)) continue;
    // with the derivatives of this piece
    if (!linearise(u, (static_cast<double>(i) + 0.5) / static_cast<double>(count), h) || !solve(u, piece)) return false;
  }
  return true;
}

void RadauDense::prepare(const RadauPolynomial& u, const std::vector<double>& end, double error) {
  ready_ = true;
  count_ = 0;
  const double power = 1.0 / (u.tableau->stages + 1);
  if (error > enough) {
    if (!stages_) {
      stages_ = std::make_unique<RadauStages>(problem_, most_stages_, choice_, counters_);
      dz_.resize(shown_.size() * static_cast<std::size_t>(most_stages_));
    }
    stages_->use(*u.tableau);
    stages_->match_pattern();
    set_weights(u);
    auto count =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(std::pow(error / enough, power))), 2, most_pieces);
    for (int round = 0; round < most_rounds; ++round) {
      count_ = 0;
      if (!divide(u, count)) break;
      count_ = count;
      double worst = 0;
      for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, error_of(pieces_[i]));
      if (worst <= enough || count == most_pieces) break;
      const double more = std::ceil(static_cast<double>(count) * std::min(1.1 * std::pow(worst / enough, power), 4.0));
      count = std::min(static_cast<std::size_t>(more), most_pieces);
    }
  }
  const RadauPolynomial& last = count_ > 0 ? pieces_[count_ - 1] : u;
  last.value(1, shift_.data());
  for (std::size_t k = 0; k < shift_.size(); ++k) shift_[k] = end[k] - shift_[k];
}

void RadauDense::at(const RadauPolynomial& u, const std::vector<double>& end, double error, double t, double* x,
                    double* rate) {
  if (!ready_) prepare(u, end, error);
  const double theta = (t - u.t) / u.h;
  const RadauPolynomial* at = &u;
  if (count_ > 0) {
    const double place = std::floor(theta * static_cast<double>(count_));
    at = &pieces_[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(count_ - 1)))];
  }
  const double own = (t - at->t) / at->h;
  at->value(own, x);
  at->rate(own, rate);
  for (std::size_t k = 0; k < shift_.size(); ++k) x[k] += theta * shift_[k];
}

void RadauDense::sketch(const RadauPolynomial& u, const std::vector<double>& end, double t, double* x,
                        double* rate) const {
  const double theta = (t - u.t) / u.h;
  const std::size_t n = shown_.size(), last = (u.stages() - 1) * n;
  u.value(theta, x);
  u.rate(theta, rate);
  for (std::size_t k = 0; k < n; ++k) x[k] += theta * (end[k] - u.from[k] - u.z[last + k]);
}

}  // namespace hinge
