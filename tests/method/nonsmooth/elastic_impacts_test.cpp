// Impacts with gaps on both levels take (1 - e^2) of the energy of approach and nothing else, wherever in a step they
// fall: alone, on what others carry, in mechanisms, in a crowd; and the report says what they took.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::elastic_impacts_test {
namespace {

using Eigen::Vector3d;

constexpr double g = 9.81;

Vector3d draw_vector(Draw& draw, double size) {
  Vector3d v;
  for (int k = 0; k < 3; ++k) v[k] = draw.number(-size, size);
  return v;
}

struct Energies {
  double before = 0, after = 0, taken = 0;
};

Energies run_for(const Multibody& scene, double step, double end) {
  Simulation run(scene, moreau_jean(), {.step = step});
  Start start = scene.start();
  start.consistent = Consistency::project;
  run.start(start);
  Energies r;
  r.before = *run.report().energy;
  while (run.state().t < end - step / 2) run.step();
  r.after = *run.report().energy;
  r.taken = run.report().contacts->impact_loss + run.report().contacts->friction_loss;
  return r;
}

BodyShape shape_of(int kind, double a) {
  switch (kind) {
    case 0: return sphere(a);
    case 1: return box({2 * a, 1.5 * a, 1.2 * a});
    case 2: return capsule(a / 2, a);
    default: return cylinder(a, a);
  }
}

// A ball that falls onto a sloping plane and on from there: energy to rounding, for every step.
TEST(ElasticImpacts, OfABallKeepItsEnergyToRounding) {
  Draw draw(1601);
  for (int trial = 0; trial < 12; ++trial) {
    const double slope = draw.number(0, 0.4), height = draw.number(0.2, 2), step = draw.number(0.002, 0.02);
    Multibody scene;
    scene.gravity({g * std::sin(slope), 0, -g * std::cos(slope)});
    scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0});
    scene.body({.name = "ball",
                .mass = draw.power(-1, 1),
                .shapes = {sphere(0.1)},
                .position = {0, 0, 0.1 + height},
                .velocity = draw_vector(draw, 1),
                .friction = 0,
                .restitution = 1});
    const Energies r = run_for(scene, step, 4);
    const double fallen = 0.5 * g * 16 + std::abs(r.before);                // energies here
    EXPECT_LT(std::abs(r.after - r.before), 1e-11 * fallen * 10) << trial;  // measured 1e-13
    EXPECT_LT(std::abs(r.taken), 1e-11 * fallen * 10) << trial;
  }
}

// One impact: e^2 of the kinetic energy of approach is left, and the report has the rest.
TEST(ElasticImpacts, LeaveTheSquareOfTheRestitution) {
  Draw draw(1602);
  for (int trial = 0; trial < 12; ++trial) {
    const double height = draw.number(0.2, 2), step = draw.number(0.002, 0.02), e = draw.number(0.2, 0.95);
    Multibody scene;
    scene.gravity({0, 0, -g});
    scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true});
    scene.body(
        {.name = "ball", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 0.1 + height}, .restitution = e});
    const double falls = std::sqrt(2 * height / g);
    const Energies r = run_for(scene, step, falls * (1 + 0.5 * e) + step);
    EXPECT_NEAR(r.before - r.after, (1 - e * e) * g * height, 1e-10) << trial;
    EXPECT_NEAR(r.taken, (1 - e * e) * g * height, 1e-10) << trial;
  }
}

// What carries does not matter: a ball on a block that lies on the floor, which strikes nothing.
TEST(ElasticImpacts, OnWhatOthersCarryKeepEnergy) {
  Draw draw(1603);
  for (int trial = 0; trial < 6; ++trial) {
    Multibody scene;
    scene.gravity({0, 0, -g});
    scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true});
    scene.body({.name = "block", .mass = draw.number(20, 80), .shapes = {box({1, 1, 0.2})}, .position = {0, 0, 0.1}});
    scene.body({.name = "ball",
                .mass = 1,
                .shapes = {sphere(0.1)},
                .position = {0, 0, 0.3 + draw.number(0.2, 1)},
                .restitution = 1});
    const Energies r = run_for(scene, draw.number(0.003, 0.012), 3);
    EXPECT_NEAR(r.after, r.before, 1e-9) << trial;  // measured 3e-13
  }
}

