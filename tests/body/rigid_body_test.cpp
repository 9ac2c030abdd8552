// Claims about rigid bodies in directors: they are rigid bodies, whichever coordinates and frame describe them.
#include "hinge/body.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::rigid_body_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

const double gravity = 9.81, pi = std::acos(-1.0);

// The cone of papers/energy-momentum/top-cone.toml.
struct Cone {
  double a = 0.1, r = 0.05, length = 0.75 * a, mass = 2700 * pi * r * r * a / 3;
  double j1 = 3.0 / 80 * mass * (4 * r * r + a * a), j3 = 0.3 * mass * r * r, alpha = pi / 3, wp = 10;
  double ws = mass * gravity * length / (j3 * wp) + (j1 + mass * length * length - j3) / j3 * wp * std::cos(alpha);
  Matrix3d rotation0 = rotation({1, 0, 0}, alpha);
  Vector3d omega0 = wp * Vector3d::UnitZ() + ws * rotation0.col(2);
  RigidBodyOptions options(bool fixed) const {
    RigidBodyOptions o{.name = "top", .mass = mass, .inertia = principal_moments(j1, j1, j3)};
    if (fixed) {
      o.center = {0, 0, length};
      o.fixed = Vector3d::Zero();
    }
    return o;
  }
  Matrix3d exact(double t) const { return rotation({0, 0, 1}, wp * t) * rotation0 * rotation({0, 0, 1}, ws * t); }
};

Matrix3d directors(const State& s, const RigidBody& body) {
  return Eigen::Map<const Matrix3d>(s.y.data() + body.first() + (body.is_free() ? 3 : 0));
}

Matrix3d random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return rotation({normal(random), normal(random), normal(random)}, normal(random));
}

// The largest distance between the motions of the cone in nine coordinates and in twelve.
double nine_against_twelve(const MethodChoice& method) {
  const Cone cone;
  Lagrangian nine, twelve;
  const RigidBody held(nine, cone.options(true)), free(twelve, cone.options(false));
  EXPECT_EQ(nine.coordinate_count(), 9);
  EXPECT_EQ(twelve.coordinate_count(), 12);
  nine.potential(cone.mass * gravity * held.center()[2]);
  twelve.potential(cone.mass * gravity * free.center()[2]);
  const Vector tip = free.point({0, 0, -cone.length});
  for (std::size_t k = 0; k < 3; ++k) twelve.constrain(tip[k], "tip");

  BodyMotion motion{.rotation = cone.rotation0, .angular_velocity = cone.omega0};
  Start start9, start12;
  held.place(motion, start9.position, start9.velocity);
  const Vector3d x = cone.length * cone.rotation0.col(2);
  motion.position = x;
  motion.velocity = cone.omega0.cross(x);
  free.place(motion, start12.position, start12.velocity);
  Simulation run9(nine, method, {.step = 1e-3}), run12(twelve, method, {.step = 1e-3});
  run9.start(start9);
  run12.start(start12);
  double difference = 0;
  for (int n = 0; n < 200; ++n) {
    run9.step();
    run12.step();
    const Matrix3d d = directors(run9.state(), held);
    const Vector3d center = Eigen::Map<const Vector3d>(run12.state().y.data());
    difference = std::max({difference, (d - directors(run12.state(), free)).cwiseAbs().maxCoeff(),
                           (cone.length * d.col(2) - center).cwiseAbs().maxCoeff()});
  }
  return difference;
}

TEST(RigidBody, TopHasTheSameMotionInNineAndTwelveCoordinates) {
  EXPECT_LT(nine_against_twelve(energy_momentum()), 1e-12);  // measured 1.1e-14
  // The control: a penalty sees which constraints there are.
  EnergyMomentumOptions penalty;
  penalty.constraints = ConstraintTreatment::penalty;
  const double apart = nine_against_twelve(energy_momentum(penalty));
  EXPECT_GT(apart, 1e-5);  // measured 1.4e-4
}

