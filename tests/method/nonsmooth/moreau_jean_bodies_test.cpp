// Moreau-Jean time stepping of bodies: spins, fast approaches, heavy on light, springs, walls that move.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::moreau_jean_bodies_test {
namespace {

using Eigen::Vector3d;

Multibody on_the_floor(double gravity = 9.81) {
  Multibody scene;
  scene.gravity({0, 0, -gravity});
  BodyOptions floor{.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true};
  floor.friction = 0.3;
  scene.body(floor);
  return scene;
}

Simulation moved(const Multibody& scene, const MethodChoice& method, double h, double end) {
  Simulation run(scene, method, {.step = h});
  run.start(scene.start());
  run.until(end);
  return run;
}

// Spin about the vertical does not touch the other motions: the ball rolls straight on, at 5/7 of its speed, whatever
// the step. Rows at the start of the step give y(1) = 0.3 at h = 1e-2.
TEST(MoreauJeanBodies, ASpinningBallRollsStraight) {
  for (const GapTreatment gap : {GapTreatment::velocity, GapTreatment::linearised, GapTreatment::nonlinear})
    for (const double h : {4e-3, 2e-3, 1e-3}) {
      Multibody scene = on_the_floor();
      scene.body({.name = "ball",
                  .mass = 1,
                  .shapes = {sphere(0.1)},
                  .position = {0, 0, 0.1},
                  .velocity = {5, 0, 0},
                  .angular_velocity = {0, 0, 100},
                  .friction = 0.3});
      const State state = moved(scene, moreau_jean({.gap = gap}), h, 1).state();
      EXPECT_NEAR(state.z[0], 25.0 / 7, 1e-13) << h;
      EXPECT_LT(std::abs(state.y[1]), 1e-13);
    }
}

// Two spinning balls that touch strike each other, with friction: in space the spin of both changes by what the impulse
// at the point of contact says.
TEST(MoreauJeanBodies, AnImpulseTurnsSpinningBodiesAsInSpace) {
  const auto defect = [](GapTreatment gap, double h) {
    Multibody scene;
    const Vector3d n = Vector3d(2, 1, 0.5).normalized();
    for (const double side : {-1.0, 1.0})
      scene.body({.name = side < 0 ? "a" : "b",
                  .mass = 2 + side,
                  .shapes = {sphere(0.5)},
                  .position = 0.5 * side * n,
                  .velocity = {-side, 0, 0},
                  .angular_velocity = {3 * side, 20, -10 * side},
                  .friction = 0.4});
    const auto stepper = moreau_jean({.gap = gap}).bind(scene.build(), {});
    const Start start = scene.start();
    State state{0, start.position, start.velocity, {}};
    const auto spin = [&](std::size_t b) {
      const double *y = state.y.data() + 7 * b, *z = state.z.data() + 6 * b, m = b == 0 ? 1 : 3;
      return Vector3d(0.4 * m * 0.25 * (Eigen::Quaterniond(y[3], y[4], y[5], y[6]) * Vector3d(z[3], z[4], z[5])));
    };
    const Vector3d a = spin(0), b = spin(1);
    EXPECT_TRUE(stepper->step(state, h));
    const Vector3d impulse = Vector3d(state.z[0], state.z[1], state.z[2]) - Vector3d(1, 0, 0);  // on a, mass 1
    const Vector3d turn = (0.5 * n).cross(impulse);
    EXPECT_GT(turn.norm(), 0.1);
    return std::max((spin(0) - a - turn).norm(), (spin(1) - b - turn).norm());
  };
  for (const GapTreatment gap : {GapTreatment::velocity, GapTreatment::linearised, GapTreatment::nonlinear})
    for (const double h : {4e-3, 1e-3}) EXPECT_LT(defect(gap, h), 1e-13) << h;
}

// A force far above weight, and millimetres: who may touch is known from the free step, not from 10 m/s^2.
TEST(MoreauJeanBodies, GapsByPositionsHoldUnderAnyForce) {
  for (const GapTreatment gap : {GapTreatment::linearised, GapTreatment::nonlinear}) {
    for (const double late : {0.0, 0.01}) {  // with 0.01 the force is zero where the step begins
      Multibody scene = on_the_floor();
      scene.body({.name = "ball", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 0.15}});
      const Expression t = (scene.t() - late) / 0.012;
      const Expression pulse = late > 0 ? 0.5 * (1 + tanh(1e4 * (scene.t() - 0.009))) : Expression(1.0);
      scene.force("ball", {0.0, 0.0, -1000.0 * exp(-pow(t, 8)) * pulse}, {});
      Simulation run(scene, moreau_jean({.gap = gap}), {.step = 0.01});
      run.start(scene.start());
      double highest = 0;
      while (run.state().t < 0.3 - 1e-9) {
        run.step();
        if (run.state().t > 0.05) highest = std::max(highest, run.state().y[2]);
      }
      EXPECT_LT(run.report().contacts->penetration, 1e-15);
      EXPECT_LT(highest, 0.1 + 1e-15);  // no rebound; with a band by 10 m/s^2 it penetrates by 0.03 and rises to 0.5
    }
    Multibody scene = on_the_floor(9810);
    scene.body({.name = "ball", .mass = 1, .shapes = {sphere(100)}, .position = {0, 0, 100.005}});
    const Simulation run = moved(scene, moreau_jean({.gap = gap}), 1e-3, 0.02);
    EXPECT_LT(run.report().contacts->penetration, 1e-13);
    EXPECT_NEAR(run.state().y[2], 100, 1e-13);
  }
}

