// The test problems of the energy-conserving methods: a double spherical pendulum, the same with a spring, and heavy
// tops given by their directors.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "method/problems.hpp"

namespace hinge::problems {

/// P1: double spherical pendulum with unit masses and rods, stretched out along e1. In the plane it starts at rest; in
/// space with angular momentum -6 about e2. With `spring` > 0 a spring of length 1.5 holds the outer mass (P3).
inline Problem spherical_pendulum(bool in_space, double spring = 0) {
  Lagrangian l;
  const Vector a = l.coordinates("q1", 3), b = l.coordinates("q2", 3);
  const Vector va = l.velocity(a), vb = l.velocity(b);
  l.kinetic(0.5 * (dot(va, va) + dot(vb, vb)));
  Expression potential = 9.81 * (a[1] + b[1]);
  if (spring > 0) potential += 0.5 * spring * pow(norm(b) - 1.5, 2.0);
  l.potential(potential);
  l.constrain((dot(a, a) - 1.0) / 2.0);
  l.constrain((dot(b - a, b - a) - 1.0) / 2.0);
  Start start{.position = {1, 0, 0, 2, 0, 0}};
  start.velocity = in_space ? std::vector<double>{0, 0, 1, 0, 0, 2.5} : std::vector<double>(6, 0.0);
  return {l.build(), start};
}

using Triple = std::array<double, 3>;

/// A symmetric top on its tip; q = (d1, d2, d3), the directors.
struct Top {
  double mass, length, weight;  ///< `length` from the tip to the centre of mass
  double moment;                ///< of d1 and d2
  double moment3;               ///< of d3, without that of the centre of mass
  double tilt;                  ///< of d3 at the start, about e1
  double precession, spin;      ///< Omega(0) = precession e3 + spin d3
  double inertia3() const { return moment3 + mass * length * length; }
};

/// P2a: a cone in steady precession.
inline Top cone() {
  constexpr double pi = std::numbers::pi;
  const double a = 0.1, r = 0.05, gravity = 9.81;
  Top t{};
  t.mass = 2700 * pi * r * r * a / 3;
  t.length = 3 * a / 4;
  t.weight = t.mass * gravity;
  const double j1 = 3.0 / 80 * t.mass * (4 * r * r + a * a), j3 = 0.3 * t.mass * r * r;
  t.moment = j3 / 2;  // (J2 + J3 - J1)/2
  t.moment3 = j1 - j3 / 2;
  t.tilt = pi / 3;
  t.precession = 10;
  t.spin = t.weight * t.length / (j3 * 10) + (j1 + t.mass * t.length * t.length - j3) / j3 * 10 * std::cos(t.tilt);
  return t;
}

/// P2b: a fast top that nods. Its centre of mass at distance 1 has the mass 4 of the inertia 4.5.
inline Top nodding_top() { return {4.0, 1.0, 20.0, 0.5, 0.5, 0.3, 0, 50}; }

inline Triple cross(const Triple& a, const Triple& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Directors of steady precession after time t: rot_e3(precession t) rot_e1(tilt) rot_e3(spin t).
inline std::vector<double> precessing(const Top& top, double t) {
  const double c = std::cos(top.spin * t), s = std::sin(top.spin * t);
  const double cp = std::cos(top.precession * t), sp = std::sin(top.precession * t);
  const double ca = std::cos(top.tilt), sa = std::sin(top.tilt);
  const Triple in_body[] = {{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
  std::vector<double> q;
  for (const Triple& d : in_body) {
    const Triple tilted{d[0], ca * d[1] - sa * d[2], sa * d[1] + ca * d[2]};
    q.insert(q.end(), {cp * tilted[0] - sp * tilted[1], sp * tilted[0] + cp * tilted[1], tilted[2]});
  }
  return q;
}

/// In 9 coordinates, the centre of mass at length * d3; in 12 it is phi, tied to d3 by three more constraints.
inline Problem heavy_top(const Top& top, bool twelve = false) {
  Lagrangian l;
  const Vector phi = twelve ? l.coordinates("phi", 3) : Vector{};
  const Vector d = l.coordinates("d", {3, 3}), v = l.velocity(d);
  const Vector d1 = d.segment(0, 3), d2 = d.segment(3, 3), d3 = d.segment(6, 3);
  const Vector v1 = v.segment(0, 3), v2 = v.segment(3, 3), v3 = v.segment(6, 3);
  Expression kinetic = 0.5 * top.moment * (dot(v1, v1) + dot(v2, v2));
  kinetic += 0.5 * (twelve ? top.moment3 : top.inertia3()) * dot(v3, v3);
  if (twelve) {
    const Vector w = l.velocity(phi);
    kinetic += 0.5 * top.mass * dot(w, w);
  }
  l.kinetic(kinetic);
  l.potential(twelve ? top.weight * phi[2] : top.weight * top.length * d3[2]);
  l.constrain((dot(d1, d1) - 1.0) / 2.0);
  l.constrain((dot(d2, d2) - 1.0) / 2.0);
  l.constrain((dot(d3, d3) - 1.0) / 2.0);
  l.constrain(dot(d1, d2));
  l.constrain(dot(d1, d3));
  l.constrain(dot(d2, d3));
  if (twelve)
    for (std::size_t k = 0; k < 3; ++k) l.constrain(phi[k] - top.length * d3[k]);

  Start start{.position = precessing(top, 0)};
  const auto& q = start.position;
  const Triple omega{top.spin * q[6], top.spin * q[7], top.spin * q[8] + top.precession};
  for (std::size_t i = 0; i < 3; ++i) {
    const Triple rate = cross(omega, {q[3 * i], q[3 * i + 1], q[3 * i + 2]});
    start.velocity.insert(start.velocity.end(), rate.begin(), rate.end());
  }
  if (twelve)
    for (auto* x : {&start.position, &start.velocity}) {
      const std::vector<double> d3_part(x->begin() + 6, x->end());
      for (std::size_t k = 0; k < 3; ++k)
        x->insert(x->begin() + static_cast<std::ptrdiff_t>(k), top.length * d3_part[k]);
    }
  return {l.build(), start};
}

/// Component `axis` of sum_i q_i x p_i, with q and p as lists of triples.
inline double angular_momentum(const std::vector<double>& q, const std::vector<double>& p, int axis) {
  double sum = 0;
  for (std::size_t i = 0; i + 2 < q.size(); i += 3)
    sum += cross({q[i], q[i + 1], q[i + 2]}, {p[i], p[i + 1], p[i + 2]})[static_cast<std::size_t>(axis)];
  return sum;
}

}  // namespace hinge::problems
