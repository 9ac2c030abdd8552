// A thousand disks without friction collapse into a pile between two walls, as in Figure 10 of the survey by Kleinert
// and Simeon, and come to rest: then the floor carries the weight, all of it.
//
//   build/bench_disk_pile      about three minutes; prints the force on the floor over the weight on the way
//
// It ends when the floor has carried the weight to 1e-9 for half a second. A disk that nothing holds may still slide
// about in its hole then, for without friction nothing stops it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "hinge/hinge.hpp"
#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"

int main() {
  constexpr int disks = 1000;
  constexpr double gravity = 9.81, density = 1000, width = 4, step = 0.005;
  hinge::Multibody scene(2);
  scene.gravity({0, -gravity, 0});
  scene.body({.name = "floor", .shapes = {hinge::plane({0, 1, 0})}, .fixed = true});
  scene.body({.name = "left", .shapes = {hinge::plane({1, 0, 0})}, .fixed = true});
  scene.body({.name = "right", .shapes = {hinge::plane({-1, 0, 0})}, .position = {width, 0, 0}, .fixed = true});
  hinge::RandomNumbers random(1);
  hinge::ParticleOptions pile{.name = "disks", .density = density};
  double weight = 0;
  for (int i = 0; i < disks; ++i) {
    pile.radii.push_back(0.03 + 0.03 * random.uniform());
    weight += gravity * density * std::numbers::pi * pile.radii.back() * pile.radii.back();
  }
  pile.positions = hinge::place_at_random(2, pile.radii, {0, 0, 0}, {width, 5, 0}, random);
  scene.particles(pile);
  const auto system = scene.build();

  hinge::State state;
  {
    hinge::Simulation start(scene, hinge::moreau_jean(), {.step = step});
    start.start(scene.start());
    state = start.state();
  }
  std::printf("%6s %10s %10s %12s %14s %10s\n", "t", "contacts", "loaded", "max |v|", "force/weight-1", "residual");
  // Sweeps while everything falls; exact solutions at the end.
  int quiet = 0;
  for (const double tolerance : {1e-3, 1e-9}) {
    hinge::MoreauJeanOptions options{.gap = hinge::GapTreatment::linearised};
    options.solving.solver = tolerance > 1e-6 ? "block-gauss-seidel" : "auto";
    options.solving.tolerance = tolerance;
    const auto stepper = hinge::moreau_jean(options).bind(system, {});
    const double end = tolerance > 1e-6 ? 4 : 8;
    for (int k = 1; state.t < end; ++k) {
      if (const hinge::StepResult result = stepper->step(state, step); !result.ok) {
        std::printf("failed: %s\n", result.reason.c_str());
        return 1;
      }
      const hinge::ContactImpulses& found = *stepper->contact_impulses();
      double force = 0, speed = 0;
      for (int i = 0; i < found.contacts.count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (found.contacts.point[3 * at + 1] < 1e-3) force += found.impulse[2 * at] / found.step;
      }
      for (const double v : state.z) speed = std::max(speed, std::abs(v));
      quiet = std::abs(force / weight - 1) < 1e-9 ? quiet + 1 : 0;
      const bool rest = quiet == 100;
      const hinge::ContactStatistics& s = *stepper->contact_statistics();
      if (k % 50 == 0 || rest || (tolerance < 1e-6 && k % 10 == 0))
        std::printf("%6.3f %10d %10d %12.2e %14.2e %10.1e\n", state.t, s.contacts, s.loaded, speed, force / weight - 1,
                    s.complementarity);
      std::fflush(stdout);
      if (rest) return 0;
    }
  }
}
