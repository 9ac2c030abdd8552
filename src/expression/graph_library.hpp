// Expressions that were made before in this process, found again by the structure of what they are made of: runs of a
// sweep differ in numbers alone, and their derivatives in the same places.
//
// What is kept of a making is the graph after it and how its new constants follow from those that were there
// (constant_trace.hpp). With other constants the same comes out if
//
//   - all numbers, constants before and after and those that the program brought along, differ where they differed, and
//     are equal where they were equal: so no comparison comes out in another way, and no node is shared or not;
//   - what was looked at otherwise is as it was.
//
// Where that is not so, and where nothing is known yet, everything is made as usual. Results are the same, node by node
// and bit by bit.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

class GraphLibrary {
 public:
  /// Larger graphs are evaluated for longer than they take to be made.
  static constexpr Node most_nodes = 5000;

  /// Which making it is, and of what: all that the result depends on besides the graph.
  enum class Making { jacobian, newton_matrix, gradient, quantity, motion, motion_with_matrix, projection };
  struct Key : StructureHash {
    explicit Key(Making making) { add(static_cast<std::uint64_t>(making)); }
    Key& with(std::span<const Node> list) {
      add(list);
      return *this;
    }
    Key& with(std::uint64_t number) {
      add(number);
      return *this;
    }
  };

  /// Calls make(), which makes expressions in the graph and may read others that have the same constants, and says what
  /// came out: nodes, and numbers of them. Or does what that would do.
  static std::vector<int> once(Graph& graph, Key key, const std::function<std::vector<int>()>& make);
  /// So many times it was not made, but done again.
  static long found();
  static void forget_all();
};

}  // namespace hinge