// What penetrates already is undone in one step, or at the speed that is asked for.
TEST(MoreauJeanBodies, PenetrationIsUndoneAtTheSpeedAskedFor) {
  Multibody scene = on_the_floor(0);
  scene.body({.name = "ball", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 0.1}});
  const auto system = scene.build();
  for (const GapTreatment gap : {GapTreatment::linearised, GapTreatment::nonlinear})
    for (const double speed : {0.0, 0.25}) {
      const auto stepper = moreau_jean({.gap = gap, .recover = speed}).bind(system, {});
      const Start start = scene.start();
      State state{0, start.position, start.velocity, {}};
      state.y[2] = 0.09;
      ASSERT_TRUE(stepper->step(state, 0.01));
      EXPECT_NEAR(state.z[2], speed > 0 ? speed : 1, 1e-12);
    }
}

// The reactions under a heavy body are known to eps times their size only: this is where solvers end, and do not search
// on for digits that are not there.
TEST(MoreauJeanBodies, HeavyOnLightIsSolvedToRounding) {
  for (const double ratio : {1e3, 1e5, 1e7}) {
    Multibody scene = on_the_floor();
    scene.body({.name = "a", .mass = 1, .shapes = {box({1, 1, 1})}, .position = {0, 0, 0.5}, .friction = 0.5});
    scene.body({.name = "b", .mass = ratio, .shapes = {box({1, 1, 1})}, .position = {0, 0, 1.5}, .friction = 0.5});
    const Simulation run = moved(scene, moreau_jean({.gap = GapTreatment::velocity}), 1e-3, 0.015);
    const ContactStatistics c = *run.report().contacts;
    EXPECT_EQ(c.unconverged, 0) << ratio;
    EXPECT_LT(c.solver_iterations, 5000) << ratio;             // measured 235, 1187, 1025; was 300,000 for 1e5
    EXPECT_LT(c.complementarity, 16 * 2.3e-16 * 4 * ratio);    // rounding of W r, relative to g h
    EXPECT_LT(c.penetration, 1e-18 * ratio + 1e-15) << ratio;  // measured 0, 4e-15, 7e-13
    EXPECT_NE(c.solver, "auto");
  }
}

