// The entry of the Radau IIA methods in the list, and their options.
#include "method/implicit/radau.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/projected.hpp"

namespace hinge {

namespace {

// The formulation's multipliers have the order of y and z where the accelerations are unknowns or equations.
bool own_multipliers_are_good(Formulation f) {
  return f != Formulation::index_2 && f != Formulation::index_3 && f != Formulation::ggl;
}

}  // namespace

RadauReport::RadauReport(std::shared_ptr<const System> system, const ImplicitProblem& problem,
                         const RadauOptions& options)
    : problem_(problem) {
  using Multipliers = RadauOptions::Multipliers;
  const bool recompute =
      options.multipliers == Multipliers::recomputed ||
      (options.multipliers == Multipliers::automatic && !own_multipliers_are_good(options.formulation.formulation));
  if (!recompute || system->npsi() == 0) return;
  acceleration_ = std::make_unique<Acceleration>(system);
  psi_.resize(static_cast<std::size_t>(system->npsi()));
  v_.resize(static_cast<std::size_t>(system->ny()));
  a_.resize(static_cast<std::size_t>(system->nz()));
}

void RadauReport::fill(double t, const double* x, const double* rate, State& state) const {
  problem_.to_state(t, x, rate, state);
  if (!acceleration_) return;
  psi_ = state.psi;
  if (acceleration_->compute(t, state.y.data(), state.z.data(), psi_.data(), v_.data(), a_.data())) state.psi = psi_;
}

namespace {

MethodInfo radau_info() {
  MethodInfo info{.name = "radau",
                  .summary = "Radau IIA, for stiff and constrained systems in any formulation, and for DAEs",
                  .order = "2 s - 1",
                  .multiplier_order = "2 s - 1",
                  .preserves = {.position_level = true, .velocity_level = true},
                  .options = formulation_options("projected-invariants"),
                  .reference =
                      "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, "
                      "sections IV.8 and VII",
                  .can = {.chosen_steps = true, .dae = true}};
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
  MethodChoice choice{radau_info(), 2 * s - 1, fmt::format("Radau IIA, {} stages", s), {}, 2 * s - 1};
  check_options(choice.info.options, {{"stages", static_cast<double>(s)}});
  // The default formulation goes without saying: it is one of mechanical systems, and DAEs have their own.
  const Formulation form = options.formulation.formulation;
  if (form != Formulation::projected_invariants) choice.description += fmt::format(", {}", formulation_name(form));
  choice.info.preserves = {.position_level = has_position_level(form), .velocity_level = has_velocity_level(form)};
  if (options.projection) choice = projected(std::move(choice), *options.projection);
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
