// How a method is bound to a system: which kinds of systems and steps it takes, by what it declares in MethodInfo::can.
#include <algorithm>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/redundant_rows.hpp"
#include "method/singular_passage.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

bool is_one_sided(const Structure& s) { return s.has_contacts || s.pairs > 0; }

bool touches(const Abilities& can, const System& system) {
  const BodyTable* bodies = bodies_of(system);
  if (!bodies || !bodies->can_collide()) return true;
  if (bodies->has_joint_friction() && !can.joint_friction) return false;
  return can.touching_bodies >= bodies->dimension && (can.particles || system.structure().is_symbolic);
}

bool makes(const Abilities& can, const StepOptions& steps) {
  return steps.chosen() ? can.chosen_steps : can.given_steps;
}

// Made for such a system: not only able to take it.
bool is_made_for(const Abilities& can, const System& system) {
  const Structure& s = system.structure();
  return (can.dae || !s.is_dae) && can.noise == s.has_noise && can.contacts == is_one_sided(s) &&
         (can.own_reactions || !s.gaps_have_reactions) && (can.velocity_constraints || s.velocity_constraints == 0) &&
         touches(can, system);
}

// "use bdf, radau or auto": the methods for a system, those that can most first.
std::string remedy(const System& system, const StepOptions& steps) {
  std::vector<MethodInfo> list;
  for (MethodInfo& info : methods())
    if (is_made_for(info.can, system)) list.push_back(std::move(info));
  std::stable_sort(list.begin(), list.end(), [](const MethodInfo& a, const MethodInfo& b) {
    return a.can.touching_bodies + a.can.particles > b.can.touching_bodies + b.can.particles;
  });
  std::string text;
  const auto names = [&](const StepOptions& of) {
    std::vector<std::string> found;
    for (const MethodInfo& info : list)
      if (makes(info.can, of)) found.push_back(info.name);
    for (std::size_t k = 0; k < found.size(); ++k)
      text += (k == 0 ? "" : k + 1 < found.size() ? ", " : " or ") + found[k];
    return !found.empty();
  };
  if (names(steps)) return "use " + text;
  if (names(steps.chosen() ? StepOptions{} : StepOptions{.tolerance = {1e-6, 1e-6}}))
    return fmt::format(
        "use {} {}", text,
        steps.chosen() ? "with a step in the place of a tolerance" : "with a tolerance in the place of a step");
  return "there is no method for it";
}

std::string first_own_reaction(const System& system) {
  if (const SymbolicSystem* symbolic = symbolic_part(system))
    for (const auto& gap : symbolic->equations().gaps)
      if (!gap.reaction.empty()) return gap.name;
  return "";
}

}  // namespace

void MethodChoice::refuse(const System& system, const StepOptions& steps) const {
  const Structure& s = system.structure();
  const Abilities& can = info.can;
  if (!s.has_contacts && !s.is_symbolic && system.contact_finder())
    throw InputError("this system finds contacts; its structure has to say so: Structure{.has_contacts = true}");
  const auto unsuitable = [&](const std::string& cause, const std::string& otherwise = "") {
    return UnsuitableMethod(fmt::format("{}; {}{}", cause, remedy(system, steps), otherwise));
  };
  if (s.is_dae && !can.dae)
    throw unsuitable(fmt::format("{} integrates mechanical systems, not F(t, x, x') = 0", info.name));
  if (s.has_noise && !can.noise)
    throw unsuitable(fmt::format("the model has noise, which {} does not know", info.name), ", or leave the noise out");
  if (s.gaps_have_reactions && !can.own_reactions)
    throw unsuitable(fmt::format("the contact {} has a reaction of its own, which {} does not take",
                                 first_own_reaction(system), info.name));
  if (s.velocity_constraints > 0 && !can.velocity_constraints)
    throw unsuitable(fmt::format("{} does not take velocity constraints, as {}: {}", info.name,
                                 system.layout().rate_name(system.ng()),
                                 can.no_velocity_constraints.empty()
                                     ? "its steps solve for the positions that satisfy g = 0, and these have none"
                                     : can.no_velocity_constraints));
  if (s.pairs > 0 && !can.contacts) throw unsuitable(info.name + " knows no complementarity pairs");
  const BodyTable* bodies = bodies_of(system);
  if (bodies && bodies->has_joint_friction() && !can.joint_friction)
    throw unsuitable(info.name + " knows no friction in joints",
                     (can.contacts ? "" : ", which has base = \"" + info.name + "\"") +
                         std::string(", or damping in the place of friction"));
  if (s.has_contacts && !can.contacts)
    throw unsuitable(info.name + " knows no contacts that open and close",
                     bodies && !bodies->colliders.empty() ? ", or collide = false for bodies that need not touch" : "");
  if (steps.chosen() && !can.chosen_steps)
    throw unsuitable(
        fmt::format("{} takes steps of given length: give step = ... instead of a tolerance, or a method that chooses "
                    "its steps",
                    info.name));
  if (!steps.chosen() && !can.given_steps)
    throw UnsuitableMethod(
        fmt::format("{} chooses its steps; give tolerance = 1e-6 instead of a step, or choose explicit", info.name));
}

MethodChoice MethodChoice::specialised(const System& system, const StepOptions& steps) const {
  MethodChoice choice = *this;
  if (specialise) specialise(choice, system, steps);
  return choice;
}

std::unique_ptr<Stepper> MethodChoice::bind(std::shared_ptr<const System> system, const SolverOptions& solver,
                                            const StepOptions& steps) const {
  solver.validate();
  steps.tolerance.validate();
  refuse(*system, steps);
  if (system->ng() == 0 || system->nw() > 0 || system->structure().is_dae)
    return make(std::move(system), solver, steps);
  return bind_to_independent_rows(std::move(system), [make = make, solver, steps](std::shared_ptr<const System> rows) {
    return with_singular_passage(make(rows, solver, steps), rows, solver, steps);
  });
}

}  // namespace hinge
