// The entry of the Radau IIA methods in the list, and their options.
#include "method/implicit/radau.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/wrap/projected.hpp"

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
  return {"radau",
          "Radau IIA, for stiff and constrained systems in any formulation, and for DAEs",
          "2 s - 1",
          "2 s - 1",
          {.position_level = true, .velocity_level = true},
          {{"stages", "number of stages s: 1 to 9 with a step; 3, 5, 7 or \"variable\" with a tolerance",
            "3, with a tolerance \"variable\""},
           {"formulation", "the equations that are solved; see the guide", "projected-invariants"},
           {"alpha", "damping of the formulation \"baumgarte\"", "10"},
           {"beta", "stiffness of the formulation \"baumgarte\"", "10"},
           {"multipliers",
            "\"formulation\": as they are; \"recomputed\" from y and z; \"automatic\": recomputed where the "
            "formulation's have a lower order (index-2, index-3, ggl)",
            "automatic"},
           {"projection", "\"none\", \"position\", \"velocity\" or \"both\", after every step",
            "\"both\" with a tolerance where the formulation has both levels, else \"none\""}},
          "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer 1996, sections IV.8 and VII"};
}

int read_stages(const Options& options) {
  const auto at = options.find("stages");
  if (at != options.end())
    if (const auto* word = std::get_if<std::string>(&at->second)) {
      if (*word == "variable") return 0;
      throw InputError(fmt::format("'stages' is \"{}\"; give a number of stages, or \"variable\"", *word));
    }
  return integer_option(options, "stages", 0);
}

MethodChoice make_radau(const Options& options) {
  RadauOptions o;
  o.stages = read_stages(options);
  if (options.contains("stages") && o.stages == 0 && std::holds_alternative<double>(options.at("stages")))
    o.stages = -1;
  o.formulation.formulation = parse_formulation(text_option(options, "formulation", "projected-invariants"));
  o.formulation.alpha = number_option(options, "alpha", o.formulation.alpha);
  o.formulation.beta = number_option(options, "beta", o.formulation.beta);
  if (options.contains("projection")) o.projection = parse_projection(text_option(options, "projection", "none"));
  const std::string word = text_option(options, "multipliers", "automatic");
  using Multipliers = RadauOptions::Multipliers;
  if (word == "formulation")
    o.multipliers = Multipliers::formulation;
  else if (word == "recomputed")
    o.multipliers = Multipliers::recomputed;
  else if (word != "automatic")
    throw InputError(
        fmt::format("'multipliers' is \"{}\"; it takes \"automatic\", \"formulation\" or \"recomputed\"", word));
  return radau(o);
}

}  // namespace

MethodChoice radau(const RadauOptions& options) {
  if (options.stages < 0 || options.stages > 9)
    throw InputError("radau takes 1 to 9 stages (3, 5 or 7 with a tolerance, or \"variable\")");
  const int s = options.stages > 0 ? options.stages : 3;
  MethodChoice choice;
  choice.info = radau_info();
  choice.order = 2 * s - 1;
  choice.multiplier_order = 2 * s - 1;
  // The default formulation goes without saying: it is one of mechanical systems, and DAEs have their own.
  choice.description = fmt::format("Radau IIA, {} stages", s);
  if (options.formulation.formulation != Formulation::projected_invariants)
    choice.description += fmt::format(", {}", formulation_name(options.formulation.formulation));
  choice.takes_dae = true;
  const Formulation form = options.formulation.formulation;
  choice.info.preserves = {.position_level = has_position_level(form), .velocity_level = has_velocity_level(form)};
  choice.bind = [options](std::shared_ptr<const System> system, const SolverOptions& solver) {
    return make_radau_stepper(std::move(system), options, solver);
  };
  if (options.projection) choice = projected(std::move(choice), *options.projection);
  choice.bind_adaptive = [options](std::shared_ptr<const System> system, const SolverOptions& solver,
                                   const AdaptiveOptions& adaptive) {
    return make_radau_adaptive(std::move(system), options, solver, adaptive);
  };
  return choice;
}

MethodEntry radau_entry() { return {radau_info(), make_radau}; }

}  // namespace hinge
