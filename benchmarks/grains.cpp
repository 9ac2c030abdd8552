// Strong scaling of grains: spheres that fall a little way into a box and come to rest there, the same steps on 1, 2,
// 4, ... threads or on an OpenCL device, with the share of every phase. In one command:
//
//   bench_grains                                 10,000 and 100,000 spheres, one thread and two
//   bench_grains --spheres 1000000 --settle 300 --steps 10 --sweeps 50 --device opencl --precision mixed
//
//   bench_grains --protocol --device opencl      1,000,000 spheres, about 3 contacts each, 50 sweeps, in both
//   precisions
//
// Every run settles by itself and goes on with its own reactions; `state` is a number made of all bits of the last
// positions, velocities and spins: it has to be the same for every number of threads. `carried`: of the weight, what
// the walls carried in the last step. `us/cont.`: per contact and step, of one core by the processor's clock.
//
// --watch 100: a line after every so many steps, with what the walls carried in them. --settle-threads 16: so many let
// them settle, before fewer are measured; --settle-tolerance 1e-2: so with another tolerance.
// --layers 100: so high on a smaller base, with walls of --wall-friction 0.
// --mirror: a quarter of them settles, and stands four times beside itself, mirrored at its walls, for 20 steps more: a
// settled heap of 100,000 in a few minutes of one core.
// --kept FILE: what has settled is kept there, and taken from there where the file is there already; --warm 20: so many
// steps then bring its reactions back. The walls between mirrored pictures carried a part of the weight by friction,
// which is 200 steps more for 100,000 to come to rest: `speed`, by what gravity gives in a step, says whether they
// have.
// --plain: sweeps are not accelerated. --details: the time of every phase in a step, bytes of an update and the share
// of the memory's bandwidth, the time of every kernel (--profile), and residual and momentum of the last step computed
// anew from its contacts, in double.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "grain_heap.hpp"
#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "measure.hpp"

