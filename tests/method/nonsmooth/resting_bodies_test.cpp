// Bodies that rest are held while others move, with the reactions that carry them, and go on as if they had not been
// when something comes.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "body/body_table.hpp"
#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::resting_bodies_test {
namespace {

struct Tower {
  Multibody scene;
  double weight = 0;
  std::size_t boxes = 0;
};

// Boxes of all sizes upon each other, turned about the vertical, and a ball that rolls along x.
Tower tower_and_ball(Draw& draw, double speed) {
  Tower t;
  t.scene.gravity({0, 0, -9.81});
  t.scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.5});
  double z = 0;
  t.boxes = static_cast<std::size_t>(draw.integer(3, 5));
  for (std::size_t k = 0; k < t.boxes; ++k) {
    const Eigen::Vector3d size(draw.number(0.15, 0.25), draw.number(0.15, 0.25), draw.number(0.08, 0.2));
    t.scene.body({.name = fmt::format("b{}", k),
                  .density = 1000,
                  .shapes = {box(size)},
                  .position = {draw.number(-0.02, 0.02), draw.number(-0.02, 0.02), z + size.z() / 2},
                  .rotation = Eigen::Quaterniond(Eigen::AngleAxisd(draw.number(0, 3), Eigen::Vector3d::UnitZ())),
                  .friction = 0.5});
    t.weight += 9.81 * 1000 * size.prod();
    z += size.z();
  }
  t.scene.body({.name = "ball",
                .mass = 3,
                .shapes = {sphere(0.1)},
                .position = {2, 0, 0.1},
                .velocity = {speed, 0, 0},
                .angular_velocity = {0, speed / 0.1, 0},
                .friction = 0.5});
  return t;
}

TEST(RestingBodies, AreHeldWhileOthersMoveAndCarryWhatTheyCarried) {
  Draw draw(16);
  for (int trial = 0; trial < 6; ++trial) {
    const Tower t = tower_and_ball(draw, draw.number(0.1, 1));
    const auto system = t.scene.build();
    const auto stepper = moreau_jean().bind(system, {});
    const Start start = t.scene.start();
    State state{0, start.position, start.velocity, {}};
    const double h = draw.number(0.002, 0.005);
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper->step(state, h));
    const State before = state;
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper->step(state, h));
    const BodyTable& table = *bodies_of(*system);
    for (std::size_t b = 0; b < t.boxes; ++b)
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(state.z[static_cast<std::size_t>(table.places[b].v + k)], 0) << trial;
        EXPECT_EQ(state.z[static_cast<std::size_t>(table.places[b].spin + k)], 0) << trial;
        const auto x = static_cast<std::size_t>(table.places[b].x + k);
        EXPECT_EQ(state.y[x], before.y[x]) << trial;
        EXPECT_NEAR(state.y[x], start.position[x], 1e-13) << trial;
      }
    const auto ball = static_cast<std::size_t>(table.places[t.boxes].x);
    EXPECT_NEAR(state.y[ball] - before.y[ball],
                100 * h * start.velocity[static_cast<std::size_t>(table.places[t.boxes].v)], 1e-11);
    // all that the floor carries, at the height of nothing
    const ContactImpulses& impulses = *stepper->contact_impulses();
    double carried = 0;
    for (int i = 0; i < impulses.contacts.count; ++i)
      if (impulses.contacts.point[static_cast<std::size_t>(3 * i + 2)] < 1e-6)
        carried += impulses.impulse[static_cast<std::size_t>(3 * i)] / impulses.step;
    EXPECT_NEAR(carried, t.weight + 3 * 9.81, 1e-9 * t.weight) << trial;
  }
}

