// The list of methods: a new one is a file of its own and one line here, or register_method() from outside. `hinge
// methods` prints this list and the property tests read it, so the two cannot disagree.
#include <algorithm>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "expression/suggest.hpp"
#include "hinge/error.hpp"
#include "method/default_method.hpp"
#include "method/method_entry.hpp"
#include "method/projected.hpp"

namespace hinge {

namespace {

using Entries = std::vector<std::shared_ptr<const MethodEntry>>;

// A method without a projection of its own gets one around its steps.
const char* const projection = "projection";

MethodEntry with_projection(MethodEntry entry) {
  if (find_option(entry.info.options, projection)) return entry;
  entry.info.options.push_back(projection_option("none"));
  entry.make = [make = entry.make](const GivenOptions& options) {
    return projected(make(options), options.choice<Projection>(projection));
  };
  return entry;
}

struct Registry {
  std::mutex mutex;
  Entries entries;

  Registry() {
    for (const auto& entry : {
             gauss_lobatto_entry,
             lobatto_iiia_iiib_entry,
             rattle_entry,
             shake_entry,
             spark_entry,
             symplectic_euler_entry,
             composition_entry,
             energy_momentum_entry,
             explicit_entry,
             half_explicit_entry,
             generalized_alpha_entry,
             bdf_entry,
             radau_entry,
             automatic_entry,
             taylor_entry,
             euler_maruyama_entry,
             moreau_jean_entry,
             paoli_schatzman_entry,
             event_driven_entry,
         })
      entries.push_back(std::make_shared<const MethodEntry>(with_projection(entry())));
  }
};

Registry& registry() {
  static Registry all;
  return all;
}

Entries all_entries() {
  const std::lock_guard lock(registry().mutex);
  return registry().entries;
}

// Null where there is none of this name.
std::shared_ptr<const MethodEntry> find_entry(const std::string& name) {
  for (const auto& entry : all_entries())
    if (entry->info.name == name) return entry;
  return nullptr;
}

// The method's own and those of its base.
std::vector<OptionInfo> options_of(const MethodEntry& entry, const Options& given) {
  std::vector<OptionInfo> list = entry.info.options;
  if (entry.base_option.empty()) return list;
  const auto named = given.find(entry.base_option);
  const std::string* word = named == given.end() ? nullptr : std::get_if<std::string>(&named->second);
  const auto base = find_entry(word ? *word : find_option(list, entry.base_option)->default_value);
  if (!base || base->info.name == entry.info.name) return list;
  for (const OptionInfo& option : base->info.options)
    if (!find_option(list, option.name)) list.push_back(option);
  return list;
}

}  // namespace

void register_method(MethodEntry entry) {
  if (entry.info.name.empty() || !entry.make) throw InputError("a method to be registered has a name and can be made");
  const std::lock_guard lock(registry().mutex);
  for (const auto& known : registry().entries)
    if (known->info.name == entry.info.name)
      throw InputError(fmt::format("there is a method '{}' already; choose another name", entry.info.name));
  registry().entries.push_back(std::make_shared<const MethodEntry>(with_projection(std::move(entry))));
}

std::string default_method(const Structure& system, bool chosen_steps) {
  if (system.has_noise) return "euler-maruyama";
  if (system.pairs > 0) return "moreau-jean";
  if (chosen_steps) return system.has_contacts ? "event-driven" : "auto";
  if (system.is_dae) return "radau";
  return system.has_contacts ? "moreau-jean" : system.velocity_constraints > 0 ? "rattle" : "gauss-lobatto";
}

std::vector<MethodInfo> methods() {
  std::vector<MethodInfo> list;
  for (const auto& entry : all_entries()) list.push_back(entry->info);
  return list;
}

std::vector<OptionInfo> method_options(const std::string& name, const Options& given) {
  const auto entry = find_entry(name);
  return entry ? options_of(*entry, given) : std::vector<OptionInfo>{};
}

MethodChoice make_method(const std::string& name, const Options& options) {
  if (const auto entry = find_entry(name)) return entry->make(GivenOptions(name, options_of(*entry, options), options));
  std::vector<std::string> names;
  for (const auto& entry : all_entries()) names.push_back(entry->info.name);
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("there is no method '{}'{} The methods are: {} (see 'hinge methods')", name,
                               near.empty() ? "." : fmt::format(", did you mean '{}'?", near), list_names(names)));
}

Options inherited_options(const std::string& name, const std::string& own, const Options& options) {
  if (name == own) return options;
  const auto entry = find_entry(name);
  return entry && entry->info.can.chosen_steps ? Options{} : known_options(name, options, options);
}

Options known_options(const std::string& name, const Options& given, Options options) {
  const auto entry = find_entry(name);
  if (!entry) return options;
  const std::vector<OptionInfo> known = options_of(*entry, given);
  std::erase_if(options, [&](const auto& option) { return !find_option(known, option.first); });
  return options;
}

}  // namespace hinge
