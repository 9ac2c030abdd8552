// The time-stepping methods for contacts in the list of methods, and the options that they have in common.
#pragma once

#include <string>
#include <vector>

#include "hinge/nonsmooth.hpp"
#include "method/method_entry.hpp"

namespace hinge {

MethodEntry moreau_jean_entry();
MethodEntry paoli_schatzman_entry();

/// cone, facets, solver, solver_tolerance, threads
void add_contact_options(std::vector<OptionInfo>& list);
ContactSolving contact_solving(const Options& options);
/// ", convexified friction, solver apgd" where that is not the usual.
std::string describe(const ContactSolving& solving);
/// Newton's law of impact with restitution and friction may create energy.
void append_energy_warning(const System& system, std::vector<std::string>& list);
std::vector<std::string> energy_warnings(const System& system);

int index_option(const Options& options, const std::string& name, const std::vector<std::string>& words);
/// One of `words`, the first where nothing is given; they are in the order of the enumeration T.
template <class T>
T choice_option(const Options& options, const std::string& name, const std::vector<std::string>& words) {
  return static_cast<T>(index_option(options, name, words));
}

}  // namespace hinge
