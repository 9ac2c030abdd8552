// The methods that are SPARK methods with given coefficients: Gauss-Lobatto, Lobatto IIIA-IIIB, and a user's own.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/symplectic/spark.hpp"
#include "method/symplectic/tableau_check.hpp"

namespace hinge {

namespace {

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
          "Lobatto IIIA for the positions, IIIB for the momenta; the constraints hold at the stages",
          "2 s - 2",
          "s - 1",
          everything,
          {{"stages", "number of stages s, 2 to 12", "3"}},
          "L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387"};
}

MethodInfo spark_info() {
  return {"spark",
          "SPARK method with coefficients of your own; every run says which properties they have",
          "as stated in the tableau",
          "not stated",
          {.position_level = true, .velocity_level = true},
          {{"tableau", "needed: a section [integrate.tableau] with a, b, abar, btilde and more", ""}},
          "L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842"};
}

const SparkTableau& tableau_option(const Options& options) {
  const auto at = options.find("tableau");
  if (at == options.end())
    throw InputError("method 'spark' needs coefficients: a section [integrate.tableau] with a, b, abar and btilde");
  if (const auto* tableau = std::get_if<SparkTableau>(&at->second)) return *tableau;
  throw InputError("'tableau' takes coefficients: a table with a, b, abar and btilde");
}

}  // namespace

MethodChoice gauss_lobatto(int stages) {
  SparkTableau tableau = gauss_lobatto_tableau(stages);  // refuses what it cannot do
  tableau.name = "gauss-lobatto";                        // as the user calls it
  return {gauss_lobatto_info(), 2 * stages,
          fmt::format("gauss-lobatto, {} stage{}, order {}", stages, stages == 1 ? "" : "s", 2 * stages),
          [tableau](std::shared_ptr<const System> system, const SolverOptions& options) {
            return make_spark(std::move(system), tableau, options);
          },
          stages};
}

MethodChoice lobatto_iiia_iiib(int stages) {
  SparkTableau tableau = lobatto_iiia_iiib_tableau(stages);
  tableau.name = "lobatto-iiia-iiib";
  return {lobatto_iiia_iiib_info(), 2 * stages - 2,
          fmt::format("lobatto-iiia-iiib, {} stages, order {}", stages, 2 * stages - 2),
          [tableau](std::shared_ptr<const System> system, const SolverOptions& options) {
            return make_spark(std::move(system), tableau, options);
          },
          stages - 1};
}

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
  if (tableau.order == 0) choice.facts.emplace_back("order: not stated in the tableau; hinge convergence measures it");
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

MethodEntry gauss_lobatto_entry() {
  return {gauss_lobatto_info(), [](const Options& o) { return gauss_lobatto(integer_option(o, "stages", 2)); }};
}
MethodEntry lobatto_iiia_iiib_entry() {
  return {lobatto_iiia_iiib_info(), [](const Options& o) { return lobatto_iiia_iiib(integer_option(o, "stages", 3)); }};
}
MethodEntry spark_entry() {
  return {spark_info(), [](const Options& o) { return spark(tableau_option(o)); }};
}

}  // namespace hinge
