// Claims about rigid bodies after Newton and Euler: they move as rigid bodies do, whichever other way describes them.
#include "hinge/multibody.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::multibody_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

const double pi = std::acos(-1.0);

Quaterniond turn(const Vector3d& axis, double angle) { return Quaterniond(rotation(axis, angle)); }

Matrix3d axes(const State& s, int first) {
  return Quaterniond(s.y[static_cast<std::size_t>(first)], s.y[static_cast<std::size_t>(first + 1)],
                     s.y[static_cast<std::size_t>(first + 2)], s.y[static_cast<std::size_t>(first + 3)])
      .normalized()
      .toRotationMatrix();
}

State run(const Multibody& scene, double end, const MethodChoice& method = gauss_lobatto(4), double step = 0.01) {
  Simulation simulation(scene, method, {.step = step});
  simulation.start(scene.start());
  simulation.until(end);
  return simulation.state();
}

TEST(Multibody, TorqueFreeMotionKeepsEnergyAndSpatialMomentum) {
  Multibody scene;
  scene.body({.name = "brick",
              .mass = 2,
              .inertia = principal_moments(1, 2, 3),
              .velocity = {0.3, 0, 0},
              .angular_velocity = {0.2, 3, 0.1}});
  Simulation simulation(scene, gauss_lobatto(4), {.step = 0.02});
  simulation.start(scene.start());
  const auto momentum = [&] {
    const State& s = simulation.state();
    return Vector3d(axes(s, 3) * Vector3d(1 * s.z[3], 2 * s.z[4], 3 * s.z[5]));
  };
  const Vector3d before = momentum();
  simulation.until(20);                                 // it tumbles about the middle axis
  EXPECT_LT((momentum() - before).norm(), 1e-10);       // measured 2e-12
  EXPECT_LT(*simulation.report().energy_error, 1e-11);  // measured 8e-13
  EXPECT_NEAR(simulation.state().y[0], 6, 1e-12);
}

// A body whose frame does not lie in its principal axes is the same body.
TEST(Multibody, FrameOfTheUserDoesNotMatter) {
  const Quaterniond frame = turn({1, 2, -1}, 0.7);
  const Matrix3d f = frame.toRotationMatrix(), j = principal_moments(1, 2, 3);
  const Quaterniond pose = turn({0.3, -1, 2}, 1.1);
  const auto top = [&](bool turned) {
    Multibody scene;
    scene.gravity({0, 0, -9.81});
    // the frame of the second body is the first one's, turned: its axes are those times f
    scene.body({.name = "top",
                .mass = 1.5,
                .inertia = turned ? Matrix3d(f.transpose() * j * f) : j,
                .position = {0.1, 0, 0.5},
                .rotation = turned ? pose * frame : pose,
                .velocity = Vector3d(0.5, 1, 6).cross(Vector3d(0.1, 0, 0.5)),
                .angular_velocity = {0.5, 1, 6}});
    scene.joint({.kind = JointKind::spherical, .b = "top", .point = Vector3d::Zero()});
    Vector observed;
    for (int k = 0; k < 3; ++k)
      for (const Expression& e : scene.axis("top", k)) observed.push_back(e);
    Simulation simulation(scene, gauss_lobatto(4), {.step = 0.01});
    simulation.observe("axes", observed);
    simulation.start(scene.start());
    simulation.until(1);
    const std::vector<double> a = simulation.report().quantities[0].value;
    return Matrix3d(Eigen::Map<const Matrix3d>(a.data()));
  };
  EXPECT_LT((top(true) - top(false) * f).cwiseAbs().maxCoeff(), 1e-10);  // measured 2e-13
}

// Regular precession: R(t) = Rz(wp t) R0 Rz(ws t).
TEST(Multibody, HeavyTopPrecessesRegularly) {
  const double m = 0.7, l = 0.075, j1 = 6e-4, j3 = 5e-4, alpha = pi / 3, wp = 10;
  const double ws = m * 9.81 * l / (j3 * wp) + (j1 + m * l * l - j3) / j3 * wp * std::cos(alpha);
  const Quaterniond start = turn({1, 0, 0}, alpha);
  Multibody scene;
  scene.gravity({0, 0, -9.81});
  const Vector3d axis = start * Vector3d::UnitZ();
  scene.body({.name = "top",
              .mass = m,
              .inertia = principal_moments(j1, j1, j3),
              .position = l * axis,
              .rotation = start,
              .velocity = (wp * Vector3d::UnitZ()).cross(l * axis),
              .angular_velocity = wp * Vector3d::UnitZ() + ws * axis});
  scene.joint({.kind = JointKind::spherical, .b = "top", .point = Vector3d::Zero()});
  const State end = run(scene, 1, gauss_lobatto(4), 0.002);
  const Matrix3d exact = rotation({0, 0, 1}, wp) * start.toRotationMatrix() * rotation({0, 0, 1}, ws);
  EXPECT_LT((axes(end, 3) - exact).cwiseAbs().maxCoeff(), 1e-8);  // measured 1e-10
}

