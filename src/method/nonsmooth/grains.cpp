// The order of a step of grains; who does the work is behind GrainBackend.
#include "hinge/grains.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "method/nonsmooth/grain_backend.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;
using Clock = std::chrono::steady_clock;

constexpr int most_grain_looks = 8;         // for contacts in one step
constexpr int first_look = 5;               // at the residual: after so many sweeps, then where it may be small enough
constexpr double furthest_at_first = 0.95;  // beta of accelerated sweeps
// Of the coarse level (grain_coarse.cl): where it begins, and what is little of it: a stretching, or the velocities
// that it gives (root of their mean square) as part of what gravity gives in the step, or of those that there are.
constexpr double layers_of_a_heap = 16, little = 0.003, little_moving = 0.01, little_falling = 0.03;
constexpr int most_between_stretches = 60;           // sweeps
constexpr double grains_pushed_out_per_step = 0.01;  // of the smallest grain

}  // namespace

void GrainScene::validate() const {
  const std::size_t n = radius.size();
  if (mass.size() != n || moment.size() != n || friction.size() != n)
    throw InputError(fmt::format("grains: {} radii, {} masses, {} moments, {} frictions; give one of each per grain", n,
                                 mass.size(), moment.size(), friction.size()));
  if (n == 0) throw InputError("grains: there are none; give at least one radius");
  if (n > 200'000'000) throw InputError(fmt::format("grains: {} are too many; 200 million are allowed", n));
  for (std::size_t i = 0; i < n; ++i) {
    if (!(radius[i] > 0) || !(mass[i] > 0) || !(moment[i] > 0) || !std::isfinite(radius[i] + mass[i] + moment[i]))
      throw InputError(fmt::format("grain {}: radius {}, mass {} and moment {} must be positive and finite", i,
                                   radius[i], mass[i], moment[i]));
    if (!(friction[i] >= 0) || !std::isfinite(friction[i]))
      throw InputError(fmt::format("grain {}: the friction is {}, but must be zero or positive", i, friction[i]));
  }
  if (!restitution.empty() && restitution.size() != n)
    throw InputError(
        fmt::format("grains: {} restitutions for {} grains; give none or one of each", restitution.size(), n));
  for (const double e : restitution)
    if (!(e >= 0 && e <= 1))
      throw InputError(fmt::format("grains: a restitution is {}, but must lie between 0 and 1", e));
  for (const GrainWall& w : walls)
    if (!(w.restitution >= 0 && w.restitution <= 1))
      throw InputError(
          fmt::format("grains: the restitution of a wall is {}, but must lie between 0 and 1", w.restitution));
  for (const GrainWall& w : walls)
    if (!(std::abs(w.normal.norm() - 1) < 1e-12) || !std::isfinite(w.offset) || !(w.friction >= 0) ||
        !std::isfinite(w.friction))
      throw InputError("grains: a wall needs a normal of length one, a finite offset and a friction of at least zero");
  for (const GrainWall& w : walls) {
    const bool plane = w.kind == GrainWall::Kind::plane, drum = w.kind == GrainWall::Kind::drum;
    if (!w.centre.allFinite() || !w.velocity.allFinite() || !std::isfinite(w.spin) || !std::isfinite(w.radius))
      throw InputError("grains: centre, radius, velocity and spin of a wall must be finite");
    if (!plane && !(w.radius > 0)) throw InputError("grains: a hole or a drum needs a positive radius");
    if (!plane && !w.velocity.isZero(0)) throw InputError("grains: only planes move; leave out 'velocity'");
    if (!drum && w.spin != 0) throw InputError("grains: only drums turn; leave out 'spin'");
    if (w.kind == GrainWall::Kind::orifice && !(std::abs(w.normal.dot(w.centre) - w.offset) <= 1e-9 * w.radius))
      throw InputError("grains: the centre of a hole lies in its plane, normal.centre = offset");
  }
  if (!gravity.allFinite()) throw InputError("grains: gravity is not finite");
}

void GrainOptions::validate() const {
  if (!(tolerance > 0 && tolerance < 1))
    throw InputError(fmt::format("grains: the tolerance is {}, but must lie between 0 and 1", tolerance));
  if (sweeps < 1) throw InputError(fmt::format("grains: {} sweeps; allow at least one", sweeps));
  if (threads < 1 || threads > 1024)
    throw InputError(fmt::format("grains: {} threads; 1 to 1024 are possible", threads));
  if (look < 0) throw InputError(fmt::format("grains: a look after every {} sweeps; 0 or more are possible", look));
  if (!std::isfinite(recover)) throw InputError("grains: 'recover' is not finite");
  if (device == GrainDevice::threads && precision == GrainPrecision::mixed)
    throw InputError("grains: mixed precision is for OpenCL devices; cores of the host sweep in double precision");
}

