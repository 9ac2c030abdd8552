// Claims about the table of keys: the reference pages are its text, its examples can be read, its defaults are those
// of the library, its words choose what they say; and complaints point at the place in the file.
#include "model/keys.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include "hinge/model.hpp"
#include "places.hpp"

namespace hinge::keys_test {
namespace {

const std::string opening = "<!-- keys: ", closing = "<!-- end of keys -->\n";

// The page with its tables of keys as they have to be: <!-- keys: integrate -->, or <!-- keys: initial of a dae -->.
std::string with_tables(const std::string& page, std::set<const SectionInfo*>& seen) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t mark = page.find(opening); mark != std::string::npos; mark = page.find(opening, at)) {
    const std::size_t line_end = page.find('\n', mark) + 1;
    std::string name = page.substr(mark + opening.size(), page.find(" -->", mark) - mark - opening.size()), system;
    if (const auto of = name.find(" of a "); of != std::string::npos) {
      system = name.substr(of + 6);
      name = name.substr(0, of);
    }
    const SectionInfo* section = find_section(name, system);
    EXPECT_NE(section, nullptr) << name;
    if (!section) return page;
    seen.insert(section);
    text += page.substr(at, line_end - at) + section_table(*section);
    at = page.find(closing, line_end);
  }
  return text + page.substr(at);
}

TEST(Keys, ReferencePagesAreTheTableOfKeys) {
  std::set<const SectionInfo*> seen;
  for (const std::string name : {"docs/model-file.md", "docs/multibody.md"}) {
    const std::string path = HINGE_EXAMPLES "/../" + name;
    std::stringstream page;
    page << std::ifstream(path).rdbuf();
    const std::string wanted = with_tables(page.str(), seen);
    if (std::getenv("HINGE_WRITE_TABLES"))
      std::ofstream(path) << wanted;
    else
      EXPECT_TRUE(page.str() == wanted) << name << " differs from src/model/keys.cpp; make docs-tables writes it anew";
  }
  // nothing is left out but the tables of families and names, which are prose
  const std::set<std::string> prose = {"names",
                                       "by coordinate",
                                       "values",
                                       "constraints",
                                       "equations",
                                       "pairs",
                                       "exact",
                                       "output.momentum",
                                       "event",
                                       "initial",
                                       "initial.bodies",
                                       "lagrangian.bodies",
                                       "lagrangian.bodies, a list"};
  for (const SectionInfo& section : model_sections())
    EXPECT_TRUE(seen.count(&section) || prose.count(section.name)) << "no table of [" << section.name << "]";
}

TEST(Keys, ExamplesAreToml) {
  for (const SectionInfo& section : model_sections())
    for (const KeyInfo& key : section.keys) {
      if (key.example.empty()) continue;
      EXPECT_NO_THROW(static_cast<void>(toml::parse("value = " + key.example)))
          << section.name << "." << key.option.name;
    }
}

TEST(Keys, SectionsThatAreMeantExist) {
  for (const SectionInfo& section : model_sections())
    for (const KeyInfo& key : section.keys)
      for (const std::string& inside : {key.inside, key.elements}) {
        bool found = inside.empty();
        for (const SectionInfo& other : model_sections()) found = found || other.name == inside;
        EXPECT_TRUE(found) << section.name << "." << key.option.name << " -> " << inside;
      }
}

const KeyInfo& key(const std::string& section, const std::string& name) {
  return *find_section(section, "multibody")->find(name);
}

TEST(Keys, DefaultsAreThoseOfTheLibrary) {
  const SimulationOptions o;
  EXPECT_EQ(std::stod(key("integrate", "start").option.default_value), o.start);
  EXPECT_EQ(std::stoi(key("integrate", "max_iterations").option.default_value), o.solver.max_iterations);
  EXPECT_EQ(std::stoi(key("output", "every").option.default_value), o.every);
  EXPECT_EQ(key("integrate", "newton").option.default_value, "automatic");
  EXPECT_EQ(o.solver.newton, SolverOptions::Newton::automatic);
  EXPECT_EQ(o.solver.linear_algebra, LinearAlgebra::automatic);
  EXPECT_EQ(Start{}.consistent, Consistency::check);
  EXPECT_EQ(Event{}.direction, Event::Direction::both);
}

const std::string pendulum = R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic     = "dot(q',q')/2"
constraints = ["dot(q,q) - 1"]
[initial]
position = { q = [1, 0] }
[integrate]
step = 0.01
end = 1
)toml";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    parse_model(text, "m.toml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Keys, WordsChooseWhatTheySay) {
  const Model m = parse_model(
      with(pendulum, "step =", "newton = \"full\"\nlinear_algebra = \"sparse\"\nmax_iterations = 7\nstep =") +
          "[[event]]\nroot = \"q[0]\"\ndirection = \"falling\"\naction = \"stop\"\n",
      "m.toml");
  EXPECT_EQ(m.simulation.solver.newton, SolverOptions::Newton::full);
  EXPECT_EQ(m.simulation.solver.linear_algebra, LinearAlgebra::sparse);
  EXPECT_EQ(m.simulation.solver.max_iterations, 7);
  EXPECT_EQ(m.events[0].direction, Event::Direction::falling);
  EXPECT_EQ(m.events[0].action, Event::Action::stop);
}

// line:column of a complaint is the place of what is wrong: of a value, or of a key that is unknown.
TEST(Keys, ComplaintsPointAtLineAndColumn) {
  EXPECT_EQ(complaint(pendulum), "");
  const auto place_of = [](const std::string& text, const std::string& what) {
    const std::string before = text.substr(0, text.find(what));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    return "m.toml:" + std::to_string(line) + ":" + std::to_string(before.size() - before.rfind('\n')) + ": ";
  };
  const auto points_at = [&](const std::string& from, const std::string& to, const std::string& what) {
    const std::string text = with(pendulum, from, to);
    EXPECT_EQ(complaint(text).rfind(place_of(text, what), 0), 0U) << complaint(text) << "\n" << place_of(text, what);
  };
  points_at("kinetic ", "kinetik ", "kinetik");
  points_at("{ q = [1, 0] }", "{ q = [1, 0], p = 2 }", "p = 2");
  points_at("[1, 0]", "[1, \"x\"]", "\"x\"");
  points_at("0.01", "true", "true");
  points_at("0.01", "-0.01", "-0.01");
  points_at("= 1\n", "= \"unknown\"\n", "\"unknown\"");
  points_at("[initial]\nposition = { q = [1, 0] }", "[initial]", "[initial]");
  points_at("\"dot(q,q) - 1\"", "\"dot(q,q) - 1\", 7", "7");
}

TEST(Keys, NumbersAreInTheirRange) {
  for (const auto& [key, value, words] : {std::tuple{"step", "0", "it must be positive, as in step = 0.01"},
                                          {"max_step", "-1", "it must be positive"},
                                          {"max_iterations", "0", "it must be at least 1"}})
    EXPECT_NE(complaint(with(pendulum, "step = 0.01", std::string(key) + " = " + value)).find(words), std::string::npos)
        << key;
}

}  // namespace
}  // namespace hinge::keys_test
