// energy-momentum for bodies in space.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

/// Bodies that turn in space: their energy-momentum steps are of another form than those of coordinates that add up.
bool turns_in_space(const System& system);
std::unique_ptr<Stepper> make_body_energy_momentum(std::shared_ptr<const System> system,
                                                   const EnergyMomentumOptions& options, const SolverOptions& solver);

}  // namespace hinge
