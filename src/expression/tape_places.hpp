// Where a tape and its machine code have their numbers in the scratch array: the inputs, block after block, then the
// constants, then the outputs; temporaries come after these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expression/graph.hpp"
#include "expression/tape_plan.hpp"

namespace hinge {

struct TapePlaces {
  struct Block {
    std::int32_t first, size;  // slots
    bool used;
  };
  struct Copy {
    std::int32_t from, to, count;
    // also when the ranges touch nothing of each other: inputs come before outputs, outputs before later outputs
    bool continued_by(std::int32_t f, std::int32_t t) const { return f == from + count && t == to + count && f < to; }
  };

  /// Throws InputError when an output depends on a variable that is in no block.
  TapePlaces(const Graph& graph, std::span<const std::vector<Node>> input_blocks, std::span<const Node> outputs,
             const TapePlan& plan);
  /// Constants in their places, also where they are outputs.
  std::vector<double> make_scratch(std::int32_t size) const;
  /// Where constants of a graph stand in a scratch array.
  struct ConstantPlace {
    std::int32_t slot;
    Node node;
  };
  std::vector<ConstantPlace> constant_places() const;
  /// The same with the constants of another graph, which has others in the same places.
  std::vector<double> make_scratch(std::int32_t size, const Graph& graph) const;
  /// Outputs that are constants, and those that are inputs or come twice, which are copied after all else.
  void find_copies(const Graph& graph, std::span<const Node> outputs);

  std::vector<Block> blocks;
  std::vector<double> constants;
  std::vector<Node> constant_nodes;  // no_node: the number 1 for sums
  std::vector<std::int32_t> slot;    // by node; -1: none yet
  std::vector<Copy> copies, constant_outputs;
  std::size_t output_count = 0;
  std::int32_t inputs = 0, slots = 0, first_output = 0;
  std::int32_t one = 0;  // of the number 1, where there are sums

 private:
  void place_constants(const Graph& graph, const TapePlan& plan, std::span<const Node> outputs);
  void note_used_blocks(const std::vector<std::int32_t>& uses);
};

}  // namespace hinge
