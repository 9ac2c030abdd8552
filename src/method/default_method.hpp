// The method where none is named.
#pragma once

#include <string>

namespace hinge {

std::string default_method(bool contacts, bool chosen_steps, bool velocity_constraints = false);

}  // namespace hinge