// The control: a force that never acts, but depends on time, so that nothing is held. Without friction: with it a
// box that stands on four corners and is struck may move in more than one way.
TEST(RestingBodies, WakeWhereSomethingComes) {
  Draw draw(17);
  for (int trial = 0; trial < 4; ++trial) {
    const std::string scene =
        fmt::format(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "b"
density = 1000
shape = {{ box = [{}, {}, 0.2] }}
position = [0, 0, 0.1]
rotation = {{ axis = [0, 0, 1], angle = {} }}
[[body]]
name = "ball"
mass = 3
shape = {{ sphere = 0.1 }}
position = [-1, 0, 0.1]
velocity = [{}, 0, 0]
[integrate]
step = 0.002
end = 1
)toml",
                    draw.number(0.1, 0.3), draw.number(0.1, 0.3), draw.number(0, 3), draw.number(2, 3));
    const auto end_of = [&](const std::string& more) {
      const Model model = parse_model(scene + more, "wake.toml", {});
      Simulation run = model.simulation_for("");
      run.start(model.start);
      run.until(model.end);
      return run.state();
    };
    const State held = end_of("");
    const State awake = end_of("[[force]]\nbody = \"b\"\nforce = [\"if(t > 100, 1, 0)\", \"0\", \"0\"]\n");
    double apart = 0;
    for (std::size_t k = 0; k < held.y.size(); ++k) apart = std::max(apart, std::abs(held.y[k] - awake.y[k]));
    EXPECT_GT(held.y[0], 1e-2) << trial;
    EXPECT_LT(apart, 1e-7) << trial;
  }
}

// What is slow is not at rest: a plane that is tilted by almost nothing.
TEST(RestingBodies, AreNotThoseThatBeginToMove) {
  for (const double slope : {1e-6, 1e-9, 1e-11}) {
    Multibody scene;
    scene.gravity({9.81 * slope, 0, -9.81});
    scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true});
    scene.body({.name = "box", .mass = 1, .shapes = {box({0.2, 0.3, 0.1})}, .position = {0, 0, 0.05}});
    Simulation run(scene, moreau_jean(), {.step = 0.01});
    run.start(scene.start());
    run.until(5);
    EXPECT_NEAR(run.state().y[0], 9.81 * slope * 12.5, 1e-3 * 9.81 * slope * 12.5) << slope;
  }
}

// A force that the place of another body switches on has no derivative there, and pushes all the same what has rested
// until then. Without friction the ball is where its velocity says. The control: with a threshold that it never comes
// to the box is held.
TEST(RestingBodies, ArePushedByForcesThatAnotherBodySwitchesOn) {
  Draw draw(18);
  const std::vector<std::string> switches = {"if(ball[0] > {0}, {1}, 0)", "{1}/2*(1 + sign(ball[0] - {0}))",
                                             "{1}*min(floor(ball[0]/{0}), 1)", "if(ball[0] + box[1] > {0}, {1}, 0)"};
  for (int trial = 0; trial < 8; ++trial) {
    const std::string& form = switches[static_cast<std::size_t>(trial) % switches.size()];
    const double mass = draw.number(0.5, 3), speed = draw.number(1, 2), at = draw.number(5.5, 6.5),
                 force = draw.number(1, 10), h = draw.number(0.002, 0.006);
    const auto velocity_of_box = [&](double threshold) {
      const Model model = parse_model(fmt::format(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = {{ plane = [0, 0, 1] }}
[[body]]
name = "box"
mass = {}
shape = {{ box = [0.3, 0.2, 0.1] }}
position = [0, 0, 0.05]
[[body]]
name = "ball"
mass = 1
shape = {{ sphere = 0.1 }}
position = [5, 5, 0.1]
velocity = [{}, 0, 0]
[[force]]
body = "box"
force = ["{}", 0, 0]
point = [0, 0, 0]
[integrate]
method = "moreau-jean"
step = {}
end = 2.5
)toml",
                                                  mass, speed, fmt::format(fmt::runtime(form), threshold, force), h),
                                      "switched.toml", {});
      Simulation run = model.simulation_for("");
      run.start(model.start);
      run.until(model.end);
      return run.state().z[0];
    };
    const double pushed = 2.5 - (at - 5) / speed;
    EXPECT_NEAR(velocity_of_box(at), force / mass * pushed, force / mass * 1.01 * h) << form;
    EXPECT_EQ(velocity_of_box(100), 0) << form;
  }
}

}  // namespace
}  // namespace hinge::resting_bodies_test
