// Many spheres as one flat problem: the same motion as by the general stepper, the same bits on any number of threads,
// and on OpenCL devices what the host computes.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "method/nonsmooth/grain_heap.hpp"

namespace hinge::grains_test {
namespace {

using Eigen::Vector3d;
using namespace heaps;

TEST(Grains, BitsDoNotDependOnThreads) {
  const Heap h = heap(3000);
  const GrainState one = after(h, {.threads = 1, .tolerance = 1e-2}, 15);
  EXPECT_NE(one.position, h.state.position);
  for (const int threads : {2, 7}) {
    const GrainState several = after(h, {.threads = threads, .tolerance = 1e-2}, 15);
    EXPECT_EQ(one.position, several.position);
    EXPECT_EQ(one.rotation, several.rotation);
    EXPECT_EQ(one.velocity, several.velocity);
    EXPECT_EQ(one.spin, several.spin);
  }
}

// The same scene for Simulation: particles between planes.
Multibody particles_of(const Heap& h) {
  Multibody scene;
  scene.gravity(h.scene.gravity);
  ParticleOptions particles;
  for (std::size_t i = 0; i < h.scene.radius.size(); ++i)
    particles.positions.push_back(Vector3d(h.state.position.data() + 3 * i));
  particles.radii = h.scene.radius;
  particles.density = 1e4 / (4 * M_PI / 3);
  particles.friction = h.scene.friction[0];
  for (std::size_t k = 0; k < h.scene.walls.size(); ++k) {
    BodyOptions wall;
    wall.name = "wall" + std::to_string(k);
    wall.shapes = {plane(h.scene.walls[k].normal)};
    wall.position = h.scene.walls[k].offset * h.scene.walls[k].normal;
    wall.fixed = true;
    wall.friction = h.scene.walls[k].friction;
    scene.body(wall);
  }
  scene.particles(particles);
  return scene;
}

State simulated(const Heap& h, const MoreauJeanOptions& options, int steps, long* sweeps = nullptr) {
  const Multibody scene = particles_of(h);
  Simulation start(scene, moreau_jean({}), {.step = 2e-3});
  start.start(scene.start());
  State state = start.state();
  const auto stepper = moreau_jean(options).bind(scene.build(), {});
  for (int k = 0; k < steps; ++k) {
    const StepResult result = stepper->step(state, 2e-3);
    EXPECT_TRUE(result.ok) << result.reason;
  }
  if (sweeps) *sweeps = stepper->contact_statistics()->solver_iterations;
  return state;
}

MoreauJeanOptions options_with(ContactDevice device, double tolerance) {
  MoreauJeanOptions o;
  o.gap = GapTreatment::linearised;
  o.forces = MoreauJeanOptions::Forces::explicit_;
  o.solving.solver = "block-gauss-seidel";
  o.solving.tolerance = tolerance;
  o.device = device;
  return o;
}

TEST(Grains, MoveAsTheGeneralStepperMovesThem) {
  const Heap h = heap(30);
  const int steps = 25;
  const State general = simulated(h, options_with(ContactDevice::host, 1e-9), steps),
              flat = simulated(h, options_with(ContactDevice::threads, 1e-9), steps);
  EXPECT_LT(distance(general.y, flat.y), 1e-7);
  EXPECT_LT(distance(general.z, flat.z), 1e-5);
  // without friction it is another motion
  const State smooth = simulated(heap(30, 0), options_with(ContactDevice::threads, 1e-9), steps);
  EXPECT_GT(distance(general.z, smooth.z), 1e-2);
}

TEST(Grains, ThatStartAnewHaveTheBitsOfAFreshStepper) {
  const Heap h = heap(100);
  const Multibody scene = particles_of(h);
  Simulation start(scene, moreau_jean({}), {.step = 2e-3});
  start.start(scene.start());
  State goes_on = start.state();
  const auto choice = moreau_jean(options_with(ContactDevice::threads, 1e-2));
  const auto advance = [](Stepper& stepper, State& state) {
    for (int k = 0; k < 10; ++k) EXPECT_TRUE(stepper.step(state, 2e-3).ok);
  };
  const auto stepper = choice.bind(scene.build(), {});
  advance(*stepper, goes_on);
  State resumed = goes_on;
  stepper->reset();
  advance(*stepper, goes_on);
  advance(*choice.bind(scene.build(), {}), resumed);
  EXPECT_EQ(goes_on.y, resumed.y);
  EXPECT_EQ(goes_on.z, resumed.z);
}

TEST(Grains, NeedNotManyMoreSweepsThanTheSequentialOrder) {
  const Heap h = heap(1000);
  long sequential = 0, coloured = 0;
  simulated(h, options_with(ContactDevice::host, 1e-2), 20, &sequential);
  simulated(h, options_with(ContactDevice::threads, 1e-2), 20, &coloured);
  EXPECT_LT(static_cast<double>(coloured), 1.15 * static_cast<double>(sequential));  // measured 686 and 625
}

TEST(Grains, HeapAtRestGivesItsWeightToTheFloor) {
  const Heap h = heap(60);
  GrainReport first, last;
  after(h, {.tolerance = 1e-2}, 1, &first);
  EXPECT_LT(first.carried, 0.9);  // it still falls
  after(h, {.tolerance = 1e-2}, 300, &last);
  EXPECT_NEAR(last.carried, 1, 1e-2);
  EXPECT_EQ(last.unconverged, 0);
  EXPECT_LT(last.momentum_balance, 1e-12);
  EXPECT_LT(last.penetration, 0.02 * radius);
  EXPECT_GT(last.loaded, 60);
}

TEST(Grains, SlideWithTheDecelerationOfFrictionThenRoll) {
  Heap h;
  h.scene = {{0.1}, {2.0}, {0.4 * 2 * 0.01}, {0.25}, {{{0, 0, 1}, 0, 0.25}}, {0, 0, -10}};
  h.state = {{0, 0, 0.1}, {1, 0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
  const GrainState sliding = after(h, {.tolerance = 1e-10}, 20);
  EXPECT_NEAR(sliding.velocity[0], 1 - 0.25 * 10 * 0.04, 1e-12);
  EXPECT_NEAR(sliding.spin[1], 0.25 * 10 * 0.04 / (0.4 * 0.1), 1e-11);
  const GrainState rolling = after(h, {.tolerance = 1e-10}, 100);
  EXPECT_NEAR(rolling.velocity[0], 5.0 / 7, 1e-10);
  EXPECT_NEAR(rolling.spin[1], 50.0 / 7, 1e-9);
  EXPECT_NEAR(rolling.position[2], 0.1, 1e-12);
}

// One sphere of radius 0.1 with friction 0.5, at rest at x.
Heap one_at(const Vector3d& x, const GrainWall& wall) {
  Heap h;
  h.scene = {{0.1}, {2.0}, {0.4 * 2 * 0.01}, {0.5}, {wall}, {0, 0, -10}};
  h.state = {{x[0], x[1], x[2]}, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  return h;
}

// A sphere that lies on a belt slides, then rolls at 2/7 of its speed; and a floor that rises carries it.
TEST(Grains, AreCarriedByPlanesThatMove) {
  Heap h = one_at({0, 0, 0.1}, {.friction = 0.5, .velocity = {0.7, 0, 0}});
  const GrainState rolling = after(h, {.tolerance = 1e-10}, 200);
  EXPECT_NEAR(rolling.velocity[0], 2 * 0.7 / 7, 1e-9);
  EXPECT_NEAR(rolling.spin[1], -5 * 0.7 / 7 / 0.1, 1e-8);
  h.scene.walls[0].velocity = {0, 0, 0.25};
  const GrainState lifted = after(h, {.tolerance = 1e-10}, 200);
  EXPECT_NEAR(lifted.position[2], 0.1 + 0.25 * 0.4, 1e-9);
  EXPECT_NEAR(lifted.velocity[2], 0.25, 1e-9);
}

// In a drum that turns slowly it rolls on the spot where its surface comes towards it, near the lowest point: it swings
// about that, without slip.
TEST(Grains, RollInADrumAsItsSurfaceMoves) {
  const double radius_of_drum = 1.5, turns = 0.4;
  const GrainWall drum{{0, 1, 0}, 0, 0.5, GrainWall::Kind::drum, {0.3, 0, 0.2}, radius_of_drum, {0, 0, 0}, turns};
  const Heap h = one_at({0.3, 0, 0.2 - radius_of_drum + 0.1}, drum);
  const GrainState s = after(h, {.tolerance = 1e-10}, 400);
  const Vector3d x(s.position.data()), v(s.velocity.data()), w(s.spin.data());
  const Vector3d out = (x - Vector3d(0.3, 0, 0.2)).normalized();
  EXPECT_NEAR((x - Vector3d(0.3, 0, 0.2)).norm(), radius_of_drum - 0.1, 2e-5);
  const Vector3d slip = v + w.cross(0.1 * out) - (turns * Vector3d::UnitY()).cross(radius_of_drum * out);
  EXPECT_LT(slip.norm(), 2e-3);
  EXPECT_GT(std::abs(v[0]), 0.01);
  EXPECT_NEAR(x[1], 0, 1e-12);
}

// Through a hole that is wider than it; in one that is narrower it lies on the rim.
TEST(Grains, FallThroughHolesThatAreWideEnough) {
  const auto plate = [](double radius_of_hole) {
    return GrainWall{{0, 0, 1}, 0.4, 0.5, GrainWall::Kind::orifice, {1, 2, 0.4}, radius_of_hole};
  };
  const GrainState through = after(one_at({1, 2, 0.55}, plate(0.101)), {.tolerance = 1e-8}, 400);
  EXPECT_LT(through.position[2], -2);
  EXPECT_NEAR(through.position[0], 1, 1e-3);
  const GrainState lies = after(one_at({1.001, 2, 0.55}, plate(0.06)), {.tolerance = 1e-8}, 1000);
  EXPECT_NEAR(lies.position[2], 0.4 + 0.08, 1e-4);  // sqrt(0.1^2 - 0.06^2)
  const GrainState beside = after(one_at({1.5, 2, 0.55}, plate(0.06)), {.tolerance = 1e-8}, 400);
  EXPECT_NEAR(beside.position[2], 0.5, 1e-6);
}

TEST(Grains, OneThatFliesFarAwayChangesNothing) {
  Heap h = heap(200);
  const GrainState alone = after(h, {.tolerance = 1e-3}, 20);
  h.scene.radius.push_back(radius);
  h.scene.mass.push_back(1);
  h.scene.moment.push_back(1e-4);
  h.scene.friction.push_back(0);
  for (const double x : {0.1, 0.1, 1e7}) h.state.position.push_back(x);
  for (const double q : {1, 0, 0, 0}) h.state.rotation.push_back(q);
  for (auto* v : {&h.state.velocity, &h.state.spin}) v->insert(v->end(), 3, 0.0);
  GrainState with = after(h, {.tolerance = 1e-3}, 20);
  with.position.resize(alone.position.size());
  // another order of contacts, the same residual
  EXPECT_LT(distance(alone.position, with.position), 1e-3 * radius);  // measured 2.7e-6
}

// A large grain in the middle of n small ones that fly at it: more contacts share a grain than there are colours.
Heap crowd(int n) {
  Heap h;
  const auto add = [&](const Vector3d& x, const Vector3d& v, double r) {
    const double m = 1e4 * r * r * r;
    h.scene.radius.push_back(r);
    h.scene.mass.push_back(m);
    h.scene.moment.push_back(0.4 * m * r * r);
    h.scene.friction.push_back(0.5);
    h.state.position.insert(h.state.position.end(), x.data(), x.data() + 3);
    h.state.velocity.insert(h.state.velocity.end(), v.data(), v.data() + 3);
    h.state.spin.insert(h.state.spin.end(), 3, 0.0);
    for (const double q : {1, 0, 0, 0}) h.state.rotation.push_back(q);
  };
  add(Vector3d::Zero(), Vector3d::Zero(), 0.05);
  for (int k = 0; k < n; ++k) {
    const double z = 1 - (2 * k + 1.0) / n, turn = 2.399963229728653 * k, r = std::sqrt(1 - z * z);
    const Vector3d out(r * std::cos(turn), r * std::sin(turn), z);
    add(0.0532 * out, -0.2 * out + Vector3d(0.1, 0, 0), 0.003);
  }
  h.scene.gravity = {0, 0, 0};
  return h;
}

TEST(Grains, MoreContactsOfOneGrainThanColoursAreSolved) {
  const Heap h = crowd(900);
  GrainReport report;
  const GrainState one = after(h, {.tolerance = 1e-2}, 2, &report);
  EXPECT_EQ(report.colours, 64);
  EXPECT_EQ(report.unconverged, 0);
  EXPECT_GE(report.loaded, 600);
  // all move on together with the momentum that they had; nothing else acts on them
  double before = 0, now = 0;
  for (std::size_t i = 0; i < h.scene.mass.size(); ++i) {
    before += h.scene.mass[i] * h.state.velocity[3 * i];
    now += h.scene.mass[i] * one.velocity[3 * i];
  }
  EXPECT_NEAR(now, before, 1e-12 * before);
  const GrainState device = after(h, {.device = GrainDevice::opencl, .tolerance = 1e-2}, 2);
  EXPECT_LT(distance(one.velocity, device.velocity), 1e-10);  // measured 0 with pocl
}

TEST(Grains, RefuseWhatMakesNoSense) {
  Heap h = heap(8);
  EXPECT_THROW(Grains(h.scene, {.tolerance = 0}), InputError);
  EXPECT_THROW(Grains(h.scene, {.threads = 0}), InputError);
  EXPECT_THROW(Grains(h.scene, {.precision = GrainPrecision::mixed}), InputError);
  Grains grains(h.scene);
  GrainState wrong = h.state;
  wrong.spin.pop_back();
  EXPECT_THROW(grains.set(wrong), InputError);
  wrong = h.state;
  wrong.position[4] = NAN;
  EXPECT_THROW(grains.set(wrong), InputError);
  grains.set(h.state);
  EXPECT_NE(grains.step(-1), "");
  h.scene.radius[3] = -1;
  EXPECT_THROW(Grains{h.scene}, InputError);
  using Kind = GrainWall::Kind;
  for (const GrainWall& wall : {GrainWall{.kind = Kind::drum}, GrainWall{.spin = 1}, GrainWall{.velocity = {NAN, 0, 0}},
                                GrainWall{.offset = 1, .kind = Kind::orifice, .radius = 1},
                                GrainWall{.kind = Kind::drum, .radius = 1, .velocity = {1, 0, 0}}}) {
    Heap walled = heap(8);
    walled.scene.walls.push_back(wall);
    EXPECT_THROW(Grains{walled.scene}, InputError);
  }
}

TEST(Grains, DevicesRefuseOtherScenes) {
  const auto bind = [](const Multibody& scene, const MoreauJeanOptions& o) { moreau_jean(o).bind(scene.build(), {}); };
  const MoreauJeanOptions flat = options_with(ContactDevice::threads, 1e-3);
  EXPECT_NO_THROW(bind(particles_of(heap(8)), flat));
  MoreauJeanOptions both = flat;
  both.gap = GapTreatment::both;
  EXPECT_THROW(bind(particles_of(heap(8)), both), UnsuitableMethod);
  MoreauJeanOptions convex = flat;
  convex.solving.friction = FrictionModel::convexified;
  EXPECT_THROW(bind(particles_of(heap(8)), convex), UnsuitableMethod);
  Multibody with_box = particles_of(heap(8));
  BodyOptions box;
  box.name = "box";
  box.shapes = {hinge::box({0.1, 0.1, 0.1})};
  box.position = {0, 0, 1};
  box.mass = 1;
  with_box.body(box);
  EXPECT_THROW(bind(with_box, flat), UnsuitableMethod);
}

class GrainsOnOpenCl : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(no_opencl(), "") << "scripts/install-deps test"; }
};

TEST_F(GrainsOnOpenCl, AreWhereTheHostHasThem) {
  const Heap h = heap(500);
  GrainReport here, there;
  const GrainState host = after(h, {.tolerance = 1e-3}, 15, &here),
                   device = after(h, {.device = GrainDevice::opencl, .tolerance = 1e-3}, 15, &there);
  EXPECT_EQ(here.contacts, there.contacts);
  EXPECT_EQ(here.sweeps, there.sweeps);
  EXPECT_LT(distance(host.position, device.position), 1e-13);  // measured 0 with pocl
  EXPECT_LT(distance(host.velocity, device.velocity), 1e-11);
  EXPECT_LT(distance(host.spin, device.spin), 1e-9);
  EXPECT_LT(distance(host.rotation, device.rotation), 1e-10);
  EXPECT_NEAR(here.carried, there.carried, 1e-9);
  EXPECT_LT(there.momentum_balance, 1e-12);
}

TEST_F(GrainsOnOpenCl, FeelDrumsHolesAndBeltsAsOnTheHost) {
  Heap h = heap(300);
  using Kind = GrainWall::Kind;
  h.scene.walls = {{{0, 0, 1}, 0, 0.3, Kind::orifice, {0.05, 0.05, 0}, 0.03},
                   {{0, 0, 1}, 0, 0.3, Kind::drum, {0.07, 0.07, 0}, 0.12, {0, 0, 0}, 3},
                   {{0, 0, -1}, -0.2, 0.3, Kind::plane, {0, 0, 0}, 0, {0.1, 0, -0.5}}};
  const GrainState host = after(h, {.tolerance = 1e-3}, 30);
  EXPECT_LT(distance(host.position, after(h, {.device = GrainDevice::opencl, .tolerance = 1e-3}, 30).position), 1e-12);
}

TEST_F(GrainsOnOpenCl, InMixedPrecisionReachTheResidualOfTheHost) {
  const Heap h = heap(500);
  GrainReport report;
  const GrainOptions mixed{
      .device = GrainDevice::opencl, .precision = GrainPrecision::mixed, .tolerance = 1e-4, .sweeps = 5000};
  const GrainState host = after(h, {.tolerance = 1e-4, .sweeps = 5000}, 10), device = after(h, mixed, 10, &report);
  EXPECT_EQ(report.unconverged, 0);
  EXPECT_LE(report.largest_residual, 1e-4);
  EXPECT_LT(report.momentum_balance, 1e-12);
  EXPECT_LT(distance(host.position, device.position), 1e-3 * radius);
  EXPECT_GT(distance(host.position, device.position), 0);
  EXPECT_EQ(after(h, mixed, 10).velocity, device.velocity);  // again, the same bits
}

}  // namespace
}  // namespace hinge::grains_test
