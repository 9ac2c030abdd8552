// Positions where constraints are dependent for an instant: the motion goes straight on, or the verdict doubts it.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::singular_passage_test {
namespace {

struct Outcome {
  bool finished = false, sound = false;
  State end;
};

Outcome run(const Model& m, const char* method, SimulationOptions options, const Options& more = {}) {
  Simulation s(m.system, make_method(method, more), std::move(options));
  s.start(m.start);
  Outcome out;
  try {
    s.until(m.end);
    out.finished = true;
  } catch (const StepFailure&) {
  }
  out.sound = s.report().sound();
  out.end = s.state();
  return out;
}

// A particle on a circle, which a line crosses at 60 degrees; both are one constraint.
const char* const crossing = R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')/2"
constraints = ["(dot(q,q)-1)*(q[0]-0.5)"]
[initial]
position = { q = [1, 0] }
velocity = { q = [0, 1] }
[integrate]
method = "explicit"
step = 0.01
end = 3
)toml";

TEST(SingularPassage, AParticleOnACircleStaysOnItWhereALineCrosses) {
  const Model m = parse_model(crossing, "crossing.toml");
  for (const char* method : {"explicit", "half-explicit", "radau", "bdf"})
    for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
      const Outcome out = run(m, method, {.tolerance = {tolerance, tolerance}});
      ASSERT_TRUE(out.finished) << method << tolerance;
      EXPECT_FALSE(out.sound) << method << tolerance;  // there are two ways, and that is said
      EXPECT_NEAR(out.end.y[0], std::cos(3.0), 20 * tolerance) << method << tolerance;  // measured 7.8 of these
    }
}

// Without the passage, which is for chosen steps, drift decides: steps of 0.0002 turn off where the line begins.
TEST(SingularPassage, ABranchThatDriftDecidesIsDoubted) {
  const Model m = parse_model(crossing, "crossing.toml");
  for (const double step : {0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002})
    for (const double order : {1.0, 3.0, 4.0}) {
      const Outcome out = run(m, "half-explicit", {.step = step}, {{"order", order}});
      EXPECT_FALSE(out.sound) << step << " " << order;
    }
}

// The same anywhere, of any size, beside a constraint of another particle: rows of G are far from dependent on almost
// all of the way, and where they are not drift still decides, or rounding.
TEST(SingularPassage, ABranchIsDoubtedWhereverTheLineCrossesBesideOtherConstraints) {
  Draw draw(23);
  int doubted = 0;
  for (int k = 0; k < 30; ++k) {
    const double r = std::pow(10.0, draw.number(-2, 2)), line = draw.number(-0.8, 0.8);
    const Model m = parse_model(fmt::format(R"toml([lagrangian]
coordinates = ["q[2]", "p[2]"]
kinetic = "(dot(q',q') + dot(p',p'))/2"
constraints = ["(dot(q,q)/{0}^2-1)*(q[0]/{0}-{1})", "p[1] - {2}*p[0]^2/{0} + {3}*q[1]"]
[initial]
position = {{ q = [{0}, 0], p = [0, 0] }}
velocity = {{ q = [0, {0}], p = [{0}, 0] }}
consistent = "project"
[integrate]
method = "explicit"
step = 0.01
end = 3
)toml",
                                            r, line, draw.number(-1, 1), draw.number(-0.3, 0.3)),
                                "crossing.toml");
    const bool given = draw.chance(0.5);
    const double size = std::pow(10.0, draw.number(-3.5, -2));
    const Outcome out = given ? run(m, "half-explicit", {.step = size})
                              : run(m, "explicit", {.tolerance = {1e-5 * size, 1e-5 * size * r}});
    EXPECT_TRUE(!out.finished || !out.sound) << m.text << given << " " << size;
    doubted += out.finished;
  }
  EXPECT_GE(doubted, 15);
}

