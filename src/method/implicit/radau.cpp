// The entry of the Radau IIA methods in the list, and their options.
#include "method/implicit/radau.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/projected.hpp"

namespace hinge {

namespace {

MethodInfo radau_info() {
  MethodInfo info{.name = "radau",
                  .summary = "Radau IIA, for stiff and constrained systems in any formulation, and for DAEs",
                  .order = "2 s - 1",
                  .multiplier_order = "2 s - 1",
                  .preserves = {.position_level = true, .velocity_level = true},
                  .options = formulation_options("automatic"),
                  .reference =
                      "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, "
                      "sections IV.8 and VII",
                  .can = {.chosen_steps = true, .dae = true, .velocity_constraints = true}};
  OptionInfo stages = integer_row("stages", "", {1, 9}, "number of stages s; with a tolerance 3, 5, 7 or \"variable\"");
  stages.words = {"variable"};
  stages.unit = "stages";
  stages.default_depends = "3, with a tolerance \"variable\"";
  info.options.insert(info.options.begin(), stages);
  info.options.push_back(word_row("multipliers", {"automatic", "formulation", "recomputed"},
                                  "those of the formulation, those recomputed from y and z, or the latter where the "
                                  "former have a lower order (index-2, index-3, ggl)"));
  info.options.push_back(
      projection_option("", "\"both\" with a tolerance where the formulation has both levels, else \"none\""));
  return info;
}

MethodChoice radau_from(const GivenOptions& given) {
  RadauOptions o;
  o.stages = given.integer("stages");  // "variable": 0
  o.formulation = read_formulation(given);
  o.multipliers = given.choice<RadauOptions::Multipliers>("multipliers");
  if (given.has("projection")) o.projection = given.choice<Projection>("projection");
  return radau(o);
}

}  // namespace

MethodChoice radau(const RadauOptions& options) {
  const int s = options.stages != 0 ? options.stages : 3;
  const std::string fixed = fmt::format("Radau IIA, {} stages", s);
  MethodChoice choice{radau_info(), 2 * s - 1, fixed, {}, 2 * s - 1};
  check_options(choice.info.options, {{"stages", static_cast<double>(s)}});
  const Formulation form = options.formulation.formulation;
  if (form != Formulation::automatic) choice.description += fmt::format(", {}", formulation_name(form));
  choice.info.preserves = {.position_level = has_position_level(form), .velocity_level = has_velocity_level(form)};
  if (options.projection) declare_projection(choice, *options.projection);
  if (options.stages == 0)
    choice.specialise = [fixed](MethodChoice& c, const System&, const StepOptions& steps) {
      if (!steps.chosen()) return;
      c.description.replace(0, fixed.size(), "Radau IIA, 3, 5 or 7 stages");
      c.order = c.multiplier_order = 0;  // of each step another
    };
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions& steps) {
    if (steps.chosen()) return make_radau_adaptive(std::move(system), options, solver, steps);
    std::unique_ptr<Stepper> stepper = make_radau_stepper(system, options, solver);
    if (!options.projection || *options.projection == Projection::none) return stepper;
    return projected(std::move(stepper), system, *options.projection, solver.linear_algebra);
  };
  return choice;
}

MethodEntry radau_entry() { return {radau_info(), radau_from}; }

}  // namespace hinge