// The same top in directors, in a motion that nutates.
TEST(Multibody, AgreesWithDirectors) {
  const double m = 2, l = 0.5;
  const Matrix3d start = rotation({1, 0, 0}, 1.0);
  const Vector3d omega(0.4, -0.3, 9);
  Lagrangian director;
  const RigidBody top(director, {.name = "top",
                                 .mass = m,
                                 .inertia = principal_moments(0.4, 0.5, 0.2),
                                 .center = {0, 0, l},
                                 .fixed = Vector3d::Zero()});
  director.potential(m * 9.81 * top.center()[2]);
  Start first;
  top.place({.rotation = start, .angular_velocity = omega}, first.position, first.velocity);
  Simulation a(director, gauss_lobatto(4), {.step = 0.005});
  a.start(first);
  a.until(2);

  Multibody scene;
  scene.gravity({0, 0, -9.81});
  scene.body({.name = "top",
              .mass = m,
              .inertia = principal_moments(0.4, 0.5, 0.2),
              .position = l * start.col(2),
              .rotation = Quaterniond(start),
              .velocity = omega.cross(l * start.col(2)),
              .angular_velocity = omega});
  scene.joint({.kind = JointKind::spherical, .b = "top", .point = Vector3d::Zero()});
  const State b = run(scene, 2, gauss_lobatto(4), 0.005);
  const Matrix3d d = Eigen::Map<const Matrix3d>(a.state().y.data());
  EXPECT_LT((axes(b, 3) - d).cwiseAbs().maxCoeff(), 1e-9);  // measured 2e-12
}

// Two rods on revolute joints, in space and in the plane, against the angles of a Lagrangian.
TEST(Multibody, DoublePendulumOfRodsIsTheOneOfAngles) {
  const double m = 1, l = 1, w = 0.1, j = m * (l * l + w * w) / 12;
  Lagrangian angles;
  const Expression a = angles.coordinate("a"), b = angles.coordinate("b");
  const Expression da = angles.velocity(a), db = angles.velocity(b);
  // a, b: angles of the rods below the horizontal
  angles.kinetic(0.5 * (j + m * l * l / 4) * da * da + 0.5 * j * db * db +
                 0.5 * m * (l * l * da * da + l * l / 4 * db * db + l * l * cos(a - b) * da * db));
  angles.potential(-m * 9.81 * (1.5 * l * sin(a) + 0.5 * l * sin(b)));
  Simulation reference(angles, gauss_lobatto(4), {.step = 0.005});
  reference.start({.position = {0.2, 0.2}});
  reference.until(2);
  const auto& exact = reference.state().y;
  for (const int dimension : {2, 3}) {
    Multibody scene(dimension);
    const bool plane = dimension == 2;
    scene.gravity(plane ? Vector3d(0, -9.81, 0) : Vector3d(0, 0, -9.81));
    const Vector3d along =
        plane ? Vector3d(std::cos(0.2), -std::sin(0.2), 0) : Vector3d(std::cos(0.2), 0, -std::sin(0.2));
    const Quaterniond pose = plane ? turn({0, 0, 1}, -0.2) : turn({0, 1, 0}, 0.2);
    for (const int k : {0, 1})
      scene.body({.name = k == 0 ? "upper" : "lower",
                  .mass = m,
                  .shapes = {box({l, w, w})},
                  .position = (k + 0.5) * l * along,
                  .rotation = pose});
    const Vector3d axis = plane ? Vector3d(0, 0, 1) : Vector3d(0, 1, 0);
    scene.joint({.name = "shoulder", .b = "upper", .point = Vector3d::Zero(), .axis = axis});
    scene.joint({.name = "elbow", .a = "upper", .b = "lower", .point = Vector3d(l * along), .axis = axis});
    Simulation simulation(scene, gauss_lobatto(4), {.step = 0.005});
    const double sign = plane ? -1 : 1;
    simulation.observe("a", sign * scene.joint_angle("shoulder"));
    simulation.observe("b", sign * (scene.joint_angle("shoulder") + scene.joint_angle("elbow")));
    simulation.start(scene.start());
    simulation.until(2);
    const Report report = simulation.report();
    EXPECT_NEAR(report.quantities[0].value[0] + 0.2, exact[0], 1e-9) << dimension;  // measured 5e-12
    EXPECT_NEAR(report.quantities[1].value[0] + 0.2, exact[1], 1e-9) << dimension;
    EXPECT_LT(report.constraint, 1e-14);
    EXPECT_LT(report.hidden_constraint, 1e-13);
  }
}

