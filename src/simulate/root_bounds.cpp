#include "simulate/root_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace hinge {

RootBounds::RootBounds(const SymbolicSystem& system, const Graph& graph, std::span<const Node> roots)
    : enclosure_(graph, roots), velocity_is_z_(system.structure().velocity_is_z && !system.structure().is_dae) {
  using Part = Place::Part;
  const Equations& eq = system.equations();
  std::unordered_map<Node, Place> place;
  place.emplace(eq.t, Place{Part::t, 0});
  for (const auto& [nodes, part] : {std::pair(&eq.y, Part::y), {&eq.z, Part::z}, {&eq.psi, Part::psi}})
    for (std::size_t i = 0; i < nodes->size(); ++i) place.emplace((*nodes)[i], Place{part, i});
  for (const Node n : enclosure_.variables()) places_.push_back(place.at(n));
  variables_.resize(places_.size());
}

double RootBounds::value(const Place& place, const State& s) {
  switch (place.part) {
    case Place::Part::t: return s.t;
    case Place::Part::y: return s.y[place.index];
    case Place::Part::z: return s.z[place.index];
    default: return s.psi[place.index];
  }
}

Enclosed RootBounds::bounds(const Place& place, const State* before, const State& from, const State& to,
                            const State* after) const {
  const auto chord = [&](const State& a, const State& b) { return (value(place, b) - value(place, a)) / (b.t - a.t); };
  const double h = to.t - from.t, x0 = value(place, from), x1 = value(place, to);
  if (place.part == Place::Part::t) return {{x0, x1}, {1, 1}};
  const double middle = chord(from, to);
  double v0 = middle, v1 = middle;
  if (place.part == Place::Part::y && velocity_is_z_) {
    v0 = from.z[place.index];
    v1 = to.z[place.index];
  } else {
    if (before && before->t < from.t) v0 = (chord(*before, from) + middle) / 2;
    if (after && after->t > to.t) v1 = (middle + chord(to, *after)) / 2;
  }
  const double inner = 3 * middle - v0 - v1;  // the derivative of the cubic is between v0, this and v1
  const Interval slope{std::min({v0, v1, inner}), std::max({v0, v1, inner})};
  const double a = x0 + h / 3 * v0, b = x1 - h / 3 * v1;
  const double margin = 0.1 * (slope.high - slope.low);  // the motion is no cubic
  return {{std::min({x0, x1, a, b}) - h * margin, std::max({x0, x1, a, b}) + h * margin},
          {slope.low - margin, slope.high + margin}};
}

void RootBounds::on(const State* before, const State& from, const State& to, const State* after) {
  for (std::size_t k = 0; k < places_.size(); ++k) variables_[k] = bounds(places_[k], before, from, to, after);
  enclosure_.on(variables_);
}

void RootBounds::on(const State& s) {
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const double x = value(places_[k], s);
    variables_[k] = {{x, x}, {0, 0}};
  }
  enclosure_.on(variables_);
}

double RootBounds::at(std::size_t k, const State& s) {
  numbers_.clear();
  for (const Place& place : places_) numbers_.push_back(value(place, s));
  return enclosure_.at(numbers_, k);
}

double RootBounds::largest(std::size_t k) const {
  const Interval& value = enclosure_[k].value;
  return std::max(std::abs(value.low), std::abs(value.high));
}

}  // namespace hinge
