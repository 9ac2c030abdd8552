// Numbers from expressions without preparation: operation after operation in the order of the graph. Ready in a tenth
// of the time that a tape takes, and slower than one: for what is asked a few times. The numbers are the same to the
// last bit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// Immutable, so threads may share it; what changes lives in the caller's scratch array.
class WalkedFunction {
 public:
  /// Throws InputError when an output depends on a variable that is in no block.
  WalkedFunction(const Graph& graph, std::span<const std::vector<Node>> blocks, std::span<const Node> outputs);

  /// A scratch array, ready for evaluate().
  std::vector<double> make_scratch() const;
  /// `inputs[k]` points at the values of block k (null allowed for a block that no output depends on).
  void evaluate(const double* const* inputs, double* scratch) const;
  /// Where in the scratch array the outputs stand after evaluate(), one after the other.
  std::size_t first_output() const { return static_cast<std::size_t>(slots_); }

 private:
  struct Block {
    std::int32_t size;
    bool used;
  };
  // Results stand one after the other. Of a table b is its number; the third operand of a select is `a` of an operation
  // that follows, with no result.
  struct Operation {
    Op op;
    std::int32_t a, b;  // slots
  };

  std::vector<Block> blocks_;
  std::vector<Operation> operations_;
  std::vector<double> constants_;      // after the inputs
  std::vector<std::int32_t> outputs_;  // slots
  std::vector<std::shared_ptr<const Table>> tables_;
  std::int32_t inputs_ = 0, slots_ = 0;  // the outputs come after all slots
};

}  // namespace hinge
