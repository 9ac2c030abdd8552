// Claims: the energy is judged beside dampers, forces and motors as well, against the mean kinetic energy, too; bodies
// that turn far in a step are looked at; masses with the wrong sign are doubted. Models are drawn at random, and those
// that are right are sound.
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::test::judged_energy_test {
namespace {

Report report_of(const std::string& text, const std::vector<Override>& more = {}) {
  const Model model = parse_model(text, "model", more);
  Simulation run = model.simulation_for("");
  run.start(model.start);
  try {
    run.until(model.end);
  } catch (const StepFailure&) {
  }
  return run.report();
}

bool doubts(const Report& report, const std::string& words) {
  for (const Doubt& doubt : report.doubts)
    if (doubt.cause.find(words) != std::string::npos) return true;
  return false;
}

// An oscillator m x'' = -k x - c x' + F cos(w t), in any units.
std::string oscillator(Draw& draw, double damping, double force, double steps_per_period, double periods,
                       const char* method) {
  const double m = draw.power(-6, 6), omega = draw.power(-3, 3), length = draw.power(-3, 3), k = m * omega * omega,
               h = 2 * std::numbers::pi / omega / steps_per_period;
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{:.17g}/2*x'^2\"\npotential = \"{:.17g}/2*x^2\"\n"
      "force = {{ x = \"-{:.17g}*x' + {:.17g}*cos({:.17g}*t)\" }}\n[initial]\nposition = {{ x = {:.17g} "
      "}}\n[integrate]\n"
      "method = \"{}\"\nstep = {:.17g}\nend = {:.17g}\n",
      m, k, damping * m * omega, force * k * length, omega * draw.number(0.3, 1.7), length, method, h,
      2 * std::numbers::pi / omega * periods);
}

TEST(JudgedEnergy, StepsBeyondStabilityCreateEnergyBesideDampers) {
  Draw draw(1501);
  for (int trial = 0; trial < 20; ++trial) {
    const double damping = draw.number(0, 0.05), force = trial % 2 == 0 ? 0 : draw.number(0.01, 0.1);
    // 2/omega is pi steps in a period
    const Report r = report_of(oscillator(draw, damping, force, draw.number(2.6, 3.05), 10, "rattle"));
    EXPECT_TRUE(doubts(r, "energy was created")) << trial << '\n' << verdict_text(r);
  }
}

// Forces on a coordinate without mass, which its constraint hands on to one that has some.
TEST(JudgedEnergy, DampersOnCoordinatesWithoutMassAreSound) {
  Draw draw(1508);
  for (const char* method : {"gauss-lobatto", "explicit", "radau", "bdf"})
    for (int trial = 0; trial < 6; ++trial) {
      const double ratio = draw.number(0.5, 3), damping = draw.power(-3, -1);
      const Report r = report_of(fmt::format(
          "[lagrangian]\ncoordinates = [\"x\", \"s\"]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n"
          "constraints = [\"s - {0:.17g}*x\"]\nforce = {{ s = \"-{1:.17g}*s'\" }}\n[initial]\nposition = {{ x = 1, s = "
          "{0:.17g} }}\n[integrate]\nmethod = \"{2}\"\nstep = 0.02\nend = 20\n",
          ratio, damping, method));
      EXPECT_TRUE(r.sound()) << method << ' ' << trial << '\n' << verdict_text(r);
    }
}

TEST(JudgedEnergy, DampedAndDrivenMotionIsSound) {
  Draw draw(1502);
  for (const char* method : {"rattle", "gauss-lobatto", "explicit", "generalized-alpha", "radau", "symplectic-euler"})
    for (int trial = 0; trial < 12; ++trial) {
      const double damping = draw.power(-3, 0.5), force = trial % 2 == 0 ? 0 : draw.power(-2, 1);
      const bool first = std::string(method) == "symplectic-euler";
      const std::string text = oscillator(draw, damping, force, draw.number(25, 100) * (first ? 8 : 1), 20, method);
      const Report r = report_of(text);
      EXPECT_TRUE(r.sound()) << method << ' ' << trial << '\n' << verdict_text(r) << text;
      if (std::string(method) != "explicit" && std::string(method) != "radau") continue;
      const Report chosen = report_of(text, {{"integrate.tolerance", "{ relative = 1e-7, absolute = 1e-30 }"}});
      EXPECT_TRUE(chosen.sound()) << method << ' ' << trial << '\n' << verdict_text(chosen) << text;
    }
}

// With a tolerance that is much too large energy is lost or created beside a weak damper.
TEST(JudgedEnergy, LooseTolerancesAreDoubtedBesideDampers) {
  Draw draw(1503);
  int said = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const std::string text = oscillator(draw, 1e-4, 0, 50, 2000, "explicit");
    const Report r =
        report_of(text, {{"integrate.tolerance", "{ relative = 1e-4, absolute = 1e-30 }"}, {"integrate.order", "5"}});
    said += doubts(r, "energy");
  }
  EXPECT_EQ(said, 8);
}

