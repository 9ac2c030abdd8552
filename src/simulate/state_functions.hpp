// Expressions of (t, y, z, psi), evaluated at states in one pass.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "system/symbolic.hpp"

namespace hinge {

class StateFunctions {
 public:
  StateFunctions() = default;
  /// Nodes of `graph`, which contains the system's.
  StateFunctions(const SymbolicSystem& system, const Graph& graph, std::span<const Node> nodes)
      : tape_(system.equations().tape(graph, nodes)), scratch_(tape_->make_scratch()), values_(nodes.size()) {}
  /// With the blocks t, y, z and psi.
  explicit StateFunctions(FunctionMade made)
      : tape_(std::move(made.evaluator)), scratch_(std::move(made.scratch)), values_(tape_->output_count()) {}

  /// The same with numbers besides the state, that stand for these variables.
  StateFunctions(const SymbolicSystem& system, const Graph& graph, std::span<const Node> nodes,
                 const std::vector<Node>& others)
      : values_(nodes.size()) {
    const Equations& eq = system.equations();
    const std::vector<Node> blocks[] = {{eq.t}, eq.y, eq.z, eq.psi, others};
    tape_ = make_tape(graph, blocks, nodes);
    scratch_ = tape_->make_scratch();
  }

  std::size_t size() const { return values_.size(); }
  /// Valid until the next call.
  const std::vector<double>& at(const State& s, const double* others = nullptr) {
    const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data(), others};
    if (tape_) tape_->evaluate(inputs, scratch_.data(), values_.data());
    return values_;
  }

 private:
  std::shared_ptr<const Evaluator> tape_;
  std::vector<double> scratch_, values_;
};

}  // namespace hinge
