// [functions] and [tables] of a model file: what they do in a run, and what is said of bad ones.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "complaint.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "run_text.hpp"

namespace hinge::function_section_test {
namespace {

using test::mentions;
using test::run;

Report run(const std::string& text) { return test::run_text(text); }

// A mass 1 that a force moves from rest.
std::string pushed(const std::string& force, const std::string& more, const std::string& integrate) {
  return fmt::format(
      "{}\n[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{}\"]\n[initial]\nposition = {{ x = 0 }}\n"
      "[integrate]\n{}\n",
      more, force, integrate);
}

std::string complaint(const std::string& text, const std::string& name = "m.toml") {
  try {
    parse_model(text, name);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

TEST(UserFunctions, HaveExactDerivativesInAModel) {
  // an oscillator whose potential is a function of the user's: force -x, energy kept
  const std::string text =
      "[functions]\nhalf = \"a -> a/2\"\nspring = \"(u, k) -> half(k)*u^2\"\n[lagrangian]\ncoordinates = [\"x\"]\n"
      "kinetic = \"half(1)*x'^2\"\npotential = \"spring(x, 4)\"\n[initial]\nposition = { x = 1 }\n"
      "[integrate]\nmethod = \"explicit\"\ntolerance = 1e-10\nend = 2\n";
  const Report r = run(text);
  EXPECT_NEAR(r.final.y[0], std::cos(4.0), 1e-8);
  EXPECT_NEAR(r.final.z[0], -2 * std::sin(4.0), 1e-8);
}

TEST(Tables, AdaptiveMethodsStepOntoKnotsOfTime) {
  // f = 1 up to t = 1, then a ramp to 3 at t = 2, then 3: v(4) = 1 + 2 + 6, x by hand
  const std::string table = "[tables]\npush = { points = [[0, 1], [1, 1], [2, 3], [4, 3]] }\n";
  const double v1 = 1, x1 = 0.5, v2 = v1 + 2, x2 = x1 + v1 + 0.5 + 1.0 / 3, x4 = x2 + 2 * v2 + 6;
  for (const auto& [method, error] : {std::pair{"explicit", 1e-12}, {"radau", 1e-12}, {"bdf", 1e-4}}) {
    const Report r = run(pushed("push(t)", table, fmt::format("method = \"{}\"\ntolerance = 1e-6\nend = 4", method)));
    EXPECT_NEAR(r.final.z[0], 9, error) << method;
    EXPECT_NEAR(r.final.y[0], x4, 4 * error) << method;
    EXPECT_LE(r.counters.rejected, 6) << method;
  }
  // steps of given length are split there
  const Report r = run(pushed("push(t)", table, "method = \"gauss-lobatto\"\nstages = 3\nstep = 0.7\nend = 4"));
  EXPECT_NEAR(r.final.z[0], 9, 1e-13);
  EXPECT_NEAR(r.final.y[0], x4, 1e-12);
}

TEST(Tables, KnotsOfTheMotionAreFound) {
  // a spring given by points: -2 x up to x = 1, then -2 - 6 (x - 1); from x = 0 with the speed 3 and back
  const std::string table =
      "[tables]\nspring = { points = [[-1, 2], [0, 0], [1, -2], [2, -8]], beyond = \"linear\" }\n";
  const auto model = [&](const std::string& method) {
    return fmt::format(
        "{}[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"spring(x)\"]\n[initial]\n"
        "position = {{ x = 0 }}\nvelocity = {{ x = 3 }}\n[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\n"
        "end = 3\n[output]\nquantities = {{ energy_now = \"x'^2/2 + if(x < 1, x^2, 1 + 2*(x-1) + 3*(x-1)^2)\" }}\n",
        table, method);
  };
  const double w = std::sqrt(2.0), to_knot = std::asin(w / 3) / w, v = std::sqrt(9 - 2.0);
  // beyond the knot: u'' = -2 - 6 u
  const double k = std::sqrt(6.0), beyond = 2 * (std::numbers::pi / 2 - std::atan2(2 / k, v)) / k;
  const double back = 2 * to_knot + beyond;  // at x = 0 with the speed -3
  for (const auto& [method, error] : {std::pair{"explicit", 1e-8}, {"radau", 1e-7}, {"bdf", 1e-5}}) {
    const Report r = run(model(method));
    const double t = 3 - back;
    ASSERT_LT(w * t, std::numbers::pi);
    EXPECT_NEAR(r.final.y[0], -3 / w * std::sin(w * t), error) << method;
  }
}

TEST(Tables, ACamThatRepeatsIsPeriodic) {
  const std::string table =
      "[tables]\ncam = { points = [[0, 0], [\"pi/2\", 1], [\"pi\", 0], [\"2*pi\", 0]], kind = \"cubic\", beyond = "
      "\"periodic\" }\n";
  const Report r = run(
      fmt::format("{}[lagrangian]\ncoordinates = [\"a\", \"y\"]\nkinetic = \"a'^2/2 + y'^2/2\"\nconstraints = "
                  "[\"y - cam(a)\"]\n[initial]\nposition = {{ a = 0.3, y = \"cam(0.3)\" }}\nvelocity = {{ a = 5 }}\n"
                  "consistent = \"project\"\n[integrate]\nmethod = \"explicit\"\ntolerance = 1e-8\nend = 10\n",
                  table));
  EXPECT_GT(r.final.y[0], 20);  // several turns
  EXPECT_LT(r.constraint, 1e-12);
}

TEST(Tables, StepsOfFloorAreHitByTimeAndByTheMotion) {
  // floor(t): v(3.5) = 1 + 2 + 3/2
  Report r = run(pushed("floor(t)", "", "method = \"explicit\"\ntolerance = 1e-6\nend = 3.5"));
  EXPECT_NEAR(r.final.z[0], 4.5, 1e-12);
  // a short pulse, 1000 times
  r = run(pushed("pulse(t, 0.01, 0.0001)", "", "method = \"explicit\"\ntolerance = 1e-6\nend = 10"));
  EXPECT_NEAR(r.final.z[0], 0.1, 1e-10);
  r = run(pushed("pulse(t, 0.01, 0.0001)", "", "method = \"rattle\"\nstep = 0.003\nend = 10"));
  EXPECT_NEAR(r.final.z[0], 0.1, 1e-10);
  // x'' = 1 + floor(x): x = t^2/2 up to 1, then twice the acceleration
  r = run(pushed("1 + floor(x)", "", "method = \"explicit\"\ntolerance = 1e-9\nend = 1.9"));
  const double t1 = std::sqrt(2.0), v1 = t1, s = 1.9 - t1;
  EXPECT_NEAR(r.final.y[0], 1 + v1 * s + s * s, 1e-8);
  // mod of an angle that turns
  r = run(
      "[mechanical]\ncoordinates = [\"a\"]\nmass = [1]\nforce = [\"if(mod(a, 2*pi) < pi, 1, "
      "-1)\"]\n[initial]\nposition "
      "= { a = 0 }\nvelocity = { a = 4 }\n[integrate]\nmethod = \"explicit\"\ntolerance = 1e-9\nend = 20\n[output]\n"
      "quantities = { e = \"a'^2/2 - if(mod(a, 2*pi) < pi, mod(a, 2*pi), 2*pi - mod(a, 2*pi))\" }\n");
  EXPECT_NEAR(r.quantities[0].value[0], 8, 1e-6);
}

TEST(Tables, FromAFileInTheFolderOfTheModel) {
  const auto folder = std::filesystem::temp_directory_path() / "hinge-table-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cam.csv") << "# a cam\nangle; note; lift\n0; 1; 0\r\n\n1; 2; 2\n2; 3; 2.5\n";
  const auto model = [&](const std::string& entry) {
    return pushed("cam(t)", "[tables]\ncam = { file = \"cam.csv\"" + entry + " }\n",
                  "method = \"explicit\"\ntolerance = 1e-9\nend = 2");
  };
  const std::string name = (folder / "m.toml").string();
  EXPECT_NEAR(run(parse_model(model(", columns = [\"angle\", \"lift\"]"), name)).final.z[0], 1 + 2.25, 1e-12);
  EXPECT_NEAR(run(parse_model(model(", columns = [0, 2]"), name)).final.z[0], 3.25, 1e-12);
  EXPECT_NEAR(run(parse_model(model(""), name)).final.z[0], 4, 1e-12);
  EXPECT_TRUE(mentions(complaint(model(", columns = [\"angle\", \"lifd\"]"), name), "did you mean 'lift'?"));
  EXPECT_TRUE(mentions(complaint(model(", columns = [0, 5]"), name), "line 3 of the file has no number in column 5"));
  std::ofstream(folder / "bad.csv") << "0, 1\n1, x\n";
  const auto bad = [&](const std::string& file) {
    return complaint(pushed("1", "[tables]\nc = { file = \"" + file + "\" }\n", "step = 0.1\nend = 1"), name);
  };
  EXPECT_TRUE(mentions(bad("bad.csv"), "line 2 of the file has no number in column 1"));
  EXPECT_TRUE(mentions(bad("none.csv"), "there is no file"));
  EXPECT_TRUE(mentions(bad("/etc/passwd"), "lies outside of the folder of the model"));
  EXPECT_TRUE(mentions(bad("../m.csv"), "lies outside of the folder of the model"));
  std::filesystem::remove_all(folder);
}

TEST(Tables, DecimalCommasAreReadOrAskedAbout) {
  const auto folder = std::filesystem::temp_directory_path() / "hinge-comma-test";
  std::filesystem::create_directories(folder);
  const std::string name = (folder / "m.toml").string();
  const auto model = [&](const std::string& text, const std::string& entry = "") {
    std::ofstream(folder / "c.csv") << text;
    return pushed("c(t)", "[tables]\nc = { file = \"c.csv\"" + entry + " }\n",
                  "method = \"explicit\"\ntolerance = 1e-9\nend = 2");
  };
  // the same table as written in many places; the integral of 0.5 + 1.25 t is 3.5
  const double exact = run(parse_model(model("0, 0.5\n2, 3.0\n"), name)).final.z[0];
  EXPECT_NEAR(exact, 3.5, 1e-12);
  for (const char* text : {"0,0;0,5\n2,0;3,0\n", "x;y\n0;0,5\n2;3\n", "0,0\t0,5\r\n2,0\t3\r\n", "0.0;0,5\n2,0;3.0\n",
                           "0 0.5\n2 3\n", "0,.5\n2,3.\n", "+0,0 ; 5,0e-1\n2 ; 30,0e-1\n"})
    EXPECT_NEAR(run(parse_model(model(text), name)).final.z[0], exact, 1e-12) << text;
  EXPECT_TRUE(
      mentions(complaint(model("0,0,0,5\n2,0,3,0\n"), name), "line 1 of the file has 4 numbers, or 2 with decimal"));
  EXPECT_NEAR(run(parse_model(model("0,0,0,5\n2,0,3,0\n", ", columns = [0, 3]"), name)).final.z[0], 5, 1e-12);
  for (const char* text : {"0,0 0,5\n2,0 3,0\n", "0;0,5\n2;1.234,5\n", "0;0,5\n2;1,234,5\n"})
    EXPECT_TRUE(mentions(complaint(model(text), name), "with decimal commas numbers are separated")) << text;
  std::filesystem::remove_all(folder);
}

TEST(Tables, WhatIsWrongIsSaid) {
  const auto of_table = [](const std::string& entry) {
    return complaint(pushed("1", "[tables]\nc = " + entry + "\n", "step = 0.1\nend = 1"));
  };
  const auto of_function = [](const std::string& entry, const std::string& force = "1") {
    return complaint(pushed(force, "[functions]\n" + entry + "\n", "step = 0.1\nend = 1"));
  };
  const std::tuple<std::string, const char*> cases[] = {
      {of_table("{ points = [[0, 1], [0, 2]] }"),
       "m.toml:2: tables.c: x has to rise from point to point, but point 1 has x = 0 after 0"},
      {of_table("{ points = [[0, 1]] }"), "a table needs at least two points"},
      {of_table("{ points = [0, 1] }"), "expected a list of points [x, y]"},
      {of_table("{ x = [0, 1] }"), "'y' is missing"},
      {of_table("{ x = [0, 1], y = [1, 2, 3] }"), "x has 2 numbers and y has 3"},
      {of_table("{ }"), "give the points as points ="},
      {of_table("3"), "expected a table"},
      {of_table("{ points = [[0, 1], [1, 2]], kind = \"cubik\" }"), "did you mean \"cubic\"?"},
      {of_table("{ points = [[0, 1], [1, 2]], ends = \"natural\" }"), "only kind = \"cubic\" has a choice of ends"},
      {of_table("{ points = [[0, 1], [1, 2]], beyond = \"periodic\" }"), "a periodic table ends where it begins"},
      {of_table("{ points = [[0, 1], [1, 2]], columns = [0, 1] }"), "columns are those of a file"},
      {of_table("{ points = [[0, 1], [1, 2]], kinds = 1 }"), "unknown key"},
      {of_table("{ points = [[0, \"t\"], [1, 2]] }"), "unknown name 't'"},
      {of_function("f = \"x^2\""), "there is no '->' in it"},
      {of_function("f = \"x ->\""), "nothing stands after '->'"},
      {of_function("f = \"x, y -> x\""), "several parameters stand in parentheses"},
      {of_function("f = \"(x, x) -> x\""), "the parameter 'x' comes twice"},
      {of_function("f = \"(2x) -> x\""), "'2x' is not a name"},
      {of_function("sin = \"x -> x\""), "'sin' already means something"},
      {of_function("pulse = \"x -> x\""), "'pulse' is a function of the language"},
      {of_function("f = \"x -> f(x)\"", "f(x)"), "f calls itself"},
      {of_function("f = \"x -> y\"", "f(x)"), "in the function f, column 1 of \"y\": unknown name 'y'"},
      {of_function("f = 3"), "functions.f"},
  };
  for (const auto& [message, words] : cases) EXPECT_TRUE(mentions(message, words)) << message << "\n  not: " << words;
}

TEST(Tables, BeyondTheEndsWithoutALawARunFailsAndNamesTheTable) {
  const std::string table = "[tables]\npush = { points = [[0, 1], [1, 1]] }\n";
  for (const char* integrate :
       {"method = \"explicit\"\ntolerance = 1e-6\nend = 4", "method = \"rattle\"\nstep = 0.1\nend = 4"})
    for (const char* force : {"push(t)", "push(x)"}) {
      try {
        run(pushed(force, table, integrate));
        ADD_FAILURE() << integrate << force;
      } catch (const StepFailure& e) {
        EXPECT_TRUE(mentions(e.what(), "push")) << e.what();
      }
    }
}

}  // namespace
}  // namespace hinge::function_section_test
