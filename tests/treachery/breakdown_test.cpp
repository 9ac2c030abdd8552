// Treachery: motions that end or blow up, steps that are too long, times without resolution; and motions that only look
// like that, which nobody may doubt.
#include <numbers>
#include <random>

#include "treachery/reference.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::breakdown_test {
namespace {

using std::cos, std::sin, std::exp, std::numbers::pi;
using Demand = Treachery::Demand;

std::string ode(const std::string& force, double x, double v, double end, const std::string& more = "") {
  return fmt::format(
      "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{}\"]\n[initial]\nposition = {{ x = {} }}\n"
      "velocity = {{ x = {} }}\n[integrate]\nend = {}\n{}",
      force, x, v, end, more);
}
std::string spring(double stiffness, double x, double end) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"{}/2*x^2\"\n[initial]\n"
      "position = {{ x = {} }}\n[integrate]\nend = {}\n",
      stiffness, x, end);
}
std::string kinetic(const std::string& energy, double v, double end, const std::string& potential = "x") {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{}\"\npotential = \"{}\"\n[initial]\nposition = {{ x = 0 }}\n"
      "velocity = {{ x = {} }}\n[integrate]\nend = {}\n",
      energy, potential, v, end);
}
Motion nothing() {
  return [](double) { return std::vector<double>{0}; };
}
const std::vector<std::string> x{"x"}, xv{"x", "x'"};

