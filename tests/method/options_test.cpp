// Tables of options: what they declare is what is read, what is refused and what the documentation says.
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::options_test {
namespace {

const OptionInfo* option_of(const std::string& method, const std::string& name) {
  static std::vector<OptionInfo> list;
  list = method_options(method, {});
  for (const OptionInfo& option : list)
    if (option.name == name) return &option;
  return nullptr;
}

// The option at fault, and what is said about it.
std::pair<std::string, std::string> refused(const std::string& method, const Options& options) {
  try {
    make_method(method, options);
  } catch (const OptionError& e) {
    return {e.option, e.what()};
  }
  return {};
}

TEST(MethodOptions, DefaultsAreAllowed) {
  for (const MethodInfo& info : methods())
    for (const OptionInfo& option : info.options) {
      if (option.default_value.empty()) continue;
      SCOPED_TRACE(info.name + " " + option.name);
      const bool number = option.type == OptionType::number || option.type == OptionType::integer;
      if (number)
        EXPECT_NO_THROW(check_option(option, std::stod(option.default_value)));
      else if (option.type == OptionType::boolean)
        EXPECT_TRUE(option.default_value == "true" || option.default_value == "false");
      else
        EXPECT_NO_THROW(check_option(option, option.default_value));
      EXPECT_FALSE(option.meaning.empty());
    }
}

// The defaults of the C++ structures are those of the tables.
TEST(MethodOptions, DefaultsAreThoseOfTheStructures) {
  const std::vector<std::pair<std::string, MethodChoice>> list = {{"symplectic-euler", symplectic_euler()},
                                                                  {"composition", composition(symplectic_euler())},
                                                                  {"energy-momentum", energy_momentum()},
                                                                  {"euler-maruyama", euler_maruyama()},
                                                                  {"radau", radau()},
                                                                  {"explicit", explicit_runge_kutta()},
                                                                  {"half-explicit", half_explicit()},
                                                                  {"generalized-alpha", generalized_alpha()},
                                                                  {"auto", automatic()},
                                                                  {"moreau-jean", moreau_jean()},
                                                                  {"paoli-schatzman", paoli_schatzman()},
                                                                  {"event-driven", event_driven()}};
  for (const auto& [name, choice] : list) EXPECT_EQ(make_method(name, {}).description, choice.description);
  const EnergyMomentumOptions energy;
  EXPECT_EQ(std::stod(option_of("energy-momentum", "penalty")->default_value), energy.penalty);
  EXPECT_EQ(std::stod(option_of("energy-momentum", "tolerance_constraint")->default_value), energy.tolerance);
  EXPECT_EQ(std::stoi(option_of("energy-momentum", "max_augmentations")->default_value), energy.max_augmentations);
  const FormulationOptions baumgarte;
  for (const char* method : {"bdf", "radau", "explicit"}) {
    EXPECT_EQ(std::stod(option_of(method, "alpha")->default_value), baumgarte.alpha);
    EXPECT_EQ(std::stod(option_of(method, "beta")->default_value), baumgarte.beta);
  }
  const MoreauJeanOptions contacts;
  EXPECT_EQ(std::stod(option_of("moreau-jean", "activation")->default_value), contacts.activation);
  EXPECT_LT(contacts.recover, 0);  // by the size of the bodies, as "default" says
  EXPECT_TRUE(option_of("moreau-jean", "recover")->default_value.empty());
  EXPECT_EQ(std::stoi(option_of("moreau-jean", "facets")->default_value), contacts.solving.facets);
  EXPECT_EQ(std::stod(option_of("event-driven", "v_stop")->default_value), EventDrivenOptions{}.v_stop);
  EXPECT_EQ(std::stod(option_of("event-driven", "base_tolerance")->default_value), EventDrivenOptions{}.base_tolerance);
}

TEST(MethodOptions, ErrorsNameTheOption) {
  using P = std::pair<std::string, std::string>;
  EXPECT_EQ(refused("gauss-lobatto", {{"stages", 13.0}}),
            P("stages", "'stages' is 13; it must be 1 to 12 stages, 2 is usual"));
  EXPECT_EQ(refused("gauss-lobatto", {{"stages", 2.5}}), P("stages", "'stages' takes a whole number"));
  EXPECT_EQ(refused("energy-momentum", {{"penalty", 0.0}}),
            P("penalty", "'penalty' is 0; it must be positive, 1e6 is usual"));
  EXPECT_EQ(refused("half-explicit", {{"order", 2.0}}),
            P("order", "'order' is 2; it must be 1, 3, 4 or 5, 4 is usual"));
  EXPECT_EQ(refused("composition", {{"scheme", std::string("suzuky")}}),
            P("scheme",
              "'scheme' is \"suzuky\", did you mean \"suzuki\"? choose \"suzuki\", \"triple-jump\" or \"optimised\""));
  EXPECT_EQ(refused("composition", {{"base_first", 1.0}}), P("base_first", "'base_first' takes true or false"));
  EXPECT_EQ(refused("composition", {{"scheme", 4.0}}).second, "'scheme' takes a word in quotes, such as \"suzuki\"");
  EXPECT_EQ(refused("composition", {{"base", std::string("gauss-lobatto")}, {"stages", 40.0}}).first, "stages");
  EXPECT_EQ(refused("composition", {{"base", std::string("gaus")}}).first, "base");
  EXPECT_EQ(refused("bdf", {{"alpha", 1.0}}).first, "alpha");
  EXPECT_EQ(refused("radau", {{"stages", std::string("many")}}).first, "stages");
  EXPECT_EQ(refused("event-driven", {{"base", std::string("moreau-jean")}}).first, "base");
  const auto [option, message] = refused("rattle", {{"projections", std::string("both")}});
  EXPECT_EQ(option, "projections");
  EXPECT_NE(message.find("no option 'projections', did you mean 'projection'?"), std::string::npos);
}

// true is a truth value in TOML, and one of the words here.
TEST(MethodOptions, TrueMayBeAWord) {
  EXPECT_EQ(make_method("symplectic-euler", {{"variant", true}}).description, symplectic_euler().description);
  EXPECT_EQ(refused("symplectic-euler", {{"variant", false}}).first, "variant");
}

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

// Every option of every method stands in its section of docs/methods.md, as the table of the program has it. The
// projection of methods that have none of their own is described once.
TEST(MethodOptions, DocumentationIsTheTable) {
  std::ifstream file(std::string(HINGE_EXAMPLES) + "/../docs/methods.md");
  ASSERT_TRUE(file);
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  for (const MethodInfo& info : methods()) {
    const auto begin = text.find(fmt::format("\n## `{}`\n", info.name));
    ASSERT_NE(begin, std::string::npos) << info.name;
    const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
    for (const OptionInfo& o : info.options) {
      if (o.name == "projection" && o.default_value == "none") continue;
      const std::string row = fmt::format("| `{}` |{}{} | {} |", o.name, default_text(o).empty() ? "" : " ",
                                          cell(default_text(o)), cell(meaning_text(o)));
      EXPECT_NE(section.find(row), std::string::npos) << "missing in the section of " << info.name << ":\n" << row;
    }
  }
}

MethodEntry entry_called(const std::string& name) {
  MethodInfo info{.name = name,
                  .summary = "",
                  .order = "2",
                  .multiplier_order = "1",
                  .preserves = {},
                  .options = {},
                  .reference = ""};
  return {info, [info](const GivenOptions&) {
            MethodChoice choice = rattle();
            choice.info = info;
            return choice;
          }};
}

TEST(RegisterMethod, IsKnownByItsName) {
  register_method(entry_called("own-rattle"));
  EXPECT_EQ(methods().back().name, "own-rattle");
  EXPECT_EQ(make_method("own-rattle", {{"projection", std::string("velocity")}}).description,
            "rattle, order 2, velocities projected");
  EXPECT_THROW(register_method(entry_called("own-rattle")), InputError);
  EXPECT_THROW(register_method(entry_called("rattle")), InputError);
  EXPECT_THROW(register_method({}), InputError);
}

TEST(RegisterMethod, ThreadsMayDoItWhileOthersLook) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([k] {
      register_method(entry_called(fmt::format("own-{}", k)));
      for (int i = 0; i < 20; ++i) EXPECT_EQ(make_method("rattle", {}).order, 2);
    });
  for (std::thread& t : threads) t.join();
  for (int k = 0; k < 4; ++k) EXPECT_NO_THROW(make_method(fmt::format("own-{}", k), {}));
}

}  // namespace
}  // namespace hinge::options_test
