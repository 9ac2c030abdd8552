// Rolling without slipping and blades, against equations reduced by hand.
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"

namespace hinge::rolling_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double gravity = 9.81;

/// A thin disk that rolls on z = 0. The axis u makes the angle b with the vertical; e1 is horizontal in the disk, e2
/// goes up in it, e3 = u. With omega = w1 e1 + w2 e2 + w3 e3 and moments A (across), C (about the axis):
///
///   b' = w1,   (A + m r^2) w1' = A w2^2 cot b - (C + m r^2) w2 w3 - m g r cos b
///   A w2' = C w1 w3 - A w1 w2 cot b,   (C + m r^2) w3' = m r^2 w1 w2,   phi' = w2/sin b
///   centre: v = r (-w3 e1 + w1 e3)
struct Disk {
  static constexpr double m = 0.7, r = 0.25, A = m * r * r / 4, C = m * r * r / 2, k = C + m * r * r;
  using State = std::array<double, 8>;  // b, phi, w1, w2, w3, x, y, turn about the axis

  static std::array<Vector3d, 3> axes(double b, double phi) {
    const Vector3d e1(std::cos(phi), std::sin(phi), 0), h(-std::sin(phi), std::cos(phi), 0), n = Vector3d::UnitZ();
    return {e1, std::cos(b) * h + std::sin(b) * n, -std::sin(b) * h + std::cos(b) * n};
  }
  static State rate(const State& s) {
    const auto& [b, phi, w1, w2, w3, x, y, turn] = s;
    const double cot = std::cos(b) / std::sin(b);
    const auto e = axes(b, phi);
    const Vector3d v = r * (-w3 * e[0] + w1 * e[2]);
    return {w1,
            w2 / std::sin(b),
            (A * w2 * w2 * cot - k * w2 * w3 - m * gravity * r * std::cos(b)) / (A + m * r * r),
            (C * w1 * w3 - A * w1 * w2 * cot) / A,
            m * r * r * w1 * w2 / k,
            v.x(),
            v.y(),
            w3 - w2 * cot};
  }
  static State at(State s, double t, int n) {
    const double h = t / n;
    const auto moved = [](const State& a, double by, const State& d) {
      State out = a;
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += by * d[i];
      return out;
    };
    for (int i = 0; i < n; ++i) {
      const State k1 = rate(s), k2 = rate(moved(s, h / 2, k1)), k3 = rate(moved(s, h / 2, k2)),
                  k4 = rate(moved(s, h, k3));
      for (std::size_t j = 0; j < s.size(); ++j) s[j] += h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
    }
    return s;
  }
  /// The spin w3 with which it rolls in a circle at the angle b, with w2.
  static double steady(double b, double w2) {
    return (A * w2 * w2 / std::tan(b) - m * gravity * r * std::cos(b)) / (k * w2);
  }
  /// Of small changes of b about that.
  static double wobble(double b, double w2, double w3) {
    const double cot = 1 / std::tan(b), s = std::sin(b);
    const double stiffness = A * w2 * w2 / (s * s) - m * gravity * r * s + m * r * r * w2 * w2 -
                             (2 * A * w2 * cot - k * w3) * (C / A * w3 - w2 * cot);
    return std::sqrt(stiffness / (A + m * r * r));
  }

  static Multibody scene(const State& s) {
    const auto e = axes(s[0], s[1]);
    Eigen::Matrix3d R;
    R << e[0], e[1], e[2];
    Multibody scene;
    scene.gravity({0, 0, -gravity});
    scene.body({.name = "disk",
                .mass = m,
                .inertia = Vector3d(A, A, C).asDiagonal().toDenseMatrix(),
                .position = Vector3d(s[5], s[6], r * std::sin(s[0])),
                .rotation = Quaterniond(R),
                .velocity = r * (-s[4] * e[0] + s[2] * e[2]),
                .angular_velocity = s[2] * e[0] + s[3] * e[1] + s[4] * e[2]});
    scene.rolling({.name = "rim", .b = "disk", .radius = r, .axis = e[2]});
    return scene;
  }
};

