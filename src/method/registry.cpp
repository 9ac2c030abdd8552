// The list of methods: a new one is a file of its own and one entry here. `hinge methods` prints this list and the
// property tests read it, so the two cannot disagree.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "hinge/method.hpp"
#include "method/composition.hpp"
#include "method/rattle.hpp"
#include "method/spark.hpp"
#include "method/symplectic_euler.hpp"

namespace hinge {

void SolverOptions::validate() const {
  if (max_iterations < 1)
    throw InputError(fmt::format("max_iterations is {}; at least 1 iteration is needed, 50 is usual", max_iterations));
}

namespace {

constexpr Preserves everything{true, true, true, true, true};

MethodInfo gauss_lobatto_info() {
  return {"gauss-lobatto",
          "SPARK method with Gauss stages and Lobatto constraint nodes",
          "2 s",
          "s",
          everything,
          {{"stages", "number of stages s, 1 to 12", "2"}},
          "L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842"};
}

MethodInfo lobatto_iiia_iiib_info() {
  return {"lobatto-iiia-iiib",
          "partitioned Lobatto pair with the constraints at its own nodes",
          "2 s - 2",
          "s - 1",
          everything,
          {{"stages", "number of stages s, 2 to 12", "3"}},
          "L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387"};
}

MethodInfo rattle_info() {
  return {"rattle",
          "two-stage Lobatto IIIA-IIIB; explicit but for the constraints when the system is separable",
          "2",
          "1",
          everything,
          {},
          "H. C. Andersen, J. Comput. Phys. 52 (1983) 24-34; L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387"};
}

MethodInfo symplectic_euler_info() {
  Preserves preserves = everything;
  preserves.symmetric = false;
  return {"symplectic-euler",
          "symplectic Euler methods for reactions of any kind, also nonlinear in the multipliers or dependent on z",
          "1 (natural: for reactions affine in psi)",
          "1",
          preserves,
          {{"variant", "\"true\", or \"natural\" for reactions affine in psi", "\"true\""},
           {"conjugate", "velocity and force at the end of the step instead of its start", "false"},
           {"adjoint", "the adjoint of the method given by the rest", "false"},
           {"alpha", "share of the first kick; not 0, and not 1 for the natural variant", "0.5"}},
          "L. O. Jay, Consistent extensions of the symplectic Euler method for a class of overdetermined DAEs"};
}

MethodInfo composition_info() {
  return {"composition",
          "symmetric composition of a method with its adjoint, or of a symmetric method with itself",
          "2, 4 or 6",
          "that of the base",
          everything,
          {{"base", "the method to compose; its options are given beside these", "\"symplectic-euler\""},
           {"order", "2, 4 or 6", "4"},
           {"scheme", "\"suzuki\", \"triple-jump\" or \"optimised\"", "\"suzuki\""},
           {"base_first", "in each pair the base before its adjoint", "false"}},
          "H. Yoshida, Phys. Lett. A 150 (1990) 262-268; M. Suzuki, Phys. Lett. A 146 (1990) 319-323; R. I. McLachlan, "
          "SIAM J. Sci. Comput. 16 (1995) 151-168; W. Kahan, R.-C. Li, Math. Comp. 66 (1997) 1089-1099"};
}

struct Entry {
  MethodInfo info;
  MethodChoice (*make)(const Options&);
};

int integer_option(const Options& options, const std::string& name, int fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const double* value = std::get_if<double>(&at->second);
  if (!value || *value != std::floor(*value) || std::abs(*value) > 1e9)
    throw InputError(fmt::format("'{}' takes a whole number", name));
  return static_cast<int>(*value);
}

double number_option(const Options& options, const std::string& name, double fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const double* value = std::get_if<double>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes a number", name));
  return *value;
}

bool bool_option(const Options& options, const std::string& name, bool fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const bool* value = std::get_if<bool>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes true or false", name));
  return *value;
}

std::string text_option(const Options& options, const std::string& name, const char* fallback) {
  const auto at = options.find(name);
  if (at == options.end()) return fallback;
  const std::string* value = std::get_if<std::string>(&at->second);
  if (!value) throw InputError(fmt::format("'{}' takes a word in quotes, such as \"{}\"", name, fallback));
  return *value;
}

MethodChoice symplectic_euler_from(const Options& o) {
  // true without quotes is a truth value in TOML, and means the same here
  const auto given = o.find("variant");
  const bool unquoted = given != o.end() && given->second == OptionValue(true);
  const std::string variant = unquoted ? "true" : text_option(o, "variant", "true");
  if (variant != "true" && variant != "natural")
    throw InputError(fmt::format("'variant' is \"{}\"; choose \"true\" or \"natural\"", variant));
  return symplectic_euler({.natural = variant == "natural",
                           .conjugate = bool_option(o, "conjugate", false),
                           .adjoint = bool_option(o, "adjoint", false),
                           .alpha = number_option(o, "alpha", 0.5)});
}

std::string base_of(const Options& o) { return text_option(o, "base", "symplectic-euler"); }

bool is_own_option(const MethodInfo& info, const std::string& name) {
  return std::any_of(info.options.begin(), info.options.end(), [&](const OptionInfo& o) { return o.name == name; });
}

MethodChoice composition_from(const Options& o) {
  const std::string base = base_of(o);
  if (base == "composition") throw InputError("'base' is \"composition\"; compose a method that is not composed yet");
  Options rest = o;
  std::erase_if(rest, [](const auto& option) { return is_own_option(composition_info(), option.first); });
  return composition(make_method(base, rest), {.order = integer_option(o, "order", 4),
                                               .scheme = text_option(o, "scheme", "suzuki"),
                                               .base_first = bool_option(o, "base_first", false)});
}

const std::vector<Entry>& registry() {
  static const std::vector<Entry> entries = {
      {gauss_lobatto_info(), [](const Options& o) { return gauss_lobatto(integer_option(o, "stages", 2)); }},
      {lobatto_iiia_iiib_info(), [](const Options& o) { return lobatto_iiia_iiib(integer_option(o, "stages", 3)); }},
      {rattle_info(), [](const Options&) { return rattle(); }},
      {symplectic_euler_info(), symplectic_euler_from},
      {composition_info(), composition_from},
  };
  return entries;
}

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

MethodChoice gauss_lobatto(int stages) {
  const SparkTableau tableau = gauss_lobatto_tableau(stages);  // refuses what it cannot do
  return {gauss_lobatto_info(), 2 * stages,
          fmt::format("gauss-lobatto, {} stage{}, order {}", stages, stages == 1 ? "" : "s", 2 * stages),
          [tableau](std::shared_ptr<const System> system, const SolverOptions& options) {
            return make_spark(std::move(system), tableau, options);
          },
          stages};
}

MethodChoice lobatto_iiia_iiib(int stages) {
  const SparkTableau tableau = lobatto_iiia_iiib_tableau(stages);
  return {lobatto_iiia_iiib_info(), 2 * stages - 2,
          fmt::format("lobatto-iiia-iiib, {} stages, order {}", stages, 2 * stages - 2),
          [tableau](std::shared_ptr<const System> system, const SolverOptions& options) {
            return make_spark(std::move(system), tableau, options);
          },
          stages - 1};
}

MethodChoice rattle() { return {rattle_info(), 2, "rattle, order 2", make_rattle, 1}; }

MethodChoice symplectic_euler(const SymplecticEulerOptions& which) {
  if (!std::isfinite(which.alpha) || which.alpha == 0 || (which.natural && which.alpha == 1))
    throw InputError(fmt::format("'alpha' is {}; it must not be 0{}, 0.5 is usual", which.alpha,
                                 which.natural ? " or 1 for the natural variant" : ""));
  MethodChoice choice{symplectic_euler_info(), 1,
                      fmt::format("symplectic-euler, {}{}{}, alpha {:g}, order 1", which.natural ? "natural" : "true",
                                  which.conjugate ? " conjugate" : "", which.adjoint ? ", adjoint" : "", which.alpha),
                      [which](std::shared_ptr<const System> system, const SolverOptions& options) {
                        return make_symplectic_euler(std::move(system), which, options);
                      },
                      1};
  SymplecticEulerOptions other = which;
  other.adjoint = !other.adjoint;
  choice.adjoint = [other] { return symplectic_euler(other); };
  if (which.natural)
    choice.warnings = [](const System& system) -> std::vector<std::string> {
      if (system.reaction_is_affine()) return {};
      return {
          "the natural symplectic Euler method is inconsistent here: the reaction is nonlinear in the multipliers, "
          "and the method converges to the solution of a different ODE as the step goes to zero; use method = "
          "\"symplectic-euler\" with variant = \"true\""};
    };
  return choice;
}

namespace {

MethodChoice compose(const MethodChoice& base, const std::optional<MethodChoice>& partner, bool symmetric,
                     const CompositionOptions& which) {
  const int from = partner ? base.order + base.order % 2 : base.order;
  const std::vector<double> lengths = composition_lengths(which.scheme, from, which.order);
  MethodChoice choice{composition_info(), symmetric ? std::max(from, which.order) : 1, "", {}, base.multiplier_order};
  const Preserves& kept = base.info.preserves;
  choice.info.preserves = kept;
  choice.info.preserves.symmetric = symmetric;
  choice.description =
      fmt::format("composition of {}: {}{} substeps, order {}", base.description,
                  lengths.size() > 1 ? which.scheme + ", " : "", (partner ? 2 : 1) * lengths.size(), choice.order);
  choice.bind = [base, partner, lengths, first = which.base_first](std::shared_ptr<const System> system,
                                                                   const SolverOptions& options) {
    return make_composition(std::move(system), base, partner, lengths, first, options);
  };
  choice.warnings = base.warnings;
  return choice;
}

}  // namespace

MethodChoice composition(const MethodChoice& base, const CompositionOptions& which) {
  if (base.info.preserves.symmetric) return compose(base, std::nullopt, true, which);
  if (!base.adjoint)
    throw InputError(
        fmt::format("'base' is \"{}\", which is not symmetric and whose adjoint is not known; choose a "
                    "symmetric method or symplectic-euler",
                    base.info.name));
  return compose(base, base.adjoint(), true, which);
}

MethodChoice composition(const MethodChoice& base, const MethodChoice& partner, const CompositionOptions& which) {
  return compose(base, partner, false, which);
}

std::vector<MethodInfo> methods() {
  std::vector<MethodInfo> list;
  for (const Entry& e : registry()) list.push_back(e.info);
  return list;
}

std::vector<OptionInfo> method_options(const std::string& name, const Options& given) {
  std::vector<OptionInfo> list;
  for (const Entry& e : registry())
    if (e.info.name == name) list = e.info.options;
  if (name == "composition" && base_of(given) != name)
    for (const OptionInfo& o : method_options(base_of(given), {})) list.push_back(o);
  return list;
}

MethodChoice make_method(const std::string& name, const Options& options) {
  std::vector<std::string> names;
  for (const Entry& e : registry()) {
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
    return e.make(options);
  }
  const std::string near = nearest_name(name, names);
  throw InputError(fmt::format("there is no method '{}'{} The methods are: {} (see 'hinge methods')", name,
                               near.empty() ? "." : fmt::format(", did you mean '{}'?", near), list_names(names)));
}

}  // namespace hinge
