// Problems with several solutions: one is chosen, whoever solves them, and it has the symmetry of the scene.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "hinge/contact.hpp"

namespace hinge::least_norm_test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double impulse = 9.81 * 0.004;  // of the weight of 1 kg in a step

// Points of a rigid body of mass 1 and their frames (columns n, t1, t2); columns behind the body's six are others.
struct Scene {
  std::vector<Vector3d> points;
  std::vector<Matrix3d> frames;
  MatrixXd others;  // of each row
  VectorXd inverse_mass, free;
  double mu = 0.5;

  ContactProblem problem() const {
    const int n = 3 * static_cast<int>(points.size()), columns = static_cast<int>(free.size());
    MatrixXd H = MatrixXd::Zero(n, columns);
    for (int i = 0; i < n / 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const auto at = static_cast<std::size_t>(i);
        const Vector3d e = frames[at].col(k);
        H.row(3 * i + k).head(3) = e.transpose();
        H.row(3 * i + k).segment(3, 3) = points[at].cross(e).transpose();
        if (columns > 6) H.row(3 * i + k).tail(columns - 6) = others.row(3 * i + k);
      }
    const MatrixXd W = H * inverse_mass.asDiagonal() * H.transpose();
    return frictional_contact(3, SparseRows(W.sparseView()), H * free, VectorXd::Constant(n / 3, mu));
  }
};

Matrix3d turned(const Vector3d& normal, double angle) {
  const Vector3d a = normal.unitOrthogonal(), b = normal.cross(a);
  Matrix3d frame;
  frame << normal, std::cos(angle) * a + std::sin(angle) * b, std::cos(angle) * b - std::sin(angle) * a;
  return frame;
}

Scene table(const std::vector<Vector3d>& feet, std::mt19937& random) {
  std::uniform_real_distribution<double> angle(0, 6);
  Scene s;
  s.points = feet;
  for (std::size_t k = 0; k < feet.size(); ++k) s.frames.push_back(turned(Vector3d::UnitZ(), angle(random)));
  s.inverse_mass = VectorXd::Ones(6);
  s.inverse_mass.tail(3) = Vector3d(3, 4, 5);
  s.free = VectorXd::Zero(6);
  s.free[2] = -impulse;
  return s;
}

ContactResult solved(const ContactProblem& p, const std::string& solver) {
  ContactOptions o;
  o.tolerance = 1e-10;
  o.stepping = o.polish = o.least_norm = true;
  return solve_contact(p, solver, o);
}

Vector3d in_space(const Scene& s, const VectorXd& r, int i) {
  return s.frames[static_cast<std::size_t>(i)] * r.segment<3>(3 * i);
}

TEST(LeastNorm, LegsInAPolygonCarryTheSame) {
  std::mt19937 random(1);
  for (int legs = 4; legs < 9; ++legs) {
    std::vector<Vector3d> feet;
    for (int k = 0; k < legs; ++k) {
      const double a = 2 * std::numbers::pi * k / legs + 0.3;
      feet.emplace_back(0.4 * std::cos(a), 0.4 * std::sin(a), -0.5);
    }
    Scene s = table(feet, random);
    s.inverse_mass.tail(3).setConstant(3);  // as round as the polygon
    const ContactResult result = solved(s.problem(), "auto");
    ASSERT_TRUE(result.converged()) << result.message;
    EXPECT_TRUE(result.not_unique);
    for (int k = 0; k < legs; ++k)
      EXPECT_LT((in_space(s, result.r, k) - Vector3d(0, 0, impulse / legs)).norm(), 1e-12 * impulse) << legs << k;
  }
}

