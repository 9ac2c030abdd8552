// RATTLE for systems with velocity constraints.
#pragma once

#include <memory>

#include "hinge/method.hpp"

namespace hinge {

std::unique_ptr<Stepper> make_nonholonomic_rattle(std::shared_ptr<const System> system, const RattleOptions& which,
                                                  const SolverOptions& options);

}  // namespace hinge