// T = 4 K(sin(a/2)) sqrt(J/(m g d)), by the arithmetic-geometric mean
TEST(Multibody, PhysicalPendulumHasItsPeriod) {
  const double a = 1.5, d = 0.5, m = 3;
  Multibody scene(2);
  scene.gravity({0, -9.81, 0});
  scene.body({.name = "bob",
              .mass = m,
              .shapes = {sphere(0.2)},
              .position = {d * std::sin(a), -d * std::cos(a), 0},
              .rotation = turn({0, 0, 1}, a)});
  scene.joint({.name = "pin", .b = "bob", .point = Vector3d::Zero()});
  const double j = m * 0.2 * 0.2 / 2 + m * d * d;
  double x = 1, y = std::cos(a / 2);
  for (int k = 0; k < 8; ++k) {
    const double mean = (x + y) / 2;
    y = std::sqrt(x * y);
    x = mean;
  }
  const double period = 2 * pi / x * std::sqrt(j / (m * 9.81 * d));
  const State s = run(scene, period, gauss_lobatto(4), period / 200);
  EXPECT_NEAR(s.y[2], a, 1e-10);  // measured 4e-14
  EXPECT_NEAR(s.z[2], 0, 1e-10);
  const State half = run(scene, period / 2, gauss_lobatto(4), period / 200);
  EXPECT_NEAR(half.y[2], -a, 1e-10);
}

TEST(Multibody, SpringsOscillateAndDampersDecay) {
  const double k = 30, m = 2, c = 1.5;
  for (const double rest : {0.0, 0.7}) {
    Multibody scene;
    scene.body({.name = "mass", .mass = m, .shapes = {sphere(0.1)}, .position = {rest + 0.3, 0, 0}});
    scene.spring({.b = "mass", .point_a = Vector3d::Zero(), .stiffness = k, .length = rest});
    EXPECT_NEAR(run(scene, 2).y[0], rest + 0.3 * std::cos(2 * std::sqrt(k / m)), 1e-10) << rest;
    scene.spring({.b = "mass", .point_a = Vector3d::Zero(), .damping = c, .length = rest});
    const double decay = c / (2 * m), w = std::sqrt(k / m - decay * decay);
    const double exact = 0.3 * std::exp(-2 * decay) * (std::cos(2 * w) + decay / w * std::sin(2 * w));
    EXPECT_NEAR(run(scene, 2).y[0], rest + exact, 1e-10) << rest;
  }
}

// A spring between bodies that are off-centre turns them; energy and both momenta stay.
TEST(Multibody, SpringBetweenFreeBodiesKeepsEnergy) {
  Multibody scene;
  scene.body({.name = "a", .mass = 1, .shapes = {box({0.4, 0.3, 0.2})}, .angular_velocity = {1, -2, 0.5}});
  scene.body({.name = "b", .mass = 2, .shapes = {box({0.3, 0.3, 0.5})}, .position = {1, 0.2, 0}, .collide = false});
  scene.spring(
      {.a = "a", .b = "b", .point_a = Vector3d(0.2, 0.1, 0), .point_b = Vector3d(0.9, 0.2, 0.2), .stiffness = 20});
  Simulation simulation(scene, gauss_lobatto(4), {.step = 0.01});
  simulation.start(scene.start());
  simulation.until(5);
  EXPECT_LT(*simulation.report().energy_error, 1e-10);  // measured 2e-14
  const State& s = simulation.state();
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(s.z[k] + 2 * s.z[k + 6], 0, 1e-12);
}