struct Grains::Work {
  GrainOptions options;
  Vector3d gravity;
  double largest = 0, smallest = HUGE_VAL, weight = 0;  // radii; mass of all
  std::size_t count = 0;
  std::unique_ptr<GrainBackend> backend;
  GrainReport report;
  Vector3d low, high;  // of the centres
  double fastest = 0, last_h = 0;
  double typical = 0;  // speed: the root of their mean square
  double momenta = 0;  // of the last step, as far as they cancel in a sum
  double walls = 0;    // speed of the fastest
  double faster = 1;   // than they would be without impulses, by so much grains were in the last steps
  mutable double transfer = 0;

  double band(double h, double speed) const { return 2 * h * std::max(speed, walls) + 2e-6 * largest; }
  GrainGrid grid(double band) const;
  /// Whether reactions are stretched besides: from so many layers on, whatever their direction.
  bool tall() const { return options.accelerate && (high - low).maxCoeff() > layers_of_a_heap * 2 * largest; }
  int solve(int contacts, double fall);
  void sweep(int sweeps);
  double t = 1, furthest = 1;  // of Nesterov's sequence, and where it is cut off
  std::vector<double> betas;
};

// As many cells as the grains need, a multiple of two blocks; in all no more than about eight per grain: the longest
// side gives way, and space is wound around what is left.
GrainGrid Grains::Work::grid(double band) const {
  GrainGrid g{};
  g.x = low[0], g.y = low[1], g.z = low[2];
  g.width = (2 * largest + band) * (1 + 1e-6);  // rounding must not put neighbours two cells apart
  // Blocks of many contacts do not fit into the local memory of devices, and are few for many threads.
  constexpr double crowded = 2;  // grains in a cell
  double room = 1;
  for (int k = 0; k < 3; ++k) room *= (high[k] - low[k]) / g.width + 1;
  const double dense = std::max(static_cast<double>(count) / room, std::pow(g.width / (2 * largest), 3));
  g.shift = dense > crowded ? 1 : 2;
  const int step = 2 << g.shift;
  const double most = std::max(8.0 * step * step * step, 8.0 * static_cast<double>(count));
  double n[3];
  for (int k = 0; k < 3; ++k)
    n[k] = step * std::max(1.0, std::ceil(std::min(1e6, (high[k] - low[k]) / g.width + 2) / step));
  while (n[0] * n[1] * n[2] > most) {
    double& longest = *std::max_element(n, n + 3);
    if (longest <= step) break;
    longest = std::max<double>(step, step * std::ceil(longest / (2 * step)));
  }
  g.nx = static_cast<int>(n[0]), g.ny = static_cast<int>(n[1]), g.nz = static_cast<int>(n[2]);
  g.bx = g.nx >> g.shift, g.by = g.ny >> g.shift, g.bz = g.nz >> g.shift;
  return g;
}

namespace {

class Stopwatch {
 public:
  explicit Stopwatch(GrainBackend& backend) : backend_(backend), start_(Clock::now()) {}
  /// Adds what has passed since the last call.
  void lap(double& seconds) {
    backend_.wait();
    const auto now = Clock::now();
    seconds += std::chrono::duration<double>(now - start_).count();
    start_ = now;
  }

 private:
  GrainBackend& backend_;
  Clock::time_point start_;
};

}  // namespace

// Accelerated: Nesterov's sequence, but no further on than so much, where sweeps in a fixed order and friction would
// not stand it. Begins anew where t is 1.
void Grains::Work::sweep(int sweeps) {
  if (!options.accelerate) return backend->sweep(sweeps);
  betas.clear();
  for (int k = 0; k < sweeps; ++k) {
    const double next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    betas.push_back(std::min(furthest, (t - 1) / next));
    t = next;
  }
  backend->sweep_further(betas);
}

