// Steps of given length that are long beside the motion, or beside what acts on it: right, or a doubt.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"
#include "simulate/dae_levels.hpp"

namespace hinge::long_steps_test {
namespace {

struct Outcome {
  bool ended = false, doubted = false;
  State state;
  std::string doubts;
};

Outcome outcome(const std::string& text) {
  const Model model = parse_model(text, "model");
  Simulation run = model.simulation_for("");
  Outcome out;
  try {
    run.start(model.start);
    run.until(model.end);
    out.ended = true;
  } catch (const StepFailure&) {
  }
  for (const Doubt& doubt : run.report().doubts) out.doubts += doubt.cause + "; ";
  out.doubted = !out.doubts.empty();
  out.state = run.state();
  return out;
}

// A body that turns about a pin by `angle` in a step: the pin pulls by m r w^2.
TEST(LongSteps, ReactionsAreRightOrDoubted) {
  Draw d(7);
  int wrong = 0;
  for (int i = 0; i < 40; ++i) {
    const double mass = d.power(-3, 3), r = d.power(-2, 2), spin = d.power(-2, 2), angle = d.power(-1.5, 0.2);
    const double inertia = mass * r * r * d.power(-1, 0.5), phase = d.number(0, 6);
    for (const char* method : {"rattle", "gauss-lobatto", "radau", "moreau-jean", "generalized-alpha",
                               "energy-momentum", "symplectic-euler"}) {
      const Outcome run =
          outcome(fmt::format(R"x([multibody]
gravity = [0, 0]
[[body]]
name = "b"
mass = {}
inertia = {}
position = [{}, {}]
velocity = [{}, {}]
angular_velocity = {}
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "b"]
point = [0, 0]
[integrate]
method = "{}"
step = {}
end = {}
)x",
                              mass, inertia, r * std::cos(phase), r * std::sin(phase), -r * spin * std::sin(phase),
                              r * spin * std::cos(phase), spin, method, angle / spin, 12.5 * angle / spin));
      if (!run.ended) continue;
      const double force = std::hypot(run.state.psi[0], run.state.psi[1]), exact = mass * r * spin * spin;
      const double off = std::abs(force / exact - 1);
      wrong += off > 0.08 ? 1 : 0;
      EXPECT_TRUE(off < 0.08 || run.doubted) << method << ", " << angle << " in a step, off by " << off;
      EXPECT_TRUE(angle > 0.15 || !run.doubted) << method << ", " << angle << " in a step: " << run.doubts;
    }
  }
  EXPECT_GT(wrong, 5);
}

// A force that acts from a to a + w only, and its energy is F w.
TEST(LongSteps, WindowsOfAForceAreFeltOrDoubted) {
  Draw d(11);
  int ended = 0;
  for (int i = 0; i < 40; ++i) {
    const double mass = d.power(-2, 2), v = d.power(-1, 1), h = d.power(-3, -1), way = v * h;
    const int steps = d.integer(60, 3000);
    const double a = way * d.number(0.2, 0.8) * steps, w = way * d.power(-2, 0);
    const double gain = d.number(0.3, 4), force = gain * mass * v * v / 2 / w;
    const std::string forces =
        d.one_of<std::string>({fmt::format("if(x > {0} and x < {1}, {2}, 0)", a, a + w, force),
                               fmt::format("if(abs(x - {0}) < {1}, {2}, 0)", a + w / 2, w / 2, force),
                               fmt::format("{2}*(sign(x - {0}) - sign(x - {1}))/2", a, a + w, force)});
    for (const char* method :
         {"gauss-lobatto", "lobatto-iiia-iiib", "rattle", "energy-momentum", "bdf", "radau", "moreau-jean"}) {
      const Outcome run =
          outcome(fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{}*x'^2/2\"\n"
                              "force = {{ x = \"{}\" }}\n[initial]\nposition = {{ x = 0 }}\n"
                              "velocity = {{ x = {} }}\n[integrate]\nmethod = \"{}\"\nstep = {}\n"
                              "end = {}\n",
                              mass, forces, v, method, h, h * steps));
      if (!run.ended) continue;
      ++ended;
      const double off = std::abs(run.state.z[0] / std::sqrt(v * v * (1 + gain)) - 1);
      EXPECT_TRUE(off < 0.05 || run.doubted)
          << method << ' ' << forces << ", step " << h << ", speed " << v << ", " << steps << " steps: off by " << off;
    }
  }
  EXPECT_GT(ended, 100);
}

