// Sweeps over the contacts of grains: accelerated ones, those of tiles in the local memory of devices, and what the
// contacts of a step say about it.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "method/nonsmooth/grain_heap.hpp"

namespace hinge::grain_sweeps_test {
namespace {

using Eigen::Vector3d;
using namespace heaps;

// As heap(), but a tower of so many layers.
Heap tower(int side, int layers) {
  Heap h = heap(side * side * layers);
  RandomNumbers random(7);
  const double spacing = 2.02 * radius, width = spacing * side + 0.4 * radius;
  for (int i = 0; i < side * side * layers; ++i) {
    const int cell[] = {i % side, i / side % side, i / (side * side)};
    for (int k = 0; k < 3; ++k)
      h.state.position[static_cast<std::size_t>(3 * i + k)] =
          radius + 1e-5 + spacing * cell[k] + 0.02 * radius * random.uniform();
  }
  for (GrainWall& w : h.scene.walls)
    if (w.offset != 0) w.offset = -width;
  return h;
}

// The weight of a tower arrives at the floor in a few sweeps, without reactions of a step before: what the floor
// carries after very many sweeps.
TEST(GrainSweeps, AcceleratedOnesCarryTheWeightOfATower) {
  Heap h = tower(2, 25);
  GrainReport settled;
  h.state = after(h, {.tolerance = 1e-3}, 300, &settled);
  const auto carried = [&](bool accelerate, int sweeps) {
    GrainReport report;
    after(h, {.tolerance = 1e-9, .sweeps = sweeps, .recover = 0, .accelerate = accelerate, .look = sweeps}, 1, &report);
    EXPECT_EQ(report.sweeps, sweeps);
    return report.carried;
  };
  const double all = carried(false, 20000);
  EXPECT_NEAR(settled.carried, 1, 1e-2);
  EXPECT_LT(carried(false, 200), 0.8 * all);
  EXPECT_NEAR(carried(true, 200), all, 0.02 * all);  // measured 0.990, 0.997 and without acceleration 0.594
}

TEST(GrainSweeps, AcceleratedOnesLeadToTheSameMotion) {
  const Heap h = heap(60);
  GrainReport fast, slow;
  const GrainState a = after(h, {.tolerance = 1e-8, .sweeps = 20000}, 20, &fast),
                   b = after(h, {.tolerance = 1e-8, .sweeps = 20000, .accelerate = false}, 20, &slow);
  EXPECT_EQ(fast.unconverged + slow.unconverged, 0);
  EXPECT_LT(distance(a.position, b.position), 1e-7);
  EXPECT_NE(a.position, b.position);
}

// Velocities by the reactions of the contacts that a step tells, and the laws of contact and friction in them.
TEST(GrainSweeps, ContactsOfAStepExplainIt) {
  const Heap h = heap(150);
  for (const bool device : {false, true}) {
    GrainOptions options{.tolerance = 1e-7, .sweeps = 5000, .recover = 0};
    if (device) options.device = GrainDevice::opencl;
    Grains grains(h.scene, options);
    grains.set(h.state);
    EXPECT_TRUE(grains.contacts().empty());
    for (int k = 0; k < 15; ++k) ASSERT_EQ(grains.step(2e-3), "");
    GrainState before, now;
    grains.get(before);
    ASSERT_EQ(grains.step(2e-3), "");
    grains.get(now);
    for (std::size_t i = 2; i < before.velocity.size(); i += 3) before.velocity[i] -= 2e-3 * 9.81;
    const auto velocity = [](GrainState& s, int i) {
      return Eigen::Map<Vector3d>(s.velocity.data() + 3 * static_cast<std::size_t>(i));
    };
    const GrainContacts contacts = grains.contacts();
    EXPECT_EQ(contacts.size(), static_cast<std::size_t>(grains.report().contacts));
    int loaded = 0;
    for (const GrainContact& c : contacts) {
      const Vector3d r = c.reaction * c.normal + c.tangential;
      velocity(before, c.a) += r / h.scene.mass[static_cast<std::size_t>(c.a)];
      if (c.b >= 0) velocity(before, c.b) -= r / h.scene.mass[static_cast<std::size_t>(c.b)];
      EXPECT_GE(c.reaction, 0);
      EXPECT_LE(c.tangential.norm(), c.friction * c.reaction * (1 + 1e-12));
      const Vector3d u = velocity(now, c.a) - (c.b >= 0 ? Vector3d(velocity(now, c.b)) : Vector3d::Zero());
      EXPECT_GT(u.dot(c.normal) + c.gap, -1e-6);  // of 0.02
      if (c.reaction > 0) {
        EXPECT_LT(u.dot(c.normal) + c.gap, 1e-6);
        ++loaded;
      }
    }
    EXPECT_EQ(loaded, grains.report().loaded);
    EXPECT_GT(loaded, 50);
    EXPECT_LT(distance(before.velocity, now.velocity), 1e-12);
    EXPECT_GT(grains.sweep_bytes(), 100.0 * grains.report().contacts);
  }
}

// Blocks that fit into local memory in every way, or not for their contacts, their grains or their colours: the bits of
// the host. Speeds make wide bands, and with them many contacts.
TEST(GrainSweeps, OfDevicesHaveTheBitsOfTheHostWhateverBlocksThereAre) {
  for (const double speed : {0.0, 0.3, 1.0, 2.5}) {
    Heap h = heap(700);
    RandomNumbers random(static_cast<std::uint64_t>(10 * speed) + 3);
    for (double& v : h.state.velocity) v = speed * (2 * random.uniform() - 1);
    for (const bool accelerate : {false, true}) {
      GrainReport here, there;
      GrainOptions options{.tolerance = 1e-3, .sweeps = 40, .accelerate = accelerate};
      const GrainState host = after(h, options, 3, &here);
      options.device = GrainDevice::opencl;
      const GrainState device = after(h, options, 3, &there);
      EXPECT_EQ(here.sweeps, there.sweeps);
      EXPECT_EQ(here.colours, there.colours);
      EXPECT_LT(distance(host.velocity, device.velocity), 1e-11) << speed;  // measured 0 with pocl
    }
  }
}

TEST(GrainSweeps, ProfilesNameTheKernels) {
  const Heap h = heap(50);
  Grains grains(h.scene, {.device = GrainDevice::opencl, .tolerance = 1e-2, .profile = true});
  grains.set(h.state);
  for (int k = 0; k < 5; ++k) ASSERT_EQ(grains.step(2e-3), "");
  long sweeps = 0;
  for (const GrainKernel& k : grains.kernels())
    if (k.name == "k_sweep") sweeps = k.runs;
  EXPECT_EQ(sweeps, 8 * grains.report().sweeps);
  EXPECT_GT(grains.copy_rate(1), 0);
  EXPECT_THROW(Grains(h.scene, {.look = -1}), InputError);
}

}  // namespace
}  // namespace hinge::grain_sweeps_test
