// Pictures of systems of expressions: what is found in their equations, and what must not be drawn.
#include "simulate/page/derived_view.hpp"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "system/symbolic.hpp"

namespace hinge {
namespace {

DerivedView view_of(const std::string& text) {
  const Model model =
      parse_model(text + "\n[integrate]\nmethod = \"gauss-lobatto\"\nstep = 0.01\nend = 1\n", "test.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  return derive_view(dynamic_cast<const SymbolicSystem&>(*model.system), run.state());
}

std::string lagrangian(const std::string& coordinates, const std::string& kinetic, const std::string& potential,
                       const std::string& constraints, const std::string& position) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [{}]\nkinetic = \"{}\"\npotential = \"{}\"\nconstraints = [{}]\n[initial]\nposition "
      "= {{ {} }}\nconsistent = \"project\"\n",
      coordinates, kinetic, potential, constraints, position);
}

// Pendulums of any length about any point, in the plane and in space, with their constraint in many forms.
TEST(DerivedView, ADistanceToAFixedPointIsARodFromThere) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> part(-2, 2);
  for (int trial = 0; trial < 24; ++trial) {
    const int d = 2 + trial % 2;
    std::string centre, start;
    Eigen::Vector3d c = Eigen::Vector3d::Zero();
    const double length = 0.3 + std::abs(part(engine));
    for (int k = 0; k < d; ++k) {
      c(k) = part(engine);
      centre += fmt::format("{}{:.17g}", k ? ", " : "", c(k));
      start += fmt::format("{}{:.17g}", k ? ", " : "", c(k) + (k == 0 ? length : 0));
    }
    const std::string r = fmt::format("(q - [{}])", centre);
    const std::string forms[] = {
        fmt::format("dot({0},{0}) - {1}^2", r, length), fmt::format("norm({}) - {}", r, length),
        fmt::format("({1}^2 - dot({0},{0}))/2", r, length), fmt::format("sqrt(dot({0},{0})/{1}^2) - 1", r, length)};
    const DerivedView view =
        view_of(lagrangian(fmt::format("\"q[{}]\"", d), "dot(q',q')", fmt::format("9.81*q[{}]", d - 1),
                           "\"" + forms[trial / 2 % 4] + "\"", fmt::format("q = [{}]", start)));
    ASSERT_EQ(view.points.size(), 1U) << trial;
    ASSERT_EQ(view.rods.size(), 1U) << trial;
    EXPECT_EQ(view.rods[0].a, -1);
    EXPECT_LT((view.rods[0].from - c).norm(), 1e-9) << trial;
    EXPECT_TRUE(view.surfaces.empty());
    if (d == 3) {
      EXPECT_LT((*view.up - Eigen::Vector3d(0, 0, 1)).norm(), 1e-12);
    }
  }
}

TEST(DerivedView, ChainsHaveRodsBetweenTheirPoints) {
  const DerivedView view = view_of(lagrangian(
      R"("a[2]", "b[2]", "x", "y")", "dot(a',a') + dot(b',b')/3 + dot(a',b')/3 + (x'^2 + y'^2)/2", "a[1] + b[1] + y",
      R"("dot(a,a) - 1", "norm(b - a) - 1", "dot([x,y] - b, [x,y] - b) - 4")", "a = [1, 0], b = [2, 0], x = 4, y = 0"));
  ASSERT_EQ(view.points.size(), 3U);
  EXPECT_EQ(view.points[2].name, "(x, y)");
  ASSERT_EQ(view.rods.size(), 3U);
  EXPECT_EQ(std::pair(view.rods[0].a, view.rods[0].b), std::pair(0, 1));
  EXPECT_EQ(std::pair(view.rods[1].a, view.rods[1].b), std::pair(1, 2));
  EXPECT_EQ(std::pair(view.rods[2].a, view.rods[2].b), std::pair(-1, 0));
}

TEST(DerivedView, PlanesAndSpheresAreSurfaces) {
  const DerivedView plane =
      view_of(lagrangian(R"("q[3]")", "dot(q',q')/2", "q[2]", R"("q[0] + 2*q[2] - 3")", "q = [3, 1, 0]"));
  ASSERT_EQ(plane.surfaces.size(), 1U);
  EXPECT_EQ(plane.surfaces[0].radius, 0);
  EXPECT_LT((plane.surfaces[0].normal - Eigen::Vector3d(1, 0, 2).normalized()).norm(), 1e-12);
  const DerivedView sphere = view_of(lagrangian(R"("q[3]")", "dot(q',q')/2", "0", R"("norm(q) - 2")", "q = [2, 0, 0]"));
  ASSERT_EQ(sphere.surfaces.size(), 1U);
  EXPECT_NEAR(sphere.surfaces[0].radius, 2, 1e-12);
  EXPECT_TRUE(sphere.rods.empty());
}

// Each is no position in space, or no surface that is known: nothing of it may be drawn.
TEST(DerivedView, WhatIsNotKnownIsNotDrawn) {
  const std::string relative = lagrangian(R"("a[2]", "b[2]")", "dot(a',a') + dot(a'+b',a'+b')", "a[1]",
                                          R"("dot(a,a) - 1", "dot(b,b) - 1")", "a = [1, 0], b = [1, 0]");
  EXPECT_TRUE(view_of(relative).points.empty()) << "b is counted from a";
  const std::string angles = lagrangian(R"("a[2]")", "dot(a',a')/2", "-cos(a[0]) - cos(a[1])", "", "a = [1, 0]");
  EXPECT_TRUE(view_of(angles).points.empty()) << "two angles";
  const std::string polar = lagrangian(R"("a[2]")", "(a[0]'^2 + a[0]^2*a[1]'^2)/2", "a[0]", "", "a = [1, 0]");
  EXPECT_TRUE(view_of(polar).points.empty()) << "radius and angle";
  const std::string scaled = lagrangian(R"("a[2]")", "(a[0]'^2 + 4*a[1]'^2)/2", "a[0]", "", "a = [1, 0]");
  EXPECT_TRUE(view_of(scaled).points.empty()) << "a mass that sees directions";
  const std::string crank =
      lagrangian(R"("A[2]", "x")", "dot(A',A') + A[0]'*x' + x'^2", "0", R"("dot(A,A) - 1")", "A = [1, 0], x = 2");
  EXPECT_TRUE(view_of(crank).points.empty()) << "a mass shared with something that is no point";
  const std::string moving = lagrangian(R"("q[2]")", "dot(q',q')/2", "q[1]", R"("dot(q,q) - (1 + t)^2")", "q = [1, 0]");
  EXPECT_EQ(view_of(moving).points.size(), 1U);
  EXPECT_TRUE(view_of(moving).rods.empty()) << "a rod that grows";
  const std::string ellipse =
      lagrangian(R"("q[2]")", "dot(q',q')/2", "q[1]", R"("q[0]^2 + 4*q[1]^2 - 1")", "q = [1, 0]");
  EXPECT_TRUE(view_of(ellipse).rods.empty());
  EXPECT_TRUE(view_of(ellipse).surfaces.empty());
}

}  // namespace
}  // namespace hinge
