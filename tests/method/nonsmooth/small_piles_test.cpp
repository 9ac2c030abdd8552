// Small piles of balls, as a first scene has them: with the defaults every contact problem is solved to its tolerance,
// and the run is sound.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::small_piles_test {
namespace {

// Balls that fall into a narrow box.
std::string pile(Draw& draw, int count) {
  const double width = 0.18 * std::cbrt(count), height = 0.008 * count / (width * width);
  const std::string box = fmt::format("[[0, 0, 0], [{0:.3f}, {0:.3f}, {1:.3f}]]", width, height);
  return fmt::format(R"(
[multibody]
gravity = [0, 0, -9.81]
[contact]
friction = {}
[[particles]]
name = "grains"
count = {}
seed = {}
radius = [0.04, 0.06]
density = 1000
box = {}
[container]
box = {}
open = ["top"]
[integrate]
method = "moreau-jean"
step = {}
end = 0.8
)",
                     draw.chance(0.2) ? 0 : draw.number(0, 1), count, draw.integer(1, 1000), box, box,
                     draw.number(0.001, 0.005));
}

void expect_sound(const std::string& text) {
  const Model model = parse_model(text, "pile.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  const Report report = run.report();
  std::string doubts;
  for (const Doubt& d : report.doubts) doubts += fmt::format("{} {:.3g}; ", d.cause, d.value);
  EXPECT_TRUE(report.sound()) << doubts << text;
}

TEST(SmallPiles, BallsAreSoundByDefault) {
  Draw draw(12);
  for (int k = 0; k < 3; ++k) expect_sound(pile(draw, draw.integer(12, 40)));
}

}  // namespace
}  // namespace hinge::small_piles_test
