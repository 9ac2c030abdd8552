// What a step of chosen length may be off, in units of the tolerance: radau_adaptive.hpp.
#include <algorithm>
#include <cmath>

#include "method/implicit/radau_adaptive.hpp"

namespace hinge {

namespace {

constexpr double surely_small = 0.1;  // of the tolerance: the continued polynomial is trusted as an estimate

}  // namespace

double RadauAdaptive::norm(const double* x) const {
  double sum = 0;
  for (std::size_t k = 0; k < weight_.size(); ++k) sum += (x[k] * weight_[k]) * (x[k] * weight_[k]);
  return std::sqrt(sum / static_cast<double>(weight_.size()));
}

void RadauAdaptive::set_weights(double h) {
  const auto& unknowns = problem_->unknowns();
  problem_->sizes(x0_.data(), size_.data());
  for (std::size_t k = 0; k < weight_.size(); ++k) {
    double w = 1;
    for (int power = std::max(unknowns[k].index - 1, unknowns[k].scale); power > 0; --power) w *= h;
    weight_[k] = unknowns[k].vanishes ? 0 : w / (absolute_ + relative_ * size_[k]);
  }
}

// As long as x changes by about a hundredth.
double RadauAdaptive::first_step(double limit) const {
  double h = 1e-3 * (std::isfinite(limit) ? limit - t_ : 1);
  const double size = norm(x0_.data()), speed = norm(rate0_.data());
  if (speed > 0 && size > 1e-5 * speed * h) h = std::min(h, 0.01 * size / speed);
  return h;
}

// Where slopes change by powers of ten within a step, as those of an exponential, increments made with slopes of its
// middle may be small at other stages though nothing is solved there, and so is the estimated error. What each stage
// leaves of each equation is therefore compared with what changes of x and x' by the tolerance make of it. Of
// mechanical systems constraints would show it.
bool RadauAdaptive::leaves_defect(double h) {
  constexpr double many = 30, spread = 0.6180339887498949;  // changes differ, that they do not cancel
  if (!reported_) return false;
  const std::size_t n = x0_.size();
  double *const left = dz_.data(), *const changed = left + n;
  for (std::size_t stage = stages(); stage-- > 0;) {
    const double t = t_ + tableau().c(static_cast<Eigen::Index>(stage)) * h;
    for (std::size_t k = 0; k < n; ++k) trial_[k] = x0_[k] + now_.z[stage * n + k];
    stages_.rate(static_cast<int>(stage), h, now_.z.data(), slope_.data());
    problem_->residual(t, trial_.data(), slope_.data(), left);
    for (std::size_t k = 0; k < n; ++k) {
      if (!(weight_[k] > 0)) continue;
      const double part = spread * static_cast<double>(k + 1), d = (0.5 + part - std::floor(part)) / weight_[k];
      trial_[k] += d;
      slope_[k] += d / h;
    }
    problem_->residual(t, trial_.data(), slope_.data(), changed);
    counters_.evaluations += 2;
    for (std::size_t i = 0; i < n; ++i) {
      const double much = std::abs(changed[i] - left[i]);
      if (!std::isfinite(left[i]) || (much > 0 && std::abs(left[i]) > many * much)) return true;
    }
  }
  return false;
}

double RadauAdaptive::estimate(double h) {
  const std::size_t n = x0_.size(), s = stages();
  std::fill(slope_.begin(), slope_.end(), 0.0);
  for (std::size_t j = 0; j < s; ++j) {
    const double w = tableau().start(static_cast<Eigen::Index>(j)) / h;
    for (std::size_t k = 0; k < n; ++k) slope_[k] += w * now_.z[j * n + k];
  }
  const auto defect = [&](const double* x) {
    problem_->residual(t_, x, slope_.data(), error_.data());
    ++counters_.evaluations;
    stages_.solve_real(error_.data());
    for (std::size_t k = 0; k < n; ++k)
      if (const auto& u = problem_->unknowns()[k];
          !u.tested && !stages_.is_differential(k) && !(reported_ && u.index > 1))
        error_[k] = 0;
    return norm(error_.data());
  };
  double size = defect(x0_.data());
  if (size >= 1 && (first_ || rejected_)) {
    for (std::size_t k = 0; k < n; ++k) trial_[k] = x0_[k] - error_[k];
    size = defect(trial_.data());
  }
  return std::isfinite(size) ? std::max(size, 1e-10) : 1e10;
}

// What the continued polynomial was off in the stages says how large its next coefficient is, and so what is left out
// of the present one: |w| largest in the step, against |w| where it was continued to.
double RadauAdaptive::continuation_error(double h) const {
  if (!has_polynomial_ || last_.stages() > stages()) return INFINITY;
  const std::size_t n = x0_.size();
  const double ratio = h / last_.h;
  const double here = last_.tableau->largest_between * std::pow(ratio, last_.tableau->stages + 1);
  double error = 0;
  for (std::size_t i = 0; i < stages(); ++i) {
    const double factor = here / std::abs(last_.tableau->w(1 + tableau().c(static_cast<Eigen::Index>(i)) * ratio));
    for (std::size_t k = 0; k < n; ++k)
      if (shown_[k]) error = std::max(error, factor * weight_[k] * std::abs(now_.z[i * n + k] - predicted_[i * n + k]));
  }
  return error;
}

RadauAdaptive::Between RadauAdaptive::estimate_between(double h) {
  if (!determines_) return {0, false};
  if (const double error = continuation_error(h); error <= surely_small) return {error, true};
  radau_defect(*problem_, stages_, now_, tableau().between.front(), trial_.data(), slope_.data(), error_.data());
  ++counters_.evaluations;
  double size = 0;
  for (std::size_t k = 0; k < error_.size(); ++k)
    if (const double part = std::abs(error_[k]) * weight_[k]; shown_[k] && !(part <= size)) size = part;
  return {std::isfinite(size) ? size : 1e10, false};
}

}  // namespace hinge
