// Runs side by side, a step of each at a time: steps that can be computed together are, ahead of the runs that make
// them (method/step_ahead.hpp). Every run has the numbers that it has alone.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>

#include "hinge/simulate.hpp"
#include "method/step_ahead.hpp"

namespace hinge {

class RunsAbreast {
 public:
  static constexpr std::size_t most = StepLanes::most;

  /// As until() begins; throws as it does.
  static void begin(Simulation& run, double end);
  /// A step. False where the run is at its end, as after until().
  static bool go_on(Simulation& run);

  /// Computes what it can of the next step of each; null where there is none. A run whose step is refused waits, so
  /// that the next one that it tries is computed beside the next steps of others; one that has no use for it goes
  /// alone.
  enum class Next { go_on, wait, go_alone };
  std::array<Next, most> look_ahead(std::span<Simulation* const> runs);
  /// So many times has this process made room for steps of a kind.
  static long lanes_made();

 private:
  void compute(std::array<StepAhead*, most> steps);

  std::map<const void*, std::unique_ptr<StepLanes>> lanes_;  // by kind of step
};

}  // namespace hinge