// Sweeps until the residual is at the tolerance; how many.
int Grains::Work::solve(int contacts, double fall) {
  report.residual = 0;
  if (contacts == 0) return 0;
  Stopwatch watch(*backend);
  GrainSize size = backend->size();
  report.penetration = std::max(report.penetration, size.penetration);
  watch.lap(report.seconds.residual);
  // r = 0 is the solution: what the last step's reactions did is to be taken back
  if (size.q == 0) size.q = backend->residual();
  if (size.q == 0) return 0;
  int done = 0, more = options.look > 0 ? options.look : first_look;
  double before = HUGE_VAL;
  bool stretched = false, arrived = !tall();  // what the coarse level would still change is little
  int since = 0, interval = first_look;       // sweeps since reactions were stretched, and until they are again
  t = 1;
  furthest = furthest_at_first;
  while (done < options.sweeps) {
    more = std::min(more, options.sweeps - done);
    sweep(more);
    done += more;
    since += more;
    watch.lap(report.seconds.sweeps);
    report.residual = backend->residual() / size.q;
    watch.lap(report.seconds.residual);
    const bool good = report.residual <= options.tolerance;
    if (good && arrived) break;
    // Two thirds of the way that is left by the rate since the last look; not many at a time, unless it is far.
    const double rate = std::log(before / report.residual) / more, left = std::log(report.residual / options.tolerance);
    const double guess = std::isfinite(rate) && rate > 0 ? 2 * left / (3 * rate) : 0;
    const int most = guess > 4 * done ? done : done / 3;
    more = static_cast<int>(std::clamp<double>(std::ceil(guess), first_look, std::max(first_look, most)));
    if (report.residual > before) t = 1, furthest *= 0.9;
    before = report.residual;
    if (tall() && (good || since >= interval) && done < options.sweeps) {
      interval = stretched ? std::min(3 * interval / 2, most_between_stretches) : 2 * first_look;
      stretched = true;
      const GrainStretch change = backend->stretch();
      const double moved = std::sqrt(change.energy / weight);
      const double part = typical > fall ? little_falling : little_moving;
      arrived = change.largest <= little || moved <= std::max(little * fall, part * typical);
      ++report.stretches;
      watch.lap(report.seconds.stretches);
      if (good && arrived) {
        report.residual = backend->residual() / size.q;
        watch.lap(report.seconds.residual);
        if (report.residual <= options.tolerance) break;
      }
      since = 0;
      t = 1;
      before = HUGE_VAL;
      more = 2 * first_look;
    }
    if (tall()) more = std::min(more, interval - since);
    if (options.look > 0) more = options.look;
  }
  report.sweeps += done;
  report.updates += static_cast<long>(done) * contacts;
  return done;
}

Grains::Grains(const GrainScene& scene, const GrainOptions& options) : work_(std::make_unique<Work>()) {
  scene.validate();
  options.validate();
  Work& w = *work_;
  w.options = options;
  w.gravity = scene.gravity;
  for (const GrainWall& wall : scene.walls) w.walls = std::max(w.walls, wall.velocity.norm());
  w.count = scene.radius.size();
  for (std::size_t i = 0; i < w.count; ++i) {
    w.largest = std::max(w.largest, scene.radius[i]);
    w.smallest = std::min(w.smallest, scene.radius[i]);
    w.weight += scene.mass[i];
  }
  w.backend = options.device == GrainDevice::threads ? grains_on_host(scene, options.threads)
                                                     : grains_on_device(scene, options.precision, options.profile);
  w.report.device = w.backend->name();
  w.report.precision = options.precision == GrainPrecision::mixed ? "mixed" : "double";
}
Grains::~Grains() = default;
Grains::Grains(Grains&&) noexcept = default;
Grains& Grains::operator=(Grains&&) noexcept = default;

void Grains::set(const GrainState& state) {
  Work& w = *work_;
  if (state.position.size() != 3 * w.count || state.velocity.size() != 3 * w.count ||
      state.spin.size() != 3 * w.count || state.rotation.size() != 4 * w.count)
    throw InputError(
        fmt::format("grains: a state of {} grains has 3 positions, velocities and spins and 4 numbers of a "
                    "rotation for each; this one has {}, {}, {} and {} numbers",
                    w.count, state.position.size(), state.velocity.size(), state.spin.size(), state.rotation.size()));
  const auto start = Clock::now();
  w.low.setConstant(HUGE_VAL);
  w.high.setConstant(-HUGE_VAL);
  w.fastest = 0;
  double moving = 0;
  for (std::size_t i = 0; i < w.count; ++i) {
    const Vector3d x(state.position.data() + 3 * i), v(state.velocity.data() + 3 * i), s(state.spin.data() + 3 * i);
    if (!x.allFinite() || !v.allFinite() || !s.allFinite())
      throw InputError(fmt::format("grain {}: its position, velocity or spin is not finite", i));
    w.low = w.low.cwiseMin(x);
    w.high = w.high.cwiseMax(x);
    w.fastest = std::max(w.fastest, v.norm());
    moving += v.squaredNorm();
  }
  w.typical = std::sqrt(moving / static_cast<double>(w.count));
  w.momenta = w.weight * w.typical;
  w.backend->load(state);
  w.transfer += std::chrono::duration<double>(Clock::now() - start).count();
}

