// Strong scaling of the general way, of bodies of any shape: boxes and spheres fall into a container and come to rest
// there; the same steps, from the same state, on 1, 2, 4, ... threads, with the share of every phase.
//
//   bench_mixed_pile                                     3000 bodies, one thread and two
//   bench_mixed_pile --bodies 5000 --threads 1,2,4,8,16  strong scaling
//   bench_mixed_pile --gap both                          on both levels, with steps of the default
//
// `state` is a number made of all bits of the last state: it has to be the same for every number of threads. --settle
// N: steps before those that are measured, on the most threads (--settle-threads); --steps N: measured.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "measure.hpp"

namespace {

using Eigen::Vector3d;

struct Choice {
  int bodies = 3000, settle = 250, steps = 20, settle_threads = 0;
  std::vector<int> threads{1, 2};
  hinge::GapTreatment gap = hinge::GapTreatment::linearised;
  double step = 0.002, tolerance = 1e-3;
};

// As high as twice its width, every second one a box, each turned in its own way.
hinge::Multibody pile(const Choice& choice) {
  hinge::Multibody scene;
  scene.gravity({0, 0, -9.81});
  hinge::RandomNumbers random(1);
  const int side = static_cast<int>(std::ceil(std::cbrt(choice.bodies / 2.0)));
  const double spacing = 0.22, width = spacing * side + 0.06;
  for (int k = 0; k < 5; ++k) {
    hinge::BodyOptions wall;
    wall.name = "wall" + std::to_string(k);
    wall.shapes = {hinge::plane((k % 2 == 0 ? 1.0 : -1.0) * Vector3d::Unit(k / 2))};
    wall.position = k % 2 == 0 ? Vector3d::Zero() : Vector3d::Constant(width);
    wall.fixed = true;
    wall.friction = 0.4;
    scene.body(wall);
  }
  for (int i = 0; i < choice.bodies; ++i) {
    hinge::BodyOptions body;
    body.name = "b" + std::to_string(i);
    body.density = 1000;
    if (i % 2 == 0)
      body.shapes = {hinge::sphere(0.08)};
    else
      body.shapes = {hinge::box({0.14, 0.12, 0.1})};
    const Vector3d cell(i % side + 0.5, i / side % side + 0.5, i / (side * side) + 0.5);
    const Vector3d shift(random.uniform(), random.uniform(), 0);
    body.position = spacing * cell + Vector3d(0.03, 0.03, 0.02) + 0.01 * shift;
    Vector3d axis(random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5);
    body.rotation = Eigen::Quaterniond(Eigen::AngleAxisd(3 * random.uniform(), axis.normalized()));
    body.friction = 0.4;
    scene.body(body);
  }
  return scene;
}

unsigned bits_of(const hinge::State& state) {
  std::uint64_t sum = 1469598103934665603u;
  for (const auto* v : {&state.y, &state.z})
    for (const double x : *v) {
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      sum = (sum ^ bits) * 1099511628211u;
    }
  return static_cast<unsigned>(sum >> 32);
}

class Pile {
 public:
  explicit Pile(const Choice& choice) : choice_(choice), scene_(pile(choice)), system_(scene_.build()) {
    hinge::Simulation start(scene_, method(1), {.step = choice.step});
    start.start(scene_.start());
    state_ = start.state();
  }

  void settle(int threads) {
    const auto stepper = method(threads).bind(system_, {});
    advance(*stepper, state_, choice_.settle);
  }

  void measure(int threads) {
    const auto stepper = method(threads).bind(system_, {});
    hinge::State state = state_;
    advance(*stepper, state, 5);  // reactions go on from step to step
    const hinge::ContactStatistics a = *stepper->contact_statistics();
    const double cpu = bench::cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    advance(*stepper, state, choice_.steps);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // of one thread: by its own clock, whatever else the machine does
    const double used = threads == 1 ? bench::cpu_seconds() - cpu : wall;
    if (first_ == 0) first_ = used;
    const hinge::ContactStatistics& b = *stepper->contact_statistics();
    const double search = b.search_seconds - a.search_seconds, assembly = b.assembly_seconds - a.assembly_seconds,
                 solver = b.solver_seconds - a.solver_seconds;
    std::printf("%8d %8d %9d %9.2f %8.2f %7.1f %9.1e %8x  %5.1f %5.1f %5.1f %5.1f\n", choice_.bodies, threads,
                b.contacts, 1e3 * used / choice_.steps, first_ / used,
                static_cast<double>(b.solver_iterations - a.solver_iterations) / choice_.steps, b.complementarity,
                bits_of(state), 100 * search / wall, 100 * assembly / wall, 100 * solver / wall,
                100 * (wall - search - assembly - solver) / wall);
    std::fflush(stdout);
  }

 private:
  hinge::MethodChoice method(int threads) const {
    hinge::MoreauJeanOptions o;
    o.gap = choice_.gap;
    o.solving.tolerance = choice_.tolerance;
    o.solving.threads = threads;
    return hinge::moreau_jean(o);
  }
  void advance(hinge::Stepper& stepper, hinge::State& state, int count) const {
    for (int k = 0; k < count; ++k)
      if (const auto result = stepper.step(state, choice_.step); !result.ok) {
        std::printf("failed: %s\n", result.reason.c_str());
        std::exit(1);
      }
  }

  Choice choice_;
  hinge::Multibody scene_;
  std::shared_ptr<const hinge::System> system_;
  hinge::State state_;
  double first_ = 0;
};

std::vector<int> numbers(const char* text) {
  std::vector<int> list;
  for (char* end = nullptr; *text; text = *end == ',' ? end + 1 : end) {
    list.push_back(static_cast<int>(std::strtol(text, &end, 10)));
    if (end == text) break;
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  Choice choice;
  if (bench::quick(argc, argv)) choice.bodies = 600, choice.settle = 100, choice.steps = 5;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view key = argv[i], value = argv[i + 1];
    if (key == "--bodies") choice.bodies = std::atoi(argv[i + 1]);
    if (key == "--threads") choice.threads = numbers(argv[i + 1]);
    if (key == "--settle") choice.settle = std::atoi(argv[i + 1]);
    if (key == "--settle-threads") choice.settle_threads = std::atoi(argv[i + 1]);
    if (key == "--steps") choice.steps = std::atoi(argv[i + 1]);
    if (key == "--step") choice.step = std::atof(argv[i + 1]);
    if (key == "--tolerance") choice.tolerance = std::atof(argv[i + 1]);
    if (key == "--gap" && value == "both") choice.gap = hinge::GapTreatment::both;
  }
  Pile pile(choice);
  pile.settle(choice.settle_threads > 0 ? choice.settle_threads
                                        : *std::max_element(choice.threads.begin(), choice.threads.end()));
  std::printf(
      "  bodies  threads  contacts   ms/step    times  sweeps  residual    state  %% in search, assembly, "
      "solver, other\n");
  for (const int threads : choice.threads) pile.measure(threads);
}
