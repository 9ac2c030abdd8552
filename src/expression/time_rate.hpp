// d/dt of single expressions, one after the other.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// d/dt of single expressions in t and y, where y' = v: each at the cost of its own nodes, however many expressions
/// there are and however large the graph has become.
class TimeRate {
 public:
  /// `moving` are variables that expressions must not depend on.
  TimeRate(Graph& graph, Node t, const std::vector<Node>& y, std::vector<Node> v, std::span<const Node> moving);
  bool depends_on_moving(Node e);
  Node operator()(Node e);

 private:
  struct Sweeps;
  std::shared_ptr<Sweeps> sweeps_;
};

}  // namespace hinge