// A crank that turns evenly, and a loop that lies in one line at p = pi or at 2 pi: two assemblies meet there, and the
// smooth motion goes from one to the other (det G changes its sign).
struct FourBar {
  double a, b, c, d, speed, gravity;
  int side;

  static FourBar draw(Draw& draw) {
    FourBar f{};
    do {
      f.a = draw.number(0.2, 0.5), f.d = draw.number(0.6, 1.0);
      f.c = draw.number(0.3, 0.6);
      f.stretched() = draw.chance(0.5);
      f.b = f.stretched_ ? f.a + f.d - f.c : f.c + f.d - f.a;
    } while (f.stretched_ ? !(std::abs(f.b - f.c) < f.d - f.a - 0.02) : !(f.b + f.c > f.a + f.d + 0.02));
    f.speed = draw.number(1.5, 3), f.gravity = draw.number(-1, 1);
    f.side = draw.chance(0.5) ? 1 : -1;
    return f;
  }
  bool& stretched() { return stretched_; }
  double coupler(double p, int s) const {
    const double x = d - a * std::cos(p), y = -a * std::sin(p), r = std::hypot(x, y);
    return std::atan2(y, x) + s * std::acos(std::clamp((b * b + r * r - c * c) / (2 * b * r), -1.0, 1.0));
  }
  double rocker(double p, double coupler) const {
    return std::atan2(a * std::sin(p) + b * std::sin(coupler), a * std::cos(p) + b * std::cos(coupler) - d);
  }
  Model model() const {
    const double u = coupler(0.7, side);
    return parse_model(fmt::format(R"toml([lagrangian]
coordinates = ["p", "u", "w"]
kinetic = "(0.1*p'^2 + u'^2 + w'^2 + 0.5*cos(p-u)*p'*u')/2"
potential = "{6}*sin(u) + 0.2*sin(w)"
constraints = ["p - 0.7 - {5}*t", "{0}*cos(p) + {1}*cos(u) - {3} - {2}*cos(w)", "{0}*sin(p) + {1}*sin(u) - {2}*sin(w)"]
[initial]
position = {{ p = 0.7, u = {7:.17g}, w = {8:.17g} }}
velocity = {{ p = {5} }}
consistent = "project"
fixed = ["p"]
[integrate]
method = "explicit"
step = 0.01
end = {4:.17g}
)toml",
                                   a, b, c, d, 6 / speed, speed, gravity, u, rocker(0.7, u)),
                       "four-bar.toml");
  }

 private:
  bool stretched_ = false;
};

TEST(SingularPassage, DrivenFourBarsPassTheirChangePointSmoothly) {
  Draw draw(5);
  int passed = 0;
  for (int n = 0; n < 20; ++n) {
    const FourBar f = FourBar::draw(draw);
    const Model m = f.model();
    for (const char* method : {"explicit", "half-explicit", "radau", "bdf"})
      for (const double tolerance : {1e-6, 1e-8, 1e-10}) {
        const Outcome out = run(m, method, {.tolerance = {tolerance, tolerance}});
        if (!out.finished) continue;
        ++passed;
        const double off = std::remainder(out.end.y[1] - f.coupler(6.7, -f.side), 2 * std::numbers::pi);
        EXPECT_LT(std::abs(off), 1e-4) << n << method << tolerance;
        EXPECT_FALSE(out.sound) << n << method << tolerance;
      }
  }
  EXPECT_GE(passed, 230);  // of 240
}

TEST(SingularPassage, AStepOfContactsThatFailsThereSaysWhy) {
  Draw draw(5);
  std::string said;
  for (int n = 0; n < 5 && said.empty(); ++n) {
    const Model m = FourBar::draw(draw).model();
    Simulation s(m.system, make_method("moreau-jean", {}), {.step = 0.01});
    s.start(m.start);
    try {
      s.until(m.end);
    } catch (const StepFailure& e) {
      said = e.what();
    }
  }
  EXPECT_NE(said.find("nearly dependent here"), std::string::npos) << said;
}

}  // namespace
}  // namespace hinge::singular_passage_test
