// Options, demands and warnings that the methods for contacts have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/nonsmooth.hpp"
#include "method/method_entry.hpp"

namespace hinge {

/// What a method asks of a system.
struct ContactDemands {
  const char* method;
  const char* form;               ///< "systems whose ...: write ...": whose velocities are its unknowns
  bool bodies = false;            ///< or bodies, as they are
  bool ideal = true;              ///< joints whose reaction is -G^T psi
  const char* other_joints = "";  ///< "; use ..." for others
};
/// The system, where it is as demanded; throws UnsuitableMethod.
std::shared_ptr<const System> suitable(std::shared_ptr<const System> system, const ContactDemands& demands);

/// cone, facets, solver, solver_tolerance, threads
std::vector<OptionInfo> contact_options();
/// What ImpactLaw::automatic is for a system; other laws are themselves.
ImpactLaw law_of(ImpactLaw law, const System& system);
/// sequence, of sequential impacts
OptionInfo sequence_option();
ContactSolving contact_solving(const GivenOptions& options);
/// ", convexified friction, solver apgd" where that is not the usual.
std::string describe(const ContactSolving& solving);
/// Newton's law of impact with restitution and friction may create energy.
void append_energy_warning(const System& system, std::vector<std::string>& list);
std::vector<std::string> energy_warnings(const System& system);
/// Why a step has no end.
std::string does_not_settle(int iterations);

}  // namespace hinge
