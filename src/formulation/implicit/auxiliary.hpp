// Variables that are no part of a model but of what is made from it: rates, multipliers of stabilised forms. Asked for
// again by the same name, they are found in the graph, so that making the same thing again adds nothing to it.
#pragma once

#include <string>
#include <unordered_map>

#include "expression/graph.hpp"

namespace hinge {

class AuxiliaryVariables {
 public:
  explicit AuxiliaryVariables(Graph& graph) : graph_(graph) {
    for (int k = 0; k < graph.variable_count(); ++k)
      if (graph.variable_name(k).rfind(mark, 0) == 0) known_.emplace(graph.variable_name(k), graph.variable_node(k));
  }
  Node operator()(const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(mark + name, no_node);
    if (fresh) at->second = graph_.variable(at->first);
    return at->second;
  }

 private:
  static constexpr const char* mark = "auxiliary ";  // no name of a model has a space
  Graph& graph_;
  std::unordered_map<std::string, Node> known_;
};

}  // namespace hinge
