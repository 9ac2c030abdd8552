// Impacts by rounds, the law between bodies where none is named: a row of balls passes its shock on, mirrored scenes
// have mirrored results, and no impact creates energy.
#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::impact_rounds_test {
namespace {

using Eigen::Vector3d;

struct Ball {
  Vector3d position, velocity, spin = Vector3d::Zero();
  double radius = 1, mass = 1;
};

struct Struck {
  std::vector<Vector3d> velocity;
  double energy_before = 0, energy = 0;
  Vector3d momentum_before = Vector3d::Zero(), momentum = Vector3d::Zero();
};

// One short step without gravity. The spheres are solid.
Struck strike(const std::vector<Ball>& balls, double e, double mu, const MoreauJeanOptions& options = {}) {
  Multibody scene;
  for (std::size_t k = 0; k < balls.size(); ++k)
    scene.body({.name = "b" + std::to_string(k),
                .mass = balls[k].mass,
                .shapes = {sphere(balls[k].radius)},
                .position = balls[k].position,
                .velocity = balls[k].velocity,
                .angular_velocity = balls[k].spin,
                .friction = mu,
                .restitution = e});
  Simulation run(scene, moreau_jean(options), {.step = 1e-6});
  run.start(scene.start());
  Struck s;
  const auto measure = [&](double& energy, Vector3d& momentum) {
    const State& now = run.state();
    for (std::size_t k = 0; k < balls.size(); ++k) {
      const Vector3d v = Eigen::Map<const Vector3d>(now.z.data() + 6 * k);
      const Vector3d w = Eigen::Map<const Vector3d>(now.z.data() + 6 * k + 3);
      energy += balls[k].mass * (v.squaredNorm() / 2 + 0.2 * std::pow(balls[k].radius, 2) * w.squaredNorm());
      momentum += balls[k].mass * v;
    }
  };
  measure(s.energy_before, s.momentum_before);
  run.step();
  measure(s.energy, s.momentum);
  for (std::size_t k = 0; k < balls.size(); ++k)
    s.velocity.emplace_back(Eigen::Map<const Vector3d>(run.state().z.data() + 6 * k));
  return s;
}

std::vector<Ball> row(int count, int incoming) {
  std::vector<Ball> balls;
  for (int k = 0; k < count; ++k) balls.push_back({{2.0 * k, 0, 0}, {k < incoming ? 1.0 : 0.0, 0, 0}});
  return balls;
}

// A rack with a cue ball that touches the first one from behind, at an angle.
std::vector<Ball> rack(int rows, double angle, double speed) {
  std::vector<Ball> balls;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k <= i; ++k) balls.push_back({{std::sqrt(3.0) * i, 2.0 * k - i, 0}, Vector3d::Zero()});
  const Vector3d from(std::cos(angle), std::sin(angle), 0);
  balls.push_back({-2 * from, speed * from});
  return balls;
}

// One number after the other: compilers differ in which argument of a call they evaluate first.
std::vector<Ball> random_rack(Draw& draw, int least_rows, double widest) {
  const int rows = draw.integer(least_rows, 4);
  const double angle = draw.number(-widest, widest);
  const double speed = draw.number(0.5, 5);
  return rack(rows, angle, speed);
}

TEST(ImpactRounds, AsManyLeaveARowAsComeIn) {
  for (const int count : {2, 3, 5, 20})
    for (const int incoming : {1, 2, 4}) {
      if (incoming >= count) continue;
      const Struck s = strike(row(count, incoming), 1, 0);
      for (int k = 0; k < count; ++k)
        EXPECT_NEAR(s.velocity[static_cast<std::size_t>(k)].x(), k >= count - incoming ? 1 : 0, 1e-12)
            << count << ' ' << incoming << ' ' << k;
    }
}

// Without restitution the impact is the common one: all go on together.
TEST(ImpactRounds, WithoutRestitutionAllGoOnTogether) {
  const Struck s = strike(row(5, 1), 0, 0);
  for (const Vector3d& v : s.velocity) EXPECT_NEAR(v.x(), 0.2, 1e-12);
}

// Three balls, e: binary strikes in turn are (1-e)/2, (1+e)/2 of what comes in.
TEST(ImpactRounds, ThreeBallsAreStruckInTurn) {
  for (const double e : {0.5, 0.8, 0.95}) {
    double v[3] = {1, 0, 0};
    for (int strikes = 0; strikes < 1000; ++strikes) {
      const int k = v[0] > v[1] + 1e-9 ? 0 : v[1] > v[2] + 1e-9 ? 1 : -1;
      if (k < 0) break;
      const double mean = (v[k] + v[k + 1]) / 2, half = e * (v[k] - v[k + 1]) / 2;
      v[k] = mean - half;
      v[k + 1] = mean + half;
    }
    const Struck s = strike(row(3, 1), e, 0);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(s.velocity[static_cast<std::size_t>(k)].x(), v[k], 0.01 * (1 - e)) << e;
  }
}

