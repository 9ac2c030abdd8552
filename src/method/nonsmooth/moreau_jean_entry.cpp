// moreau-jean in the list of methods: options, and what is refused.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "method/nonsmooth/pair_stepper.hpp"

namespace hinge {

namespace {

const std::vector<std::string> gaps = {"velocity", "linearised", "nonlinear"};

MethodInfo moreau_jean_info() {
  MethodInfo info{.name = "moreau-jean",
                  .summary = "Moreau's and Jean's time stepping for contacts with friction, impacts and joints",
                  .order = "2 (theta = 1/2), 1",
                  .multiplier_order = "1",
                  .preserves = {.position_level = true, .velocity_level = true},
                  .options = contact_options(),
                  .reference =
                      "J. J. Moreau, CISM Courses 302 (1988) 1-82; M. Jean, Comput. Methods Appl. Mech. Eng. "
                      "177 (1999) 235-257; M. Anitescu, Math. Program. 105 (2006) 113-143",
                  .can = {.dae = true, .contacts = true, .touching_bodies = 3, .particles = true}};
  OptionInfo theta = number_row("theta", "", {0.5, 1}, "where in the step forces act");
  theta.default_depends = "1/2 with gap = \"velocity\", else 1";
  info.options.insert(
      info.options.begin(),
      {theta, word_row("gap", gaps, "what a contact demands of a step; the velocity of closed contacts, or the gap"),
       number_row("activation", "0.5", {0, 1}, "gamma, a contact takes part where gap + gamma h u_N <= 0"),
       word_row("impact", {"newton", "poisson", "moreau", "sequential"}, "the law of impact"), sequence_option()});
  info.options.push_back(number_row("recover", "0", not_negative_range,
                                    "gaps by positions, penetration is undone at this speed at most; 0: no limit"));
  info.options.push_back(
      word_row("forces", {"auto", "implicit", "explicit"}, "\"auto\" is implicit up to 3000 velocities"));
  info.options.push_back(projection_option("both"));
  return info;
}

}  // namespace

MethodChoice moreau_jean(const MoreauJeanOptions& given) {
  MoreauJeanOptions options = given;
  options.solving.validate();
  const double dae_theta = options.theta > 0 ? options.theta : 1;
  if (!(options.theta > 0)) options.theta = options.gap == GapTreatment::velocity ? 0.5 : 1.0;
  const double theta = options.theta;
  MethodChoice choice{moreau_jean_info(), theta == 0.5 ? 2 : 1, "", {}, 1};
  check_options(choice.info.options,
                {{"theta", theta}, {"activation", options.activation}, {"recover", options.recover}});
  if (options.gap != GapTreatment::velocity && theta < 1)
    throw OptionError(
        "theta",
        fmt::format("'theta' is {:g} with a gap treated by positions; below 1 a closed contact rebounds by "
                    "(1 - theta)/theta of the speed that the step happens to leave, which does not converge: use theta "
                    "= 1, or gap = \"velocity\"",
                    theta));
  if (options.gap != GapTreatment::velocity && options.impact != ImpactLaw::newton)
    throw OptionError("impact", "impact laws need gap = \"velocity\"; gaps treated by positions have no restitution");
  const std::string& gap = gaps[static_cast<std::size_t>(options.gap)];
  const char* laws[] = {"Newton", "Poisson", "Moreau", "sequential"};
  choice.description = fmt::format("Moreau-Jean, theta {:g}, gap {}", theta, gap);
  if (options.gap == GapTreatment::velocity)
    choice.description += fmt::format(", {} impacts", laws[static_cast<int>(options.impact)]);
  choice.description += describe(options.solving);
  choice.info.preserves.position_level = projects_position(options.projection);
  choice.make = [options, dae_theta](std::shared_ptr<const System> system, const SolverOptions& solver,
                                     const StepOptions&) -> std::unique_ptr<Stepper> {
    if (system->structure().is_dae) return make_pair_stepper(std::move(system), dae_theta, solver);
    return std::make_unique<MoreauJean>(std::move(system), options, solver);
  };
  choice.specialise = [dae_theta](MethodChoice& c, const System& system, const StepOptions&) {
    if (!system.structure().is_dae) return;  // impacts and gaps are not what it is about
    c.description = fmt::format("Moreau-Jean on a DAE: implicit steps with theta = {:g}, order 1", dae_theta);
    c.order = 1;
  };
  if (options.gap != GapTreatment::velocity)
    choice.no_restitution =
        fmt::format("gap = \"{}\" in [integrate] has no restitution; use gap = \"velocity\", or restitution = 0", gap);
  choice.warnings = [options](const System& system) {
    std::vector<std::string> list;
    if (options.gap == GapTreatment::velocity && options.impact == ImpactLaw::newton)
      append_energy_warning(system, list);
    return list;
  };
  return choice;
}

MethodEntry moreau_jean_entry() {
  return {moreau_jean_info(), [](const GivenOptions& o) {
            MoreauJeanOptions options;
            options.theta = o.number("theta");
            options.gap = o.choice<GapTreatment>("gap");
            options.activation = o.number("activation");
            options.impact = o.choice<ImpactLaw>("impact");
            options.last_first = o.word("sequence") == "last";
            options.solving = contact_solving(o);
            options.recover = o.number("recover");
            options.forces = o.choice<MoreauJeanOptions::Forces>("forces");
            options.projection = o.choice<Projection>("projection");
            return moreau_jean(options);
          }};
}

}  // namespace hinge
