// Finding contacts: nanoseconds per sphere and per contact, for 1000, 10,000 and 100,000 spheres in a box of planes,
// one thread. The spheres lie on a jittered lattice that is as dense as a settled pile (about three contacts per
// sphere). Beside it: a mixture of sizes, one in a thousand spheres ten times as large as the rest.
#include <cstdio>
#include <random>
#include <vector>

#include "hinge/shape.hpp"
#include "measure.hpp"

namespace {

struct Scene {
  hinge::CollisionWorld world{3};
  std::vector<hinge::BodyPose> poses{};
};

Scene pile(int n, bool mixed) {
  Scene scene;
  std::mt19937_64 random(1);
  const auto uniform = [&](double a, double b) { return a + (b - a) * 0x1p-53 * static_cast<double>(random() >> 11); };
  const double r = 0.01, spacing = 1.98 * r;
  int side = 1;
  while (side * side * side < n) ++side;
  for (int i = 0; i < n; ++i) {
    const Eigen::Vector3d x(i % side, i / side % side, i / (side * side));
    const Eigen::Vector3d jitter(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
    scene.poses.push_back({spacing * x + 0.1 * r * jitter});
    const double radius = mixed && i % 1000 == 500 ? 10 * r : r * uniform(0.9, 1.1);
    scene.world.add({.body = i, .shape = {.radius = radius}});
  }
  for (int k = 0; k < 3; ++k)
    for (const double sign : {1.0, -1.0}) {
      hinge::Collider wall{.shape = {.kind = hinge::Shape::Kind::plane}};
      wall.shape.normal = sign * Eigen::Vector3d::Unit(k);
      wall.position = Eigen::Vector3d::Constant(sign > 0 ? -r : spacing * (side - 1) + r);
      scene.world.add(wall);
    }
  return scene;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-8s %8s %10s %10s %14s %14s\n", "scene", "spheres", "contacts", "ms/call", "ns per sphere",
              "ns per contact");
  for (const bool mixed : {false, true})
    for (const int n : {1000, 10000, 100000}) {
      if (bench::quick(argc, argv) && n > 10000) continue;
      Scene scene = pile(n, mixed);
      std::vector<hinge::ContactPoint> contacts;
      const double band = 1e-4;
      scene.world.find(scene.poses, band, contacts);
      double best = 1e9;
      for (int k = 0; k < 30; ++k)
        best = std::min(best, bench::time_of([&] { scene.world.find(scene.poses, band, contacts); }));
      const double ns = 1e9 * best;
      std::printf("%-8s %8d %10zu %10.3f %14.1f %14.1f\n", mixed ? "mixed" : "equal", n, contacts.size(), 1e3 * best,
                  ns / n, ns / static_cast<double>(contacts.size()));
    }
  return 0;
}
