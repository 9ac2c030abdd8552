// Consistent initial values of a DAE from partial ones, through the derivative array  F_i^(k)(t, X) = 0.
//
// First the given values are kept and the others solved for. Where that cannot be, the nearest consistent values are
// those that minimise the sum of squares of the changes of the given ones.
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// In `remarks`: which values were computed, which could have been chosen otherwise, and what was changed. Throws
/// InconsistentStart with the violated equations and the nearest values where start.consistent is check, and where
/// there are none; SingularDae where the equations do not determine the solution there.
State consistent_dae_start(const SymbolicSystem& system, double t, const Start& start,
                           std::vector<std::string>* remarks);

}  // namespace hinge
