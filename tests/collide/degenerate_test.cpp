// Positions where formulas divide by zero or rounding could decide: parallel faces, coincident centres, touching
// corners.
#include <gtest/gtest.h>

#include "collide/scenes.hpp"

namespace hinge::degenerate_test {
namespace {

using namespace scenes;

void expect_sound(const std::vector<ContactPoint>& found, const char* what) {
  ASSERT_FALSE(found.empty()) << what;
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_TRUE(std::isfinite(found[k].gap) && found[k].point.allFinite()) << what;
    EXPECT_NEAR(found[k].normal.norm(), 1, 1e-14) << what;
    EXPECT_TRUE(k == 0 || found[k - 1].key < found[k].key) << what;
  }
}

TEST(Degenerate, CoincidentCentresGiveNoNan) {
  Random random{3};
  for (const int dimension : {2, 3})
    for (const Kind a : {Kind::sphere, Kind::box, Kind::capsule, Kind::cylinder, Kind::mesh})
      for (const Kind b : {Kind::sphere, Kind::box, Kind::capsule, Kind::cylinder, Kind::mesh}) {
        if ((a == Kind::cylinder || b == Kind::cylinder) && dimension == 2) continue;
        Pair pair(dimension, random_shape(random, a, dimension), random_shape(random, b, dimension));
        const auto found = pair.find({}, {}, 0);
        expect_sound(found, "coincident");
        for (const ContactPoint& c : found) EXPECT_LT(c.gap, 0);
      }
}

TEST(Degenerate, EqualBoxesUponEachOtherRestOnFourCorners) {
  for (const double gap : {0.0, 1e-12, -1e-12, 1e-3, -1e-3})
    for (const double slip : {0.0, 1e-13, -1e-13}) {
      Pair pair(3, box(1, 1, 1), box(1, 1, 1));
      const auto found = pair.find({{slip, -slip, 1 + gap}}, {}, 2e-3);
      expect_sound(found, "stack");
      ASSERT_EQ(found.size(), 4u) << gap << " " << slip;
      for (int k = 0; k < 4; ++k) {
        EXPECT_NEAR(found[static_cast<std::size_t>(k)].gap, gap, 3e-16);
        EXPECT_EQ(found[static_cast<std::size_t>(k)].normal, Vector3d(0, 0, 1));
        EXPECT_EQ(found[static_cast<std::size_t>(k)].key,
                  found[0].key + static_cast<std::uint64_t>(k));  // rounding chooses nothing
      }
    }
}

TEST(Degenerate, PatchOfTwoBoxesIsTheirOverlap) {
  // A turned by 45 degrees: an octagon. Shifted by half: a rectangle.
  Pair pair(3, box(1, 1, 1), box(1, 1, 1));
  const Quaterniond eighth(Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitZ()));
  const auto octagon = pair.find({{0, 0, 1}, eighth}, {}, 1e-3);
  EXPECT_EQ(octagon.size(), 8u);
  for (const ContactPoint& c : octagon) {
    EXPECT_NEAR(c.gap, 0, 1e-15);
    EXPECT_NEAR(std::max(std::abs(c.point[0]), std::abs(c.point[1])), 0.5, 1e-15);
    EXPECT_NEAR(std::abs(c.point[0]) + std::abs(c.point[1]), std::sqrt(0.5), 1e-15);
  }
  const auto rectangle = pair.find({{0.5, 0.25, 1}}, {}, 1e-3);
  ASSERT_EQ(rectangle.size(), 4u);
  Vector3d low = rectangle[0].point, high = low;
  for (const ContactPoint& c : rectangle) low = low.cwiseMin(c.point), high = high.cwiseMax(c.point);
  EXPECT_LT((low - Vector3d(0, -0.25, 0.5)).norm(), 1e-15);
  EXPECT_LT((high - Vector3d(0.5, 0.5, 0.5)).norm(), 1e-15);
}

TEST(Degenerate, RectanglesInThePlane) {
  Pair pair(2, box(1, 1), box(1, 1));
  for (const double slip : {0.0, 1e-13, -1e-13}) {
    const auto found = pair.find({{slip, 1, 0}}, {}, 1e-3);
    expect_sound(found, "rectangles");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].key & 0xfffff, (1u << 18) + 2);
  }
  const auto corner = pair.find({{1.3, 1.4, 0}}, {}, 1);
  ASSERT_EQ(corner.size(), 1u);
  EXPECT_NEAR(corner[0].gap, 0.5, 1e-15);  // 3, 4, 5
  EXPECT_LT((corner[0].normal - Vector3d(0.6, 0.8, 0)).norm(), 1e-15);
}

