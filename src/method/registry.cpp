// The list of methods: a new one is a file of its own and one entry here. `hinge methods` prints this list and the
// property tests read it, so the two cannot disagree.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "hinge/method.hpp"
#include "method/rattle.hpp"
#include "method/shake.hpp"
#include "method/spark.hpp"
#include "method/tableau_check.hpp"

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

MethodInfo shake_info() {
  return {"shake",
          "the positions of rattle with central differences as velocities; for separable systems",
          "2",
          "2",
          {.position_level = true, .symplectic = true, .momentum_maps = true},
          {},
          "J.-P. Ryckaert, G. Ciccotti, H. J. C. Berendsen, J. Comput. Phys. 23 (1977) 327-341"};
}

MethodInfo spark_info() {
  return {"spark",
          "SPARK method with coefficients of one's own; a run says which properties they give it",
          "yours",
          "yours",
          {.position_level = true, .velocity_level = true},
          {{"tableau", "coefficients a, b, abar, btilde and more: a section [integrate.tableau]", "needed"}},
          "L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842"};
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

const SparkTableau& tableau_option(const Options& options) {
  const auto at = options.find("tableau");
  if (at == options.end())
    throw InputError("method 'spark' needs coefficients: a section [integrate.tableau] with a, b, abar and btilde");
  if (const auto* tableau = std::get_if<SparkTableau>(&at->second)) return *tableau;
  throw InputError("'tableau' takes coefficients: a table with a, b, abar and btilde");
}

const std::vector<Entry>& registry() {
  static const std::vector<Entry> entries = {
      {gauss_lobatto_info(), [](const Options& o) { return gauss_lobatto(integer_option(o, "stages", 2)); }},
      {lobatto_iiia_iiib_info(), [](const Options& o) { return lobatto_iiia_iiib(integer_option(o, "stages", 3)); }},
      {rattle_info(), [](const Options&) { return rattle(); }},
      {shake_info(), [](const Options&) { return shake(); }},
      {spark_info(), [](const Options& o) { return spark(tableau_option(o)); }},
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

MethodChoice shake() { return {shake_info(), 2, "shake, order 2", make_shake, 2}; }

MethodChoice spark(const SparkTableau& given) {
  SparkTableau tableau = complete_tableau(given);
  const TableauReport report = check_tableau(tableau);
  require_conditions(tableau, report);
  const std::string name = tableau.name.empty() ? "spark" : fmt::format("spark '{}'", tableau.name);
  tableau.name = name;
  const std::string order = tableau.order > 0 ? fmt::format("order {}", tableau.order) : "order not stated";
  const bool affine_only = !condition_of(report, "(3.3c)").holds();

  MethodChoice choice;
  choice.info = spark_info();
  choice.info.order = tableau.order > 0 ? std::to_string(tableau.order) : "not stated";
  choice.info.multiplier_order = "not stated";
  choice.info.preserves = {true, true, report.symplectic(), report.symmetric(), report.symplectic()};
  choice.order = tableau.order;
  choice.description = fmt::format("{}, {} stage{}, {}, {}symplectic, {}symmetric", name, tableau.stages(),
                                   tableau.stages() == 1 ? "" : "s", order, report.symplectic() ? "" : "not ",
                                   report.symmetric() ? "" : "not ");
  choice.facts = report.facts();
  if (tableau.order == 0)
    choice.facts.emplace_back("order: not stated in the tableau; runs with several steps show it");
  choice.bind = [tableau, affine_only](std::shared_ptr<const System> system, const SolverOptions& options) {
    if (affine_only && !system->reaction_is_affine())
      throw UnsuitableMethod(fmt::format(
          "{} violates (3.3c) and is for reactions known to be affine in psi; this system's is not, and the results "
          "would converge to those of another system; use coefficients that satisfy (3.3c), or gauss-lobatto",
          tableau.name));
    return make_spark(std::move(system), tableau, options);
  };
  if (!report.symmetric()) choice.adjoint = [given] { return spark(adjoint_tableau(given)); };
  return choice;
}

std::vector<MethodInfo> methods() {
  std::vector<MethodInfo> list;
  for (const Entry& e : registry()) list.push_back(e.info);
  return list;
}

MethodChoice make_method(const std::string& name, const Options& options) {
  std::vector<std::string> names;
  for (const Entry& e : registry()) {
    names.push_back(e.info.name);
    if (e.info.name != name) continue;
    std::vector<std::string> known;
    for (const OptionInfo& o : e.info.options) known.push_back(o.name);
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
