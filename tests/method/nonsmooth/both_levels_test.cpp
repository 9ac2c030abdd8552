// gap = "both", the default for bodies: rest, sliding, rolling and impacts against exact answers; orders on smooth
// pieces; momentum, joints, penetration and energy of random scenes with all shapes.
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::both_levels_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using G = GapTreatment;

constexpr double g = 9.81;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Numbers {
  RandomNumbers random;
  double operator()(double a, double b) { return a + (b - a) * random.uniform(); }
  Vector3d vector(double size) { return {(*this)(-size, size), (*this)(-size, size), (*this)(-size, size)}; }
  Quaterniond turn() {
    return Quaterniond((*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1)).normalized();
  }
};

Multibody on_a_plane(const Vector3d& normal, double friction, double restitution = 0) {
  Multibody scene;
  scene.gravity({0, 0, -g});
  scene.body(
      {.name = "floor", .shapes = {plane(normal)}, .fixed = true, .friction = friction, .restitution = restitution});
  return scene;
}

Simulation moved(const Multibody& scene, double h, double end, const MoreauJeanOptions& options = {}) {
  Simulation run(scene, moreau_jean(options), {.step = h});
  run.start(scene.start());
  run.until(end);
  return run;
}

TEST(BothLevels, IsTheDefaultForBodiesAlone) {
  Multibody scene = on_a_plane({0, 0, 1}, 0.5);
  scene.body({.name = "ball", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 1}});
  const auto system = scene.build();
  const auto text = [&](const MoreauJeanOptions& o) { return moreau_jean(o).specialised(*system, {}).description; };
  EXPECT_NE(text({}).find("both levels"), std::string::npos);
  EXPECT_NE(text({.theta = 1}).find("gap velocity"), std::string::npos);
  EXPECT_NE(text({.activation = 0}).find("gap velocity"), std::string::npos);
  EXPECT_THROW(moreau_jean({.theta = 0.75, .gap = G::both}), OptionError);
  Lagrangian l;
  const Expression y = l.coordinate("y"), v = l.velocity(y);
  l.kinetic(0.5 * v * v);
  l.unilateral(y);
  EXPECT_NE(moreau_jean().specialised(*l.build(), {}).description.find("gap velocity"), std::string::npos);
  EXPECT_THROW(moreau_jean({.gap = G::both}).bind(l.build(), {}), UnsuitableMethod);
}

// Boxes on slopes of any direction: below the angle of friction nothing moves, above it slides as on paper.
TEST(BothLevels, SlopesHoldAndSlideExactly) {
  Numbers draw{RandomNumbers(1601)};
  for (int k = 0; k < 6; ++k) {
    const double mu = draw(0.2, 0.8), part = k % 2 == 0 ? draw(0.3, 0.95) : draw(1.05, 1.5), h = draw(1e-3, 1e-2);
    const double slope = std::atan(part * mu), direction = draw(0, 6.28);
    const Vector3d down(std::cos(direction) * std::cos(slope), std::sin(direction) * std::cos(slope), -std::sin(slope));
    const Vector3d n(std::cos(direction) * std::sin(slope), std::sin(direction) * std::sin(slope), std::cos(slope));
    Multibody scene = on_a_plane(n, mu);  // of two bodies the geometric mean
    const Vector3d size(draw(0.1, 0.4), draw(0.1, 0.4), draw(0.1, 0.2));
    const Quaterniond lies = Quaterniond::FromTwoVectors(Vector3d(0, 0, 1), n) *
                             Quaterniond(Eigen::AngleAxisd(draw(0, 6.28), Vector3d(0, 0, 1)));
    const Vector3d start = size(2) / 2 * n;
    scene.body(
        {.name = "box", .density = 1000, .shapes = {box(size)}, .position = start, .rotation = lies, .friction = mu});
    const Simulation run = moved(scene, h, 1);
    const double t = run.state().t, a = part > 1 ? g * (std::sin(slope) - mu * std::cos(slope)) : 0;
    const Vector3d x(run.state().y[0], run.state().y[1], run.state().y[2]),
        v(run.state().z[0], run.state().z[1], run.state().z[2]);
    EXPECT_LT((x - start - a * t * t / 2 * down).norm(), 1e-12) << k;
    EXPECT_LT((v - a * t * down).norm(), 1e-12) << k;
    EXPECT_LT(run.report().contacts->penetration, 1e-14);
    EXPECT_NEAR(run.report().contacts->momentum_balance, 0, 1e-12);
  }
}

// A dropped stack comes to rest with closed gaps, and stays.
TEST(BothLevels, ADroppedStackRestsWithGapsOfZero) {
  Numbers draw{RandomNumbers(1602)};
  Multibody scene = on_a_plane({0, 0, 1}, 0.6);
  double height = 0;
  std::vector<double> middle;
  for (int k = 0; k < 5; ++k) {
    const Vector3d size(draw(0.2, 0.3), draw(0.2, 0.3), draw(0.1, 0.2));
    scene.body({.name = fmt::format("b{}", k),
                .density = 1000,
                .shapes = {box(size)},
                .position = {0, 0, height + size(2) / 2 + 2e-3 * (k + 1)},
                .friction = 1});
    middle.push_back(height + size(2) / 2);
    height += size(2);
  }
  const Simulation run = moved(scene, 1.0 / 240, 2);
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(run.state().y[at(7 * k + 2)], middle[at(k)], 1e-13) << k;
    for (int j = 0; j < 6; ++j) EXPECT_NEAR(run.state().z[at(6 * k + j)], 0, 1e-12);
  }
  EXPECT_LT(run.report().contacts->penetration, 1e-13);
}