TEST(RigidBody, ConePrecessesSteadilyWithOrderTwo) {
  const Cone cone;
  Lagrangian top;
  const RigidBody body(top, cone.options(true));
  top.potential(cone.mass * gravity * body.center()[2]);
  Start start;
  body.place({.rotation = cone.rotation0, .angular_velocity = cone.omega0}, start.position, start.velocity);
  const std::vector<double> position = {9.3804e-2, 2.35149e-2, 5.88216e-3, 1.47075e-3};
  std::vector<double> axis;
  for (std::size_t k = 0; k < position.size(); ++k) {
    Simulation run(top, energy_momentum(), {.step = 1e-3 / std::pow(2, k)});
    run.start(start);
    run.until(0.5);
    const Matrix3d error = directors(run.state(), body) - cone.exact(0.5);
    EXPECT_NEAR(error.norm() / std::sqrt(3.0), position[k], 1e-7);  // the digits given above
    axis.push_back(error.col(2).norm());
    EXPECT_LT(*run.report().energy_error, 1e-11);  // measured 1.4e-12
  }
  EXPECT_NEAR(axis.front(), 3.7257e-4, 1e-8);
  EXPECT_NEAR(axis.back(), 5.8251e-6, 1e-10);
  for (std::size_t k = 0; k + 1 < axis.size(); ++k) EXPECT_NEAR(std::log2(axis[k] / axis[k + 1]), 2, 0.01);
}

// J w' = (J w) x w,  R' = R [w], by the classical Runge-Kutta method: w are the components along the directors.
Matrix3d euler_equations(const Matrix3d& inertia, Matrix3d r, Vector3d w, double end, int steps) {
  const Matrix3d inverse = inertia.inverse();
  const auto skew = [](const Vector3d& v) {
    Matrix3d m;
    m << 0, -v(2), v(1), v(2), 0, -v(0), -v(1), v(0), 0;
    return m;
  };
  const auto rate = [&](const Matrix3d& rr, const Vector3d& ww) {
    return std::pair<Matrix3d, Vector3d>(rr * skew(ww), inverse * (inertia * ww).cross(ww));
  };
  const double h = end / steps;
  for (int n = 0; n < steps; ++n) {
    const auto [r1, w1] = rate(r, w);
    const auto [r2, w2] = rate(r + h / 2 * r1, w + h / 2 * w1);
    const auto [r3, w3] = rate(r + h / 2 * r2, w + h / 2 * w2);
    const auto [r4, w4] = rate(r + h * r3, w + h * w3);
    r += h / 6 * (r1 + 2 * r2 + 2 * r3 + r4);
    w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
  }
  return r;
}

// A body that tumbles about its middle axis.
struct Tumbler {
  Lagrangian system;
  RigidBodyOptions options{.name = "b", .mass = 1.5, .inertia = principal_moments(0.2, 0.3, 0.4)};
  RigidBody body{system, options};
  BodyMotion motion{.rotation = rotation({1, 2, 3}, 0.7),
                    .angular_velocity_body = Vector3d(0.1, 3, 0.05),
                    .position = Vector3d(1, -2, 0.5),
                    .velocity = Vector3d(0.3, 0.2, -0.1)};
  Start start;
  Tumbler() { body.place(motion, start.position, start.velocity); }
};

TEST(RigidBody, FreeBodyFollowsEulersEquations) {
  const Tumbler tumbler;
  const Matrix3d expected =
      euler_equations(tumbler.options.inertia, tumbler.motion.rotation, *tumbler.motion.angular_velocity_body, 4, 8000);
  Simulation accurate(tumbler.system, gauss_lobatto(3), {.step = 0.01});
  accurate.start(tumbler.start);
  accurate.until(4);
  EXPECT_LT((directors(accurate.state(), tumbler.body) - expected).cwiseAbs().maxCoeff(), 1e-11);  // measured 5.8e-13
  const Vector3d x = Eigen::Map<const Vector3d>(accurate.state().y.data());
  EXPECT_LT((x - *tumbler.motion.position - 4 * *tumbler.motion.velocity).norm(), 1e-12);  // measured 9.4e-14

  std::vector<double> errors;
  for (const double h : {0.02, 0.01, 0.005}) {
    Simulation run(tumbler.system, energy_momentum(), {.step = h});
    run.start(tumbler.start);
    run.until(4);
    errors.push_back((directors(run.state(), tumbler.body) - expected).norm());
  }
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.02);  // measured 2.0002
}

