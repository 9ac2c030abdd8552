// Grains with a restitution: Newton's law of impact in the flat problem.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "method/nonsmooth/grain_heap.hpp"

namespace hinge::grain_impacts_test {
namespace {

using Eigen::Vector3d;
using namespace heaps;

double energy(const Heap& h, const GrainState& s) {
  double sum = 0;
  for (std::size_t i = 0; i < h.scene.mass.size(); ++i) {
    const Vector3d v(s.velocity.data() + 3 * i), w(s.spin.data() + 3 * i);
    sum += h.scene.mass[i] * (v.squaredNorm() / 2 - h.scene.gravity[2] * s.position[3 * i + 2]) +
           h.scene.moment[i] * w.squaredNorm() / 2;
  }
  return sum;
}

// From rest it comes back to e^2 of its height; the step is 2 ms, of a fall of 0.45 s.
TEST(GrainImpacts, AThrownBallBouncesToTheSquareOfItsRestitution) {
  RandomNumbers random(11);
  for (int draw = 0; draw < 5; ++draw) {
    const double e = 0.5 + 0.5 * random.uniform();
    Heap h;
    h.scene = {{0.1}, {2.0}, {0.008}, {0.3}, {{{0, 0, 1}, 0, 0.3}}, {0, 0, -10}};
    (draw % 2 == 0 ? h.scene.walls[0].restitution : h.scene.restitution.emplace_back()) = e;
    h.state = {{0, 0, 1.1}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    Grains grains(h.scene, {.tolerance = 1e-10});
    grains.set(h.state);
    double highest = 0;
    bool struck = false;
    for (int k = 0; k < 500; ++k) {
      ASSERT_EQ(grains.step(2e-3), "");
      grains.get(h.state);
      if (!struck && h.state.velocity[2] > 0) struck = true;
      if (struck && h.state.velocity[2] < 0) break;
      if (struck) highest = std::max(highest, h.state.position[2]);
    }
    EXPECT_NEAR(highest - 0.1, e * e, 0.02) << e;
  }
}

// Two that are inside of each other and approach rebound by the law, and the report says how deep they were.
TEST(GrainImpacts, OverlapOfThoseThatStrikeIsSaid) {
  RandomNumbers random(31);
  for (int draw = 0; draw < 10; ++draw) {
    const double overlap = 1e-3 + 0.05 * random.uniform(), e = 0.1 + 0.8 * random.uniform(), u = 1 + random.uniform();
    Heap h;
    h.scene = {{0.1, 0.1}, {1, 2}, {0.004, 0.008}, {0, 0}, {}, {0, 0, 0}, {e, e}};
    h.state = {{0, 0, 0, 0.2 - overlap, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}, {u, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    Grains grains(h.scene, {.tolerance = 1e-12});
    grains.set(h.state);
    ASSERT_EQ(grains.step(1e-3), "");
    grains.get(h.state);
    EXPECT_NEAR(grains.report().penetration, overlap, 1e-12);
    EXPECT_NEAR(h.state.velocity[3] - h.state.velocity[0], e * u, 1e-9 * u);
  }
}

// Two of any masses that strike each other anyhow: relative velocity along the normal by the law, momentum and the rest
// as before.
TEST(GrainImpacts, OfTwoAreNewtons) {
  RandomNumbers random(21);
  for (int draw = 0; draw < 20; ++draw) {
    const double e = random.uniform(), r1 = 0.05 + 0.05 * random.uniform(), r2 = 0.05 + 0.05 * random.uniform();
    Heap h;
    h.scene = {{r1, r2}, {1 + random.uniform(), 0.3}, {0.01, 0.01}, {0, 0}, {}, {0, 0, 0}, {e, e / 2}};
    const Vector3d n = Vector3d(random.normal(), random.normal(), random.normal()).normalized(),
                   x = 1.001 * (r1 + r2) * n,
                   v = -n + 0.02 * Vector3d(random.normal(), random.normal(), random.normal());
    h.state = {{x[0], x[1], x[2], 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}, {v[0], v[1], v[2], 0, 0, 0}, {0, 0, 0, 0, 0, 0}};
    const GrainState s = after(h, {.tolerance = 1e-12}, 1);
    const Vector3d v1(s.velocity.data()), v2(s.velocity.data() + 3);
    EXPECT_NEAR((v1 - v2).dot(n), -e * v.dot(n), 1e-9);
    EXPECT_LT((h.scene.mass[0] * (v1 - v) + h.scene.mass[1] * v2).norm(), 1e-12);
    EXPECT_LT((v1 - v2 - v - (v1 - v2 - v).dot(n) * n).norm(), 1e-9);
  }
}

// Where the free motion needs no reaction at all, the reaction of the step before is not applied once more.
TEST(GrainImpacts, WhatHasStoppedStaysStopped) {
  for (const double v : {0.5, 1.0, 2.0}) {
    Heap h;
    h.scene = {{0.5, 0.5}, {1, 1}, {0.1, 0.1}, {0, 0}, {}, {0, 0, 0}};
    h.state = {{0, 0, 0, 2, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}, {v, 0, 0, -v, 0, 0}, {0, 0, 0, 0, 0, 0}};
    Grains grains(h.scene, {.tolerance = 1e-10});
    grains.set(h.state);
    for (int k = 0; k < 12; ++k) ASSERT_EQ(grains.step(0.25 / v), "");
    grains.get(h.state);
    EXPECT_NEAR(h.state.velocity[0], 0, 1e-9) << v;
    EXPECT_NEAR(h.state.velocity[3], 0, 1e-9) << v;
  }
}

// Many elastic grains in a box without gravity or friction. What is struck within the step by one that was struck
// itself stops first, and bounces a step later: some energy is lost, none is gained.
TEST(GrainImpacts, ElasticOnesKeepMostOfTheEnergyOfAGas) {
  Heap h = heap(64, 0);
  RandomNumbers random(5);
  h.scene.gravity.setZero();
  h.scene.restitution.assign(h.scene.radius.size(), 1.0);
  for (double& x : h.state.position) x *= 1.5;
  for (GrainWall& w : h.scene.walls) w.offset *= 1.5;
  h.scene.walls.push_back({{0, 0, -1}, h.scene.walls[1].offset});
  for (double& v : h.state.velocity) v = 0.3 * (2 * random.uniform() - 1);
  const double before = energy(h, h.state);
  GrainReport report;
  const GrainState later = after(h, {.tolerance = 1e-10, .sweeps = 20000}, 300, &report);
  EXPECT_GT(energy(h, later), 0.85 * before);  // measured 0.914
  EXPECT_LT(energy(h, later), (1 + 1e-9) * before);
  EXPECT_GT(distance(later.velocity, h.state.velocity), 0.3);  // they have struck each other
  EXPECT_LT(report.momentum_balance, 1e-12);
  h.scene.restitution.assign(h.scene.radius.size(), 0.5);
  EXPECT_LT(energy(h, after(h, {.tolerance = 1e-8}, 300)), 0.6 * before);
}

// A heap whose grains bounce comes to rest, and rests: at rest there are no impacts.
TEST(GrainImpacts, AHeapComesToRest) {
  Heap h = heap(40);
  h.scene.restitution.assign(h.scene.radius.size(), 0.6);
  GrainReport report;
  const GrainState still = after(h, {.tolerance = 1e-3}, 600, &report);
  for (const double v : still.velocity) EXPECT_LT(std::abs(v), 0.05);
  EXPECT_NEAR(report.carried, 1, 2e-2);
  EXPECT_LT(report.penetration, 0.1 * radius);
}

TEST(GrainImpacts, OnDevicesAreThoseOfTheHost) {
  Heap h = heap(200);
  h.scene.restitution.assign(h.scene.radius.size(), 0.7);
  h.scene.walls[4].restitution = 0.9;
  const GrainState host = after(h, {.tolerance = 1e-3}, 40);
  EXPECT_LT(distance(host.velocity, after(h, {.device = GrainDevice::opencl, .tolerance = 1e-3}, 40).velocity), 1e-10);
  h.scene.restitution.clear();
  EXPECT_GT(distance(host.velocity, after(h, {.tolerance = 1e-3}, 40).velocity), 1e-2);
}

// The same by a scene of particles: the larger restitution counts.
TEST(GrainImpacts, OfParticlesAreThoseOfTheScene) {
  Multibody scene;
  scene.gravity({0, 0, -10});
  ParticleOptions particles;
  particles.positions = {{0, 0, 1.1}};
  particles.radii = {0.1};
  particles.density = 500;
  particles.restitution = 0.4;
  scene.particles(particles);
  scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .restitution = 0.8});
  MoreauJeanOptions o;
  o.device = ContactDevice::threads;
  Simulation run(scene, moreau_jean(o), {.step = 1e-3});
  run.start(scene.start());
  run.until(std::sqrt(0.2) + 0.8 * std::sqrt(0.2));  // the top of the first bounce
  EXPECT_NEAR(body_poses(run.system(), run.state())[0].position[2], 0.1 + 0.64, 0.01);
}

TEST(GrainImpacts, RestitutionsThatMakeNoSenseAreRefused) {
  Heap h = heap(8);
  h.scene.restitution = {0.5};
  EXPECT_THROW(Grains{h.scene}, InputError);
  h.scene.restitution.assign(8, 1.5);
  EXPECT_THROW(Grains{h.scene}, InputError);
  h.scene.restitution.clear();
  h.scene.walls[0].restitution = -0.1;
  EXPECT_THROW(Grains{h.scene}, InputError);
}

}  // namespace
}  // namespace hinge::grain_impacts_test
