// energy-momentum with forces: what z is in a Hamiltonian, [states] of any size that act on nothing, starts at rest
// with the length of a velocity, events, and the axes of torques.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::energy_rest_and_states_test {
namespace {

using test::complaint_about;
using test::run_text;

std::string run_of(double step, double end, const std::string& more = "") {
  return fmt::format("[integrate]\nmethod = \"energy-momentum\"\nstep = {}\nend = {}\n{}", step, end, more);
}

// z is the momentum: what stands in [states] is that of the same system written with velocities.
TEST(EnergyForces, OfAHamiltonianSeeItsMomenta) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    const double m = draw.number(0.2, 5), n = draw.number(0.2, 5), b = draw.number(-0.1, 0.1), k = draw.number(0.5, 3),
                 c = draw.number(0.1, 1), v = draw.number(1, 3);
    const std::string derivative = draw.chance(0.5) ? "derivative = \"general\"" : "";
    const auto state_end = [&](const char* p, bool hamiltonian) {
      const double d = m * n - b * b;
      const std::string body =
          hamiltonian ? fmt::format(
                            "[hamiltonian]\ncoordinates = [\"x\", \"s\"]\nmomenta = [\"p\", \"r\"]\nhamiltonian = "
                            "\"({:.17g}*p^2 - 2*({:.17g})*p*r + {:.17g}*r^2)/2 + {}*x^4 + s^2*x^2\"\n"
                            "[initial]\nposition = {{ x = 1, s = 0.3 }}\nmomentum = {{ p = {:.17g}, r = {:.17g} }}\n",
                            n / d, b / d, m / d, k, m * v, b * v)
                      : fmt::format(
                            "[lagrangian]\ncoordinates = [\"x\", \"s\"]\nkinetic = \"({}*x'^2 + 2*({})*x'*s' + "
                            "{}*s'^2)/2\"\npotential = \"{}*x^4 + s^2*x^2\"\n"
                            "[initial]\nposition = {{ x = 1, s = 0.3 }}\nvelocity = {{ x = {}, s = 0 }}\n",
                            m, b, n, k, v);
      const Report r = run_text(fmt::format("[states]\nw = {{ rate = \"{} - {}*w*x\", initial = 0.2 }}\n", p, c) +
                                body + run_of(0.01, 1, derivative));
      EXPECT_TRUE(r.sound()) << seed;
      return r.final.z.back();
    };
    const double w = state_end("p", true), same = state_end(fmt::format("({}*x' + ({})*s')", m, b).c_str(), false);
    EXPECT_NEAR(w, same, 1e-13) << seed;  // measured 1.4e-15
    if (std::abs(m - 1) > 0.1) {
      EXPECT_GT(std::abs(state_end("x'", false) - same), 1e-3) << seed;  // what velocities for momenta would give
    }
  }
}

// u1 after iterations of u1 = u0 + h c(um) from u1 = u0, um = (u0 + u1)/2, c = -a u^3 + b sin u
double midpoint(double u, double h, int steps, double a, double b, int iterations) {
  for (int k = 0; k < steps; ++k) {
    double next = u;
    for (int i = 0; i < iterations; ++i) {
      const double m = (u + next) / 2;
      next -= (next - u - h * (-a * m * m * m + b * std::sin(m))) / (1 - h / 2 * (-3 * a * m * m + b * std::cos(m)));
    }
    u = next;
  }
  return u;
}

// Where bodies have come to rest in their equations, states have not: each is solved to its own rounding.
TEST(EnergyForces, StatesThatActOnNothingAreSolvedAsWell) {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Draw draw(seed);
    const double a = draw.number(20, 100), b = draw.number(-3, 3), u0 = draw.number(0.5, 1.5), h = 0.02;
    const double unit = draw.power(-9, 9);
    const std::string states = fmt::format(
        "[states]\nu = {{ rate = \"{:.17g}*(-{}*(u/{:.17g})^3 + ({})*sin(u/{:.17g}))\", initial = {:.17g} }}\n", unit,
        a, unit, b, unit, u0 * unit);
    const std::string push = fmt::format("{:.17g}*u", 1e-30 / unit);
    const std::string bodies[] = {
        fmt::format("[multibody]\ngravity = [0, 0, 0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [0.2, 0.3, 0.4]\n"
                    "velocity = [{}, 0, 0]\n[[force]]\nbody = \"a\"\nforce = [\"{}\", 0, 0]\n",
                    draw.number(0.1, 2), push),
        fmt::format("[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = 0.2\n"
                    "velocity = [{}, 0]\n[[force]]\nbody = \"a\"\nforce = [\"{}\", 0]\n",
                    draw.number(0.1, 2), push),
        fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n"
                    "force = {{ x = \"{}\" }}\n[initial]\nposition = {{ x = 0 }}\nvelocity = {{ x = {} }}\n",
                    push, draw.number(0.1, 2))};
    for (const std::string& body : bodies) {
      const double u = run_text(states + body + run_of(h, 0.2)).final.z.back() / unit;
      EXPECT_NEAR(u, midpoint(u0, h, 10, a, b, 30), 1e-14) << seed << body;  // measured 8.4e-17
    }
    EXPECT_GT(std::abs(midpoint(u0, h, 10, a, b, 1) - midpoint(u0, h, 10, a, b, 30)), 1e-4)
        << seed;  // one increment: 7.8e-4
  }
}

