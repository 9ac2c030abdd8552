// A search in threads lists what a search by one thread does, in the same order.
#include <vector>

#include <gtest/gtest.h>

#include "collide/scenes.hpp"
#include "hinge/error.hpp"
#include "solve/parallel.hpp"

namespace hinge::search_threads_test {
namespace {

using namespace scenes;

constexpr Kind kinds[] = {Kind::sphere, Kind::box, Kind::capsule, Kind::cylinder, Kind::mesh};

std::vector<ContactPoint> found(const std::vector<Collider>& colliders, const std::vector<BodyPose>& poses,
                                int threads) {
  const UseThreads use(threads);
  CollisionWorld world(3);
  for (const Collider& c : colliders) world.add(c);
  std::vector<ContactPoint> list;
  world.find(poses, 0.05, list);
  return list;
}

TEST(SearchThreads, ListTheSameInTheSameOrder) {
  Random random{5};
  for (int scene = 0; scene < 4; ++scene) {
    // three levels of sizes, a floor and a big box
    std::vector<Collider> colliders{{.shape = plane({0, 0, 1})}, {.shape = box(6, 6, 1), .position = {0, 0, 3}}};
    std::vector<BodyPose> poses;
    for (int i = 0; i < 600; ++i) {
      Shape shape = random_shape(random, kinds[random.below(5)], 3);
      if (i % 3 == 0) shape = sphere(random.uniform(0.1, 0.25));
      if (i % 50 == 0) shape = sphere(random.uniform(1.5, 2.5));
      colliders.push_back({.body = i, .shape = shape});
      poses.push_back({{random.uniform(-9, 9), random.uniform(-9, 9), random.uniform(0, 8)}, random.rotation()});
    }
    const std::vector<ContactPoint> one = found(colliders, poses, 1);
    ASSERT_GT(one.size(), 500u);
    for (const int threads : {2, 3, 5}) {
      const std::vector<ContactPoint> several = found(colliders, poses, threads);
      ASSERT_EQ(several.size(), one.size());
      for (std::size_t k = 0; k < one.size(); ++k) {
        EXPECT_EQ(several[k].key, one[k].key);
        EXPECT_EQ(several[k].gap, one[k].gap);
        EXPECT_EQ(several[k].point, one[k].point);
        EXPECT_EQ(several[k].normal, one[k].normal);
      }
    }
  }
}

// Of several bodies without a place the first is named.
TEST(SearchThreads, NameTheFirstBodyWithoutAPlace) {
  std::vector<Collider> colliders;
  std::vector<BodyPose> poses(2000);
  for (int i = 0; i < 2000; ++i) colliders.push_back({.body = i, .shape = sphere(0.1)});
  for (int i = 0; i < 2000; ++i) poses[static_cast<std::size_t>(i)].position = {0.3 * i, 0, 0};
  for (const int lost : {1999, 1200, 801}) poses[static_cast<std::size_t>(lost)].position[1] = NAN;
  for (const int threads : {1, 3}) try {
      found(colliders, poses, threads);
      ADD_FAILURE() << "taken";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("body 801"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace hinge::search_threads_test
