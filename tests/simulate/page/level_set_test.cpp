// Surfaces of functions: every point lies on the surface and in the box, everything of the surface in the box is there,
// and triangles face where the function grows.
#include "simulate/page/level_set.hpp"

#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace hinge::level_set_test {
namespace {

using Eigen::Vector3d;

Vector3d point(const LevelSet& set, std::uint32_t k) {
  return Eigen::Map<const Eigen::Vector3f>(set.points.data() + 3 * k).cast<double>();
}

// Ellipses and ellipsoids of random shape and place, wholly in the box: their length and area are those of the pieces.
TEST(LevelSet, ClosedOnesHaveTheirLengthAndArea) {
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> part(-0.3, 0.3), size(0.5, 1.2);
  for (int trial = 0; trial < 8; ++trial) {
    const int d = 2 + trial % 2;
    const double r = size(engine);
    const Vector3d centre(part(engine), part(engine), d == 3 ? part(engine) : 0);
    const auto f = [&](const Vector3d& x) { return (x - centre).squaredNorm() - r * r; };
    const LevelSet set = level_set(d, Vector3d(-2, -2, d == 3 ? -2 : 0), Vector3d(2, 2, d == 3 ? 2 : 0), 40, f);
    ASSERT_FALSE(set.simplex.empty());
    for (std::uint32_t k = 0; k < set.points.size() / 3; ++k) EXPECT_NEAR((point(set, k) - centre).norm(), r, 1e-4);
    double measure = 0;
    const auto n = static_cast<std::size_t>(d);
    ASSERT_EQ(set.simplex.size() % n, 0U);
    for (std::size_t k = 0; k < set.simplex.size(); k += n) {
      const Vector3d a = point(set, set.simplex[k]), b = point(set, set.simplex[k + 1]);
      if (d == 2) {
        measure += (b - a).norm();
        continue;
      }
      const Vector3d normal = (b - a).cross(point(set, set.simplex[k + 2]) - a) / 2;
      measure += normal.norm();
      EXPECT_GE(normal.dot(a - centre), -1e-9) << "outwards, where the function grows";
    }
    const double pi = std::numbers::pi;
    EXPECT_NEAR(measure / (d == 2 ? 2 * pi * r : 4 * pi * r * r), 1, 0.01) << trial;
  }
}

// Two circles that touch, a saddle, a function that is no number in a half: no gap, nothing invented.
TEST(LevelSet, SaddlesAndHolesAreNoTrouble) {
  const Vector3d low(-1.03, -1.01, 0), high(1.02, 1.04, 0);
  const LevelSet cross = level_set(2, low, high, 33, [](const Vector3d& x) { return x(0) * x(1); });
  for (std::uint32_t k = 0; k < cross.points.size() / 3; ++k)
    EXPECT_LT(std::min(std::abs(point(cross, k)(0)), std::abs(point(cross, k)(1))), 1e-4);
  const LevelSet half = level_set(2, low, high, 33, [](const Vector3d& x) { return std::sqrt(x(0)) - 0.5 + 0 * x(1); });
  ASSERT_FALSE(half.simplex.empty());
  for (std::uint32_t k = 0; k < half.points.size() / 3; ++k) EXPECT_NEAR(point(half, k)(0), 0.25, 1e-4);
  EXPECT_TRUE(level_set(2, low, high, 33, [](const Vector3d&) { return 1.0; }).simplex.empty());
  EXPECT_TRUE(level_set(2, low, high, 33, [](const Vector3d&) { return NAN; }).simplex.empty());
}

}  // namespace
}  // namespace hinge::level_set_test
