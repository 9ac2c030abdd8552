// Pictures of systems of expressions: contacts and curved surfaces are where the equations put them.
#include <cmath>
#include <numbers>

#include "simulate/page/page_of.hpp"

namespace hinge::point_scene_test {
namespace {

// A block that rests on a slope: the force of the contact is on it, and is its weight.
TEST(PointScene, ContactsThatAreGivenByExpressionsHaveForces) {
  const PageOf page = page_of("incline.toml", {{"parameters.mu", "0.5"}, {"initial.velocity.q", "[0, 0, 0]"}});
  const nlohmann::json& scene = page.read->data["scene"];
  ASSERT_EQ(scene["surfaces"].size(), 1U);
  EXPECT_EQ(scene["surfaces"][0]["kind"], "plane");
  const std::vector<double> start = page.read->block(scene["contacts"]["start"]),
                            force = page.read->block(scene["contacts"]["forces"]["block"]),
                            bodies = page.read->block(scene["contacts"]["bodies"]);
  ASSERT_GT(start.back(), 100);
  const double a = 20 * std::numbers::pi / 180, g = 9.81;
  for (std::size_t k = 0; k < static_cast<std::size_t>(start.back()); ++k) {
    EXPECT_EQ(bodies[2 * k], 0);
    EXPECT_EQ(bodies[2 * k + 1], -1);
    EXPECT_NEAR(force[3 * k], g * std::cos(a), 1e-5);
    EXPECT_NEAR(force[3 * k + 1], -g * std::sin(a), 1e-5);
    EXPECT_NEAR(force[3 * k + 2], 0, 1e-6);
  }
}

TEST(PointScene, CurvedSurfacesAreWhereTheirFunctionIsZero) {
  const PageOf page = page_of("cubic-surface.toml");
  const nlohmann::json& surface = page.read->data["scene"]["surfaces"].at(0);
  EXPECT_EQ(surface["kind"], "mesh");
  const std::vector<double> x = page.read->block(surface["points"]), ends = page.read->block(surface["lines"]);
  ASSERT_GT(ends.size(), 100U);
  for (std::size_t k = 0; k + 2 < x.size(); k += 3)
    EXPECT_NEAR(x[k + 1], 0.4 * (3 * x[k] - x[k] * x[k] * x[k]), 1e-4) << x[k];
}

// Two coordinates of which both move one point, or a point that is no coordinate: no force is drawn there.
TEST(PointScene, ForcesAreDrawnOnCoordinatesOfOnePointOnly) {
  const auto contacts = [](const std::string& points) {
    const PageOf page(parse_model(R"([lagrangian]
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "10*y"
unilateral = [{ gap = "y", name = "floor" }]
[initial]
position = { y = 0 }
[view]
points = {)" + points + R"(}
[integrate]
method = "moreau-jean"
step = 0.01
end = 0.1
)",
                                  "ball.toml"));
    return page.read->data["scene"].contains("contacts");
  };
  EXPECT_TRUE(contacts(R"( ball = [0, "y"] )"));
  EXPECT_FALSE(contacts(R"( ball = [0, "2*y"] )"));
  EXPECT_FALSE(contacts(R"( ball = [0, "y"], other = [1, "y"] )"));
}

// A page that is served hears of contacts while the run goes on, though there were none when it was loaded.
TEST(PointScene, ContactsAreSentWhileTheRunGoesOn) {
  const Model model = load_model(HINGE_EXAMPLES "/incline.toml", {{"integrate.end", "0.1"}});
  PageOptions options;
  options.system = model.system;
  options.end = model.end;
  PageRecorder page(options);
  Simulation run = model.simulation_for("");
  run.on_row([&](const Row& row) { page.take(row); });
  run.start(model.start);
  EXPECT_NE(page.fill(empty_page, Json::object(), nullptr).find("\"contacts\""), std::string::npos);
  run.until(model.end);
  const Json news = page.news(0, 1);
  const std::size_t frames = news["frames"];
  ASSERT_GT(frames, 50U);
  // base64 of 4 bytes each, rounded up to three bytes
  const auto letters = [](std::size_t numbers) { return (4 * numbers + 2) / 3 * 4; };
  EXPECT_EQ(news["contacts"]["start"].get<std::string>().size(), letters(frames + 1));
  EXPECT_EQ(news["contacts"]["bodies"].get<std::string>().size(), letters(2 * frames)) << "one in each step";
  EXPECT_EQ(news["contacts"]["forces"].get<std::string>().size(), letters(3 * frames));
}

}  // namespace
}  // namespace hinge::point_scene_test
