// The method "bdf": its options, its entry in the list, and what it says when a step fails.
#include "method/implicit/bdf.hpp"

#include <cmath>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"

namespace hinge {

void BdfOptions::validate() const {
  if (order < 1 || order > 5)
    throw InputError(fmt::format("'order' is {}; bdf has the orders 1 to 5 (from 7 on such formulas diverge)", order));
  if (!std::isfinite(form.alpha) || !std::isfinite(form.beta) || form.alpha < 0 || form.beta < 0)
    throw InputError(
        fmt::format("'alpha' and 'beta' are {:g} and {:g}; Baumgarte's terms need numbers that are not "
                    "negative, 10 is usual",
                    form.alpha, form.beta));
  if (ssf && form.formulation != Formulation::extended)
    throw InputError("'iteration' = \"ssf\" belongs to formulation = \"extended\"; leave it out, or choose that one");
}

StepResult bdf_failure(const System& system, const State& state, double h, NewtonTrouble trouble) {
  std::string reason =
      h == 0 ? fmt::format("at t = {:g} the accelerations cannot be computed", state.t)
             : fmt::format("in the step from t = {:g} (h = {:g}) the equations could not be solved", state.t, h);
  if (system.layout().kind != SystemKind::dae && system.ng() > 0)
    if (const ConstraintRank rank = constraint_rank(system, state.t, state.y.data()); !rank.full())
      return {false, reason + ": the constraints are dependent here: " + rank.describe(system.layout())};
  switch (trouble) {
    case NewtonTrouble::singular:
      reason += ": the matrix is singular; a motion that the constraints leave free may have no inertia";
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
  return {
      "bdf",
      "backward differentiation, orders 1 to 5, with steps of given length or a tolerance; any formulation, and DAEs",
      "k (option order); with a tolerance chosen from 1 to k",
      "k",
      Preserves{.position_level = true, .velocity_level = true},
      {{"order", "the order k, 1 to 5; with a tolerance the largest", "5"},
       {"formulation",
        "\"projected-invariants\", \"ggl\", \"index-3\", \"index-2\", \"index-1\", \"baumgarte\", "
        "\"extended\", \"coordinate-partitioning\" or \"tangent-space\"",
        "\"projected-invariants\""},
       {"alpha", "of \"baumgarte\": 2 alpha times the velocity level is added", "10"},
       {"beta", "of \"baumgarte\": beta^2 times the position level is added", "10"},
       {"iteration",
        "\"newton\", or for \"extended\" with a step \"ssf\", Newton's iteration for the "
        "overdetermined system",
        "\"newton\""},
       {"projection", "\"none\", \"position\", \"velocity\" or \"both\", after every step",
        "\"both\" with a tolerance where the formulation has both levels, else \"none\""}},
      "L. R. Petzold and F. A. Potra, ODAE methods for the numerical solution of Euler-Lagrange equations; K. E. "
      "Brenan, S. L. Campbell and L. R. Petzold, Numerical solution of initial-value problems in DAEs"};
}

MethodChoice bdf_choice(const BdfOptions& options) {
  options.validate();
  const Formulation form =
      options.form.formulation == Formulation::automatic ? Formulation::projected_invariants : options.form.formulation;
  MethodChoice choice{
      bdf_info(), options.order,
      fmt::format("bdf, order {}{}{}", options.order,
                  form == Formulation::projected_invariants ? ""  // goes without saying, and DAEs have their own
                                                            : ", " + std::string(formulation_name(form)),
                  options.ssf ? " by the ssf iteration" : ""),
      [options](std::shared_ptr<const System> system, const SolverOptions& solver) {
        return make_fixed_bdf(std::move(system), options, solver);
      },
      options.order};
  choice.bind_adaptive = [options](std::shared_ptr<const System> system, const SolverOptions& solver,
                                   const AdaptiveOptions& adaptive) {
    if (options.ssf) throw UnsuitableMethod("'iteration' = \"ssf\" goes with steps of given length: give step = ...");
    return make_adaptive_bdf(std::move(system), options, solver, adaptive);
  };
  choice.takes_dae = true;
  Preserves& keeps = choice.info.preserves;
  const Projection projection = options.projection.value_or(Projection::none);
  keeps.position_level =
      has_position_level(form) || projection == Projection::position || projection == Projection::both;
  keeps.velocity_level =
      has_velocity_level(form) || projection == Projection::velocity || projection == Projection::both;
  return choice;
}

MethodChoice bdf_from(const Options& o) {
  BdfOptions options;
  options.order = integer_option(o, "order", 5);
  options.form.formulation = parse_formulation(text_option(o, "formulation", "projected-invariants"));
  options.form.alpha = number_option(o, "alpha", options.form.alpha);
  options.form.beta = number_option(o, "beta", options.form.beta);
  for (const char* name : {"alpha", "beta"})
    if (o.count(name) && options.form.formulation != Formulation::baumgarte)
      throw InputError(
          fmt::format("'{}' belongs to formulation = \"baumgarte\"; leave it out, or choose that one", name));
  const std::string iteration = text_option(o, "iteration", "newton");
  if (iteration != "newton" && iteration != "ssf")
    throw InputError(fmt::format("'iteration' is \"{}\"; choose \"newton\" or \"ssf\"", iteration));
  options.ssf = iteration == "ssf";
  if (o.count("projection")) options.projection = parse_projection(text_option(o, "projection", "none"));
  return bdf_choice(options);
}

}  // namespace

MethodEntry bdf_entry() { return {bdf_info(), bdf_from}; }

}  // namespace hinge
