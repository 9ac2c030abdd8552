// A TOML model file, section by section.
#include "hinge/model.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"
#include "method/symplectic/tableau_check.hpp"
#include "model/body_section.hpp"
#include "model/dae_section.hpp"
#include "model/event_section.hpp"
#include "model/multibody_section.hpp"
#include "model/override.hpp"
#include "model/reader.hpp"
#include "model/system_section.hpp"
#include "model/tableau_section.hpp"
#include "simulate/momentum_map.hpp"

namespace hinge {

namespace {

// A model is equations, not data: families and sums keep even large ones short.
constexpr std::uintmax_t largest_file = 5'000'000;

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return text;
}

// toml++ limits the depth of values but not of keys, and a key of many thousand parts would be a table so deep that it
// cannot even be destroyed.
bool keys_are_too_deep(std::string_view text, long& line) {
  int dots = 0;
  line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && ++dots > deepest_key) return true;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') dots = 0;
    if (c == '\n') ++line;
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const std::string_view quote = text.substr(at, 3) == std::string(3, c) ? text.substr(at, 3) : text.substr(at, 1);
      std::size_t end = at + quote.size();
      while (end < text.size() && text.substr(end, quote.size()) != quote && (quote.size() == 3 || text[end] != '\n')) {
        if (text[end] == '\n') ++line;
        end += c == '"' && text[end] == '\\' ? 2U : 1U;
      }
      at = end < text.size() && text[end] == '\n' ? end - 1 : end + quote.size() - 1;
    }
  }
  return false;
}

toml::table parse_toml(const std::string& text, const std::string& name) {
  if (long line = 1; keys_are_too_deep(text, line))
    throw InputError(
        fmt::format("{}:{}: a key with more than {} parts; a model's keys have two or three, as in "
                    "initial.position.q",
                    name, line, deepest_key));
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& e) {
    throw InputError(
        fmt::format("{}:{}:{}: this is not TOML: {}\n  A model is a text file with lines such as step = 0.01 "
                    "and kinetic = \"m/2*dot(q',q')\"; hinge --help shows one.",
                    name, e.source().begin.line, e.source().begin.column, printable(std::string(e.description()))));
  }
}

using Blocks = std::vector<Block>;

// Values for all blocks: a table keyed by name, or one list with every number.
std::vector<Node> read_state(const Item& item, const Blocks& blocks, const std::vector<std::string>& other_names,
                             bool all_needed, const ValueReader& read, Graph& graph) {
  std::vector<Node> values;
  int total = 0;
  for (const Block& b : blocks) total += b.size();
  if (!item.is_table()) {
    values = read.list(item);
    if (static_cast<int>(values.size()) != total)
      item.fail(fmt::format("expected a table such as {{ {} = ... }}, or a list with all {} numbers; found {}",
                            blocks[0].name, total, values.size()));
    return values;
  }
  std::vector<std::string> known;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    known.push_back(blocks[k].name);
    if (k < other_names.size() && other_names[k] != blocks[k].name) known.push_back(other_names[k]);
  }
  item.expect_keys(known);
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& b = blocks[k];
    Item inner = item[b.name];
    if (const Item other = k < other_names.size() ? item[other_names[k]] : Item{}; other && other_names[k] != b.name) {
      if (inner) other.fail(fmt::format("this is given already, as '{}'; keep one of the two", b.name));
      inner = other;
    }
    if (inner) {
      const std::vector<Node> part = read.block(inner, b.shape);
      values.insert(values.end(), part.begin(), part.end());
    } else if (all_needed) {
      item.fail(fmt::format("'{}' is missing; it is {}", b.name, describe_shape(b.shape)));
    } else {
      values.insert(values.end(), static_cast<std::size_t>(b.size()), graph.constant(0));
    }
  }
  return values;
}

std::vector<double> as_numbers(const Item& item, const std::vector<Node>& nodes, const Graph& graph,
                               const char* what = "initial values are numbers; they cannot depend on t or coordinates",
                               const char* not_finite = "an initial value is not a finite number") {
  std::vector<double> x;
  for (const Node n : nodes) {
    if (!graph.is_constant(n)) item.fail(what);
    x.push_back(graph.value(n));
    if (!std::isfinite(x.back())) item.fail(not_finite);
  }
  return x;
}

