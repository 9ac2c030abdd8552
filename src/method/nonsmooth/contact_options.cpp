#include "method/nonsmooth/contact_options.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

const std::vector<std::string> cones = {"coulomb", "convexified", "polyhedral"};

}  // namespace

std::shared_ptr<const System> suitable(std::shared_ptr<const System> system, const ContactDemands& demands) {
  const Structure& s = system->structure();
  if (!s.velocity_is_z && !(demands.bodies && s.has_bodies))
    throw UnsuitableMethod(fmt::format("{} is for {}", demands.method, demands.form));
  if (demands.ideal && system->ng() > 0 && !s.reaction_is_ideal)
    throw UnsuitableMethod(
        fmt::format("{} treats ideal joints only, whose reaction is -G^T psi{}", demands.method, demands.other_joints));
  return system;
}

std::vector<OptionInfo> contact_options() {
  OptionInfo tolerance =
      number_row("solver_tolerance", "", {0, 1, true, true}, "relative residual of contact problems");
  tolerance.default_depends = "1e-10 for few contacts, 1e-6 for more, 1e-4 from 1000 on";
  return {word_row("cone", cones, "of friction, exact or an approximation"),
          integer_row("facets", "8", {.min = 4}, "edges of the polyhedral cone in space, an even number"),
          word_row("solver", {"auto"}, "of contact problems, one of 'hinge contact --list'"), tolerance,
          integer_row("threads", "1", {1, 1024}, "for search and contact problems")};
}

ImpactLaw law_of(ImpactLaw law, const System& system) {
  if (law != ImpactLaw::automatic) return law;
  return system.structure().has_bodies ? ImpactLaw::rounds : ImpactLaw::newton;
}

OptionInfo sequence_option() {
  return word_row("sequence", {"first", "last"}, "of sequential impacts: which approaching contact comes first");
}

ContactSolving contact_solving(const GivenOptions& options) {
  ContactSolving solving;
  solving.friction = options.choice<FrictionModel>("cone");
  solving.facets = options.integer("facets");
  solving.solver = options.word("solver");
  solving.tolerance = options.number("solver_tolerance");
  solving.threads = options.integer("threads");
  return solving;
}

std::string describe(const ContactSolving& solving) {
  std::string text;
  if (solving.friction != FrictionModel::coulomb)
    text += ", " + cones[static_cast<std::size_t>(solving.friction)] + " friction";
  if (solving.friction == FrictionModel::polyhedral) text += fmt::format(" ({} facets)", solving.facets);
  if (solving.solver != "auto") text += ", solver " + solving.solver;
  return text;
}

// The first contact that has both, as it is called; empty where there is none.
static std::string rough_and_elastic(const System& system) {
  if (!system.structure().has_contacts) return "";
  if (const BodyTable* table = bodies_of(system)) {
    const Collider *elastic = nullptr, *other = nullptr;  // frictions are multiplied, of restitutions the larger counts
    for (const Collider& c : table->colliders)
      if (!elastic && c.friction > 0 && c.restitution > 0) elastic = &c;
    for (const Collider& c : table->colliders)
      if (elastic && !other && c.friction > 0 && c.body != elastic->body) other = &c;
    return other ? elastic->name + " - " + other->name : "";
  }
  const auto finder = system.contact_finder();
  ContactList contacts;
  const std::vector<double> y(static_cast<std::size_t>(system.ny()), 0.0);
  finder->find(0, y.data(), std::numeric_limits<double>::infinity(), contacts);
  for (std::size_t i = 0; i < contacts.key.size(); ++i)
    if (contacts.restitution[i] > 0 && contacts.friction[i] > 0) return finder->name(contacts.key[i]);
  return "";
}

void append_energy_warning(const System& system, std::vector<std::string>& list) {
  if (const std::string name = rough_and_elastic(system); !name.empty())
    list.push_back(fmt::format(
        "Newton's law of impact may create energy where a contact has both restitution and friction ({} has); "
        "moreau-jean with impact = \"moreau\" never does",
        name));
}

std::string does_not_settle(int iterations) {
  return fmt::format(
      "forces, joints and contacts do not settle within {} iterations; shorten the step (or raise max_iterations). "
      "Forces that change much within a step, as of a stiff spring or a controller with high gains, need steps that "
      "are short beside their own time; event-driven with base = \"radau\" and a tolerance does not",
      iterations);
}

std::vector<std::string> energy_warnings(const System& system) {
  std::vector<std::string> list;
  append_energy_warning(system, list);
  return list;
}

}  // namespace hinge