TEST(RigidBody, FreeBodyKeepsEnergyAndMomenta) {
  const Tumbler tumbler;
  Simulation run(tumbler.system, energy_momentum(), {.step = 0.02});
  run.observe("spin", tumbler.body.angular_momentum());
  run.start(tumbler.start);
  const Report before = run.report();
  run.until(20);
  const Report after = run.report();
  const Matrix3d r = tumbler.motion.rotation;
  const Vector3d momentum = r * tumbler.options.inertia * *tumbler.motion.angular_velocity_body;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(before.quantities[0].value[k], momentum(static_cast<Eigen::Index>(k)), 1e-14);  // measured 2e-16
    EXPECT_NEAR(after.quantities[0].value[k], momentum(static_cast<Eigen::Index>(k)), 1e-12);   // measured 7e-15
    EXPECT_NEAR(after.momentum[k], 1.5 * (*tumbler.motion.velocity)(static_cast<Eigen::Index>(k)), 1e-13);
  }
  EXPECT_LT(*after.energy_error, 1e-12);  // measured 2.8e-14
  EXPECT_LT(after.constraint, 1e-14);     // measured 2.2e-16
}

// J = Q J_P Q^T: the frame of the body is not that of its principal axes, d_P = d Q.
TEST(RigidBody, FullInertiaIsThePrincipalOneInAnotherFrame) {
  std::mt19937 random(3);
  const Matrix3d q = random_rotation(random), r = random_rotation(random), moments = principal_moments(0.2, 0.3, 0.4);
  const Vector3d omega(1, -2, 3), lever(0.1, 0.2, 0.3);
  for (const bool fixed : {false, true}) {
    std::vector<Matrix3d> frames;
    for (const bool principal : {true, false}) {
      Lagrangian system;
      RigidBodyOptions o{.mass = 2, .inertia = principal ? moments : q * moments * q.transpose()};
      if (fixed) {
        o.center = principal ? lever : Vector3d(q * lever);
        o.fixed = Vector3d(1, 1, 1);
      }
      const RigidBody body(system, o);
      system.potential(2 * gravity * body.center()[2]);
      Start start;
      BodyMotion motion{.rotation = principal ? r : Matrix3d(r * q.transpose()), .angular_velocity = omega};
      if (!fixed) motion.position = Vector3d::Zero();
      body.place(motion, start.position, start.velocity);
      Simulation run(system, energy_momentum(), {.step = 0.01});
      run.start(start);
      run.until(1);
      frames.push_back(directors(run.state(), body) * (principal ? Matrix3d(Matrix3d::Identity()) : q));
    }
    EXPECT_LT((frames[0] - frames[1]).cwiseAbs().maxCoeff(), 1e-12);  // measured 1.4e-14
  }
}

TEST(RigidBody, ExpressionsAreThoseOfARigidBody) {
  std::mt19937 random(5);
  const Vector3d lever(0.1, -0.2, 0.3), origin(1, 2, 3), r(0.5, 0.6, -0.7), omega(1, -2, 3), speed(0.3, 0.4, 0.5);
  for (const bool fixed : {false, true}) {
    Lagrangian system;
    const Expression before = system.coordinate("before");  // the body is not alone
    RigidBodyOptions o{.mass = 2, .inertia = principal_moments(0.2, 0.3, 0.4)};
    if (fixed) {
      o.center = lever;
      o.fixed = origin;
    }
    const RigidBody body(system, o);
    EXPECT_EQ(body.first(), 1);
    system.kinetic(0.5 * pow(system.velocity(before), 2.0));  // is added to the body's own
    const Matrix3d turn = random_rotation(random);
    BodyMotion motion{.rotation = turn, .angular_velocity = omega};
    if (!fixed) {
      motion.position = origin;
      motion.velocity = speed;
    }
    Start start;
    body.place(motion, start.position, start.velocity);
    ASSERT_EQ(start.position.size(), static_cast<std::size_t>(body.size()) + 1);
    start.velocity[0] = 2;
    Simulation run(system, gauss_lobatto(1), {.step = 0.01});
    run.observe("point", body.point(r));
    run.observe("velocity", body.point_velocity(r));
    run.observe("omega", body.angular_velocity());
    run.observe("center", body.center());
    run.observe("center velocity", body.center_velocity());
    run.observe("direction", body.direction(r));
    run.start(start);
    const Report report = run.report();
    const Vector3d arm = turn * lever, v = fixed ? Vector3d(omega.cross(arm)) : speed,
                   in_body = turn.transpose() * omega;
    const std::vector<Vector3d> expected = {origin + turn * r,
                                            (fixed ? Vector3d(Vector3d::Zero()) : speed) + omega.cross(turn * r),
                                            omega,
                                            fixed ? Vector3d(origin + arm) : origin,
                                            v,
                                            turn * r};
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_NEAR(report.quantities[k].value[j], expected[k](static_cast<Eigen::Index>(j)), 1e-14)  // measured 4e-16
            << report.quantities[k].name;
    const double kinetic = v.squaredNorm() + 0.5 * in_body.dot(o.inertia * in_body);
    EXPECT_NEAR(*report.energy, kinetic + 2, 1e-14);  // measured 1.8e-15
  }
}

