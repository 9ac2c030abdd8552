// What a complaint recommends runs, and what many people write by mistake is answered with what they meant.
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "random_draw.hpp"
#include "run_text.hpp"

namespace hinge::remedies_test {
namespace {

using test::complaint_about;
using test::run_text;
using test::value_of;

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::string block(double mass, double friction, double speed, const std::string& law, const std::string& times) {
  return fmt::format(
      "[parameters]\nm = {}\nmu = {}\n[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"m*x'^2/2\"\n"
      "force = {{ x = \"-mu*m*9.81*{}\" }}\n[initial]\nposition = {{ x = 0 }}\nvelocity = {{ x = {} }}\n[integrate]\n"
      "{}[output]\nquantities.way = \"x\"\n",
      mass, friction, law, speed, times);
}

// Dry friction as sign(v) holds nothing at rest: steps of given length and chosen ones say the same, and what they say
// helps does, with every method that is named.
TEST(Remedies, OfFrictionThatIsWrittenAsAJumpRun) {
  Draw draw(31);
  for (int k = 0; k < 12; ++k) {
    const double mass = draw.power(-2, 2), friction = draw.number(0.1, 0.8), speed = draw.number(0.5, 4),
                 stops = speed / (friction * 9.81), way = speed * stops / 2, end = 2 * stops;
    for (const char* method : {"", "method = \"gauss-lobatto\"\n", "method = \"radau\"\n", "method = \"bdf\"\n"})
      for (const std::string& step :
           {fmt::format("step = {}\n", stops / draw.number(20, 200)), std::string("tolerance = 1e-7\n")}) {
        const bool no_tolerance = says(method, "lobatto") && says(step, "tolerance");
        if (no_tolerance) continue;
        const std::string said =
            complaint_about(block(mass, friction, speed, "sign(x')", fmt::format("{}{}end = {}\n", method, step, end)));
        EXPECT_TRUE(says(said, "tanh(v/0.001)") && says(said, "unilateral")) << method << step << said;
      }
    for (const char* method : {"auto", "radau", "bdf", "explicit", "taylor", "event-driven"}) {
      const Report smooth = run_text(block(mass, friction, speed, "tanh(x'/0.001)",
                                           fmt::format("method = \"{}\"\ntolerance = 1e-7\nend = {}\n", method, end)));
      EXPECT_NEAR(value_of(smooth, "way"), way, 0.002 * way + 0.001 * end) << method;
      EXPECT_TRUE(smooth.sound()) << method;
    }
    for (const char* how : {"method = \"event-driven\"\ntolerance = 1e-8\n", "method = \"moreau-jean\"\nstep = 1e-3\n",
                            "tolerance = 1e-8\n", "step = 1e-3\n"}) {
      const Report contact = run_text(fmt::format(
          "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"{0}*(x'^2+y'^2)/2\"\npotential = \"{0}*9.81*y\"\n"
          "unilateral = [{{ gap = \"y\", friction = {1}, slip = \"x'\" }}]\n[initial]\nposition = {{ x = 0, y = 0 }}\n"
          "velocity = {{ x = {2} }}\n[integrate]\n{3}end = {4}\n[output]\nquantities.way = \"x\"\n",
          mass, friction, speed, how, end));
      EXPECT_NEAR(value_of(contact, "way"), way, 2e-3 * way) << how;
    }
  }
}

// Friction that does not hold, and a step that is too long for another reason, are no sliding.
TEST(Remedies, AreNotThoseOfSlidingElsewhere) {
  Draw draw(32);
  for (int k = 0; k < 10; ++k) {
    const std::string said = complaint_about(
        fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\n"
                    "force = {{ x = \"-{}*sinh({}*x) + 0.1*sign(x - 100)\" }}\n[initial]\nposition = {{ x = 3 }}\n"
                    "[integrate]\nmethod = \"gauss-lobatto\"\nstep = {}\nend = 10\n",
                    draw.power(1, 3), draw.number(3, 9), draw.number(0.3, 1)));
    EXPECT_FALSE(says(said, "tanh")) << said;
  }
}

// A free mass at rest with a force that vanishes at the beginning of a step, and of every one.
TEST(Remedies, ForcesThatVanishWhereStepsBeginAreNoTrouble) {
  Draw draw(33);
  for (int k = 0; k < 20; ++k) {
    const double period = draw.power(-2, 2), start = period * draw.integer(0, 3);
    for (const char* method : {"gauss-lobatto", "lobatto-iiia-iiib", "energy-momentum", "radau"}) {
      const std::string said = complaint_about(fmt::format(
          "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{}*x'^2/2\"\nforce = {{ x = \"{}*sin(2*pi*t/{})\" }}\n"
          "[initial]\nposition = {{ x = 0 }}\n[integrate]\nmethod = \"{}\"\nstart = {}\nstep = {}\nend = {}\n",
          draw.power(-3, 3), draw.power(-3, 3), period, method, start, period, start + 10 * period));
      EXPECT_EQ(said, "") << method;
    }
  }
}

// The last state before a failure is a row, however far apart rows are.
TEST(Remedies, WhatWasReachedBeforeAFailureIsARow) {
  Draw draw(34);
  for (const char* rows : {"interval = 7.0", "every = 1000", "times = [9]"}) {
    const double when = draw.number(0.4, 0.9);
    const Model model = parse_model(
        fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nforce = {{ x = \"sqrt({} - t)\" }}\n"
                    "[initial]\nposition = {{ x = 0 }}\n[integrate]\nstep = 0.01\nend = 9\n[output]\n{}\n",
                    when, rows),
        "m.toml");
    Simulation run = model.simulation_for("");
    run.keep_rows();
    run.start(model.start);
    EXPECT_THROW(run.until(model.end), StepFailure);
    EXPECT_EQ(run.trajectory().rows(), 2u) << rows;
    EXPECT_EQ(run.trajectory().times().back(), run.state().t);
    EXPECT_GT(run.state().t, when - 0.02);
  }
}

TEST(Remedies, OfTyposInTomlSayWhatWasMeant) {
  const std::string good =
      "[parameters]\nm = 1\nl = 2\n[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"m*x'^2/2\"\n[initial]\n"
      "position = { x = 1 }\n[integrate]\nstep = 0.01\nend = 1\n[output]\nquantities = { a = \"x^2\", b = \"2\" }\n";
  ASSERT_EQ(complaint_about(good), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return complaint_about(text);
  };
  const std::pair<const char*, const char*> values[] = {{"0.8*2", "l = \"0.8*2\""}, {"50mm", "l = \"50mm\""},
                                                        {"50 mm", "l = \"50 mm\""}, {"1/3 # a third", "l = \"1/3\""},
                                                        {"pi", "l = \"pi\""},       {"2,5", "l = 2.5"}};
  for (const auto& [value, meant] : values)
    EXPECT_TRUE(says(with("l = 2", fmt::format("l = {}", value)), meant))
        << with("l = 2", fmt::format("l = {}", value));
  EXPECT_TRUE(says(with("l = 2", "l: 2"), "l = 2, with an equals sign"));
  EXPECT_FALSE(says(with("l = 2", "l = \"2"), "quotes:"));
  EXPECT_FALSE(says(with("l = 2", "l == 2"), "quotes:"));
  EXPECT_TRUE(says(with("[parameters]", "[[bodies]]\nmass = 1\n[parameters]"), "did you mean 'body'?"));
  const std::string quantity = with("b = \"2\"", "b = \"a + 1\"");
  EXPECT_TRUE(says(quantity, "'a' is a quantity") && says(quantity, "[define]")) << quantity;
}

// What other programs call it.
TEST(Remedies, OfNamesOfOtherProgramsAreOurs) {
  const std::string pendulum =
      "[lagrangian]\ncoordinates = [\"a\"]\nkinetic = \"a'^2/2\"\npotential = \"-cos(a)\"\n[initial]\n"
      "position = { a = 1 }\n[integrate]\nstep = 0.01\nend = 1\n";
  const std::string arm =
      "[multibody]\ndimension = 2\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 0.1\nposition = [0.5, 0]\n"
      "[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"arm\"]\npoint = [0, 0]\n[integrate]\nstep = 0.01\n"
      "end = 1\n";
  ASSERT_EQ(complaint_about(pendulum) + complaint_about(arm), "");
  struct Case {
    const std::string& model;
    const char *from, *to, *said;
  };
  for (const Case& c : {Case{pendulum, "step = 0.01", "dt = 0.01", "did you mean 'step'?"},
                        {pendulum, "end = 1", "t_end = 1", "did you mean 'end'?"},
                        {pendulum, "[integrate]", "[simulation]", "did you mean 'integrate'?"},
                        {pendulum, "[initial]", "damping = 1\n[initial]", "did you mean 'dissipation'?"},
                        {pendulum, "step = 0.01", "step = 0.01\nmethod = \"RK4\"", "did you mean 'explicit'?"},
                        {pendulum, "step = 0.01", "step = 0.01\nmethod = \"ode15s\"", "did you mean 'bdf'?"},
                        {pendulum, "a'^2/2", "a_dot^2/2", "with a prime: a'"},
                        {pendulum, "a'^2/2", "adot^2/2", "with a prime: a'"},
                        {pendulum, "-cos(a)", "-cos(a)*time", "did you mean 't'?"},
                        {pendulum, "-cos(a)", "-ln(a)", "did you mean 'log'?"},
                        {pendulum, "-cos(a)", "a > 0 ? 1 : 2", "write if(condition, a, b)"},
                        {pendulum, "end = 1", "end = 1\n[[event]]\nwhen = \"a\"", "did you mean 'root'?"},
                        {pendulum, "end = 1", "end = 1\n[[event]]\nroot = \"a < 0\"", "a - b for a < b"},
                        {pendulum, "step = 0.01", "step = 0.01\nstep = 0.02", "cannot redefine"},
                        {arm, "\"revolute\"", "\"hinge\"", "did you mean \"revolute\"?"},
                        {arm, "\"ground\"", "\"world\"", "did you mean 'ground'?"},
                        {arm, "point =", "position =", "did you mean 'point'?"},
                        {pendulum, "position = { a = 1 }", "a = 1", "as in position = { q = 1 }"},
                        {arm, "[integrate]", "[initial]\nposition = { arm = [1, 0] }\n[integrate]", "in [[body]]"},
                        {pendulum, "[lagrangian]", "[functions]\nf(x) = \"x^2\"\n[lagrangian]", "f = \"(x) -> ...\""},
                        {arm, "point =", "torque = 1\npoint =", "did you mean 'motor'?"}}) {
    std::string text = c.model;
    text.replace(text.find(c.from), std::string(c.from).size(), c.to);
    const std::string said = complaint_about(text);
    EXPECT_TRUE(says(said, c.said)) << c.to << ": " << said;
    EXPECT_FALSE(says(said, "stand in quotes")) << said;
  }
}

// A DAE has a method of its own where none is named.
TEST(Remedies, TheUsualMethodTakesDaes) {
  const auto circuit = [](const char* equations, const char* times) {
    return fmt::format(
        "[dae]\nunknowns = [\"x\", \"y\"]\n{}[initial]\nunknowns = {{ x = 1 }}\n[integrate]\n{}end = 1\n[output]\n"
        "quantities.x1 = \"x\"\n",
        equations, times);
  };
  for (const char* times : {"step = 0.05\n", "tolerance = 1e-8\n"})
    EXPECT_NEAR(value_of(run_text(circuit("equations = [\"x' = y\", \"y = -x\"]\n", times)), "x1"), std::exp(-1), 1e-6);
  EXPECT_NEAR(
      value_of(run_text(circuit("equations = [\"x' = y - 1\"]\ncomplementarity = [[\"x\", \"y\"]]\n", "step = 1e-3\n")),
               "x1"),
      0, 1e-3);
}

// Limits of joints are contacts: the method that is taken where none is named can hold them, with a step and with a
// tolerance.
TEST(Remedies, TheUsualMethodTakesContacts) {
  const auto arm = [](const char* times) {
    return fmt::format(
        "[multibody]\ndimension = 2\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 0.1\nposition = [0.5, 0]\n"
        "angular_velocity = 4\nvelocity = [0, 2]\n[[joint]]\nname = \"hinge\"\ntype = \"revolute\"\n"
        "bodies = [\"ground\", \"arm\"]\npoint = [0, 0]\nlimits = [-1, 1]\nrestitution = 0.5\n[integrate]\n{}end = 5\n"
        "[output]\nquantities.angle = \"hinge_angle\"\n",
        times);
  };
  EXPECT_NEAR(value_of(run_text(arm("step = 1e-3\n")), "angle"), 0.125, 5e-3);
  EXPECT_NEAR(value_of(run_text(arm("tolerance = 1e-8\n")), "angle"), 0.125, 1e-6);
  const std::string said = complaint_about(arm("method = \"auto\"\ntolerance = 1e-8\n"));
  EXPECT_TRUE(says(said, "use event-driven") && !says(said, "collide")) << said;
}

// States are not counted with the coordinates.
TEST(Remedies, StatesAreNoCoordinates) {
  const Report report = run_text(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nforce = { x = \"u - x\" }\n[states]\n"
      "u = { rate = \"1 - x\" }\n[initial]\nposition = { x = 1 }\n[integrate]\nstep = 0.01\nend = 1\n");
  std::ostringstream text;
  text << report;
  EXPECT_TRUE(says(text.str(), "  state        u ")) << text.str();
  EXPECT_TRUE(says(text.str(), "  integral     u_integral ")) << text.str();
}

}  // namespace
}  // namespace hinge::remedies_test
