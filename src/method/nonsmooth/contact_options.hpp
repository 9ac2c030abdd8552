// Options and warnings that the methods for contacts have in common.
#pragma once

#include <string>
#include <vector>

#include "hinge/nonsmooth.hpp"
#include "method/method_entry.hpp"

namespace hinge {

/// cone, facets, solver, solver_tolerance, threads
std::vector<OptionInfo> contact_options();
/// sequence, of sequential impacts
OptionInfo sequence_option();
ContactSolving contact_solving(const GivenOptions& options);
/// ", convexified friction, solver apgd" where that is not the usual.
std::string describe(const ContactSolving& solving);
/// Newton's law of impact with restitution and friction may create energy.
void append_energy_warning(const System& system, std::vector<std::string>& list);
std::vector<std::string> energy_warnings(const System& system);

}  // namespace hinge
