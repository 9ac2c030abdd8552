// Which systems have the explicit form of RATTLE and SHAKE.
#pragma once

#include "hinge/system.hpp"

namespace hinge {

/// Do v and p depend on z alone with p_z constant, f on y alone, and is r linear in psi?
bool is_separable(const System& system);

}  // namespace hinge