TEST(Multibody, MotorsPrescribeWhatTheyAreAskedFor) {
  for (const int dimension : {2, 3}) {
    const Vector3d axis = dimension == 2 ? Vector3d(0, 0, 1) : Vector3d(0.6, 0, 0.8);
    const auto scene = [&](auto&& drive) {
      auto s = std::make_unique<Multibody>(dimension);
      s->body({.name = "wheel", .mass = 2, .shapes = {sphere(0.5)}, .angular_velocity = drive(*s, nullptr)});
      JointOptions joint{.name = "axle", .b = "wheel", .axis = axis};
      drive(*s, &joint);
      s->joint(joint);
      return s;
    };
    const auto angle = [](const Multibody& s) {
      Simulation simulation(s, gauss_lobatto(4), {.step = 0.01});
      simulation.observe("angle", s.joint_angle("axle"));
      simulation.start(s.start());
      simulation.until(2);
      return simulation.report().quantities[0].value[0];
    };
    const auto prescribed = scene([&](Multibody& s, JointOptions* o) -> Vector3d {
      if (o) o->angle = sin(s.t());
      return axis;  // the rate at t = 0
    });
    EXPECT_NEAR(angle(*prescribed), std::sin(2.0), 1e-12) << dimension;
    const auto driven = scene([&](Multibody& s, JointOptions* o) -> Vector3d {
      if (o) o->torque = 0.1 * s.t();
      return Vector3d::Zero();
    });
    const double j = (dimension == 2 ? 0.5 : 0.4) * 2 * 0.25;
    EXPECT_NEAR(angle(*driven), 0.1 * 8 / (6 * j), 1e-11) << dimension;
    const auto damped = scene([&](Multibody&, JointOptions* o) -> Vector3d {
      if (o) o->damping = 0.3;
      return 2 * axis;
    });
    EXPECT_NEAR(angle(*damped), 2 * j / 0.3 * (1 - std::exp(-0.3 / j * 2)), 1e-10) << dimension;
    const auto stiff = scene([&](Multibody&, JointOptions* o) -> Vector3d {
      if (o) o->stiffness = 0.3;
      return 0.2 * axis;
    });
    EXPECT_NEAR(angle(*stiff), 0.2 / std::sqrt(0.3 / j) * std::sin(std::sqrt(0.3 / j) * 2), 1e-10) << dimension;
  }
}

struct JointCase {
  JointKind kind;
  int rows;
};

// The velocity level is the derivative of the position level along the motion, and the reaction its transpose.
TEST(Multibody, JointsHaveTheirRowsAndDerivatives) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vector3d(normal(random), normal(random), normal(random)); };
  for (const auto& [kind, rows] : {JointCase{JointKind::spherical, 3},
                                   {JointKind::revolute, 5},
                                   {JointKind::prismatic, 5},
                                   {JointKind::cylindrical, 4},
                                   {JointKind::universal, 4},
                                   {JointKind::fixed, 6},
                                   {JointKind::rod, 1}}) {
    Multibody scene;
    for (const char* name : {"a", "b"})
      scene.body({.name = name,
                  .mass = 1,
                  .inertia = principal_moments(1, 1.2, 1.5),
                  .position = vector(),
                  .rotation = turn(vector(), normal(random))});
    const Vector3d axis = vector();
    JointOptions joint{.kind = kind, .a = "a", .b = "b", .point = vector(), .axis = axis};
    if (kind == JointKind::universal) joint.axis2 = axis.cross(vector());
    if (kind == JointKind::rod) joint.point_b = vector();
    scene.joint(joint);
    const auto system = scene.build();
    ASSERT_EQ(system->ng(), rows);
    const Start start = scene.start();
    const auto e = system->evaluation({Quantity::constraint, Quantity::constraint_rate, Quantity::constraint_rate_z,
                                       Quantity::reaction, Quantity::constraint_rate_y});
    std::vector<double> z(12), y = start.position, psi(static_cast<std::size_t>(rows));
    e->at(0, y.data(), z.data(), psi.data());
    for (int i = 0; i < rows; ++i) EXPECT_NEAR((*e)[Quantity::constraint][i], 0, 1e-14) << static_cast<int>(kind);
    for (double& x : z) x = normal(random);
    for (double& x : psi) x = normal(random);
    system->move(y.data(), z.data(), 0.3, y.data());  // to where the joint is violated
    e->at(0, y.data(), z.data(), psi.data());
    const Pattern& p = system->pattern(Quantity::constraint_rate_z);
    Eigen::MatrixXd rate_z = Eigen::MatrixXd::Zero(rows, 12);
    for (int i = 0; i < rows; ++i)
      for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        rate_z(i, p.column[static_cast<std::size_t>(k)]) = (*e)[Quantity::constraint_rate_z][k];
    const Eigen::VectorXd rate = Eigen::Map<const Eigen::VectorXd>((*e)[Quantity::constraint_rate], rows);
    const Eigen::VectorXd reaction = Eigen::Map<const Eigen::VectorXd>((*e)[Quantity::reaction], 12);
    EXPECT_LT((reaction + rate_z.transpose() * Eigen::Map<const Eigen::VectorXd>(psi.data(), rows)).norm(), 1e-13);
    EXPECT_LT((rate - rate_z * Eigen::Map<const Eigen::VectorXd>(z.data(), 12)).norm(), 1e-13);
    EXPECT_EQ(Eigen::FullPivLU<Eigen::MatrixXd>(rate_z).rank(), rows);
    std::vector<double> moved(y.size());
    const double h = 1e-3;  // sixth order differences along the motion
    Eigen::VectorXd difference = Eigen::VectorXd::Zero(rows);
    const double weights[] = {0, 45, -9, 1};
    for (int k = -3; k <= 3; ++k) {
      if (k == 0) continue;
      system->move(y.data(), z.data(), k * h, moved.data());
      e->at(0, moved.data(), z.data(), psi.data());
      difference += (k > 0 ? 1 : -1) * weights[std::abs(k)] / (60 * h) *
                    Eigen::Map<const Eigen::VectorXd>((*e)[Quantity::constraint], rows);
    }
    EXPECT_LT((difference - rate).norm(), 1e-10);  // measured 3e-12
  }
}

