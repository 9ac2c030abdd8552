// energy-momentum in the list of methods: its options, and what it says about a system.
#include <fmt/format.h>

#include "formulation/energy_step.hpp"
#include "formulation/symmetries.hpp"
#include "hinge/error.hpp"
#include "method/energy/body_energy_momentum.hpp"
#include "method/energy/energy_momentum.hpp"
#include "method/method_entry.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

MethodInfo energy_momentum_info() {
  return {
      .name = "energy-momentum",
      .summary = "keeps energy and momentum maps to round-off; constant mass matrix",
      .order = "2",
      .multiplier_order = "1 (2 in the middle of the step); with a penalty only while mu h^2/M is small",
      .preserves = {.position_level = true, .symmetric = true, .momentum_maps = true, .energy = true},
      .options = {word_row("constraints", {"multiplier", "penalty", "augmented"}, "how they enter"),
                  number_row("penalty", "1e6", positive_range, "strength mu of the penalty"),
                  word_row("derivative", {"equivariant", "general"}, "built on invariants, or general for comparison"),
                  word_row("projection", {"none", "velocity"}, "of the velocity onto its constraints"),
                  number_row("tolerance_constraint", "1e-10", positive_range, "augmented: |g| to reach"),
                  flag_row("warm_start", "augmented: begin with the multipliers of the last step"),
                  integer_row("max_augmentations", "200", {.min = 1}, "augmented: a step that needs more fails")},
      .reference =
          "S. Leyendecker, P. Betsch, P. Steinmann, Comput. Mech. 33 (2004) 174-185; O. Gonzalez, J. Nonlinear "
          "Sci. 6 (1996) 449-467",
      .condition =
          "constraints = \"multiplier\"; with a penalty H + mu |g|^2 instead of the energy, and g = O(1/mu); "
          "augmented: energy and g to the tolerance, no time symmetry; momentum maps as `hinge check` lists "
          "them"};
}

// General derivatives have s = 0, and are those on invariants, where everything that they are made of is quadratic. A
// penalty on constraints is not.
ConservedMomenta momenta_of(const EnergyMomentumOptions& which, const ConstantMassForm& form) {
  ConservedMomenta momenta = conserved_momenta(form, which.general);
  if (which.general && form.m > 0 && which.constraints != ConstraintTreatment::multiplier) {
    for (std::string& momentum : momenta.kept)
      momenta.lost.push_back({std::move(momentum), "the general derivative is not built on invariants"});
    momenta.kept.clear();
  }
  return momenta;
}

std::vector<std::string> warnings_about(const EnergyMomentumOptions& which, const System& system) {
  if (turns_in_space(system)) return {};
  const ConstantMassForm form = constant_mass_form(system, "energy-momentum");
  std::vector<std::string> list;
  if (which.general && which.constraints == ConstraintTreatment::penalty && form.m > 0)
    list.emplace_back(
        "the general discrete derivative of a penalty locks the motion when the penalty is large: it does not "
        "converge to the constrained motion at a fixed step; use derivative = \"equivariant\"");
  for (const ConservedMomenta::Lost& lost : momenta_of(which, form).lost)
    list.push_back(fmt::format("the energy is kept{}; {} is conserved by the system but not by the scheme, because {}",
                               form.has_forces ? " but for the work of forces" : "", lost.momentum, lost.because));
  if (which.general) {
    if (!form.system->equations().invariants.empty())
      list.emplace_back("the invariants that are given have no effect with derivative = \"general\"");
    return list;
  }
  for (const std::string& name : unused_invariants(form))
    list.push_back(fmt::format(
        "the invariant {} does not occur in the potential or the constraints; write them with it, or leave it away",
        name));
  return list;
}

constexpr const char* with_forces = "kept exactly: the energy, but for the work of forces";

