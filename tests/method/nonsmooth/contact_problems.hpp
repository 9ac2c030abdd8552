// Mechanisms with contacts, and their exact solutions. Numbers of an independent implementation:
// tests/data/nonsmooth_steps.json.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "method/goldens.hpp"

namespace hinge::contact_problems {

inline constexpr double gravity = 9.81;

inline const goldens::json& golden() {
  static const goldens::json data = goldens::read("nonsmooth_steps.json");
  return data;
}

struct Scene {
  std::shared_ptr<const System> system;
  Start start;
};

inline Scene ball(double restitution) {
  Lagrangian l;
  const Expression y = l.coordinate("y"), v = l.velocity(y);
  l.kinetic(0.5 * v * v);
  l.potential(gravity * y);
  l.unilateral(y, {.name = "floor", .restitution = restitution});
  return {l.build(), {.position = {1}, .velocity = {0}}};
}

/// The ball of height 1 at time t.
inline double ball_height(double restitution, double t) {
  const double first = std::sqrt(2 / gravity);
  if (t <= first) return 1 - gravity * t * t / 2;
  double begin = first, speed = gravity * first * restitution;
  while (speed > 1e-14) {
    const double flight = 2 * speed / gravity;
    if (t <= begin + flight) return (t - begin) * (speed - gravity * (t - begin) / 2);
    begin += flight;
    speed *= restitution;
  }
  return 0;
}

inline Scene oscillator() {
  Lagrangian l;
  const Expression x = l.coordinate("x"), v = l.velocity(x);
  l.kinetic(0.5 * v * v);
  l.potential(2.0 * (x - 0.25) * (x - 0.25));
  l.unilateral(x, {.name = "stop", .restitution = 0.8});
  return {l.build(), {.position = {2}, .velocity = {0}}};
}

/// x'' = -4 (x - 1/4), x >= 0, restitution 0.8, from rest at 2.
inline double oscillator_position(double t) {
  const double omega = 2, centre = 0.25, e = 0.8;
  double begin = 0, a = 1.75, b = 0;  // x = centre + a cos + b sin of omega (t - begin)
  for (;;) {
    const double amplitude = std::hypot(a, b), phase = std::atan2(b, a);
    // next time with cos(omega s - phase) = -centre / amplitude and x falling
    const double angle = std::acos(-centre / amplitude);
    double s = (angle + phase) / omega;
    while (s <= 1e-9) s += 2 * std::acos(-1.0) / omega;
    if (t <= begin + s) return centre + a * std::cos(omega * (t - begin)) + b * std::sin(omega * (t - begin));
    const double v = -a * omega * std::sin(omega * s) + b * omega * std::cos(omega * s);
    begin += s;
    a = -centre;
    b = -e * v / omega;
  }
}

/// Largest |y_0 - exact| at the ends of all steps up to `end`.
template <class Exact>
double largest_error(const Scene& scene, const MethodChoice& method, double h, double end, const Exact& exact) {
  Simulation run(scene.system, method, {.step = h});
  run.start(scene.start);
  double error = 0;
  const long n = std::lround(end / h);
  for (long k = 1; k <= n; ++k) {
    run.step();
    error = std::max(error, std::abs(run.state().y[0] - exact(static_cast<double>(k) * h)));
  }
  return error;
}

/// Slope of log error over log h.
inline double fitted_order(const std::vector<double>& h, const std::vector<double>& error) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double a = std::log(h[k]), b = std::log(error[k]);
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/// `count` steps between coarse and fine, evenly spaced in their logarithm, that divide `end`.
inline std::vector<double> log_steps(double end, double coarse, double fine, int count) {
  std::vector<double> list;
  for (int k = 0; k < count; ++k)
    list.push_back(end / std::round(end / (coarse * std::pow(fine / coarse, static_cast<double>(k) / (count - 1)))));
  return list;
}

/// Balls of mass 1 in line that touch each other; u_i = v_{i+1} - v_i.
inline Scene cradle(const std::vector<double>& speed, const std::vector<double>& restitution, double gap = 0) {
  Lagrangian l;
  const int n = static_cast<int>(speed.size());
  const Vector x = l.coordinates("x", n), v = l.velocity(x);
  l.kinetic(0.5 * dot(v, v));
  std::vector<double> position;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    position.push_back(i * (1 + gap));
    if (i + 1 < n) l.unilateral(x[k + 1] - x[k] - 1.0, {.restitution = restitution[k]});
  }
  return {l.build(), {.position = position, .velocity = speed}};
}

/// A unit point mass on an incline, (n, t1, t2); `angle` of the slope, `direction` of its fall line from t1.
inline Scene incline(double mu, double angle, double speed, double direction = 0) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(gravity *
              (std::cos(angle) * q[0] - std::sin(angle) * (std::cos(direction) * q[1] + std::sin(direction) * q[2])));
  l.unilateral(q[0], {.name = "slope", .friction = mu, .slip = {v[1], v[2]}});
  return {l.build(), {.position = {0, 0, 0}, .velocity = {0, speed, 0}}};
}

/// A rod of mass 1 and half length 1, its tip at (x - cos a, y - sin a) on the floor; (x, y, a).
inline Scene painleve_rod(double mu, double omega, double tip_speed) {
  Lagrangian l;
  const Expression x = l.coordinate("x"), y = l.coordinate("y"), a = l.coordinate("a");
  const Expression vx = l.velocity(x), vy = l.velocity(y), va = l.velocity(a);
  l.kinetic(0.5 * (vx * vx + vy * vy) + va * va / 6.0);
  l.potential(gravity * y);
  l.unilateral(y - sin(a), {.name = "tip", .friction = mu, .slip = {vx + sin(a) * va}});
  const double angle = std::atan(2.0), s = std::sin(angle), c = std::cos(angle);
  return {l.build(), {.position = {0, s, angle}, .velocity = {tip_speed - s * omega, c * omega, omega}}};
}

}  // namespace hinge::contact_problems