// Two pads push a box from both sides at four corners each, with twice the force that holds it.
TEST(LeastNorm, AGripSharesItsLoad) {
  const double force = 2 * impulse;
  for (const double angle : {0.0, 0.7}) {
    Scene s;
    s.others = MatrixXd::Zero(24, 2);
    for (const int side : {0, 1})
      for (const double y : {-0.04, 0.04})
        for (const double z : {-0.05, 0.05}) {
          const double x = side == 0 ? -1 : 1;
          s.points.emplace_back(0.05 * x, y, z);
          s.frames.push_back(turned(Vector3d(-x, 0, 0), angle));
          const auto row = 3 * static_cast<Eigen::Index>(s.points.size() - 1);
          for (int k = 0; k < 3; ++k) s.others(row + k, side) = -s.frames.back()(0, k);  // pads move along x only
        }
    s.inverse_mass = VectorXd::Ones(8);
    s.inverse_mass.segment(3, 3).setConstant(600);
    s.free = VectorXd::Zero(8);
    s.free[2] = -impulse;
    s.free[6] = force, s.free[7] = -force;
    for (const char* solver : {"auto", "newton-ac", "cone-interior-point", "block-gauss-seidel", "admm"}) {
      const ContactResult result = solved(s.problem(), solver);
      ASSERT_TRUE(result.converged()) << solver << result.message;
      for (int i = 0; i < 8; ++i)
        EXPECT_LT((in_space(s, result.r, i) - Vector3d(i < 4 ? force / 4 : -force / 4, 0, impulse / 8)).norm(),
                  1e-8 * impulse)
            << solver << i;
    }
  }
}

// Feet anywhere, a push from the side: every solver has the same r, and it turns with the scene.
TEST(LeastNorm, EverySolverHasTheSame) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  int compared = 0;
  for (int draw = 0; draw < 12; ++draw) {
    std::vector<Vector3d> feet{{0.5, 0.4, -0.3}, {-0.5, 0.4, -0.3}, {-0.5, -0.4, -0.3}, {0.5, -0.4, -0.3}};
    for (int k = draw % 4; k > 0; --k) feet.emplace_back(0.5 * unit(random), 0.4 * unit(random), -0.3);
    Scene s = table(feet, random);
    s.free[0] = 0.2 * impulse * unit(random);
    s.free[1] = 0.2 * impulse * unit(random);
    const ContactResult first = solved(s.problem(), "auto");
    ASSERT_TRUE(first.converged()) << first.message;
    for (const char* solver : {"newton-ac", "cone-interior-point", "block-gauss-seidel", "admm", "gauss-seidel"}) {
      const ContactResult other = solved(s.problem(), solver);
      if (!other.converged()) continue;
      ++compared;
      EXPECT_LT((other.r - first.r).norm(), 1e-7 * first.r.norm()) << solver << draw;
    }
    // mirrored in x, contacts in the opposite order
    Scene mirrored = s;
    std::reverse(mirrored.points.begin(), mirrored.points.end());
    for (Vector3d& point : mirrored.points) point[0] = -point[0];
    mirrored.free[0] = -s.free[0];
    const ContactResult mirror = solved(mirrored.problem(), "auto");
    const int last = static_cast<int>(feet.size()) - 1;
    for (int i = 0; i <= last; ++i) {
      Vector3d expected = in_space(s, first.r, last - i);
      expected[0] = -expected[0];
      EXPECT_LT((in_space(mirrored, mirror.r, i) - expected).norm(), 1e-8 * impulse) << draw;
    }
  }
  EXPECT_GT(compared, 40);
}

// Work is counted in operations: `auto` keeps to its budget, up to the sweeps between two looks or one factorisation.
TEST(ContactBudget, IsKept) {
  std::mt19937 random(3);
  std::vector<Vector3d> feet;
  for (int k = 0; k < 20; ++k) feet.emplace_back(std::cos(k), std::sin(k), -0.3);
  const ContactProblem p = table(feet, random).problem();
  for (const double sweeps : {1.0, 10.0, 100.0}) {
    ContactOptions o;
    o.tolerance = 1e-16;
    o.stepping = true;
    o.sweeps = sweeps;
    const ContactResult result = solve_contact(p, "auto", o);
    EXPECT_LT(result.work, (sweeps + 60) * 20);
    EXPECT_LT(result.residual.ours, 10);
  }
}

}  // namespace
}  // namespace hinge::least_norm_test
