#include "method/nonsmooth/grain_stepper.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/multibody_system.hpp"
#include "hinge/error.hpp"
#include "hinge/grains.hpp"
#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;

[[noreturn]] void refuse(const std::string& cause) {
  throw UnsuitableMethod(fmt::format(
      "device = \"threads\" and \"opencl\" are for particles in space between fixed planes: {}; leave 'device' out",
      cause));
}

void refuse_options(const MoreauJeanOptions& o) {
  if (o.gap != GapTreatment::linearised) refuse("gap must be \"linearised\"");
  if (o.solving.friction != FrictionModel::coulomb) refuse("cone must be \"coulomb\"");
  if (!o.solving.may_sweep()) refuse(fmt::format("the solver is {}, not {}", plain_sweeps, o.solving.solver));
}

void refuse_colliders(const BodyTable& table, std::size_t grains) {
  std::vector<char> seen(grains, 0);
  for (const Collider& c : table.colliders) {
    if (c.group != 1 || c.collides_with != 0xffffffffu) refuse(fmt::format("{} has a group of its own", c.name));
    if (c.body < 0 && c.shape.kind == Shape::Kind::plane) continue;
    if (c.body < 0) refuse(fmt::format("{} is at rest and no plane", c.name));
    if (c.shape.kind != Shape::Kind::sphere || !c.position.isZero(0)) refuse(fmt::format("{} is no sphere", c.name));
    if (std::exchange(seen[at(c.body)], 1)) refuse(fmt::format("{} is the second shape of its body", c.name));
  }
  if (std::find(seen.begin(), seen.end(), 0) != seen.end()) refuse("a particle has no shape");
}

GrainScene scene_of(const System& system) {
  const auto* whole = dynamic_cast<const MultibodySystem*>(&system);
  if (!whole) refuse("this system has no particles");
  const BodyTable& table = whole->table();
  if (table.dimension != 3) refuse("these move in the plane");
  if (!table.frames.empty()) refuse("there are bodies that are no particles");
  if (system.ng() > 0 || table.joint_contacts) refuse("there are joints");
  if (!table.ignored.empty() || !table.apart.empty()) refuse("there are bodies that do not touch each other");
  if (system.structure().velocity_constraints > 0) refuse("there are velocity constraints");
  const std::size_t n = table.places.size();
  refuse_colliders(table, n);
  GrainScene scene;
  scene.gravity = table.gravity;
  scene.radius.resize(n);
  scene.friction.resize(n);
  scene.restitution.resize(n);
  for (const Collider& c : table.colliders) {
    if (c.body >= 0) {
      scene.radius[at(c.body)] = c.shape.radius;
      scene.friction[at(c.body)] = c.friction;
      scene.restitution[at(c.body)] = c.restitution;
    } else {
      const Vector3d normal = (c.rotation * c.shape.normal).normalized();
      scene.walls.push_back({normal, normal.dot(c.position), c.friction});
      scene.walls.back().restitution = c.restitution;
    }
  }
  const auto mass = system.evaluation({Quantity::momentum_z});
  const std::vector<double> y(at(system.ny()), 0.0), z(at(system.nz()), 0.0), psi(1, 0.0);
  mass->at(0, y.data(), z.data(), psi.data());
  const Pattern& pattern = system.pattern(Quantity::momentum_z);
  const auto diagonal = [&](int i) { return (*mass)[Quantity::momentum_z][pattern.row_start[at(i)]]; };
  for (const BodyPlace& p : table.places) {
    scene.mass.push_back(diagonal(p.v));
    scene.moment.push_back(diagonal(p.spin));
  }
  return scene;
}

GrainOptions options_of(const MoreauJeanOptions& o) {
  GrainOptions options;
  options.device = o.device == ContactDevice::opencl ? GrainDevice::opencl : GrainDevice::threads;
  const bool mixed = options.device == GrainDevice::opencl && o.precision == ContactPrecision::mixed;
  options.precision = mixed ? GrainPrecision::mixed : GrainPrecision::full;
  options.threads = o.solving.threads;
  if (o.solving.tolerance > 0) options.tolerance = o.solving.tolerance;
  options.recover = o.recover;
  return options;
}

class GrainStepper final : public Stepper {
 public:
  GrainStepper(std::shared_ptr<const System> system, const MoreauJeanOptions& options)
      : system_(std::move(system)),
        table_(*bodies_of(*system_)),
        threads_(options.solving.threads),
        grains_(scene_of(*system_), options_of(options)) {
    const std::size_t n = table_.places.size();
    for (auto* v : {&state_.position, &state_.velocity, &state_.spin}) v->resize(3 * n);
    state_.rotation.resize(4 * n);
    y_.assign(at(system_->ny()), NAN);
    z_.assign(at(system_->nz()), NAN);
  }

  StepResult step(State& state, double h) override;
  /// Whatever was remembered is forgotten, so that a run that is resumed here has the bits of one that goes on.
  void reset() override {
    grains_.forget();
    y_[0] = NAN;
  }
  const ContactStatistics* contact_statistics() const override { return &statistics_; }
  std::vector<std::string> remarks() const override;

