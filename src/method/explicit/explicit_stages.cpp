// The stages of an explicit step, its error estimate, and what lies between its ends.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "method/consistent_row.hpp"
#include "method/explicit/explicit.hpp"
#include "solve/copy_few.hpp"

namespace hinge {

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
      padded_(padded(n_)),
      acceleration_(system_, choice, options.formulation),
      projection_(system_, options.projection, choice),
      stride_(padded_) {
  const auto n = static_cast<std::size_t>(padded_);
  for (auto* v : {&x0_, &x1_, &stage_, &last_stage_, &error_}) v->resize(n);
  rows_.resize(n * tableau_.c.size());
  psi_.resize(static_cast<std::size_t>(system_->npsi()));
  start_psi_ = psi_;
}

bool ExplicitStages::rates(double t, const double* x, double* out) {
  ++evaluations_;
  return acceleration_.compute(t, x, x + ny_, psi_.data(), out, out + ny_, false);
}

void ExplicitStages::combine(const ExplicitTableau::Row& row, const double* x, double h, double* out) const {
  weighted_sum(row, x, h, rate(0), stride_, padded_, out);
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
  if (h_ == 0) return;  // it has, for a step ahead
  t0_ += h_;
  h_ = 0;
  copy_few(x1_, x0_);
  copy_few(rate(tableau_.stages), n_, rate(0));
  copy_few(psi_, start_psi_);
  dense_ready_ = false;
}

// Rates that are there already go along.
void ExplicitStages::use_code() {
  const CompiledFunction* function = padded_ <= StageLoop::most ? acceleration_.code() : nullptr;
  if (!function || !function->code()) return;
  std::vector<double> row = function->make_scratch();
  row.resize((row.size() + static_cast<std::size_t>(padded_) + 7) / 8 * 8);
  std::vector<double> rows;
  for (std::size_t i = 0; i < tableau_.c.size(); ++i) rows.insert(rows.end(), row.begin(), row.end());
  const auto stride = static_cast<int>(row.size());
  for (const int i : {0, tableau_.stages})
    std::copy_n(rate(i), n_, rows.data() + function->first_output() + i * stride);
  rows_ = std::move(rows);
  stride_ = stride;
  rates_ = function->first_output();
  loop_ = StageLoop(tableau_, *function->code(), n_, ny_, rows_.data(), stride_, rates_, function->settled());
}

ExplicitAhead* ExplicitStages::ahead(double h, const Tolerance& tolerance) {
  if (ahead_) ahead_->made = false;
  if (!loop_) use_code();
  const CompiledFunction* function = loop_ ? acceleration_.code() : nullptr;
  if (!function || !function->lanes() || tableau_.second_error.empty()) return nullptr;
  if (!ahead_) {
    static std::atomic<std::uint64_t> serial{0};
    ahead_ = std::make_unique<ExplicitAhead>();
    ExplicitAhead& a = *ahead_;
    a.tableau = &tableau_;
    a.serial = ++serial;
    a.n = n_;
    a.ny = ny_;
    a.m = static_cast<int>(psi_.size());
    a.x1.resize(x1_.size());
    a.last_stage.resize(x1_.size());
    a.end.resize(x1_.size());
    a.rates_at_end.resize(static_cast<std::size_t>(padded(n_ + static_cast<int>(psi_.size()))));
    a.constants = function;
    a.rates = function->lanes();
    const CompiledFunction* back =
        projection_.active() && projection_.by_code() ? acceleration_.projection_code() : nullptr;
    if (back) a.projection = back->lanes(), a.projection_constants = back;
    a.can_finish = !projection_.active() || a.projection;
  }
  ExplicitAhead& a = *ahead_;
  a.t = t0_;
  a.h = h;
  a.tolerance = tolerance;
  a.x0 = x0_.data();
  a.rate0 = rate(0);
  a.rows = rate(0);
  a.all_rows = wants_rows_;
  a.stride = stride_;
  a.made = false;
  return &a;
}

bool ExplicitStages::stages(double h, const Tolerance& tolerance) {
  if (!loop_) use_code();
  int first = 1;
  by_loop_ = false;
  was_ahead_ = ahead_ && ahead_->take(t0_, h, tolerance);
  has_rows_ = true;
  if (was_ahead_) {
    copy_few(ahead_->x1, x1_);
    copy_few(ahead_->last_stage, last_stage_);
    errors_ = ahead_->errors;
    has_rows_ = ahead_->all_rows;
    evaluations_ += tableau_.stages - 1;
    return by_loop_ = true;
  }
  if (loop_ && acceleration_.code()) {
    first = loop_.stages(t0_, h, x0_.data(), stage_.data(), last_stage_.data());
    evaluations_ += first - 1;
    by_loop_ = first == tableau_.stages && !tableau_.second_error.empty();
    if (by_loop_) {
      errors_ = loop_.end(h, tolerance.absolute, tolerance.relative, x0_.data(), x1_.data());
      return true;
    }
  }
  for (int i = first; i < tableau_.stages; ++i) {
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

double ExplicitStages::measured(double first, double second) const {
  const double both = first + 0.01 * second;
  return both > 0 ? first / std::sqrt(both * n_) : (both == 0 ? 0 : INFINITY);
}

double ExplicitStages::error(double h, const Tolerance& tolerance) {
  // order 5 asks for the rates at x1 as well
  if (tableau_.error.back().stage == tableau_.stages && !rates(t0_ + h, x1_.data(), rate(tableau_.stages)))
    return INFINITY;
  if (by_loop_) return measured(errors_.first, errors_.second);
  combine(tableau_.error, nullptr, h, error_.data());
  if (tableau_.second_error.empty())
    return std::sqrt(squared_error(error_.data(), x0_.data(), x1_.data(), n_, tolerance) / n_);
  combine(tableau_.second_error, nullptr, h, stage_.data());
  double first = 0, second = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
    const double inverse =
        1 / (tolerance.absolute + tolerance.relative * std::max(std::abs(x0_[i]), std::abs(x1_[i])) + 1e-300);
    first += error_[i] * inverse * (error_[i] * inverse);
    second += stage_[i] * inverse * (stage_[i] * inverse);
  }
  return measured(first, second);
}

bool ExplicitStages::finish(double h) {
  if (was_ahead_ && ahead_->finished) {
    if (projection_.active()) projection_.projected_by_code();
    copy_few(ahead_->end, x1_);
    copy_few(ahead_->rates_at_end.data(), n_, rate(tableau_.stages));
    copy_few(ahead_->rates_at_end.data() + n_, static_cast<int>(psi_.size()), psi_.data());
    ++evaluations_;
    acceleration_.computed_by_code();
    h_ = h;
    dense_ready_ = false;
    return true;
  }
  if (projection_.active() && !projection_.project(t0_ + h, x1_.data(), x1_.data() + ny_, psi_.data(), &acceleration_))
    return false;
  if (!rates_at_end(h)) return false;
  h_ = h;
  dense_ready_ = false;
  return true;
}

// Where there is code, it writes them to where they are read.
bool ExplicitStages::rates_at_end(double h) {
  const int end = tableau_.stages;
  if (!loop_ || !acceleration_.code() || !loop_.rates(t0_ + h, x1_.data(), end))
    return rates(t0_ + h, x1_.data(), rate(end));
  ++evaluations_;
  acceleration_.computed_by_code();
  copy_few(rate(end) + n_, static_cast<int>(psi_.size()), psi_.data());
  return true;
}

bool ExplicitStages::stiff(double h) const {
  double numerator = 0, denominator = 0;
  const double *last = rate(tableau_.stages - 1), *end = rate(tableau_.stages);
  for (int i = 0; i < n_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    numerator += (end[i] - last[i]) * (end[i] - last[i]);
    denominator += (x1_[at] - last_stage_[at]) * (x1_[at] - last_stage_[at]);
  }
  const double limit = tableau_.stiff_limit;
  return denominator > 0 && h * h * numerator > limit * limit * denominator;
}

// Such that an Euler step changes the rates little: II.4 of the book.
double ExplicitStages::first_step(const Tolerance& tolerance, double most) {
  const double size = squared_error(x0_.data(), x0_.data(), x0_.data(), n_, tolerance);
  const double speed = squared_error(rate(0), x0_.data(), x0_.data(), n_, tolerance);
  double h = speed <= 1e-10 || size <= 1e-10 ? 1e-6 : 0.01 * std::sqrt(size / speed);
  h = std::min(h, most);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) stage_[i] = x0_[i] + h * rate(0)[i];
  if (!rates(t0_ + h, stage_.data(), rate(1))) {
    psi_ = start_psi_;
    return h;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) error_[i] = (rate(1)[i] - rate(0)[i]) / h;
  const double bend = squared_error(error_.data(), x0_.data(), x0_.data(), n_, tolerance);
  const double fastest = std::sqrt(std::max(bend, speed));
  const double wanted = fastest <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / fastest, 1.0 / tableau_.order);
  return std::min({100 * h, wanted, most});
}

void ExplicitStages::end_state(State& state) const {
  state.t = t0_ + h_;
  copy_few(x1_.data(), ny_, state.y.data());
  copy_few(x1_.data() + ny_, nz_, state.z.data());
  copy_few(psi_, state.psi);
}

void ExplicitStages::prepare_dense() const {
  wants_rows_ = true;
  if (!has_rows_) {  // they have stayed in the lanes
    std::vector<double> stage(stage_.size()), last(stage_.size());
    loop_.stages(t0_, h_, x0_.data(), stage.data(), last.data());
    has_rows_ = true;
  }
  const auto n = static_cast<std::size_t>(padded_), parts = 4 + tableau_.dense.size();
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
  const auto n = static_cast<std::size_t>(padded_), parts = d.r.size() / n;
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
