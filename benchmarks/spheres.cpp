// Scale: 1000, 10,000 and 100,000 spheres fall a little way into a box, on one thread and on two. Per step: contacts,
// milliseconds in search, solution and in all; and the memory that the process took for the scene, per contact. All
// bodies are in every problem: none is put to sleep.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <unistd.h>

#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "measure.hpp"

namespace {

using Eigen::Vector3d;

constexpr double radius = 0.01, step = 0.002;

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void run(int n, int threads, int steps) {
  const double before = resident_bytes();
  hinge::Multibody scene;
  scene.gravity({0, 0, -9.81});
  hinge::RandomNumbers random(1);
  const int side = static_cast<int>(std::ceil(std::cbrt(n)));
  const double spacing = 2.02 * radius, width = spacing * side + 0.4 * radius;
  hinge::ParticleOptions particles;
  for (int i = 0; i < n; ++i) {
    const Vector3d cell(i % side, i / side % side, i / (side * side));
    const Vector3d shift(random.uniform(), random.uniform(), 0);
    particles.positions.push_back(Vector3d::Constant(radius + 1e-5) + spacing * cell + 0.02 * radius * shift);
    particles.radii.push_back(radius * (0.95 + 0.05 * random.uniform()));
  }
  particles.density = 2500;
  particles.friction = 0.3;
  for (int k = 0; k < 5; ++k) {
    hinge::BodyOptions wall;
    wall.name = "wall" + std::to_string(k);
    wall.shapes = {hinge::plane((k % 2 == 0 ? 1.0 : -1.0) * Vector3d::Unit(k / 2))};
    wall.position = k % 2 == 0 ? Vector3d::Zero() : Vector3d::Constant(width);
    wall.fixed = true;
    wall.friction = 0.3;
    scene.body(wall);
  }
  scene.particles(particles);
  hinge::MoreauJeanOptions o;
  o.gap = hinge::GapTreatment::linearised;
  o.solving.solver = "block-gauss-seidel";
  o.solving.tolerance = 1e-2;
  o.solving.threads = threads;
  const auto stepper = hinge::moreau_jean(o).bind(scene.build(), {});
  hinge::State state;
  {
    hinge::Simulation start(scene, hinge::moreau_jean(o), {.step = step});
    start.start(scene.start());
    state = start.state();
  }
  const auto advance = [&](int count) {
    for (int k = 0; k < count; ++k)
      if (const auto result = stepper->step(state, step); !result.ok) {
        std::printf("failed: %s\n", result.reason.c_str());
        std::exit(1);
      }
  };
  advance(steps);
  const hinge::ContactStatistics& s = *stepper->contact_statistics();
  const double search = s.search_seconds, solver = s.solver_seconds,
               iterations = static_cast<double>(s.solver_iterations);
  const double seconds = bench::time_of([&] { advance(steps); });
  std::printf("%8d %8d %10d %10.1f %10.1f %10.1f %10.1f %14.2f %14.0f\n", n, threads, s.contacts,
              1e3 * (s.search_seconds - search) / steps, 1e3 * (s.solver_seconds - solver) / steps,
              1e3 * seconds / steps, (static_cast<double>(s.solver_iterations) - iterations) / steps,
              1e6 * seconds / steps / s.contacts, (resident_bytes() - before) / s.contacts);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  std::printf("%8s %8s %10s %10s %10s %10s %10s %14s %14s\n", "spheres", "threads", "contacts", "search ms",
              "solver ms", "cpu ms", "sweeps", "us/contact", "bytes/contact");
  for (const int n : {1000, 10000, 100000})
    for (const int threads : {1, 2})
      if (!quick || n <= 10000) run(n, threads, n > 10000 ? 5 : 40);
}
