// Steps of moreau-jean with many contacts allocate nothing after the first few, where sweeps solve them: malloc is
// replaced here and counts. Sanitizers replace it themselves, so there is nothing to test in their builds.

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace hinge::pile_malloc_test {
namespace {

// Layers of spheres that stand on each other, pushed sideways by a tilted gravity, in the plane and in space.
TEST(Pile, StepsAllocateNothing) {
  for (const int dimension : {2, 3})
    for (const auto forces : {MoreauJeanOptions::Forces::implicit, MoreauJeanOptions::Forces::explicit_}) {
      const bool plane_scene = dimension == 2;
      Multibody scene(dimension);
      scene.gravity(plane_scene ? Eigen::Vector3d(0.5, -9.81, 0) : Eigen::Vector3d(0.5, 0.2, -9.81));
      scene.body({.name = "floor",
                  .shapes = {plane(plane_scene ? Eigen::Vector3d(0, 1, 0) : Eigen::Vector3d(0, 0, 1))},
                  .fixed = true,
                  .friction = 0.5});
      ParticleOptions heap;
      heap.friction = 0.5;
      const int wide = plane_scene ? 36 : 6, deep = plane_scene ? 1 : 6;
      for (int i = 0; i < wide; ++i)
        for (int j = 0; j < deep; ++j)
          for (int k = 0; k < 4; ++k) {
            const double height = 0.1 + 0.2 * k;
            heap.positions.push_back(plane_scene ? Eigen::Vector3d(0.2 * i, height, 0)
                                                 : Eigen::Vector3d(0.2 * i, 0.2 * j, height));
          }
      heap.radii.assign(heap.positions.size(), 0.1);
      heap.density = 1000;
      scene.particles(heap);
      MoreauJeanOptions options;
      options.forces = forces;
      options.solving.solver = "block-gauss-seidel";
      const auto stepper = moreau_jean(options).bind(scene.build(), {});
      const Start start = scene.start();
      State state{0, start.position, start.velocity, {}};
      for (int k = 0; k < 20; ++k) ASSERT_TRUE(stepper->step(state, 1e-3));
      const long before = allocations;
      for (int k = 0; k < 20; ++k) ASSERT_TRUE(stepper->step(state, 1e-3));
      EXPECT_EQ(allocations - before, 0) << dimension;
      EXPECT_GT(stepper->contact_statistics()->loaded * dimension, 200);
      EXPECT_EQ(stepper->contact_statistics()->unconverged, 0);
    }
}

}  // namespace
}  // namespace hinge::pile_malloc_test

#endif
