// Machine code that was made before in this process, found again by the structure of a function: runs of a sweep differ
// in numbers alone, and code reads these from its scratch array. What is found gives the same bits as what would be
// made, since code depends on nothing but the structure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "expression/native.hpp"

namespace hinge {

class NativeLibrary {
 public:
  /// Which operations on which operands, in which order; not which constants.
  using Key = std::array<std::uint64_t, 3>;
  /// Nothing for graphs that are too large for it.
  static std::optional<Key> key(const Graph& graph, std::span<const std::vector<Node>> input_blocks,
                                std::span<const Node> outputs);

  /// The function with this key, with the constants of this graph; null where it is not there.
  static std::unique_ptr<Evaluator> find(const Key& key, const Graph& graph);
  /// From now on it is there, until many others are. `places`: with its copies.
  static void keep(const Key& key, const NativeFunction& native, const TapePlaces& places);
  /// Who has them keeps them; nobody finds them any more.
  static void forget_all();
};

}  // namespace hinge
