// Treachery: what no step sees. Motions that grow from numbers below the tolerance, narrow forces on a quiet way,
// places where solutions of a DAE meet, and impulses in DAEs; and others that only look
// like it.
#include <numbers>

#include "hinge/error.hpp"
#include "random_draw.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::unseen_test {
namespace {

using std::cos, std::sin, std::exp, std::numbers::pi;
using Demand = Treachery::Demand;

std::string ode(const std::string& force, double x, double v, double end, const std::string& more = "") {
  return fmt::format(
      "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{}\"]\n[initial]\nposition = {{ x = {} }}\n"
      "velocity = {{ x = {} }}\n[integrate]\nend = {}\n{}",
      force, x, v, end, more);
}
std::string dae(const std::string& unknowns, const std::string& equations, const std::string& initial, double end,
                const std::string& guess = "") {
  return fmt::format(
      "[dae]\nunknowns = [{}]\nequations = [{}]\n[initial]\nunknowns = {{ {} }}\n{}[integrate]\nend = {}\n", unknowns,
      equations, initial, guess.empty() ? "" : "guess = { " + guess + " }\n", end);
}
// A hill of a height (in kinetic energies of the motion) and a width on the way of a free point of speed 1.
std::string hill(double height, double at, double width, double end, const std::string& times) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"{}*exp(-((x-{})/{})^2)\"\n[initial]\n"
      "position = {{ x = 0 }}\nvelocity = {{ x = 1 }}\n[integrate]\nend = {}\n[output]\ntimes = {}\n",
      height / 2, at, width, end, times);
}