// The mean kinetic energy of a Kepler motion is -E: a comet whose energy is off by a part of the largest one escapes.
TEST(JudgedEnergy, CometsDoNotEscapeWithoutAWord) {
  Draw draw(1504);
  int sound = 0;
  for (int trial = 0; trial < 24; ++trial) {
    const double e = 1 - draw.power(-3, -1), steps = draw.power(1.7, 4);
    const char* const methods[] = {"rattle", "gauss-lobatto", "explicit", "energy-momentum"};
    const char* const method = methods[trial % 4];
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"-1/norm(q)\"\n[initial]\n"
        "position = {{ q = [{:.17g}, 0] }}\nvelocity = {{ q = [0, {:.17g}] }}\n[integrate]\nmethod = \"{}\"\nstep = "
        "{:.17g}\nend = {:.17g}\n[output]\nquantities = {{ axis = \"1/(2/norm(q) - dot(q',q'))\" }}\n",
        1 + e, std::sqrt((1 - e) / (1 + e)), method, 2 * std::numbers::pi / steps, 5 * std::numbers::pi);
    const Report r = report_of(text);
    if (!r.sound()) continue;
    ++sound;
    EXPECT_NEAR(r.quantities[0].value[0], 1, 0.3) << method << " e = " << e << ", " << steps << " steps per orbit";
  }
  EXPECT_GE(sound, 3);
}

std::string rotor(double spin, double step, double end, const char* method) {
  return fmt::format(
      "[multibody]\ngravity = [0, 0, 0]\n[[body]]\nname = \"rotor\"\nmass = 1\ninertia = [0.2, 0.3, 0.4]\nposition = "
      "[0, "
      "0, 0]\nangular_velocity = [0, 0, {:.17g}]\ncollide = false\n[integrate]\nmethod = \"{}\"\nstep = {:.17g}\nend = "
      "{:.17g}\n",
      spin, method, step, end);
}

// Cayley's map turns by 2 atan(wh/2) in the place of wh.
TEST(JudgedEnergy, BodiesThatTurnFarInAStepAreLookedAt) {
  Draw draw(1505);
  for (int trial = 0; trial < 8; ++trial) {
    const double spin = draw.power(-2, 3), turn = draw.number(1.8, 4);
    const Report r = report_of(rotor(spin, turn / spin, 40 / spin, "energy-momentum"));
    EXPECT_TRUE(doubts(r, "turn by more than 60 degrees") || doubts(r, "do not follow")) << turn << verdict_text(r);
    const Report fine = report_of(rotor(spin, 0.05 / spin, 40 / spin, "energy-momentum"));
    EXPECT_TRUE(fine.sound()) << verdict_text(fine);
    const Report exact = report_of(rotor(spin, turn / spin, 40 / spin, "moreau-jean"));  // by the exponential
    EXPECT_TRUE(exact.sound()) << verdict_text(exact);
  }
}

