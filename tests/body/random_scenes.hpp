// Random scenes of bodies, and a run that recomputes in every step what the step promises, from positions, velocities
// and impulses alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::random_scenes {

using Eigen::Quaterniond;
using Eigen::Vector3d;

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct SceneOptions {
  int dimension = 2;
  std::uint64_t seed = 1;
  bool friction = false;   ///< every body its own coefficient
  double restitution = 0;  ///< of all bodies
  bool boxes = false;      ///< every other body
  bool joints = false;     ///< pairs of bodies, and one that hangs
  double gravity = 9.81;   //
  int bodies = 8;          //
  double speed = 1;        ///< at the start, at most, along each axis
  double height = 0.3;     ///< of the lowest layer
  bool apart = false;      ///< in one layer, so that nothing but the floor is met
};

struct Scene {
  std::shared_ptr<const System> system;
  State start;
  int dimension;
  double weight;
};

/// Balls (and boxes) in layers above a floor, between walls.
inline Scene random_scene(const SceneOptions& o) {
  RandomNumbers random(o.seed);
  const auto number = [&](double a, double b) { return a + (b - a) * random.uniform(); };
  const bool flat = o.dimension == 2;
  const Vector3d up = flat ? Vector3d(0, 1, 0) : Vector3d(0, 0, 1);
  Multibody scene(o.dimension);
  scene.gravity(-o.gravity * up);
  const double width = o.apart ? 0.4 * o.bodies + 20 : 0.8;
  const auto wall = [&](const char* name, const Vector3d& normal, const Vector3d& position) {
    scene.body({.name = name,
                .shapes = {plane(normal)},
                .position = position,
                .fixed = true,
                .friction = o.friction ? 0.4 : 0.0,
                .restitution = o.restitution});
  };
  wall("floor", up, Vector3d::Zero());
  wall("left", {1, 0, 0}, {-width / 2, 0, 0});
  wall("right", {-1, 0, 0}, {width / 2, 0, 0});
  if (!flat) wall("front", {0, 1, 0}, {0, -width / 2, 0}), wall("back", {0, -1, 0}, {0, width / 2, 0});
  double weight = 0;
  Vector3d common = Vector3d::Zero();
  const int across = o.apart ? o.bodies : 2, deep = flat || o.apart ? 1 : 2;
  std::vector<Vector3d> places;
  for (int k = 0; k < o.bodies; ++k) {
    const int i = k % across, j = k / across % deep, layer = k / (across * deep);
    Vector3d x = Vector3d(0.4 * (i - (across - 1) / 2.0), flat ? 0 : 0.4 * (j - (deep - 1) / 2.0), 0) +
                 (o.height + 0.4 * layer) * up;
    for (int c = 0; c < o.dimension; ++c) x(c) += number(-0.04, 0.04);
    places.push_back(x);
    const double mass = number(0.5, 2), mu = number(0.1, 0.9);
    const bool box_shaped = o.boxes && k % 2 == 1;
    Vector3d velocity = Vector3d::Zero(), spin = Vector3d::Zero();
    for (int c = 0; c < o.dimension; ++c) velocity(c) = number(-o.speed, o.speed);
    if (o.apart) velocity = velocity.dot(up) * up;
    for (int c = flat ? 2 : 0; c < 3; ++c) spin(c) = number(-3, 3);
    if (o.joints) {  // bodies that are joined move together at first
      if (k % 2 == 0) common = velocity;
      velocity = k == o.bodies - 1 ? Vector3d(Vector3d::Zero()) : common;
      spin.setZero();
    }
    const Quaterniond pose = flat ? Quaterniond(Eigen::AngleAxisd(number(-1, 1), Vector3d::UnitZ()))
                                  : Quaterniond(1.1, number(-1, 1), number(-1, 1), number(-1, 1)).normalized();
    scene.body({.name = "b" + std::to_string(k),
                .mass = mass,
                .shapes = {box_shaped ? box({number(0.1, 0.18), number(0.1, 0.18), number(0.1, 0.18)})
                                      : sphere(number(0.08, 0.15))},
                .position = x,
                .rotation = pose,
                .velocity = velocity,
                .angular_velocity = spin,
                .friction = o.friction ? mu : 0.0,
                .restitution = o.restitution});
    weight += o.gravity * mass;
  }
  if (o.joints) {
    const auto body = [](int k) { return "b" + std::to_string(k); };
    for (int k = 0; k + 3 < o.bodies; k += 2)
      scene.joint({.kind = k % 4 == 0 ? JointKind::spherical : JointKind::rod,
                   .a = body(k),
                   .b = body(k + 1),
                   .point = k % 4 == 0 ? Vector3d((places[at(k)] + places[at(k + 1)]) / 2) : places[at(k)],
                   .point_b = k % 4 == 0 ? std::optional<Vector3d>{} : places[at(k + 1)]});
    scene.joint({.kind = JointKind::revolute,
                 .b = body(o.bodies - 1),
                 .point = places.back() + 0.3 * up,
                 .axis = flat ? Vector3d(0, 0, 1) : Vector3d(0, 1, 0)});
  }
  const Start start = scene.start();
  Scene made{scene.build(), {0, start.position, start.velocity, {}}, o.dimension, weight};
  made.start.psi.assign(at(made.system->npsi()), 0.0);
  return made;
}