// Spring and damper in space: S has their derivatives, by quaternions too.
TEST(MoreauJeanBodies, StiffSpringsInSpaceDoNotShortenTheStep) {
  Multibody scene = on_the_floor();
  scene.body({.name = "a", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 0.5}, .angular_velocity = {1, 2, 3}});
  scene.body({.name = "b", .mass = 1, .shapes = {box({0.2, 0.2, 0.2})}, .position = {0.3, 0, 0.5}});
  scene.spring({.a = "ground", .b = "a", .point_a = Vector3d(0, 0, 1), .stiffness = 1e5, .damping = 1});
  scene.spring({.a = "a", .b = "b", .point_b = Vector3d(0.2, 0.1, 0.6), .stiffness = 1e5, .damping = 100});
  const Simulation run = moved(scene, moreau_jean(), 0.01, 1);
  EXPECT_LT(run.report().counters.iterations, 20 * 100);  // without derivatives the first step fails
  EXPECT_LE(*run.report().energy_error, 50);
}

// A charge that slides in a magnetic field: f_z is skew, so that S is not symmetric. With more than 200 rows its
// symmetric part stands in, with the same result.
TEST(MoreauJeanBodies, ForcesWithoutSymmetryAgreeForFewAndMany) {
  const auto velocity = [](int n, double field) {
    Lagrangian l;
    const Vector q = l.coordinates("q", {n, 3}), v = l.velocity(q);
    Expression kinetic = 0.0, potential = 0.0;
    Start start;
    Vector force;
    for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(n); i += 3) {
      kinetic += 0.5 * (v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2]);
      potential += 9.81 * q[i + 2];
      for (const Expression& f : {field * v[i + 1], -field * v[i], Expression(0.0)}) force.push_back(f);
      l.unilateral(q[i + 2], {.friction = 0.3, .slip = {v[i], v[i + 1]}});
      start.position.insert(start.position.end(), {0, 0, 0});
      start.velocity.insert(start.velocity.end(), {1, 0, 0});
    }
    l.kinetic(kinetic);
    l.potential(potential);
    l.force(q, force);
    Simulation run(l, moreau_jean(), {.step = 0.01});
    run.start(start);
    run.until(0.05);
    return Vector3d(run.state().z[0], run.state().z[1], run.state().z[2]);
  };
  const Vector3d few = velocity(2, 50), many = velocity(67, 50);  // 6 and 201 rows
  EXPECT_LT((few - many).norm(), 1e-8);                           // measured 2e-9, the tolerance of many contacts
  EXPECT_NEAR(few.norm(), 0.8614, 1e-3);                          // 1 - 0.3 g t = 0.853 along the arc
}

// Forces that push away, so strongly that S would not be definite: with few and with many contacts the mass stands
// alone, and points at the unstable rest stay there, carried by the floor.
TEST(MoreauJeanBodies, AMatrixThatIsNotDefiniteIsLeftOut) {
  for (const int n : {2, 250}) {
    Lagrangian l;
    const Vector q = l.coordinates("q", {n, 2}), v = l.velocity(q);
    Expression kinetic = 0.0, potential = 0.0;
    for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(n); i += 2) {
      kinetic += 0.5 * (v[i] * v[i] + v[i + 1] * v[i + 1]);
      potential += 9.81 * q[i + 1] - 0.5e6 * (q[i] * q[i] + q[i + 1] * q[i + 1]);
      l.unilateral(q[i + 1]);
    }
    l.kinetic(kinetic);
    l.potential(potential);
    const auto stepper = moreau_jean().bind(l.build(), {});
    State state{0,
                std::vector<double>(2 * static_cast<std::size_t>(n)),
                std::vector<double>(2 * static_cast<std::size_t>(n)),
                {}};
    for (int k = 0; k < 3; ++k) {
      const StepResult ok = stepper->step(state, 0.01);
      ASSERT_TRUE(ok) << ok.reason;
    }
    EXPECT_EQ(state.y[1], 0);
    EXPECT_NEAR(stepper->contact_impulses()->impulse[0], 0.0981, 1e-9);
  }
}

