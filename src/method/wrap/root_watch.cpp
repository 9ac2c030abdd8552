#include "method/wrap/root_watch.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hinge {

RootWatch::RootWatch(const Equations& eq, const Graph& graph, std::span<const Node> roots)
    : ny_(static_cast<int>(eq.y.size())) {
  roots_ = eq.tape(graph, roots);
  scratch_ = roots_->make_scratch();
  values_.resize(roots.size());
  std::vector<Node> motion = eq.y;
  motion.insert(motion.end(), eq.z.begin(), eq.z.end());
  Graph with_slopes = graph;
  const SparseExpressions slopes = jacobian(with_slopes, roots, motion);
  pattern_ = {slopes.rows, slopes.columns, slopes.row_start, slopes.column};
  slopes_ = eq.tape(with_slopes, slopes.entries);
  slope_scratch_ = slopes_->make_scratch();
  slope_values_.resize(slopes.entries.size());
  bounds_ = std::make_unique<Enclosure>(graph, roots);
  std::unordered_map<Node, Place> place{{eq.t, {Place::t, 0}}};
  for (std::size_t k = 0; k < eq.y.size(); ++k) place[eq.y[k]] = {Place::y, k};
  for (std::size_t k = 0; k < eq.z.size(); ++k) place[eq.z[k]] = {Place::z, k};
  for (std::size_t k = 0; k < eq.psi.size(); ++k) place[eq.psi[k]] = {Place::psi, k};
  for (const Node n : bounds_->variables()) places_.push_back(place.at(n));
  stretch_.resize(places_.size());
}

void RootWatch::evaluate(const State& s) {
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
  roots_->evaluate(inputs, scratch_.data(), values_.data());
}

bool RootWatch::depends_on_z(std::size_t k) const {
  const auto begin = pattern_.column.begin();
  return std::any_of(begin + pattern_.row_start[k], begin + pattern_.row_start[k + 1], [&](int j) { return j >= ny_; });
}

const std::vector<double>& RootWatch::margins(const State& s, const Tolerance& tolerance) {
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
  slopes_->evaluate(inputs, slope_scratch_.data(), slope_values_.data());
  margins_.assign(values_.size(), 0.0);
  for (std::size_t k = 0; k < margins_.size(); ++k)
    for (auto j = static_cast<std::size_t>(pattern_.row_start[k]);
         j < static_cast<std::size_t>(pattern_.row_start[k + 1]); ++j) {
      const auto at = static_cast<std::size_t>(pattern_.column[j]);
      const double x = std::abs(at < s.y.size() ? s.y[at] : s.z[at - s.y.size()]);
      margins_[k] += std::abs(slope_values_[j]) * (tolerance.relative * x + tolerance.absolute);
    }
  return margins_;
}

double RootWatch::number(const State& s, const Place& p) const {
  return p.block == Place::t ? s.t : (p.block == Place::y ? s.y : p.block == Place::z ? s.z : s.psi)[p.index];
}

// Second differences, with some room: the motion is smooth on this scale.
Bends RootWatch::bends(const std::vector<State>& samples) const {
  const double length = (samples.back().t - samples.front().t) / static_cast<double>(samples.size() - 1);
  Bends result(places_.size(), 0.0);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (places_[k].block == Place::t) continue;
    double most = 0;
    for (std::size_t i = 1; i + 1 < samples.size(); ++i)
      most = std::max(most, std::abs(number(samples[i + 1], places_[k]) - 2 * number(samples[i], places_[k]) +
                                     number(samples[i - 1], places_[k])));
    result[k] = 2 * most / (length * length);
  }
  return result;
}

// |x''| <= B on a stretch of length w:  x within B w^2/8 of the chord, x' within B w/2 of its slope
void RootWatch::enclose(const State& from, const State& to, const Bends& bends) {
  const double w = to.t - from.t;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const double a = number(from, places_[k]), b = number(to, places_[k]), off = bends[k] * w * w / 8;
    const double slope = places_[k].block == Place::t ? 1 : (b - a) / w, tilt = bends[k] * w / 2;
    stretch_[k] = {{std::min(a, b) - off, std::max(a, b) + off}, {slope - tilt, slope + tilt}};
  }
  bounds_->on(stretch_);
}

}  // namespace hinge
