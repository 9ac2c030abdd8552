#include <gtest/gtest.h>

#include "collide/hull.hpp"
#include "collide/scenes.hpp"
#include "hinge/error.hpp"

namespace hinge::shape_test {
namespace {

using namespace scenes;
constexpr double pi = std::numbers::pi;

std::string refusal(const Shape& shape, int dimension) {
  try {
    shape.validate(dimension);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<Vector3d> corners_of_box(double x, double y, double z) {
  std::vector<Vector3d> corners;
  for (int i = 0; i < 8; ++i)
    corners.emplace_back(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
  return corners;
}

TEST(Shape, VolumeAndInertiaInClosedForm) {
  EXPECT_NEAR(sphere(2).volume(3), 32 * pi / 3, 1e-13);
  EXPECT_NEAR(sphere(2).volume(2), 4 * pi, 1e-14);
  EXPECT_NEAR(sphere(2).inertia_per_mass(3)(0, 0), 2.0 / 5 * 4, 1e-15);
  EXPECT_NEAR(sphere(2).inertia_per_mass(2)(2, 2), 2, 1e-15);
  EXPECT_NEAR(box(1, 2, 3).inertia_per_mass(3)(2, 2), 5.0 / 12, 1e-15);
  EXPECT_NEAR(box(1, 2).inertia_per_mass(2)(2, 2), 5.0 / 12, 1e-15);
  EXPECT_NEAR(cylinder(2, 3).volume(3), 12 * pi, 1e-13);
  EXPECT_NEAR(cylinder(2, 3).inertia_per_mass(3)(2, 2), 2, 1e-15);
  EXPECT_NEAR(cylinder(2, 3).inertia_per_mass(3)(0, 0), 1 + 9.0 / 12, 1e-15);
}

/// Mean of f over a shape by the midpoint rule on a lattice.
template <class F>
double mean(const Shape& s, int dimension, F&& f) {
  const double h = 0.01;
  double sum = 0;
  long count = 0;
  for (double x = -0.995; x < 1; x += h)
    for (double y = -0.995; y < 1; y += h)
      for (double z = dimension == 2 ? 0 : -0.995; z < (dimension == 2 ? 0.001 : 1); z += h) {
        const double along = dimension == 2 ? y : z, beyond = std::max(0.0, std::abs(along) - s.length / 2);
        if (x * x + (dimension == 2 ? 0 : y * y) + beyond * beyond > s.radius * s.radius) continue;
        sum += f(x, y, z);
        ++count;
      }
  return sum / static_cast<double>(count);
}

TEST(Shape, CapsuleByQuadrature) {
  const Shape s = capsule(0.4, 1);
  const Matrix3d j3 = s.inertia_per_mass(3), j2 = s.inertia_per_mass(2);
  EXPECT_NEAR(j3(2, 2), mean(s, 3, [](double x, double y, double) { return x * x + y * y; }), 1e-4);
  EXPECT_NEAR(j3(0, 0), mean(s, 3, [](double, double y, double z) { return y * y + z * z; }), 1e-4);
  EXPECT_NEAR(j2(2, 2), mean(s, 2, [](double x, double y, double) { return x * x + y * y; }), 2e-4);
}

TEST(Shape, MeshOfABoxIsThatBox) {
  const Vector3d shift(3, -2, 5);
  std::vector<Vector3d> points = corners_of_box(1, 2, 3);
  for (const Vector3d& p : corners_of_box(0.5, 1, 2)) points.push_back(p);  // inside
  points.push_back({0.5, 0.3, 0.2});                                        // in a face
  points.push_back({0.5, 1, 0.4});                                          // on an edge
  for (Vector3d& p : points) p += shift;
  const Shape s = mesh(points);
  EXPECT_NEAR(s.volume(3), 6, 1e-12);
  EXPECT_LT((s.centre_of_mass(3) - shift).norm(), 1e-13);
  EXPECT_LT((s.inertia_per_mass(3) - box(1, 2, 3).inertia_per_mass(3)).norm(), 1e-12);
  const contact::Hull hull = contact::convex_hull(points, 3);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.edges.size(), 12u);
  EXPECT_EQ(hull.faces.size(), 6u);
}

TEST(Shape, PolygonInThePlane) {
  const Shape triangle = mesh({{0, 0, 0}, {3, 0, 0}, {0, 3, 0}, {1, 1, 0}, {1.5, 1.5, 0}});
  EXPECT_NEAR(triangle.volume(2), 4.5, 1e-14);
  EXPECT_LT((triangle.centre_of_mass(2) - Vector3d(1, 1, 0)).norm(), 1e-15);
  EXPECT_NEAR(triangle.inertia_per_mass(2)(2, 2), (9.0 + 9 + 18) / 36, 1e-14);  // (a^2 + b^2 + c^2)/36
  EXPECT_EQ(contact::convex_hull(triangle.vertices, 2).vertices.size(), 3u);
}

TEST(Hull, HoldsAllPointsAndIsClosed) {
  Random random{1};
  for (int trial = 0; trial < 30; ++trial) {
    const Shape s = random_mesh(random, 3, 4 + 5 * trial);
    const contact::Hull hull = contact::convex_hull(s.vertices, 3);
    EXPECT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
    for (const auto& face : hull.faces)
      for (const Vector3d& p : s.vertices) EXPECT_LT(face.normal.dot(p) - face.offset, 1e-9);
    for (const auto& e : hull.edges) {
      EXPECT_GE(e.left, 0);
      EXPECT_GE(e.right, 0);
    }
  }
}

TEST(Hull, OfManyPointsOnASphereHasItsVolume) {
  std::vector<Vector3d> points = directions(3);
  points.resize(points.size());
  const double volume = mesh(points).volume(3);
  EXPECT_LT(volume, 4 * pi / 3);
  EXPECT_GT(volume, 4 * pi / 3 * 0.995);
}

TEST(BadShapes, AreNamed) {
  const double nan = std::nan("");
  EXPECT_NE(refusal(sphere(0), 3).find("sphere: the radius is 0"), std::string::npos);
  EXPECT_NE(refusal(sphere(nan), 2).find("disk: the radius is nan"), std::string::npos);
  EXPECT_NE(refusal(box(1, 0, 1), 3).find("box: the size along y is 0"), std::string::npos);
  EXPECT_EQ(refusal(box(1, 1, 0), 2), "");
  EXPECT_NE(refusal(capsule(1, -1), 3).find("capsule: the length is -1"), std::string::npos);
  EXPECT_NE(refusal(cylinder(1, 1), 2).find("none in the plane"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), 3).find("3 points cannot enclose"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}), 3).find("in one plane"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), 3).find("on one line"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}), 2).find("on one line"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), 3).find("the same"), std::string::npos);
  EXPECT_NE(refusal(mesh({{0, 0, 0}, {nan, 0, 0}, {0, 1, 0}, {0, 0, 1}}), 3).find("point 1"), std::string::npos);
  EXPECT_NE(refusal(plane({0, 0, 0}), 3).find("no direction"), std::string::npos);
  EXPECT_NE(refusal(plane({0, 0, 1}), 2).find("(0, 1, 0)"), std::string::npos);
  EXPECT_THROW(plane({0, 0, 1}).volume(3), InputError);
  EXPECT_THROW(plane({0, 0, 1}).inertia_per_mass(3), InputError);
  EXPECT_THROW(CollisionWorld(4), InputError);
}