TEST(ImpactRounds, MirroredScenesHaveMirroredResults) {
  Draw draw(5);
  for (int trial = 0; trial < 40; ++trial) {
    const double e = draw.chance(0.3) ? 1 : draw.number(0, 1), mu = draw.chance(0.5) ? 0 : draw.number(0.1, 0.8);
    std::vector<Ball> balls = random_rack(draw, 2, 0.5);
    balls.back().spin = {0, 0, mu > 0 ? draw.number(-3, 3) : 0};
    std::vector<Ball> mirrored(balls.rbegin(), balls.rend());  // in another order, too
    for (Ball& b : mirrored) {
      b.position.y() *= -1;
      b.velocity.y() *= -1;
      b.spin.z() *= -1;
    }
    const Struck one = strike(balls, e, mu), other = strike(mirrored, e, mu);
    for (std::size_t k = 0; k < balls.size(); ++k) {
      Vector3d v = other.velocity[balls.size() - 1 - k];
      v.y() *= -1;
      EXPECT_LT((one.velocity[k] - v).norm(), 1e-7) << trial << ' ' << k << " e " << e << " mu " << mu;
    }
  }
}

TEST(ImpactRounds, KeepMomentumAndCreateNoEnergy) {
  Draw draw(6);
  for (int trial = 0; trial < 60; ++trial) {
    const double e = draw.chance(0.3) ? 1 : draw.number(0, 1), mu = draw.chance(0.3) ? 0 : draw.number(0.1, 1.5);
    std::vector<Ball> balls = random_rack(draw, 1, 1.2);
    for (Ball& b : balls) {
      b.mass = draw.power(-1, 1);
      for (int k = 0; k < 3; ++k) b.spin[k] = draw.number(-5, 5);
    }
    const Struck s = strike(balls, e, mu);
    EXPECT_LE(s.energy, s.energy_before * (1 + 1e-9)) << trial << " e " << e << " mu " << mu;
    EXPECT_LT((s.momentum - s.momentum_before).norm(), 1e-12 * s.momentum_before.norm());
    if (mu == 0 && e == 1) {
      EXPECT_NEAR(s.energy, s.energy_before, 1e-9 * s.energy_before);
    }
  }
}

// Those that approach equally fast are struck together: a symmetric rack stays symmetric.
TEST(SequentialImpacts, KeepASymmetricRackSymmetric) {
  for (const bool last_first : {false, true})
    for (const double e : {1.0, 0.7}) {
      MoreauJeanOptions options;
      options.impact = ImpactLaw::sequential;
      options.last_first = last_first;
      const std::vector<Ball> balls = rack(5, 0, 5);
      const Struck s = strike(balls, e, 0, options);
      std::size_t first = 0;
      for (std::size_t i = 0; i < 5; first += ++i)
        for (std::size_t k = 0; k <= i; ++k) {
          const Vector3d a = s.velocity[first + k], b = s.velocity[first + i - k];
          EXPECT_LT((a - Vector3d(b.x(), -b.y(), b.z())).norm(), 1e-9) << i << ' ' << k;
        }
    }
}

// W = [[1, 1.3], [1.3, 2]], u = (-1, -1.3), mu = e = 0.8: Newton's law creates energy, 0.5 -> 2.06.
TEST(ImpactRounds, EnergyThatFrictionWouldCreateIsNot) {
  Lagrangian l;
  const Expression n = l.coordinate("n"), t = l.coordinate("t"), vn = l.velocity(n), vt = l.velocity(t);
  const double det = 2 - 1.3 * 1.3;
  l.kinetic(0.5 / det * (2.0 * vn * vn - 2.6 * vn * vt + vt * vt));
  l.unilateral(n, {.name = "wall", .restitution = 0.8, .friction = 0.8, .slip = {vt}});
  Simulation run(l, moreau_jean({.impact = ImpactLaw::rounds}), {.step = 1e-4});
  run.start({.position = {0, 0}, .velocity = {-1, -1.3}});
  run.step();
  EXPECT_LE(*run.report().energy, 0.5 * (1 + 1e-9));
  EXPECT_GT(*run.report().energy, 0.4);
  EXPECT_GT(run.state().z[0], 0);
  EXPECT_EQ(run.report().warnings.size(), 0u);
  EXPECT_EQ(run.report().remarks.size(), 1u);
}

}  // namespace
}  // namespace hinge::impact_rounds_test
