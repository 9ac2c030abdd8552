// Fast bodies and thin plates: nothing passes, and what misses is not touched.

#include <gtest/gtest.h>

#include "collide/scenes.hpp"
#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::tunnel_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using scenes::Random;

BodyShape random_bullet(Random& random, int kind, double size) {
  switch (kind) {
    case 0: return sphere(size);
    case 1: return box(size * Vector3d(random.uniform(0.5, 2), random.uniform(0.5, 2), random.uniform(0.5, 2)));
    case 2: return capsule(size / 2, size * random.uniform(1, 3));
    case 3: return cylinder(size, size * random.uniform(0.5, 2));
    default: {
      Shape mesh{.kind = Shape::Kind::mesh};
      for (int k = 0; k < 10; ++k) mesh.vertices.push_back(size * random.vector().normalized());
      const Vector3d centre = mesh.centre_of_mass(3);
      for (Vector3d& v : mesh.vertices) v -= centre;
      return {mesh};
    }
  }
}

struct Flight {
  std::string failure;
  double height = 0;         ///< of the centre over the plate at the end
  Vector3d change{0, 0, 0};  ///< of the velocity
};

/// A plate (in the plane a bar) across z (y) = 0, turned at random, and a body that flies at its point `aim`.
Flight fly(std::uint64_t seed, GapTreatment gap, int kind, int dimension, double spin, const Vector3d& aim) {
  Random random{seed};
  const Vector3d up = Vector3d::Unit(dimension - 1);
  const Quaterniond turn = random.rotation(dimension);
  const double thick = random.uniform(0.002, 0.02), size = random.uniform(0.01, 0.05);
  Multibody scene(dimension);
  Vector3d plate(1, 1, thick);
  if (dimension == 2) plate = {1, thick, 1};
  scene.body({.name = "plate", .shapes = {box(plate)}, .rotation = turn, .fixed = true});
  const double speed = random.uniform(20, 200), h = random.uniform(0.0005, 0.002);
  Vector3d direction = -up + random.uniform(0, 1) * Vector3d::UnitX();
  if (dimension == 3) direction += random.uniform(-1, 1) * Vector3d::UnitY();
  direction.normalize();
  const double start = random.uniform(0.3, 0.6);
  const Vector3d away = aim - start / -direction.dot(up) * direction;
  scene.body(
      {.name = "bullet",
       .mass = 1,
       .shapes = {dimension == 2 ? (kind % 2 ? box({size, 2 * size, 1}) : sphere(size))
                                 : random_bullet(random, kind, size)},
       .position = turn * away,
       .rotation = random.rotation(dimension),
       .velocity = turn * (speed * direction),
       .angular_velocity = dimension == 2 ? Vector3d(0, 0, spin) : Vector3d(spin * random.vector().normalized())});
  const auto system = scene.build();
  const Start begin = scene.start();
  State state{0, begin.position, begin.velocity, {}};
  const auto stepper = moreau_jean({.gap = gap}).bind(system, {});
  const int steps = static_cast<int>(2 * start / -direction.dot(up) / speed / h) + 2;
  for (int k = 0; k < steps; ++k)
    if (const StepResult result = stepper->step(state, h); !result) return {result.reason};
  Vector3d x(0, 0, 0), v(0, 0, 0);
  for (int c = 0; c < dimension; ++c)
    x[c] = state.y[static_cast<std::size_t>(c)], v[c] = state.z[static_cast<std::size_t>(c)];
  return {"", up.dot(turn.conjugate() * x), v - turn * (speed * direction)};
}

// Spheres, boxes and capsules at 20 to 200 m/s, up to 0.4 in a step, at plates of 2 to 20 mm, turned at random. A step
// that is refused is no step through the plate.
TEST(Tunnel, NothingPassesThinPlates) {
  for (const int dimension : {2, 3})
    for (const int kind : {0, 1, 2}) {
      if (dimension == 2 && kind > 0) continue;
      for (const GapTreatment gap : {GapTreatment::velocity, GapTreatment::linearised, GapTreatment::nonlinear}) {
        if (kind > 0 && gap == GapTreatment::velocity) continue;  // a corner may come first on the other side
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
          const Flight at = fly(seed, gap, kind, dimension, kind == 0 ? 50 : 0, Vector3d::Zero());
          if (!at.failure.empty()) continue;
          EXPECT_GT(at.height, 0) << dimension << " kind " << kind << " gap " << static_cast<int>(gap) << " seed "
                                  << seed;
        }
      }
    }
}

// What flies past beside the plate keeps its velocity: with nonlinear gaps always.
TEST(Tunnel, WhatMissesIsNotTouched) {
  for (const int dimension : {2, 3})
    for (int kind = 0; kind < (dimension == 2 ? 2 : 5); ++kind)
      for (std::uint64_t seed = 1; seed <= 10; ++seed)
        EXPECT_LT(fly(seed, GapTreatment::nonlinear, kind, dimension, 0, {0.65, 0, 0}).change.norm(), 1e-9)
            << dimension << " kind " << kind << " seed " << seed;
}

}  // namespace
}  // namespace hinge::tunnel_test
