// Strong scaling of grains: spheres that fall a little way into a box and come to rest there, the same steps on 1, 2,
// 4, ... threads or on an OpenCL device, with the share of every phase. In one command:
//
//   bench_grains                                 10,000 and 100,000 spheres, one thread and two
//   bench_grains --spheres 1000000 --settle 300 --steps 10 --sweeps 50 --device opencl --precision mixed
//
// Every run settles by itself and goes on with its own reactions; `state` is a number made of all bits of the last
// positions, velocities and spins: it has to be the same for every number of threads. `carried`: of the weight, what
// the walls carried in the last step. `us/cont.`: per contact and step, of one core by the processor's clock.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "measure.hpp"

namespace {

constexpr double radius = 0.01, step = 0.002;

struct Choice {
  std::vector<int> spheres{10000, 100000}, threads{1, 2};
  int settle = 100, steps = 20;
  double spread = 0.05;  // of radii; the wider the further they fall
  hinge::GrainOptions options;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void fill(int n, double spread, hinge::GrainScene& scene, hinge::GrainState& state) {
  hinge::RandomNumbers random(1);
  const int side = static_cast<int>(std::ceil(std::cbrt(n)));
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
    scene.walls.push_back({sign * Eigen::Vector3d::Unit(k / 2), k % 2 == 0 ? 0 : -width, 0.3});
  }
}

unsigned bits_of(const hinge::GrainState& state) {
  std::uint64_t sum = 1469598103934665603u;
  for (const auto* v : {&state.position, &state.velocity, &state.spin})
    for (const double x : *v) {
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      sum = (sum ^ bits) * 1099511628211u;
    }
  return static_cast<unsigned>(sum >> 32);
}

void run(int n, int threads, const Choice& choice) {
  const double before = resident_bytes();
  hinge::GrainScene scene;
  hinge::GrainState state;
  fill(n, choice.spread, scene, state);
  hinge::GrainOptions o = choice.options;
  o.threads = threads;
  hinge::Grains grains(scene, o);
  grains.set(state);
  const auto advance = [&](int count) {
    for (int k = 0; k < count; ++k)
      if (const std::string trouble = grains.step(step); !trouble.empty()) {
        std::printf("failed: %s\n", trouble.c_str());
        std::exit(1);
      }
  };
  advance(choice.settle);
  const hinge::GrainReport a = grains.report();
  const auto start = std::chrono::steady_clock::now();
  const double cpu = bench::cpu_seconds();
  advance(choice.steps);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // of one core: by its own clock, whatever else the machine does
  const bool one_core = threads == 1 && choice.options.device == hinge::GrainDevice::threads;
  const double used = one_core ? bench::cpu_seconds() - cpu : wall;
  const hinge::GrainReport& b = grains.report();
  const double memory = (resident_bytes() - before) / b.contacts;
  grains.get(state);
  const auto share = [&](double hinge::GrainSeconds::*phase) {
    return 100 * (b.seconds.*phase - a.seconds.*phase) / wall;
  };
  using S = hinge::GrainSeconds;
  const double updates = static_cast<double>(b.updates - a.updates);
  std::printf("%8d %8d %9d %9.2f %7.1f %8.3f %9.2e %8.4f %8.1e %8.3f %8.0f %8x  %3.0f %3.0f %3.0f %3.0f %3.0f\n", n,
              threads, b.contacts, 1e3 * wall / choice.steps, double(b.sweeps - a.sweeps) / choice.steps,
              1e6 * used / choice.steps / b.contacts, b.residual, b.carried, b.momentum_balance,
              1e-9 * updates / (b.seconds.sweeps - a.seconds.sweeps), memory, bits_of(state), share(&S::search),
              share(&S::assembly), share(&S::sweeps), share(&S::residual), share(&S::motion));
  std::fflush(stdout);
}

std::vector<int> numbers(const char* text) {
  std::vector<int> list;
  for (const char* p = text; *p;) {
    char* end;
    list.push_back(static_cast<int>(std::strtol(p, &end, 10)));
    p = *end == ',' ? end + 1 : end;
    if (p == end && *end) break;
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  Choice choice;
  choice.options.tolerance = 1e-2;
  if (bench::quick(argc, argv)) choice.spheres = {10000}, choice.settle = 20, choice.steps = 5;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--spheres") choice.spheres = numbers(argv[i + 1]);
    if (key == "--threads") choice.threads = numbers(argv[i + 1]);
    if (key == "--settle") choice.settle = std::atoi(argv[i + 1]);
    if (key == "--steps") choice.steps = std::atoi(argv[i + 1]);
    if (key == "--sweeps") choice.options.sweeps = std::atoi(argv[i + 1]);
    if (key == "--tolerance") choice.options.tolerance = std::atof(argv[i + 1]);
    if (key == "--spread") choice.spread = std::atof(argv[i + 1]);
    if (key == "--recover") choice.options.recover = std::atof(argv[i + 1]);
    if (key == "--device" && value == "opencl")
      choice.options.device = hinge::GrainDevice::opencl, choice.threads = {1};
    if (key == "--precision" && value == "mixed") choice.options.precision = hinge::GrainPrecision::mixed;
  }
  std::string name;
  if (choice.options.device == hinge::GrainDevice::opencl) {
    const std::string trouble = hinge::no_opencl(&name);
    std::printf("%s\n", trouble.empty() ? name.c_str() : trouble.c_str());
    if (!trouble.empty()) return 0;
  }
  std::printf(
      "%8s %8s %9s %9s %7s %8s %9s %8s %8s %8s %8s %8s  share in %% of search, assembly, sweeps, residual, motion\n",
      "spheres", "threads", "contacts", "ms/step", "sweeps", "us/cont.", "residual", "carried", "momentum", "G upd/s",
      "B/cont.", "state");
  for (const int n : choice.spheres)
    for (const int threads : choice.threads) run(n, threads, choice);
}
