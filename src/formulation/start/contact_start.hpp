// A start without penetration: the nearest position, in the mass metric, with  gap >= 0  for every contact,
//
//   M w = H^T r + G^T s,   0 <= gap + H w  _|_  r >= 0,   g + G w = 0,   y <- y (+) w,   repeated.
#pragma once

#include "hinge/system.hpp"

namespace hinge {

/// `state` itself where no contact penetrates, or bodies by no more than they are allowed to; what is less than the
/// rounding of typed values (of bodies: a millionth of the scene) is moved out silently.
/// Throws InconsistentStart with names and gaps where one does and `mode` is check, or where there is no way out.
State start_without_penetration(const System& system, Consistency mode, State state);

}  // namespace hinge