 private:
  void take(const State& state);
  void give(State& state);
  void count();

  std::shared_ptr<const System> system_;
  const BodyTable& table_;
  int threads_;
  Grains grains_;
  GrainState state_;
  std::vector<double> y_, z_;  // what the last step led to
  ContactStatistics statistics_;
};

// Nothing where the state is what the last step led to.
void GrainStepper::take(const State& state) {
  if (state.y == y_ && state.z == z_) return;
  parallel_ranges(static_cast<int>(table_.places.size()), threads_, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const BodyPlace& p = table_.places[at(i)];
      const BodyPose pose = table_.pose(state.y.data(), at(i));
      const Vector3d spin = pose.rotation * Vector3d(state.z.data() + p.spin);
      std::copy_n(state.y.data() + p.x, 3, state_.position.data() + 3 * i);
      std::copy_n(state.y.data() + p.rotation, 4, state_.rotation.data() + 4 * i);
      std::copy_n(state.z.data() + p.v, 3, state_.velocity.data() + 3 * i);
      std::copy_n(spin.data(), 3, state_.spin.data() + 3 * i);
    }
  });
  grains_.set(state_);
}

void GrainStepper::give(State& state) {
  grains_.get(state_);
  parallel_ranges(static_cast<int>(table_.places.size()), threads_, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const BodyPlace& p = table_.places[at(i)];
      std::copy_n(state_.position.data() + 3 * i, 3, state.y.data() + p.x);
      std::copy_n(state_.rotation.data() + 4 * i, 4, state.y.data() + p.rotation);
      std::copy_n(state_.velocity.data() + 3 * i, 3, state.z.data() + p.v);
      const Vector3d spin =
          table_.pose(state.y.data(), at(i)).rotation.conjugate() * Vector3d(state_.spin.data() + 3 * i);
      std::copy_n(spin.data(), 3, state.z.data() + p.spin);
    }
  });
  std::copy(state.y.begin(), state.y.end(), y_.begin());
  std::copy(state.z.begin(), state.z.end(), z_.begin());
}

StepResult GrainStepper::step(State& state, double h) {
  ++counters_.steps;
  try {
    take(state);
    if (const std::string trouble = grains_.step(h); !trouble.empty()) return {false, trouble};
  } catch (const InputError& e) {
    return {false, e.what()};
  }
  give(state);
  state.t += h;
  count();
  return {};
}

void GrainStepper::count() {
  const GrainReport& r = grains_.report();
  ContactStatistics& s = statistics_;
  counters_.iterations = r.steps;
  s.contacts = r.contacts;
  s.most_contacts = std::max(s.most_contacts, r.contacts);
  s.loaded = r.loaded;
  s.penetration = r.penetration;
  s.complementarity = r.largest_residual;
  s.impact_loss = -r.normal_work;
  s.friction_loss = -r.friction_work;
  s.momentum_balance = r.momentum_balance;
  s.solves = r.steps;
  s.solver_iterations = r.sweeps;
  s.unconverged = r.unconverged;
  s.search_seconds = r.seconds.search;
  s.assembly_seconds = r.seconds.assembly;
  s.solver_seconds = r.seconds.sweeps + r.seconds.stretches + r.seconds.residual;
  s.solver = plain_sweeps;
}

std::vector<std::string> GrainStepper::remarks() const {
  const GrainReport& r = grains_.report();
  const GrainSeconds& t = r.seconds;
  if (r.steps == 0) return {};
  std::vector<std::string> list;
  list.push_back(
      fmt::format("contacts on {} in {} precision: residual {:.1e} in the last step, momentum balance {:.1e}, the "
                  "walls carry {:.4g} of the weight",
                  r.device, r.precision, r.residual, r.momentum_balance, r.carried));
  const double all = std::max(t.all(), 1e-9);
  list.push_back(fmt::format(
      "time of {:.3g} s: search {:.0f} %, assembly {:.0f} %, sweeps {:.0f} %, stretches {:.0f} %, residual {:.0f} %, "
      "motion {:.0f} %, transfer {:.0f} %; {:.3g} contact updates per second",
      all, 100 * t.search / all, 100 * t.assembly / all, 100 * t.sweeps / all, 100 * t.stretches / all,
      100 * t.residual / all, 100 * t.motion / all, 100 * t.transfer / all,
      t.sweeps > 0 ? static_cast<double>(r.updates) / t.sweeps : 0));
  if (r.unconverged > 0)
    list.push_back(
        fmt::format("{} of {} contact problems were not solved to the tolerance asked for (residual up to {:.1e})",
                    r.unconverged, r.steps, r.largest_residual));
  return list;
}

}  // namespace

std::unique_ptr<Stepper> make_grain_stepper(std::shared_ptr<const System> system, const MoreauJeanOptions& options) {
  refuse_options(options);
  return std::make_unique<GrainStepper>(std::move(system), options);
}

}  // namespace hinge