// The same with a hill that has no edge, in up to 300 steps. Where an end of a step stands on its flank, and the method
// does not look there, it may still be missed.
TEST(LongSteps, NarrowHillsAreFeltOrDoubted) {
  Draw d(13);
  int silent = 0, known = 0;
  for (int i = 0; i < 40; ++i) {
    const double mass = d.power(-2, 2), v = d.power(-1, 1), h = d.power(-3, -1), way = v * h;
    const int steps = d.integer(20, 300);
    const double place = way * d.number(0.2, 0.8) * steps, w = way * d.power(-2, -0.5);
    const double gain = d.number(0.5, 4), force = gain * mass * v * v / 2 / (w * std::sqrt(std::acos(-1.0)));
    for (const char* method :
         {"gauss-lobatto", "lobatto-iiia-iiib", "rattle", "energy-momentum", "bdf", "moreau-jean"}) {
      const Outcome run =
          outcome(fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{}*x'^2/2\"\n"
                              "force = {{ x = \"{}*exp(-((x - {})/{})^2)\" }}\n[initial]\n"
                              "position = {{ x = 0 }}\nvelocity = {{ x = {} }}\n[integrate]\n"
                              "method = \"{}\"\nstep = {}\nend = {}\n",
                              mass, force, place, w, v, method, h, h * steps));
      if (!run.ended) continue;
      const double off = std::abs(run.state.z[0] / std::sqrt(v * v * (1 + gain)) - 1);
      (off < 0.1 || run.doubted ? known : silent) += 1;
    }
  }
  EXPECT_LE(silent, 5);  // measured 3, and 68 before
  EXPECT_GT(known, 100);
}

// k sign(speed) at rest drives away on both sides; friction holds, and gravity decides.
TEST(StartsOnAJump, AreDoubtedWhereRoundingDecides) {
  Draw d(17);
  for (int i = 0; i < 30; ++i) {
    const double mass = d.power(-3, 3), length = d.power(-2, 2), k = d.power(-2, 0.3) * mass * length;
    const double hangs = d.chance(0.5) ? 0.0 : d.number(0.5, 2.5);
    const int kind = d.integer(0, 3);
    const std::string torque = kind == 0   ? fmt::format("{}*sign(a')", k)
                               : kind == 1 ? fmt::format("if(a' >= 0, {0}, -{0})", k)
                               : kind == 2 ? fmt::format("-{}*sign(a')", k)
                                           : fmt::format("{}*abs(a')", k);
    // gravity is stronger than k wherever the swing does not hang
    const Outcome run =
        outcome(fmt::format("[lagrangian]\ncoordinates = [\"a\"]\nkinetic = \"{}*a'^2/2\"\n"
                            "potential = \"-{}*cos(a)\"\nforce = {{ a = \"{}\" }}\n[initial]\n"
                            "position = {{ a = {} }}\n[integrate]\nmethod = \"auto\"\n"
                            "tolerance = 1e-6\nend = {}\n",
                            mass * length * length, 9.81 * mass * length, torque, hangs, 0.2 * std::sqrt(length)));
    EXPECT_EQ(run.doubted, kind < 2 && hangs == 0) << torque << ", from " << hangs << ": " << run.doubts;
  }
}

// v = f^-1(i) of a diode, in any unit: off by a part of v is off by a part of the terms, and rounding is nothing.
TEST(AlgebraicEquations, AreComparedWithTheirTerms) {
  Draw d(19);
  for (int i = 0; i < 20; ++i) {
    const double unit = d.power(-6, 6), scale = d.power(-9, 0), part = d.power(-2, 0);
    const Model model = parse_model(
        fmt::format(
            "[dae]\nunknowns = [\"i\", \"v\"]\nequations = [\"i' = {0} - v\", \"i = {1}*(exp(v/{0}*20) - 1)\"]\n"
            "[initial]\nunknowns = {{ i = 0, v = 0 }}\n[integrate]\ntolerance = 1e-6\nend = 1\n",
            unit, scale * unit),
        "model");
    DaeLevels levels(dynamic_cast<const SymbolicSystem&>(*model.system));
    const double v = unit * d.number(0.3, 1);
    State state{0, {scale * unit * std::expm1(20 * v / unit), v}, {0, 0}, {}};
    levels.begin();
    levels.at(state);
    levels.take(state);
    EXPECT_LT(levels.off(), 1e-14);
    state.y[0] *= 1 + part;
    levels.at(state);
    levels.take(state);
    EXPECT_LT(levels.off(), 1e-14);  // once is a jump
    state.t = 1;
    levels.take(state);
    EXPECT_GT(levels.off(), 0.01 * part);
    EXPECT_LT(levels.off(), part);
  }
}