/// What the normal row of a contact promises for the end of the step.
enum class Promise {
  velocity,    ///< u1 + e u0 of contacts that were closed, or about to be
  linearised,  ///< gap + h u1
  nonlinear,   ///< gap(y1)
  schatzman,   ///< (1 + e) gap((y1 + e y-1)/(1 + e))
  two_levels,  ///< gap(y1), and the velocity form where there is an impulse
};

struct Law {
  Promise promise = Promise::velocity;
  FrictionModel friction = FrictionModel::coulomb;
  double theta = 0.5, activation = 0.5;
};

/// The largest violations so far. Velocities are relative to the fastest one (or 1), impulses to the largest.
struct Violations {
  double approach = 0;     ///< - of what is promised not to be negative
  double signorini = 0;    ///< product of impulse and what is promised
  double cone = 0;         //
  double pull = 0;         ///< negative normal impulse
  double dissipation = 0;  ///< r_T.u_T + mu r_N |u_T|; convexified: r.u
  double momentum = 0;     ///< M (z1 - z0) - h f - H^T r - C^T s, relative to its largest part
  double joint = 0, joint_rate = 0;
  double gap = 1;           ///< the smallest one
  double energy_rise = -1;  ///< in a step, the largest
  double work_error = 0;    ///< theta = 1/2: E1 - E0 - r.(u0 + u1)/2
  long loaded = 0, sliding = 0;
};

class WatchedRun {
 public:
  WatchedRun(const Scene& scene, const MethodChoice& method, const Law& law)
      : scene_(scene), law_(law), stepper_(method.bind(scene.system, {})), finder_(scene.system->contact_finder()) {
    using Q = Quantity;
    quantities_ = scene.system->evaluation(
        {Q::energy, Q::momentum_z, Q::acceleration_force, Q::constraint, Q::constraint_rate, Q::constraint_rate_z});
    state = scene.start;
    energy = measure(state).energy;
  }

  StepResult step(double h) {
    const State old = state;
    const StepResult result = stepper_->step(state, h);
    if (!result) return result;
    const Measured m0 = measure(old), m1 = measure(state);
    inspect(old, m0, m1, h);
    earlier_ = old.y;
    ++steps_;
    return result;
  }

  State state;
  Violations worst;
  double energy = 0;
  /// Vertical impulse of what is fixed on the bodies in the last step, over its length.
  double carried = 0;
  const Stepper& stepper() const { return *stepper_; }

 private:
  struct Measured {
    double energy;
    std::vector<double> mass, force, g, rate, G;
  };

  Measured measure(const State& s) {
    using Q = Quantity;
    quantities_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    const auto copy = [&](Q q, std::size_t n) {
      const double* from = (*quantities_)[q];
      return std::vector<double>(from, from + n);
    };
    const System& system = *scene_.system;
    return {*(*quantities_)[Q::energy],
            copy(Q::momentum_z, system.pattern(Q::momentum_z).entries()),
            copy(Q::acceleration_force, at(system.nz())),
            copy(Q::constraint, at(system.ng())),
            copy(Q::constraint_rate, at(system.ng())),
            copy(Q::constraint_rate_z, system.pattern(Q::constraint_rate_z).entries())};
  }

  static Quaterniond rotation(const State& s, int body) {
    const double* q = s.y.data() + 7 * body + 3;
    return Quaterniond(q[0], q[1], q[2], q[3]).normalized();
  }

  // R0^T ((c - x) x d), where d is the row over the body's velocity, three columns before
  static double row_at_start(const ContactList& l, int i, int k, int row, const State& old) {
    const int body = l.column[at(k)] / 6, axis = l.column[at(k)] % 6 - 3, first = k - axis - 3;
    Vector3d arm, d;
    for (int j = 0; j < 3; ++j) {
      arm(j) = l.point[at(3 * i + j)] - old.y[at(7 * body + j)];
      d(j) = l.H[at((first + j) * 3 + row)];
    }
    return (rotation(old, body).conjugate() * arm.cross(d))(axis);
  }

  static void raise(double& worst, double now) {
    if (!(now <= worst)) worst = now;  // also what is no number
  }

