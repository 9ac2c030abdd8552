// symplectic-euler in the list of methods.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/symplectic/one_sided_euler.hpp"
#include "method/symplectic/symplectic_euler.hpp"

namespace hinge {

namespace {

MethodInfo symplectic_euler_info() {
  MethodInfo info{
      .name = "symplectic-euler",
      .summary = "symplectic Euler methods; the reaction may depend on z and be nonlinear in the multipliers",
      .order = "1 (variant \"natural\": only where the reaction is affine in psi)",
      .multiplier_order = "1",
      .preserves = everything,
      .options = {word_row("variant", {"true", "natural"}, "the natural one is for reactions affine in psi"),
                  flag_row("conjugate", "true: velocity and force are taken at the end of the step, not at its start"),
                  flag_row("adjoint", "true: the adjoint of the method that the other options give"),
                  number_row("alpha", "0.5", {},
                             "weight of the reaction at the start of the step; not 0, and not 1 with \"natural\"")},
      .reference = "L. O. Jay, Consistent extensions of the symplectic Euler method for a class of overdetermined DAEs",
      .can = {.contacts = true, .own_reactions = true, .touching_bodies = 3}};
  info.preserves.symmetric = false;
  return info;
}

}  // namespace

MethodChoice symplectic_euler(const SymplecticEulerOptions& which) {
  if (!std::isfinite(which.alpha) || which.alpha == 0 || (which.natural && which.alpha == 1))
    throw OptionError("alpha", fmt::format("'alpha' is {}; it must not be 0{}, 0.5 is usual", which.alpha,
                                           which.natural ? " or 1 for the natural variant" : ""));
  MethodChoice choice{symplectic_euler_info(), 1,
                      fmt::format("symplectic-euler, {}{}{}, alpha {:g}, order 1", which.natural ? "natural" : "true",
                                  which.conjugate ? " conjugate" : "", which.adjoint ? ", adjoint" : "", which.alpha),
                      [which](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions&) {
                        return system->structure().has_contacts
                                   ? make_one_sided_euler(std::move(system), which, solver)
                                   : make_symplectic_euler(std::move(system), which, solver);
                      },
                      1};
  SymplecticEulerOptions other = which;
  other.adjoint = !other.adjoint;
  choice.adjoint = [other] { return symplectic_euler(other); };
  if (which.natural)
    choice.warnings = [](const System& system) -> std::vector<std::string> {
      if (system.structure().reaction_is_affine) return {};
      return {
          "the natural symplectic Euler method is inconsistent here: the reaction is nonlinear in the multipliers, "
          "and the method converges to the solution of a different ODE as the step goes to zero; use method = "
          "\"symplectic-euler\" with variant = \"true\""};
    };
  return choice;
}

MethodEntry symplectic_euler_entry() {
  return {symplectic_euler_info(), [](const GivenOptions& o) {
            return symplectic_euler({.natural = o.word("variant") == "natural",
                                     .conjugate = o.flag("conjugate"),
                                     .adjoint = o.flag("adjoint"),
                                     .alpha = o.number("alpha")});
          }};
}

}  // namespace hinge
