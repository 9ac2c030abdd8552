// The list of methods is made of entries; each method's file has its own. Also: rows that several methods share.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hinge/method.hpp"

namespace hinge {

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
MethodEntry taylor_entry();
MethodEntry generalized_alpha_entry();
MethodEntry automatic_entry();
MethodEntry euler_maruyama_entry();
MethodEntry moreau_jean_entry();
MethodEntry paoli_schatzman_entry();
MethodEntry event_driven_entry();

/// What the symmetric symplectic methods keep.
inline constexpr Preserves everything{true, true, true, true, true};

/// Rows of option tables. The first word is the default.
OptionInfo number_row(std::string name, std::string default_value, OptionRange range, std::string meaning);
OptionInfo integer_row(std::string name, std::string default_value, OptionRange range, std::string meaning);
OptionInfo word_row(std::string name, std::vector<std::string> words, std::string meaning);
OptionInfo flag_row(std::string name, std::string meaning);  // false where nothing is said
/// projection = "none", "position", "velocity" or "both"; a sentence where the default depends on something.
OptionInfo projection_option(const std::string& default_value, const std::string& default_depends = "");
/// formulation, and alpha and beta of "baumgarte".
std::vector<OptionInfo> formulation_options(const std::string& default_value, std::vector<std::string> words = {});
FormulationOptions read_formulation(const GivenOptions& options);
/// Which levels a projection puts back.
bool projects_position(Projection projection);
bool projects_velocity(Projection projection);

/// Null where the table has no such row.
const OptionInfo* find_option(const std::vector<OptionInfo>& table, const std::string& name);
/// The checks of the table for values that did not come by it.
void check_options(const std::vector<OptionInfo>& table,
                   std::initializer_list<std::pair<const char*, OptionValue>> values);
std::string list_names(const std::vector<std::string>& names);

/// Those of `options`, written for the method `own`, that hold for the method called `name` as well: what it knows. To
/// methods that can choose their steps none, since their 'stages' and 'order' have other values.
Options inherited_options(const std::string& name, const std::string& own, const Options& options);

}  // namespace hinge
