// Steps of given length on equations with kinks and jumps that depend on t alone (time_kinks.hpp): a step that would
// pass over such a time is made in parts, which end there and begin anew. Conditions on the motion are watched
// (state_kinks.hpp).
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// The method with its steps split; the method itself where the system has no such times.
std::unique_ptr<Stepper> split_at_kinks(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system);

}  // namespace hinge
