// moreau-jean in the list of methods: options, and what is refused.
#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "method/nonsmooth/pair_stepper.hpp"

namespace hinge {

namespace {

MethodInfo moreau_jean_info() {
  MethodInfo info{"moreau-jean",
                  "Moreau's and Jean's time stepping for contacts with friction, impacts and joints",
                  "2 (theta = 1/2), 1",
                  "1",
                  {.position_level = true, .velocity_level = true},
                  {{"theta", "1/2 to 1: where in the step forces act", "1/2 with gap = \"velocity\", else 1"},
                   {"gap", "\"velocity\" (closed contacts), \"linearised\" or \"nonlinear\"", "\"velocity\""},
                   {"activation", "gamma: a contact takes part where gap + gamma h u_N <= 0; 0 to 1", "0.5"},
                   {"impact", "\"newton\", \"poisson\", \"moreau\" or \"sequential\"", "\"newton\""},
                   {"sequence", "of sequential impacts: \"first\" or \"last\" approaching contact first", "\"first\""}},
                  "J. J. Moreau, CISM Courses 302 (1988) 1-82; M. Jean, Comput. Methods Appl. Mech. Eng. 177 (1999) "
                  "235-257; M. Anitescu, Math. Program. 105 (2006) 113-143"};
  add_contact_options(info.options);
  info.options.push_back(
      {"recover", "gaps by positions: penetration is undone at this speed at most; 0: no limit", "0"});
  info.options.push_back(
      {"forces", "\"implicit\", \"explicit\" or \"auto\": implicit up to 3000 velocities", "\"auto\""});
  info.options.push_back({"projection", "of joints: \"none\", \"position\", \"velocity\" or \"both\"", "\"both\""});
  return info;
}

double read_theta(const MoreauJeanOptions& o) {
  return o.theta > 0 ? o.theta : o.gap == GapTreatment::velocity ? 0.5 : 1.0;
}

}  // namespace

MethodChoice moreau_jean(const MoreauJeanOptions& options) {
  options.solving.validate();
  const double theta = read_theta(options);
  if (!(theta >= 0.5 && theta <= 1))
    throw InputError(fmt::format("'theta' is {}; it lies between 1/2 (order 2 where nothing strikes) and 1", theta));
  if (options.gap != GapTreatment::velocity && theta < 1)
    throw InputError(
        fmt::format("'theta' is {:g} with a gap treated by positions; below 1 a closed contact rebounds by "
                    "(1 - theta)/theta of the speed that the step happens to leave, which does not converge: use theta "
                    "= 1, or gap = \"velocity\"",
                    theta));
  if (options.gap != GapTreatment::velocity && options.impact != ImpactLaw::newton)
    throw InputError("impact laws need gap = \"velocity\"; gaps treated by positions have no restitution");
  if (!(options.activation >= 0 && options.activation <= 1))
    throw InputError(fmt::format("'activation' is {}; it lies between 0 and 1", options.activation));
  if (!(options.recover >= 0))
    throw InputError(fmt::format("'recover' is {}; a speed is not negative", options.recover));
  MethodChoice choice{moreau_jean_info(), theta == 0.5 ? 2 : 1, "", {}, 1};
  const char* gaps[] = {"velocity", "linearised", "nonlinear"};
  const char* laws[] = {"Newton", "Poisson", "Moreau", "sequential"};
  choice.description = fmt::format("Moreau-Jean, theta {:g}, gap {}", theta, gaps[static_cast<int>(options.gap)]);
  if (options.gap == GapTreatment::velocity)
    choice.description += fmt::format(", {} impacts", laws[static_cast<int>(options.impact)]);
  choice.description += describe(options.solving);
  const bool position = options.projection == Projection::both || options.projection == Projection::position;
  choice.info.preserves.position_level = position;
  choice.takes_contacts = choice.takes_dae = true;
  choice.bind = [options](std::shared_ptr<const System> system, const SolverOptions& solver) {
    solver.validate();
    if (system->layout().kind == SystemKind::dae)
      return make_pair_stepper(std::move(system), options.theta > 0 ? options.theta : 1, solver);
    return std::unique_ptr<Stepper>(std::make_unique<MoreauJean>(std::move(system), options, solver));
  };
  choice.system_facts = [options](const System& system) -> std::vector<std::string> {
    if (system.layout().kind != SystemKind::dae) return {};
    const double used = options.theta > 0 ? options.theta : 1;
    return {fmt::format("on a DAE: implicit steps with theta = {:g}, order 1", used)};
  };
  choice.warnings = [options](const System& system) {
    std::vector<std::string> list;
    if (options.gap == GapTreatment::velocity && options.impact == ImpactLaw::newton)
      append_energy_warning(system, list);
    return list;
  };
  return choice;
}

MethodEntry moreau_jean_entry() {
  return {moreau_jean_info(), [](const Options& o) {
            MoreauJeanOptions options;
            options.theta = number_option(o, "theta", 0);
            if (o.count("theta") && !(options.theta > 0))
              throw InputError(fmt::format("'theta' is {}; it lies between 1/2 and 1", options.theta));
            options.gap = choice_option<GapTreatment>(o, "gap", {"velocity", "linearised", "nonlinear"});
            options.activation = number_option(o, "activation", options.activation);
            options.impact = choice_option<ImpactLaw>(o, "impact", {"newton", "poisson", "moreau", "sequential"});
            options.last_first = choice_option<int>(o, "sequence", {"first", "last"}) == 1;
            options.solving = contact_solving(o);
            options.recover = number_option(o, "recover", 0);
            using Forces = MoreauJeanOptions::Forces;
            options.forces = choice_option<Forces>(o, "forces", {"auto", "implicit", "explicit"});
            options.projection = parse_projection(text_option(o, "projection", "both"));
            return moreau_jean(options);
          }};
}

}  // namespace hinge
