// Numbers with units: converted as the definitions say, refused with the nearest unit where they are misspelt.
#include "model/units.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "complaint.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::units_test {
namespace {

using test::mentions;
constexpr double pi = std::numbers::pi;

TEST(Units, AreConvertedAndRoundedOnce) {
  const Scope scope;
  const std::pair<const char*, double> cases[] = {{"50 mm", 0.05},
                                                  {"35mm", 0.035},
                                                  {"-2.5 kN/m", -2500},
                                                  {"3 deg", 3 * pi / 180},
                                                  {"90°", pi / 2},
                                                  {"1200 rpm", 1200 * 2 * pi / 60},
                                                  {"0.3 g", 0.0003},
                                                  {"7.85 g/cm^3", 7850},
                                                  {"210 GPa", 2.1e11},
                                                  {"1e3 kg m^2", 1000},
                                                  {"5 N m/rad", 5},
                                                  {"5 N*m", 5},
                                                  {"9.81 m/s^2", 9.81},
                                                  {"9.81 m s^-2", 9.81},
                                                  {"4 W/(m K)", 4},
                                                  {"36 km/h", 10},
                                                  {"1 in", 0.0254},
                                                  {"1 ft", 0.3048},
                                                  {"1 lb", 0.45359237},
                                                  {"2 min", 120},
                                                  {"5 ms", 0.005},
                                                  {"12 V", 12},
                                                  {"3 mH", 0.003},
                                                  {"30 %", 0.3},
                                                  {"  + 4 us ", 4e-6},
                                                  {"1 lbf", 4.4482216152605},
                                                  {"1 psi", 6894.757293168361},
                                                  {"1 mi/h", 0.44704}};
  for (const auto& [text, value] : cases) {
    const auto read = read_quantity(text, scope);
    ASSERT_TRUE(read) << text;
    EXPECT_NEAR(read->value, value, 2e-16 * std::abs(value)) << text;
  }
  EXPECT_EQ(read_quantity("50 mm", scope)->value, 0.05);
  EXPECT_EQ(read_quantity("35 mm", scope)->value, 0.035);
}

TEST(Units, ExpressionsStayExpressions) {
  const Scope scope;
  for (const char* text : {"2*m1", "50", "1e-3", "m", "2/m", "(3 mm)", "1 or 0", "1 and x", "", "-", "x + 2", "2^3"})
    EXPECT_FALSE(read_quantity(text, scope)) << text;
}

std::string model(const std::string& parameters, const std::string& step = "0.01") {
  return fmt::format(
      "[parameters]\n{}\n[mechanical]\ncoordinates = [\"x\"]\nmass = [\"m\"]\nforce = "
      "[\"-2*m*x\"]\n[initial]\nposition = "
      "{{ x = \"50 mm\" }}\n[integrate]\nstep = {}\nend = \"1 s\"\nmethod = \"rattle\"\n",
      parameters, step);
}

std::string complaint(const std::string& text, const std::vector<Override>& overrides = {}) {
  try {
    parse_model(text, "m.toml", overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

TEST(Units, AreReadWhereverANumberIs) {
  const Model m = parse_model(model("m = \"200 g\"", "\"10 ms\""), "m.toml");
  EXPECT_EQ(m.start.position[0], 0.05);
  EXPECT_EQ(m.simulation.step, 0.01);
  EXPECT_EQ(m.end, 1);
  const Model set =
      parse_model(model("m = 1"), "m.toml", {{"initial.position.x", "3 cm", ""}, {"integrate.step", "2 ms", ""}});
  EXPECT_EQ(set.start.position[0], 0.03);
  EXPECT_EQ(set.simulation.step, 0.002);
}

TEST(Units, WhatIsWrongIsSaid) {
  const std::tuple<std::string, const char*> cases[] = {
      {complaint(model("m = \"2 kgg\"")), "m.toml:2: parameters.m: \"2 kgg\": 'kgg' is no unit, did you mean 'kg'?"},
      {complaint(model("m = \"2 newton\"")), "did you mean 'N'?"},
      {complaint(model("m = \"3 kg\"", "\"5 mm\"")), "time is expected here (s), but \"5 mm\" is in m"},
      {complaint(model("m = \"2 kg + 1\"")), "a number with a unit stands alone, but '+ 1' follows"},
      {complaint(model("k = 2\nm = \"3 k\"")), "to multiply by the name of the model, write 3*k"},
      {complaint(model("m = \"20 degC\"")), "give the temperature in K"},
      {complaint(model("m = \"2 kg/\"")), "a unit is expected after 'kg/'"},
      {complaint(model("m = \"2 kg^x\"")), "the exponent of a unit is a whole number"},
      {complaint(model("m = \"2 (kg\"")), "m.toml:2: parameters.m"},
      {complaint(model("m = 1"), {{"integrate.step", "2 mss", ""}}),
       "--set integrate.step: \"2 mss\": 'mss' is no unit"},
  };
  for (const auto& [message, words] : cases) EXPECT_TRUE(mentions(message, words)) << message << "\n  not: " << words;
}

// A plural is no product with seconds, and the same letters are nearer than two units.
TEST(Units, PluralsAndOtherCapitalsAreKnown) {
  const Scope scope;
  const auto meant = [&](const std::string& written) -> std::string {
    try {
      return read_quantity("3 " + written, scope) ? "" : "an expression";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  for (const std::string name : {"Ohm", "deg", "rev", "turn", "rpm", "bar", "mph", "rad", "kOhm"})
    EXPECT_TRUE(mentions(meant(name + "s"), fmt::format("'{0}s' is no unit, did you mean '{0}'?", name))) << name;
  Draw draw(5);
  for (const std::string name : {"mH", "kW", "kPa", "Hz", "kHz", "Nm", "mV", "kg", "kJ", "Ohm", "kmh", "rpm"})
    for (int k = 0; k < 8; ++k) {
      std::string written = name;
      for (char& c : written)
        if (draw.chance(0.5)) c = static_cast<char>(c ^ 0x20);
      if (const std::string complaint = meant(written); !complaint.empty()) {
        EXPECT_TRUE(mentions(complaint, fmt::format("did you mean '{}'?", name))) << written << ": " << complaint;
      }
    }
  EXPECT_TRUE(mentions(meant("Ns"), "did you mean 'N s'?"));
  EXPECT_TRUE(mentions(meant("kNs"), "did you mean 'kN s'?"));
}

TEST(Keys, ReferenceOfUnitsIsTheTableOfUnits) {
  const std::string path = HINGE_EXAMPLES "/../docs/model-file.md", opening = "<!-- units -->\n",
                    closing = "<!-- end of units -->";
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  const std::string text = page.str();
  const std::size_t first = text.find(opening) + opening.size(), last = text.find(closing);
  ASSERT_NE(last, std::string::npos);
  if (std::getenv("HINGE_WRITE_TABLES"))
    std::ofstream(path) << text.substr(0, first) + unit_table() + text.substr(last);
  else
    EXPECT_EQ(text.substr(first, last - first), unit_table()) << "make docs-tables writes it anew";
}

}  // namespace
}  // namespace hinge::units_test
