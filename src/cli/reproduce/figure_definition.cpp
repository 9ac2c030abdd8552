#include "cli/reproduce/figure_definition.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "expression/suggest.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

// A table of the file, whose keys are all known: one that is not is a mistake.
class Section {
 public:
  Section(const toml::table& table, const std::string& path, std::string what, const std::vector<std::string>& known)
      : table_(table), path_(path), what_(std::move(what)) {
    for (auto&& [key, value] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = nearest_name(name, known);
      fail(value, fmt::format("{} has no key '{}'{} it may have {}", what_, name,
                              near.empty() ? ";" : fmt::format(", did you mean '{}'?", near), fmt::join(known, ", ")));
    }
  }

  [[noreturn]] void fail(const toml::node& where, const std::string& why) const {
    throw InputError(fmt::format("{}:{}: {}", path_, where.source().begin.line, why));
  }
  [[noreturn]] void fail(const std::string& why) const { fail(table_, fmt::format("{} {}", what_, why)); }

  const toml::node* get(const char* key) const { return table_.get(key); }
  bool has(const char* key) const { return get(key) != nullptr; }
  template <class T>
  std::optional<T> optional(const char* key, const char* expected) const {
    const toml::node* node = get(key);
    if (!node) return {};
    if (const auto value = node->value<T>()) return *value;
    fail(*node, fmt::format("'{}' of {} must be {}", key, what_, expected));
  }
  std::optional<double> number(const char* key) const { return optional<double>(key, "a number"); }
  std::string text(const char* key, const std::string& missing = "") const {
    return optional<std::string>(key, "a text").value_or(missing);
  }
  bool flag(const char* key) const { return optional<bool>(key, "true or false").value_or(false); }
  std::vector<double> numbers(const toml::node& node, const char* key) const {
    std::vector<double> list;
    const toml::array* array = node.as_array();
    if (!array) fail(node, fmt::format("'{}' of {} must be a list of numbers", key, what_));
    for (const toml::node& n : *array) {
      const auto value = n.value<double>();
      if (!value) fail(n, fmt::format("'{}' of {} must be a list of numbers", key, what_));
      list.push_back(*value);
    }
    return list;
  }
  std::vector<double> numbers(const char* key) const {
    return has(key) ? numbers(*get(key), key) : std::vector<double>{};
  }
  const toml::table* table(const char* key) const {
    if (!has(key)) return nullptr;
    if (const toml::table* t = get(key)->as_table()) return t;
    fail(*get(key), fmt::format("'{}' of {} must be a table, {{ key = value }}", key, what_));
  }
  std::vector<const toml::table*> tables(const char* key) const {
    std::vector<const toml::table*> list;
    if (!has(key)) return list;
    const toml::array* array = get(key)->as_array();
    if (!array) fail(*get(key), fmt::format("'{}' of {} must be a list of tables", key, what_));
    for (const toml::node& n : *array) {
      if (!n.is_table()) fail(n, fmt::format("'{}' of {} must be a list of tables", key, what_));
      list.push_back(n.as_table());
    }
    return list;
  }
  const std::string& path() const { return path_; }

 private:
  const toml::table& table_;
  const std::string& path_;
  std::string what_;
};

// As --set takes it: a text as it is, everything else as TOML writes it.
std::string value_text(const toml::node& node) {
  if (const auto text = node.value<std::string>(); text && node.is_string()) return fmt::format("\"{}\"", *text);
  std::ostringstream out;
  node.visit([&](auto&& n) { out << n; });
  return out.str();
}

// Later settings of a key replace earlier ones.
void add(std::vector<Override>& set, const std::string& key, const std::string& value) {
  std::erase_if(set, [&](const Override& o) { return o.key == key; });
  set.push_back({key, value});
}

void add(std::vector<Override>& set, const toml::table* table) {
  if (!table) return;
  for (auto&& [key, value] : *table) add(set, std::string(key.str()), value_text(value));
}

// What figures and curves say about runs; a curve says what differs from its figure.
struct Defaults {
  RunDefinition run;
  std::optional<RunDefinition> reference;
  bool follows = false;  // what varies, varies in the reference, too
  const toml::table* vary = nullptr;
  std::vector<const toml::table*> cases;
  std::string x, y;
  std::optional<double> step_from;
};

const std::vector<std::string> run_keys{"model", "set", "vary", "cases", "reference", "x", "y", "from"};

std::vector<std::string> with_run_keys(std::vector<std::string> keys) {
  keys.insert(keys.end(), run_keys.begin(), run_keys.end());
  return keys;
}

std::string in_folder_of(const std::string& file, const std::string& model) {
  return (std::filesystem::path(file).parent_path() / model).lexically_normal().string();
}

RunDefinition run_of(const Section& s, RunDefinition run) {
  if (s.has("model")) run.model = in_folder_of(s.path(), s.text("model"));
  add(run.set, s.table("set"));
  return run;
}

Defaults defaults_of(const Section& s, Defaults d) {
  if (s.has("model")) d.run.model = in_folder_of(s.path(), s.text("model"));
  add(d.run.set, s.table("set"));
  if (s.has("vary")) d.vary = s.table("vary"), d.cases.clear();
  if (s.has("cases")) d.cases = s.tables("cases"), d.vary = nullptr;
  if (const toml::table* t = s.table("reference")) {
    const Section r(*t, s.path(), "a reference", {"model", "set", "follows"});
    d.reference = run_of(r, RunDefinition{d.run.model, {}});
    d.follows = r.flag("follows");
  }
  d.x = s.text("x", d.x);
  d.y = s.text("y", d.y);
  if (s.has("from")) d.step_from = s.number("from");
  return d;
}