// The frame that was given, not the centre of mass and the principal axes that the equations have.
TEST(Multibody, PosesAreThoseOfTheGivenFrames) {
  Multibody scene;
  const Quaterniond frame = turn({1, 2, -1}, 0.7), pose = turn({0.3, -1, 2}, 1.1);
  const Matrix3d f = frame.toRotationMatrix();
  scene.body({.name = "odd",
              .mass = 2,
              .inertia = f * principal_moments(1, 2, 3) * f.transpose(),
              .center = Vector3d(0.1, -0.2, 0.3),
              .position = {1, 2, 3},
              .rotation = pose,
              .angular_velocity = {1, 0, 2}});
  scene.particles({.positions = {{5, 0, 1}}, .radii = {0.1}, .density = 1000, .velocity = {0, 1, 0}});
  const auto system = scene.build();
  Simulation simulation(system, gauss_lobatto(4), {.step = 0.01});
  simulation.start(scene.start());
  const auto at_start = body_poses(*system, simulation.state());
  ASSERT_EQ(at_start.size(), 2u);
  EXPECT_LT((at_start[0].position - Vector3d(1, 2, 3)).norm(), 1e-15);  // measured 4e-16
  EXPECT_LT(at_start[0].rotation.angularDistance(pose), 1e-7);          // measured 4e-8: acos near 1
  EXPECT_LT((at_start[1].position - Vector3d(5, 0, 1)).norm(), 1e-15);  // measured 0
  simulation.until(1);  // nothing pulls: the centre of mass rests while the frame turns about it
  const auto later = body_poses(*system, simulation.state());
  const auto centre = [](const BodyPose& p) { return Vector3d(p.position + p.rotation * Vector3d(0.1, -0.2, 0.3)); };
  EXPECT_LT((centre(later[0]) - centre(at_start[0])).norm(), 1e-13);
  EXPECT_GT((later[0].position - at_start[0].position).norm(), 0.1);
  EXPECT_LT((later[1].position - Vector3d(5, 1, 1)).norm(), 1e-13);
  Lagrangian none;
  const auto q = none.coordinates("q", 1);
  none.kinetic(dot(none.velocity(q), none.velocity(q)));
  EXPECT_THROW(body_poses(*none.build(), {}), InputError);
}

TEST(Multibody, CompoundBodiesHaveOneCentreOfMass) {
  // a dumbbell whose frame sits in one of its balls
  Multibody scene(3);
  BodyShape far = sphere(0.1);
  far.position = {1, 0, 0};
  scene.body({.name = "dumbbell", .density = 1000, .shapes = {sphere(0.1), far}, .position = {5, 0, 0}});
  const Start start = scene.start();
  EXPECT_NEAR(start.position[0], 5.5, 1e-15);
  const double m = 2 * 1000 * 4 * pi / 3 * 1e-3;
  const auto system = scene.build();
  const auto e = system->evaluation({Quantity::momentum_z});
  e->at(0, start.position.data(), start.velocity.data(), nullptr);
  const double* mass = (*e)[Quantity::momentum_z];
  EXPECT_NEAR(mass[0], m, 1e-12);
  EXPECT_NEAR(mass[3], m * 0.4 * 0.01, 1e-12);
  EXPECT_NEAR(mass[4], m * (0.4 * 0.01 + 0.25), 1e-11);
}

}  // namespace
}  // namespace hinge::multibody_test
