// moreau-jean in the list of methods: options, and what is refused.
#include <algorithm>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/nonsmooth/contact_options.hpp"
#include "method/nonsmooth/grain_stepper.hpp"
#include "method/nonsmooth/moreau_jean.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "method/nonsmooth/pair_stepper.hpp"

namespace hinge {

namespace {

const std::vector<std::string> laws = {"auto", "newton", "poisson", "moreau", "sequential", "rounds"};
const std::vector<std::string> devices = {"host", "threads", "opencl"};
const std::vector<std::string> precisions = {"mixed", "double"};
const std::vector<std::string> gaps = {"auto", "velocity", "linearised", "nonlinear", "both"};

bool by_positions(GapTreatment gap) { return gap == GapTreatment::linearised || gap == GapTreatment::nonlinear; }

// What is left open decided: for bodies both levels, where no option of the others is given.
MoreauJeanOptions settled(MoreauJeanOptions o, const System* system) {
  if (o.gap == GapTreatment::automatic) {
    const bool of_theta_rule = o.theta > 0 || o.activation != MoreauJeanOptions{}.activation;
    if (o.device != ContactDevice::host)
      o.gap = GapTreatment::linearised;
    else
      o.gap = system && system->structure().has_bodies && !of_theta_rule ? GapTreatment::both : GapTreatment::velocity;
  }
  if (!(o.theta > 0)) o.theta = by_positions(o.gap) ? 1.0 : 0.5;
  if (system) o.impact = law_of(o.impact, *system);
  return o;
}

std::string law_in_words(ImpactLaw law) {
  const char* words[] = {
      "", "Newton impacts", "Poisson impacts", "Moreau impacts", "sequential impacts", "impacts by rounds"};
  return fmt::format(", {}", words[static_cast<int>(law)]);
}

std::string describe(const MoreauJeanOptions& o) {
  std::string text = o.gap == GapTreatment::both ? "Moreau-Jean, gaps on both levels"
                                                 : fmt::format("Moreau-Jean, theta {:g}, gap {}", o.theta,
                                                               gaps[static_cast<std::size_t>(o.gap)]);
  if (!by_positions(o.gap) && o.impact != ImpactLaw::automatic) text += law_in_words(o.impact);
  text += describe(o.solving);
  if (o.device == ContactDevice::threads) text += ", flat";
  if (o.device == ContactDevice::opencl)
    text += fmt::format(", on OpenCL, {} precision", precisions[static_cast<std::size_t>(o.precision)]);
  return text;
}

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
                  .can = {.dae = true,
                          .contacts = true,
                          .touching_bodies = 3,
                          .particles = true,
                          .joint_friction = true,
                          .velocity_constraints = true}};
  OptionInfo theta = number_row("theta", "", {0.5, 1}, "where in the step forces act");
  theta.default_depends = "1/2 with gap = \"velocity\", else 1; \"both\" has none";
  info.options.insert(
      info.options.begin(),
      {theta,
       word_row("gap", gaps,
                "what a contact demands of a step; the velocity of closed contacts, the gap, or (bodies, their "
                "\"auto\") both"),
       number_row("activation", "0.5", {0, 1}, "gamma, a contact takes part where gap + gamma h u_N <= 0"),
       word_row("impact", laws, "the law of impact; \"auto\" is \"rounds\" between bodies, else \"newton\""),
       sequence_option()});
  OptionInfo recover =
      number_row("recover", "", not_negative_range, "penetration is undone at this speed at most; 0: no limit");
  recover.default_depends = "a hundredth of the smallest body per step, which gives no velocity";
  info.options.push_back(recover);
  info.options.push_back(
      word_row("forces", {"auto", "implicit", "explicit"}, "\"auto\" is implicit up to 3000 velocities"));
  info.options.push_back(projection_option("both"));
  info.options.push_back(
      word_row("device", devices,
               "who does the work; for particles between fixed planes, gap \"linearised\", \"threads\" or \"opencl\""));
  info.options.push_back(word_row("precision", precisions, "of sweeps with device = \"opencl\""));
  return info;
}

}  // namespace

