// Pages of runs, read back: what is in them is what was computed, and nothing in a model can become html.
#include "simulate/page/page_recorder.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"
#include "simulate/page/page_of.hpp"

namespace hinge::page_recorder_test {
namespace {

TEST(PageRecorder, RowsArePlottedAsTheyWereRecorded) {
  const PageOf page = page_of("double-spherical-pendulum.toml", {{"integrate.end", "2"}});
  const ReadPage& read = *page.read;
  EXPECT_EQ(read.data["status"], "finished");
  EXPECT_TRUE(read.data["verdict"]["sound"]);
  EXPECT_EQ(read.times(), page.rows.times());
  for (const char* name : {"q1[0]", "q2[2]", "q1'[1]"}) {
    const std::vector<double> was = page.rows.column(name), is = read.values(name);
    ASSERT_EQ(was.size(), is.size());
    for (std::size_t k = 0; k < was.size(); ++k) EXPECT_NEAR(is[k], was[k], 1e-6 * (1 + std::abs(was[k])));
  }
  EXPECT_EQ(read.values("energy"), page.rows.column("energy"));
  const std::vector<double> error = read.values("H - H0"), g = read.values("|g|"), rate = read.values("|g_t + G v|");
  double worst = 0, off = 0;
  for (const double x : error) worst = std::max(worst, std::abs(x));
  for (const double x : g) off = std::max(off, x);
  EXPECT_DOUBLE_EQ(worst, *page.report.energy_error);
  EXPECT_NEAR(off, page.report.constraint, 1e-6 * page.report.constraint);
  EXPECT_EQ(rate.size(), g.size());
  const std::vector<double> step = read.values("step"), iterations = read.values("Newton, per step");
  EXPECT_TRUE(std::isnan(step[0]));
  EXPECT_NEAR(step[5], page.report.step, 1e-6 * page.report.step);
  double sum = 0;
  for (const double x : iterations) sum += std::isnan(x) ? 0 : x;
  EXPECT_NEAR(sum, static_cast<double>(page.report.counters.iterations), 1e-3 * sum);
  // two systems of equations in each step
  const std::vector<double> left = read.values("Newton, last increment (1 is enough)");
  EXPECT_TRUE(std::isnan(left[0]));
  double mean = 0;
  for (std::size_t k = 1; k < left.size(); ++k) mean += left[k] / static_cast<double>(left.size() - 1);
  const Counters& work = page.report.counters;
  EXPECT_EQ(work.solved, 2 * work.steps);
  EXPECT_NEAR(mean, work.increments / static_cast<double>(work.solved), 1e-5 * mean);
}

// Where a method iterates, the page says what its iterations ended with; where it does not, there is no such plot.
TEST(PageRecorder, WhatNewtonEndedWithIsPlottedForEveryMethodThatIterates) {
  const auto left_by = [](const std::string& model, std::vector<Override> overrides) {
    const PageOf page = page_of(model, overrides);
    const Counters& work = page.report.counters;
    const std::string name = "Newton, last increment (1 is enough)";
    EXPECT_EQ(work.solved > 0, page.read->column(name) != nullptr) << overrides[0].value;
    if (work.solved == 0) return 0.0;
    EXPECT_GE(work.iterations, work.solved) << overrides[0].value;
    for (const double x : page.read->values(name)) EXPECT_TRUE(std::isnan(x) || (x >= 0 && std::isfinite(x))) << x;
    return work.increments / static_cast<double>(work.solved);
  };
  for (const char* method : {"gauss-lobatto", "lobatto-iiia-iiib", "rattle", "shake", "symplectic-euler", "composition",
                             "energy-momentum", "generalized-alpha", "radau", "bdf"}) {
    const double left = left_by("double-spherical-pendulum.toml",
                                {{"integrate.method", fmt::format("\"{}\"", method)}, {"integrate.end", "0.5"}});
    EXPECT_GT(left, 0) << method;
    EXPECT_LT(left, 100) << method;  // roundings
  }
  for (const char* method : {"radau", "bdf"}) {
    const double left = left_by("double-spherical-pendulum.toml", {{"integrate.method", fmt::format("\"{}\"", method)},
                                                                   {"integrate.tolerance", "1e-6"},
                                                                   {"integrate.end", "0.5"}});
    EXPECT_GT(left, 0) << method;
    EXPECT_LT(left, 10) << method;  // of what may be left of the tolerance
  }
  EXPECT_EQ(left_by("double-spherical-pendulum.toml", {{"integrate.method", "\"explicit\""}, {"integrate.end", "0.5"}}),
            0);
}

TEST(PageRecorder, PointsAndRodsAreWhereTheMotionIs) {
  const PageOf page = page_of("double-spherical-pendulum.toml", {{"integrate.end", "2"}});
  const auto& scene = page.read->data["scene"];
  EXPECT_EQ(scene["dimension"], 3);
  EXPECT_EQ(scene["up"], (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(scene["rods"].size(), 2U);
  EXPECT_EQ(scene["points"].size(), 3U) << "two masses and the pivot";
  const std::vector<double> t = page.read->block(scene["frames"]["time"]);
  const std::vector<double> times = page.rows.times();
  for (std::size_t k = 0; k < t.size(); k += 17) {
    const auto row = std::find(times.begin(), times.end(), t[k]) - times.begin();
    ASSERT_LT(row, static_cast<std::ptrdiff_t>(times.size()));
    for (std::size_t point = 0; point < 2; ++point) {
      const std::vector<double> x = page.read->position(0, point, k);
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_NEAR(x[j], page.rows.column(fmt::format("q{}[{}]", point + 1, j))[static_cast<std::size_t>(row)], 1e-4);
    }
  }
  EXPECT_EQ(t.back(), times.back());
}

TEST(PageRecorder, BodiesHaveShapesJointsAndForceChains) {
  const PageOf page = page_of("disk-pile.toml", {{"integrate.end", "0.3"}});
  const auto& scene = page.read->data["scene"];
  EXPECT_EQ(scene["dimension"], 2);
  ASSERT_EQ(scene["particles"].size(), 1U);
  const std::size_t count = scene["motions"][0]["count"];
  EXPECT_EQ(page.read->block(scene["particles"][0]["radii"]).size(), count);
  EXPECT_EQ(page.read->column("disks[0][0]"), nullptr) << "particles are in the scene, not in plots";
  EXPECT_NE(page.read->column("energy"), nullptr);
  EXPECT_FALSE(scene["bodies"].empty()) << "the container";
  ASSERT_TRUE(scene.contains("contacts"));
  const auto& contacts = scene["contacts"];
  const std::vector<double> start = page.read->block(contacts["start"]), bodies = page.read->block(contacts["bodies"]),
                            forces = page.read->block(contacts["forces"]["block"]),
                            points = page.read->block(contacts["points"]["block"]);
  const std::size_t frames = scene["frames"]["count"];
  ASSERT_EQ(start.size(), frames + 1);
  ASSERT_EQ(bodies.size(), 2 * static_cast<std::size_t>(start.back()));
  ASSERT_EQ(forces.size(), bodies.size());
  EXPECT_EQ(points.size(), bodies.size());
  // a force pushes a away from b: along the line from the centre of b to that of a, as far as friction allows
  std::size_t looked = 0;
  for (std::size_t f = 0; f < frames && looked < 40; ++f)
    for (auto k = static_cast<std::size_t>(start[f]); k < static_cast<std::size_t>(start[f + 1]) && looked < 40; ++k) {
      const int a = static_cast<int>(bodies[2 * k]), b = static_cast<int>(bodies[2 * k + 1]);
      EXPECT_TRUE(a >= 0 || b >= 0);
      EXPECT_LT(std::max(a, b), static_cast<int>(count));
      if (a < 0 || b < 0) continue;
      const auto x = page.read->position(0, static_cast<std::size_t>(a), f),
                 y = page.read->position(0, static_cast<std::size_t>(b), f);
      EXPECT_GT((x[0] - y[0]) * forces[2 * k] + (x[1] - y[1]) * forces[2 * k + 1], 0);
      ++looked;
    }
  EXPECT_GT(looked, 10U);
}

TEST(PageRecorder, JointsOfAMechanismAreNamedWithTheirReactions) {
  const PageOf page(parse_model(R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "arm"
mass = 1
inertia = [0.1, 0.1, 0.01]
position = [0.5, 0, 0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 1, 0]
[integrate]
step = 0.01
end = 1
[view]
trails = ["arm"]
up = [0, 0, 2]
)",
                                "arm.toml"));
  const auto& scene = page.read->data["scene"];
  ASSERT_EQ(scene["joints"].size(), 1U);
  EXPECT_EQ(scene["joints"][0]["kind"], "revolute");
  EXPECT_EQ(scene["joints"][0]["axis"], (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(scene["rods"].size(), 1U) << "a body without a shape is a line to its joint";
  ASSERT_EQ(scene["trails"].size(), 1U);
  ASSERT_NE(page.read->column("pin: point, x"), nullptr);
  EXPECT_EQ(page.read->column("pin: point, x")->at("kind"), "reaction");
  EXPECT_EQ(page.read->column("pin: point, x")->at("group"), "pin");
}

TEST(PageRecorder, ManyRowsAreThinnedAndKeepTheirExtremes) {
  const Model model = load_model(HINGE_EXAMPLES "/pendulum.toml", {{"integrate.end", "50"}});
  const PageOf page(model, 20'000);
  const auto& table = page.read->data["tables"][0];
  ASSERT_TRUE(table.contains("thinned"));
  EXPECT_EQ(table["thinned"]["from"], page.rows.rows());
  EXPECT_LT(table["rows"].get<std::size_t>(), page.rows.rows());
  for (const char* name : {"q[0]", "q'[1]", "energy"}) {
    const std::vector<double> was = page.rows.column(name), is = page.read->values(name);
    EXPECT_EQ(static_cast<float>(*std::max_element(was.begin(), was.end())),
              static_cast<float>(*std::max_element(is.begin(), is.end())));
    EXPECT_EQ(static_cast<float>(*std::min_element(was.begin(), was.end())),
              static_cast<float>(*std::min_element(is.begin(), is.end())));
  }
}

TEST(PageRecorder, NothingInAModelBecomesHtml) {
  Model model = load_model(HINGE_EXAMPLES "/pendulum.toml", {{"integrate.end", "0.1"}});
  model.title = "</script><script>alert(1)</script><!-- \x01\x1b \xff\xfe";
  model.text += "\n# </script><!--HINGE-REPORT-DATA--><img src=x onerror=alert(1)>\n";
  const PageOf page(model);
  const std::string metadata = page.read->element("<script type=\"application/json\" id=\"hinge-data\">");
  EXPECT_EQ(metadata.find('<'), std::string::npos);
  for (const char c : metadata) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  EXPECT_EQ(page.read->text.find("<img"), std::string::npos);
  EXPECT_EQ(page.read->data["model"]["text"], model.text);
  EXPECT_TRUE(page.read->text.ends_with("<script>page</script>\n"));
}

TEST(PageRecorder, ARunThatFailsHasAPageThatSaysSo) {
  const PageOf page(parse_model(R"(
[lagrangian]
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "2/3*(1 - x)^1.5"
[initial]
position = { x = 0 }
velocity = { x = 1 }
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 10
)",
                                "leaves.toml"));
  EXPECT_EQ(page.report.status, RunStatus::failed);
  EXPECT_EQ(page.read->data["status"], "failed");
  EXPECT_FALSE(page.read->data["verdict"]["sound"]);
  EXPECT_EQ(page.read->data["message"], page.report.message);
  EXPECT_GT(page.read->times().size(), 10U);
  EXPECT_FALSE(page.read->data.contains("scene")) << "one number is no point";
}

TEST(PageRecorder, CircuitsHavePlotsAndNoPicture) {
  const PageOf page = page_of("rectifier.toml");
  EXPECT_FALSE(page.read->data.contains("scene"));
  EXPECT_GT(page.read->times().size(), 2U);
}

// The plot may be far below the largest violation of the steps, 1e-17 beside 1e-8: the page says why.
TEST(PageRecorder, WhatIsPlottedOfADaeIsSaidToBeSolvedOnceMore) {
  const PageOf page = page_of("amplifier.toml");
  const Json& levels = page.read->data["preserved"][0];
  EXPECT_EQ(levels["symbol"], "|F_i(t, x)|");
  EXPECT_NE(levels.value("note", "").find("solved for the equations once more"), std::string::npos) << levels.dump();
  EXPECT_FALSE(page_of("pendulum.toml").read->data["preserved"][0].contains("note"));
}

TEST(PageRecorder, TheViewOfTheModelWins) {
  const std::string text = R"toml(
[lagrangian]
coordinates = ["a"]
kinetic = "a'^2/2"
potential = "-9.81*cos(a)"
[initial]
position = { a = 1 }
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 1
[view]
points = { bob = ["sin(a)", "-cos(a)"] }
rods = [[[0, 0], "bob"]]
trails = ["bob"]
)toml";
  const PageOf page(parse_model(text, "angle.toml"));
  const auto& scene = page.read->data["scene"];
  EXPECT_EQ(scene["dimension"], 2);
  EXPECT_EQ(scene["points"].size(), 1U);
  EXPECT_EQ(scene["rods"].size(), 1U);
  EXPECT_EQ(scene["trails"].size(), 1U);
  const std::vector<double> x = page.read->position(0, 0, 0);
  EXPECT_NEAR(x[0], std::sin(1.0), 1e-4);
  EXPECT_NEAR(x[1], -std::cos(1.0), 1e-4);
}

// A point that goes round in a circle, so many turns in a run: slow ones are drawn right, fast ones are not, and that
// is said. A chord of the angle a is 1 - cos(a/2) from its arc of radius 1.
TEST(PageRecorder, AFastMotionIsSaidToBeDrawnWrong) {
  for (const double turns : {1.0, 100.0, 300.0}) {
    SceneFrames frames(2, {{1, false}}, false);
    frames.expect(0, 1);
    std::size_t taken = 0;
    const int rows = 40'000;
    for (int k = 0; k <= rows; ++k) {
      const double t = k / static_cast<double>(rows), angle = 2 * M_PI * turns * t;
      SceneFrame frame;
      frame.t = t;
      frame.place({std::cos(angle), std::sin(angle), 0}, 2);
      if (frames.due(t)) {
        frames.add(std::move(frame));
        ++taken;
      } else if (frames.probe_due(t)) {
        frames.probe(std::move(frame));
      }
    }
    const double between = 2 * M_PI * turns / static_cast<double>(taken - 1);
    EXPECT_NEAR(frames.off_the_way(), (1 - std::cos(between / 2)) / 2, 0.02 * (1 - std::cos(between / 2)) + 1e-6);
  }
}

TEST(PageRecorder, ALargePileStaysSmall) {
  SceneFrames frames(3, {{10'000, false}}, true);
  frames.expect(0, 1);
  int taken = 0;
  for (int k = 0; k <= 4000; ++k) {
    const double t = k / 4000.0;
    if (!frames.due(t)) continue;
    SceneFrame frame;
    frame.t = t;
    for (int i = 0; i < 10'000; ++i) frame.place({std::sin(i + t), std::cos(i * t), t}, 3);
    frame.contacts.assign(20'000, {{0, 0, 0}, {1, 2, 3}, 1, 2});
    frames.add(std::move(frame));
    ++taken;
  }
  PageBlocks blocks;
  Json scene;
  frames.write(scene, blocks, false);
  std::size_t bytes = 0;
  for (const std::string& text : blocks.texts()) bytes += text.size();
  EXPECT_LT(static_cast<double>(bytes), 1.01 * scene_budget);
  EXPECT_GE(frames.size(), 4U);
  EXPECT_EQ(frames.last_time(), 1);
  EXPECT_GT(taken, 8);
}

TEST(PageRecorder, PlotsGapsThatAreGivenByExpressions) {
  const PageOf page(parse_model(R"([lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')/2"
potential = "10*q[1]"
unilateral = [{ gap = "q[1] - 0.1", restitution = 0.5, name = "floor" }]
[initial]
position = { q = [0, 1] }
[integrate]
method = "moreau-jean"
step = 0.01
end = 1
)",
                                "ball.toml"));
  const std::vector<double> gap = page.read->values("floor"), height = page.rows.column("q[1]");
  ASSERT_EQ(page.read->column("floor")->at("kind"), "gap");
  ASSERT_EQ(gap.size(), height.size());
  for (std::size_t k = 0; k < gap.size(); ++k) EXPECT_NEAR(gap[k], height[k] - 0.1, 1e-6);
}

// What is sent while a run goes on is what the page has in the end, at once or in parts.
TEST(PageRecorder, SendsWhatAPageDoesNotHaveYet) {
  const Model model = load_model(HINGE_EXAMPLES "/four-bar.toml", {{"integrate.end", "0.2"}});
  PageOptions options;
  options.system = model.system;
  options.end = model.end;
  options.most_numbers = 300;
  PageRecorder page(options);
  Simulation run = model.simulation_for("");
  std::string numbering;
  std::size_t changes = 0, rows = 0;
  run.on_row([&](const Row& row) {
    page.take(row);
    changes += numbering != page.numbering();
    numbering = page.numbering();
    ++rows;
  });
  run.start(model.start);
  EXPECT_EQ(page.news(0, 0)["rows"], 1);
  EXPECT_EQ(page.news(0, 0)["frames"], 1);
  EXPECT_EQ(page.news(1, 1)["rows"], 0);
  EXPECT_FALSE(page.news(1, 1).contains("frames"));
  run.until(model.end);
  EXPECT_GT(changes, 1U);  // thinned: whoever has rows must begin anew
  EXPECT_EQ(page.rows(), rows);
  page.end(run.state());
  const Json all = page.news(0, 0);
  const std::size_t count = all["rows"], half = count / 2;
  const Json second = page.news(half, 0);
  EXPECT_EQ(second["rows"], count - half);
  EXPECT_EQ(second["columns"].size(), all["columns"].size());
  // base64 of eight bytes each: three numbers are 32 letters
  const std::size_t third = half / 3 * 3;
  EXPECT_EQ(page.news(third, 0)["columns"][0].get<std::string>(),
            all["columns"][0].get<std::string>().substr(third / 3 * 32));
  EXPECT_LT(page.largest("constraint"), 1e-9);
  EXPECT_TRUE(std::isnan(page.largest("no such kind")));
}

}  // namespace
}  // namespace hinge::page_recorder_test