namespace {

struct Choice {
  std::vector<int> spheres{10000, 100000}, threads{1, 2};
  int settle = 100, steps = 20;
  double spread = 0.05;  // of radii; the wider the further they fall
  int layers = 0;        // as high as it is wide, or so many on a smaller base
  double wall_friction = 0.3;
  double step = 0.002;
  bool details = false;
  int watch = 0;                // a line after every so many steps
  double settle_tolerance = 0;  // with which they settle, where that is another
  int settle_threads = 0;       // that let them settle, where those that are measured are fewer
  bool mirror = false;          // a quarter settles
  std::string kept;             // where the settled heap is kept
  int warm = 0;                 // steps before those that are measured, where it has settled apart
  hinge::GrainOptions options;
};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Root of the mean square of speeds, by what gravity gives in a step.
double motion_of(const hinge::Grains& grains, const Choice& choice) {
  hinge::GrainState state;
  grains.get(state);
  double sum = 0;
  for (const double v : state.velocity) sum += v * v;
  return std::sqrt(3 * sum / static_cast<double>(state.velocity.size())) / (9.81 * choice.step);
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

struct Anew {
  double residual = 0;  // largest |F_i| / rho_i, relative to the largest |q|
  double velocity = 0;  // largest difference of what the reactions give to what the step gave
  double balance = 0;   // as in GrainReport
};

// The step from `before` to `after` by its contacts: what it should have done, by the definitions and nothing else.
Anew computed_anew(const hinge::GrainScene& scene, const hinge::GrainState& before, const hinge::GrainState& after,
                   const hinge::GrainContacts& contacts, double h) {
  using Eigen::Vector3d;
  const std::size_t n = scene.radius.size();
  std::vector<Vector3d> free(n), v(n), w(n), spin(n);
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = free[i] = Vector3d(before.velocity.data() + 3 * i) + h * scene.gravity;
    w[i] = spin[i] = Vector3d(before.spin.data() + 3 * i);
  }
  Vector3d walls = Vector3d::Zero();
  for (const hinge::GrainContact& c : contacts) {
    const Vector3d r = c.reaction * c.normal + c.tangential, turn = c.normal.cross(c.tangential);
    const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
    v[a] += r / scene.mass[a];
    w[a] -= c.arm_a / scene.moment[a] * turn;
    if (c.b < 0) {
      walls += r;
    } else {
      v[b] -= r / scene.mass[b];
      w[b] -= c.arm_b / scene.moment[b] * turn;
    }
  }
  Anew anew;
  Vector3d gained = Vector3d::Zero();
  double mass = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vector3d now(after.velocity.data() + 3 * i);
    anew.velocity = std::max(anew.velocity, (now - v[i]).norm());
    gained += scene.mass[i] * (now - free[i]);
    mass += scene.mass[i];
  }
  anew.balance = (gained - walls).norm() / std::max(walls.norm(), h * mass * scene.gravity.norm());
  double most = 0, size = 0;
  for (const hinge::GrainContact& c : contacts) {
    const auto a = static_cast<std::size_t>(c.a), b = static_cast<std::size_t>(c.b);
    const bool wall = c.b < 0;
    const Vector3d at_wall = wall ? scene.walls[static_cast<std::size_t>(-1 - c.b)].velocity : Vector3d::Zero();
    const auto u_of = [&](const std::vector<Vector3d>& x, const std::vector<Vector3d>& s) -> Vector3d {
      const Vector3d d = x[a] - (wall ? at_wall : x[b]),
                     t = c.arm_a * s[a] + (wall ? Vector3d::Zero() : Vector3d(c.arm_b * s[b]));
      return d + c.normal.cross(t);
    };
    const double mass_part = 1 / scene.mass[a] + (wall ? 0 : 1 / scene.mass[b]);
    const double turn = c.arm_a * c.arm_a / scene.moment[a] + (wall ? 0 : c.arm_b * c.arm_b / scene.moment[b]);
    const double rho = 3 / (mass_part + 2 * (mass_part + turn)), mu = c.friction;
    const Vector3d q = u_of(free, spin), u = u_of(v, w);
    const double qn = q.dot(c.normal), un = u.dot(c.normal);
    size = std::max({size, std::abs(qn + c.gap), (q - qn * c.normal).norm() / std::sqrt(2.0)});
    const Vector3d ut = u - un * c.normal, t = c.tangential - rho * ut;
    const double m = c.reaction - rho * (un + c.gap + mu * ut.norm()), length = t.norm();
    double pn = m, part = 1;
    if (mu * length <= -m)
      pn = part = 0;
    else if (length > mu * m)
      pn = (m + mu * length) / (1 + mu * mu), part = mu * pn / length;
    most = std::max(most, std::hypot(c.reaction - pn, (c.tangential - part * t).norm()) / rho);
  }
  anew.residual = size > 0 ? most / size : 0;
  return anew;
}

void print_details(const hinge::Grains& grains, const hinge::GrainReport& a, int steps, double wall) {
  const hinge::GrainReport& b = grains.report();
  using S = hinge::GrainSeconds;
  const auto ms = [&](double S::*phase) { return 1e3 * (b.seconds.*phase - a.seconds.*phase) / steps; };
  std::printf(
      "  ms per step: search %.3f, assembly %.3f, sweeps %.3f, stretches %.3f, residual and sums %.3f, motion %.3f; in "
      "all %.3f\n",
      ms(&S::search), ms(&S::assembly), ms(&S::sweeps), ms(&S::stretches), ms(&S::residual), ms(&S::motion),
      1e3 * wall / steps);
  const double each = grains.sweep_bytes() / b.contacts, copied = grains.copy_rate();
  const double updates = static_cast<double>(b.updates - a.updates) / (b.seconds.sweeps - a.seconds.sweeps);
  std::printf("  %.2f billion updates per second of %.0f bytes: %.0f GB/s, %.0f %% of the %.0f GB/s of a copy\n",
              1e-9 * updates, each, 1e-9 * updates * each, 100 * updates * each / copied, 1e-9 * copied);
  std::printf("  %d colours, %d loaded of %d contacts, memory of the device %.0f bytes per contact\n", b.colours,
              b.loaded, b.contacts, b.device_bytes / b.contacts);
  double all = 0;
  for (const hinge::GrainKernel& k : grains.kernels()) all += k.seconds;
  for (const hinge::GrainKernel& k : grains.kernels())
    if (k.runs > 0)
      std::printf("  %-18s %8ld runs %10.1f us each %6.2f %%\n", k.name.c_str(), k.runs,
                  1e6 * k.seconds / static_cast<double>(k.runs), 100 * k.seconds / all);
}

