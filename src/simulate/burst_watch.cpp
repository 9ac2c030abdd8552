#include "simulate/burst_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "expression/derivative.hpp"
#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_exponentials = 40, most_looked_at = 4000, most_looks = 96;
constexpr double much_larger = 7;               // e^7 = 1000 times as large as at the ends of the step
constexpr double far_below = 20;                // e^-20 = 2e-9 of the largest so far does nothing,
constexpr double next_to_nothing = -25;         // and less than e^-25 by itself
constexpr long always = 20, now_and_then = 16;  // steps whose ends are looked at, however short they are,
constexpr double short_step = 2;                // in which a changes by less than that
constexpr int first_stretches = 4;              // of a step, to begin with

// The arguments of exponentials, those of sinh and cosh with both signs.
std::vector<Node> arguments_of(Graph& graph, const Equations& eq) {
  const std::vector<char> moves = dependence(graph, eq.y);
  std::vector<Node> found;
  for (const Node n : cone_of(graph, eq.residual)) {
    const Graph::Entry e = graph[n];
    const bool both = e.op == Op::sinh || e.op == Op::cosh;
    if (!(e.op == Op::exp || both) || !moves[at(e.a)]) continue;
    found.push_back(e.a);
    if (both) found.push_back(graph.negate(e.a));
  }
  return found;
}

// No more than that on a stretch with these values at its ends and slopes.
double highest(double a0, double a1, double dt, const Interval& slope) {
  const double up = std::max(slope.high, 0.0), down = std::min(slope.low, 0.0);
  if (!(up - down > 0) || !std::isfinite(up - down)) return std::isfinite(up - down) ? std::max(a0, a1) : INFINITY;
  const double s = std::clamp((a1 - a0 - down * dt) / (up - down), 0.0, dt);
  return std::max({a0, a1, a0 + up * s});
}

}  // namespace

void BurstWatch::begin(const System& system, bool resolved) {
  *this = BurstWatch();
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (!resolved || !symbolic || !system.structure().is_dae || system.structure().pairs > 0) return;
  const Equations& eq = symbolic->equations();
  if (cone_of(*eq.graph, eq.residual).size() > most_looked_at) return;
  Graph graph = *eq.graph;
  std::vector<Node> nodes = arguments_of(graph, eq);
  if (nodes.empty() || nodes.size() > most_exponentials) return;
  arguments_.resize(nodes.size());
  bounds_ = std::make_unique<RootBounds>(*symbolic, graph, nodes);
  const SparseExpressions by_y = jacobian(graph, nodes, eq.y), by_t = jacobian(graph, nodes, std::array{eq.t});
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    Node rate = by_t.row_start[k + 1] > by_t.row_start[k] ? by_t.entries[at(by_t.row_start[k])] : graph.constant(0);
    for (auto e = at(by_y.row_start[k]); e < at(by_y.row_start[k + 1]); ++e)
      rate = graph.add(rate, graph.multiply(by_y.entries[e], eq.z[at(by_y.column[e])]));
    nodes.push_back(rate);
  }
  values_ = StateFunctions(*symbolic, graph, nodes);
}

void BurstWatch::see(const State& state, double h) {
  if (arguments_.empty()) return;
  const long count = seen_++;
  if (count >= always && count % now_and_then != 0 && h * fastest_ < short_step) return;
  take(state);
}

void BurstWatch::take(const State& state) {
  const std::vector<double>& values = values_.at(state);
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    Argument& a = arguments_[k];
    a.at_before = values[k];
    if (std::isfinite(values[k])) a.largest = std::max(a.largest, values[k]);
    if (const double rate = std::abs(values[arguments_.size() + k]); std::isfinite(rate))
      a.fastest = std::max(a.fastest, rate);
    fastest_ = std::max(fastest_, a.fastest);
  }
  seen_at_ = state.t;
}

// Which arguments may come out within the step?
bool BurstWatch::ahead(const State& before, const State& after) {
  const double h = after.t - before.t;
  if (arguments_.empty() || h * fastest_ < short_step) return false;
  if (seen_at_ != before.t) take(before);
  const std::vector<double>& values = values_.at(after);
  bool any = false;
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    Argument& a = arguments_[k];
    const double ends = std::max(a.at_before, values[k]), rate = std::abs(values[arguments_.size() + k]);
    a.limit = std::max({ends + much_larger, a.largest - far_below, next_to_nothing});
    a.watched = std::isfinite(ends) && std::min(a.at_before, values[k]) +
                                               (h * std::max(a.fastest, rate) + std::abs(a.at_before - values[k])) / 2 >
                                           a.limit;
    any = any || a.watched;
  }
  return any;
}

std::optional<double> BurstWatch::unseen(const State& before, const State& after,
                                         const std::function<void(double t, State& out)>& within) {
  const std::size_t n = arguments_.size();
  std::deque<State> states;  // what it holds stays where it is
  const auto numbers = [&](const State& s) {
    const std::vector<double>& values = values_.at(s);
    return std::vector<double>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
  };
  std::deque<Stretch> open;
  State s = after;
  for (int i = 0; i <= first_stretches; ++i) {
    if (i == 0 || i == first_stretches)
      s = i == 0 ? before : after;
    else
      within(before.t + (after.t - before.t) * i / first_stretches, s);
    states.push_back(s);
    if (i > 0)
      open.push_back(
          {&states[states.size() - 2], &states.back(), open.empty() ? numbers(before) : open.back().a1, numbers(s)});
  }
  std::optional<double> found;
  const auto look = [&](const State& at, const std::vector<double>& a) {
    for (std::size_t k = 0; k < n; ++k)
      if (arguments_[k].watched && a[k] > arguments_[k].limit) {
        found = at.t;
        arguments_[k].limit = a[k] + 1;  // from now on what is larger still
      }
  };
  for (std::size_t i = 0; i + 1 < open.size(); ++i) look(*open[i].to, open[i].a1);
  for (std::size_t looked = 0; !open.empty() && looked < most_looks; ++looked) {
    const Stretch stretch = std::move(open.front());
    open.pop_front();
    const auto& [from, to, a0, a1] = stretch;
    bounds_->on(nullptr, *from, *to, nullptr);
    bool clear = true;
    for (std::size_t k = 0; k < n && clear; ++k)
      clear = !arguments_[k].watched ||
              std::min(bounds_->value(k).high, highest(a0[k], a1[k], to->t - from->t, bounds_->slope(k))) <=
                  arguments_[k].limit;
    const double middle = from->t + (to->t - from->t) / 2;
    if (clear || !(middle > from->t && middle < to->t)) continue;
    within(middle, s);
    states.push_back(s);
    const std::vector<double> a = numbers(s);
    look(s, a);
    open.push_back({from, &states.back(), a0, a});
    open.push_back({&states.back(), to, a, a1});
  }
  return found;
}

bool BurstWatch::seen_by(const State& s) {
  const std::vector<double>& values = values_.at(s);
  for (std::size_t k = 0; k < arguments_.size(); ++k)
    if (arguments_[k].watched && values[k] > arguments_[k].at_before + much_larger) return true;
  return false;
}

}  // namespace hinge