std::vector<Treachery> cases() {
  std::vector<Treachery> all;
  // ---- Seeds below the absolute tolerance
  all.push_back({.name = "logistic_seed",
                 .model = dae("\"x\"", "\"x' = x*(1-x)\"", "x = 1e-10", 40),
                 .columns = {"x"},
                 .motion = [](double t) { return std::vector<double>{1 / (1 + (1e10 - 1) * exp(-t))}; },
                 .tolerance = 1e-6,
                 .fine = 0.05,
                 .factor = 2e4});
  all.push_back({.name = "unstable_seed",
                 .model = ode("x", 1e-9, 1e-9, 20),
                 .columns = {"x", "x'"},
                 .motion = [](double t) { return std::vector<double>(2, 1e-9 * exp(t)); },
                 .tolerance = 1e-6,
                 .factor = 2e4});
  all.push_back({.name = "small_for_a_while",  // x' = (t - 6) x
                 .model = dae("\"x\"", "\"x' = (t-6)*x\"", "x = 1", 12),
                 .columns = {"x"},
                 .motion = [](double t) { return std::vector<double>{exp(t * t / 2 - 6 * t)}; },
                 .step = 0.0002,
                 .tolerance = 1e-7,
                 .factor = 2e5});
  all.push_back({.name = "nanometres",
                 .model = ode("-x - 0.01*x'", 1e-9, 0, 60),
                 .columns = {"x"},
                 .motion =
                     [](double t) {
                       const double w = std::sqrt(1 - 2.5e-5);
                       return std::vector<double>{1e-9 * exp(-0.005 * t) * (cos(w * t) + 0.005 / w * sin(w * t))};
                     },
                 .tolerance = 1e-6,
                 .factor = 2e4});
  all.push_back({.name = "small_and_driven",  // a seed that does not matter
                 .model = ode("sin(t)", 1e-9, 0, 10),
                 .columns = {"x"},
                 .motion = [](double t) { return std::vector<double>{1e-9 + t - sin(t)}; },
                 .demand = Demand::right});
  // ---- Flown over
  for (const double width : {0.1, 0.03, 0.003})
    all.push_back({.name = width == 0.1    ? "hill_wide"
                           : width == 0.03 ? "hill_narrow"
                                           : "hill_as_a_wall",
                   .model = hill(4, 5, width, 10, "[1, 2, 3, 4, 6, 7, 8, 9]"),
                   .columns = {"x'"},
                   .motion = [](double t) { return std::vector<double>{t < 5 ? 1.0 : -1.0}; },
                   .step = width / 10,
                   .factor = 1e5});
  all.push_back({.name = "quiet_way",  // nothing there
                 .model = ode("exp(-x^2)*0", 0, 1, 10),
                 .columns = {"x"},
                 .motion = [](double t) { return std::vector<double>{t}; },
                 .demand = Demand::right});
  all.push_back({.name = "steep_in_time",
                 .model = ode("2500*(1-tanh(5000*(t-5.0123))^2)", 0, 0, 9, "[output]\ntimes = [1, 3, 6, 7, 8]\n"),
                 .columns = {"x'"},
                 .motion = [](double t) { return std::vector<double>{(1 + std::tanh(5000 * (t - 5.0123))) / 2}; },
                 .step = 0.01,
                 .factor = 1e5});
  // bounds of the second part are wide wherever a stretch is, and it is nothing
  all.push_back(
      {.name = "spike_beside_wide_bounds",
       .model = ode("5*exp(-(t-50.3)^2*1e4) + 1e-9*sin(t)*exp(t)/(1+exp(t))", 0, 1, 100,
                    "[output]\ntimes = [10, 49, 52, 90]\n"),
       .columns = {"x'"},
       .motion =
           [](double t) { return std::vector<double>{1 + 0.025 * std::sqrt(pi) * (1 + std::erf(100 * (t - 50.3)))}; },
       .step = 0.002,
       .tolerance = 1e-6,
       .factor = 1e3});
  // ---- Where solutions of a DAE meet
  all.push_back({.name = "roots_meet",
                 .model = dae("\"y\", \"w\"", "\"y^2 = cos(t)^2\", \"w' = y\"", "w = 0", 3, "y = 1"),
                 .columns = {},
                 .motion = [](double) { return std::vector<double>{0}; },
                 .demand = Demand::said});
  all.push_back({.name = "many_solutions",
                 .model = dae("\"x\"", "\"(1-t)*x' = -x\"", "x = 1", 2),
                 .columns = {},
                 .motion = [](double) { return std::vector<double>{0}; },
                 .step = 0.013,
                 .demand = Demand::said});
  all.push_back({.name = "fork",
                 .model = dae("\"y\", \"w\"", "\"y^3 - (t-1)*y = 0\", \"w' = y\"", "w = 0", 3, "y = 0"),
                 .columns = {},
                 .motion = [](double) { return std::vector<double>{0}; },
                 .demand = Demand::said});
  all.push_back({.name = "other_equations",  // the sign of the Jacobian jumps, and means nothing
                 .model = dae("\"y\", \"w\"", "\"if(t < 1, y - 1, 2 - y) = 0\", \"w' = y\"", "w = 0", 2, "y = 1"),
                 .columns = {"w"},
                 .motion = [](double t) { return std::vector<double>{t < 1 ? t : 2 * t - 1}; },
                 .step = 0.01,
                 .demand = Demand::right});
  // ---- Impulses
  all.push_back({.name = "impulse_of_index_3",
                 .model = dae("\"x\", \"y\", \"z\", \"w\"",
                              "\"x = max(0, t-1)\", \"x' = y\", \"y' = z\", \"w' = z - w\"", "w = 0", 3) +
                          "[output]\ntimes = [0.5, 1.5, 2]\n",
                 .columns = {"w"},
                 .motion = [](double t) { return std::vector<double>{t < 1 ? 0 : exp(1 - t)}; }});
  all.push_back({.name = "jump_of_index_2",
                 .model = dae("\"x\", \"y\", \"w\"", "\"x = if(t < 1, 0, 1)\", \"x' = y\", \"w' = y\"", "w = 0", 3) +
                          "[output]\ntimes = [0.5, 1.5, 2]\n",
                 .columns = {"w"},
                 .motion = [](double t) { return std::vector<double>{t < 1 ? 0.0 : 1.0}; }});
  return all;
}

