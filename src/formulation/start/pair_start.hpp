// Initial values of a DAE with complementarity pairs: unknowns whose derivatives occur are taken as given; their
// derivatives and the other unknowns are computed,
//
//   0 = F(t, x, x'),  0 <= a _|_ b >= 0     for x' of the former and x of the latter.
//
// Where that has no solution, or more than one (pairs that restrict the given unknowns themselves, as in a sweeping
// process), the values stay as they are: the first step, which is implicit, does not depend on the others.
#pragma once

#include <string>
#include <vector>

#include "hinge/system.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// Throws InconsistentStart where a pair that contains given values only is violated, unless start.consistent is
/// project: then the first step moves them.
State consistent_pair_start(const SymbolicSystem& system, double t, const Start& start,
                            std::vector<std::string>* remarks);

}  // namespace hinge
