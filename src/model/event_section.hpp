// [[event]]: functions of the motion to watch.
#pragma once

#include <vector>

#include "hinge/simulate.hpp"
#include "model/reader.hpp"
#include "model/system_section.hpp"

namespace hinge {

/// The events of a model; `list` may be missing.
std::vector<Event> read_events(const Item& list, SystemSection& system);

}  // namespace hinge
