// Systems with velocity constraints whose motion is known: in closed form, or from equations that were reduced by hand.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "method/problems.hpp"

namespace hinge::nonholonomic {

using problems::Problem;

/// A blade on a plane inclined by alpha, x downhill, started at rest with the spin om.
struct KnifeEdge {
  static constexpr double gravity = 9.81, alpha = 0.5, om = 1.3, mass = 1, inertia = 0.4;
  static Problem problem() {
    Lagrangian l;
    const Expression x = l.coordinate("x"), y = l.coordinate("y"), th = l.coordinate("th");
    const Expression vx = l.velocity(x), vy = l.velocity(y), w = l.velocity(th);
    l.kinetic(0.5 * mass * (vx * vx + vy * vy) + 0.5 * inertia * w * w);
    l.potential(-mass * gravity * std::sin(alpha) * x);
    l.constrain_velocity(vx * sin(th) - vy * cos(th), "blade");
    return {l.build(), {.position = {0, 0, 0}, .velocity = {0, 0, om}}};
  }
  /// With k = g sin(alpha)/(2 om^2): the forces along and across the blade give the multiplier.
  static State exact(double t) {
    const double a = om * t, k = gravity * std::sin(alpha) / (2 * om * om);
    State s{t,
            {k * std::sin(a) * std::sin(a), k * (a - std::sin(2 * a) / 2), a},
            {k * om * std::sin(2 * a), k * om * (1 - std::cos(2 * a)), om},
            {}};
    // m x'' = m g sin(alpha) - psi sin(th)  and  m y'' = psi cos(th)
    const double ax = 2 * k * om * om * std::cos(2 * a), ay = 2 * k * om * om * std::sin(2 * a);
    s.psi = {mass * ((gravity * std::sin(alpha) - ax) * std::sin(a) + ay * std::cos(a))};
    return s;
  }
};

/// Chaplygin's sleigh: the centre of mass is the distance a ahead of the blade.
struct Sleigh {
  static constexpr double mass = 1.2, inertia = 0.3, a = 0.4, u0 = 0.1, w0 = 1.7;
  static Problem problem() {
    Lagrangian l;
    const Expression x = l.coordinate("x"), y = l.coordinate("y"), th = l.coordinate("th");
    const Expression vx = l.velocity(x), vy = l.velocity(y), w = l.velocity(th);
    l.kinetic(0.5 * mass * (vx * vx + vy * vy) + 0.5 * inertia * w * w);
    l.constrain_velocity(vy * cos(th) - vx * sin(th) - a * w, "blade");
    return {l.build(), {.position = {0, 0, 0}, .velocity = {u0, a * w0, w0}}};
  }
  /// u' = a w^2, w' = -m a u w/(J + m a^2): with u^2 + k^2 w^2 = c^2, u = c tanh(a c t/k^2 + b).
  static std::array<double, 2> speeds(double t) {
    const double k2 = (inertia + mass * a * a) / mass, c = std::sqrt(u0 * u0 + k2 * w0 * w0);
    const double s = a * c / k2 * t + std::atanh(u0 / c);
    return {c * std::tanh(s), c / std::sqrt(k2) / std::cosh(s)};
  }
  /// (x, y, th) of the centre of mass, by Simpson's rule for the angle and a fine Runge-Kutta for the rest.
  static std::vector<double> pose(double t) {
    const int n = 4000;
    const double h = t / n;
    double x = 0, y = 0, th = 0;
    const auto rate = [](double at, double angle) {
      const auto [u, w] = speeds(at);
      return std::array{u * std::cos(angle) - a * w * std::sin(angle), u * std::sin(angle) + a * w * std::cos(angle),
                        w};
    };
    for (int k = 0; k < n; ++k) {
      const double t0 = k * h;
      const auto k1 = rate(t0, th), k2 = rate(t0 + h / 2, th + h / 2 * k1[2]),
                 k3 = rate(t0 + h / 2, th + h / 2 * k2[2]), k4 = rate(t0 + h, th + h * k3[2]);
      x += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]);
      y += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1]);
      th += h / 6 * (k1[2] + 2 * k2[2] + 2 * k3[2] + k4[2]);
    }
    return {x, y, th};
  }
};

/// A blade in an anharmonic potential, reversible and not integrable in any sense.
inline Problem blade_in_a_well() {
  Lagrangian l;
  const Expression x = l.coordinate("x"), y = l.coordinate("y"), th = l.coordinate("th");
  const Expression vx = l.velocity(x), vy = l.velocity(y), w = l.velocity(th);
  l.kinetic(0.5 * (vx * vx + vy * vy) + 0.2 * w * w);
  l.potential(0.5 * x * x + y * y + 0.5 * x * x * y * y - 0.7 * cos(th));
  l.constrain_velocity(vx * sin(th) - vy * cos(th), "blade");
  return {l.build(), {.position = {1, 0.5, 0.3}, .velocity = {std::cos(0.3), std::sin(0.3), 0}}};
}

