// Friction in impacts: the spin that it gives, what it takes, and contacts that others close within a step.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "body/body_table.hpp"
#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::impact_friction_test {
namespace {

// A ball falls on a plane, fixed and sloping as it likes, with any gap before the step of the impact: it slides through
// the impact, or its point stops. Without gravity, so that there is nothing but the law.
TEST(ImpactFriction, GivesASphereItsSpinWhateverTheStep) {
  Draw draw(61);
  int slid = 0, stuck = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const double radius = draw.number(0.02, 0.5), mu = draw.number(0.05, 0.6),
                 e = draw.chance(0.5) ? 0 : draw.number(0, 1);
    const Eigen::Vector3d n = Eigen::Vector3d(draw.number(-1, 1), draw.number(-1, 1), draw.number(-1, 1)).normalized();
    const Eigen::Vector3d t = n.cross(Eigen::Vector3d(0.3, -0.5, 0.8)).normalized();
    const double down = draw.number(0.5, 5), along = draw.number(0.1, 5);
    Multibody scene;
    scene.body({.name = "wall", .shapes = {plane(n)}, .fixed = true, .friction = mu, .restitution = e});
    scene.body({.name = "ball",
                .mass = draw.number(0.1, 10),
                .shapes = {sphere(radius)},
                .position = (radius + draw.number(0.001, 0.1)) * n,
                .velocity = along * t - down * n,
                .friction = mu,
                .restitution = e});
    Simulation run(scene, moreau_jean(), {.step = draw.number(0.001, 0.02)});
    run.start(scene.start());
    while (run.report().contacts->impacts == 0) run.step();
    // J = 2/5 m r^2: the point stops where friction can change u_t by all of it, 7/2 of what the ball loses
    const double most = mu * (1 + e) * down, lost = std::min(most, 2 * along / 7);
    ++(most < 2 * along / 7 ? slid : stuck);
    const std::vector<double>& z = run.state().z;
    const Eigen::Vector3d v(z[0], z[1], z[2]), w(z[3], z[4], z[5]);
    const Eigen::Vector3d spin = body_poses(*scene.build(), run.state())[0].rotation * w;
    EXPECT_NEAR(v.dot(t), along - lost, 1e-9 * along) << trial;
    EXPECT_NEAR(v.dot(n), e * down, 1e-9 * down) << trial;
    EXPECT_LT((spin - 2.5 * lost / radius * n.cross(t)).norm(), 1e-8 * along / radius) << trial;
  }
  EXPECT_GT(slid, 10);
  EXPECT_GT(stuck, 10);
}

// Many strike at once: both losses have their sign, and their sum is what is gone.
TEST(ImpactFriction, TakesEnergyInCrowds) {
  Draw draw(62);
  for (const GapTreatment gap : {GapTreatment::both, GapTreatment::linearised}) {
    Multibody scene;
    scene.gravity({0, 0, -9.81});
    scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true, .friction = 0.6});
    for (int k = 0; k < 27; ++k)
      scene.body({.name = fmt::format("s{}", k),
                  .density = 1000,
                  .shapes = {k % 2 ? sphere(0.05) : box({0.08, 0.08, 0.08})},
                  .position = {0.12 * (k % 3) + draw.number(0, 0.01), 0.12 * (k / 3 % 3) + draw.number(0, 0.01),
                               0.1 + 0.12 * (k / 9)},
                  .velocity = {draw.number(-1, 1), draw.number(-1, 1), draw.number(-3, 0)},
                  .friction = 0.6});
    Simulation run(scene, moreau_jean({.gap = gap}), {.step = 0.004});
    run.start(scene.start());
    const double energy = *run.report().energy;
    run.until(0.4);
    const Report report = run.report();
    const ContactStatistics& c = *report.contacts;
    EXPECT_GT(c.friction_loss, 0);
    EXPECT_GT(c.impact_loss, 0);
    EXPECT_NEAR(c.friction_loss + c.impact_loss, energy - *report.energy, 0.05 * (energy - *report.energy));
  }
}

// A row of balls with gaps, struck at one end: those that are reached within the step by what others do to them do not
// go through each other.
TEST(ImpactFriction, ContactsThatOthersCloseTakePart) {
  Draw draw(63);
  for (int trial = 0; trial < 20; ++trial)
    for (const GapTreatment gap : {GapTreatment::both, GapTreatment::linearised, GapTreatment::nonlinear}) {
      Multibody scene;
      double x = 0;
      const double speed = draw.number(5, 50);
      for (int k = 0; k < 8; ++k) {
        scene.body({.name = fmt::format("s{}", k),
                    .mass = draw.number(0.2, 5),
                    .shapes = {sphere(0.05)},
                    .position = {x, 0, 0},
                    .velocity = {k == 0 ? speed : 0, 0, 0}});
        x += 0.1 + draw.number(0, 0.004);
      }
      Simulation run(scene, moreau_jean({.gap = gap}), {.step = draw.number(0.001, 0.004)});
      run.start(scene.start());
      for (int k = 0; k < 2; ++k) run.step();
      EXPECT_LT(run.report().contacts->penetration, 1e-9) << trial << " gap " << static_cast<int>(gap);
    }
}

// Fifteen balls in a triangle, struck in its middle: mirrored to rounding. (Energy has errors of the square of the
// step.)
TEST(ImpactFriction, SequentialImpactsKeepTheSymmetryOfABreak) {
  Draw draw(64);
  for (int trial = 0; trial < 4; ++trial) {
    const double radius = draw.number(0.02, 0.04), speed = draw.number(2, 8);
    Multibody scene;
    std::vector<std::pair<int, int>> mirrored;
    int number = 0;
    for (int row = 0; row < 5; ++row)
      for (int k = 0; k <= row; ++k, ++number) {
        scene.body({.name = fmt::format("b{}", number),
                    .mass = 0.17,
                    .shapes = {sphere(radius)},
                    .position = {row * std::sqrt(3) * radius, (2 * k - row) * radius, 0},
                    .restitution = 1});
        mirrored.emplace_back(number, number + row - 2 * k);
      }
    scene.body({.name = "cue",
                .mass = 0.17,
                .shapes = {sphere(radius)},
                .position = {-radius * draw.number(3, 5), 0, 0},
                .velocity = {speed, 0, 0},
                .restitution = 1});
    const auto system = scene.build();
    Simulation run(scene, moreau_jean({.impact = ImpactLaw::sequential}), {.step = 0.0005});
    run.start(scene.start());
    run.until(0.03);
    const std::vector<double>& z = run.state().z;
    double worst = 0, energy = 0;
    for (const auto& [a, b] : mirrored)
      for (int k = 0; k < 3; ++k)
        worst = std::max(
            worst,
            std::abs(z[static_cast<std::size_t>(bodies_of(*system)->places[static_cast<std::size_t>(a)].v + k)] -
                     (k == 1 ? -1 : 1) *
                         z[static_cast<std::size_t>(bodies_of(*system)->places[static_cast<std::size_t>(b)].v + k)]));
    for (const double v : z) energy += 0.17 * v * v / 2;
    EXPECT_LT(worst, 1e-11 * speed) << trial;
    EXPECT_NEAR(energy, 0.17 * speed * speed / 2, 1e-5 * energy) << trial;
    EXPECT_GT(run.report().contacts->impacts, 5);
  }
}

}  // namespace
}  // namespace hinge::impact_friction_test
