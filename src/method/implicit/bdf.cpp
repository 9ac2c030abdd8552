// The method "bdf": its options, its entry in the list, and what it says when a step fails.
#include "method/implicit/bdf.hpp"

#include <cmath>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"

namespace hinge {

StepResult bdf_failure(const System& system, const State& state, double h, NewtonTrouble trouble) {
  std::string reason =
      h == 0 ? fmt::format("at t = {:g} the accelerations cannot be computed", state.t)
             : fmt::format("in the step from t = {:g} (h = {:g}) the equations could not be solved", state.t, h);
  if (!system.structure().is_dae && system.nrates() > 0)
    if (const ConstraintRank rank = constraint_rank(system, state.t, state.y.data(), state.z.data()); !rank.full())
      return {false, reason + ": the constraints are dependent here: " + rank.describe(system.layout())};
  switch (trouble) {
    case NewtonTrouble::singular:
      reason += system.structure().is_dae
                    ? ": the matrix is singular; the equations do not determine all unknowns there"
                    : ": the matrix is singular; a motion that the constraints leave free may have no inertia";
      break;
    case NewtonTrouble::not_finite:
      reason +=
          ": an expression became infinite or not a number there (a division by zero, the root or logarithm of a "
          "negative number, or an overflow)";
      break;
    default: reason += ": Newton's iteration does not converge; the step is likely too long for the motion here";
  }
  return {false, reason};
}

namespace {

MethodInfo bdf_info() {
  MethodInfo info{.name = "bdf",
                  .summary =
                      "backward differentiation, orders 1 to 5, with steps of given length or a tolerance; any "
                      "formulation, and DAEs",
                  .order = "k (option order); with a tolerance chosen from 1 to k",
                  .multiplier_order = "k",
                  .preserves = {.position_level = true, .velocity_level = true},
                  .options = formulation_options("automatic"),
                  .reference =
                      "L. R. Petzold and F. A. Potra, ODAE methods for the numerical solution of "
                      "Euler-Lagrange equations; K. E. Brenan, S. L. Campbell and L. R. Petzold, Numerical "
                      "solution of initial-value problems in DAEs",
                  .can = {.chosen_steps = true, .full_interpolation = true, .dae = true, .velocity_constraints = true}};
  info.options.insert(info.options.begin(),  // from 7 on such formulas diverge
                      integer_row("order", "5", {1, 5}, "the order k, with a tolerance the largest"));
  info.options.push_back(word_row("iteration", {"newton", "ssf"},
                                  "Newton's, or for \"extended\" with a step that for the overdetermined system"));
  info.options.push_back(
      projection_option("", "\"both\" with a tolerance where the formulation has both levels, else \"none\""));
  return info;
}

MethodChoice bdf_choice(const BdfOptions& options) {
  const Formulation form = options.form.formulation;
  MethodChoice choice{bdf_info(), options.order, fmt::format("bdf, order {}", options.order), {}, options.order};
  if (form != Formulation::automatic) choice.description += fmt::format(", {}", formulation_name(form));
  if (options.ssf) choice.description += " by the ssf iteration";
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions& steps) {
    if (!steps.chosen()) return make_fixed_bdf(std::move(system), options, solver);
    if (options.ssf) throw UnsuitableMethod("'iteration' = \"ssf\" goes with steps of given length: give step = ...");
    return make_adaptive_bdf(std::move(system), options, solver, steps);
  };
  const Projection projection = options.projection.value_or(Projection::none);
  choice.info.preserves.position_level = has_position_level(form) || projects_position(projection);
  choice.info.preserves.velocity_level = has_velocity_level(form) || projects_velocity(projection);
  return choice;
}

MethodChoice bdf_from(const GivenOptions& o) {
  BdfOptions options;
  options.order = o.integer("order");
  options.form = read_formulation(o);
  options.ssf = o.word("iteration") == "ssf";
  if (options.ssf && options.form.formulation != Formulation::extended)
    throw OptionError("iteration",
                      "'iteration' = \"ssf\" belongs to formulation = \"extended\"; leave it out, or choose that one");
  if (o.has("projection")) options.projection = o.choice<Projection>("projection");
  return bdf_choice(options);
}

}  // namespace

MethodEntry bdf_entry() { return {bdf_info(), bdf_from}; }

}  // namespace hinge
