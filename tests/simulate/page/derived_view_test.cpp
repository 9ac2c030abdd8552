// Pictures of systems of expressions: what is found in their equations, and what must not be drawn.
#include "simulate/page/derived_view.hpp"

#include <array>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "system/symbolic.hpp"

namespace hinge::derived_view_test {
namespace {

DerivedView view_of(const std::string& text, const std::string& method = "gauss-lobatto") {
  const Model model =
      parse_model(fmt::format("{}\n[integrate]\nmethod = \"{}\"\nstep = 0.01\nend = 1\n", text, method), "test.toml");
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

std::string with_gaps(int d, const std::string& gaps, const std::string& start) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"q[{}]\", \"s\"]\nkinetic = \"dot(q',q')/2 + s'^2\"\nunilateral = [{}]\n"
      "[initial]\nposition = {{ q = [{}], s = 1 }}\n",
      d, gaps, start);
}
DerivedView view_with_gaps(int d, const std::string& gaps, const std::string& start) {
  return view_of(with_gaps(d, gaps, start), "moreau-jean");
}

// Walls and balls at any place, with the gap in any form: the surface is where the gap is zero, not where the motion
// starts, and its normal points to where the gap is open.
TEST(DerivedView, GapsOfOnePointAreWallsWhereTheyAreZero) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> part(-2, 2);
  const auto form_of = [](int trial) { return static_cast<std::size_t>(trial % 3); };
  for (int trial = 0; trial < 20; ++trial) {
    const int d = 2 + trial % 2;
    Eigen::Vector3d n = Eigen::Vector3d::Zero(), at = n;
    for (int k = 0; k < d; ++k) n(k) = part(engine), at(k) = part(engine);
    n.normalize();
    const double offset = part(engine);
    std::string linear, centre, start, inside;
    for (int k = 0; k < d; ++k) {
      linear += fmt::format("{}{:.17g}*q[{}]", k ? " + " : "", n(k), k);
      centre += fmt::format("{}{:.17g}", k ? ", " : "", at(k));
      start += fmt::format("{}{:.17g}", k ? ", " : "", 9 * n(k) + (k == 0 ? 0.1 : 0));
      inside += fmt::format("{}{:.17g}", k ? ", " : "", at(k) + (k == 0 ? 0.1 : 0));
    }
    const char* form = std::array{"{} - {:.17g}", "2*({} - {:.17g})", "({} - {:.17g})/3"}[form_of(trial)];
    const DerivedView wall =
        view_with_gaps(d, fmt::format("{{ gap = \"{}\" }}", fmt::format(fmt::runtime(form), linear, offset)), start);
    ASSERT_EQ(wall.surfaces.size(), 1U) << trial;
    EXPECT_EQ(wall.surfaces[0].radius, 0);
    EXPECT_LT((wall.surfaces[0].normal - n).norm(), 1e-9) << trial;
    EXPECT_NEAR(wall.surfaces[0].point.dot(n), offset, 1e-9) << trial;
    const double r = 0.2 + std::abs(part(engine));
    const std::string x = fmt::format("(q - [{}])", centre);
    const char* ball =
        std::array{"norm({0}) - {1:.17g}", "dot({0},{0}) - {1:.17g}^2", "{1:.17g} - norm({0})"}[form_of(trial)];
    const DerivedView round =
        view_with_gaps(d, fmt::format("{{ gap = \"{}\" }}", fmt::format(fmt::runtime(ball), x, r)),
                       form_of(trial) == 2 ? inside : start);
    ASSERT_EQ(round.surfaces.size(), 1U) << trial;
    EXPECT_NEAR(round.surfaces[0].radius, r, 1e-9) << trial;
    EXPECT_LT((round.surfaces[0].point - at).norm(), 1e-9) << trial;
  }
}

TEST(DerivedView, OtherFunctionsOfOnePointAreCurved) {
  const DerivedView view = view_with_gaps(
      2, R"g({ gap = "q[1] - 0.3*q[0]^4" }, { gap = "q[1] - sin(t)" }, { gap = "q[1] + s" }, { gap = "s" })g", "0, 1");
  ASSERT_EQ(view.levels.size(), 1U) << "not what moves, nor what depends on something that is no point";
  EXPECT_EQ(view.levels[0].point, 0);
  EXPECT_TRUE(view.surfaces.empty());
  const DerivedView ellipse =
      view_of(lagrangian(R"("q[2]")", "dot(q',q')/2", "q[1]", R"("q[0]^2 + 4*q[1]^2 - 1")", "q = [1, 0]"));
  EXPECT_EQ(ellipse.levels.size(), 1U);
  const DerivedView moving =
      view_of(lagrangian(R"("q[2]")", "dot(q',q')/2", "q[1]", R"("q[0]^2 + 4*q[1]^2 - (1 + t)^2")", "q = [1, 0]"));
  EXPECT_TRUE(moving.levels.empty());
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
}  // namespace hinge::derived_view_test
