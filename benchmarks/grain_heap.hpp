// Heaps of grains for bench_grains: spheres on a grid in a box, mirrored, kept in a file.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"

namespace bench {

constexpr double radius = 0.01;

// n spheres on a grid, so many layers high or as high as it is wide; the wider the spread of radii, the further they
// fall.
inline void fill(int n, double layers, double spread, double wall_friction, hinge::GrainScene& scene,
                 hinge::GrainState& state) {
  hinge::RandomNumbers random(1);
  const int side = static_cast<int>(std::ceil(layers > 0 ? std::sqrt(n / layers) : std::cbrt(n)));
  const double spacing = (2 + 0.4 * spread) * radius, width = spacing * side + 0.4 * radius,
               pi = 3.14159265358979323846;
  for (int i = 0; i < n; ++i) {
    const double cell[] = {double(i % side), double(i / side % side), double(i / (side * side))};
    for (int k = 0; k < 3; ++k)
      state.position.push_back(radius + 1e-5 + spacing * cell[k] +
                               (k < 2 ? 0.4 * spread * radius * random.uniform() : 0));
    const double r = radius * (1 - spread + spread * random.uniform()), m = 2500 * 4 / 3.0 * pi * r * r * r;
    scene.radius.push_back(r);
    scene.mass.push_back(m);
    scene.moment.push_back(0.4 * m * r * r);
    scene.friction.push_back(0.3);
    for (const double q : {1, 0, 0, 0}) state.rotation.push_back(q);
  }
  state.velocity.assign(3 * scene.radius.size(), 0.0);
  state.spin = state.velocity;
  for (int k = 0; k < 5; ++k) {
    const double sign = k % 2 == 0 ? 1 : -1;
    scene.walls.push_back({sign * Eigen::Vector3d::Unit(k / 2), k % 2 == 0 ? 0 : -width, k == 4 ? 0.3 : wall_friction});
  }
}

// The heap beside its own picture in the wall at the far end of x or y, which is twice as far away then.
inline void mirror(int axis, hinge::GrainScene& scene, hinge::GrainState& state) {
  const std::size_t n = scene.radius.size();
  hinge::GrainWall& wall = scene.walls[static_cast<std::size_t>(2 * axis + 1)];
  const double width = -wall.offset;
  wall.offset *= 2;
  for (auto* v : {&scene.radius, &scene.mass, &scene.moment, &scene.friction}) {
    v->reserve(2 * n);
    v->insert(v->end(), v->begin(), v->begin() + static_cast<std::ptrdiff_t>(n));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      const std::size_t j = 3 * i + static_cast<std::size_t>(k);
      const double sign = k == axis ? -1 : 1;
      state.position.push_back(k == axis ? 2 * width - state.position[j] : state.position[j]);
      state.velocity.push_back(sign * state.velocity[j]);
      state.spin.push_back(-sign * state.spin[j]);
    }
    for (const double q : {1, 0, 0, 0}) state.rotation.push_back(q);
  }
}

// All numbers of a heap, to a file or from one; false where there is none. Walls are where they were made, but for how
// far away the mirrored ones are.
template <class Each>
void numbers_of(hinge::GrainScene& scene, hinge::GrainState& state, Each&& each) {
  for (auto* v : {&scene.radius, &scene.mass, &scene.moment, &scene.friction, &state.position, &state.rotation,
                  &state.velocity, &state.spin})
    each(*v);
  std::vector<double> offsets;
  for (const hinge::GrainWall& w : scene.walls) offsets.push_back(w.offset);
  each(offsets);
  for (std::size_t k = 0; k < scene.walls.size(); ++k) scene.walls[k].offset = offsets.at(k);
}

inline bool take_kept(const std::string& name, hinge::GrainScene& scene, hinge::GrainState& state) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return false;
  numbers_of(scene, state, [&](std::vector<double>& v) {
    std::uint64_t n = 0;
    file.read(reinterpret_cast<char*>(&n), sizeof n);
    v.resize(file ? n : 0);
    file.read(reinterpret_cast<char*>(v.data()), static_cast<std::streamsize>(n * sizeof(double)));
  });
  if (!file) std::printf("%s: cut off\n", name.c_str()), std::exit(1);
  return true;
}

inline void keep(const std::string& name, hinge::GrainScene& scene, hinge::GrainState& state) {
  std::ofstream file(name, std::ios::binary);
  numbers_of(scene, state, [&](const std::vector<double>& v) {
    const std::uint64_t n = v.size();
    file.write(reinterpret_cast<const char*>(&n), sizeof n);
    file.write(reinterpret_cast<const char*>(v.data()), static_cast<std::streamsize>(n * sizeof(double)));
  });
}

}  // namespace bench