// Two unknowns of a DAE, or two states, that drive each other round: a cos(w t), in units of all sizes.
TEST(LongSteps, EquationsOfFirstOrderAreRightOrDoubted) {
  Draw d(19);
  int wrong = 0, quiet = 0;
  for (int i = 0; i < 60; ++i) {
    const double w = d.power(-3, 5), a = d.power(-4, 4), unit = d.power(-6, 6), angle = d.power(-2.5, 0.8);
    const double h = angle / w, end = h * d.integer(20, 300), damping = d.chance(0.3) ? d.number(0, 0.2) * w : 0.0;
    const bool states = d.chance(0.4);
    const double right = a * std::exp(-damping * end) * std::cos(w * end);
    const std::string fu = fmt::format("-{}*u - {}*v", damping, w / unit),
                      fv = fmt::format("{}*u - {}*v", w * unit, damping);
    const std::string equations =
        states ? fmt::format(
                     "[states]\nu = {{ rate = \"{}\", initial = {} }}\nv = {{ rate = \"{}\" }}\n[lagrangian]\n"
                     "coordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nforce = {{ x = \"u\" }}\n[initial]\nposition = {{ x "
                     "= 0 }}\n",
                     fu, a, fv)
               : fmt::format(
                     "[dae]\nunknowns = [\"u\", \"v\", \"both\"]\nequations = [\"u' = {}\", \"v' = {}\", \"both = "
                     "u + {}*v\"]\n[initial]\nunknowns = {{ u = {}, v = 0 }}\n",
                     fu, fv, 1 / unit, a);
    for (const char* method : {"radau", "bdf", "rattle", "moreau-jean", "generalized-alpha", "gauss-lobatto"}) {
      const bool implicit = std::string(method) == "radau" || std::string(method) == "bdf";
      if (!states && !implicit) continue;
      const Outcome run =
          outcome(fmt::format("{}[integrate]\nmethod = \"{}\"\nstep = {}\nend = {}\n", equations, method, h, end));
      if (!run.ended) continue;
      const double off = std::abs((states ? run.state.z[1] : run.state.y[0]) - right) / a;
      wrong += off > 0.05 ? 1 : 0;
      quiet += run.doubted ? 0 : 1;
      EXPECT_TRUE(off < 0.05 || run.doubted)
          << method << (states ? ", states, " : ", ") << angle << " in a step, " << end / h << " steps: off by " << off;
      EXPECT_TRUE(off > 0.01 || angle > 0.5 || !run.doubted)
          << method << ", " << angle << " in a step, off by " << off << ": " << run.doubts;
    }
  }
  EXPECT_GT(wrong, 20);
  EXPECT_GT(quiet, 20);
}

// What is fast and damped may stay below the step, and what follows it is right.
TEST(LongSteps, FastDecayIsNoReasonForADoubt) {
  Draw d(23);
  for (int i = 0; i < 20; ++i) {
    const double fast = d.power(2, 6), w = d.number(0.3, 1), x = d.number(-2, 2);
    const Outcome run = outcome(fmt::format(
        "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -{0}*(x - cos({1}*t))\"]\n[initial]\nunknowns = {{ x = {2} "
        "}}\n[integrate]\nmethod = \"{3}\"\nstep = 0.05\nend = 10\n",
        fast, w, x, i % 2 ? "radau" : "bdf"));
    EXPECT_TRUE(run.ended);
    EXPECT_FALSE(run.doubted) << fast << ' ' << w << ' ' << x << ": " << run.doubts;
  }
}

}  // namespace
}  // namespace hinge::long_steps_test