MethodChoice moreau_jean(const MoreauJeanOptions& options) {
  options.solving.validate();
  const double dae_theta = options.theta > 0 ? options.theta : 1;
  const MoreauJeanOptions usual = settled(options, nullptr);
  MethodChoice choice{moreau_jean_info(), usual.theta == 0.5 ? 2 : 1, describe(usual), {}, 1};
  check_options(
      choice.info.options,
      {{"theta", usual.theta}, {"activation", options.activation}, {"recover", std::max(0.0, options.recover)}});
  if (by_positions(usual.gap) && usual.theta < 1)
    throw OptionError(
        "theta",
        fmt::format("'theta' is {:g} with a gap treated by positions; below 1 a closed contact rebounds by "
                    "(1 - theta)/theta of the speed that the step happens to leave, which does not converge: use theta "
                    "= 1, or gap = \"velocity\"",
                    usual.theta));
  if (options.gap == GapTreatment::both && options.theta > 0 && options.theta != 0.5)
    throw OptionError("theta", fmt::format("'theta' is {:g} with gap = \"both\", whose forces act in the middle of the "
                                           "step; leave it out, or use gap = \"velocity\"",
                                           options.theta));
  const bool any_law = options.impact == ImpactLaw::automatic || options.impact == ImpactLaw::newton;
  if (by_positions(usual.gap) && !any_law)
    throw OptionError("impact",
                      "impact laws need gap = \"velocity\" or \"both\"; gaps treated by positions alone have no "
                      "restitution");
  choice.info.preserves.position_level = projects_position(options.projection);
  choice.make = [options, dae_theta](std::shared_ptr<const System> system, const SolverOptions& solver,
                                     const StepOptions&) -> std::unique_ptr<Stepper> {
    if (system->structure().is_dae) return make_pair_stepper(std::move(system), dae_theta, solver);
    const MoreauJeanOptions o = settled(options, system.get());
    if (o.device != ContactDevice::host) return make_grain_stepper(std::move(system), o);
    if (o.gap != GapTreatment::both) return std::make_unique<MoreauJean>(std::move(system), o, solver);
    if (!system->structure().has_bodies)
      throw UnsuitableMethod("gap = \"both\" is for bodies, [multibody]; for other systems use gap = \"velocity\"");
    return std::make_unique<MoreauJeanBoth>(
        suitable(std::move(system), {.method = "moreau-jean",
                                     .form = "bodies",
                                     .bodies = true,
                                     .ideal = true,
                                     .other_joints = "; for other reactions use symplectic-euler, radau or bdf"}),
        o, solver);
  };
  choice.specialise = [options, dae_theta](MethodChoice& c, const System& system, const StepOptions&) {
    if (!system.structure().is_dae) {
      const MoreauJeanOptions o = settled(options, &system);
      c.description = describe(o);
      c.order = o.theta == 0.5 ? 2 : 1;
      return;
    }
    // impacts and gaps are not what it is about
    c.description = fmt::format("Moreau-Jean on a DAE: implicit steps with theta = {:g}, order 1", dae_theta);
    c.order = 1;
  };
  if (by_positions(usual.gap) && usual.device == ContactDevice::host)
    choice.no_restitution =
        fmt::format("gap = \"{}\" in [integrate] has no restitution; use gap = \"velocity\", or restitution = 0",
                    gaps[static_cast<std::size_t>(usual.gap)]);
  choice.warnings = [options, usual](const System& system) {
    std::vector<std::string> list;
    const bool newton = !by_positions(usual.gap) && law_of(options.impact, system) == ImpactLaw::newton;
    if (newton || usual.device != ContactDevice::host) append_energy_warning(system, list);
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
            if (o.has("recover")) options.recover = o.number("recover");
            options.forces = o.choice<MoreauJeanOptions::Forces>("forces");
            options.projection = o.choice<Projection>("projection");
            options.device = o.choice<ContactDevice>("device");
            options.precision = o.choice<ContactPrecision>("precision");
            return moreau_jean(options);
          }};
}

}  // namespace hinge
