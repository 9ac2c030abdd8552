// Slip that ends, or turns, within a step: bodies are where they should be all the same, whatever part of a step is
// left then. Drawn at random: speeds, directions, friction, masses, steps.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::slip_end_test {
namespace {

constexpr double g = 9.81;

struct Slide {
  double mu, speed, heading, step, slope = 0;  // the slope rises along the heading
  const char* shape = "box = [0.3, 0.2, 0.1]";
  double height = 0.05;
  Eigen::Vector3d along() const { return {std::cos(heading), std::sin(heading), 0}; }
};

// How far it has gone after `end`, and how far aside.
Eigen::Vector2d way(const Slide& s, double end, const std::string& more = "") {
  const Eigen::Vector3d e = s.along(),
                        down = -g * (std::sin(s.slope) * e + std::cos(s.slope) * Eigen::Vector3d::UnitZ());
  const std::string text = fmt::format(R"toml([multibody]
gravity = [{:.17g}, {:.17g}, {:.17g}]
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "b"
mass = 1
shape = {{ {} }}
position = [0, 0, {}]
velocity = [{:.17g}, {:.17g}, 0]
[contact]
friction = {:.17g}
[integrate]
{}
step = {:.17g}
end = {:.17g}
)toml",
                                       down[0], down[1], down[2], s.shape, s.height, s.speed * e[0], s.speed * e[1],
                                       s.mu, more, s.step, end);
  const Model model = parse_model(text, "slide.toml", {});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  const Eigen::Vector3d x = body_poses(*model.system, run.state())[0].position;
  return {x.dot(e), x.dot(Eigen::Vector3d(-e[1], e[0], 0))};
}

Slide drawn(Draw& draw) {
  return {.mu = draw.number(0.1, 0.9),
          .speed = draw.number(0.5, 3),
          .heading = draw.number(0, 6.28),
          .step = draw.number(0.002, 0.008)};
}

TEST(SlipEnd, ABoxStopsWhereItShould) {
  Draw draw(1);
  double worst = 0, undivided = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const Slide s = drawn(draw);
    const double lasts = s.speed / (s.mu * g), exact = s.speed * lasts / 2;
    const Eigen::Vector2d x = way(s, lasts + 5.3 * s.step);
    worst = std::max({worst, std::abs(x[0] - exact) / exact, std::abs(x[1]) / exact});
    // the control: steps that end as a whole, with the velocity level alone
    undivided = std::max(
        undivided,
        std::abs(way(s, lasts + 5.3 * s.step, "method = \"moreau-jean\"\ngap = \"velocity\"")[0] - exact) / exact);
  }
  EXPECT_LT(worst, 1e-11);     // measured 5.8e-15
  EXPECT_GT(undivided, 1e-6);  // measured 1.4e-4
}

TEST(SlipEnd, ABallThatBeginsToRollIsWhereItShouldBe) {
  Draw draw(2);
  double worst = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Slide s = drawn(draw);
    s.shape = "sphere = 0.1";
    s.height = 0.1;
    const double slides = 2 * s.speed / (7 * s.mu * g), end = slides + 10.7 * s.step;
    const double exact = s.speed * slides - s.mu * g * slides * slides / 2 + 5.0 / 7 * s.speed * (end - slides);
    const Eigen::Vector2d x = way(s, end);
    worst = std::max({worst, std::abs(x[0] - exact) / exact, std::abs(x[1]) / exact});
  }
  EXPECT_LT(worst, 1e-11);  // measured 1.8e-15
}

// Up a slope: it stays where friction holds it, and comes back where that does not.
TEST(SlipEnd, ABoxThatTurnsOnASlopeIsWhereItShouldBe) {
  Draw draw(3);
  double worst = 0;
  int back = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Slide s = drawn(draw);
    s.slope = std::atan(s.mu * draw.number(0.5, 1.6));
    const double up = g * (std::sin(s.slope) + s.mu * std::cos(s.slope)),
                 down = g * (std::sin(s.slope) - s.mu * std::cos(s.slope)), lasts = s.speed / up, end = 1.6 * lasts;
    const double exact = s.speed * lasts / 2 - std::max(0.0, down) * (end - lasts) * (end - lasts) / 2;
    back += down > 0;
    const Eigen::Vector2d x = way(s, end);
    worst = std::max({worst, std::abs(x[0] - exact) / (s.speed * lasts), std::abs(x[1]) / (s.speed * lasts)});
  }
  EXPECT_GT(back, 2);
  EXPECT_LT(worst, 1e-11);  // measured 3.9e-13
}

}  // namespace
}  // namespace hinge::slip_end_test