  void inspect(const State& old, const Measured& m0, const Measured& m1, double h) {
    const ContactImpulses& c = *stepper_->contact_impulses();
    const ContactList& l = c.contacts;
    const int d = l.dimension;
    const bool schatzman = law_.promise == Promise::schatzman;
    // of Paoli and Schatzman: differences of positions (in the plane)
    std::vector<double> z0 = old.z, z1 = state.z;
    if (schatzman)
      for (std::size_t k = 0; k < z1.size(); ++k) {
        z1[k] = (state.y[k] - old.y[k]) / h;
        if (steps_ > 0) z0[k] = (old.y[k] - earlier_[k]) / h;
        if (steps_ == 0) z0[k] = old.z[k] - h / 2 * m0.force[k] / m0.mass[k];
      }
    // Bodies turn by w1, less half of what the spin changes by itself: E(h/2 w) J w = J w0 is the w of that.
    std::vector<double> displacement = z1;
    for (int s = 3; scene_.dimension == 3 && s < std::ssize(z1); s += 6) {
      const auto J = [&](int i) {
        return m1.mass[at(scene_.system->pattern(Quantity::momentum_z).row_start[at(s + i)])];
      };
      const Vector3d w0(z0[at(s)], z0[at(s + 1)], z0[at(s + 2)]), moments(J(0), J(1), J(2)),
          L = moments.cwiseProduct(w0);
      const auto after = [&](const Vector3d& w, double time) -> Vector3d {
        if (w.norm() == 0) return w;
        return (Eigen::AngleAxisd(-time * w.norm(), w.normalized()) * L).cwiseQuotient(moments);
      };
      Vector3d w = w0;
      for (int k = 0; k < 60; ++k) w = after(w, h / 2);
      for (int k = 0; k < 3; ++k) displacement[at(s + k)] -= after(w, h)(k) - w(k);
    }
    double fastest = 1, largest = 1e-300;
    for (const double z : z1) fastest = std::max(fastest, std::abs(z));
    for (const double r : c.impulse) largest = std::max(largest, std::abs(r));

    // gaps at the end
    ContactList near;
    finder_->find(state.t, state.y.data(), 1e-3, near);
    for (const double g : near.gap) worst.gap = std::min(worst.gap, g);
    std::vector<double> promised(at(l.count));
    if (law_.promise == Promise::nonlinear || law_.promise == Promise::schatzman) {
      finder_->find(old.t, old.y.data(), 10, near);
      std::vector<double> y = state.y;
      const double e = l.count > 0 ? l.restitution[0] : 0;  // the same for all
      if (schatzman && steps_ > 0)
        for (std::size_t k = 0; k < y.size(); ++k) y[k] = (y[k] + e * earlier_[k]) / (1 + e);
      finder_->gaps(state.t, y.data(), l, promised.data());
      for (double& g : promised) g *= (schatzman ? 1 + e : 1) / h;
    }

    std::vector<double> impulse(z1.size(), 0.0);
    double work = 0;
    carried = 0;
    for (int i = 0; i < l.count; ++i) {
      const double* r = c.impulse.data() + i * d;
      double u0[3] = {}, u1[3] = {}, force[3] = {}, moved = 0;  // moved: by what positions change
      for (int k = l.first[at(i)]; k < l.first[at(i) + 1]; ++k)
        for (int row = 0; row < d; ++row) {
          const double H = l.H[at(k * d + row)];
          u1[row] += H * z1[at(l.column[at(k)])];
          // rows over spins in space are in the axes of the end
          const double H0 = d == 3 && l.column[at(k)] % 6 >= 3 ? row_at_start(l, i, k, row, old) : H;
          u0[row] += H0 * z0[at(l.column[at(k)])];
          if (row == 0) moved += H0 * displacement[at(l.column[at(k)])];
          impulse[at(l.column[at(k)])] += H0 * r[row];
        }
      for (int row = 0; row < d; ++row) {
        work += r[row] * (u0[row] + u1[row]) / 2;
        for (int k = 0; k < 3; ++k) force[k] += r[row] * l.frame[at(9 * i + 3 * row + k)];
      }
      const int columns = l.first[at(i) + 1] - l.first[at(i)];
      if (columns == (d == 2 ? 3 : 6)) carried += force[d - 1] / h;

      const double e = l.restitution[at(i)], mu = l.friction[at(i)];
      bool promises = true;
      double n = 0;
      switch (law_.promise) {
        case Promise::velocity:
          promises = r[0] > 0 || l.gap[at(i)] + law_.activation * h * u0[0] <= 0;
          n = u1[0] + e * u0[0];
          break;
        case Promise::linearised: n = moved + l.gap[at(i)] / h; break;
        case Promise::nonlinear: n = promised[at(i)]; break;
        case Promise::schatzman:
          promises = steps_ > 0;
          n = promised[at(i)];
          break;
        case Promise::two_levels:
          promises = r[0] > 0;
          n = u1[0] + e * u0[0];
          break;
      }
      raise(worst.pull, -r[0] / largest);
      const double t = std::hypot(r[1], d == 3 ? r[2] : 0), slip = std::hypot(u1[1], u1[2]);
      raise(worst.cone, (t - mu * r[0]) / largest);
      if (!promises) continue;
      const double tangential = r[1] * u1[1] + (d == 3 ? r[2] * u1[2] : 0);
      worst.loaded += r[0] > 1e-9 * largest;
      worst.sliding += r[0] > 1e-9 * largest && mu > 0 && slip > 1e-6;
      if (law_.friction == FrictionModel::convexified) {
        raise(worst.approach, (mu * slip - n) / fastest);
        raise(worst.signorini, std::abs(r[0] * n + tangential) / (largest * fastest));
      } else {
        raise(worst.approach, -n / fastest);
        raise(worst.signorini, std::abs(r[0] * n) / (largest * fastest));
        if (law_.friction == FrictionModel::coulomb || d == 2)
          raise(worst.dissipation, std::abs(tangential + mu * r[0] * slip) / (largest * fastest));
      }
    }

    // M (z1 - z0) - h ((1 - theta) f0 + theta f1) - H^T r - C^T s
    using Q = Quantity;
    const System& system = *scene_.system;
    const Pattern &mass = system.pattern(Q::momentum_z), &joints = system.pattern(Q::constraint_rate_z);
    std::vector<double> defect(z1.size());
    double scale = 1e-300;
    for (int i = 0; i < mass.rows; ++i) {
      double p = 0;
      for (int k = mass.row_start[at(i)]; k < mass.row_start[at(i) + 1]; ++k)
        p += m1.mass[at(k)] * (z1[at(mass.column[at(k)])] - z0[at(mass.column[at(k)])]);
      const double f =
          schatzman ? h * m0.force[at(i)] : h * ((1 - law_.theta) * m0.force[at(i)] + law_.theta * m1.force[at(i)]);
      defect[at(i)] = p - f - impulse[at(i)];
      scale = std::max({scale, std::abs(p), std::abs(f), std::abs(impulse[at(i)])});
    }
    // Spins in space: angular momentum along the axes of the end, with torques alone in the place of the forces.
    for (int s = 3; scene_.dimension == 3 && s < std::ssize(z1); s += 6) {
      Vector3d start, end;
      for (int k = 0; k < 3; ++k) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const auto J = [&](int i) { return m1.mass[at(mass.row_start[at(s + i)])]; };
        const double gyroscopic0 = (J(a) - J(b)) * z0[at(s + a)] * z0[at(s + b)],
                     gyroscopic1 = (J(a) - J(b)) * z1[at(s + a)] * z1[at(s + b)];
        start(k) =
            J(k) * z0[at(s + k)] + h * (1 - law_.theta) * (m0.force[at(s + k)] - gyroscopic0) + impulse[at(s + k)];
        end(k) = J(k) * z1[at(s + k)] - h * law_.theta * (m1.force[at(s + k)] - gyroscopic1);
      }
      const Vector3d turned = rotation(state, s / 6).conjugate() * (rotation(old, s / 6) * start);
      for (int k = 0; k < 3; ++k) {
        defect[at(s + k)] = end(k) - turned(k);
        scale = std::max(scale, std::abs(end(k)));
      }
    }
    for (int j = 0; j < joints.rows; ++j)
      for (int k = joints.row_start[at(j)]; k < joints.row_start[at(j) + 1]; ++k) {
        const double C = (1 - law_.theta) * m0.G[at(k)] + law_.theta * m1.G[at(k)];
        defect[at(joints.column[at(k)])] += C * h * state.psi[at(j)];
        scale = std::max(scale, std::abs(C * h * state.psi[at(j)]));
      }
    for (const double x : defect) raise(worst.momentum, std::abs(x) / scale);

    for (const double g : m1.g) raise(worst.joint, std::abs(g));
    for (const double g : m1.rate) raise(worst.joint_rate, std::abs(g));
    worst.energy_rise = std::max(worst.energy_rise, m1.energy - m0.energy);
    raise(worst.work_error, std::abs(m1.energy - m0.energy - work));
    energy = m1.energy;
  }

  Scene scene_;
  Law law_;
  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<ContactFinder> finder_;
  std::unique_ptr<Evaluation> quantities_;
  std::vector<double> earlier_;
  long steps_ = 0;
};

}  // namespace hinge::random_scenes
