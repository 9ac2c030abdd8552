#include "method/wrap/stiffness_watch.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

namespace {

constexpr double fast = 0.8;  // times 1/h
constexpr double difference = 1e-7;
constexpr int looks_needed = 3;

double size_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

StiffnessWatch::StiffnessWatch(std::shared_ptr<const System> system, const Tolerance& tolerance)
    : system_(std::move(system)),
      tolerance_(tolerance),
      acceleration_(system_),
      psi_(static_cast<std::size_t>(system_->npsi()), 0.0) {
  const auto n = static_cast<std::size_t>(system_->ny() + system_->nz());
  for (auto* v : {&near_, &rate_, &near_rate_}) v->assign(n, 0.0);
  for (std::vector<double>& p : point_) p.assign(n, 0.0);
  // some of everything, always the same
  for (std::size_t k = 0; k < n; ++k) direction_.push_back(std::cos(2.0 * static_cast<double>(k) + 1));
}

void StiffnessWatch::restart() { known_ = looks_ = 0; }

void StiffnessWatch::remember(const State& state) {
  newest_ = (newest_ + 1) % points;
  const auto at = static_cast<std::size_t>(newest_);
  time_[at] = state.t;
  std::copy(state.z.begin(), state.z.end(), std::copy(state.y.begin(), state.y.end(), point_[at].begin()));
  ++known_;
}

double StiffnessWatch::roughness() const {
  const int left_out = (newest_ + 1 + points / 2) % points;
  const auto middle = static_cast<std::size_t>(left_out);
  std::array<double, points> weight{};
  for (std::size_t i = 0; i < points; ++i) {
    if (i == middle) continue;
    weight[i] = 1;
    for (std::size_t j = 0; j < points; ++j)
      if (j != i && j != middle) weight[i] *= (time_[middle] - time_[j]) / (time_[i] - time_[j]);
  }
  double sum = 0;
  const std::vector<double>& own = point_[middle];
  for (std::size_t k = 0; k < own.size(); ++k) {
    double off = -own[k];
    for (std::size_t i = 0; i < points; ++i)
      if (i != middle) off += weight[i] * point_[i][k];
    off /= tolerance_.absolute + tolerance_.relative * std::abs(own[k]);
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(own.size()));
}

bool StiffnessWatch::rates(double t, const double* x, double* out) {
  const auto ny = static_cast<std::ptrdiff_t>(system_->ny());
  if (!acceleration_.compute(t, x, x + ny, psi_.data(), out, out + ny)) return false;
  return std::all_of(out, out + near_.size(), [](double value) { return std::isfinite(value); });
}

// d <- J d; false where it cannot be computed
bool StiffnessWatch::multiply(double t) {
  const std::vector<double>& x = point_[static_cast<std::size_t>(newest_)];
  const double length = size_of(direction_);
  if (!(length > 0) || !std::isfinite(length)) return false;
  const double e = difference * std::max(1.0, size_of(x)) / length;
  for (std::size_t k = 0; k < x.size(); ++k) near_[k] = x[k] + e * direction_[k];
  if (!rates(t, near_.data(), near_rate_.data())) return false;
  for (std::size_t k = 0; k < x.size(); ++k) direction_[k] = (near_rate_[k] - rate_[k]) / e;
  return true;
}

double StiffnessWatch::fastest(const State& state) {
  psi_ = state.psi;
  if (!rates(state.t, point_[static_cast<std::size_t>(newest_)].data(), rate_.data())) return 0;
  const double before = size_of(direction_);
  if (!multiply(state.t) || !multiply(state.t)) return 0;
  const double after = size_of(direction_);
  if (!(after > 0) || !std::isfinite(after)) return 0;
  for (double& d : direction_) d /= after;
  return std::sqrt(after / before);
}

bool StiffnessWatch::stiff(const State& state, double h) {
  remember(state);
  if (known_ < points) return false;
  known_ = 0;  // the next look has nine points of its own
  const double lambda = fastest(state);
  if (!(lambda > 0) || roughness() > 1) {
    looks_ = 0;
    return false;
  }
  mean_ = looks_ == 0 ? std::log(lambda) : mean_ + (std::log(lambda) - mean_) / (looks_ + 1);
  ++looks_;
  return looks_ >= looks_needed && h * std::exp(mean_) > fast;
}

}  // namespace hinge
