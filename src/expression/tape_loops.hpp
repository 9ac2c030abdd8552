// Steps of a plan that come again and again with all that they read and write moved on by equal distances: families of
// constraints, bodies and springs. As code they are one loop. Written out they would have to come from memory each
// time, which takes longer than what they compute.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expression/tape_places.hpp"
#include "expression/tape_plan.hpp"

namespace hinge {

struct TapeLoop {
  std::int32_t first, period, repeats;  // steps
  /// By how many slots what the first round reads and writes in memory moves on from round to round. Left out is what
  /// stays where it is.
  struct Moving {
    Node node;
    std::int32_t stride;
  };
  std::vector<Moving> moving;

  std::int32_t end() const { return first + period * repeats; }
};

/// Places of a function: inputs come first, block after block; -1 where a node has no slot of its own.
struct LoopPlaces {
  std::span<const TapePlaces::Block> blocks;
  std::int32_t inputs;
  std::vector<std::int32_t>& slot;
  std::int32_t& slots;  // so many are taken
};

/// Loops in their order, none in short plans. What one round or later steps need of a round gets a slot.
std::vector<TapeLoop> find_loops(const TapePlan& plan, const LoopPlaces& places);

}  // namespace hinge
