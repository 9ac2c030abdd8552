// [states] beside mechanical systems: the same motion as the same equations written as a DAE or solved by hand, by
// every method that takes them; samples at exact times.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "complaint.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"
#include "run_text.hpp"

namespace hinge::state_section_test {
namespace {

using test::mentions;
using test::run;
using test::value_of;

Report run(const std::string& text) { return test::run_text(text); }

std::string complaint(const std::string& text) {
  try {
    parse_model(text, "m.toml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

// A pendulum as a point on a circle, driven by a motor with inductance: force along the tangent.
const std::string motor =
    "[states]\ncurrent = { rate = \"2 - 3*current - 0.5*w\", initial = 0.4 }\n"
    "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"9.81*q[1]\"\n"
    "constraints = [\"(dot(q,q) - 1)/2\"]\nforce = { q = \"current*[-q[1], q[0]]\" }\n"
    "[define]\nw = \"q[0]*q[1]' - q[1]*q[0]'\"\n"
    "[initial]\nposition = { q = [0, -1] }\nvelocity = { q = [0.5, 0] }\n"
    "[output]\nquantities = { w = \"w\", current_now = \"current\", a = \"atan2(q[0], -q[1])\" }\n";
// The same by its angle.
const std::string reduced =
    "[dae]\nunknowns = [\"a\", \"w\", \"current\"]\nequations = [\"a' = w\", \"w' = -9.81*sin(a) + current\", "
    "\"current' = 2 - 3*current - 0.5*w\"]\n[initial]\nunknowns = { a = 0, w = 0.5, current = 0.4 }\n"
    "[integrate]\nmethod = \"radau\"\ntolerance = 1e-12\nend = 2\n";

TEST(States, EveryMethodAgreesWithTheReducedEquations) {
  const Report exact = run(reduced);
  const std::tuple<const char*, double> cases[] = {
      {"method = \"explicit\"\ntolerance = 1e-9", 1e-7},
      {"method = \"radau\"\ntolerance = 1e-9", 1e-7},
      {"method = \"bdf\"\ntolerance = 1e-9", 1e-5},
      {"method = \"auto\"\ntolerance = 1e-9", 1e-7},
      {"method = \"gauss-lobatto\"\nstages = 2\nstep = 0.01", 1e-6},
      {"method = \"lobatto-iiia-iiib\"\nstages = 3\nstep = 0.01", 1e-6},
      {"method = \"rattle\"\nstep = 0.001", 1e-4},
      {"method = \"radau\"\nstages = 3\nstep = 0.01", 1e-7},
      {"method = \"bdf\"\nstep = 0.001", 1e-4},
      {"method = \"half-explicit\"\norder = 4\nstep = 0.005", 1e-6},
      {"method = \"explicit\"\nstep = 0.01", 1e-8},
      {"method = \"generalized-alpha\"\nstep = 0.001", 1e-4},
      {"method = \"symplectic-euler\"\nstep = 0.0002", 1e-2},
      {"method = \"composition\"\nbase = \"symplectic-euler\"\norder = 4\nstep = 0.005", 1e-5},
  };
  for (const auto& [integrate, error] : cases) {
    const Report r = run(motor + "[integrate]\n" + integrate + "\nend = 2\n");
    EXPECT_NEAR(value_of(r, "a"), exact.final.y[0], error) << integrate;
    EXPECT_NEAR(value_of(r, "w"), exact.final.y[1], 5 * error) << integrate;
    EXPECT_NEAR(value_of(r, "current_now"), exact.final.y[2], error) << integrate;
    EXPECT_EQ(r.final.z.back(), value_of(r, "current_now"));
  }
}

TEST(States, StandBesideEveryKindOfSystem) {
  // x'' = -x + s, s' = -s: s = exp(-t), x = (exp(-t) + ... )/2: x'' + x = exp(-t), x(0) = 0, x'(0) = 0
  const auto x = [](double t) { return (std::exp(-t) - std::cos(t) + std::sin(t)) / 2; };
  const std::string state = "[states]\ns = { rate = \"-s\", initial = 1 }\n",
                    integrate = "[integrate]\nmethod = \"explicit\"\ntolerance = 1e-10\nend = 3\n";
  const std::string systems[] = {
      "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"s - x\"]\n[initial]\nposition = { x = 0 }\n",
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\nforce = { x = \"s\" "
      "}\n[initial]\n"
      "position = { x = 0 }\n",
      "[odae]\ny = [\"x\"]\nz = [\"v\"]\nv = [\"v\"]\nf = [\"s - x\"]\n[initial]\ny = { x = 0 }\nz = { v = 0 }\n",
      "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"b\"\nmass = 1\ninertia = 1\nposition = [0, 0]\nforce = [\"s - "
      "b[0]\", 0]\n",
      "[multibody]\ngravity = [0, 0, 0]\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 2, 3]\nposition = [0, 0, "
      "0]\nangular_velocity = [0.1, 1, 0.2]\nforce = [\"s - b[0]\", 0, 0]\n"};
  for (const std::string& system : systems) {
    const Report r = run(state + system + integrate);
    EXPECT_NEAR(r.final.y[0], x(3), 1e-8) << system;
    EXPECT_NEAR(r.final.z.back(), std::exp(-3.0), 1e-8) << system;
    EXPECT_NEAR(r.final.y.back(), 1 - std::exp(-3.0), 1e-8) << system;
  }
  // a Hamiltonian has no forces: a state can only look on
  const Report r =
      run("[states]\ns = { rate = \"q\" }\n[hamiltonian]\ncoordinates = [\"q\"]\nmomenta = [\"p\"]\nhamiltonian = "
          "\"p^2/2 + "
          "q^2/2\"\n[initial]\nposition = { q = 1 }\n" +
          integrate);
  EXPECT_NEAR(r.final.z.back(), std::sin(3.0), 1e-8);
}

TEST(States, BesideContacts) {
  // a ball on a table that a pressure lifts: p' = 1 from 0; it leaves when p = 9.81
  const std::string text =
      "[states]\np = { rate = \"4\" }\n[mechanical]\ncoordinates = [\"y\"]\nmass = [1]\nforce = [\"p - "
      "9.81\"]\nunilateral "
      "= [{ gap = \"y\" }]\n[initial]\nposition = { y = 0 }\n[integrate]\n";
  const double t0 = 9.81 / 4, y = 4 * std::pow(3 - t0, 3) / 6;
  EXPECT_NEAR(run(text + "method = \"event-driven\"\ntolerance = 1e-9\nend = 3\n").final.y[0], y, 1e-6);
  EXPECT_NEAR(run(text + "method = \"moreau-jean\"\nstep = 0.0005\nend = 3\n").final.y[0], y, 1e-3);
  // a box that a growing force drags over the floor: it slips when the force passes mu m g
  const Report r =
      run("[states]\npull = { rate = \"2\" }\n[multibody]\ngravity = [0, 0, -10]\n[contact]\nfriction = 0.3\n"
          "[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 0, 1] }\n"
          "[[body]]\nname = \"box\"\nmass = 1\nshape = { box = [0.4, 0.4, 0.1] }\nposition = [0, 0, 0.05]\n"
          "force = [\"pull\", 0, 0]\n[integrate]\nmethod = \"moreau-jean\"\nstep = 0.001\nend = 2\n");
  EXPECT_NEAR(r.final.z[0], 0.25, 0.01);  // pull = 3 at t = 1.5, then v = (t - 1.5)^2
  EXPECT_NEAR(r.final.z.back(), 4, 1e-9);
}

// A cart with a held force: between samples the exact solution is a parabola.
TEST(SampledStates, AreTheExactDiscreteSolution) {
  for (const auto& [integrate, error] : {std::pair{"method = \"explicit\"\ntolerance = 1e-9", 1e-12},
                                         {"method = \"radau\"\ntolerance = 1e-9", 1e-9},
                                         {"method = \"bdf\"\ntolerance = 1e-9", 1e-6},
                                         {"method = \"rattle\"\nstep = 0.03", 1e-12},
                                         {"method = \"gauss-lobatto\"\nstages = 2\nstep = 0.01", 1e-12},
                                         {"method = \"rattle\"\nstep = 0.1", 1e-12}}) {
    const Report r = run(fmt::format(
        "[states]\nu = {{ every = 0.1, update = \"-9*x - 4*x'\" }}\nn = {{ every = 0.1, update = \"n + 1\" }}\n"
        "old = {{ every = 0.1, update = \"u\" }}\n"
        "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"u\"]\n[initial]\nposition = {{ x = 1 }}\n"
        "[integrate]\n{}\nend = 2\n",
        integrate));
    double x = 1, v = 0, u = 0, old = 0;
    for (int k = 0; k < 20; ++k) {
      old = u;
      u = -9 * x - 4 * v;
      x += 0.1 * v + 0.005 * u;
      v += 0.1 * u;
    }
    EXPECT_NEAR(r.final.y[0], x, error) << integrate;
    EXPECT_NEAR(r.final.z[0], v, 10 * error) << integrate;
    EXPECT_NEAR(r.final.z[1], u, 100 * error) << integrate;
    EXPECT_EQ(r.final.z[2], 20) << integrate;  // the sample at t = 2 is that of the next step
    EXPECT_NEAR(r.final.z[3], old, 100 * error) << integrate;
  }
}

TEST(SampledStates, OfDifferentTimesAndOffsets) {
  const Report r = run(
      "[states]\na = { every = 0.25, update = \"a + 1\" }\nb = { every = 0.1, offset = 0.05, update = \"b + 1\" }\n"
      "c = { every = 0.25, offset = 0.2, update = \"t\" }\n[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = "
      "[0]\n[initial]\nposition = { x = 0 }\n[integrate]\nmethod = \"rattle\"\nstep = 0.07\nend = 1.001\n");
  EXPECT_EQ(r.final.z[1], 5);   // 0, 0.25, 0.5, 0.75, 1
  EXPECT_EQ(r.final.z[2], 10);  // 0.05, ..., 0.95
  EXPECT_NEAR(r.final.z[3], 0.95, 1e-15);
  // a thousand samples a second for a minute: none is lost to rounding
  const Report many = run(
      "[states]\na = { every = 0.001, update = \"a + 1\" }\n[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = "
      "[0]\n[initial]\nposition = { x = 0 }\n[integrate]\nmethod = \"rattle\"\nstep = 0.01\nend = 20.0005\n");
  EXPECT_EQ(many.final.z[1], 20001);
}

// ---- Examples: the numbers in their heads ---------------------------------------------------------------------------

Model example(const std::string& name, double end = 0) {
  std::vector<Override> overrides;
  if (end > 0) overrides.push_back({"integrate.end", fmt::format("{}", end), ""});
  return load_model(HINGE_EXAMPLES "/" + name, overrides);
}

TEST(ControlExamples, ASliderCrankIsHeldAtItsSpeed) {
  const Report before = run(example("pid-slider-crank.toml", 3)), after = run(example("pid-slider-crank.toml"));
  const double turns = (after.final.z.back() - before.final.z.back()) / (2 * std::numbers::pi);
  EXPECT_NEAR(turns, 5, 1e-7);  // measured 4e-10
  EXPECT_LT(std::abs(value_of(after, "slider_error")), 1e-15);
}

TEST(ControlExamples, AMotorComesToRestWhereItsTorqueBalancesGravity) {
  const Report r = run(example("dc-motor.toml"));
  EXPECT_NEAR(r.final.y[0], 0.534817458, 1e-8);
  EXPECT_NEAR(r.final.z[1], 2.5, 1e-8);
  EXPECT_NEAR(value_of(r, "rest_error"), 0, 1e-9);
}

TEST(ControlExamples, ASampledControllerIsTheDiscreteSolution) {
  const Report r = run(example("sampled-control.toml"));
  EXPECT_NEAR(r.final.y[0], -0.006009332474, 1e-12);
  EXPECT_NEAR(value_of(r, "error"), 0, 1e-14);
}

TEST(ControlExamples, ACamFromATable) {
  const Report r = run(example("cam-table.toml", 0.9583333));  // 210 degrees
  EXPECT_NEAR(value_of(r, "height"), 0.01, 1e-7);
  EXPECT_NEAR(value_of(r, "push"), 50, 0.01);
  EXPECT_LT(r.constraint, 1e-15);
}

TEST(States, WhatIsWrongIsSaid) {
  const auto with = [](const std::string& states, const std::string& more = "", const std::string& force = "0") {
    return complaint(
        fmt::format("[states]\n{}\n[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2{}\"\nforce = {{ x = \"{}\" "
                    "}}\n[initial]\n"
                    "position = {{ x = 0 }}\n[integrate]\nstep = 0.1\nend = 1\n",
                    states, more, force));
  };
  const std::tuple<std::string, const char*> cases[] = {
      {with("s = { initial = 1 }"), "m.toml:2: states.s: give 'rate', the time derivative, or 'update' and 'every'"},
      {with("s = { rate = 1, update = 2 }"), "one of the two"},
      {with("s = { update = 2 }"), "a sampled state needs both 'every' and 'update'"},
      {with("s = { rate = 1, every = 0.1 }"), "a sampled state needs both"},
      {with("s = { every = -1, update = 2 }"), "it must be positive"},
      {with("s = { rate = 1, offset = 2 }"), "only a sampled state has an 'offset'"},
      {with("s = { rates = 1 }"), "did you mean 'rate'?"},
      {with("s = 3"), "expected a table, as in s = { rate ="},
      {with("x = { rate = 1 }"), "'x' is declared twice"},
      {with("sin = { rate = 1 }"), "already means something"},
      {with("s = { rate = \"psy\" }"), "unknown name"},
      {with("s = { rate = 1 }", " + s*x'^2"), "depends on the state 's'; states act by forces"},
      {with("s = { rate = 1 }", "", "s'"), "a state has no prime; write its rate"},
      {with("s = { rate = 1, initial = \"x\" }"), "must be a constant"},
      {complaint(
           "[states]\ns = { rate = 1 }\n[dae]\nunknowns = [\"x\"]\nequations = [\"x' = 1\"]\n[initial]\nunknowns = { "
           "x = 0 }\n"),
       "a [dae] has unknowns for this"},
      {complaint(
           "[states]\ns = { rate = 1 }\n[multibody]\n[[particles]]\ncount = 3\nradius = 0.1\nmass = 1\nbox = [[0, 0, "
           "0], [1, 1, 1]]\n[integrate]\nstep = 0.1\nend = 1\n"),
       "[states] cannot stand beside [[particles]]"},
  };
  for (const auto& [message, words] : cases) EXPECT_TRUE(mentions(message, words)) << message << "\n  not: " << words;
}

}  // namespace
}  // namespace hinge::state_section_test