std::vector<std::string> facts_about(const EnergyMomentumOptions& which, const System& system) {
  if (turns_in_space(system)) {
    const bool projects = which.project_velocity && system.ng() > 0;
    if (system.structure().has_applied_force && !projects) return {with_forces};
    if (system.structure().has_applied_force) return {};
    return {fmt::format(
        "kept exactly: {}momentum and angular momentum along axes that gravity and the ground leave free{}",
        projects ? "" : "energy; ", projects ? "; not the energy, of which projections take a little" : "")};
  }
  const ConstantMassForm form = constant_mass_form(system, "energy-momentum");
  const bool free = form.m == 0;
  const bool exact = free || which.constraints == ConstraintTreatment::multiplier;
  if (form.has_forces) {
    if (which.project_velocity && !free) return {};
    return {exact ? with_forces : fmt::format("{}, as far as the constraints are", with_forces)};
  }
  std::string kept, rest;
  if (which.project_velocity && !free)
    rest = "; not the energy, of which projections take a little";
  else if (exact)
    kept = "energy";
  else if (which.constraints == ConstraintTreatment::penalty)
    kept = "energy with the penalty, H + mu |g|^2";
  else
    rest = "; the energy as far as the constraints are";
  for (const std::string& momentum : momenta_of(which, form).kept) kept += (kept.empty() ? "" : ", ") + momentum;
  return {kept.empty() ? "kept exactly: nothing" + rest : "kept exactly: " + kept + rest};
}

std::vector<std::string> details_about(const EnergyMomentumOptions& which, const System& system) {
  if (which.general || turns_in_space(system)) return {};
  return invariants_text(constant_mass_form(system, "energy-momentum"));
}

MethodChoice energy_momentum_from(const GivenOptions& o) {
  EnergyMomentumOptions options;
  options.constraints = o.choice<ConstraintTreatment>("constraints");
  options.general = o.word("derivative") == "general";
  options.project_velocity = o.word("projection") == "velocity";
  options.penalty = o.number("penalty");
  options.tolerance = o.number("tolerance_constraint");
  options.warm_start = o.flag("warm_start");
  options.max_augmentations = o.integer("max_augmentations");
  MethodChoice choice = energy_momentum(options);
  // Options that are given but have nothing to act on.
  for (const char* name : {"penalty", "tolerance_constraint", "warm_start", "max_augmentations"}) {
    const bool acts = options.constraints == ConstraintTreatment::augmented ||
                      (options.constraints == ConstraintTreatment::penalty && name == std::string("penalty"));
    if (o.has(name) && !acts)
      choice.facts.push_back(fmt::format("'{}' has no effect with constraints = \"{}\"", name, o.word("constraints")));
  }
  return choice;
}

}  // namespace

MethodChoice energy_momentum(const EnergyMomentumOptions& which) {
  MethodChoice choice{energy_momentum_info(), 2, "", {}, 1};
  check_options(choice.info.options, {{"penalty", which.penalty},
                                      {"tolerance_constraint", which.tolerance},
                                      {"max_augmentations", static_cast<double>(which.max_augmentations)}});
  if (!(which.update_factor > 0))
    throw InputError(fmt::format("the update factor is {}; it must be positive, and 1 converges", which.update_factor));
  const bool multiplier = which.constraints == ConstraintTreatment::multiplier;
  const char* names[] = {"multiplier", "penalty", "augmented"};
  choice.info.condition.clear();  // what follows is of this choice
  if (which.constraints == ConstraintTreatment::penalty) choice.multiplier_order = 0;
  choice.description =
      fmt::format("energy-momentum, {}{}{}{}, order 2", names[static_cast<int>(which.constraints)],
                  multiplier ? "" : fmt::format(" {:g}", which.penalty), which.general ? ", general derivative" : "",
                  which.project_velocity ? ", velocity projected" : "");
  Preserves& p = choice.info.preserves;
  p.position_level = multiplier;
  p.energy = multiplier && !which.project_velocity;
  p.velocity_level = which.project_velocity;
  p.momentum_maps = !which.general;
  p.symmetric = which.constraints != ConstraintTreatment::augmented && !which.project_velocity;
  choice.make = [which](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
    if (turns_in_space(*system)) return make_body_energy_momentum(std::move(system), which, solver);
    return make_energy_momentum(std::move(system), which, solver);
  };
  choice.warnings = [which](const System& system) { return warnings_about(which, system); };
  choice.system_facts = [which](const System& system) { return facts_about(which, system); };
  choice.details = [which](const System& system) { return details_about(which, system); };
  choice.condition = [which](std::shared_ptr<const System> system, const State& start, double h,
                             const SolverOptions& options) {
    if (turns_in_space(*system))
      throw UnsuitableMethod(
          "the condition number of energy-momentum is not computed for bodies in space; leave --condition out");
    return iteration_matrix_condition(std::move(system), which, start, h, MatrixScaling::rows_times_h, options);
  };
  return choice;
}

MethodEntry energy_momentum_entry() { return {energy_momentum_info(), energy_momentum_from}; }

}  // namespace hinge
