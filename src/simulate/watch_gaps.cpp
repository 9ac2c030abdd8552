// Gaps that are expressions, in every step: which are closed, how wide and how deep they have been, and what that
// compares with.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/watch.hpp"
#include "solve/index.hpp"

namespace hinge {

void Watch::Gaps::begin(const System& system) {
  for (auto* v : {&widest, &deepest, &positions}) v->clear();
  finder.reset();
  const auto count = static_cast<std::size_t>(system.structure().gaps);
  if (count == 0) return;
  finder = system.contact_finder();
  list.clear(finder->dimension());
  for (std::size_t k = 0; k < count; ++k) list.key.push_back(k);
  list.count = static_cast<int>(list.key.size());
  values.resize(list.key.size());
  closed.assign(list.key.size(), 0);
  for (auto* v : {&widest, &deepest, &positions}) v->assign(list.key.size(), 0.0);
  stay = false;
}

void Watch::Gaps::compare(double size) {
  if (!finder) return;
  constexpr double rounding = 1e-9;
  stay = finder->dimension() == 1;
  bool any = false;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool is_closed = values[k] <= rounding * size;
    stay = stay && is_closed == static_cast<bool>(closed[k]);
    any = any || is_closed;
    closed[k] = is_closed;
  }
  stay = stay && any;
}

int Watch::Gaps::undefined(const State& s) {
  if (!finder) return -1;
  finder->gaps(s.t, s.y.data(), list, values.data());
  const auto bad = std::find_if(values.begin(), values.end(), [](double gap) { return !std::isfinite(gap); });
  return bad == values.end() ? -1 : static_cast<int>(bad - values.begin());
}

void Watch::Gaps::measure(const State& s, bool velocity_is_z) {
  bool deeper = false;
  for (std::size_t k = 0; k < values.size(); ++k) {
    widest[k] = std::max(widest[k], values[k]);
    deeper = deeper || -values[k] > deepest[k];
  }
  if (!deeper) return;
  ContactList all;
  if (velocity_is_z) finder->find(s.t, s.y.data(), std::numeric_limits<double>::infinity(), all);
  for (std::size_t k = 0; k < values.size(); ++k) deepest[k] = std::max(deepest[k], -values[k]);
  for (int i = 0; i < all.count; ++i) {
    double size = 0;
    for (int k = all.first[at(i)]; k < all.first[at(i) + 1]; ++k)
      size += std::abs(all.H[at(k * all.dimension)] * s.y[at(all.column[at(k)])]);
    double& largest = positions[all.key[at(i)]];
    largest = std::max(largest, size);
  }
}

// Methods take a gap for closed that is less than this part of positions. A gap that has never been wider than what its
// terms change by in a step has no width of its own: it slides closed, and what is seen of it is the step's.
std::pair<double, double> Watch::Gaps::worst(double size, const std::vector<double>& ways) const {
  constexpr double rounding = 1e-12;
  std::pair<double, double> found{0, 1};
  for (std::size_t k = 0; k < deepest.size(); ++k) {
    const double own = positions[k] > 0 ? positions[k] : size;
    const bool is_closed = widest[k] <= rounding * std::max(own, size);
    const double width = k < ways.size() ? std::max(widest[k], std::min(ways[k], own)) : widest[k];
    const double compared = is_closed ? std::max(own, size) : widest[k] > deepest[k] ? width : own;
    if (deepest[k] * found.second > found.first * compared) found = {deepest[k], compared};
  }
  return found;
}

}  // namespace hinge
