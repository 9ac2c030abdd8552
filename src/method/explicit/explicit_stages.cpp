// The stages of an explicit step, its error estimate, and what lies between its ends.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "method/consistent_row.hpp"
#include "method/explicit/explicit.hpp"

namespace hinge {

namespace {

using Pair = double __attribute__((vector_size(16)));  // two numbers in one register, each rounded as if alone

inline Pair load(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// The next 2 P numbers of a weighted sum, all in registers.
template <int P>
inline void weighted_pairs(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int n,
                           double* out) {
  std::array<Pair, static_cast<std::size_t>(P)> sum{};
  for (const auto& [stage, weight] : row) {
    const double* from = k + stage * n;
    for (int p = 0; p < P; ++p) sum[static_cast<std::size_t>(p)] += weight * load(from + 2 * p);
  }
  for (int p = 0; p < P; ++p) {
    const Pair start = x ? load(x + 2 * p) : Pair{};
    const Pair result = start + h * sum[static_cast<std::size_t>(p)];
    std::memcpy(out + 2 * p, &result, sizeof result);
  }
}

// out = x + h sum_j w_j k_j for n numbers; without x, h sum_j w_j k_j
void sum_in_pairs(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int n, double* out) {
  int i = 0;
  const auto next = [&]<int P>(std::integral_constant<int, P>) {
    for (; i + 2 * P <= n; i += 2 * P) weighted_pairs<P>(row, x ? x + i : nullptr, h, k + i, n, out + i);
  };
  next(std::integral_constant<int, 6>());
  next(std::integral_constant<int, 2>());
  next(std::integral_constant<int, 1>());
  if (i == n) return;
  double sum = 0;
  for (const auto& [stage, weight] : row) sum += weight * k[stage * n + i];
  out[i] = (x ? x[i] : 0.0) + h * sum;
}

#ifdef __x86_64__
// The same for many numbers, 16 at a time, which changes no bit.
[[gnu::target("avx2")]] void sum_in_wide_lanes(const ExplicitTableau::Row& row, const double* x, double h,
                                               const double* k, int n, double* out) {
  constexpr int lanes = 16;
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    std::array<double, lanes> sum{};
    for (const auto& [stage, weight] : row) {
      const double* from = k + stage * n + i;
      for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += weight * from[l];
    }
    for (std::size_t l = 0; l < sum.size(); ++l)
      out[i + static_cast<int>(l)] = (x ? x[i + static_cast<int>(l)] : 0.0) + h * sum[l];
  }
  for (; i < n; ++i) {
    double sum = 0;
    for (const auto& [stage, weight] : row) sum += weight * k[stage * n + i];
    out[i] = (x ? x[i] : 0.0) + h * sum;
  }
}
const bool wide_lanes = __builtin_cpu_supports("avx2");
#endif

void weighted_sum(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int n, double* out) {
#ifdef __x86_64__
  constexpr int many = 64;
  if (n >= many && wide_lanes) return sum_in_wide_lanes(row, x, h, k, n, out);
#endif
  sum_in_pairs(row, x, h, k, n, out);
}

}  // namespace

struct ExplicitStages::Dense {
  Acceleration acceleration;
  ConsistentRow row;
  std::vector<double> r, x, psi;
};

ExplicitStages::ExplicitStages(std::shared_ptr<const System> system, const ExplicitOptions& options,
                               LinearAlgebra choice)
    : system_(std::move(system)),
      tableau_(dormand_prince(options.order)),
      options_(options),
      choice_(choice),
      ny_(system_->ny()),
      nz_(system_->nz()),
      n_(ny_ + nz_),
      acceleration_(system_, choice, options.formulation),
      projection_(system_, options.projection, choice),
      affine_(acceleration_.affine()) {
  const auto n = static_cast<std::size_t>(n_);
  for (auto* v : {&x0_, &x1_, &stage_, &last_stage_, &error_}) v->resize(n);
  k_.resize(n * tableau_.c.size());
  psi_.resize(static_cast<std::size_t>(system_->npsi()));
  start_psi_ = psi_;
}

bool ExplicitStages::rates(double t, const double* x, double* out) {
  ++evaluations_;
  return acceleration_.compute(t, x, x + ny_, psi_.data(), out, out + ny_);
}

void ExplicitStages::combine(const ExplicitTableau::Row& row, const double* x, double h, double* out) const {
  weighted_sum(row, x, h, k_.data(), n_, out);
}

bool ExplicitStages::begin(const State& state) {
  t0_ = state.t;
  h_ = 0;
  std::copy(state.y.begin(), state.y.end(), x0_.begin());
  std::copy(state.z.begin(), state.z.end(), x0_.begin() + ny_);
  std::copy(state.psi.begin(), state.psi.end(), psi_.begin());
  dense_ready_ = false;
  if (!rates(t0_, x0_.data(), rate(0))) return false;
  start_psi_ = psi_;
  x1_ = x0_;
  std::copy_n(rate(0), n_, rate(tableau_.stages));
  return true;
}

bool ExplicitStages::continues(const State& state, double tolerance_in_t) const {
  return std::abs(state.t - (t0_ + h_)) <= tolerance_in_t && std::equal(state.y.begin(), state.y.end(), x1_.begin()) &&
         std::equal(state.z.begin(), state.z.end(), x1_.begin() + ny_);
}

void ExplicitStages::move_on() {
  t0_ += h_;
  h_ = 0;
  std::swap(x0_, x1_);
  x1_ = x0_;
  std::copy_n(rate(tableau_.stages), n_, rate(0));
  start_psi_ = psi_;
  dense_ready_ = false;
}

bool ExplicitStages::stages(double h) {
  for (int i = 1; i < tableau_.stages; ++i) {
    const auto at = static_cast<std::size_t>(i);
    double* x = i + 1 == tableau_.stages ? last_stage_.data() : stage_.data();
    combine(tableau_.a[at], x0_.data(), h, x);
    if (!rates(t0_ + tableau_.c[at] * h, x, rate(i))) {
      psi_ = start_psi_;
      return false;
    }
  }
  combine(tableau_.b(), x0_.data(), h, x1_.data());
  return true;
}

double ExplicitStages::error(double h, const Tolerance& tolerance) {
  // order 5 asks for the rates at x1 as well
  if (tableau_.error.back().stage == tableau_.stages && !rates(t0_ + h, x1_.data(), rate(tableau_.stages)))
    return INFINITY;
  combine(tableau_.error, nullptr, h, error_.data());
  if (tableau_.second_error.empty())
    return std::sqrt(squared_error(error_.data(), x0_.data(), x1_.data(), n_, tolerance) / n_);
  combine(tableau_.second_error, nullptr, h, stage_.data());
  double first = 0, second = 0;
  for (std::size_t i = 0; i < error_.size(); ++i) {
    const double inverse =
        1 / (tolerance.absolute + tolerance.relative * std::max(std::abs(x0_[i]), std::abs(x1_[i])) + 1e-300);
    first += error_[i] * inverse * (error_[i] * inverse);
    second += stage_[i] * inverse * (stage_[i] * inverse);
  }
  const double both = first + 0.01 * second;
  return both > 0 ? first / std::sqrt(both * n_) : (both == 0 ? 0 : INFINITY);
}

bool ExplicitStages::finish(double h) {
  if (projection_.active() &&
      !projection_.project(t0_ + h, x1_.data(), x1_.data() + ny_, psi_.data(), &acceleration_.matrix()))
    return false;
  if (!rates(t0_ + h, x1_.data(), rate(tableau_.stages))) return false;
  h_ = h;
  dense_ready_ = false;
  return true;
}

double ExplicitStages::stiffness(double h) const {
  double numerator = 0, denominator = 0;
  const double *last = rate(tableau_.stages - 1), *end = rate(tableau_.stages);
  for (int i = 0; i < n_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    numerator += (end[i] - last[i]) * (end[i] - last[i]);
    denominator += (x1_[at] - last_stage_[at]) * (x1_[at] - last_stage_[at]);
  }
  return denominator > 0 ? std::abs(h) * std::sqrt(numerator / denominator) : 0;
}

// Such that an Euler step changes the rates little: II.4 of the book.
double ExplicitStages::first_step(const Tolerance& tolerance, double most) {
  const double size = squared_error(x0_.data(), x0_.data(), x0_.data(), n_, tolerance);
  const double speed = squared_error(rate(0), x0_.data(), x0_.data(), n_, tolerance);
  double h = speed <= 1e-10 || size <= 1e-10 ? 1e-6 : 0.01 * std::sqrt(size / speed);
  h = std::min(h, most);
  for (std::size_t i = 0; i < x0_.size(); ++i) stage_[i] = x0_[i] + h * rate(0)[i];
  if (!rates(t0_ + h, stage_.data(), rate(1))) {
    psi_ = start_psi_;
    return h;
  }
  for (std::size_t i = 0; i < x0_.size(); ++i) error_[i] = (rate(1)[i] - rate(0)[i]) / h;
  const double bend = squared_error(error_.data(), x0_.data(), x0_.data(), n_, tolerance);
  const double fastest = std::sqrt(std::max(bend, speed));
  const double wanted = fastest <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / fastest, 1.0 / tableau_.order);
  return std::min({100 * h, wanted, most});
}

