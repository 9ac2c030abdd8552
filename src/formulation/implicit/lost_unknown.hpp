// Why a DAE may end: an equation that no longer says what its unknown is.
#pragma once

#include <string>

#include "hinge/system.hpp"

namespace hinge {

/// "; ..." of an equation without derivatives whose slopes by the unknowns that it determines have become so small that
/// these drown in the rounding of its other terms, or in the absolute `tolerance` of these, as i = Is*(exp(u/V) - 1)
/// says nothing of u where u is far below 0. Empty where there is none, and of other systems.
std::string lost_unknown(const System& system, const State& state, double tolerance);

}  // namespace hinge