TEST(Degenerate, BoxOnPlaneAndSphereInsideBox) {
  CollisionWorld world(3);
  world.add({.body = 0, .shape = box(1, 2, 3)});
  world.add({.shape = plane({0, 0, 1})});
  std::vector<ContactPoint> found;
  world.find({BodyPose{{0, 0, 1.5}}}, 1e-3, found);
  EXPECT_EQ(found.size(), 4u);
  world.find({BodyPose{{0, 0, 1.5}}}, 10, found);
  EXPECT_EQ(found.size(), 8u);
  Pair inside(3, sphere(0.1), box(1, 2, 3));
  const auto deep = inside.find({{0.3, 0.1, 0.2}}, {}, 0);
  ASSERT_EQ(deep.size(), 1u);
  EXPECT_NEAR(deep[0].gap, -0.3, 1e-15);  // out through x = 1/2: 0.2, and the radius
  EXPECT_EQ(deep[0].normal, Vector3d(1, 0, 0));
}

TEST(Degenerate, CapsulesSideBySide) {
  Pair pair(3, capsule(0.1, 1), capsule(0.1, 1));
  for (const double turn : {0.0, 1e-12, 1e-8, 1e-5}) {
    const Quaterniond turned(Eigen::AngleAxisd(turn, Vector3d::UnitX()));
    const auto found = pair.find({{0.2, 0, 0.3}, turned}, {}, 1e-3);
    expect_sound(found, "capsules");
    ASSERT_GE(found.size(), 2u) << turn;
    double low = 1, high = -1;
    for (const ContactPoint& c : found) {
      EXPECT_NEAR(c.gap, 0, 1e-6);
      low = std::min(low, c.point[2]);
      high = std::max(high, c.point[2]);
    }
    EXPECT_NEAR(low, -0.2, 1e-5);
    EXPECT_NEAR(high, 0.5, 1e-5);
  }
  const auto in_line = pair.find({{0, 0, 1.2}}, {}, 1e-3);
  ASSERT_EQ(in_line.size(), 1u);
  EXPECT_NEAR(in_line[0].gap, 0, 1e-15);
}

TEST(Degenerate, CylinderOnPlane) {
  CollisionWorld world(3);
  world.add({.body = 0, .shape = cylinder(1, 2)});
  world.add({.shape = plane({0, 0, 1})});
  std::vector<ContactPoint> found;
  for (const double tilt : {0.0, 1e-12, 1e-6, 1e-3}) {
    const Quaterniond leaning(Eigen::AngleAxisd(tilt, Vector3d(1, 0.3, 0).normalized()));
    world.find({BodyPose{{0, 0, 1}, leaning}}, 0.1, found);
    expect_sound(found, "standing");
    EXPECT_EQ(found.size(), 4u) << tilt;
    const double lowest = 1 - std::cos(tilt) - std::sin(tilt);
    double least = 1;
    for (const ContactPoint& c : found) least = std::min(least, c.gap);
    EXPECT_NEAR(least, lowest, 1e-11) << tilt;
  }
  const Quaterniond lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()));
  world.find({BodyPose{{0, 0, 1}, lying}}, 0.1, found);
  EXPECT_EQ(found.size(), 2u);
}

TEST(Degenerate, CylindersAndBoxesUponEachOther) {
  Pair on_box(3, cylinder(0.5, 1), box(2, 2, 1));
  const auto standing = on_box.find({{0, 0, 1}}, {}, 1e-3);
  expect_sound(standing, "cylinder on box");
  EXPECT_EQ(standing.size(), 4u);
  for (const ContactPoint& c : standing) EXPECT_NEAR(c.gap, 0, 1e-15);
  const Quaterniond lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()));
  const auto rolling = on_box.find({{0, 0, 1}, lying}, {}, 1e-3);
  EXPECT_EQ(rolling.size(), 2u);
  const auto half_over = on_box.find({{1, 0, 1}}, {}, 1e-3);
  expect_sound(half_over, "over the edge");
  EXPECT_GE(half_over.size(), 3u);
  for (const ContactPoint& c : half_over) EXPECT_LT(c.point[0], 1 + 1e-9);
  Pair box_on(3, box(0.2, 0.2, 0.2), cylinder(0.5, 1));
  EXPECT_EQ(box_on.find({{0, 0.1, 0.6}}, {}, 1e-3).size(), 4u);
  Pair stack(3, cylinder(0.5, 1), cylinder(0.5, 1));
  const auto column = stack.find({{0, 0, 1}}, {}, 1e-3);
  expect_sound(column, "column");
  EXPECT_GE(column.size(), 4u);
  EXPECT_LE(column.size(), 8u);
  const auto beside = stack.find({{1, 0, 0.5}}, {}, 1e-3);
  EXPECT_EQ(beside.size(), 2u);
}

}  // namespace
}  // namespace hinge::degenerate_test
