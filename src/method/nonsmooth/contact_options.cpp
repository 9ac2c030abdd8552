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

int index_option(const Options& options, const std::string& name, const std::vector<std::string>& words) {
  const std::string word = text_option(options, name, words[0].c_str());
  const auto at = std::find(words.begin(), words.end(), word);
  if (at != words.end()) return static_cast<int>(at - words.begin());
  std::string list;
  for (const std::string& w : words) list += (list.empty() ? "\"" : ", \"") + w + "\"";
  throw InputError(fmt::format("'{}' is \"{}\"; it is one of {}", name, word, list));
}

void add_contact_options(std::vector<OptionInfo>& list) {
  list.push_back({"cone", "of friction: \"coulomb\" (exact), \"convexified\" or \"polyhedral\"", "\"coulomb\""});
  list.push_back({"facets", "edges of the polyhedral cone in space", "8"});
  list.push_back({"solver", "of contact problems, one of 'hinge contact --list'", "\"auto\""});
  list.push_back({"solver_tolerance", "relative residual of contact problems",
                  "1e-10 for few contacts, 1e-6 for more, 1e-4 from 1000 on"});
  list.push_back({"threads", "for contact problems", "1"});
}

ContactSolving contact_solving(const Options& options) {
  ContactSolving solving;
  solving.friction = choice_option<FrictionModel>(options, "cone", cones);
  solving.facets = integer_option(options, "facets", solving.facets);
  solving.solver = text_option(options, "solver", "auto");
  solving.tolerance = number_option(options, "solver_tolerance", 0);
  if (options.count("solver_tolerance") && !(solving.tolerance > 0))
    throw InputError(
        fmt::format("'solver_tolerance' is {}; give a small positive number, such as 1e-8", solving.tolerance));
  solving.threads = integer_option(options, "threads", 1);
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
  const auto finder = system.contact_finder();
  if (!finder) return "";
  if (const BodyTable* table = bodies_of(system)) {
    const Collider *elastic = nullptr, *other = nullptr;  // frictions are multiplied, of restitutions the larger counts
    for (const Collider& c : table->colliders)
      if (!elastic && c.friction > 0 && c.restitution > 0) elastic = &c;
    for (const Collider& c : table->colliders)
      if (elastic && !other && c.friction > 0 && c.body != elastic->body) other = &c;
    return other ? elastic->name + " - " + other->name : "";
  }
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

std::vector<std::string> energy_warnings(const System& system) {
  std::vector<std::string> list;
  append_energy_warning(system, list);
  return list;
}

}  // namespace hinge
