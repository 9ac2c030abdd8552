// Bodies that nothing touches, in every treatment of gaps: angular momentum in space to rounding, energy with order
// two.
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::free_flight_test {
namespace {

using Eigen::Vector3d;
using G = GapTreatment;

struct Thrown {
  Vector3d moments, spin;
  Eigen::Quaterniond turn;
};

// Moments of a body: each at most the sum of the other two.
Thrown throw_one(RandomNumbers& random) {
  const auto number = [&](double a, double b) { return a + (b - a) * random.uniform(); };
  const Vector3d a(number(0.1, 1), number(0.1, 1), number(0.1, 1));
  Thrown t;
  t.moments = {a(1) + a(2), a(2) + a(0), a(0) + a(1)};
  t.spin = {number(-5, 5), number(-5, 5), number(-5, 5)};
  t.turn = Eigen::Quaterniond(number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)).normalized();
  return t;
}

struct Flight {
  double momentum = 0, energy = 0;  // largest change, relative
};

Flight fly(const Thrown& t, const MethodChoice& method, bool floor, double h, double end) {
  Multibody scene;
  if (floor) scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true});
  scene.body({.name = "body",
              .mass = 1,
              .inertia = Eigen::Matrix3d(t.moments.asDiagonal()),
              .shapes = {box({0.2, 0.3, 0.4})},
              .position = {0, 0, 5},
              .rotation = t.turn,
              .velocity = {1, 2, 0.5},
              .angular_velocity = t.turn * t.spin});
  Simulation run(scene, method, {.step = h});
  run.start(scene.start());
  const auto momentum = [&]() -> Vector3d {
    const double *q = run.state().y.data() + 3, *w = run.state().z.data() + 3;
    // along the principal axes, which are those of the state
    const Vector3d spin(w[0], w[1], w[2]);
    return Eigen::Quaterniond(q[0], q[1], q[2], q[3]) * (spin.cwiseProduct(t.moments));
  };
  const Vector3d L = momentum();
  const double E = *run.report().energy;
  Flight flight;
  const long steps = std::lround(end / h);
  for (long k = 0; k < steps; ++k) {
    run.step();
    flight.momentum = std::max(flight.momentum, (momentum() - L).norm() / L.norm());
    flight.energy = std::max(flight.energy, std::abs(*run.report().energy - E) / E);
  }
  return flight;
}

TEST(FreeFlight, KeepsAngularMomentumToRoundingAndEnergyWithOrderTwo) {
  RandomNumbers random(161);
  for (int k = 0; k < 4; ++k) {
    const Thrown t = throw_one(random);
    for (const G gap : {G::velocity, G::linearised, G::nonlinear, G::both})
      for (const bool implicit : {true, false}) {
        MoreauJeanOptions options{.gap = gap};
        options.forces = implicit ? MoreauJeanOptions::Forces::implicit : MoreauJeanOptions::Forces::explicit_;
        const Flight wide = fly(t, moreau_jean(options), k % 2 == 0, 0.01, 2),
                     narrow = fly(t, moreau_jean(options), k % 2 == 0, 0.005, 2);
        EXPECT_LT(narrow.momentum, 1e-13) << k << static_cast<int>(gap);
        EXPECT_LT(wide.momentum, 1e-13) << k << static_cast<int>(gap);
        EXPECT_NEAR(std::log2(wide.energy / narrow.energy), 2, 0.1) << k << static_cast<int>(gap);
      }
  }
}

// A turn of half a radian a step about a long body's short axis.
TEST(FreeFlight, KeepsAngularMomentumInAnyStep) {
  for (const G gap : {G::velocity, G::linearised, G::nonlinear, G::both}) {
    const Thrown t{{0.02, 1, 1.01}, {3, 10, 0.5}, Eigen::Quaterniond::Identity()};
    EXPECT_LT(fly(t, moreau_jean({.gap = gap}), true, 0.05, 5).momentum, 1e-13);
  }
}

}  // namespace
}  // namespace hinge::free_flight_test