CurveDefinition curve_of(const Section& s, const Defaults& inherited) {
  const Defaults d = defaults_of(s, inherited);
  CurveDefinition c;
  c.name = s.text("name");
  const double panel = s.number("panel").value_or(1);
  if (!(panel >= 0) || panel > 100) s.fail("is in a panel, panel = 1, or in none, panel = 0");
  if (panel >= 1) c.panel = static_cast<std::size_t>(panel) - 1;
  c.x = d.x;
  c.y = d.y;
  if (d.reference && !d.follows) c.references.push_back(*d.reference);
  c.step_from = d.step_from;
  if (c.y.empty()) s.fail("needs y, as in y = \"energy\"");
  if (d.run.model.empty() && d.cases.empty()) s.fail("needs a model, as in model = \"pendulum.toml\"");
  if (d.vary) {
    if (d.vary->size() != 1) s.fail("varies one key, as in vary = { \"integrate.step\" = [0.1, 0.05] }");
    c.points = true;
    for (auto&& [key, list] : *d.vary) {
      c.values = s.numbers(list, "vary");
      for (const double v : c.values) {
        RunDefinition run = d.run;
        add(run.set, std::string(key.str()), fmt::format("{}", v));
        c.runs.push_back(std::move(run));
        if (!d.reference || !d.follows) continue;
        c.references.push_back(*d.reference);
        add(c.references.back().set, std::string(key.str()), fmt::format("{}", v));
      }
    }
  } else if (!d.cases.empty()) {
    c.points = true;
    for (const toml::table* t : d.cases) {
      const Section one(*t, s.path(), "a case", {"name", "model", "set"});
      c.names.push_back(one.text("name"));
      c.runs.push_back(run_of(one, d.run));
    }
  } else {
    c.runs.push_back(d.run);
  }
  if (c.x.empty() && !c.points) c.x = "t";
  return c;
}

ClaimDefinition claim_of(const Section& s, const std::vector<CurveDefinition>& curves) {
  ClaimDefinition c;
  c.of = s.text("of", curves.size() == 1 ? curves[0].name : "");
  c.against = s.text("against");
  c.measure = s.text("measure");
  c.at = s.number("at");
  if (s.has("over")) {
    const std::vector<double> range = s.numbers("over");
    if (range.size() != 2) s.fail("has over = [lowest x, highest x]");
    c.from = range[0];
    c.to = range[1];
  }
  c.is = s.number("is");
  c.below = s.number("below");
  c.above = s.number("above");
  c.within = s.number("within").value_or(0);
  c.paper = s.number("paper");
  c.says = s.text("says");
  if (!c.is && !c.below && !c.above) s.fail("needs is, below or above");
  return c;
}

PanelDefinition panel_of(const Section& s) {
  PanelDefinition p;
  p.title = s.text("title");
  p.x_label = s.text("across");
  p.y_label = s.text("up");
  const std::string log = s.text("log");
  p.log_x = log.find('x') != std::string::npos;
  p.log_y = log.find('y') != std::string::npos;
  p.equal = s.flag("equal");
  p.slopes = s.numbers("slopes");
  return p;
}

FigureDefinition figure_of(const toml::table& table, const std::string& path, const std::string& paper) {
  const Section s(table, path, "a figure",
                  with_run_keys({"id", "title", "shows", "correction", "remark", "slow", "table", "across", "up", "log",
                                 "equal", "slopes", "panel", "curve", "scene", "claim"}));
  FigureDefinition f;
  f.id = s.text("id");
  f.paper = paper;
  f.title = s.text("title");
  f.shows = s.text("shows");
  f.correction = s.text("correction");
  f.remark = s.text("remark");
  f.slow = s.flag("slow");
  f.table = s.flag("table");
  if (f.id.empty()) s.fail("needs an id, as in id = \"spark/6.1\"");
  for (const toml::table* t : s.tables("panel"))
    f.panels.push_back(panel_of(Section(*t, path, "a panel", {"title", "across", "up", "log", "equal", "slopes"})));
  if (f.panels.empty()) {
    f.panels.push_back(panel_of(s));
    f.panels[0].title.clear();
  }
  const Defaults defaults = defaults_of(s, {});
  for (const toml::table* t : s.tables("curve"))
    f.curves.push_back(curve_of(Section(*t, path, "a curve", with_run_keys({"name", "panel"})), defaults));
  if (const toml::table* t = s.table("scene")) {
    const Section scene(*t, path, "a scene", {"model", "set", "times", "particle"});
    f.scene = SceneDefinition{run_of(scene, defaults.run), scene.numbers("times"),
                              static_cast<int>(scene.number("particle").value_or(0))};
  }
  for (const toml::table* t : s.tables("claim")) {
    const Section claim(*t, path, "a claim",
                        {"of", "against", "measure", "at", "over", "is", "below", "above", "within", "paper", "says"});
    f.claims.push_back(claim_of(claim, f.curves));
  }
  for (const CurveDefinition& c : f.curves)
    if (c.panel && *c.panel >= f.panels.size())
      s.fail(fmt::format("has {} panels; '{}' is in another", f.panels.size(), c.name));
  return f;
}

}  // namespace

std::vector<FigureDefinition> read_figures(const std::string& path) {
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& e) {
    throw InputError(fmt::format("{}:{}: {}", path, e.source().begin.line, std::string(e.description())));
  }
  const Section s(file, path, "a file of figures", {"paper", "figure"});
  std::vector<FigureDefinition> figures;
  for (const toml::table* t : s.tables("figure")) figures.push_back(figure_of(*t, path, s.text("paper")));
  return figures;
}

}  // namespace hinge::cli
