// Heaps of grains that tests let fall.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"

namespace hinge::heaps {

constexpr double radius = 0.01;

struct Heap {
  GrainScene scene;
  GrainState state;
};

// n spheres on a grid that is a little too wide, so that they fall; a box without a lid.
inline Heap heap(int n, double friction = 0.3) {
  Heap h;
  RandomNumbers random(1);
  const int side = static_cast<int>(std::ceil(std::cbrt(n)));
  const double spacing = 2.02 * radius, width = spacing * side + 0.4 * radius;
  for (int i = 0; i < n; ++i) {
    const int cell[] = {i % side, i / side % side, i / (side * side)};
    for (int k = 0; k < 3; ++k)
      h.state.position.push_back(radius + 1e-5 + spacing * cell[k] + 0.02 * radius * random.uniform());
    const double r = radius * (0.95 + 0.05 * random.uniform()), m = 1e4 * r * r * r;
    h.scene.radius.push_back(r);
    h.scene.mass.push_back(m);
    h.scene.moment.push_back(0.4 * m * r * r);
    h.scene.friction.push_back(friction);
    for (const double q : {1, 0, 0, 0}) h.state.rotation.push_back(q);
  }
  h.state.velocity.assign(3 * h.scene.radius.size(), 0.0);
  h.state.spin = h.state.velocity;
  for (int k = 0; k < 5; ++k) {
    const double sign = k % 2 == 0 ? 1 : -1;
    h.scene.walls.push_back({sign * Eigen::Vector3d::Unit(k / 2), k % 2 == 0 ? 0 : -width, friction});
  }
  return h;
}

inline GrainState after(const Heap& h, const GrainOptions& options, int steps, GrainReport* report = nullptr) {
  Grains grains(h.scene, options);
  grains.set(h.state);
  for (int k = 0; k < steps; ++k) EXPECT_EQ(grains.step(2e-3), "");
  if (report) *report = grains.report();
  GrainState state;
  grains.get(state);
  return state;
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace hinge::heaps