std::vector<std::string> names_of(const Blocks& blocks, const char* suffix) {
  std::vector<std::string> names;
  for (const Block& b : blocks) names.push_back(b.name + suffix);
  return names;
}

std::string example_of_motion(const RigidBody& body) {
  return fmt::format("bodies = {{ {} = {{ {}rotation = {{ axis = [1, 0, 0], angle = \"pi/3\" }} }} }}",
                     body.options().name, body.is_free() ? "position = [0, 0, 0], " : "");
}

// [initial] bodies: reads them into the start. The names of the coordinates that this gives.
std::vector<std::string> read_initial_bodies(const Item& section, const SystemSection& system, const ValueReader& read,
                                             Model& model) {
  const Item table = section["bodies"];
  if (!table) return {};
  if (system.bodies.empty())
    table.fail("this system has no bodies; describe them in [lagrangian.bodies], or leave this out");
  if (section["momentum"])
    section["momentum"].fail("initial values of bodies are velocities; give the others by 'velocity' too");
  const auto n = static_cast<std::size_t>(system.system->ny());
  model.start.position.resize(n);
  model.start.velocity.resize(n);
  const std::vector<std::string> given =
      read_body_motions(table, system.bodies, read, *system.scope.graph, model.start.position, model.start.velocity);
  std::vector<std::string> names;
  for (const RigidBody& body : system.bodies) {
    if (std::find(given.begin(), given.end(), body.options().name) == given.end()) continue;
    const std::vector<std::string> own = coordinate_names(body);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

[[noreturn]] void refuse_missing_position(const Item& section, const SystemSection& system, const std::string& first) {
  if (system.system->layout().kind == SystemKind::odae) section.fail("'y' is missing, as in y = { y = [1, 0] }");
  if (system.bodies.empty()) section.fail("'position' is missing, as in position = { q = [1, 0] }");
  if (!section["bodies"]) section.fail("'bodies' is missing, as in " + example_of_motion(system.bodies[0]));
  section.fail(fmt::format("there are no initial values for '{}'; give them in 'bodies' or 'position'", first));
}

void read_consistency(const Item& consistent, Model& model) {
  if (!consistent) return;
  const std::string word = consistent.expect_string("\"check\" or \"project\"");
  if (word != "check" && word != "project")
    consistent.fail(fmt::format("\"{}\" is unknown; use \"check\" or \"project\"", word));
  model.start.consistent = word == "project" ? Consistency::project : Consistency::check;
}

void read_initial(const Item& section, const SystemSection& system, Scope& scope, Model& model) {
  const Layout& layout = system.system->layout();
  Graph& graph = *scope.graph;
  const ValueReader read(scope);
  const bool odae = layout.kind == SystemKind::odae;
  if (layout.kind == SystemKind::dae) {
    if (!section)
      throw LocatedError(fmt::format(
          "{}: there is no section [initial]; give initial values, at least some, as in unknowns = {{ {} = ... }}",
          model.path, layout.y[0].name));
    read_dae_initial(section, layout, read, graph, model.start);
    return read_consistency(section["consistent"], model);
  }
  if (!section) {
    throw LocatedError(fmt::format("{}: there is no section [initial]; give the initial {}", model.path,
                                   odae                    ? "y and z"
                                   : system.bodies.empty() ? "position, as in position = { q = [1, 0] }"
                                                           : "values, as in " + example_of_motion(system.bodies[0])));
  }
  std::vector<std::string> keys =
      odae ? std::vector<std::string>{"y", "z", "psi", "consistent"}
           : std::vector<std::string>{"position", "velocity", "momentum", "multiplier", "consistent"};
  if (layout.kind == SystemKind::lagrangian) keys.emplace_back("bodies");
  section.expect_keys(keys);
  const std::vector<std::string> by_bodies = read_initial_bodies(section, system, read, model);
  const auto others = [&](Blocks blocks) {  // what the motions of bodies do not give
    std::erase_if(blocks, [&](const Block& b) {
      return std::find(by_bodies.begin(), by_bodies.end(), b.name) != by_bodies.end();
    });
    return blocks;
  };
  const auto numbers = [&](const Item& item, const Blocks& blocks, const std::vector<std::string>& aliases, bool all) {
    return as_numbers(item, read_state(item, blocks, aliases, all, read, graph), graph);
  };
  const auto numbers_into = [&](std::vector<double>& all, const Item& item, const Blocks& blocks, const char* suffix,
                                bool needed) {
    if (blocks.empty()) item.fail("the motions of the bodies say everything; leave this out");
    const std::vector<double> values = numbers(item, blocks, names_of(blocks, suffix), needed);
    if (by_bodies.empty()) {
      all = values;
      return;
    }
    auto from = values.begin();
    for (const Block& b : blocks) {
      std::copy_n(from, b.size(), all.begin() + b.first);
      from += b.size();
    }
  };
  const Item position = section[odae ? "y" : "position"];
  const Blocks open = others(layout.y);
  if (!position && !open.empty()) refuse_missing_position(section, system, open[0].name);
  if (position) numbers_into(model.start.position, position, open, "", true);
  if (odae) {
    if (!section["z"]) section.fail("'z' is missing, as in z = { z = [1, 0] }");
    model.start.velocity = numbers(section["z"], layout.z, {}, true);
  }
  if (section["velocity"] && section["momentum"])
    section["momentum"].fail("give the initial velocity or the initial momentum, not both");
  if (section["velocity"])
    numbers_into(model.start.velocity, section["velocity"], others(velocity_blocks(layout)), "'", false);
  if (section["momentum"])
    model.start.momentum = layout.kind == SystemKind::hamiltonian
                               ? numbers(section["momentum"], layout.z, names_of(layout.y, ""), false)
                               : numbers(section["momentum"], velocity_blocks(layout), {}, false);
  if (const Item psi = section[odae ? "psi" : "multiplier"])
    model.start.multiplier = numbers(psi, layout.psi, {}, true);
  read_consistency(section["consistent"], model);
}

void read_exact(const Item& section, const SystemSection& system, Scope& scope, Model& model) {
  if (!section) return;
  const Layout& layout = system.system->layout();
  const ValueReader read(scope);
  const auto graph = system.builder->t().graph();
  const std::vector<Node> time[] = {{system.system->equations().t}};
  const bool odae = layout.kind == SystemKind::odae, hamiltonian = layout.kind == SystemKind::hamiltonian;
  const bool dae = layout.kind == SystemKind::dae;
  section.expect_keys(dae    ? std::vector<std::string>{"unknowns", "derivatives"}
                      : odae ? std::vector<std::string>{"y", "z", "psi"}
                             : std::vector<std::string>{"position", "velocity", "momentum", "multiplier"});
  const auto part = [&](const char* key, const Blocks& blocks, const std::vector<std::string>& others, Vector& into) {
    const Item item = section[key];
    if (!item) return;
    const std::vector<Node> nodes = read_state(item, blocks, others, true, read, *graph);
    try {
      make_tape(*graph, time, nodes);
    } catch (const InputError&) {
      item.fail("a solution is a function of t alone; write it with t and parameters, without coordinates");
    }
    for (const Node n : nodes) into.push_back({graph, n});
  };
  part(dae ? "unknowns" : odae ? "y" : "position", layout.y, {}, model.exact.position);
  if (dae) return part("derivatives", layout.y, names_of(layout.y, "'"), model.exact.velocity);
  part(odae ? "psi" : "multiplier", layout.psi, {}, model.exact.multiplier);
  if (odae) {
    part("z", layout.z, {}, model.exact.velocity);
    return;
  }
  part("velocity", velocity_blocks(layout), names_of(layout.y, "'"), model.exact.velocity);
  part("momentum", hamiltonian ? layout.z : velocity_blocks(layout), names_of(layout.y, ""), model.exact.momentum);
}

// Bodies say where they start; a method for contacts is chosen where there can be any.
void begin_multibody_run(const Item& root, const SystemSection& system, Model& model) {
  if (root["exact"]) root["exact"].fail("an exact solution cannot be given for bodies; compare with another run");
  model.start = system.start;
  if (const Item initial = root["initial"]) {
    initial.expect_keys({"consistent"});
    read_consistency(initial["consistent"], model);
  }
  if (system.whole->contact_finder()) model.method = "moreau-jean";
  model.method_options = system.contact;
}

// Was this key, or one inside it, given on the command line?
bool overridden(const Source& source, const std::string& key) {
  const auto inside = source.overridden.lower_bound(key + ".");
  return source.overridden.count(key) > 0 ||
         (inside != source.overridden.end() && inside->first.starts_with(key + "."));
}

// The number of steps is counted exactly up to here.
constexpr double most_steps = 1e15;

// tolerance = 1e-6, or { relative = 1e-8, absolute = 1e-10 }
void read_tolerance(const Item& item, const ValueReader& read, Tolerance& out) {
  if (!item) return;
  if (item.is_table()) {
    item.expect_keys({"relative", "absolute"});
    const Item relative = item["relative"], absolute = item["absolute"];
    if (!relative && !absolute)
      item.fail("give relative, absolute or both, as in { relative = 1e-8, absolute = 1e-10 }");
    out.relative = relative ? read.number(relative) : 0;
    out.absolute = absolute ? read.number(absolute) : out.relative;
  } else {
    out.relative = out.absolute = read.number(item);
  }
  if (!out.given()) item.fail("a tolerance is a positive number, as in tolerance = 1e-6");
  item.located([&] { out.validate(); });
}

void read_integrate(const Item& section, Scope& scope, Model& model) {
  if (!section) return;
  if (!section.is_table()) section.fail("expected a section [integrate]");
  const ValueReader read(scope);
  SimulationOptions& o = model.simulation;
  const auto positive = [&](const char* key, double& value) {
    const Item item = section[key];
    if (!item) return;
    value = read.number(item);
    if (!(value > 0)) item.fail(fmt::format("{0} = {1:g}; it must be positive, as in {0} = 0.01", key, value));
  };
  // What is asked for on the command line replaces what the file says: a step its tolerance, a tolerance its step.
  const bool own_step = overridden(*section.source, "integrate.step");
  const bool own_tolerance = overridden(*section.source, "integrate.tolerance");
  if (own_step || !own_tolerance) positive("step", o.step);
  if (own_tolerance || !own_step) read_tolerance(section["tolerance"], read, o.tolerance);
  positive("max_step", o.max_step);
  if (section["start"]) o.start = read.number(section["start"]);
  if (section["end"]) {
    model.end = read.number(section["end"]);
    if (model.end < o.start)
      section["end"].fail(
          fmt::format("the end, {:g}, lies before the start, {:g}; choose a later end", model.end, o.start));
    const double steps = (model.end - o.start) / o.step;
    if (o.step > 0 && !o.tolerance.given() && !(steps <= most_steps))
      section["step"].fail(fmt::format("{:g} steps of {:g} from {:g} to {:g} are too many; choose a longer step", steps,
                                       o.step, o.start, model.end));
  }
  if (section["newton"])
    o.solver.newton =
        read_choice<SolverOptions::Newton>(section["newton"], {{"automatic", SolverOptions::Newton::automatic},
                                                               {"simplified", SolverOptions::Newton::simplified},
                                                               {"full", SolverOptions::Newton::full}});
  if (section["linear_algebra"])
    o.solver.linear_algebra = read_choice<LinearAlgebra>(
        section["linear_algebra"],
        {{"automatic", LinearAlgebra::automatic}, {"dense", LinearAlgebra::dense}, {"sparse", LinearAlgebra::sparse}});
  if (const Item item = section["max_iterations"]) {
    o.solver.max_iterations = read.integer(item);
    item.located([&] { o.solver.validate(); });
  }
  const std::vector<std::string> own = {"method", "start",          "end",           "step", "tolerance", "max_step",
                                        "newton", "linear_algebra", "max_iterations"};
  if (section["method"])
    model.method = section["method"].expect_string("the name of a method");
  else if (o.tolerance.given())
    model.method = "auto";
  for (const std::string& key : section.keys()) {
    if (std::find(own.begin(), own.end(), key) != own.end()) continue;
    const Item item = section[key];
    if (key == "tableau")
      model.method_options[key] = read_tableau(item, read);
    else if (const auto* flag = item.node->as_boolean())
      model.method_options[key] = flag->get();
    else if (item.is_string() && !std::isdigit(static_cast<unsigned char>(item.text()[0])) &&
             !scope.names.count(item.text()))
      model.method_options[key] = item.text();
    else
      model.method_options[key] = read.number(item);
  }
  // [contact] is for the methods that know contacts.
  for (const MethodInfo& info : methods()) {
    if (info.name != model.method) continue;
    const auto knows = [&](const std::string& key) {
      return std::any_of(info.options.begin(), info.options.end(),
                         [&](const OptionInfo& option) { return option.name == key; });
    };
    std::erase_if(model.method_options,
                  [&](const auto& option) { return !section[option.first] && !knows(option.first); });
  }
  // A method chosen on the command line takes from the file's options what it knows.
  if (section.source->overridden.count("integrate.method")) {
    const Options known = inherited_options(model.method, section.source->own_method, model.method_options);
    std::erase_if(model.method_options, [&](const auto& option) {
      return !known.count(option.first) && !overridden(*section.source, "integrate." + option.first);
    });
  }
  // An unknown key may be a misspelt option of the method or a misspelt key of this section.
  try {
    make_method(model.method, model.method_options);
  } catch (const TableauError& e) {
    const Item part = section["tableau"][e.field];
    (part ? part : section["tableau"]).fail(e.what());
  } catch (const InputError& e) {
    const Item method = section["method"];
    const std::string text = e.what();
    for (const std::string pattern : {"no option '{}'", "'{}'", "{}"}) {
      for (const auto& [key, value] : model.method_options) {
        if (text.find(fmt::format(fmt::runtime(pattern), key)) == std::string::npos) continue;
        if (!section[key])  // it came from there
          throw LocatedError(fmt::format("{}: contact.{}: {}", section.source->name,
                                         key == "solver_tolerance" ? "tolerance" : key, text));
        const std::string near = nearest_name(key, own);
        section[key].fail(near.empty() ? text : fmt::format("unknown key, did you mean '{}'? ({})", near, text));
      }
    }
    (method ? method : section).fail(e.what());
  }
}

// A gap that is treated by positions knows no restitution. The steppers refuse it when such a contact comes near; here
// the file is known.
void refuse_restitution(const Item& root, SystemSection& system, const Model& model) {
  const auto gap = model.method_options.find("gap");
  const auto* word = gap == model.method_options.end() ? nullptr : std::get_if<std::string>(&gap->second);
  if (model.method != "moreau-jean" || !word || *word == "velocity") return;
  if (!system.whole->contact_finder()) return;
  const ValueReader read(system.scope);
  const auto refuse = [&](const Item& table) {
    const Item item = table && table.is_table() ? table["restitution"] : Item{};
    if (!item) return;
    double e = 1;
    try {
      e = read.number(item);
    } catch (const InputError&) {  // with the index of a family
    }
    if (e > 0)
      item.fail(fmt::format(
          "gap = \"{}\" in [integrate] has no restitution; use gap = \"velocity\", or restitution = 0", *word));
  };
  const auto refuse_list = [&](const Item& list) {
    for (std::size_t k = 0; list && list.is_array() && k < list.size(); ++k) refuse(list[k]);
  };
  for (const char* section : {"body", "particles"}) refuse_list(root[section]);
  for (const char* section : {"container", "contact"}) refuse(root[section]);
  for (const char* section : {"lagrangian", "mechanical", "hamiltonian", "odae"})
    if (root[section]) refuse_list(root[section]["unilateral"]);
}

// Is there a column of this name (or of its entries) in every recorded file?
bool is_column(const std::string& name, const Layout& layout) {
  const std::string base = name.substr(0, name.find('['));
  if (base == "t" || base == "energy" || base == "multiplier") return true;
  for (const Blocks* blocks : {&layout.y, &layout.z, &layout.psi})
    for (const Block& b : *blocks)
      if (b.name == base) return true;
  return false;
}

void read_quantities(const Item& quantities, const SystemSection& system, const ValueReader& read, Model& model) {
  if (!quantities) return;
  if (!quantities.is_table()) quantities.fail("expected a table, as in quantities = { height = \"q[1]\" }");
  const auto graph = system.builder->t().graph();
  for (const std::string& name : quantities.keys()) {
    if (is_column(name, system.system->layout()))
      quantities[name].fail(fmt::format("'{}' is recorded anyway, under this name; choose another name", name));
    const Value value = read.value(quantities[name]);
    Vector v;
    for (const Node n : value.entries) v.push_back({graph, n});
    model.quantities.push_back({name, v, value.shape});
  }
}

// [output] momentum = { L = { axis = [0, 1, 0], point = [0, 0, 0] }, P = { direction = [1, 0, 0] } }
void read_momentum_maps(const Item& table, const SystemSection& system, const ValueReader& read, Model& model) {
  if (!table) return;
  if (!table.is_table()) table.fail("expected a table, as in momentum = { L = { axis = [0, 1, 0] } }");
  Graph& graph = *system.builder->t().graph();
  for (const std::string& name : table.keys()) {
    const Item item = table[name];
    if (!item.is_table()) item.fail("expected { axis = [0, 1, 0] } or { direction = [1, 0, 0] }");
    item.expect_keys({"axis", "point", "direction"});
    const bool taken = is_column(name, system.system->layout()) ||
                       std::any_of(model.quantities.begin(), model.quantities.end(),
                                   [&](const Model::Quantity& q) { return q.name == name; });
    if (taken) item.fail(fmt::format("'{}' is recorded anyway, under this name; choose another name", name));
    MomentumMap map;
    const auto part = [&](const char* key, std::vector<double>& into) {
      const Item inner = item[key];
      if (!inner) return;
      for (const Node n : read.list(inner)) {
        if (!graph.is_constant(n)) inner.fail("this is a number only for given coordinates; write it with parameters");
        into.push_back(graph.value(n));
      }
      if (into.empty()) inner.fail(fmt::format("expected three numbers, as in {} = [0, 1, 0]", key));
    };
    part("axis", map.axis);
    part("point", map.point);
    part("direction", map.direction);
    Item place = item;
    for (const char* key : {"axis", "point", "direction"})
      if (item.source->overridden.contains(item[key].key)) place = item[key];  // by --set
    place.located([&] { motion_of(system.system->layout(), map); });
    model.momentum_maps.emplace_back(name, map);
  }
}

void read_output(const Item& section, const SystemSection& system, Scope& scope, Model& model) {
  if (!section) return;
  section.expect_keys({"every", "interval", "times", "quantities", "momentum", "file", "vtk"});
  const ValueReader read(scope);
  if (section["every"] && section["interval"]) section["interval"].fail("give 'every' or 'interval', not both");
  if (const Item times = section["times"]) {
    if (section["every"] || section["interval"]) times.fail("give 'times', 'every' or 'interval', not several");
    model.simulation.times = as_numbers(times, read.list(times), *scope.graph,
                                        "times to record at are numbers, as in [0.5, 1]; they may use parameters, "
                                        "but not t or coordinates",
                                        "a time to record at is not a finite number");
    std::vector<double>& list = model.simulation.times;
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (!list.empty() && list.front() < model.simulation.start)
      times.fail(fmt::format("t = {:g} lies before the start, {:g}", list.front(), model.simulation.start));
  }
  if (section["every"]) {
    model.simulation.every = read.integer(section["every"]);
    if (model.simulation.every < 1)
      section["every"].fail(
          fmt::format("every = {}; it must be at least 1, which records every step", model.simulation.every));
  }
  if (section["interval"]) {
    model.simulation.interval = read.number(section["interval"]);
    if (!(model.simulation.interval > 0))
      section["interval"].fail(
          fmt::format("interval = {:g}; it must be a positive time, as in interval = 0.1", model.simulation.interval));
  }
  if (section["file"]) model.output_file = section["file"].expect_string("a file name");
  if (const Item vtk = section["vtk"]) {
    model.picture_file = vtk.expect_string("a file name, as in \"pictures/pile\"");
    if (!model.picture_file.ends_with(".pvd")) model.picture_file += ".pvd";
  }
  read_quantities(section["quantities"], system, read, model);
  read_momentum_maps(section["momentum"], system, read, model);
}

}  // namespace

Model parse_model(const std::string& text, const std::string& name, const std::vector<Override>& overrides) {
  toml::table table = parse_toml(text, name);
  Source source{name, {}, {}};
  source.own_method = table["integrate"]["method"].value_or<std::string>("");
  for (const Override& o : overrides) apply_override(table, o, source);
  refuse_unused_parameters(table, text, overrides);
  const Item root{&table, "", &source};
  std::vector<std::string> known = {"title", "parameters", "define", "initial",
                                    "exact", "integrate",  "output", "event"};
  known.insert(known.end(), system_sections().begin(), system_sections().end());
  known.insert(known.end(), multibody_sections().begin(), multibody_sections().end());
  root.expect_keys(known);

  Model model;
  model.path = name;
  for (const Override& o : overrides)
    model.settings += fmt::format("{}{}={}", model.settings.empty() ? "" : " ", o.key, o.value);
  model.text = text;
  model.method = "gauss-lobatto";
  model.end = NAN;
  model.title = root["title"] ? root["title"].expect_string("a title") : std::filesystem::path(name).stem().string();
  SystemSection section = read_system(root);
  model.system = section.whole;
  if (section.system->layout().kind == SystemKind::multibody) {
    begin_multibody_run(root, section, model);
  } else {
    read_initial(root["initial"], section, section.scope, model);
    read_exact(root["exact"], section, section.scope, model);
  }
  read_integrate(root["integrate"], section.scope, model);
  read_output(root["output"], section, section.scope, model);
  model.events = read_events(root["event"], section);
  refuse_restitution(root, section, model);
  return model;
}

Model load_model(const std::string& path, const std::vector<Override>& overrides) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(fmt::format("'{}' is a folder; give the model file in it", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const int reason = errno;
    throw InputError(
        fmt::format("cannot read '{}': {}; {}", path, std::strerror(reason),
                    reason == EACCES ? "ask for permission to read it" : "check the name of the model file"));
  }
  std::string text;
  std::vector<char> piece(1 << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > largest_file)
      throw InputError(
          fmt::format("'{}' is larger than {} MB; a model file is a few lines of equations (large systems are written "
                      "with families, "
                      "{{ for = \"i\", ... }}, and sum())",
                      path, largest_file / 1'000'000));
  }
  return parse_model(text, path, overrides);
}

Simulation Model::simulation_for(const std::string& output_path) const {
  if (!(simulation.step > 0) && !simulation.tolerance.given())
    throw InputError(
        "integrate: there is neither a step nor a tolerance; add step = 0.01 (or tolerance = 1e-6 for a method that "
        "chooses its steps) to [integrate], or use --step or --tolerance");
  Simulation run(system, make_method(method, method_options), simulation);
  for (const Quantity& q : quantities) {
    if (q.shape.empty())
      run.observe(q.name, q.value[0]);
    else
      run.observe(q.name, q.value, q.shape);
  }
  for (const auto& [name, map] : momentum_maps) run.observe_momentum(name, map);
  for (const Event& e : events) run.watch(e);
  run.compare(exact);
  run.record({output_path, title, text, settings});
  if (!picture_file.empty() && !output_path.ends_with(".pvd")) run.record({picture_file, title});
  return run;
}

}  // namespace hinge
