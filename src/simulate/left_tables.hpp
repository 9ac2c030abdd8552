// Where a run fails: has a table been left that has no values beyond its points?
#pragma once

#include <string>

#include "hinge/system.hpp"

namespace hinge {

/// A sentence about the tables of the equations whose argument is outside of their points at the state, or will be
/// within `time`; empty where there are none.
std::string left_tables(const System& system, const State& state, double time);

}  // namespace hinge
