// Steps of moreau-jean with gap = linearised for particles between fixed planes, as one flat problem on the cores of
// the host or on an OpenCL device (hinge/grains.hpp).
#pragma once

#include <memory>

#include "hinge/method.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge {

/// Throws UnsuitableMethod, with what to change, where the system or the options are others.
std::unique_ptr<Stepper> make_grain_stepper(std::shared_ptr<const System> system, const MoreauJeanOptions& options);

}  // namespace hinge