double angle_of_axis(const System& system, const hinge::State& s) {
  const BodyPose pose = body_poses(system, s)[0];
  return std::acos(std::clamp((pose.rotation * Vector3d::UnitZ()).z(), -1.0, 1.0));
}

hinge::State run_to(const Multibody& scene, const MethodChoice& method, double end, double tolerance, double step = 0) {
  Simulation run(scene, method, {.step = step, .tolerance = {tolerance, tolerance}});
  run.start(scene.start());
  run.until(end);
  EXPECT_LT(*run.report().velocity_constraint, 1e-12);
  EXPECT_LT(run.report().constraint, 1e-12);
  EXPECT_TRUE(run.report().sound()) << verdict_text(run.report());
  return run.state();
}

TEST(Rolling, DiskFollowsTheReducedEquations) {
  const Disk::State start{1.1, 0.3, 0.2, 1.4, -7, 0.1, -0.2, 0};
  const double end = 2;
  const Disk::State exact = Disk::at(start, end, 20000);
  const Multibody scene = Disk::scene(start);
  const auto system = scene.build();
  for (const MethodChoice& method : {automatic(), radau(), explicit_runge_kutta()}) {
    const hinge::State s = run_to(scene, method, end, 1e-12);
    EXPECT_NEAR(s.y[0], exact[5], 1e-10) << method.info.name;
    EXPECT_NEAR(s.y[1], exact[6], 1e-10) << method.info.name;
    EXPECT_NEAR(angle_of_axis(*system, s), exact[0], 1e-10) << method.info.name;
    EXPECT_NEAR(s.z[5], exact[4], 1e-10) << method.info.name;
  }
}

TEST(Rolling, DiskRollsInACircle) {
  const double b = 1.2, w2 = 2, w3 = Disk::steady(b, w2), period = 2 * M_PI * std::sin(b) / w2;
  const Multibody scene = Disk::scene({b, 0, 0, w2, w3, 0, 0, 0});
  const hinge::State s = run_to(scene, automatic(), period, 1e-12);
  EXPECT_NEAR(s.y[0], 0, 1e-10);
  EXPECT_NEAR(s.y[1], 0, 1e-10);
  EXPECT_NEAR(s.y[2], Disk::r * std::sin(b), 1e-13);
  // the multipliers are the force at the rim, on the disk against -n, -t1, -t2: weight, and what bends the way
  const double speed = Disk::r * std::abs(w3);
  EXPECT_NEAR(s.psi[0], -Disk::m * gravity, 1e-9);
  EXPECT_NEAR(std::hypot(s.psi[1], s.psi[2]), Disk::m * speed * w2 / std::sin(b), 1e-9);
}

TEST(Rolling, DiskWobblesWithTheFrequencyOfTheLinearisedEquations) {
  const double change = 1e-5;
  struct Motion {
    double b, w2, w3;
  };
  for (const Motion& steady : {Motion{M_PI / 2, 0, -12}, {1.2, 2, Disk::steady(1.2, 2)}}) {
    const auto [b, w2, w3] = steady;
    const double frequency = Disk::wobble(b, w2, w3), cot = 1 / std::tan(b);
    ASSERT_TRUE(frequency > 0);
    // a motion with the momenta of the steady one, so that b swings about it
    const Multibody scene = Disk::scene({b + change, 0, 0, w2 + (Disk::C / Disk::A * w3 - w2 * cot) * change,
                                         w3 + Disk::m * Disk::r * Disk::r / Disk::k * w2 * change, 0, 0, 0});
    const auto system = scene.build();
    const double quarter = M_PI / 2 / frequency;
    const hinge::State s = run_to(scene, automatic(), 3 * quarter, 1e-12),
                       t = run_to(scene, automatic(), 2 * quarter, 1e-12);
    EXPECT_NEAR(angle_of_axis(*system, s), b, 1e-3 * change);
    EXPECT_NEAR(angle_of_axis(*system, t), b - change, 1e-3 * change);
  }
}

