// Symmetries of a system, and which of them its discrete derivatives share.
//
// A motion of all points, dq = xi(q), is a symmetry when T, U and every g are invariant under it: xi.DU = 0. The system
// then conserves the momentum p.xi(q). A scheme with discrete derivatives changes it in a step by -h dd f.xi(mid),
// summed over U and the constraints, and conserves it when all of these are zero. They are where the invariants that dd
// f is built on are invariant under the motion. These are polynomials of degree one or two: whether the motion leaves
// them as they are is read off their coefficients, whatever the sizes of the coordinates.
//
// A function may have a symmetry that the quantities it is written in do not have. That is looked for with numbers, and
// only to warn of a momentum that the scheme loses.
#pragma once

#include <string>
#include <vector>

#include "formulation/energy_step.hpp"
#include "formulation/motion.hpp"

namespace hinge {

/// The momenta about and along e1, e2, e3 through the origin that a system conserves.
struct ConservedMomenta {
  struct Lost {
    std::string momentum;  ///< "angular momentum about e2"
    std::string because;   ///< "the term ... of the potential is not a function of inner products"
  };
  std::vector<std::string> kept;  ///< by the scheme with discrete derivatives built on invariants as well
  std::vector<Lost> lost;         ///< not by that scheme
};
/// `only_quadratic`: for the general derivative, which keeps them only where all functions are at most quadratic.
ConservedMomenta conserved_momenta(const ConstantMassForm& form, bool only_quadratic = false);

/// What the discrete derivatives of the potential and of each constraint are built on, a line each.
std::vector<std::string> invariants_text(const ConstantMassForm& form);

/// Invariants that the user has chosen but that do not occur in the potential or the constraints.
std::vector<std::string> unused_invariants(const ConstantMassForm& form);

}  // namespace hinge
