// Finding contacts allocates nothing after the first calls. Malloc is replaced
// here and counts; sanitizers replace it themselves, so there is nothing to test in their builds.

#include <gtest/gtest.h>

#include "collide/scenes.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include "counting_malloc.hpp"

namespace hinge::find_malloc_test {
namespace {

using namespace scenes;

TEST(Find, AllocatesNothing) {
  for (const int dimension : {2, 3}) {
    Random random{1};
    CollisionWorld world(dimension);
    std::vector<BodyPose> poses;
    for (int i = 0; i < 200; ++i) {
      const std::array kinds{Kind::sphere, Kind::box, Kind::capsule, Kind::mesh, Kind::cylinder};
      const Kind kind = kinds[static_cast<std::size_t>(i % (dimension == 2 ? 4 : 5))];
      world.add({.body = i, .shape = random_shape(random, kind, dimension)});
      poses.push_back({3 * random.vector(dimension), random.rotation(dimension)});
    }
    world.add({.shape = plane({0, 1, 0})});
    std::vector<ContactPoint> found;
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      world.find(poses, 0.1, found);
      for (const ContactPoint& c : found) sum += world.gap(poses, c);
    }
    const long before = allocations;
    for (int k = 0; k < 10; ++k) {
      world.find(poses, 0.1 - 0.001 * k, found);
      for (const ContactPoint& c : found) sum += world.gap(poses, c);
    }
    EXPECT_EQ(allocations - before, 0) << dimension;
    EXPECT_GT(found.size(), 100u);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

}  // namespace
}  // namespace hinge::find_malloc_test

#endif