TEST(Rolling, StepsOfGivenLengthHaveOrderTwoAndKeepEverythingOnTheGround) {
  const Disk::State start{1.1, 0.3, 0.2, 1.4, -7, 0.1, -0.2, 0};
  const Disk::State exact = Disk::at(start, 1, 20000);
  const auto error = [&](double h) {
    const Multibody scene = Disk::scene(start);
    Simulation run(scene, rattle(), {.step = h});
    run.start(scene.start());
    run.until(1);
    EXPECT_LT(*run.report().velocity_constraint, 2e-14);
    EXPECT_LT(run.report().constraint, 1e-15);
    return std::hypot(run.state().y[0] - exact[5], run.state().y[1] - exact[6]);
  };
  EXPECT_NEAR(std::log2(error(0.01) / error(0.005)), 2, 0.1);
}

// The centre goes round in a circle, 2/7 as fast as the table turns, whatever mass, radius and place.
TEST(Rolling, BallOnATurntableGoesRoundTwoSeventhsAsFast) {
  const double turn = 3, radius = 0.1;
  const Vector3d x0(0.5, 0.2, radius), v0(0.3, -0.1, 0);
  Multibody scene;
  scene.gravity({0, 0, -gravity});
  scene.body({.name = "table",
              .mass = 5,
              .inertia = Vector3d(1, 1, 2).asDiagonal().toDenseMatrix(),
              .angular_velocity = {0, 0, turn}});
  // it does not slip: v0 + omega x (-R n) = turn n x x0
  const Vector3d table = Vector3d(0, 0, turn).cross(x0), slip = v0 - table;
  const Vector3d omega(-slip.y() / radius, slip.x() / radius, 0.7);
  EXPECT_LT((v0 + omega.cross(Vector3d(0, 0, -radius)) - Vector3d(table.x(), table.y(), 0)).norm(), 1e-14);
  scene.body({.name = "ball",
              .mass = 0.3,
              .shapes = {sphere(radius)},
              .position = x0,
              .velocity = v0,
              .angular_velocity = omega,
              .collide = false});
  scene.joint({.name = "bearing",
               .kind = JointKind::revolute,
               .b = "table",
               .point = Vector3d(0, 0, 0),
               .axis = {0, 0, 1},
               .angle = turn * scene.t()});
  scene.rolling({.name = "foot", .a = "table", .b = "ball", .radius = radius});
  Simulation run(scene, automatic(), {.tolerance = {1e-12, 1e-12}});
  Start start = scene.start();
  run.start(start);
  const double end = 2, w = 2.0 / 7 * turn;
  run.until(end);
  // x'' = w n x x'
  const double c = std::cos(w * end), s = std::sin(w * end);
  const Vector3d expected(x0.x() + (s * v0.x() - (1 - c) * v0.y()) / w, x0.y() + (s * v0.y() + (1 - c) * v0.x()) / w,
                          radius);
  const auto place = static_cast<std::size_t>(7);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(run.state().y[place + k], expected(static_cast<Eigen::Index>(k)), 1e-10);
  EXPECT_LT(*run.report().velocity_constraint, 1e-13);
}

// In the plane a hoop that rolls down is held by position constraints alone, and every method takes it.
TEST(Rolling, HoopInThePlaneRollsDownAsFastAsItsMomentSays) {
  const double slope = 0.3, radius = 0.2, m = 2, inertia = 0.5 * m * radius * radius;
  const Vector3d n(std::sin(slope), std::cos(slope), 0), down(std::cos(slope), -std::sin(slope), 0);
  Multibody scene(2);
  scene.gravity({0, -gravity, 0});
  Eigen::Matrix3d moment = Eigen::Matrix3d::Zero();
  moment(2, 2) = inertia;
  scene.body({.name = "hoop", .mass = m, .inertia = moment, .position = radius * n});
  scene.rolling({.name = "foot", .b = "hoop", .radius = radius, .normal = n});
  EXPECT_EQ(scene.build()->nw(), 0);
  Simulation run(scene, gauss_lobatto(2), {.step = 0.01});
  run.start(scene.start());
  run.until(1);
  const double way = 0.5 * gravity * std::sin(slope) / (1 + 0.5);
  EXPECT_NEAR(run.state().y[0], (radius * n + way * down).x(), 1e-12);
  EXPECT_NEAR(run.state().y[1], (radius * n + way * down).y(), 1e-12);
  EXPECT_NEAR(run.state().y[2], -way / radius, 1e-12);
}