// A double pendulum against a wall. Its energy between impacts has an error of order two; impacts take nothing.
TEST(ElasticImpacts, OfMechanismsTakeNothing) {
  Draw draw(1604);
  for (int trial = 0; trial < 4; ++trial) {
    Multibody scene;
    scene.gravity({0, 0, -g});
    scene.body({.name = "wall",
                .shapes = {plane({1, 0, 0})},
                .position = {-draw.number(0.2, 0.4), 0, 0},
                .fixed = true,
                .friction = 0});
    scene.body(
        {.name = "a", .mass = 1, .shapes = {sphere(0.1)}, .position = {1, 0, 0}, .friction = 0, .restitution = 1});
    scene.body({.name = "b",
                .mass = draw.number(0.3, 1),
                .shapes = {sphere(0.05)},
                .position = {1.5, 0, 0},
                .friction = 0,
                .restitution = 1});
    scene.joint(
        {.kind = JointKind::revolute, .a = "ground", .b = "a", .point = Vector3d(0, 0, 0), .axis = Vector3d(0, 1, 0)});
    scene.joint(
        {.kind = JointKind::revolute, .a = "a", .b = "b", .point = Vector3d(1.2, 0, 0), .axis = Vector3d(0, 1, 0)});
    const Energies r = run_for(scene, 0.004, 4);
    EXPECT_LT(std::abs(r.taken), 0.02) << trial;  // of 20; was 1 and more, with energy created
    EXPECT_NEAR(r.after, r.before, 0.05) << trial;
  }
}

// Spheres, boxes, capsules and cylinders in a box, which strike each other some hundred times: errors of both signs,
// that are small and known to the report.
TEST(ElasticImpacts, InACrowdHaveErrorsOfBothSigns) {
  double largest[4] = {}, sum[4] = {};
  for (int kind = 0; kind < 4; ++kind)
    for (unsigned seed = 0; seed < 4; ++seed) {
      Draw draw(1605 + seed);
      Multibody scene;
      scene.gravity({0, 0, -g});
      for (int axis = 0; axis < 3; ++axis)
        for (const double side : {-1.0, 1.0}) {
          Vector3d n = Vector3d::Zero();
          n[axis] = side;
          scene.body({.name = "w" + std::to_string(2 * axis + (side > 0)),
                      .shapes = {plane(n)},
                      .position = -0.35 * n,
                      .fixed = true,
                      .friction = 0,
                      .restitution = 1});
        }
      for (int k = 0; k < 8; ++k) {
        const Vector3d place(0.3 * (k % 2) - 0.15, 0.3 * (k / 2 % 2) - 0.15, 0.3 * (k / 4) - 0.15);
        const Vector3d axis = draw_vector(draw, 1);
        const Eigen::Quaterniond turn(0.5, axis.x(), axis.y(), axis.z());
        scene.body({.name = "b" + std::to_string(k),
                    .mass = 1,
                    .shapes = {shape_of(kind, draw.number(0.04, 0.07))},
                    .position = place,
                    .rotation = turn.normalized(),
                    .velocity = draw_vector(draw, 2),
                    .angular_velocity = draw_vector(draw, 4),
                    .friction = 0,
                    .restitution = 1});
      }
      const Energies r = run_for(scene, 0.002, 1);
      const double size = 8 * (0.35 * g + 2);  // what energies are here
      const double error = (r.after - r.before) / size;
      largest[kind] = std::max(largest[kind], std::abs(error));
      sum[kind] += error / 4;
      EXPECT_LT(std::abs(r.before - r.after - r.taken) / size, 0.02) << kind << ' ' << seed;
    }
  EXPECT_LT(largest[0], 1e-3);  // measured 2.6e-4
  for (int kind = 1; kind < 4; ++kind) {
    EXPECT_LT(largest[kind], 0.01) << kind;         // measured 5.4e-3
    EXPECT_LT(std::abs(sum[kind]), 0.005) << kind;  // measured 2.6e-3
  }
}

}  // namespace
}  // namespace hinge::elastic_impacts_test
