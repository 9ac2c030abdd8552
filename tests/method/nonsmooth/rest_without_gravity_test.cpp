// Claims: where everything rests and nothing presses, rounding is all there is of velocities, and no rule takes it for
// more. Each motion has its closed form; the control is the same scene on its way.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../model/run_text.hpp"
#include "hinge/hinge.hpp"
#include "random_draw.hpp"

namespace hinge::test::rest_without_gravity_test {
namespace {

struct Outcome {
  Report report;
  State state;
  std::string failure;
};

Outcome run(const std::string& text) {
  const Model model = parse_model("[multibody]\ngravity = [0, 0, 0]\n" + text, "rest.toml", {});
  Simulation simulation = model.simulation_for("");
  simulation.start(model.start);
  Outcome r;
  try {
    simulation.until(model.end);
  } catch (const std::exception& e) {
    r.failure = e.what();
  }
  r.report = simulation.report();
  r.state = simulation.state();
  return r;
}

// A round arm on a hinge turns until a stop halts it, and stays there.
TEST(RestWithoutGravity, ArmsThatAStopHaltsSettle) {
  Draw draw(3101);
  for (int trial = 0; trial < 24; ++trial) {
    const double length = draw.number(0.5, 3), radius = draw.number(0.01, 0.05) * length, spin = draw.number(0.5, 3),
                 way = draw.number(0.4, 0.9) * length / 2, at = draw.number(0.6, 2.2), stop = 0.05 * length;
    const bool halted = trial % 4 != 3;
    const double turned = at - std::asin((stop + radius) / way), end = halted ? 1.5 * turned / spin : turned / spin / 2;
    const Outcome r = run(fmt::format(R"toml(
[[body]]
name = "stop"
fixed = true
shape = {{ sphere = {} }}
position = [{}, {}, 0]
[[body]]
name = "arm"
mass = {}
shape = {{ {} = {{ radius = {}, length = {} }} }}
rotation = {{ axis = [0, 1, 0], angle = {} }}
angular_velocity = [0, 0, {}]
[[joint]]
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 0, 1]
[contact]
restitution = 0
[integrate]
method = "moreau-jean"
step = {}
end = {}
)toml",
                                      stop, way * std::cos(at), way * std::sin(at), draw.number(0.1, 5),
                                      trial % 2 == 0 ? "capsule" : "cylinder", radius, length, std::numbers::pi / 2,
                                      spin, draw.power(-3.5, -2.5), end));
    ASSERT_EQ(r.failure, "") << trial;
    EXPECT_TRUE(r.report.sound()) << trial << '\n' << verdict_text(r.report);
    const Eigen::Quaterniond q(r.state.y[3], r.state.y[4], r.state.y[5], r.state.y[6]);
    const Eigen::Vector3d along = q * Eigen::Vector3d::UnitZ();
    EXPECT_NEAR(std::atan2(along.y(), along.x()), halted ? turned : spin * end, 1e-5) << trial;
    double fastest = 0;
    for (const double z : r.state.z) fastest = std::max(fastest, std::abs(z));
    EXPECT_NEAR(fastest, halted ? 0 : spin, 1e-9) << trial;
  }
}

// Joints whose start is closed to rounding only, and nothing else.
TEST(RestWithoutGravity, JointsThatNothingMovesSettle) {
  Draw draw(3102);
  for (int trial = 0; trial < 24; ++trial) {
    const double size = draw.power(-3, 3), x = draw.number(-1, 1) * size, z = draw.number(-3, 3) * size;
    const Outcome r = run(fmt::format(R"toml(
[[body]]
name = "ham"
mass = 3
shapes = [{{ box = [{}, {}, {}] }}, {{ box = [{}, {}, {}], position = [{}, 0, 0] }}]
position = [{}, 0, {}]
[[joint]]
type = "revolute"
bodies = ["ground", "ham"]
point = [{}, 0, {}]
axis = [0, 1, 0]
[integrate]
method = "moreau-jean"
step = {}
end = 1
)toml",
                                      size, 0.1 * size, 0.1 * size, 0.2 * size, 0.2 * size, 0.3 * size, -0.5 * size, x,
                                      z, x + draw.number(0.2, 0.6) * size, z, draw.power(-3, -2)));
    ASSERT_EQ(r.failure, "") << trial;
    EXPECT_TRUE(r.report.sound()) << trial << '\n' << verdict_text(r.report);
    for (const double v : r.state.z) EXPECT_NEAR(v, 0, 1e-11 * std::max(1.0, size)) << trial;
  }
}

