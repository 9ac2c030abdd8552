// [integrate]: the method, its options (also those in [contact]), and the time.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "method/default_method.hpp"
#include "method/method_entry.hpp"
#include "method/symplectic/tableau_check.hpp"
#include "method/wrap/divided_steps.hpp"
#include "model/sections.hpp"
#include "simulate/grid.hpp"

namespace hinge {

namespace {

Eigen::VectorXd read_weights(const Item& item, const ValueReader& read) {
  if (!item.is_array() || item.size() == 0) item.fail("expected a list of numbers, as in [\"1/2\", \"1/2\"]");
  Eigen::VectorXd v(static_cast<Eigen::Index>(item.size()));
  for (std::size_t k = 0; k < item.size(); ++k) v(static_cast<Eigen::Index>(k)) = read.number(item[k]);
  return v;
}

Eigen::MatrixXd read_rows(const Item& item, const ValueReader& read) {
  if (!item.is_array() || item.size() == 0 || !item[0].is_array())
    item.fail("expected a matrix, a list of rows, as in [[0, 0], [\"1/2\", \"1/2\"]]");
  Eigen::MatrixXd m;
  for (std::size_t k = 0; k < item.size(); ++k) {
    if (!item[k].is_array()) item[k].fail("expected a row of the matrix, a list such as [\"1/2\", \"1/2\"]");
    const Eigen::VectorXd row = read_weights(item[k], read);
    if (k == 0) m.resize(static_cast<Eigen::Index>(item.size()), row.size());
    if (row.size() != m.cols())
      item[k].fail(fmt::format("this row has {} entries, the rows before it have {}", row.size(), m.cols()));
    m.row(static_cast<Eigen::Index>(k)) = row.transpose();
  }
  return m;
}

// What is missing, of a wrong shape or in violation of a condition is found when the method is made.
SparkTableau read_tableau(const Item& item, const ValueReader& read) {
  SparkTableau t;
  t.name = item["name"].text();
  if (const Item order = item["order"]) t.order = read.integer(order);
  for (const auto& [key, matrix] : {std::pair{"a", &t.a}, {"ahat", &t.ahat}, {"atilde", &t.atilde}, {"abar", &t.abar}})
    if (item[key]) *matrix = read_rows(item[key], read);
  for (const auto& [key, weights] : {std::pair{"b", &t.b}, {"bhat", &t.bhat}, {"btilde", &t.btilde}})
    if (item[key]) *weights = read_weights(item[key], read);
  const Item violates = item["violates"];
  if (violates && !violates.is_array()) violates.fail("expected a list of conditions, as in [\"(3.3c)\", \"(4.1b)\"]");
  for (const Item& entry : violates.entries())
    t.violates.push_back(entry.expect_string("a condition such as \"(3.3c)\""));
  return t;
}

OptionValue read_option(const Item& item, const ValueReader& read) {
  if (item.is_table()) return read_tableau(item, read);
  if (item.is_boolean()) {
    bool flag = false;
    read.flag(item, flag);
    return flag;
  }
  const std::string text = item.text();
  const bool number =
      !item.is_string() || std::isdigit(static_cast<unsigned char>(text[0])) != 0 || read.scope().names.contains(text);
  if (number && !(item.row && item.row->option.type == OptionType::text)) return read.number(item);
  return text;
}

// tolerance = 1e-6, or { relative = 1e-8, absolute = 1e-10 }
void read_tolerance(const Item& item, const ValueReader& read, Tolerance& out) {
  if (!item) return;
  if (item.is_table()) {
    const Item relative = item["relative"], absolute = item["absolute"];
    if (!relative && !absolute)
      item.fail("give relative, absolute or both, as in { relative = 1e-8, absolute = 1e-10 }");
    read.number(relative, out.relative);
    out.absolute = absolute ? read.number(absolute) : out.relative;
  } else {
    out.relative = out.absolute = read.number(item);
  }
  if (!out.given()) item.fail("a tolerance is a positive number, as in tolerance = 1e-6");
  item.located([&] { out.validate(); });
}

void read_steps(const Item& section, const ValueReader& read, Model& model) {
  SimulationOptions& o = model.simulation;
  // What is asked for on the command line replaces what the file says: a step its tolerance, a tolerance its step.
  const bool own_step = section.source->overrides("integrate.step");
  const bool own_tolerance = section.source->overrides("integrate.tolerance");
  if (own_step || !own_tolerance) read.number(section["step"], o.step);
  if (own_tolerance || !own_step) read_tolerance(section["tolerance"], read, o.tolerance);
  read.number(section["max_step"], o.max_step);
  read.number(section["start"], o.start);
  read.number(section["end"], model.end);
  if (model.end < o.start)
    section["end"].fail(
        fmt::format("the end, {:g}, lies before the start, {:g}; choose a later end", model.end, o.start));
  const double steps = (model.end - o.start) / o.step;
  if (section["end"] && o.step > 0 && !o.tolerance.given() && !(steps <= most_steps))
    section["step"].fail(fmt::format("{:g} steps of {:g} from {:g} to {:g} are too many; choose a longer step", steps,
                                     o.step, o.start, model.end));
  read_choice(section["newton"], o.solver.newton);
  read_choice(section["linear_algebra"], o.solver.linear_algebra);
  if (const Item item = section["max_iterations"]) o.solver.max_iterations = read.integer(item);
}

// Who asks for a step and for a tolerance at once may mean steps of this length; a file that names its method knows.
void warn_of_first_step(const Item& section, Model& model) {
  const SimulationOptions& o = model.simulation;
  if (!section || !(o.step > 0) || !o.tolerance.given()) return;
  if (section["method"] && !section.source->overrides("integrate.step")) return;
  const std::string named = section["method"] ? "" : fmt::format(" (here {}, since none is named)", model.method);
  model.warnings.push_back(
      fmt::format("step = {} is the first step only: with a tolerance the method{} chooses its steps; leave the "
                  "tolerance out for steps of this length",
                  o.step, named));
}

// A sampled state stops the motion at every sample.
void refuse_too_many_samples(const Item& states, const SystemSection& system, const Model& model) {
  constexpr double most = 1e9;
  for (const AddedState& state : system.states) {
    const double samples = (model.end - model.simulation.start) / state.every;
    if (state.every > 0 && samples > most)
      states[state.name]["every"].fail(fmt::format(
          "{:g} samples from t = {:g} to {:g} are too many, more than {:g} cannot be computed; choose a longer "
          "time between them",
          samples, model.simulation.start, model.end, most));
  }
}

// Where each option of the method is given: in [contact], or in [integrate], which wins.
using Places = std::map<std::string, Item>;
Places option_places(const Item& section, const Item& contact) {
  Places places;
  for (const char* key : {"solver", "tolerance", "cone", "facets", "impact", "threads", "device", "precision"})
    if (contact[key]) places[std::string(key) == "tolerance" ? "solver_tolerance" : key] = contact[key];
  for (const std::string& key : section ? section.keys() : std::vector<std::string>{})
    if (key == "tableau" || !section.section->find(key)) places[key] = section[key];
  return places;
}

// Complains about an option where it is given. An unknown one may be a misspelt key of this section.
[[noreturn]] void refuse_option(const Item& section, const Item& item, const std::string& option,
                                const std::string& cause) {
  if (!item.key.starts_with("integrate.")) item.fail(cause);  // of [contact], where there may be no [integrate]
  std::vector<std::string> keys;
  for (const KeyInfo& key : section.section->keys) keys.push_back(key.option.name);
  const std::string near = nearest_name(option, keys);
  const bool misspelt = !near.empty() && near != option;
  item.fail(misspelt ? fmt::format("unknown key, did you mean '{}'? ({})", near, cause) : cause);
}

void make_chosen_method(const Item& root, const Places& places, Model& model) {
  const Item section = root["integrate"], method = section["method"], tableau = section["tableau"];
  try {
    model.choice = make_method(model.method, model.method_options);
  } catch (const TableauError& e) {
    const Item part = tableau[e.field];
    (part ? part : tableau).fail(e.what());
  } catch (const OptionError& e) {
    const auto at = places.find(e.option);
    if (at == places.end()) (method ? method : section ? section : root).fail(e.what());
    refuse_option(section, at->second, e.option, e.what());
  } catch (const InputError& e) {
    (method ? method : section ? section : root).fail(e.what());
  }
}

// Contacts that are treated by positions know no restitution. The steppers refuse it when such a contact comes near;
// here the file is known.
void refuse_restitution(const Item& root, const ValueReader& read, const Model& model) {
  if (model.choice.no_restitution.empty() || !model.system->structure().has_contacts) return;
  const auto refuse = [&](const Item& table) {
    const Item item = table && table.is_table() ? table["restitution"] : Item{};
    if (!item) return;
    double e = 1;
    try {
      e = read.number(item);
    } catch (const InputError&) {  // with the index of a family
    }
    if (e > 0) item.fail(model.choice.no_restitution);
  };
  for (const char* section : {"body", "particles", "container", "contact"})
    for (const Item& table : root[section].entries()) refuse(table);
  for (const Item& table : root[root.source->system]["unilateral"].entries()) refuse(table);
}

}  // namespace

void read_integrate(const Item& root, SystemSection& system, Model& model) {
  const Item section = root["integrate"];
  const ValueReader read(system.scope);
  if (section) read_steps(section, read, model);
  refuse_too_many_samples(root["states"], system, model);
  const Structure& structure = system.whole->structure();
  model.method =
      section["method"] ? section["method"].text() : default_method(structure, model.simulation.tolerance.given());
  const Places places = option_places(section, root["contact"]);
  Options& options = model.method_options;
  for (const auto& [name, item] : places) options[name] = read_option(item, read);
  // [contact] is for the methods that know contacts; a method chosen on the command line takes from the file's options
  // what it knows.
  const Options known = known_options(model.method, options, options);
  std::erase_if(options, [&](const auto& option) {
    return !places.at(option.first).key.starts_with("integrate.") && !known.contains(option.first);
  });
  if (root.source->overridden.contains("integrate.method")) {
    const Options inherited = inherited_options(model.method, root.source->own_method, options);
    std::erase_if(options, [&](const auto& option) {
      return !inherited.contains(option.first) && !root.source->overrides("integrate." + option.first);
    });
  }
  make_chosen_method(root, places, model);
  warn_of_first_step(section, model);
  if (!section["method"] && !structure.has_contacts && !structure.is_dae)
    model.choice = divided(std::move(model.choice));
  refuse_restitution(root, read, model);
}

}  // namespace hinge