// The floor rises as t^2/2: the velocity at the end of a step is compared with the floor's at the end.
TEST(MoreauJeanBodies, AnAcceleratingFloorIsFollowed) {
  for (const GapTreatment gap : {GapTreatment::velocity, GapTreatment::linearised, GapTreatment::nonlinear}) {
    Lagrangian l;
    const Expression y = l.coordinate("y"), v = l.velocity(y);
    l.kinetic(0.5 * v * v);
    l.potential(9.81 * y);
    l.unilateral(y - 0.5 * l.t() * l.t());
    Simulation run(l, moreau_jean({.gap = gap}), {.step = 0.01});
    run.start({{0}, {0}});
    run.until(1);
    EXPECT_NEAR(run.state().y[0], 0.5, 1e-14);  // was 5e-3 too low, with the floor's velocity at the start of the step
    EXPECT_LT(run.report().contacts->penetration, 1e-14);
    EXPECT_NEAR(run.state().z[0], 1, gap == GapTreatment::velocity ? 1e-14 : 5.1e-3);
  }
}

// theta = 1/2: the energy that is missing is the one that the report says was lost, for every impact law.
TEST(MoreauJeanBodies, EnergyLostInImpactsIsWhatIsMissing) {
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::moreau, ImpactLaw::sequential}) {
    Lagrangian l;
    const Expression y = l.coordinate("y"), v = l.velocity(y);
    l.kinetic(0.5 * v * v);
    l.potential(9.81 * y);
    l.unilateral(y, {.restitution = 0.5});
    Simulation run(l, moreau_jean({.impact = law}), {.step = 1e-3});
    run.start({{1}, {0}});
    run.until(2);
    const double missing = 9.81 - 9.81 * run.state().y[0] - 0.5 * run.state().z[0] * run.state().z[0];
    EXPECT_NEAR(run.report().contacts->impact_loss, missing, 1e-11);  // Poisson: was 9.747 of 9.810
  }
}

// The impulse of a force is as long as the step; where nothing else changes, the start is the solution.
TEST(MoreauJeanBodies, WarmStartsFollowTheLengthOfTheStep) {
  Multibody scene = on_the_floor();
  scene.body({.name = "a", .mass = 1, .shapes = {box({1, 1, 1})}, .position = {0, 0, 0.5}, .friction = 0.5});
  const auto stepper = moreau_jean().bind(scene.build(), {});
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(stepper->step(state, 1e-2));
  const long before = stepper->contact_statistics()->solver_iterations;
  for (const double h : {1e-2, 5e-3, 2e-2}) ASSERT_TRUE(stepper->step(state, h));
  EXPECT_EQ(stepper->contact_statistics()->solver_iterations, before);
}

// A crank whose angle is prescribed runs into the floor: nothing can push it back, and the run says so.
TEST(MoreauJeanBodies, AMotorThatDrivesIntoTheFloorIsNamed) {
  Multibody scene = on_the_floor();
  scene.body({.name = "crank",
              .mass = 1,
              .shapes = {box({0.4, 0.05, 0.05})},
              .position = {0.2, 0, 0.3},
              .velocity = {0, 0, -0.6},
              .angular_velocity = {0, 3, 0}});
  JointOptions axle{.name = "axle", .kind = JointKind::revolute, .b = "crank", .point = Vector3d(0, 0, 0.3)};
  axle.axis = {0, 1, 0};
  axle.angle = 3 * scene.t();
  scene.joint(axle);
  Simulation run(scene, moreau_jean(), {.step = 1e-3});
  run.start(scene.start());
  try {
    run.until(0.6);
    FAIL() << "it went through the floor";
  } catch (const StepFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("floor closes, and no force there can stop it"), std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace hinge::moreau_jean_bodies_test
