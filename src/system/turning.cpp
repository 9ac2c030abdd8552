#include "system/turning.hpp"

#include <algorithm>
#include <unordered_map>

namespace hinge {

std::array<Node, 9> rotation_axes(Graph& graph, std::span<const Node, 4> q) {
  const auto times = [&](Node a, Node b) { return graph.multiply(a, b); };
  const auto plus = [&](Node a, Node b) { return graph.add(a, b); };
  const auto minus = [&](Node a, Node b) { return graph.subtract(a, b); };
  const Node w = q[0], a = q[1], b = q[2], c = q[3], one = graph.constant(1);
  const Node square = plus(plus(plus(times(w, w), times(a, a)), times(b, b)), times(c, c));
  const Node s = graph.divide(graph.constant(2), square);
  return {minus(one, times(s, plus(times(b, b), times(c, c)))),
          times(s, plus(times(a, b), times(w, c))),
          times(s, minus(times(a, c), times(w, b))),
          times(s, minus(times(a, b), times(w, c))),
          minus(one, times(s, plus(times(a, a), times(c, c)))),
          times(s, plus(times(b, c), times(w, a))),
          times(s, plus(times(a, c), times(w, b))),
          times(s, minus(times(b, c), times(w, a))),
          minus(one, times(s, plus(times(a, a), times(b, b))))};
}

std::array<Node, 4> quaternion_rate(Graph& graph, std::span<const Node, 4> q, std::span<const Node, 3> spin) {
  const auto times = [&](Node a, Node b) { return graph.multiply(a, b); };
  const auto half = [&](double sign, Node a, Node b, Node c) {  // of (a + b) + sign c
    const Node sum = graph.add(a, b);
    return times(graph.constant(0.5), sign > 0 ? graph.add(sum, c) : graph.subtract(sum, c));
  };
  const Node w = q[0], a = q[1], b = q[2], c = q[3], x = spin[0], y = spin[1], z = spin[2];
  const Node first = graph.add(graph.add(times(a, x), times(b, y)), times(c, z));
  return {times(graph.constant(-0.5), first), half(-1, times(w, x), times(b, z), times(c, y)),
          half(-1, times(w, y), times(c, x), times(a, z)), half(-1, times(w, z), times(a, y), times(b, x))};
}

namespace {

struct Turning {
  std::vector<Node> functions, rates;
  void add(Node function, Node rate) {
    functions.push_back(function);
    rates.push_back(rate);
  }
};

// The three velocities that four rates depend on; empty where these are others.
std::vector<Node> spin_of(const Graph& graph, std::span<const Node> rates,
                          const std::unordered_map<Node, std::size_t>& place) {
  std::vector<Node> spin;
  for (const Node n : cone_of(graph, rates))
    if (place.contains(n)) spin.push_back(n);
  std::sort(spin.begin(), spin.end(), [&](Node a, Node b) { return place.at(a) < place.at(b); });
  return spin.size() == 3 ? spin : std::vector<Node>{};
}

void add_axes(Graph& graph, std::span<const Node, 4> q, std::span<const Node, 3> spin, Turning& turning) {
  const std::array<Node, 9> axes = rotation_axes(graph, q);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    for (std::size_t i = 0; i < 3; ++i) {
      const Node axis = axes[3 * k + i];
      const Node rate =
          graph.subtract(graph.multiply(spin[k2], axes[3 * k1 + i]), graph.multiply(spin[k1], axes[3 * k2 + i]));
      turning.add(axis, rate);
      // minus an axis may be a node of its own
      if (const Node minus = graph.negate(axis); graph[minus].op != Op::negate) turning.add(minus, graph.negate(rate));
    }
  }
}

// Four coordinates one after the other whose rates are those of a quaternion.
Turning find_turning(Graph& graph, const Equations& eq) {
  Turning turning;
  if (eq.v == eq.z) return turning;
  std::unordered_map<Node, std::size_t> place;
  for (std::size_t k = 0; k < eq.z.size(); ++k) place.emplace(eq.z[k], k);
  for (std::size_t k = 0; k + 4 <= eq.y.size(); ++k) {
    if (graph[eq.v[k]].op != Op::multiply) continue;
    const std::span<const Node> rates(eq.v.data() + k, 4);
    const std::vector<Node> spin = spin_of(graph, rates, place);
    if (spin.empty()) continue;
    const std::span<const Node, 4> q(eq.y.data() + k, 4);
    const std::span<const Node, 3> along(spin.data(), 3);
    if (!std::ranges::equal(quaternion_rate(graph, q, along), rates)) continue;
    add_axes(graph, q, along, turning);
    k += 3;
  }
  return turning;
}

}  // namespace

std::vector<Node> rates_along(Graph& graph, std::span<const Node> functions, const Equations& eq) {
  const Turning turning = find_turning(graph, eq);
  std::vector<Node> by = eq.y, rate = eq.v;
  by.insert(by.end(), turning.functions.begin(), turning.functions.end());
  rate.insert(rate.end(), turning.rates.begin(), turning.rates.end());
  return time_derivative(graph, functions, eq.t, by, rate);
}

}  // namespace hinge