std::vector<Treachery> cases() {
  std::vector<Treachery> all;
  // ---- Masses that vanish: x' = -t/(1 - t) has no way beyond t = 1
  all.push_back({.name = "mass_vanishes",
                 .model = kinetic("(1-t)*x'^2/2", 0, 3),
                 .columns = {},
                 .motion = nothing(),
                 .step = 0.03,
                 .demand = Demand::said});
  all.push_back({.name = "mass_vanishes_short_steps",
                 .model = kinetic("(1-t)*x'^2/2", 0, 1.5),
                 .columns = {},
                 .motion = nothing(),
                 .step = 0.0007,
                 .demand = Demand::said});
  all.push_back({.name = "mass_vanishes_where_it_is",
                 .model = kinetic("(1-x^2)*x'^2/2", 1, 4, "0"),
                 .columns = {},
                 .motion = nothing(),
                 .step = 0.013,
                 .demand = Demand::said});
  all.push_back({.name = "mass_comes_near_zero",  // p = -t: x' = -t/(1.0001 - t)
                 .model = kinetic("(1.5-t)*x'^2/2", 0, 1),
                 .columns = {"x'"},
                 .motion = [](double t) { return std::vector<double>{-t / (1.5 - t)}; },
                 .step = 0.01,
                 .demand = Demand::right});
  all.push_back({.name = "rocket",
                 .model = ode("2/(1-0.5*t)", 0, 0, 1.5),
                 .columns = {"x'"},
                 .motion = [](double t) { return std::vector<double>{-4 * std::log(1 - 0.5 * t)}; },
                 .demand = Demand::right});
  // ---- Poles
  const auto pole = [](double order) { return [=](double t) { return std::vector<double>{std::pow(1 - t, -order)}; }; };
  for (const double h : {0.013, 0.03, 0.0041}) {
    all.push_back({.name = h == 0.013  ? "simple_pole"
                           : h == 0.03 ? "simple_pole_long"
                                       : "simple_pole_short",
                   .model = ode("2*x^3", 1, 1, 3),
                   .columns = x,
                   .motion = pole(1),
                   .step = h,
                   .demand = Demand::said});
    all.push_back({.name = h == 0.013  ? "double_pole"
                           : h == 0.03 ? "double_pole_long"
                                       : "double_pole_short",
                   .model = ode("6*x^2", 1, 2, 2.5),
                   .columns = x,
                   .motion = pole(2),
                   .step = h,
                   .demand = Demand::said});
  }
  all.push_back({.name = "before_the_pole",
                 .model = ode("2*x^3", 1, 1, 0.9),
                 .columns = x,
                 .motion = pole(1),
                 .step = 0.002,
                 .tolerance = 1e-9,
                 .demand = Demand::right});
  all.push_back({.name = "tangent",
                 .model = "[odae]\ny = [\"a\"]\nz = [\"b\"]\nv = [\"1 + a^2\"]\nf = [0]\n[initial]\ny = { a = 0 }\n"
                          "z = { b = 0 }\n[integrate]\nend = 3\n",
                 .columns = {"a"},
                 .motion = [](double t) { return std::vector<double>{std::tan(t)}; },
                 .step = 0.017,
                 .demand = Demand::said});
  // ---- Steps beyond stability
  for (const double stiffness : {4.5e4, 6e4, 1e5})
    all.push_back({.name = stiffness == 4.5e4 ? "spring_too_stiff"
                           : stiffness == 6e4 ? "spring_stiffer"
                                              : "spring_stiffest",
                   .model = spring(stiffness, 1e-3, 0.25),
                   .columns = x,
                   .motion = [=](double t) { return std::vector<double>{1e-3 * cos(std::sqrt(stiffness) * t)}; },
                   .step = 0.01,
                   .coarse = 3,
                   .fine = 3});
  all.push_back({.name = "damper_too_strong",
                 .model = ode("-400*x' - x", 1, 1e-3, 0.6),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double r = std::sqrt(40000.0 - 1), slow = -200 + r, fast = -200 - r;
                       const double b = (1e-3 - slow) / (fast - slow);
                       return std::vector<double>{(1 - b) * exp(slow * t) + b * exp(fast * t)};
                     },
                 .step = 0.01});
  all.push_back({.name = "stiff_force_without_energy",
                 .model = ode("-60000*(x - cos(t))", 1, 1e-3, 0.3),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double k = 60000, w = std::sqrt(k), a = k / (k - 1);
                       return std::vector<double>{a * cos(t) + (1 - a) * cos(w * t) + 1e-3 / w * sin(w * t)};
                     },
                 .step = 0.01});
  all.push_back(
      {.name = "kepler_grazing",  // e = 0.999, steps that do not see the turn
       .model = "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"-1/norm(q)\"\n"
                "[initial]\nposition = { q = [1.999, 0] }\nvelocity = { q = [0, 0.022366272] }\n[integrate]\nend = 9\n",
       .columns = {"q[0]"},
       .motion =
           [](double t) {
             const double r0 = 1.999, v0 = 0.022366272, a = 1 / (2 / r0 - v0 * v0), e = r0 / a - 1;
             const double M = pi + t / std::pow(a, 1.5);  // from the far end on
             double low = M - 1, high = M + 1;
             for (int n = 0; n < 100; ++n) {
               const double E = (low + high) / 2;
               (E - e * sin(E) < M ? low : high) = E;
             }
             const double E = (low + high) / 2;
             return std::vector<double>{-a * (cos(E) - e)};
           },
       .step = 0.05,
       .coarse = 0.1,
       .fine = 0.1,
       .factor = 1e6});
  // ---- Growth that is real
  all.push_back({.name = "resonance",
                 .model = ode("cos(t) - x", 0, 0, 40),
                 .columns = x,
                 .motion = [](double t) { return std::vector<double>{t * sin(t) / 2}; },
                 .step = 0.02,
                 .demand = Demand::right});
  all.push_back({.name = "negative_damping",
                 .model = ode("0.5*x' - x", 0, 1, 30),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double w = std::sqrt(1 - 0.0625);
                       return std::vector<double>{exp(0.25 * t) * sin(w * t) / w};
                     },
                 .step = 0.01,
                 .demand = Demand::right});
  all.push_back({.name = "unstable_equilibrium",
                 .model = spring(-1, 1e-2, 10),
                 .columns = x,
                 .motion = [](double t) { return std::vector<double>{1e-2 * std::cosh(t)}; },
                 .step = 0.01,
                 .tolerance = 1e-9,
                 .factor = 1e5,
                 .demand = Demand::right});
  all.push_back({.name = "decay_to_nothing",
                 .model = ode("-2*x' - x", 1, 0, 60),
                 .columns = x,
                 .motion = [](double t) { return std::vector<double>{(1 + t) * exp(-t)}; },
                 .step = 0.02,
                 .demand = Demand::right});
  all.push_back({.name = "stiff_layer_that_decays",  // implicit methods step over it; the others say so
                 .model = ode("-1e4*x' - 1e4*x", 1, 5, 2),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double r = std::sqrt(2.5e7 - 1e4), slow = -1e4 / (5e3 + r), fast = -5e3 - r;
                       const double b = (5 - slow) / (fast - slow);
                       return std::vector<double>{(1 - b) * exp(slow * t) + b * exp(fast * t)};
                     },
                 .step = 0.02});
  // ---- Time
  all.push_back({.name = "time_without_resolution",
                 .model = ode("-x", 1, 0, 1e16 + 10, "start = 1e16\n"),
                 .columns = x,
                 .motion = [](double t) { return std::vector<double>{cos(t - 1e16)}; },
                 .step = 0.1,
                 .demand = Demand::said});
  all.push_back({.name = "time_since_1970",
                 .model = ode("-x", 1, 0, 1.7e9 + 10, "start = 1.7e9\n"),
                 .columns = x,
                 .motion = [](double t) { return std::vector<double>{cos(t - 1.7e9)}; },
                 .step = 0.01,
                 .tolerance = 1e-5,  // bdf cannot begin with the short steps of smaller ones
                 .factor = 1e3,
                 .demand = Demand::right});
  all.push_back({.name = "clock_forcing_since_1970",
                 .model = ode("-x + cos(3*(t - 1.7e9))", 0, 0, 1.7e9 + 10, "start = 1.7e9\n"),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double s = t - 1.7e9;
                       return std::vector<double>{(cos(s) - cos(3 * s)) / 8};
                     },
                 .step = 0.01,
                 .tolerance = 1e-5,  // bdf cannot begin with the short steps of smaller ones
                 .factor = 1e3,
                 .demand = Demand::right});
  return all;
}