TEST(RigidBody, AngularVelocityMayBeGivenInSpaceOrInTheBody) {
  Lagrangian system;
  const RigidBody body(system, {.fixed = Vector3d::Zero()});
  const Matrix3d turn = rotation({1, 2, 3}, 0.7);
  const Vector3d w(0.1, 3, 0.05);
  Start a, b;
  body.place({.rotation = turn, .angular_velocity = turn * w}, a.position, a.velocity);
  body.place({.rotation = turn, .angular_velocity_body = w}, b.position, b.velocity);
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.velocity, b.velocity);
}

TEST(RigidBody, TypedRotationsAreRoundedToTheNearest) {
  Lagrangian system;
  const RigidBody body(system, {.fixed = Vector3d::Zero()});
  const Matrix3d turn = rotation({1, 2, 3}, 0.7), typed = (turn * 1e7).array().round() / 1e7;
  Start start;
  body.place({.rotation = typed}, start.position, start.velocity);
  const Matrix3d used = Eigen::Map<const Matrix3d>(start.position.data());
  EXPECT_LT((used.transpose() * used - Matrix3d::Identity()).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((used - turn).cwiseAbs().maxCoeff(), 1e-7);
}

// A disc without thickness: d3 has no inertia of its own. That is no obstacle but for methods that invert the mass.
TEST(RigidBody, FlatBodiesHaveAMassMatrixThatIsSingular) {
  Lagrangian system;
  const Matrix3d inertia = principal_moments(0.1, 0.2, 0.1 + 0.2);
  const RigidBody body(system, {.inertia = inertia});
  Start start;
  const Vector3d w(1, 2, 3);
  body.place({.angular_velocity_body = w, .position = Vector3d::Zero()}, start.position, start.velocity);
  Simulation run(system, gauss_lobatto(3), {.step = 0.01});
  run.start(start);
  run.until(1);
  const Matrix3d expected = euler_equations(inertia, Matrix3d::Identity(), w, 1, 4000);
  EXPECT_LT((directors(run.state(), body) - expected).cwiseAbs().maxCoeff(), 1e-11);  // measured 3.9e-13
  EXPECT_THROW(Simulation(system, energy_momentum(), {.step = 0.01}).start(start), UnsuitableMethod);
}

// Two rods that hang from each other: joints are constraints between points of bodies.
TEST(RigidBody, BodiesAreJoinedByConstraintsBetweenTheirPoints) {
  Lagrangian system;
  const Matrix3d inertia = principal_moments(1.0 / 12, 1.0 / 12, 0.001);
  const Vector3d half(0, 0, 0.5);
  const RigidBody upper(system, {.name = "upper", .inertia = inertia, .center = half, .fixed = Vector3d::Zero()});
  const RigidBody lower(system, {.name = "lower", .inertia = inertia});
  const Vector gap = upper.point(2 * half) - lower.point(-half);
  for (std::size_t k = 0; k < 3; ++k) system.constrain(gap[k], "joint");
  system.potential(gravity * (upper.center()[2] + lower.center()[2]));
  Start start;
  const Matrix3d level = rotation({0, 1, 0}, pi / 2);
  const Vector3d axis = level.col(2), omega(0, 0, 1);
  upper.place({.rotation = level, .angular_velocity = omega}, start.position, start.velocity);
  lower.place({.rotation = level,
               .angular_velocity = omega,
               .position = 1.5 * axis,
               .velocity = omega.cross(Vector3d(1.5 * axis))},
              start.position, start.velocity);
  Simulation run(system, energy_momentum(), {.step = 0.005});
  const Vector rod = upper.center(), tip = lower.center();
  run.observe("vertical", upper.angular_momentum()[2] + lower.angular_momentum()[2] +
                              cross(rod, upper.center_velocity())[2] + cross(tip, lower.center_velocity())[2]);
  run.start(start);
  const double vertical = run.report().quantities[0].value[0];
  EXPECT_NEAR(vertical, 2.0 / 12 + 0.25 + 2.25, 1e-14);
  run.until(2);
  const Report report = run.report();
  EXPECT_LT(*report.energy_error, 1e-12);                       // measured 2.7e-14
  EXPECT_NEAR(report.quantities[0].value[0], vertical, 1e-11);  // measured 0
  EXPECT_LT(report.constraint, 1e-14);                          // measured 2.2e-16
}

std::string refusal(const std::function<void()>& action, std::string& field) {
  try {
    action();
  } catch (const BodyError& e) {
    field = e.field;
    return e.what();
  }
  return "accepted";
}

TEST(RigidBody, WrongInputIsRefusedWithARemedy) {
  struct Case {
    std::function<void(RigidBodyOptions&, BodyMotion&)> change;
    const char* field;
    const char* words;
  };
  const std::vector<Case> cases = {
      {[](auto& o, auto&) { o.mass = 0; }, "mass", "give a positive number"},
      {[](auto& o, auto&) { o.mass = NAN; }, "mass", "give a positive number"},
      {[](auto& o, auto&) { o.inertia = principal_moments(1, 1, -1); }, "inertia", "all must be positive"},
      {[](auto& o, auto&) { o.inertia = principal_moments(1, 1, 0); }, "inertia", "thin rod"},
      {[](auto& o, auto&) { o.inertia = principal_moments(1, 2, 3.1); }, "inertia", "sum of the other two, 3 here"},
      {[](auto& o, auto&) { o.inertia(0, 1) = 0.1; }, "inertia", "not symmetric"},
      {[](auto& o, auto&) { o.inertia(0, 1) = INFINITY; }, "inertia", "not finite"},
      {[](auto& o, auto&) { o.fixed.reset(); }, "center", "leave 'center' out"},
      {[](auto&, auto& m) { m.rotation(0, 0) = 0.9; }, "rotation", "more digits, or an axis and an angle"},
      {[](auto&, auto& m) { m.rotation(0, 0) = -1; }, "rotation", "change the sign of one"},
      {[](auto&, auto& m) { m.rotation(0, 0) = NAN; }, "rotation", "not a rotation"},
      {[](auto&, auto& m) {
         m.rotation = rotation({0, 0, 0}, 1);
       },
       "axis", "not zero"},
      {[](auto&, auto& m) { m.angular_velocity_body = Vector3d(1, 1, 1); }, "angular_velocity_body", "not both"},
      {[](auto&, auto& m) { m.angular_velocity(0) = NAN; }, "angular_velocity", "not finite"},
      {[](auto&, auto& m) { m.position = Vector3d(1, 1, 1); }, "position", "leave 'position' out"},
      {[](auto&, auto& m) { m.velocity = Vector3d(1, 1, 1); }, "velocity", "leave 'velocity' out"},
      {[](auto& o, auto&) { o.fixed.reset(), o.center.setZero(); }, "position", "'position' is missing"},
  };
  for (const Case& c : cases) {
    std::string field;
    const std::string text = refusal(
        [&] {
          RigidBodyOptions o{.center = {0, 0, 1}, .fixed = Vector3d::Zero()};
          BodyMotion m{.angular_velocity = {0, 0, 1}};
          c.change(o, m);
          Lagrangian system;
          Start start;
          RigidBody(system, o).place(m, start.position, start.velocity);
        },
        field);
    EXPECT_NE(text.find(c.words), std::string::npos) << text;
    EXPECT_EQ(field, c.field) << text;
  }
}

}  // namespace
}  // namespace hinge::rigid_body_test
