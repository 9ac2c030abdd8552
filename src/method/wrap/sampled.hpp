// Sampled states (system/states.hpp) around a method: steps end at the times of samples, offset + k every, and begin
// there with the new values. A state at such a time is the one before the sample; the step that begins there applies
// it.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// The stepper itself where nothing is sampled.
std::unique_ptr<Stepper> sample_states(std::unique_ptr<Stepper> method, std::shared_ptr<const System> system);

}  // namespace hinge