class Unseen : public testing::TestWithParam<Treachery> {};
TEST_P(Unseen, IsRightOrSaysSo) { expect_honest(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Treachery, Unseen, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- Variations, drawn at random with fixed seeds -------------------------------------------------------------------

TEST(Unseen, SeedsBelowTheToleranceAreNeverGrownAsSound) {
  Draw draw(11);
  for (int k = 0; k < 16; ++k) {
    const double seed = draw.power(-12, -7), rate = draw.number(0.5, 2),
                 end = std::log(draw.number(0.1, 1) / seed) / rate;
    Treachery sharp{.name = "seed",
                    .model = ode(fmt::format("{}*x", rate * rate), seed, seed * rate, end),
                    .columns = {"x"},
                    .motion = [=](double t) { return std::vector<double>{seed * exp(rate * t)}; },
                    .step = 0.01,
                    .tolerance = 1e-5,
                    .factor = 3e3};  // 0.03
    EXPECT_EQ(judge(sharp), "") << "seed " << seed << ", rate " << rate;
  }
}

TEST(Unseen, NarrowHillsAreNotFlownOver) {
  Draw draw(12);
  for (int k = 0; k < 16; ++k) {
    const double at = draw.number(3, 7), width = draw.power(-3.5, -1), height = draw.number(1.5, 8);
    EXPECT_EQ(judge({.name = "hill",
                     .model = hill(height, at, width, 2 * at, fmt::format("[1, 2, {}, {}]", at + 0.6, at + 1)),
                     .columns = {"x'"},
                     .motion = [=](double t) { return std::vector<double>{t < at ? 1.0 : -1.0}; },
                     .step = width / 12,
                     .tolerance = draw.power(-9, -5),
                     .factor = 1e5}),
              "")
        << "at " << at << ", width " << width << ", height " << height;
  }
}

// Equations in whose solution y grows by a narrow function of x = start + speed t, in one of the ways to write that.
std::string narrow_rate(Draw& draw, double start, double speed, double height, double at, double width) {
  const std::string rate = fmt::format("{}*exp(-((x-{})/{})^2)", height, at, width), x = fmt::format("x' = {}", speed),
                    first = fmt::format("x = {}, y = 0", start);
  const int way = draw.integer(0, 5);
  if (way == 5)  // [odae]: velocities that are functions of their own
    return fmt::format(
        "[odae]\ny = [\"x\", \"y\"]\nz = [\"p\", \"q\"]\nv = [\"p\", \"{}\"]\nf = [\"0\", \"0\"]\n[initial]\n"
        "y = [{}, 0]\nz = [{}, 0]\n[integrate]\nend = 3\n",
        rate, start, speed);
  const std::string rows[] = {fmt::format("\"{}\", \"y' = {}\"", x, rate),
                              fmt::format("\"{}\", \"x' + 2*y' = {} + 2*{}\"", x, speed, rate),
                              fmt::format("\"{}\", \"(3 + x)*y' = (3 + x)*{}\"", x, rate),
                              fmt::format("\"{}\", \"y' = u\", \"u = {}\"", x, rate),
                              fmt::format("\"{}\", \"y' = u/4\", \"4*{} - u = 0\"", x, rate)};
  return dae(way >= 3 ? "\"x\", \"y\", \"u\"" : "\"x\", \"y\"", rows[way], first, 3);
}

TEST(Unseen, NarrowFunctionsOfUnknownsAreNotFlownOver) {
  Draw draw(16);
  for (int k = 0; k < 150; ++k) {
    const double start = draw.number(-1, 1), speed = draw.number(0.3, 3), when = draw.number(0.3, 2.5),
                 at = start + speed * when, width = draw.power(-5, -1.5), growth = draw.power(-2, 2),
                 height = growth * speed / (width * std::sqrt(pi)), tolerance = draw.power(-9, -5);
    const std::string model =
        narrow_rate(draw, start, speed, height, at, width) + fmt::format("[output]\ntimes = [{}]\n", when / 2);
    for (const char* method : {"radau", "bdf", "taylor", "auto", "explicit"}) {
      const Outcome o = attempt(
          [&] {
            return with_method(parse_model(model, "model", {{"integrate.method", method}, {"integrate.step", "1"}}),
                               {method, 5, true}, 0, {tolerance, tolerance * growth});
          },
          {"y"},
          [&](double t) { return std::vector<double>{growth / 2 * (1 + std::erf((start + speed * t - at) / width))}; });
      if (o.kind == Outcome::Kind::refused) continue;  // explicit, of a DAE
      EXPECT_TRUE(o.kind == Outcome::Kind::sound && o.error <= 1e4 * tolerance)
          << method << ", tolerance " << tolerance << ": " << o.error << " " << o.words << "\n"
          << model;
    }
  }
}

// Functions that steps of given length do see.
TEST(Unseen, WideFunctionsOfUnknownsAreNoAlarm) {
  Draw draw(17);
  for (int k = 0; k < 80; ++k) {
    const double start = draw.number(-1, 1), speed = draw.number(0.3, 3), when = draw.number(0.3, 2.5),
                 width = speed * draw.number(0.3, 2);
    const std::string model = narrow_rate(draw, start, speed, draw.power(-3, 3), start + speed * when, width);
    for (const char* method : {"radau", "bdf(order=3)", "taylor"}) {
      const Outcome o = attempt(
          [&] {
            return with_method(parse_model(model, "model", {{"integrate.step", "1"}}), {method, 3, false},
                               3.0 / draw.integer(30, 90), {});
          },
          {}, [](double) { return std::vector<double>{}; });
      EXPECT_EQ(o.words, "") << method << "\n" << model;
    }
  }
}

TEST(Unseen, WhereSolutionsOfADaeMeetIsSaid) {
  Draw draw(13);
  for (int k = 0; k < 16; ++k) {
    const double when = draw.number(0.5, 2), a = draw.number(0.5, 2);
    const std::vector<std::string> equations = {
        fmt::format("\"y^2 = ({}*({} - t))^2\", \"w' = y\"", a, when),
        fmt::format("\"(y - {}*sin({} - t))*(y + sin({} - t)) = 0\", \"w' = y\"", a, when, when),
        fmt::format("\"({} - t)*w' = -{}*w\", \"y = w\"", when, a)};
    const std::string initial = k % 3 == 2 ? "w = 1" : "w = 0", guess = k % 3 == 1
                                                                            ? fmt::format("y = {}", a * sin(when))
                                                                        : k % 3 == 0 ? "y = 1"
                                                                                     : "";
    EXPECT_EQ(
        judge({.name = "meet",
               .model = dae("\"y\", \"w\"", equations[static_cast<std::size_t>(k % 3)], initial, when + 0.9, guess),
               .columns = {},
               .motion = [](double) { return std::vector<double>{0}; },
               .step = draw.power(-2.5, -1.5),
               .demand = Demand::said}),
        "")
        << equations[static_cast<std::size_t>(k % 3)];
  }
}

// Rounding of a start at rest is no seed, nor what stays within the tolerance that was asked for.
TEST(Unseen, RoundingOfARestIsNoSeed) {
  Draw draw(15);
  for (int k = 0; k < 12; ++k) {
    const std::string start = draw.one_of<std::string>({"sin(pi)", "0.1+0.2-0.3", "cos(pi/2)"});
    const double tolerance = draw.power(-10, -5);
    const Outcome o = attempt(
        [&] {
          return parse_model(
              fmt::format("[lagrangian]\ncoordinates = [\"a\"]\nkinetic = \"a'^2/2\"\npotential = \"-9.81*cos(a)\"\n"
                          "[initial]\nposition = {{ a = \"{}\" }}\n[integrate]\nmethod = \"{}\"\n"
                          "tolerance = {}\nend = {}\n",
                          start, draw.one_of<std::string>({"explicit", "radau", "taylor", "auto", "half-explicit"}),
                          tolerance, draw.number(1, 20)),
              "model", {});
        },
        {"a"}, [](double) { return std::vector<double>{0}; });
    EXPECT_EQ(o.words.find("smaller than the absolute tolerance"), std::string::npos) << start << ": " << o.words;
  }
}

// A rectifier whose diode is in series with a coil: where it blocks, its exponential determines nothing. Either a run
// comes to its end, or it says so; with the capacitor that is recommended it does.
TEST(Unseen, WhatNoLongerDeterminesAnUnknownIsNamed) {
  Draw draw(18);
  int named = 0;
  for (int k = 0; k < 6; ++k) {
    const double current = draw.power(-14, -11), coil = draw.power(-1.5, -0.5), source = draw.number(5, 20);
    const auto run = [&](const std::string& beside, const char* method) {
      const std::string model = dae(
          "\"i\", \"u\", \"v\"",
          fmt::format("\"{}*i' = {}*sin(314*t) - u - v\", \"i = {}*(exp(u/0.025) - 1){}\", \"1e-5*v' = i - v/1000\"",
                      coil, source, current, beside),
          "i = 0, u = 0, v = 0", 0.02);
      return attempt(
          [&] {
            return with_method(parse_model(model, "model", {{"integrate.step", "1"}}), {method, 5, true}, 0,
                               {1e-6, 1e-6});
          },
          {}, [](double) { return std::vector<double>{}; });
    };
    for (const char* method : {"radau", "bdf", "auto"}) {
      const Outcome o = run("", method);
      const bool says = o.words.find("says next to nothing about u") != std::string::npos;
      EXPECT_EQ(o.kind == Outcome::Kind::failed, says) << method << ": " << o.words;
      named += says;
      EXPECT_EQ(run(" + 1e-9*u'", method).words, "") << method;
    }
  }
  EXPECT_GT(named, 9);
}

// A buck converter: when its switch opens, the diode takes over the current of the coil, and the voltage between them
// jumps from where the exponential has no slope. While the current flows, coil and load follow from the switch, but
// for the voltage of the diode; where it has ended in a blocking diode, a run names what nothing determines any more.
TEST(Unseen, DiodesTakeOverCurrents) {
  Draw draw(20);
  for (int k = 0; k < 8; ++k) {
    const double source = draw.number(5, 50), period = draw.power(-5, -4), duty = draw.number(0.3, 0.8), load = 5,
                 ripple = draw.number(0.02, 0.2), coil = source * period / (ripple * source / load) / 4,
                 capacitor = draw.number(20, 100) * period * period / coil, diode = draw.power(-12, -8);
    const bool ideal = k % 2 == 0;
    const std::string model =
        dae("\"i\", \"v\", \"u\", \"s\"",
            fmt::format("\"{}*i' = u - v\", \"{}*v' = i - v/{}\", \"s + {}*(exp(-u/0.026) - 1) = i\", "
                        "\"if(pulse(t, {}, {}), {}) = 0\"",
                        coil, capacitor, load, diode, period, duty * period,
                        ideal ? fmt::format("u - {}, s", source)
                              : fmt::format("s - ({0} - u)/0.01, s - ({0} - u)*1e-6", source)),
            fmt::format("i = {}, v = {}", duty * source / load, duty * source), 3.7 * period);
    for (const char* method : {"radau", "bdf", "auto"}) {
      SCOPED_TRACE(fmt::format("{}\n{}", method, model));
      const Model m =
          with_method(parse_model(model, "model", {{"integrate.step", "1"}}), {method, 5, true}, 0, {1e-7, 1e-9});
      Simulation s = m.simulation_for("");
      s.start(m.start);
      s.until(m.end);
      EXPECT_EQ(s.report().doubts.size(), 0u);
      // by the symplectic Euler method with a diode of 0.4 and 0.9 V
      double low = INFINITY, high = -INFINITY;
      for (const double drop : {0.4, 0.9}) {
        double i = duty * source / load, v = duty * source;
        const int n = 20000;
        for (int j = 0; j < n; ++j) {
          const double h = m.end / n, phase = (j + 0.5) * h / period;
          const double u = phase - std::floor(phase) < duty ? source : -drop;
          i += h * (u - v) / coil;
          v += h * (i - v / load) / capacitor;
        }
        low = std::min(low, v), high = std::max(high, v);
      }
      const double slack = 0.01 * source;
      EXPECT_GT(s.state().y[1], low - slack);
      EXPECT_LT(s.state().y[1], high + slack);
    }
  }
}

TEST(Unseen, CurrentsThatEndInADiodeAreNamed) {
  for (const char* method : {"radau", "bdf"}) {
    const Outcome o = attempt(
        [&] {
          return with_method(
              parse_model(dae("\"i\", \"v\", \"u\", \"s\"",
                              "\"1e-4*i' = u - v\", \"1e-4*v' = i - v/5\", \"s + 1e-9*(exp(-u/0.026) - 1) = i\", "
                              "\"if(pulse(t, 5e-5, 2.5e-5), u - 12, s) = 0\"",
                              "i = 0, v = 0", 1e-3),
                          "model", {{"integrate.step", "1"}}),
              {method, 5, true}, 0, {1e-6, 1e-6});
        },
        {}, [](double) { return std::vector<double>{}; });
    EXPECT_NE(o.words.find("says next to nothing about u"), std::string::npos) << o.words;
  }
}

TEST(Unseen, DerivativesOfStepsAreRefused) {
  for (const char* step : {"if(t < 1, 0, 1)", "floor(t)", "pulse(t, 1, 0.5)", "sign(t - 1)"}) {
    const std::string model = dae("\"x\"", fmt::format("\"x' - ({})' = -x\"", step), "x = 0", 3);
    EXPECT_THROW(parse_model(model, "model", {{"integrate.step", "1"}}), InputError) << step;
  }
}

}  // namespace
}  // namespace hinge::test::unseen_test