// A sleigh of bodies in the plane and one in space move as the sleigh of the textbook.
TEST(Rolling, KnifeEdgeMakesASleighInThePlaneAndInSpace) {
  const double m = 1.2, J = 0.3, a = 0.4, u0 = 0.1, w0 = 1.7, end = 3;
  const double k2 = (J + m * a * a) / m, c = std::sqrt(u0 * u0 + k2 * w0 * w0),
               s = a * c / k2 * end + std::atanh(u0 / c);
  for (const int dimension : {2, 3}) {
    Multibody scene(dimension);
    scene.body({.name = "sleigh",
                .mass = m,
                .inertia = Vector3d(J, J, J).asDiagonal().toDenseMatrix(),
                .velocity = {u0, a * w0, 0},
                .angular_velocity = {0, 0, w0}});
    scene.knife_edge({.name = "blade", .b = "sleigh", .point = Vector3d(-a, 0, 0), .axis = {1, 0, 0}});
    EXPECT_EQ(scene.build()->nw(), 1);
    Simulation run(scene, automatic(), {.tolerance = {1e-12, 1e-12}});
    run.start(scene.start());
    run.until(end);
    const auto& z = run.state().z;
    EXPECT_NEAR(z[dimension == 2 ? 2 : 5], c / std::sqrt(k2) / std::cosh(s), 1e-10) << dimension;
    EXPECT_NEAR(std::hypot(z[0], z[1]), std::hypot(c * std::tanh(s), a * c / std::sqrt(k2) / std::cosh(s)), 1e-10);
  }
}

TEST(Rolling, SaysWhatIsWrong) {
  Multibody scene;
  scene.body({.name = "wheel", .mass = 1, .inertia = Eigen::Matrix3d::Identity().eval()});
  scene.body({.name = "wall", .fixed = true});
  const auto field = [&](const std::function<void()>& action) {
    try {
      action();
    } catch (const BodyError& e) {
      return e.field;
    }
    return std::string();
  };
  EXPECT_EQ(field([&] { scene.rolling({.b = "wheel"}); }), "radius");
  EXPECT_EQ(field([&] { scene.rolling({.b = "wheel", .radius = NAN}); }), "radius");
  EXPECT_EQ(field([&] { scene.rolling({.b = "wall", .radius = 1}); }), "bodies");
  EXPECT_EQ(field([&] { scene.rolling({.a = "wheel", .b = "wheel", .radius = 1}); }), "bodies");
  EXPECT_EQ(field([&] { scene.rolling({.b = "wheel", .radius = 1, .axis = Vector3d(0, 0, 1)}); }), "axis");
  EXPECT_EQ(field([&] { scene.rolling({.b = "wheel", .radius = 1, .normal = Vector3d(0, 0, 0)}); }), "normal");
  EXPECT_EQ(field([&] { scene.rolling({.b = "wheel", .radius = 1, .point = Vector3d(INFINITY, 0, 0)}); }), "point");
  EXPECT_EQ(field([&] { scene.knife_edge({.b = "wheel", .axis = {0, 0, 1}}); }), "axis");
  EXPECT_EQ(field([&] { scene.knife_edge({.b = "wheel", .axis = {0, 0, 0}}); }), "axis");
  scene.knife_edge({.name = "blade", .b = "wheel"});
  EXPECT_EQ(field([&] { scene.knife_edge({.name = "blade", .b = "wheel"}); }), "name");
  Multibody plane(2);
  plane.body({.name = "wheel", .mass = 1, .inertia = Eigen::Matrix3d::Identity().eval()});
  EXPECT_EQ(field([&] { plane.rolling({.b = "wheel", .radius = 1, .axis = Vector3d(0, 0, 1)}); }), "axis");
  EXPECT_EQ(field([&] { plane.knife_edge({.b = "wheel", .axis = {1, 0, 1}}); }), "axis");
  EXPECT_EQ(field([&] { plane.knife_edge({.b = "wheel", .normal = Vector3d(0, 0, 1)}); }), "normal");
}

}  // namespace
}  // namespace hinge::rolling_test