TEST(EnergyForces, UnitsOfStatesChangeNothing) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    const double unit = draw.power(-12, 12);
    const Report r = run_text(
        fmt::format(
            "[states]\nP = {{ rate = \"{:.17g}*q[0]\", initial = {:.17g} }}\n[lagrangian]\ncoordinates = [\"q[2]\"]\n"
            "kinetic = \"0.5*dot(q',q')\"\npotential = \"9.81*q[1]\"\nconstraints = [\"(dot(q,q)-1)/2\"]\n"
            "force = {{ q = \"P*[{:.17g},0]\" }}\n[initial]\nposition = {{ q = [1,0] }}\n",
            unit, unit, 0.1 / unit) +
        run_of(0.01, 5));
    EXPECT_LT(r.constraint, 1e-14) << unit;                         // measured 1.2e-16
    EXPECT_LT(r.discrete_energy_error.value_or(1), 1e-12) << unit;  // measured 2.8e-14
    EXPECT_GT(r.energy_error.value_or(0), 0.01) << unit;
  }
}

// A drag that grows with |v| v, from rest: v = sqrt(g/c) tanh(sqrt(g c) t), and beside it what rests for ever.
TEST(EnergyForces, WithTheLengthOfAVelocityStartFromRest) {
  const char* lengths[] = {"norm(x')", "sqrt(dot(x',x'))", "hypot(x[0]',x[1]')", "(x[0]'^2 + x[1]'^2)^0.5"};
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    const double g = draw.number(1, 10), c = draw.number(0.1, 0.5);
    const double exact = -std::sqrt(g / c) * std::tanh(std::sqrt(g * c));
    const std::string length = lengths[seed % 4];
    const auto models = [&](double step) {
      const std::string run = run_of(step, 1);
      return std::vector<std::string>{
          fmt::format("[lagrangian]\ncoordinates = [\"x[2]\", \"y[2]\"]\nkinetic = \"(dot(x',x') + dot(y',y'))/2\"\n"
                      "potential = \"{}*x[1]\"\nforce = {{ x = \"-{}*{}*x'\", y = \"-norm(y')*y'\" }}\n"
                      "[initial]\nposition = {{ x = [0,0], y = [0,0] }}\n{}",
                      g, c, length, run),
          fmt::format("[multibody]\ngravity = [0,-{}]\n[[body]]\nname = \"x\"\nmass = 1\ninertia = 0.2\n[[force]]\n"
                      "body = \"x\"\nforce = [\"-{}*{}*x[0]'\", \"-{}*{}*x[1]'\"]\n{}",
                      g, c, length, c, length, run),
          fmt::format("[multibody]\ngravity = [0,-{},0]\n[[body]]\nname = \"x\"\nmass = 1\ninertia = [0.2,0.3,0.4]\n"
                      "[[force]]\nbody = \"x\"\nforce = [\"-{}*norm(x')*x[0]'\", \"-{}*norm(x')*x[1]'\", "
                      "\"-{}*norm(x')*x[2]'\"]\n{}",
                      g, c, c, c, run)};
    };
    for (std::size_t k = 0; k < 3; ++k) {
      double before = 0;
      for (const double h : {0.02, 0.01, 0.005}) {
        const Report r = run_text(models(h)[k]);
        EXPECT_LT(r.discrete_energy_error.value_or(1), 1e-12) << seed;  // measured 3.6e-14
        const double error = std::abs(r.final.z[1] - exact);
        if (before > 0) {
          EXPECT_NEAR(std::log2(before / error), 2, 0.05) << seed << " " << k;
        }
        before = error;
      }
    }
  }
}

// The direction of a velocity has no value at rest: that is said, and not taken for 0.
TEST(EnergyForces, WithTheDirectionOfAVelocityDoNotStartFromRest) {
  for (const char* body :
       {"[lagrangian]\ncoordinates = [\"x[2]\"]\nkinetic = \"dot(x',x')/2\"\npotential = \"9.81*x[1]\"\n"
        "force = { x = \"-0.3*x'/norm(x')\" }\n[initial]\nposition = { x = [0,0] }\n",
        "[multibody]\ngravity = [0,0,-9.81]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [0.2,0.3,0.4]\n[[force]]\n"
        "body = \"a\"\nforce = [0, 0, \"-0.3*a[2]'/norm(a')\"]\n"})
    EXPECT_NE(complaint_about(body + run_of(0.01, 1)).find("not a number"), std::string::npos) << body;
}

