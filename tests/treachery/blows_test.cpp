// Claims: hammer blows shorter than a step, drives whose speed jumps, springs that are switched and belts that run are
// right by every method, and nobody doubts them; what creates energy beside them is doubted still.
#include "random_draw.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::blows_test {
namespace {

// A mass that is free but for blows of force F from t0 on for a time w.
TEST(Blows, ShorterThanAStepGiveTheirMomentum) {
  Draw draw(901);
  constexpr int models = 8;
  for (int k = 0; k < models; ++k) {
    struct Blow {
      double t0, w, F;
    };
    std::vector<Blow> blows;
    const double m = draw.power(-3, 3), v = draw.number(-1, 1);
    std::string force;
    for (int b = 0, n = draw.integer(1, 3); b < n; ++b) {
      const double w = draw.power(-5, -2.5);
      blows.push_back({0.3 + 0.5 * b + 0.17 * draw.unit(), w, m * draw.number(0.3, 2) / w});
      force += fmt::format("{}if(t > {:.17g} and t < {:.17g}, {:.17g}, 0)", b > 0 ? " + " : "", blows.back().t0,
                           blows.back().t0 + w, blows.back().F);
    }
    const Motion motion = [=](double t) {
      double x = 0.1 + v * t;
      for (const Blow& b : blows) {
        const double s = std::clamp(t - b.t0, 0.0, b.w), after = std::max(t - b.t0 - b.w, 0.0);
        x += b.F / m * (s * s / 2 + s * after);
      }
      return std::vector<double>{x};
    };
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"{:.17g}/2*x'^2\"\nforce = {{ x = \"{}\" }}\n"
        "[initial]\nposition = {{ x = 0.1 }}\nvelocity = {{ x = {:.17g} }}\n[integrate]\nend = 2\n"
        "[output]\ninterval = 0.0731\n",
        m, force, v);
    const Treachery t{"blows", text, {"x"}, motion, 0.01, 1e-9, 0, 0.02, 1e-6, 1e4, Treachery::Demand::right};
    EXPECT_EQ(judge(t), "") << text;
  }
}

// shake has no velocities that a constraint prescribes, and says so.
std::string without_shake(const std::string& lines) {
  std::string left;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin) + 1;
    if (lines.compare(begin, 6, "shake,") != 0) left += lines.substr(begin, end - begin);
    begin = end;
  }
  return left;
}

// A cart that a motor pushes along a rail: the speed that it prescribes jumps, or has kinks.
TEST(Blows, ThatAPrescribedSpeedGivesAreAccountedFor) {
  Draw draw(902);
  constexpr int models = 8;
  for (int k = 0; k < models; ++k) {
    const double a = draw.number(-1, 1), b = draw.number(-1, 1), c = draw.number(0.2, 1.5), at = 0.5 + draw.unit(),
                 y = draw.number(-2, 2);
    const bool ramp = k % 2 == 1;
    const std::string speed = ramp ? fmt::format("if(t < {:.17g}, {:.17g} + {:.17g}*t, {:.17g})", at, a, c, b)
                                   : fmt::format("if(t < {:.17g}, {:.17g}, {:.17g})", at, a, b);
    const Motion motion = [=](double t) {
      const double before = std::min(t, at), after = std::max(t - at, 0.0);
      return std::vector<double>{y + a * before + (ramp ? c * before * before / 2 : 0) + b * after};
    };
    const std::string text = fmt::format(
        "[multibody]\ngravity = [0, 0]\n[[body]]\nname = \"cart\"\nmass = {:.17g}\ninertia = 1\nposition = [{:.17g}, "
        "0]\n"
        "velocity = [{:.17g}, 0]\n[[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"ground\", \"cart\"]\n"
        "axis = [1, 0]\nmotor = {{ speed = \"{}\" }}\n[initial]\nconsistent = \"project\"\n[integrate]\nend = 2\n"
        "[output]\ninterval = 0.0731\n",
        draw.power(-2, 2), y, a, speed);
    const Treachery t{"drive", text, {"cart[0]"}, motion, 0.01, 1e-9, 0, 0.02, 1e-6, 1e4, Treachery::Demand::right};
    EXPECT_EQ(without_shake(judge(t)), "") << text;
  }
}

Report report_of(const std::string& text) {
  const Model model = parse_model(text, "model");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  try {
    run.until(model.end);
  } catch (const StepFailure&) {
  }
  return run.report();
}

