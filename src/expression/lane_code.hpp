// Machine code of a function for four points at once, made when it is first asked for. Every place of the scratch array
// of the code for one point has four numbers side by side, and more places may follow.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "expression/native.hpp"

namespace hinge {

/// Four numbers, of as many points.
struct alignas(32) FourNumbers {
  double of[4];
};

class LaneCode {
 public:
  LaneCode(Graph graph, std::vector<std::vector<Node>> blocks, std::vector<Node> outputs)
      : graph_(std::move(graph)), blocks_(std::move(blocks)), outputs_(std::move(outputs)) {}

  /// Null where there is none. By several threads at once. `inputs` of the code are the blocks, as arrays of
  /// FourNumbers.
  const NativeCode* code();
  /// Numbers of places in a scratch array; where the outputs begin. Once there is code.
  std::size_t scratch() const { return static_cast<std::size_t>(native_.scratch); }
  std::size_t first_output() const { return static_cast<std::size_t>(native_.first_output); }

 private:
  Graph graph_;
  std::vector<std::vector<Node>> blocks_;
  std::vector<Node> outputs_;
  std::once_flag once_;
  NativeFunction native_;
};

}  // namespace hinge