// A step into where a force has no value fails, and says that.
TEST(EnergyForces, WithoutAValueAreSaid) {
  for (const char* body :
       {"[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n"
        "force = { x = \"sqrt(0.05 - x)\" }\n[initial]\nposition = { x = 0 }\nvelocity = { x = 1 }\n",
        "[multibody]\ngravity = [0,0,0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [0.2,0.3,0.4]\n"
        "velocity = [1,0,0]\n[[force]]\nbody = \"a\"\nforce = [\"sqrt(0.05 - a[0])\", 0, 0]\n"}) {
    const std::string why = complaint_about(body + run_of(0.02, 1));
    EXPECT_NE(why.find("infinite or not a number"), std::string::npos) << why;
  }
}

// What an event gives or takes is no work of forces, and nothing that the scheme loses.
TEST(EnergyForces, EventsAreNoErrorOfTheDiscreteEnergy) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    const double back = draw.number(0.7, 1.2);
    const Report r = run_text(
        fmt::format("[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"9.81*x\"\n"
                    "force = {{ x = \"-{}*x'\" }}\n[initial]\nposition = {{ x = {} }}\n[[event]]\nroot = \"x\"\n"
                    "direction = \"falling\"\nvelocity = {{ x = \"-{}*x'\" }}\n",
                    draw.number(0.1, 0.5), draw.number(0.5, 1), back) +
        run_of(0.01, 1.5));
    EXPECT_GE(r.events.size(), 2u) << seed;
    EXPECT_GT(r.energy_error.value_or(0), 0.1) << seed;
    EXPECT_LT(r.discrete_energy_error.value_or(1), 1e-12) << seed;  // measured 1.1e-14
  }
}

// Forces without a moment leave a system its angular momentum; where the scheme loses it, that is said.
TEST(EnergyForces, MomentaThatTheSchemeLosesAreNamed) {
  const auto warnings = [](const char* force) {
    return run_text(fmt::format("[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\n"
                                "potential = \"-1/norm(q)\"\nforce = {{ q = \"{}\" }}\n[initial]\n"
                                "position = {{ q = [1,0] }}\nvelocity = {{ q = [0,1] }}\n",
                                force) +
                    run_of(0.01, 0.1, "derivative = \"general\""))
        .warnings;
  };
  ASSERT_EQ(warnings("-0.1*dot(q,q')*q").size(), 1u);
  EXPECT_NE(warnings("-0.1*dot(q,q')*q")[0].find("angular momentum"), std::string::npos);
  EXPECT_TRUE(warnings("-0.1*q'").empty());  // not conserved by the system
}

TEST(EnergyForces, OfBodiesInThePlaneChangeTheEnergyByTheirWorkAlone) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Draw draw(seed);
    const Report r = run_text(
        fmt::format("[multibody]\ngravity = [0,-9.81]\n[states]\nu = {{ rate = \"pin_angle - u\" }}\n[[body]]\n"
                    "name = \"a\"\nmass = {}\ninertia = {}\nposition = [0.5,0]\n[[joint]]\nname = \"pin\"\n"
                    "type = \"revolute\"\nbodies = [\"ground\",\"a\"]\npoint = [0,0]\ndamping = {}\n"
                    "motor = {{ torque = \"sin(3*t) + 0.3*u\" }}\n",
                    draw.number(0.5, 2), draw.number(0.1, 1), draw.number(0.1, 0.5)) +
        run_of(0.01, 3));
    EXPECT_GT(r.energy_error.value_or(0), 0.1) << seed;
    EXPECT_LT(r.discrete_energy_error.value_or(1), 1e-12) << seed;  // measured 1.5e-14
    EXPECT_LT(r.constraint, 1e-14) << seed;
  }
}

// A torque that stays as it is in space changes the angular momentum by t times itself, to rounding, however far the
// body turns in a step: its axes are those of the rotation that it was evaluated at.
TEST(EnergyForces, TorquesActAlongTheAxesTheyWereTakenAt) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    Draw draw(seed);
    double torque[3], spin[3];
    for (double& x : torque) x = draw.number(-1, 1);
    for (double& x : spin) x = draw.number(-3, 3);
    const auto defect = [&](bool in_body) {
      const Model m = parse_model(
          fmt::format("[multibody]\ngravity = [0,0,0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [0.2,0.3,0.45]\n"
                      "angular_velocity = [{},{},{}]\n[[force]]\nbody = \"a\"\n{}torque = [{},{},\"{} + 0*t\"]\n",
                      spin[0], spin[1], spin[2], in_body ? "axes = \"body\"\n" : "", torque[0], torque[1], torque[2]) +
              run_of(0.1, 2) +
              "[output]\nquantities.L = \"a_spin[0]*0.2*a_e1 + a_spin[1]*0.3*a_e2 + a_spin[2]*0.45*a_e3\"\n",
          "torque");
      Simulation s = m.simulation_for("");
      s.start(m.start);
      const std::vector<double> before = s.report().quantities.at(0).value;
      s.until(2);
      const std::vector<double> after = s.report().quantities.at(0).value;
      double worst = 0;
      for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(after[k] - before[k] - 2 * torque[k]));
      return worst;
    };
    EXPECT_LT(defect(false), 1e-13) << seed;  // measured 2.3e-15
    EXPECT_GT(defect(true), 1e-2) << seed;    // a torque that turns with the body
  }
}

}  // namespace
}  // namespace hinge::energy_rest_and_states_test
