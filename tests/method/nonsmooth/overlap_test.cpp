// gap = "both": overlap that a step cannot foresee is taken back by positions; and rest, which is not computed again.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::overlap_test {
namespace {

// Cubes that fall into a box, turned at random: `layers` of nine.
Multibody crowd(Draw& draw, int layers, double fall) {
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  const double wall = 0.27;
  scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.5});
  int number = 0;
  for (const Eigen::Vector3d& n :
       {Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(-1, 0, 0), Eigen::Vector3d(0, 1, 0), Eigen::Vector3d(0, -1, 0)})
    scene.body({.name = fmt::format("wall{}", number++),
                .shapes = {plane(n)},
                .position = -wall * n,
                .fixed = true,
                .friction = 0.5});
  for (int k = 0; k < 9 * layers; ++k) {
    const Eigen::Vector3d place(0.178 * (k % 3 - 1), 0.178 * (k / 3 % 3 - 1), 0.1 + 0.176 * (k / 9));
    scene.body(
        {.name = fmt::format("c{}", k),
         .density = 1000,
         .shapes = {box({0.1, 0.1, 0.1})},
         .position = place,
         .rotation = Eigen::Quaterniond(draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1), draw.number(0.1, 1))
                         .normalized(),
         .velocity = {0, 0, -fall},
         .friction = draw.number(0.2, 1)});
  }
  return scene;
}

TEST(Overlap, CubesInACrowdStayOutOfEachOther) {
  Draw draw(5);
  double worst = 0;
  for (int trial = 0; trial < 2; ++trial) {
    const Multibody scene = crowd(draw, 4, draw.number(1, 3));
    Simulation run(scene, moreau_jean(), {.step = draw.number(0.002, 0.004)});
    run.start(scene.start());
    const double energy = *run.report().energy;
    run.until(0.25);
    worst = std::max(worst, run.report().contacts->penetration);
    EXPECT_LT(*run.report().energy, energy);
    EXPECT_GT(run.report().contacts->impacts, 50);
  }
  EXPECT_LT(worst, 0.02 * 0.1);  // measured 1.1e-3
}

// Dominoes: slip ends in many steps while plates overlap a little. Parts of steps push these out no faster than whole
// ones; as fast as parts are short, that gave them 1e12 J.
TEST(Overlap, DominoesGainNoEnergyInPartsOfSteps) {
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.5});
  for (int k = 0; k < 6; ++k)
    scene.body({.name = fmt::format("d{}", k),
                .density = 700,
                .shapes = {box({0.02, 0.1, 0.2})},
                .position = {0.1 * k, 0, 0.1},
                .velocity = {k == 0 ? 0.25 : 0, 0, 0},
                .angular_velocity = {0, k == 0 ? 2.5 : 0, 0},
                .friction = 0.5});
  Simulation run(scene, moreau_jean(), {.step = 0.002});
  run.start(scene.start());
  const double energy = *run.report().energy;
  run.until(1.2);
  EXPECT_LT(*run.report().energy, 0.6 * energy);  // they lie
  EXPECT_EQ(run.report().contacts->unconverged, 0);
  EXPECT_LE(run.report().contacts->complementarity, 1e-6);
  EXPECT_GT(run.report().contacts->impact_loss, 0);
}

// A stack that rests is not computed any more, and wakes where something comes.
TEST(Rest, IsRepeatedAsItIsAndEndsWhereSomethingStrikes) {
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.6});
  for (int k = 0; k < 4; ++k)
    scene.body({.name = fmt::format("b{}", k),
                .density = 1000,
                .shapes = {box({0.2, 0.3, 0.2})},
                .position = {0, 0, 0.1 + 0.2 * k},
                .friction = 0.6});
  const auto stepper = moreau_jean().bind(scene.build(), {});
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  for (int k = 0; k < 200; ++k) ASSERT_TRUE(stepper->step(state, 1.0 / 240));
  const long solved = stepper->contact_statistics()->solves;
  const State before = state;
  for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper->step(state, 1.0 / 240));
  EXPECT_EQ(stepper->contact_statistics()->solves, solved);
  EXPECT_EQ(state.y, before.y);
  EXPECT_NEAR(state.t, before.t + 100.0 / 240, 1e-12);
  // the controls: a step of another length is computed; a push moves it
  ASSERT_TRUE(stepper->step(state, 1.0 / 480));
  EXPECT_GT(stepper->contact_statistics()->solves, solved);
  state.z[18] = 2;
  ASSERT_TRUE(stepper->step(state, 1.0 / 240));
  EXPECT_GT(state.y[21], 0.007);  // of the highest
}

// What depends on time is computed in every step: a table that begins to shake.
TEST(Rest, IsNotAssumedWhereSomethingDependsOnTime) {
  const Model model = parse_model(R"toml([multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
fixed = true
shape = { plane = [0, 0, 1] }
[[body]]
name = "b"
mass = 1
shape = { box = [0.2, 0.2, 0.2] }
position = [0, 0, 0.1]
[[force]]
body = "b"
force = ["if(t > 1, 20, 0)", "0", "0"]
[contact]
friction = 0.5
[integrate]
step = 0.01
end = 2
)toml",
                                  "push.toml", {});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  EXPECT_NEAR(body_poses(*model.system, run.state())[0].position.x(), (20 - 0.5 * 9.81) / 2, 1e-9);
}

}  // namespace
}  // namespace hinge::overlap_test