// A ball that strikes a plane obliquely rolls or slides on, with nothing that presses it. The impulse of friction is
// the least of mu p_N and what stops the slip, m u/3.5.
TEST(RestWithoutGravity, BallsThatRollOnAreNotDoubted) {
  Draw draw(3103);
  for (int trial = 0; trial < 60; ++trial) {
    const double mass = draw.number(0.1, 3), radius = draw.number(0.1, 1.5), friction = draw.number(0.05, 0.8);
    const Eigen::Vector3d v(draw.number(-10, 10), draw.number(-10, 10), draw.number(-10, -1)),
        w(draw.number(-5, 5), draw.number(-5, 5), draw.number(-5, 5));
    const Outcome r = run(fmt::format(R"toml(
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "b"
mass = {}
shape = {{ sphere = {} }}
position = [0, 0, {}]
velocity = [{}, {}, {}]
angular_velocity = [{}, {}, {}]
[contact]
friction = {}
restitution = 0
[integrate]
method = "moreau-jean"
step = 0.01
end = 2
)toml",
                                      mass, radius, radius, v.x(), v.y(), v.z(), w.x(), w.y(), w.z(), friction));
    ASSERT_EQ(r.failure, "") << trial;
    EXPECT_TRUE(r.report.sound()) << trial << '\n' << verdict_text(r.report);
    const Eigen::Vector3d slip(v.x() - w.y() * radius, v.y() + w.x() * radius, 0);
    const Eigen::Vector3d change = -std::min(friction * -v.z() / slip.norm(), 1 / 3.5) * slip;
    EXPECT_NEAR(r.state.z[0], v.x() + change.x(), 1e-12) << trial;
    EXPECT_NEAR(r.state.z[1], v.y() + change.y(), 1e-12) << trial;
    EXPECT_NEAR(r.state.z[2], 0, 1e-12) << trial;
    EXPECT_LT(r.report.contacts->solver_iterations, 200) << trial;
  }
}

// Grains that fly into a corner and rest there.
TEST(RestWithoutGravity, GrainsInACornerAreInBalance) {
  Draw draw(3104);
  for (int trial = 0; trial < 12; ++trial) {
    const int count = draw.one_of<int>({1, 2, 5, 12});
    std::string places;
    for (int i = 0; i < count; ++i)
      places += fmt::format("{}[{}, {}, 0.5]", i > 0 ? ", " : "", 0.1 + 0.25 * (i % 4), 0.1 + 0.25 * (i / 4));
    const Outcome r =
        run(fmt::format(R"toml(
[container]
box = [[0, 0, 0], [1, 1, 1]]
[[particles]]
name = "p"
radius = 0.05
density = {}
positions = [{}]
velocity = [{}, {}, {}]
[contact]
device = "threads"
friction = 0
restitution = 0
[integrate]
method = "moreau-jean"
step = 0.005
end = 4
)toml",
                        draw.power(-3, 4), places, draw.number(0.5, 1), draw.number(-1, -0.5), draw.number(0.4, 1)));
    ASSERT_EQ(r.failure, "") << trial;
    EXPECT_TRUE(r.report.sound()) << trial << '\n' << verdict_text(r.report);
    EXPECT_LT(r.report.contacts->momentum_balance, 1e-9) << trial;
  }
}

}  // namespace
}  // namespace hinge::test::rest_without_gravity_test