void ExplicitStages::end_state(State& state) const {
  state.t = t0_ + h_;
  std::copy_n(x1_.data(), ny_, state.y.data());
  std::copy_n(x1_.data() + ny_, nz_, state.z.data());
  std::copy(psi_.begin(), psi_.end(), state.psi.begin());
}

void ExplicitStages::prepare_dense() const {
  const auto n = static_cast<std::size_t>(n_), parts = 4 + tableau_.dense.size();
  if (!dense_) {
    dense_ = std::make_shared<Dense>(Dense{Acceleration(system_, choice_, options_.formulation),
                                           ConsistentRow(system_, options_.projection, options_.formulation, choice_),
                                           std::vector<double>(n * parts), std::vector<double>(n), psi_});
  }
  Dense& d = *dense_;
  const int end = tableau_.stages;
  for (int i = 0; i < tableau_.extra_stages(); ++i) {
    const int stage = end + 1 + i;
    combine(tableau_.a[static_cast<std::size_t>(stage)], x0_.data(), h_, d.x.data());
    const double t = t0_ + tableau_.c[static_cast<std::size_t>(stage)] * h_;
    std::copy(psi_.begin(), psi_.end(), d.psi.begin());
    if (!d.acceleration.compute(t, d.x.data(), d.x.data() + ny_, d.psi.data(), rate(stage), rate(stage) + ny_))
      std::copy_n(rate(end), n_, rate(stage));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double difference = x1_[i] - x0_[i], bend = h_ * rate(0)[i] - difference;
    d.r[i] = x0_[i];
    d.r[n + i] = difference;
    d.r[2 * n + i] = bend;
    d.r[3 * n + i] = difference - h_ * rate(end)[i] - bend;
  }
  for (std::size_t k = 0; k < tableau_.dense.size(); ++k)
    combine(tableau_.dense[k], nullptr, h_, d.r.data() + (4 + k) * n);
  dense_ready_ = true;
}

void ExplicitStages::interpolate(double t, State& state) const {
  state.t = t;
  if (h_ == 0) return end_state(state);
  if (!dense_ready_) prepare_dense();
  Dense& d = *dense_;
  const auto n = static_cast<std::size_t>(n_), parts = d.r.size() / n;
  const double s = (t - t0_) / h_, s1 = 1 - s;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t k = parts; k-- > 1;) sum = (sum + d.r[k * n + i]) * (k % 2 == 1 ? s : s1);
    d.x[i] = d.r[i] + sum;
  }
  std::copy_n(d.x.data(), ny_, state.y.data());
  std::copy_n(d.x.data() + ny_, nz_, state.z.data());
  std::copy(psi_.begin(), psi_.end(), state.psi.begin());
  d.row.settle(t, state);
}

}  // namespace hinge
