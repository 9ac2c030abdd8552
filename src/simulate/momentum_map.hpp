// Momentum maps that a run watches.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "formulation/symmetries.hpp"
#include "hinge/simulate.hpp"

namespace hinge {

struct WatchedMomentum {
  std::string name;
  Motion motion;
  double first = 0, error = 0;

  void see(double now, bool at_start) {
    if (at_start) first = now, error = 0;
    error = std::max(error, std::abs(now - first));
  }
};

/// The motion whose momentum is asked for. Throws InputError where the map does not fit the coordinates.
Motion motion_of(const Layout& layout, const MomentumMap& map);

}  // namespace hinge