void run(int n, int threads, const Choice& choice) {
  const double before = resident_bytes();
  hinge::GrainScene scene;
  hinge::GrainState state;
  if (choice.mirror)
    bench::fill(n / 4, choice.layers > 0 ? choice.layers : std::cbrt(n), choice.spread, choice.wall_friction, scene,
                state);
  else
    bench::fill(n, choice.layers, choice.spread, choice.wall_friction, scene, state);
  hinge::GrainOptions o = choice.options;
  o.threads = threads;
  const auto advance_of = [&](hinge::Grains& which, int count) {
    long sweeps = which.report().sweeps;
    double sum = 0, low = HUGE_VAL, high = -HUGE_VAL, time = which.report().seconds.all();
    for (int k = 0; k < count; ++k) {
      if (const std::string trouble = which.step(choice.step); !trouble.empty()) {
        std::printf("failed: %s\n", trouble.c_str());
        std::exit(1);
      }
      if (choice.watch == 0) continue;
      const hinge::GrainReport& r = which.report();
      sum += r.carried, low = std::min(low, r.carried), high = std::max(high, r.carried);
      if ((k + 1) % choice.watch == 0) {
        std::printf(
            "  step %5d: %d contacts, %d loaded, residual %.1e, %.0f sweeps and %.1f ms per step, carried %.5f in the "
            "mean, %.5f to %.5f, speed %.3f\n",
            k + 1, r.contacts, r.loaded, r.residual, double(r.sweeps - sweeps) / choice.watch,
            1e3 * (r.seconds.all() - time) / choice.watch, sum / choice.watch, low, high, motion_of(which, choice));
        std::fflush(stdout);
        sweeps = r.sweeps, time = r.seconds.all(), sum = 0, low = HUGE_VAL, high = -HUGE_VAL;
      }
    }
  };
  const bool there = !choice.kept.empty() && bench::take_kept(choice.kept, scene, state);
  const bool apart = choice.settle_threads > 0 || choice.settle_tolerance > 0 || choice.mirror;
  if (apart && !there) {
    if (choice.settle_threads > 0) o.threads = choice.settle_threads;
    if (choice.settle_tolerance > 0) o.tolerance = choice.settle_tolerance;
    hinge::Grains settling(scene, o);
    settling.set(state);
    advance_of(settling, choice.settle);
    settling.get(state);
    if (choice.mirror)
      for (const int axis : {0, 1}) bench::mirror(axis, scene, state);
    o.threads = threads;
    o.tolerance = choice.options.tolerance;
  }
  hinge::Grains grains(scene, o);
  grains.set(state);
  const auto advance = [&](int count) { advance_of(grains, count); };
  advance(choice.warm > 0 ? choice.warm : choice.mirror || there ? 20 : apart ? 5 : choice.settle);
  if (!choice.kept.empty() && !there) {
    grains.get(state);
    bench::keep(choice.kept, scene, state);
  }
  const hinge::GrainReport a = grains.report();
  const auto start = std::chrono::steady_clock::now();
  const double cpu = bench::cpu_seconds();
  advance(choice.steps);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // of one core: by its own clock, whatever else the machine does
  const bool one_core = threads == 1 && choice.options.device == hinge::GrainDevice::threads;
  const double used = one_core ? bench::cpu_seconds() - cpu : wall;
  const hinge::GrainReport b = grains.report();
  const double memory = (resident_bytes() - before) / b.contacts;
  if (choice.details) {  // one step more, with what was before and after it
    print_details(grains, a, choice.steps, wall);
    hinge::GrainState before_it;
    grains.get(before_it);
    advance(1);
    grains.get(state);
    const Anew anew = computed_anew(scene, before_it, state, grains.contacts(), choice.step);
    std::printf("  residual %.6e, by the host %.6e; momentum balance %.1e, by the host %.1e; velocities to %.1e m/s\n",
                grains.report().residual, anew.residual, grains.report().momentum_balance, anew.balance, anew.velocity);
  }
  grains.get(state);
  const auto share = [&](double hinge::GrainSeconds::*phase) {
    return 100 * (b.seconds.*phase - a.seconds.*phase) / wall;
  };
  using S = hinge::GrainSeconds;
  const double updates = static_cast<double>(b.updates - a.updates);
  std::printf(
      "%8d %8d %9d %9.2f %7.1f %8.3f %9.2e %8.4f %6.3f %8.1e %8.3f %8.0f %8x  %3.0f %3.0f %3.0f %3.0f %3.0f %3.0f\n",
      static_cast<int>(scene.radius.size()), threads, b.contacts, 1e3 * wall / choice.steps,
      double(b.sweeps - a.sweeps) / choice.steps, 1e6 * used / choice.steps / b.contacts, b.residual, b.carried,
      motion_of(grains, choice), b.momentum_balance, 1e-9 * updates / (b.seconds.sweeps - a.seconds.sweeps), memory,
      bits_of(state), share(&S::search), share(&S::assembly), share(&S::sweeps), share(&S::stretches),
      share(&S::residual), share(&S::motion));
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
  const auto given = [&](const char* key) {
    return std::any_of(argv + 1, argv + argc, [&](const char* a) { return std::string_view(a) == key; });
  };
  const bool protocol = given("--protocol");
  if (protocol) {
    choice.spheres = {1000000}, choice.settle = 10, choice.steps = 20;
    choice.options.sweeps = choice.options.look = 50;
    choice.options.tolerance = 1e-12;
    choice.options.recover = 0;
  }
  choice.details = protocol || given("--details");
  choice.options.profile = given("--profile");
  choice.mirror = given("--mirror");
  if (given("--plain")) choice.options.accelerate = false;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--spheres") choice.spheres = numbers(argv[i + 1]);
    if (key == "--threads") choice.threads = numbers(argv[i + 1]);
    if (key == "--settle") choice.settle = std::atoi(argv[i + 1]);
    if (key == "--steps") choice.steps = std::atoi(argv[i + 1]);
    if (key == "--sweeps") choice.options.sweeps = std::atoi(argv[i + 1]);
    if (key == "--tolerance") choice.options.tolerance = std::atof(argv[i + 1]);
    if (key == "--step") choice.step = std::atof(argv[i + 1]);
    if (key == "--look") choice.options.look = std::atoi(argv[i + 1]);
    if (key == "--watch") choice.watch = std::atoi(argv[i + 1]);
    if (key == "--settle-threads") choice.settle_threads = std::atoi(argv[i + 1]);
    if (key == "--spread") choice.spread = std::atof(argv[i + 1]);
    if (key == "--settle-tolerance") choice.settle_tolerance = std::atof(argv[i + 1]);
    if (key == "--warm") choice.warm = std::atoi(argv[i + 1]);
    if (key == "--kept") choice.kept = value;
    if (key == "--layers") choice.layers = std::atoi(argv[i + 1]);
    if (key == "--wall-friction") choice.wall_friction = std::atof(argv[i + 1]);
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
      "%8s %8s %9s %9s %7s %8s %9s %8s %6s %8s %8s %8s %8s  share in %% of search, assembly, sweeps, stretches, "
      "residual, "
      "motion\n",
      "spheres", "threads", "contacts", "ms/step", "sweeps", "us/cont.", "residual", "carried", "speed", "momentum",
      "G upd/s", "B/cont.", "state");
  for (const int n : choice.spheres)
    for (const int threads : choice.threads) run(n, threads, choice);
}