TEST(JudgedEnergy, MassesWithTheWrongSignAreDoubted) {
  Draw draw(1506);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = draw.integer(1, 4), wrong = draw.integer(0, n - 1);
    std::string kinetic = "0";
    for (int i = 0; i < n; ++i)
      kinetic += fmt::format(" + {:.17g}*(q[{}]' + {}*q[0]')^2", draw.power(-6, 6), i, i > 0 ? draw.number(-1, 1) : 0);
    const auto model = [&](const std::string& energy) {
      return fmt::format(
          "[lagrangian]\ncoordinates = [\"q[{}]\"]\nkinetic = \"{}\"\npotential = \"1e-9*dot(q,q)\"\nconstraints = "
          "[\"q[{}] "
          "- q[{}]\"]\n[initial]\nposition = {{ q = [{}] }}\n[integrate]\nmethod = \"gauss-lobatto\"\nstep = 1e-4\nend "
          "= "
          "1e-3\n",
          n + 1, energy, n, wrong, [&] {
            std::string zeros = "0";
            for (int i = 0; i < n; ++i) zeros += ", 0";
            return zeros;
          }());
    };
    // the last coordinate goes with another one: what counts is the sum of both masses
    EXPECT_TRUE(doubts(report_of(model(fmt::format("{} - 1e8*q[{}]'^2", kinetic, wrong))), "negative")) << trial;
    const Report right = report_of(model(fmt::format("{} + 1e7*q[{}]'^2 - 1e-7*q[{}]'^2", kinetic, wrong, n)));
    EXPECT_FALSE(doubts(right, "negative")) << trial << verdict_text(right);
  }
}

// Powers that end at a kink, as of contacts by Hertz, have no values beyond it, where steps look.
TEST(KinkedPowers, RunWithATolerance) {
  Draw draw(1508);
  for (int trial = 0; trial < 12; ++trial) {
    const double power = draw.number(1.1, 3), k = draw.power(1, 4), at = draw.number(-0.5, 0.2);
    const std::string depth = fmt::format("({} - x)", at);
    const std::vector<std::string> forms{
        fmt::format("{}*max({}, 0)^{}", k, depth, power), fmt::format("if(x < {}, {}*{}^{}, 0)", at, k, depth, power),
        fmt::format("(3*max(0, {}))^{}*{:.17g}", depth, power, k / std::pow(3, power))};
    std::vector<double> ends;
    for (const std::string& form : forms)
      for (const char* method : {"explicit", "auto", "radau", "bdf", "half-explicit"}) {
        const Report r =
            report_of(fmt::format("[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{} - "
                                  "9.81\"]\n[initial]\nposition = {{ x = 1 }}\n"
                                  "[integrate]\nmethod = \"{}\"\ntolerance = 1e-10\nend = 1.5\n",
                                  form, method));
        EXPECT_TRUE(r.sound()) << form << ' ' << method << ' ' << verdict_text(r) << r.message;
        ends.push_back(r.final.y[0]);
      }
    for (const double end : ends) EXPECT_NEAR(end, ends.front(), 2e-6) << trial;
  }
}

// What has no values on a side has none when a condition changes there.
TEST(KinkedPowers, StayUndefinedWhereTheyAre) {
  for (const char* method : {"explicit", "auto", "radau", "bdf"}) {
    const Report r = report_of(fmt::format(
        "[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"sqrt(x) + if(x < 0, 1, 2) - 9.81\"]\n[initial]\n"
        "position = {{ x = 1 }}\n[integrate]\nmethod = \"{}\"\ntolerance = 1e-8\nend = 1.5\n",
        method));
    EXPECT_FALSE(r.sound()) << method;
    EXPECT_LT(r.end, 0.7) << method;
  }
}

}  // namespace
}  // namespace hinge::test::judged_energy_test
