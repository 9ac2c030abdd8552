// What taylor is, and which systems it takes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/taylor.hpp"
#include "method/method_entry.hpp"
#include "method/taylor/taylor.hpp"

namespace hinge {

namespace {

constexpr int lowest = 2, highest = 60, of_given_steps = 10;
// 1/2 is best where a stage costs as much as its order, 1 where all cost the same.
constexpr double digits_to_order = 1.05;

// p = 1 - a ln(tol)
int order_for(const Tolerance& tolerance) {
  const double level = tolerance.relative > 0 ? tolerance.relative : std::min(tolerance.absolute, 0.1);
  return std::clamp(static_cast<int>(std::ceil(1 - digits_to_order * std::log(level))), 4, highest);
}

MethodInfo taylor_info() {
  MethodInfo info{
      .name = "taylor",
      .summary =
          "Taylor series of any order on the equations as they are typed, DAEs of any index included; for systems that "
          "are not stiff and tolerances down to 1e-15",
      .order = "order",
      .multiplier_order = "order",
      .preserves = {.position_level = true, .velocity_level = true},
      .options = {{.name = "order",
                   .meaning = "of the series",
                   .default_value = "",
                   .type = OptionType::integer,
                   .range = {lowest, highest},
                   .default_depends = fmt::format("1 - {} ln(tolerance); {} with steps of given length",
                                                  digits_to_order, of_given_steps)}},
      .reference = "J. D. Pryce, BIT 41 (2001) 364-394; A. Jorba, M. Zou, Experimental Mathematics 14 (2005) 99-117",
      .can = {.chosen_steps = true, .full_interpolation = true, .dae = true, .velocity_constraints = true}};
  info.options.push_back(projection_option("both"));
  return info;
}

std::unique_ptr<Stepper> make(const TaylorOptions& options, std::shared_ptr<const System> system,
                              const SolverOptions& solver, const StepOptions& steps) {
  auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
  if (!symbolic)
    throw UnsuitableMethod(
        system->structure().has_bodies
            ? "taylor takes equations that are made of expressions, not rigid bodies; use explicit, radau or auto"
            : "taylor takes equations that are made of expressions as a whole, with constraints that do not depend on "
              "each other; use explicit, radau or auto");
  const int order = options.order > 0 ? options.order : steps.chosen() ? order_for(steps.tolerance) : of_given_steps;
  auto point = system->structure().is_dae
                   ? dae_point(symbolic, solver.linear_algebra, order)
                   : mechanical_point(symbolic, options.projection, solver.linear_algebra, order);
  return std::make_unique<TaylorStepper>(std::move(system), std::move(point), steps);
}

}  // namespace

MethodChoice taylor(const TaylorOptions& options) {
  MethodChoice choice{taylor_info(), options.order > 0 ? options.order : of_given_steps, "", {}};
  if (options.order != 0) check_options(choice.info.options, {{"order", static_cast<double>(options.order)}});
  choice.multiplier_order = choice.order;
  choice.description = "Taylor series";
  if (options.order > 0) choice.description += fmt::format(", order {}", options.order);
  choice.info.preserves.position_level = projects_position(options.projection);
  choice.info.preserves.velocity_level = projects_velocity(options.projection);
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions& steps) {
    return make(options, std::move(system), solver, steps);
  };
  choice.specialise = [options](MethodChoice& here, const System&, const StepOptions& steps) {
    if (options.order > 0) return;
    here.order = here.multiplier_order = steps.chosen() ? order_for(steps.tolerance) : of_given_steps;
    here.description = fmt::format("Taylor series, order {}", here.order);
  };
  return choice;
}

MethodEntry taylor_entry() {
  return {taylor_info(), [](const GivenOptions& o) {
            return taylor({o.has("order") ? o.integer("order") : 0, o.choice<Projection>("projection")});
          }};
}

}  // namespace hinge
