// The methods that are SPARK methods with given coefficients: Gauss-Lobatto, Lobatto IIIA-IIIB, and a user's own.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/symplectic/spark.hpp"
#include "method/symplectic/tableau_check.hpp"

namespace hinge {

namespace {

OptionInfo stages_option(const char* usual, double least) {
  OptionInfo row = integer_row("stages", usual, {least, 12}, "number of stages s");
  row.unit = "stages";
  return row;
}

MethodInfo gauss_lobatto_info() {
  return {.name = "gauss-lobatto",
          .summary = "SPARK method with Gauss stages and Lobatto constraint nodes",
          .order = "2 s",
          .multiplier_order = "s",
          .preserves = everything,
          .options = {stages_option("2", 1)},
          .reference = "L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842"};
}

MethodInfo lobatto_iiia_iiib_info() {
  return {.name = "lobatto-iiia-iiib",
          .summary = "Lobatto IIIA for the positions, IIIB for the momenta; the constraints hold at the stages",
          .order = "2 s - 2",
          .multiplier_order = "s - 1",
          .preserves = everything,
          .options = {stages_option("3", 2)},
          .reference = "L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368-387"};
}

MethodInfo spark_info() {
  return {.name = "spark",
          .summary = "SPARK method with coefficients of your own; every run says which properties they have",
          .order = "as stated in the tableau",
          .multiplier_order = "not stated",
          .preserves = {.position_level = true, .velocity_level = true},
          .options = {{.name = "tableau",
                       .meaning = "needed: a section [integrate.tableau] with a, b, abar, btilde and more",
                       .type = OptionType::table}},
          .reference = "L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814-1842"};
}

// The coefficients carry the name that the user knows.
std::function<MethodChoice::Make> make_with(SparkTableau tableau, const std::string& name) {
  tableau.name = name;
  return [tableau](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    return make_spark(std::move(system), tableau, solver);
  };
}

}  // namespace

MethodChoice gauss_lobatto(int stages) {
  const MethodInfo info = gauss_lobatto_info();
  check_options(info.options, {{"stages", static_cast<double>(stages)}});
  return {info, 2 * stages,
          fmt::format("gauss-lobatto, {} stage{}, order {}", stages, stages == 1 ? "" : "s", 2 * stages),
          make_with(gauss_lobatto_tableau(stages), info.name), stages};
}

MethodChoice lobatto_iiia_iiib(int stages) {
  const MethodInfo info = lobatto_iiia_iiib_info();
  check_options(info.options, {{"stages", static_cast<double>(stages)}});
  return {info, 2 * stages - 2, fmt::format("lobatto-iiia-iiib, {} stages, order {}", stages, 2 * stages - 2),
          make_with(lobatto_iiia_iiib_tableau(stages), info.name), stages - 1};
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
  choice.make = [tableau, affine_only](std::shared_ptr<const System> system, const SolverOptions& solver,
                                       const StepOptions&) {
    if (affine_only && !system->structure().reaction_is_affine)
      throw UnsuitableMethod(fmt::format(
          "{} violates (3.3c) and is for reactions known to be affine in psi; this system's is not, and the results "
          "would converge to those of another system; use coefficients that satisfy (3.3c), or gauss-lobatto",
          tableau.name));
    return make_spark(std::move(system), tableau, solver);
  };
  if (!report.symmetric()) choice.adjoint = [given] { return spark(adjoint_tableau(given)); };
  return choice;
}

MethodEntry gauss_lobatto_entry() {
  return {gauss_lobatto_info(), [](const GivenOptions& o) { return gauss_lobatto(o.integer("stages")); }};
}
MethodEntry lobatto_iiia_iiib_entry() {
  return {lobatto_iiia_iiib_info(), [](const GivenOptions& o) { return lobatto_iiia_iiib(o.integer("stages")); }};
}
MethodEntry spark_entry() {
  return {
      spark_info(), [](const GivenOptions& o) {
        if (const SparkTableau* tableau = o.tableau("tableau")) return spark(*tableau);
        throw InputError("method 'spark' needs coefficients: a section [integrate.tableau] with a, b, abar and btilde");
      }};
}

}  // namespace hinge
