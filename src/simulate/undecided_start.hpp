// A start from which the motion may go on in more than one way: it stands on a jump of a force that drives it away on
// both sides, as amp*sign(speed) does at rest. What leaves first is rounding, or the method.
//
// Of a root function r(t, y, z) of a jump with r = 0 (branches.hpp), the rate is r_t + r_y v + r_z a, and a that of the
// side: a+ where r > 0, a- where r < 0. Where a+ takes it up and a- takes it down, nothing says which. The same of the
// rate of the rate, r_y a, where r is a function of positions alone, and these rest.
#pragma once

#include <optional>

#include "hinge/simulate.hpp"

namespace hinge {

std::optional<Doubt> doubt_undecided(const System& system, const State& state);

}  // namespace hinge
