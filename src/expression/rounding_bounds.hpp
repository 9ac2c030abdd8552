// How far rounding may take functions from what they are, |computed - exact|: half the width of what they are by
// interval arithmetic on the graph, from numbers that are themselves known to rounding. Constants that cancel count
// with their own size, (x - 1)^2/2 + x with eps, however small x is.
#pragma once

#include <memory>
#include <vector>

#include "expression/enclosure.hpp"

namespace hinge {

class RoundingBounds {
 public:
  RoundingBounds() = default;
  /// Of `functions` of the variables in these blocks. Costs next to nothing until it is asked for something.
  RoundingBounds(std::shared_ptr<const Graph> graph, std::vector<std::vector<Node>> blocks,
                 std::vector<Node> functions);
  /// All that add() allocates the first time.
  void prepare();
  /// out[k] += that of function k; nothing where it is not known: at a jump or a pole, or where the functions are so
  /// many that it would take too long. inputs[b] are the values of block b. Allocates the first time.
  void add(const double* const* inputs, double* out);

 private:
  struct Place {
    std::size_t block, index;
  };
  std::shared_ptr<const Graph> graph_;
  std::vector<std::vector<Node>> blocks_;
  std::vector<Node> functions_;
  std::unique_ptr<Enclosure> enclosure_;  // made when it is first needed
  std::vector<Place> places_;             // of its variables
  std::vector<Enclosed> variables_;
};

}  // namespace hinge
