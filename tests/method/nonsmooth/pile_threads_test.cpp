// Piles of bodies of any shape, with joints: the same bits on any number of threads.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"
#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"

namespace hinge::pile_threads_test {
namespace {

using Eigen::Vector3d;
using scenes::Random;

constexpr double cell = 0.24;

BodyShape shape_of(Random& random) {
  switch (random.below(4)) {
    case 0: return sphere(random.uniform(0.06, 0.1));
    case 1: return capsule(random.uniform(0.04, 0.05), random.uniform(0.05, 0.09));
    case 2: return cylinder(random.uniform(0.05, 0.07), random.uniform(0.08, 0.13));
    default: return box({random.uniform(0.1, 0.14), random.uniform(0.08, 0.12), random.uniform(0.08, 0.12)});
  }
}

void add_walls(Multibody& scene, double width) {
  for (int k = 0; k < 5; ++k) {
    BodyOptions wall;
    wall.name = "wall" + std::to_string(k);
    wall.shapes = {plane((k % 2 == 0 ? 1.0 : -1.0) * Vector3d::Unit(k / 2))};
    wall.position = k % 2 == 0 ? Vector3d::Zero() : Vector3d::Constant(width);
    wall.fixed = true;
    wall.friction = 0.4;
    scene.body(wall);
  }
}

// Bodies of random shapes that fly about in a box, some of them in pairs on a joint.
Multibody cloud(Random& random, int bodies, bool joints) {
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  const int side = static_cast<int>(std::ceil(std::cbrt(bodies)));
  add_walls(scene, cell * side);
  Vector3d velocity = Vector3d::Zero();
  for (int i = 0; i < bodies; ++i) {
    BodyOptions body;
    body.name = "b" + std::to_string(i);
    body.density = 1000;
    body.shapes = {shape_of(random)};
    body.position = cell * (Vector3d(i % side, i / side % side, i / (side * side)) + Vector3d::Constant(0.5));
    body.rotation = random.rotation();
    const bool jointed = joints && i % 16 < 2;  // with the one before or behind it
    if (!jointed || i % 16 == 0) velocity = 2 * random.vector();
    body.velocity = velocity;
    if (!jointed) body.angular_velocity = 3 * random.vector();
    body.friction = 0.4;
    scene.body(body);
    if (jointed && i % 16 == 1)
      scene.joint({.kind = JointKind::spherical,
                   .a = "b" + std::to_string(i - 1),
                   .b = body.name,
                   .point = body.position - Vector3d(cell / 2, 0, 0)});
  }
  return scene;
}

// Cubes that stand side by side and on each other, four points for every pair of faces.
Multibody wall_of_cubes(int side, int layers) {
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  add_walls(scene, 0.1 * side);
  for (int i = 0; i < side * side * layers; ++i) {
    BodyOptions body;
    body.name = "b" + std::to_string(i);
    body.density = 1000;
    body.shapes = {box(Vector3d::Constant(0.1))};
    body.position = 0.1 * (Vector3d(i % side, i / side % side, i / (side * side)) + Vector3d::Constant(0.5));
    body.velocity = Vector3d(0.1 * std::sin(i), 0.1 * std::cos(3 * i), 0);
    body.friction = 0.4;
    scene.body(body);
  }
  return scene;
}

struct After {
  State state;
  ContactStatistics statistics;
};

After after(const Multibody& scene, GapTreatment gap, int threads, int steps, double h = 5e-3) {
  MoreauJeanOptions o;
  o.gap = gap;
  o.solving.tolerance = 1e-4;
  o.solving.threads = threads;
  Simulation start(scene, moreau_jean(o), {.step = h});
  start.start(scene.start());
  After result{start.state(), {}};
  const auto stepper = moreau_jean(o).bind(scene.build(), {});
  for (int k = 0; k < steps; ++k) {
    const StepResult step = stepper->step(result.state, h);
    EXPECT_TRUE(step.ok) << step.reason;
  }
  result.statistics = *stepper->contact_statistics();
  return result;
}

void expect_same_bits(const Multibody& scene, GapTreatment gap, const After& one, int steps) {
  for (const int threads : {2, 3, 5}) {
    const After several = after(scene, gap, threads, steps);
    EXPECT_EQ(several.state.y, one.state.y) << threads;
    EXPECT_EQ(several.state.z, one.state.z) << threads;
    EXPECT_EQ(several.state.psi, one.state.psi) << threads;
    EXPECT_EQ(several.statistics.contacts, one.statistics.contacts) << threads;
    EXPECT_EQ(several.statistics.solver_iterations, one.statistics.solver_iterations) << threads;
  }
}

TEST(PileThreads, RandomScenesHaveTheSameBits) {
  Random random{21};
  State last;
  for (const GapTreatment gap : {GapTreatment::linearised, GapTreatment::both, GapTreatment::velocity})
    for (const bool joints : {false, true}) {
      const Multibody scene = cloud(random, 400, joints);
      const int steps = 5;
      const After one = after(scene, gap, 1, steps);
      EXPECT_GT(one.statistics.contacts, 500);  // measured 1100 to 3600
      EXPECT_NE(one.state.z, last.z);           // scenes differ
      last = one.state;
      expect_same_bits(scene, gap, one, steps);
    }
}

// So many contacts that sweeps go by colours.
TEST(PileThreads, ColouredSweepsHaveTheSameBits) {
  const Multibody scene = wall_of_cubes(9, 4);
  for (const GapTreatment gap : {GapTreatment::linearised, GapTreatment::both}) {
    const After one = after(scene, gap, 1, 2);
    EXPECT_GT(one.statistics.contacts, 4096);
    expect_same_bits(scene, gap, one, 2);
  }
}

}  // namespace
}  // namespace hinge::pile_threads_test
