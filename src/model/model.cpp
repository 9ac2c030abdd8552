// A TOML model file, section by section.
#include "hinge/model.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "expression/printable.hpp"
#include "model/model_variants.hpp"
#include "model/override.hpp"
#include "model/sections.hpp"
#include "simulate/record/recorder_vtk.hpp"

namespace hinge {

namespace {

// A model is equations, not data: families and sums keep even large ones short.
constexpr std::uintmax_t largest_file = 5'000'000;

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

// What somebody may have meant who wrote a line that is no TOML.
std::string meant(const std::string& text, std::size_t line) {
  std::size_t begin = 0;
  for (std::size_t k = 1; k < line && begin != std::string::npos; ++k) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos || begin >= text.size()) return "";
  const std::string row = text.substr(begin, text.find('\n', begin) - begin);
  const auto trimmed = [](std::string part) {
    const char* const blank = " \t\r";
    part.erase(0, std::min(part.find_first_not_of(blank), part.size()));
    part.erase(part.find_last_not_of(blank) + 1);
    return part;
  };
  const std::size_t sign = row.find('=');
  const std::string key = trimmed(row.substr(0, sign));
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (const std::size_t open = key.find('('); open != std::string::npos && open > 0 && key.back() == ')' &&
                                              key.find_first_not_of(plain) == open && sign != std::string::npos)
    return fmt::format("\n  A function is written {} = \"{} -> ...\", in [functions].", key.substr(0, open),
                       printable(key.substr(open)));
  if (const std::size_t colon = row.find(':'); sign == std::string::npos || colon < sign) {
    const std::string left = trimmed(row.substr(0, colon));
    if (colon == std::string::npos || left.empty() || left.find_first_not_of(plain) != std::string::npos) return "";
    return fmt::format("\n  TOML writes {} = {}, with an equals sign.", left,
                       printable(trimmed(row.substr(colon + 1))));
  }
  std::string value = row.substr(sign + 1);
  value = trimmed(value.substr(0, value.find('#')));
  if (value.find(',') != std::string::npos && value.find_first_not_of("0123456789,-") == std::string::npos) {
    std::replace(value.begin(), value.end(), ',', '.');
    return fmt::format("\n  Decimals have a point: {} = {}.", printable(key), value);
  }
  try {
    if (!toml::parse(row).empty()) return "";  // not this line is wrong, but where it stands
  } catch (const toml::parse_error&) {
  }
  if (key.empty() || value.empty() || key.find_first_not_of(plain) != std::string::npos || value.front() == '=' ||
      value.find_first_of("\"'[]{}=") != std::string::npos)
    return "";
  return fmt::format("\n  Expressions and numbers with a unit stand in quotes: {} = \"{}\".", key, printable(value));
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
        fmt::format("{}:{}:{}: this is not TOML: {}{}\n  A model is a text file with lines such as step = 0.01 "
                    "and kinetic = \"m/2*dot(q',q')\"; hinge --help shows one.",
                    name, e.source().begin.line, e.source().begin.column, printable(std::string(e.description())),
                    meant(text, e.source().begin.line)));
  }
}

// The text with a line for each file that the model has read: who compares models, to extend a sweep or to go on from
// a checkpoint, compares these, too.
std::string with_files(std::string text, const std::vector<std::string>& files) {
  const std::string mark = "\n# read: ";
  for (std::size_t at = 0; !files.empty();) {  // the text of a record has them already
    at = text.rfind('\n');
    if (at == std::string::npos || text.compare(at, mark.size(), mark) != 0) break;
    text.resize(at);
  }
  for (const std::string& file : files) text += mark + file;
  return text;
}

}  // namespace

namespace {

// The file that a thread has read last: sweeps read one again and again, with other values.
struct ParsedFile {
  std::string text, name;
  toml::table table;
  bool known = false, taken = false;  // taken: while a model is made of it

  toml::table& of(const std::string& its_text, const std::string& its_name) {
    if (known && text == its_text && name == its_name) return table;
    known = false;
    table = parse_toml(its_text, its_name);
    text = its_text;
    name = its_name;
    known = true;
    return table;
  }
};

Model read_model(toml::table& table, const std::string& text, const std::string& name,
                 const std::vector<Override>& overrides, VariedKeys* varied) {
  Overridden before;
  Source source{name, {}, table["integrate"]["method"].value_or<std::string>(""), {}, 0, {}};
  for (std::size_t k = 0; k < overrides.size(); ++k) {
    const std::string key = apply_override(table, overrides[k], source, &before);
    if (varied && k + varied->count >= overrides.size()) varied->read.emplace(key, false);
  }
  if (varied) source.varied = &varied->read;
  refuse_unused_parameters(table, text, overrides);
  for (const char* system : {"multibody", "dae", "odae", "mechanical", "hamiltonian", "lagrangian"})
    if (table.contains(system)) source.system = system;
  Item root{&table, "", &source};
  root.section = &model_sections().front();
  check_keys(root);

  Model model;
  model.path = name;
  model.settings = settings_text(overrides);
  model.end = NAN;
  model.title = printable(root["title"] ? root["title"].text() : std::filesystem::path(name).stem().string());
  SystemSection system = read_system(root);
  model.text = with_files(text, source.files);
  model.system = system.whole;
  model.section = source.system;
  model.forces = system.forces;
  read_initial(root, system, model);
  read_exact(root["exact"], system, model);
  read_integrate(root, system, model);
  read_output(root["output"], system, model);
  read_events(root["event"], system, model);
  read_view(root["view"], system, model);
  return model;
}

}  // namespace

Model parse_model(const std::string& text, const std::string& name, const std::vector<Override>& overrides) {
  return parse_varied_model(text, name, overrides, nullptr);
}

Model parse_varied_model(const std::string& text, const std::string& name, const std::vector<Override>& overrides,
                         VariedKeys* varied) {
  thread_local ParsedFile last;
  if (last.taken) {
    toml::table table = parse_toml(text, name);
    return read_model(table, text, name, overrides, varied);
  }
  const struct Taken {
    bool& taken;
    explicit Taken(bool& is) : taken(is) { taken = true; }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken() { taken = false; }
  } taken(last.taken);
  return read_model(last.of(text, name), text, name, overrides, varied);
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
  MethodChoice chosen = choice;
  if (!warnings.empty())
    chosen.warnings = [ours = warnings, of_method = choice.warnings](const System& s) {
      std::vector<std::string> all = ours;
      if (of_method)
        for (std::string& w : of_method(s)) all.push_back(std::move(w));
      return all;
    };
  Simulation run(system, std::move(chosen), simulation);
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
  if (!picture_file.empty() && !is_picture_path(output_path)) run.record({picture_file, title});
  return run;
}

}  // namespace hinge