void Grains::get(GrainState& state) const {
  const auto start = Clock::now();
  work_->backend->save(state);
  work_->transfer += std::chrono::duration<double>(Clock::now() - start).count();
}

void Grains::forget() { work_->last_h = 0; }

const GrainReport& Grains::report() const {
  work_->report.seconds.transfer = work_->transfer;
  work_->report.device_bytes = work_->backend->bytes();
  return work_->report;
}

GrainContacts Grains::contacts() const {
  GrainContacts list;
  if (work_->report.steps > 0) work_->backend->contacts(list);
  return list;
}

std::vector<GrainKernel> Grains::kernels() const { return work_->backend->kernels(); }
double Grains::sweep_bytes() const {
  return work_->report.steps > 0 ? work_->backend->sweep_bytes(work_->options.accelerate) : 0;
}
double Grains::copy_rate(double megabytes) const { return work_->backend->copy_rate(megabytes); }

std::string Grains::step(double h) {
  Work& w = *work_;
  if (!(h > 0) || !std::isfinite(h))
    return "a motion with contacts cannot be followed backwards in time; take a positive step";
  GrainReport& report = w.report;
  const Vector3d fall = h * w.gravity;
  const double per_step = 2 * grains_pushed_out_per_step * w.smallest;
  const double speed = w.options.recover < 0 ? per_step / h : w.options.recover;
  const double before = report.penetration;
  double longer = w.last_h > 0 ? h / w.last_h : 0;
  const double without_impulses = w.band(h, w.fastest + fall.norm());
  double reach = w.faster * without_impulses;
  GrainSums sums;
  int contacts = 0;
  for (int look = 0;; ++look) {
    Stopwatch watch(*w.backend);
    contacts = w.backend->search(w.grid(reach), reach, fall);
    watch.lap(report.seconds.search);
    w.backend->assemble(h, speed, longer);
    watch.lap(report.seconds.assembly);
    report.penetration = 0;
    w.solve(contacts, fall.norm());
    double residual = report.residual;
    // Penetration has been pushed out by positions: velocities as if there were none.
    const double way = h * w.fastest;
    const double deep = std::max(2e-9 * w.largest, 0.01 * per_step + way * way / (4 * w.smallest));
    if (w.options.recover < 0 && report.penetration > deep) {
      w.backend->stop_pushing(deep, h, speed);
      w.solve(contacts, fall.norm());
      residual = std::max(residual, report.residual);
    }
    report.residual = residual;
    Stopwatch rest(*w.backend);
    sums = w.backend->sums(fall);
    rest.lap(report.seconds.residual);
    const double needed = w.band(h, sums.fastest);
    if (!std::isfinite(sums.fastest) || std::isnan(residual))
      return "the motion of the grains is not finite any more; a shorter step may help";
    // Impulses may have made grains faster than expected: who else could they have reached? To look for them at once is
    // cheaper than to solve once more.
    w.faster = std::clamp(1.1 * needed / without_impulses, std::max(1.0, 0.9 * w.faster), 2.0);
    if (!(needed > reach) || look == most_grain_looks) break;
    reach = 1.5 * needed;
    w.backend->again();
    longer = 1;
  }
  Stopwatch watch(*w.backend);
  w.backend->move(h);
  watch.lap(report.seconds.motion);
  if (report.steps % 16 == 0) report.colours = std::max(report.colours, w.backend->colours());
  w.last_h = h;
  w.fastest = sums.fastest;
  w.typical = std::sqrt(sums.moving / static_cast<double>(w.count));
  w.low = sums.low;
  w.high = sums.high;
  ++report.steps;
  report.contacts = contacts;
  report.loaded = static_cast<int>(sums.loaded);
  report.penetration = std::max(before, report.penetration);
  report.largest_residual = std::max(report.largest_residual, report.residual);
  if (!(report.residual <= w.options.tolerance)) ++report.unconverged;
  // Reactions begin with those of the last step, so that its momenta cancel in this one, too.
  const double given = w.weight * fall.norm();
  const double momenta = std::max({given, sums.walls.norm(), w.weight * w.typical});
  const double scale = std::max(momenta, std::exchange(w.momenta, momenta));
  if (scale > 0) report.momentum_balance = std::max(report.momentum_balance, (sums.gained - sums.walls).norm() / scale);
  report.carried = given > 0 ? -sums.walls.dot(fall) / (given * fall.norm()) : 0;
  report.normal_work += sums.normal_work;
  report.friction_work += sums.friction_work;
  return {};
}

}  // namespace hinge
