// What projections leave undone of bodies in space: quaternions of length one, and coordinates that count turns.
#pragma once

#include <vector>

#include "hinge/system.hpp"

namespace hinge {

/// y has been moved from `given`, along gradients and not along rotations. Quaternions get length one, and the
/// coordinate T of a counted turn the angle that the two bodies have turned by, about its axis:
///
///   T = T_given + 2 atan2(v.n, w),   (w, v) = r r_given^*,   r = q_a^* q_b
void settle_bodies(const System& system, const std::vector<double>& given, std::vector<double>& y);

}  // namespace hinge
