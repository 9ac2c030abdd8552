// The list of methods is made of entries; each method's file has its own. Also: reading options.
#pragma once

#include <string>

#include "hinge/method.hpp"

namespace hinge {

struct MethodEntry {
  MethodInfo info;
  MethodChoice (*make)(const Options&);
};

MethodEntry gauss_lobatto_entry();
MethodEntry lobatto_iiia_iiib_entry();
MethodEntry spark_entry();
MethodEntry rattle_entry();
MethodEntry shake_entry();
MethodEntry symplectic_euler_entry();
MethodEntry composition_entry();
MethodEntry energy_momentum_entry();
MethodEntry bdf_entry();
MethodEntry radau_entry();
MethodEntry explicit_entry();
MethodEntry half_explicit_entry();
MethodEntry generalized_alpha_entry();
MethodEntry automatic_entry();
MethodEntry euler_maruyama_entry();
MethodEntry event_driven_entry();

/// What the symmetric symplectic methods keep.
inline constexpr Preserves everything{true, true, true, true, true};

/// The value of an option, or `fallback`; an InputError where it is of another kind.
int integer_option(const Options& options, const std::string& name, int fallback);
double number_option(const Options& options, const std::string& name, double fallback);
bool bool_option(const Options& options, const std::string& name, bool fallback);
std::string text_option(const Options& options, const std::string& name, const char* fallback);

/// The base that a composition with these options has.
std::string composition_base(const Options& options);

/// Those of `options`, written for the method `own`, that hold for the method called `name` as well: what it knows. To
/// methods that can choose their steps none, since their 'stages' and 'order' have other values.
Options inherited_options(const std::string& name, const std::string& own, const Options& options);

}  // namespace hinge
