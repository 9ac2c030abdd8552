#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace hinge::broad_phase_test {
namespace {

using namespace scenes;

struct Balls {
  CollisionWorld world;
  std::vector<BodyPose> poses;
  std::vector<double> radius;
};

/// Radii between 10^-decades and 1, equally many of each decade.
Balls random_balls(int dimension, int n, double decades, double side, std::uint64_t seed) {
  Random random{seed};
  Balls balls{CollisionWorld(dimension), {}, {}};
  for (int i = 0; i < n; ++i) {
    balls.radius.push_back(std::pow(10, -decades * random.uniform()));
    BodyPose pose;
    for (int k = 0; k < dimension; ++k) pose.position[k] = random.uniform(-side, side);
    balls.poses.push_back(pose);
    // Every fifth ball is fixed.
    Collider collider{.body = i % 5 ? i : -1, .shape = sphere(balls.radius.back())};
    if (collider.body < 0) collider.position = pose.position;
    balls.world.add(collider);
  }
  return balls;
}

void expect_all_pairs(Balls& balls, double band, const char* what) {
  std::vector<ContactPoint> found;
  balls.world.find(balls.poses, band, found);
  std::size_t next = 0, expected = 0;
  std::vector<std::pair<int, int>> all;
  const int n = static_cast<int>(balls.radius.size());
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      const double d =
          (balls.poses[static_cast<std::size_t>(i)].position - balls.poses[static_cast<std::size_t>(j)].position)
              .norm();
      const double gap = d - balls.radius[static_cast<std::size_t>(i)] - balls.radius[static_cast<std::size_t>(j)];
      if (gap > band || (i % 5 == 0 && j % 5 == 0)) continue;
      ++expected;
      all.push_back(i % 5 == 0 ? std::pair(j, i) : std::pair(i, j));
    }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(found.size(), expected) << what;
  ASSERT_GT(expected, 20u) << what;  // a scene without contacts would show nothing
  for (const auto& [a, b] : all) {
    ASSERT_EQ(found[next].a, a) << what;
    ASSERT_EQ(found[next].b, b) << what;
    ++next;
  }
}

TEST(BroadPhase, EqualsAllPairs) {
  for (const int dimension : {2, 3})
    for (const double decades : {0.0, 0.2, 1.0, 3.0})
      for (const double band : {0.0, 0.01, 0.5}) {
        Balls balls = random_balls(dimension, 600, decades, dimension == 2 ? 12 : 5, 7);
        expect_all_pairs(balls, band, ("decades " + std::to_string(decades)).c_str());
      }
}

TEST(BroadPhase, EqualsAllPairsWhenOneFliesFarAway) {
  for (const int dimension : {2, 3})
    for (const double far : {1e3, 1e7, 1e15}) {
      Balls balls = random_balls(dimension, 500, 0.2, dimension == 2 ? 12 : 5, 3);
      balls.poses[1].position[0] = far;
      balls.poses[2].position[1] = -far;
      expect_all_pairs(balls, 0.1, "far");
    }
}

TEST(BroadPhase, EqualsAllPairsInThinLayersAndLines) {
  for (const int axis : {0, 1, 2}) {
    Random random{5};
    Balls moving{CollisionWorld(3), {}, {}};
    for (int i = 0; i < 250; ++i) {
      moving.radius.push_back(random.uniform(0.6, 1));
      moving.poses.push_back({random.uniform(-20, 20) * Vector3d::Unit(axis)});
      moving.world.add({.body = i, .shape = sphere(moving.radius.back())});
    }
    std::vector<ContactPoint> found;
    moving.world.find(moving.poses, 0.05, found);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < moving.radius.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        expected +=
            (moving.poses[i].position - moving.poses[j].position).norm() <= moving.radius[i] + moving.radius[j] + 0.05;
    EXPECT_EQ(found.size(), expected);
    EXPECT_GT(expected, 300u);
  }
}

TEST(BroadPhase, SameAnswerTwiceAndInMovedMemory) {
  Balls balls = random_balls(3, 500, 1, 5, 11);
  std::vector<ContactPoint> first, second;
  balls.world.find(balls.poses, 0.1, first);
  balls.world.find(balls.poses, 0.1, second);
  CollisionWorld moved = std::move(balls.world);
  std::vector<ContactPoint> third;
  moved.find(balls.poses, 0.1, third);
  ASSERT_EQ(first.size(), second.size());
  ASSERT_EQ(first.size(), third.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    EXPECT_EQ(first[k].key, second[k].key);
    EXPECT_EQ(first[k].gap, second[k].gap);
    EXPECT_EQ(first[k].normal, third[k].normal);
    EXPECT_TRUE(k == 0 || first[k - 1].key < first[k].key);  // increasing, and no key twice
  }
}

TEST(BroadPhase, GroupsAndJointsAndBodiesKeepApart) {
  CollisionWorld world(3);
  world.add({.body = 0, .shape = sphere(1)});
  world.add({.body = 0, .shape = sphere(1)});                                        // same body
  world.add({.body = 1, .shape = sphere(1)});                                        // joined to 0
  world.add({.body = 2, .shape = sphere(1), .group = 2});                            // other group
  world.add({.body = 3, .shape = sphere(1), .group = 4, .collides_with = 1u | 4u});  // not with group 2
  world.ignore(1, 0);
  std::vector<ContactPoint> found;
  world.find(std::vector<BodyPose>(4), 0, found);
  std::vector<std::pair<int, int>> pairs;
  for (const ContactPoint& c : found) pairs.emplace_back(c.a, c.b);
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 3}, {2, 4}}));
}

TEST(BroadPhase, LargeBoxesAndPlanesMeetEverySmallOne) {
  Random random{2};
  CollisionWorld world(3);
  std::vector<BodyPose> poses;
  for (int i = 0; i < 200; ++i) {
    poses.push_back({{random.uniform(-5, 5), random.uniform(-5, 5), 0.1 + 1e-3 * random.uniform(-1, 1)}});
    world.add({.body = i, .shape = sphere(0.1)});
  }
  const int floor = world.add({.shape = plane({0, 0, 2})});
  const int slab = world.add({.shape = box(20, 20, 1), .position = {0, 0, -0.5}, .friction = 0.5});
  std::vector<ContactPoint> found;
  world.find(poses, 2e-3, found);
  for (int i = 0; i < 200; ++i)
    for (const int below : {floor, slab}) {
      const auto it =
          std::find_if(found.begin(), found.end(), [&](const ContactPoint& c) { return c.a == i && c.b == below; });
      ASSERT_NE(it, found.end());
      EXPECT_NEAR(it->gap, poses[static_cast<std::size_t>(i)].position[2] - 0.1, 1e-16);
      EXPECT_EQ(it->normal, Vector3d(0, 0, 1));
      EXPECT_NEAR(it->point[2], 0, 1e-16);
    }
}

}  // namespace
}  // namespace hinge::broad_phase_test
