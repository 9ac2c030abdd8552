// The method where none is named.
#pragma once

#include <string>

#include "hinge/system.hpp"

namespace hinge {

/// For a system, and steps that are chosen or given.
std::string default_method(const Structure& system, bool chosen_steps);

}  // namespace hinge
