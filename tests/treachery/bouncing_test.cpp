// Treachery: balls that bounce by events, alone and several at one instant, with every method; floors that an event
// cannot hold.
#include <numbers>

#include "random_draw.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test {
namespace {

using Demand = Treachery::Demand;

// Balls above one floor. Those that start alike land in the same instant.
struct Balls {
  double gravity, bounce, slope;  // slope: of the floor, against which balls fall along x
  std::vector<double> heights;

  std::string model(double end) const {
    const std::size_t n = heights.size();
    std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"q[{}][2]\"]\nkinetic = \"sum(i,0,{},dot(q[i]',q[i]'))/2\"\n"
        "potential = \"{}*sum(i,0,{},q[i][1])\"\n[initial]\nposition = {{ q = [",
        n, n - 1, gravity, n - 1);
    for (const double y : heights) text += fmt::format("[0, {}],", y);
    text += fmt::format("] }}\n[integrate]\nend = {}\n", end);
    const double c = std::cos(slope), s = std::sin(slope);  // normal (s, c)
    for (std::size_t k = 0; k < n; ++k) {
      std::string velocities;
      for (std::size_t i = 0; i < n; ++i)
        velocities += i == k ? fmt::format(
                                   "[q[{0}]'[0] - {1}*({2}*q[{0}]'[0]+{3}*q[{0}]'[1])*{2}, q[{0}]'[1] - "
                                   "{1}*({2}*q[{0}]'[0]+{3}*q[{0}]'[1])*{3}],",
                                   i, 1 + bounce, s, c)
                             : fmt::format("q[{}]',", i);
      velocities.pop_back();
      text += fmt::format(
          "[[event]]\nname = \"floor{0}\"\nroot = \"{1}*q[{0}][0]+{2}*q[{0}][1]\"\ndirection = \"falling\"\n"
          "action = \"change\"\nvelocity = {{ q = \"[{3}]\" }}\n",
          k, s, c, velocities);
    }
    return text;
  }
  // The height of a ball above the floor, times cos(slope): along the normal it falls as on a level floor.
  double gap(std::size_t k, double t) const {
    const double g = gravity * std::cos(slope);
    double y = heights[k] * std::cos(slope), v = 0, now = 0;
    for (;;) {
      const double fall = (v + std::sqrt(v * v + 2 * g * y)) / g;
      if (now + fall > t) break;
      v = bounce * (g * fall - v);
      y = 0;
      now += fall;
    }
    return y + v * (t - now) - g * (t - now) * (t - now) / 2;
  }
  Motion motion() const {
    return [*this](double t) {
      std::vector<double> y;
      for (std::size_t k = 0; k < heights.size(); ++k) {
        const double along = -gravity * std::sin(slope) * t * t / 2 + heights[k] * std::sin(slope);
        // position = gap n + along (c, -s) of the tangent; the floor is without friction
        const double d = gap(k, t), c = std::cos(slope), s = std::sin(slope);
        y.push_back(d * c + along * s);
      }
      return y;
    };
  }
};

Balls drawn(Draw& draw) {
  const auto n = static_cast<std::size_t>(draw.integer(1, 3));
  const bool alike = draw.chance(0.6);
  Balls balls{draw.one_of(std::vector<double>{9.81, 1.62, 1}), draw.number(0.75, 1), draw.chance(0.3) ? 0.3 : 0, {}};
  const double y = draw.number(0.3, 2);
  for (std::size_t k = 0; k < n; ++k) balls.heights.push_back(alike ? y : draw.number(0.3, 2));
  return balls;
}

TEST(Bouncing, BallsDoNotFallThroughTheFloorUnsaid) {
  Draw draw(51);
  for (int k = 0; k < 30; ++k) {
    const Balls balls = drawn(draw);
    const double end = 3 * std::sqrt(2 * balls.heights[0] / balls.gravity) * draw.number(0.5, 1.2),
                 step = end * draw.one_of(std::vector<double>{0.05, 0.02, 0.008, 0.002});
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < balls.heights.size(); ++i) columns.push_back(fmt::format("q[{}][1]", i));
    EXPECT_EQ(judge({.name = "balls",
                     .model = balls.model(end),
                     .columns = columns,
                     .motion = balls.motion(),
                     .step = step,
                     .coarse = 0.35,
                     .fine = 1e-6}),
              "")
        << balls.model(end) << "step " << step;
  }
}

// What an impact without restitution leaves is no velocity, and an event holds nothing.
TEST(Bouncing, FloorsThatHoldNothingAreSaid) {
  Draw draw(52);
  for (int k = 0; k < 8; ++k) {
    Balls balls = drawn(draw);
    balls.bounce = 0;
    balls.slope = k % 2 ? draw.number(0.1, 0.6) : 0;
    const double end = draw.number(1.2, 2) * std::sqrt(2 * balls.heights[0] / balls.gravity);
    EXPECT_EQ(judge({.name = "clay",
                     .model = balls.model(end),
                     .columns = {},
                     .motion = [](double) { return std::vector<double>{}; },
                     .step = end / 50,
                     .demand = Demand::said}),
              "")
        << balls.model(end);
  }
}

// A line that slows down what passes it is passed.
TEST(Bouncing, PassingALineIsNoDoubt) {
  const auto x = [](double t) { return std::vector<double>{t < 1 ? t : 1 + (t - 1) / 2}; };
  EXPECT_EQ(judge({.name = "line",
                   .model = "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"0\"\n[initial]\n"
                            "position = { x = 0 }\nvelocity = { x = 1 }\n[integrate]\nend = 2.05\n[[event]]\nname = "
                            "\"line\"\nroot = \"x-1\"\n"
                            "action = \"change\"\nvelocity = { x = \"x'/2\" }\n",
                   .columns = {"x"},
                   .motion = x,
                   .step = 0.03,
                   .coarse = 1e-9,
                   .fine = 1e-9,
                   .factor = 1,
                   .demand = Demand::right}),
            "");
}

}  // namespace
}  // namespace hinge::test
