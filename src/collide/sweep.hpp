// Pairs that move far in a step: straight from one pose to another, turning evenly.
//
// The time of the first touch comes from conservative advancement: with the distance d and no point faster than L
// against the other body, nothing happens before d/L.
#pragma once

#include "collide/narrow.hpp"

namespace hinge::contact {

struct Motion {
  Placed from, to;
};

/// Time in [0, 1], the points there.
struct FirstTouch {
  double time = 0;
  Placed a, b;
  Touches points{};
};
/// False where they do not touch on their way. Not for planes, which nothing passes.
bool first_touch(const Motion& a, const Motion& b, int dimension, FirstTouch& out);

}  // namespace hinge::contact