/// A wheel upright on a plane as a Lagrangian with directions that turn: a mass that depends on the position (an arm
/// that turns against the wheel), a position constraint and two velocity constraints beside each other.
inline Problem cart() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3);  // of a point of a body in space, held on a bowl z = (x^2 + y^2)/4
  const Expression th = l.coordinate("th"), s = l.coordinate("s");
  const Vector v = l.velocity(q);
  const Expression w = l.velocity(th), u = l.velocity(s);
  l.kinetic(0.5 * dot(v, v) + 0.5 * (0.3 + 0.1 * sin(s) * sin(s)) * w * w + 0.1 * u * u + 0.05 * u * w * cos(s));
  l.potential(2.0 * q[2] + 0.3 * cos(s));
  l.constrain(q[2] - 0.25 * (q[0] * q[0] + q[1] * q[1]), "bowl");
  l.constrain_velocity(v[0] * sin(th) - v[1] * cos(th), "blade");
  l.constrain_velocity(v[0] * cos(th) + v[1] * sin(th) - 0.5 * u, "wheel");
  const double c = std::cos(0.4), d = std::sin(0.4), speed = 0.3;
  return {l.build(),
          {.position = {0.8, 0.2, 0.25 * (0.64 + 0.04), 0.4, 0.1},
           .velocity = {speed * c, speed * d, 0.5 * speed * (0.8 * c + 0.2 * d), 0.7, 2 * speed}}};
}

/// Appell's machine in short: a point whose speed is one number, x'^2 + y'^2 = c^2, in a field: nonlinear in the
/// velocities. By Chetaev's rule the reaction is along the velocity, so that the direction turns as it would without
/// it.
struct ConstantSpeed {
  static constexpr double speed = 1.5, field = 2;
  static Problem problem() {
    Mechanical m;
    const Vector q = m.coordinates("q", 2), v = m.velocity(q);
    m.mass({1.0, 1.0});
    m.force({0.0, -field});
    m.constrain_velocity((dot(v, v) - speed * speed) / 2.0, "speed");
    return {m.build(), {.position = {0, 0}, .velocity = {speed, 0}}};
  }
  /// With the angle a of the velocity: a' = -(field/c) cos a, so that tan(a/2 + pi/4) decays like exp(-field t/c).
  static double angle(double t) { return 2 * std::atan(std::exp(-field / speed * t)) - M_PI / 2; }
};

/// A snakeboard: a board with a rotor (angle psi against it, driven by the torque u) and two axles at +-l that turn by
/// +-phi. What the wheels allow is s (l cos(phi) ahead, sin(phi) of turn), and with D = m l^2 cos^2 phi + I sin^2 phi,
/// I the moment of all but the rotor, d'Alembert's principle along it is  (s sqrt(D))' = -u sin(phi)/sqrt(D).
struct Snakeboard {
  static constexpr double m = 4, l = 0.3, J = 0.05, rotor = 0.2, wheel = 0.01, phi0 = 0.2, turn = 0.4, s0 = 0.8,
                          u0 = 1.5;
  static double torque(double t) { return u0 * std::sin(2 * t); }
  static Problem problem() {
    Lagrangian b;
    const Expression x = b.coordinate("x"), y = b.coordinate("y"), th = b.coordinate("th"), psi = b.coordinate("psi"),
                     phi = b.coordinate("phi");
    const Expression vx = b.velocity(x), vy = b.velocity(y), w = b.velocity(th), r = b.velocity(psi),
                     q = b.velocity(phi);
    b.kinetic(0.5 * m * (vx * vx + vy * vy) + 0.5 * J * w * w + 0.5 * rotor * (w + r) * (w + r) +
              0.5 * wheel * ((w + q) * (w + q) + (w - q) * (w - q)));
    b.force({psi}, {u0 * sin(2.0 * b.t())});
    b.constrain_velocity(vy * cos(th + phi) - vx * sin(th + phi) + l * cos(phi) * w, "front axle");
    b.constrain_velocity(vy * cos(th - phi) - vx * sin(th - phi) - l * cos(phi) * w, "rear axle");
    return {b.build(),
            {.position = {0, 0, 0, 0, phi0}, .velocity = {s0 * l * std::cos(phi0), 0, s0 * std::sin(phi0), 0.5, turn}}};
  }
  static double root_of_d(double t) {
    const double phi = phi0 + turn * t, c = std::cos(phi), d = std::sin(phi);
    return std::sqrt(m * l * l * c * c + (J + 2 * wheel) * d * d);
  }
  static double speed(double t) {
    const int n = 2000;  // Simpson
    const auto f = [](double at) { return -torque(at) * std::sin(phi0 + turn * at) / root_of_d(at); };
    double sum = f(0) + f(t);
    for (int k = 1; k < n; ++k) sum += (k % 2 ? 4 : 2) * f(t * k / n);
    return (s0 * root_of_d(0) + sum * t / n / 3) / root_of_d(t);
  }
};

}  // namespace hinge::nonholonomic
