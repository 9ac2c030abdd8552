// Forces that switch with time: pulses, carriers, tables, sawteeth. Every method has the exact answer, or what its
// order gives on the smooth parts.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "hinge/multibody.hpp"
#include "model/run_text.hpp"

namespace hinge::time_kinks_test {
namespace {

using test::run_text;

std::string mass_with(const std::string& force) {
  return "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"" + force +
         "\"]\n[initial]\nposition = { x = 0.25 }\n";
}

// A force that is constant between given times: x and v after it.
struct Steps {
  std::vector<double> time, force;  // force[k] from time[k] on
  std::pair<double, double> at(double end) const {
    double x = 0.25, v = 0;
    for (std::size_t k = 0; k < time.size() && time[k] < end; ++k) {
      const double h = (k + 1 < time.size() ? std::min(time[k + 1], end) : end) - time[k];
      x += v * h + force[k] * h * h / 2;
      v += force[k] * h;
    }
    return {x, v};
  }
};

const char* const adaptive[] = {"auto", "explicit", "radau", "bdf", "half-explicit"};
const char* const fixed[] = {"rattle",   "gauss-lobatto",     "lobatto-iiia-iiib", "radau",
                             "explicit", "generalized-alpha", "moreau-jean",       "paoli-schatzman",
                             "shake",    "half-explicit"};

void expect_exact(const std::string& force, const Steps& steps, double end, double step) {
  const auto [x, v] = steps.at(end);
  const double size = 1 + std::abs(x) + std::abs(v);
  for (const char* method : adaptive) {
    const Report r = run_text(mass_with(force) +
                              fmt::format("[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\nend = {}\n", method, end));
    EXPECT_NEAR(r.final.y[0], x, 2e-7 * size) << method << ": " << force;
    EXPECT_NEAR(r.final.z[0], v, 2e-7 * size) << method << ": " << force;
  }
  for (const std::string method : fixed) {
    const Report r = run_text(mass_with(force) +
                              fmt::format("[integrate]\nmethod = \"{}\"\nstep = {}\nend = {}\n", method, step, end));
    // this one begins with an acceleration from a little before the step
    const double error = method == "generalized-alpha" ? 5e-2 : 1e-9;
    EXPECT_NEAR(r.final.y[0], x, error * size) << method << ": " << force;
    EXPECT_NEAR(r.final.z[0], v, error * size) << method << ": " << force;
  }
}

// A carrier against a signal of the motion: at its jump the condition changes without a root, at a time that is exact
// or rounds.
TEST(TimeKinks, CarriersThatAreComparedWithTheMotionGoOn) {
  for (const double period : {0.5, 1.0, 1.3, 2.0, 0.7234})
    for (const char* condition :
         {"mod(t,{0:.17g}) > {0:.17g}*(0.3 + 0.01*x)", "t/{0:.17g} - floor(t/{0:.17g}) > 0.3 + 0.01*x"}) {
      std::vector<double> ends;
      for (const char* method : {"explicit", "half-explicit", "auto"}) {
        const Report r = run_text(mass_with("if(" + fmt::format(fmt::runtime(condition), period) + ",1,0.4) - x") +
                                  "[integrate]\nmethod = \"" + method + "\"\ntolerance = 1e-9\nend = 4.1\n");
        EXPECT_LT(r.steps, 20000) << method << ' ' << period;
        EXPECT_EQ(r.final.t, 4.1) << method << ' ' << period;
        ends.push_back(r.final.y[0]);
      }
      EXPECT_NEAR(ends[0], ends[1], 1e-6) << condition << ' ' << period;
      EXPECT_NEAR(ends[0], ends[2], 1e-6) << condition << ' ' << period;
    }
}

TEST(TimeKinks, PulsesAreNotSteppedOver) {
  RandomNumbers random(11);
  for (int n = 0; n < 6; ++n) {
    const double at = 1 + 3 * random.uniform(), d = std::pow(10, -1 - 3 * random.uniform());
    const std::string force = fmt::format("if(t > {0:.17g} and t < {1:.17g}, {2:.17g}, 0)", at, at + d, 1 / d);
    expect_exact(force, {{0, at, at + d}, {0, 1 / d, 0}}, 5, 0.05 + 0.2 * random.uniform());
  }
}

TEST(TimeKinks, CarriersAreNotSteppedOver) {
  RandomNumbers random(12);
  for (int n = 0; n < 4; ++n) {
    const double f = 5 + 15 * random.uniform(), level = 0.9 * random.uniform();
    Steps steps{{0}, {0}};
    const double w = 2 * std::numbers::pi * f, a = std::asin(level) / w;
    for (int k = 0; k / f < 2; ++k) {
      steps.time.insert(steps.time.end(), {a + k / f, 0.5 / f - a + k / f});
      steps.force.insert(steps.force.end(), {3, 0});
    }
    expect_exact(fmt::format("if(sin(2*pi*{:.17g}*t) > {:.17g}, 3, 0)", f, level), steps, 1.9, 0.13);
  }
}

TEST(TimeKinks, TablesOfAnySizeAreFollowed) {
  for (const int n : {10, 300}) {
    std::string T = "T = [0.0", F = "F = [1.0";
    Steps steps{{0}, {1}};
    RandomNumbers random(13);
    for (int k = 1; k <= n; ++k) {
      steps.time.push_back(steps.time.back() + (0.5 + random.uniform()) / n);
      steps.force.push_back(2 * random.uniform() - 1);
      T += fmt::format(", {:.17g}", steps.time.back());
      F += fmt::format(", {:.17g}", steps.force.back());
    }
    steps.force.back() = 0;
    const auto [x, v] = steps.at(2);
    for (const char* method : {"auto", "radau"}) {
      const Report r = run_text(
          fmt::format("[parameters]\n{}]\n{}]\n{}[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\nend = 2\n", T, F,
                      mass_with(fmt::format("sum(i, 0, {}, if(t >= T[i] and t < T[i+1], F[i], 0))", n - 1)), method));
      EXPECT_NEAR(r.final.y[0], x, 1e-7) << method << n;
      EXPECT_NEAR(r.final.z[0], v, 1e-7) << method << n;
    }
  }
}

// A table of the position: force -x by 400 pieces, each constant.
TEST(TimeKinks, TablesOfAPositionAreFollowed) {
  std::string X = "X = [-1.0";
  for (int k = 1; k <= 400; ++k) X += fmt::format(", {:.17g}", -1 + k / 200.0);
  const Report r = run_text("[parameters]\n" + X + "]\n" +
                            mass_with("sum(i, 0, 399, if(x >= X[i] and x < X[i+1], -(X[i] + X[i+1])/2, 0))") +
                            "[integrate]\ntolerance = 1e-9\nend = 1.3\n");
  // parabola by parabola, down from 0.25 where a piece begins
  double x = 0.25, v = 0, t = 0;
  for (int i = 249; t < 1.3; --i) {
    const double f = -(-1 + (i + 0.5) / 200), to = -1 + i / 200.0;
    const double h = std::min(1.3 - t, (-v - std::sqrt(v * v - 2 * f * (x - to))) / f);
    x += v * h + f * h * h / 2;
    v += f * h;
    t += h;
  }
  EXPECT_NEAR(r.final.y[0], x, 2e-6);  // measured 5e-7: fifty roots, each at the tolerance
  EXPECT_NEAR(r.final.z[0], v, 2e-6);
}

// The integral of a sawtooth, and of |sin|: jumps of atan2 and tan, kinks of a root.
TEST(TimeKinks, SawteethAndRectifiersHaveKinks) {
  const double pi = std::numbers::pi;
  for (const std::string force : {"atan2(sin(7*t), cos(7*t))", "2*atan(tan(3.5*t))", "2*asin(sin(3.5*t))"})
    for (const char* method : {"auto", "radau", "bdf"}) {
      const Report r =
          run_text(mass_with(force) +
                   fmt::format("[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\nend = {}\n", method, 20 * pi / 7));
      EXPECT_NEAR(r.final.z[0], 0, 1e-6) << method << ": " << force;
    }
  const Report r =
      run_text(mass_with("sqrt(sin(7*t)^2)") + fmt::format("[integrate]\ntolerance = 1e-9\nend = {}\n", 20 * pi / 7));
  EXPECT_NEAR(r.final.z[0], 40 / 7.0, 1e-6);
}

TEST(TimeKinks, ShortSmoothPulsesAreSeen) {
  RandomNumbers random(14);
  for (int n = 0; n < 8; ++n) {
    const double at = 2 + 6 * random.uniform(), d = std::pow(10, -2 - 3 * random.uniform());
    for (const char* method : {"auto", "radau", "bdf"}) {
      const Report r = run_text(mass_with(fmt::format("{:.17g}*exp(-((t - {:.17g})/{:.17g})^2)", 1 / d, at, d)) +
                                fmt::format("[integrate]\nmethod = \"{}\"\ntolerance = 1e-8\nend = 10\n", method));
      EXPECT_NEAR(r.final.z[0], std::sqrt(std::numbers::pi), 1e-5) << method << at << ' ' << d;
    }
  }
}

// A condition of the motion that holds for a short while within a step: x passes a narrow window.
TEST(TimeKinks, NarrowWindowsOfThePositionAreSeen) {
  RandomNumbers random(15);
  for (int n = 0; n < 8; ++n) {
    const double at = 1 + 3 * random.uniform(), d = std::pow(10, -1 - 3 * random.uniform());
    // thrown up to its highest point just above `at`: the force acts above it
    const std::string text = fmt::format(
        "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"if(x > {:.17g}, -2, -1)\"]\n[initial]\n"
        "position = {{ x = 0 }}\nvelocity = {{ x = {:.17g} }}\n",
        at, std::sqrt(2 * (at + d)));
    // up with -1 to the window, through it with -2 and back, down with -1
    const double v0 = std::sqrt(2 * (at + d)), v1 = std::sqrt(2 * d), up = v0 - v1, through = v1;
    const double end = 2 * up + through;
    for (const char* method : {"explicit", "radau"}) {
      const Report r =
          run_text(text + fmt::format("[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\nend = {:.17g}\n", method, end));
      EXPECT_NEAR(r.final.y[0], 0, 1e-6) << method << d;
      EXPECT_NEAR(r.final.z[0], -v0, 1e-6) << method << d;
    }
  }
}

std::string driven(const std::string& constraint) {
  return "[lagrangian]\ncoordinates = [\"x\", \"u\"]\nkinetic = \"x'^2/2 + (u' + x')^2/2\"\nconstraints = [\"" +
         constraint + "\"]\n[initial]\nposition = { x = 0, u = 0 }\n";
}

TEST(TimeKinks, APrescribedPositionCannotJump) {
  for (const std::string steps : {"tolerance = 1e-8", "step = 0.03"}) {
    const Model m = parse_model(
        driven("x - if(t > 1, 0.5, 0)") + "[integrate]\nmethod = \"radau\"\n" + steps + "\nend = 2\n", "m.toml");
    Simulation s = m.simulation_for("");
    s.start(m.start);
    EXPECT_THROW(s.until(m.end), StepFailure) << steps;
    EXPECT_LE(s.state().t, 1 + 1e-9);
  }
}

// A prescribed velocity can: by an impulse on x, which leaves u' + x' as it is.
TEST(TimeKinks, APrescribedVelocityJumpsByAnImpulse) {
  for (const std::string steps : {"method = \"auto\"\ntolerance = 1e-8", "method = \"radau\"\ntolerance = 1e-8",
                                  "method = \"rattle\"\nstep = 0.03", "method = \"gauss-lobatto\"\nstep = 0.03"}) {
    const Report r = run_text(driven("x - max(0, 2*(t - 1))") + "[integrate]\n" + steps + "\nend = 2\n");
    EXPECT_NEAR(r.final.y[0], 2, 1e-9) << steps;
    EXPECT_NEAR(r.final.y[1], -2, 1e-9) << steps;
    EXPECT_LT(r.hidden_constraint, 1e-9) << steps;
    EXPECT_TRUE(std::any_of(r.remarks.begin(), r.remarks.end(), [](const std::string& s) {
      return s.find("impulse") != std::string::npos;
    })) << steps;
  }
}

}  // namespace
}  // namespace hinge::time_kinks_test
