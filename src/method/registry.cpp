// The list of methods: a new one is a file of its own and one entry here. `hinge methods` prints this list and the
// property tests read it, so the two cannot disagree.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/wrap/projected.hpp"

namespace hinge {

void SolverOptions::validate() const {
  if (max_iterations < 1)
    throw InputError(fmt::format("max_iterations is {}; at least 1 iteration is needed, 50 is usual", max_iterations));
}

void Tolerance::validate() const {
  const auto wrong = [](double x) { return !(x >= 0) || x >= 1; };
  if (wrong(relative) || !(absolute >= 0) || !std::isfinite(absolute))
    throw InputError(
        fmt::format("a tolerance of {:g} (relative), {:g} (absolute) cannot be met; give numbers such as 1e-6",
                    relative, absolute));
  if (relative > 0 && relative < 1e-15)
    throw InputError(fmt::format(
        "a relative tolerance of {:g} is below what rounding allows; the smallest useful one is about 1e-13",
        relative));
}

namespace {

const std::vector<MethodEntry>& registry() {
  static const std::vector<MethodEntry> entries = {
      gauss_lobatto_entry(),
      lobatto_iiia_iiib_entry(),
      rattle_entry(),
      shake_entry(),
      spark_entry(),
      symplectic_euler_entry(),
      composition_entry(),
      energy_momentum_entry(),
      explicit_entry(),
      half_explicit_entry(),
      generalized_alpha_entry(),
      bdf_entry(),
      radau_entry(),
      automatic_entry(),
      euler_maruyama_entry(),
      moreau_jean_entry(),
      paoli_schatzman_entry(),
      event_driven_entry(),
  };
  return entries;
}

// A method without a projection of its own gets one around its steps.
const OptionInfo projection_option = {"projection",
                                      "\"none\", \"position\", \"velocity\" or \"both\", after every step", "\"none\""};
bool has_projection(const std::vector<OptionInfo>& options) {
  return std::any_of(options.begin(), options.end(),
                     [](const OptionInfo& o) { return o.name == projection_option.name; });
}

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

std::vector<MethodInfo> methods() {
  std::vector<MethodInfo> list;
  for (const MethodEntry& e : registry()) {
    list.push_back(e.info);
    if (!has_projection(e.info.options)) list.back().options.push_back(projection_option);
  }
  return list;
}

std::vector<OptionInfo> method_options(const std::string& name, const Options& given) {
  std::vector<OptionInfo> list;
  for (const MethodEntry& e : registry())
    if (e.info.name == name) list = e.info.options;
  if (name == "composition" && composition_base(given) != name)
    for (const OptionInfo& o : method_options(composition_base(given), {}))
      if (o.name != projection_option.name) list.push_back(o);
  const auto called = [&](const MethodEntry& e) { return e.info.name == name; };
  const bool known = std::any_of(registry().begin(), registry().end(), called);
  if (known && !has_projection(list)) list.push_back(projection_option);
  return list;
}

MethodChoice make_method(const std::string& name, const Options& options) {
  std::vector<std::string> names;
  for (const MethodEntry& e : registry()) {
    names.push_back(e.info.name);
    if (e.info.name != name) continue;
    std::vector<std::string> known;
    for (const OptionInfo& o : method_options(name, options)) known.push_back(o.name);
    for (const auto& [key, value] : options) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const std::string near = nearest_name(key, known);
      throw InputError(fmt::format("method '{}' has no option '{}'{}; {}", name, key,
                                   near.empty() ? "" : fmt::format(", did you mean '{}'?", near),
                                   known.empty() ? "it has none" : "it has: " + list_names(known)));
    }
    const auto projection = options.find(projection_option.name);
    if (projection == options.end() || has_projection(e.info.options)) return e.make(options);
    Options own = options;
    own.erase(projection_option.name);
    return projected(e.make(own), parse_projection(text_option(options, projection_option.name, "none")));
  }
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("there is no method '{}'{} The methods are: {} (see 'hinge methods')", name,
                               near.empty() ? "." : fmt::format(", did you mean '{}'?", near), list_names(names)));
}

Options inherited_options(const std::string& name, const std::string& own, const Options& options) {
  const auto chooses_steps = [&] {
    for (const MethodEntry& e : registry())
      if (e.info.name == name) return static_cast<bool>(e.make({}).bind_adaptive);
    return false;
  };
  if (name == own) return options;
  return chooses_steps() ? Options{} : known_options(name, options, options);
}

}  // namespace hinge
