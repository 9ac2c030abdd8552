// The derivatives x_j, x_j', x_j'', ... of a DAE's unknowns as variables of a copy of its graph, and total
// differentiation:
//   d/dt f = f_t + sum_{j,k} (df / dx_j^(k)) x_j^(k+1)
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

class Jet {
 public:
  explicit Jet(const SymbolicSystem& system);
  int unknowns() const { return static_cast<int>(x_.size()); }
  /// The variable x_j^(k); made when it is first asked for.
  Node at(int j, int k);
  /// "x[2]''"
  std::string name(int j, int k) const;
  std::vector<Node> total_derivatives(std::span<const Node> f);

  /// All variables so far, and which they are.
  struct Place {
    int unknown, order;
  };
  const std::vector<Node>& variables() const { return variables_; }
  const std::vector<Place>& places() const { return places_; }
  Graph& graph() const { return *graph_; }
  /// A copy shares the graph until it takes one of its own, with the same numbers.
  void take_own_graph() { graph_ = std::make_shared<Graph>(*graph_); }
  Node t() const { return t_; }

 private:
  void add(int j, Node variable);
  std::shared_ptr<Graph> graph_;
  Node t_;
  std::vector<std::string> names_;
  std::vector<std::vector<Node>> x_;
  std::vector<Node> variables_;
  std::vector<Place> places_;
};

}  // namespace hinge