// e v off the floor, whatever part of a step the ball falls short of it; the gap closes exactly.
TEST(BothLevels, RestitutionAndGapsTogether) {
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::moreau, ImpactLaw::sequential})
    for (const double part : {0.0, 0.3, 0.999, 1.0}) {
      Multibody scene(3);
      scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .restitution = 0.7});
      scene.body({.name = "ball",
                  .mass = 2,
                  .shapes = {sphere(0.1)},
                  .position = {0, 0, 0.1 + part * 0.03},
                  .velocity = {1, 0, -3},
                  .restitution = 0.7});
      MoreauJeanOptions options;
      options.impact = law;
      const Simulation run = moved(scene, 0.01, 0.01, options);
      EXPECT_NEAR(run.state().z[2], 2.1, 1e-13) << part;
      EXPECT_NEAR(run.state().y[2], 0.1, 1e-15) << part;
      EXPECT_NEAR(run.report().contacts->impact_loss, 9 - 2.1 * 2.1, 1e-12);
      EXPECT_EQ(run.report().contacts->impacts, 1);
    }
}

TEST(BothLevels, ABouncingBallConvergesAndComesToRest) {
  const auto height = [](double h, double end) {
    Multibody scene = on_a_plane({0, 0, 1}, 0, 0.5);
    scene.body({.name = "ball", .mass = 1, .shapes = {sphere(0.1)}, .position = {0, 0, 1.1}, .restitution = 0.5});
    return moved(scene, h, end).state();
  };
  // until t = 1.2: fallen from 1, three bounces
  const double first = std::sqrt(2 / g), second = first * 2, third = second + first / 2, t = 1.2 - third;
  const double exact = t * std::sqrt(2 * g) / 8 - g * t * t / 2;
  double last = 1;
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    const double error = std::abs(height(h, 1.2).y[2] - 0.1 - exact);
    EXPECT_LT(error, 3 * h);
    last = error;
  }
  EXPECT_LT(last, 1e-3);
  const State rest = height(1e-2, 3);
  EXPECT_NEAR(rest.y[2], 0.1, 1e-15);
  EXPECT_NEAR(rest.z[2], 0, 1e-15);
}

// Penetration goes by positions alone, at most so much in a step, and leaves no velocity.
TEST(BothLevels, PenetrationGivesNoVelocity) {
  Numbers draw{RandomNumbers(1603)};
  for (int k = 0; k < 6; ++k) {
    Multibody scene = on_a_plane({0, 0, 1}, 0.4);
    const double depth = draw(0.001, 0.02);
    scene.body(
        {.name = "box", .density = 500, .shapes = {box({0.3, 0.2, 0.1})}, .position = {0, 0, 0.05}, .friction = 1});
    MoreauJeanOptions options;
    if (k >= 3) options.recover = 0.1;
    const auto stepper = moreau_jean(options).bind(scene.build(), {});
    const Start start = scene.start();
    State state{0, start.position, start.velocity, {}};
    state.y[2] -= depth;
    double before = state.y[2];
    for (int step = 0; step < 60; ++step) {
      ASSERT_TRUE(stepper->step(state, 5e-3));
      for (const double z : state.z) EXPECT_NEAR(z, 0, 1e-12);
      EXPECT_LE(state.y[2] - before, (k >= 3 ? 0.1 * 5e-3 : 0.01 * 0.1) * (1 + 1e-9));
      before = state.y[2];
    }
    EXPECT_NEAR(state.y[2], 0.05, 1e-14) << depth;
  }
}

// ---- orders ------------------------------------------------------------------------------------------------------

double order_of(const std::function<double(double)>& error, double h) {
  const double wide = error(h), narrow = error(h / 4);
  EXPECT_GT(wide, 1e-12);  // something to measure
  return std::log(wide / narrow) / std::log(4);
}

// Differences to the motion with a small step.
double order_against_fine(const std::function<State(double)>& at_end, double h) {
  const State exact = at_end(h / 64);
  return order_of(
      [&](double step) {
        const State s = at_end(step);
        double error = 0;
        for (std::size_t k = 0; k < s.z.size(); ++k) error = std::max(error, std::abs(s.z[k] - exact.z[k]));
        for (std::size_t k = 0; k < s.y.size(); ++k) error = std::max(error, std::abs(s.y[k] - exact.y[k]));
        return error;
      },
      h);
}

