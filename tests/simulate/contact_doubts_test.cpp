// Claims: what is allowed, what a method leaves of a gap that slides closed, and what is set already gives no reason
// for a doubt, nor for advice; the same scenes with a fault in them are doubted.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../model/run_text.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::test::contact_doubts_test {
namespace {

// Bodies that begin inside of each other, as far as `overlap` allows, are pushed apart without a velocity.
TEST(ContactDoubts, OverlapThatIsAllowedIsNone) {
  Draw draw(3401);
  for (int trial = 0; trial < 12; ++trial) {
    const bool ball = trial % 3 == 2;
    const double size = draw.number(0.1, 1), depth = draw.number(0.01, 0.06) * size, half = size / 2;
    const std::string shape = ball ? fmt::format("sphere = {}", half) : fmt::format("box = [{0}, {0}, {0}]", size);
    std::string scene = fmt::format(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "a"
mass = {}
shape = {{ {} }}
position = [0, 0, {}]
)toml",
                                    draw.number(0.1, 5), shape, half - depth);
    if (trial % 3 == 1)
      scene += fmt::format("[[body]]\nname = \"b\"\nmass = 1\nshape = {{ {} }}\nposition = [0, 0, {}]\n", shape,
                           half - depth + size - depth);
    scene += fmt::format(R"toml([contact]
friction = 0.4
overlap = {}
restitution = {}
[integrate]
method = "moreau-jean"
step = 0.002
end = 0.6
[output]
quantities = {{ height = "a[2]" }}
)toml",
                         1.01 * depth, ball ? 1 : 0);
    const Report r = run_text(scene);
    EXPECT_TRUE(r.sound()) << trial << '\n' << verdict_text(r);
    EXPECT_NEAR(value_of(r, "height"), half, 1e-9) << trial;
    bool said = false;
    for (const std::string& remark : r.remarks) said = said || remark.find("inside of each other") != std::string::npos;
    EXPECT_TRUE(said) << trial;
  }
}

// That one begins inside of the floor excuses nobody else: a ball that comes to be as deep is doubted.
TEST(ContactDoubts, OverlapThatIsAllowedExcusesNoOther) {
  Draw draw(3404);
  for (int trial = 0; trial < 8; ++trial) {
    const double depth = draw.number(0.02, 0.04), radius = draw.number(0.1, 0.2), step = 0.002;
    const auto run = [&](double speed) {
      return run_text(fmt::format(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "crate"
mass = 1
shape = {{ box = [0.4, 0.4, 0.4] }}
position = [0, 0, {}]
[[body]]
name = "ball"
mass = 1
shape = {{ sphere = {} }}
position = [2, 0, {}]
velocity = [0, 0, {}]
[contact]
overlap = 0.05
[integrate]
method = "moreau-jean"
gap = "velocity"
step = {}
end = 0.1
)toml",
                                  0.2 - depth, radius, radius + 0.01, -speed, step));
    };
    const double speed = (0.01 + 0.7 * depth) / step;  // where its second step ends, or the first
    bool said = false;
    for (const Doubt& doubt : run(speed).doubts)
      said = said || doubt.cause.find("inside of each other") != std::string::npos;
    EXPECT_TRUE(said) << trial << " depth " << depth << " speed " << speed;
    EXPECT_TRUE(run(0.1).sound()) << trial << verdict_text(run(0.1));
  }
}

// A ladder that slides down between a wall and a floor: its upper end leaves the wall at two thirds of its height. The
// angle obeys (4/3) a'' = -9.81 cos(a) until then.
TEST(ContactDoubts, GapsThatSlideClosedHaveNoWidth) {
  Draw draw(3402);
  for (int trial = 0; trial < 20; ++trial) {
    const double a = draw.number(0.6, 1.3), h = draw.one_of<double>({0.001, 0.0005, 0.0003});
    const auto run = [&](const std::string& method) {
      return run_text(fmt::format(R"toml([lagrangian]
coordinates = ["x", "y", "a"]
kinetic = "(x'^2+y'^2)/2+a'^2/6"
potential = "9.81*y"
unilateral = [{{ gap = "y-sin(a)" }}, {{ gap = "x-cos(a)" }}]
[initial]
position = {{ x = {:.17g}, y = {:.17g}, a = {} }}
velocity = {{ x = 0, y = 0, a = 0 }}
[integrate]
method = "{}"
step = {}
end = {}
[output]
quantities = {{ angle = "a", place = "x" }}
)toml",
                                  std::cos(a), std::sin(a), a, method, h, 0.6 * std::acosh(1.3 / std::cos(a) + 1) / 3));
    };
    const Report r = run("moreau-jean"), exact = run("event-driven");
    EXPECT_TRUE(r.sound()) << trial << '\n' << verdict_text(r);
    EXPECT_NEAR(value_of(r, "angle"), value_of(exact, "angle"), 2e-3) << trial;
    EXPECT_NEAR(value_of(r, "place"), value_of(exact, "place"), 2e-3) << trial;
  }
}

// A ball that is inside of a plate at the end of a step that is too long: who has gap = "velocity" is advised to take
// "both". A needle with it, which strikes a turning box with steps that are too long, is not.
TEST(ContactDoubts, AdviceIsNotWhatIsSetAlready) {
  const auto remedy = [](const std::string& text) -> std::string {
    for (const Doubt& doubt : run_text("[multibody]\ngravity = [0, 0, 0]\n" + text).doubts)
      if (doubt.cause.find("inside of each other") != std::string::npos) return doubt.remedy;
    return "";
  };
  const std::string ball = remedy(R"toml([[body]]
name = "floor"
fixed = true
shape = { plane = [0, 0, 1] }
[[body]]
name = "ball"
mass = 1
shape = { sphere = 0.5 }
position = [0, 0, 1]
velocity = [0, 0, -9.3]
[integrate]
method = "moreau-jean"
gap = "velocity"
step = 0.02
end = 0.2
)toml");
  const std::string needle = remedy(R"toml([[body]]
name = "a"
mass = 1
rotation = [-0.7663552205873763, -0.17829654286294938, 0.09814470806835522, 0.6093255574483739]
angular_velocity = [0.2025907571809149, -0.06812485146578195, -0.13860642731432415]
shape = { box = [1.0, 0.524611057591621, 0.9618720317963787] }
[[body]]
name = "b"
mass = 0.5852303650278289
position = [0.09984091339315919, -0.8313067447560227, -0.5075397482669068]
velocity = [-0.11397931096153648, 0.8491120072392583, 0.515768858923114]
rotation = [-0.42876250784334025, -0.39937798317878337, 0.7180724727268408, -0.37554209129190486]
angular_velocity = [0.2923869172939184, -0.5591246764811308, -0.1670179264599443]
shape = { capsule = { radius = 0.000604046891066835, length = 0.0604046891066835 } }
[integrate]
method = "moreau-jean"
step = 0.0120809378213367
end = 1.9616127828888172
)toml");
  EXPECT_NE(ball.find("both"), std::string::npos) << ball;
  EXPECT_EQ(needle.find("both"), std::string::npos) << needle;
  EXPECT_NE(needle, "");
}

}  // namespace
}  // namespace hinge::test::contact_doubts_test