class Breakdown : public testing::TestWithParam<Treachery> {};
TEST_P(Breakdown, IsRightOrSaysSo) { expect_honest(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Treachery, Breakdown, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- Variations, drawn at random with fixed seeds
// ---------------------------------------------------------------------

TEST(Breakdown, PolesAreNeverPassedAsSound) {
  std::mt19937_64 engine(3);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  for (int k = 0; k < 24; ++k) {
    const double pole = uniform(0.5, 2), order = 1 + k % 2, h = std::pow(10, uniform(-2.6, -1.2));
    // x = (pole - t)^-1: x'' = 2 x^3;  (pole - t)^-2: x'' = 6 x^2
    const std::string model = ode(order == 1 ? "2*x^3" : "6*x^2", std::pow(pole, -order),
                                  order * std::pow(pole, -order - 1), pole + uniform(0.2, 2));
    EXPECT_EQ(
        judge({.name = "pole", .model = model, .columns = {}, .motion = nothing(), .step = h, .demand = Demand::said}),
        "")
        << "pole of order " << order << " at " << pole << ", step " << h;
  }
}

TEST(Breakdown, MassesThroughZeroAreNeverPassedAsSound) {
  std::mt19937_64 engine(5);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  const char* const masses[] = {"({} - t)", "({} - t)^3", "cos({}*t)", "(exp({} - t) - 1)"};
  for (int k = 0; k < 16; ++k) {
    const std::string mass = fmt::format(fmt::runtime(masses[k % 4]), uniform(0.8, 2));
    const double h = std::pow(10, uniform(-2.5, -1.2)), end = uniform(2.2, 3);
    EXPECT_EQ(judge({.name = "mass",
                     .model = kinetic(mass + "*x'^2/2", 0, end),
                     .columns = {},
                     .motion = nothing(),
                     .step = h,
                     .demand = Demand::said}),
              "")
        << mass << ", step " << h;
  }
}

}  // namespace
}  // namespace hinge::test::breakdown_test