// A ball that slides and spins while a spring turns its way; one that rolls down a ball.
TEST(BothLevels, SmoothPiecesHaveOrderTwo) {
  const auto ball = [](double h) {
    Multibody scene = on_a_plane({0, 0, 1}, 0.3);
    scene.body({.name = "ball",
                .mass = 1,
                .shapes = {sphere(0.1)},
                .position = {0, 0, 0.1},
                .velocity = {3, 0, 0},
                .angular_velocity = {0, -40, 30},
                .friction = 1});
    scene.spring({.a = "ground", .b = "ball", .point_a = Vector3d(0.2, 1, 0.4), .stiffness = 4});
    return moved(scene, h, 0.32).state();
  };
  EXPECT_NEAR(order_against_fine(ball, 4e-3), 2, 0.25);
  // a ball that rolls over a fixed ball, with the surface curved away from it
  const auto over = [](double h) {
    Multibody scene;
    scene.gravity({0, 0, -g});
    scene.body({.name = "hill", .shapes = {sphere(1)}, .fixed = true, .friction = 0.8});
    scene.body({.name = "ball",
                .mass = 1,
                .shapes = {sphere(0.2)},
                .position = {0, 0, 1.2},
                .velocity = {0.6, 0.2, 0},
                .angular_velocity = {-1, 3, 2},
                .friction = 1});
    return moved(scene, h, 0.32).state();
  };
  EXPECT_NEAR(order_against_fine(over, 4e-3), 2, 0.25);
}

// ---- random scenes -------------------------------------------------------------------------------------------------

BodyShape draw_shape(Numbers& draw, int kind) {
  const double a = draw(0.1, 0.2), b = draw(0.1, 0.2), c = draw(0.1, 0.2);
  switch (kind % 5) {
    case 0: return sphere(a);
    case 1: return box({2 * a, 2 * b, 2 * c});
    case 2: return cylinder(a, b);
    case 3: return capsule(a / 2, b);
    default: {
      BodyShape hull;
      hull.shape.kind = Shape::Kind::mesh;
      for (int k = 0; k < 12; ++k) {
        Vector3d p = draw.vector(1);
        while (p.norm() < 0.3) p = draw.vector(1);
        hull.shape.vertices.push_back(a * p.normalized());
      }
      return hull;
    }
  }
}

// Without gravity and walls: linear and angular momentum in space are those of the start, with contacts and joints.
TEST(BothLevels, FreeBodiesThatStrikeKeepMomentum) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    Numbers draw{RandomNumbers(1610 + seed)};
    Multibody scene;
    std::vector<double> mass;
    const int n = 6;
    for (int k = 0; k < n; ++k) {
      const Vector3d place(0.7 * (k % 2), 0.7 * (k / 2 % 2), 0.7 * (k / 4));
      scene.body({.name = fmt::format("b{}", k),
                  .density = draw(500, 2000),
                  .shapes = {draw_shape(draw, k + static_cast<int>(seed))},
                  .position = place,
                  .rotation = draw.turn(),
                  .velocity = 3 * (Vector3d(0.35, 0.35, 0.35) - place) + draw.vector(0.5),
                  .angular_velocity = draw.vector(6),
                  .friction = draw(0.2, 0.8),
                  .restitution = seed % 2 == 0 ? 0.6 : 0});
    }
    if (seed > 2) scene.joint({.kind = JointKind::spherical, .a = "b0", .b = "b1", .point = Vector3d(0.35, 0, 0)});
    const auto system = scene.build();
    const auto mass_of = system->evaluation({Quantity::momentum_z});
    Simulation run(scene, moreau_jean(), {.step = 2e-3});
    Start start = scene.start();
    start.consistent = Consistency::project;
    run.start(start);
    mass_of->at(0, run.state().y.data(), run.state().z.data(), run.state().psi.data());
    const double* M = (*mass_of)[Quantity::momentum_z];
    const auto momenta = [&] {
      Vector3d p(0, 0, 0), L(0, 0, 0);
      for (int b = 0; b < n; ++b) {
        const double *y = run.state().y.data() + 7 * b, *z = run.state().z.data() + 6 * b, *m = M + 6 * b;
        const Vector3d x(y[0], y[1], y[2]), v(m[0] * z[0], m[1] * z[1], m[2] * z[2]),
            s(m[3] * z[3], m[4] * z[4], m[5] * z[5]);
        p += v;
        L += x.cross(v) + Quaterniond(y[3], y[4], y[5], y[6]).normalized() * s;
      }
      return std::pair{p, L};
    };
    const auto [p0, L0] = momenta();
    const double energy = *run.report().energy;
    for (int k = 0; k < 250; ++k) run.step();
    const auto [p1, L1] = momenta();
    EXPECT_LT((p1 - p0).norm(), 1e-11 * (1 + p0.norm())) << seed;
    EXPECT_LT((L1 - L0).norm(), 1e-11 * (1 + L0.norm())) << seed;
    EXPECT_GT(run.report().contacts->impacts, 2) << seed;
    if (seed % 2 == 1) {
      EXPECT_LT(*run.report().energy, energy * (1 + 1e-9)) << seed;
    }
    EXPECT_LT(run.report().constraint, 1e-13);
  }
}

}  // namespace
}  // namespace hinge::both_levels_test