TEST(BadColliders, AreNamed) {
  CollisionWorld world(3);
  const auto refused = [&](const Collider& c) -> std::string {
    try {
      world.add(c);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused({.shape = sphere(0), .name = "ball"}).find("collider 'ball': sphere: the radius is 0"),
            std::string::npos);
  EXPECT_NE(refused({.shape = sphere(1), .friction = -1}).find("friction"), std::string::npos);
  EXPECT_NE(refused({.shape = sphere(1), .restitution = 2}).find("restitution"), std::string::npos);
  EXPECT_NE(refused({.shape = sphere(1), .position = {std::nan(""), 0, 0}}).find("not finite"), std::string::npos);
  EXPECT_NE(refused({.shape = sphere(1), .rotation = Quaterniond(0, 0, 0, 0)}).find("rotation"), std::string::npos);
  EXPECT_EQ(world.colliders().size(), 0u);
  world.add({.body = 0, .shape = box(1, 1, 1), .friction = 0.9, .restitution = 0.2});
  world.add({.body = 1, .shape = sphere(1), .friction = 0.4, .restitution = 0.5});
  EXPECT_DOUBLE_EQ(world.friction(0, 1), 0.6);
  EXPECT_DOUBLE_EQ(world.restitution(1, 0), 0.5);
  std::vector<ContactPoint> found;
  EXPECT_THROW(world.find({BodyPose{}}, 0, found), InputError);  // one pose is missing
  BodyPose lost;
  lost.position[1] = std::nan("");
  EXPECT_THROW(world.find({BodyPose{}, lost}, 0, found), InputError);
  EXPECT_THROW(world.find({BodyPose{}, BodyPose{}}, std::nan(""), found), InputError);
}

}  // namespace
}  // namespace hinge::shape_test