// The spring is stretched, then stiffer: whoever switches it has done the work. Beyond stability it is doubted still.
TEST(Blows, OfASpringThatIsSwitchedAreWork) {
  Draw draw(903);
  for (const char* method : {"rattle", "gauss-lobatto", "explicit", "radau", "generalized-alpha"})
    for (const double steps_in_a_period : {40.0, 3.0}) {
      const double k = draw.power(-2, 4), omega = std::sqrt(k), T = 2 * std::numbers::pi / (2 * omega);
      const std::string text = fmt::format(
          "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"if(t < {:.17g}, 1, "
          "4)*{:.17g}/2*x^2\"\n"
          "[initial]\nposition = {{ x = 1 }}\n[integrate]\nmethod = \"{}\"\nstep = {:.17g}\nend = {:.17g}\n",
          2.3 * T, k, method, T / steps_in_a_period, 12 * T);
      const Report r = report_of(text);
      if (steps_in_a_period > 10) {
        EXPECT_TRUE(r.sound()) << verdict_text(r) << text;
      } else if (std::string(method) == "rattle") {
        EXPECT_FALSE(r.sound()) << text;
      }
    }
}

// A flat road does not jump, whatever kind of table it is; steps do.
TEST(Blows, AreNotGivenByFlatTables) {
  for (const char* kind : {"linear", "cubic", "monotone", "previous"}) {
    const bool steps = std::string(kind) == "previous";
    const std::string text = fmt::format(
        "[tables]\nroad = {{ x = [0, 0.5, 1], y = [2, {}, 2], kind = \"{}\", beyond = \"periodic\" }}\n"
        "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2 + y'^2)/2\"\nconstraints = [\"y - 2\"]\n"
        "[initial]\nposition = {{ x = 0.1, y = 2 }}\nvelocity = {{ x = 1 }}\n[integrate]\ntolerance = 1e-8\nend = 0.3\n"
        "[output]\nquantities = {{ climb = \"road(x)'\" }}\n",
        steps ? 3 : 2, kind);
    if (steps)
      EXPECT_THROW(report_of(text), InputError);
    else
      EXPECT_TRUE(report_of(text).sound()) << text;
  }
}

// x'' = mu g on the belt until x' = v:  x = v t - v^2/(2 mu g)
TEST(Blows, BeltsGiveEnergy) {
  Draw draw(904);
  for (const char* method : {"moreau-jean", "paoli-schatzman", "event-driven", "generalized-alpha"})
    for (int trial = 0; trial < 4; ++trial) {
      const double mu = draw.number(0.2, 1), v = draw.number(0.5, 2);
      const Report r = report_of(fmt::format(
          "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n"
          "unilateral = [{{ gap = \"y\", friction = {:.17g}, slip = \"x' - {:.17g}\", name = \"belt\" }}]\n"
          "[initial]\nposition = {{ x = 0, y = 0 }}\n[integrate]\nmethod = \"{}\"\nstep = 0.002\nend = 2\n",
          mu, v, method));
      EXPECT_TRUE(r.sound()) << method << '\n' << verdict_text(r);
      EXPECT_NEAR(r.final.y[0], 2 * v - v * v / (2 * mu * 9.81), 5e-3 * v) << method;
    }
}

// A spring beside the belt whose forces are explicit, in steps beyond their stability, h w > 2: its energy grows.
TEST(Blows, BeltsExcuseNoOther) {
  Draw draw(905);
  for (int trial = 0; trial < 6; ++trial) {
    const double v = draw.number(0.5, 2), k = draw.number(1.2e6, 3e6);
    const auto run = [&](double stiffness) {
      return report_of(
          fmt::format("[lagrangian]\ncoordinates = [\"x\", \"y\", \"s\"]\nkinetic = \"(x'^2 + y'^2 + s'^2)/2\"\n"
                      "potential = \"9.81*y + {:.17g}/2*s^2\"\n"
                      "unilateral = [{{ gap = \"y\", friction = 0.5, slip = \"x' - {:.17g}\", name = \"belt\" }}]\n"
                      "[initial]\nposition = {{ x = 0, y = 0, s = 0.01 }}\n[integrate]\nmethod = \"moreau-jean\"\n"
                      "forces = \"explicit\"\nstep = 0.002\nend = 0.1\n",
                      stiffness, v));
    };
    bool said = false;
    for (const Doubt& doubt : run(k).doubts) said = said || doubt.cause.find("energy was created") != std::string::npos;
    EXPECT_TRUE(said) << trial;
    EXPECT_TRUE(run(1).sound()) << trial;
  }
}

}  // namespace
}  // namespace hinge::test::blows_test
