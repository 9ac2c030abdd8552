// Constrained mechanical systems in the form  M p'' + G^T lambda = f, g = 0, each with equations in minimal coordinates
// that were derived independently and give its solution at any time to round-off (for short times).
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "hinge/hinge.hpp"

namespace hinge::dae_problems {

using Real = long double;
using Reals = std::vector<Real>;

/// u'' = acceleration(t, u, u');  lift(t, u, u') = (p, v).
struct Minimal {
  Reals u, s;  // at t = 0
  std::function<Reals(Real, const Reals&, const Reals&)> acceleration;
  std::function<std::pair<Reals, Reals>(Real, const Reals&, const Reals&)> lift;
};

struct Problem {
  std::string name;
  std::shared_ptr<const System> system;
  Minimal minimal;

  /// The state at t, without multipliers.
  State at(double t) const {
    Reals u = minimal.u, s = minimal.s;
    const int steps = std::max(1, static_cast<int>(std::ceil(std::abs(t) * 16000)));
    const Real h = static_cast<Real>(t) / steps;
    const auto shifted = [](const Reals& x, Real by, const Reals& d) {
      Reals y = x;
      for (std::size_t i = 0; i < x.size(); ++i) y[i] += by * d[i];
      return y;
    };
    for (int n = 0; n < steps; ++n) {  // the classical Runge-Kutta method
      const Real now = n * h;
      const Reals a1 = minimal.acceleration(now, u, s), s2 = shifted(s, h / 2, a1), u2 = shifted(u, h / 2, s);
      const Reals a2 = minimal.acceleration(now + h / 2, u2, s2), s3 = shifted(s, h / 2, a2);
      const Reals a3 = minimal.acceleration(now + h / 2, shifted(u, h / 2, s2), s3), s4 = shifted(s, h, a3);
      const Reals a4 = minimal.acceleration(now + h, shifted(u, h, s3), s4);
      for (std::size_t i = 0; i < u.size(); ++i) {
        u[i] += h / 6 * (s[i] + 2 * (s2[i] + s3[i]) + s4[i]);
        s[i] += h / 6 * (a1[i] + 2 * (a2[i] + a3[i]) + a4[i]);
      }
    }
    const auto [p, v] = minimal.lift(t, u, s);
    return {t, {p.begin(), p.end()}, {v.begin(), v.end()}, std::vector<double>(std::size_t(system->npsi()), 0.0)};
  }
};

/// x^2 + y^2 = 1, from the horizontal, at rest. G = 2 p^T.
inline Problem pendulum() {
  Mechanical m;
  const Vector p = m.coordinates("p", 2);
  m.mass({1.0, 1.0});
  m.force({0.0, -9.81});
  m.constrain(dot(p, p) - 1.0);
  return {
      "pendulum",
      m.build(),
      {{std::numbers::pi_v<Real> / 2},
       {0},
       [](Real, const Reals& u, const Reals&) { return Reals{-Real(9.81) * std::sin(u[0])}; },
       [](Real, const Reals& u, const Reals& s) {
         return std::pair{Reals{std::sin(u[0]), -std::cos(u[0])}, Reals{s[0] * std::cos(u[0]), s[0] * std::sin(u[0])}};
       }}};
}

/// A bead on a hoop that spins with phi = 2 t + t^2/2.
inline Problem hoop() {
  Mechanical m;
  const Vector p = m.coordinates("p", 3);
  const Expression phi = 2.0 * m.t() + m.t() * m.t() / 2.0;
  m.mass({1.0, 1.0, 1.0});
  m.force({0.0, 0.0, -9.81});
  m.constrain((dot(p, p) - 1.0) / 2.0);
  m.constrain(cos(phi) * p[1] - sin(phi) * p[0]);
  return {"hoop",
          m.build(),
          {{1},
           {0},
           [](Real t, const Reals& u, const Reals&) {
             const Real rate = 2 + t;
             return Reals{std::sin(u[0]) * std::cos(u[0]) * rate * rate - Real(9.81) * std::sin(u[0])};
           },
           [](Real t, const Reals& u, const Reals& s) {
             const Real f = 2 * t + t * t / 2, rate = 2 + t, a = std::sin(u[0]), c = std::cos(u[0]);
             return std::pair{Reals{a * std::cos(f), a * std::sin(f), -c},
                              Reals{c * std::cos(f) * s[0] - a * std::sin(f) * rate,
                                    c * std::sin(f) * s[0] + a * std::cos(f) * rate, a * s[0]}};
           }}};
}

/// A planar pendulum whose pivot is at (0.3 sin 4t, 0).
inline Problem pivot() {
  Mechanical m;
  const Vector p = m.coordinates("p", 2);
  const Expression x = p[0] - 0.3 * sin(4.0 * m.t());
  m.mass({1.0, 1.0});
  m.force({0.0, -9.81});
  m.constrain((x * x + p[1] * p[1] - 1.0) / 2.0);
  return {"pivot",
          m.build(),
          {{1},
           {0},
           [](Real t, const Reals& u, const Reals&) {
             return Reals{-Real(9.81) * std::sin(u[0]) + Real(4.8) * std::sin(4 * t) * std::cos(u[0])};
           },
           [](Real t, const Reals& u, const Reals& s) {
             return std::pair{Reals{Real(0.3) * std::sin(4 * t) + std::sin(u[0]), -std::cos(u[0])},
                              Reals{Real(1.2) * std::cos(4 * t) + s[0] * std::cos(u[0]), s[0] * std::sin(u[0])}};
           }}};
}

/// phi1, phi2 and the slider's place; M depends on p. With m3 = 0 it is singular.
inline Problem slider_crank(double m3 = 3) {
  Mechanical m;
  const Vector p = m.coordinates("p", 3), v = m.velocity(p);
  const double l1 = 1, l2 = 2, m1 = 1, m2 = 2, gamma = 9.81;
  const Expression c = cos(p[0] - p[1]), sine = sin(p[0] - p[1]), m12 = m2 * l1 * l2 / 2 * c;
  m.mass({m1 * l1 * l1 / 3 + m2 * l1 * l1, m12, 0.0, m12, m2 * l2 * l2 / 3, 0.0, 0.0, 0.0, m3});
  m.force({-m2 * l1 * l2 / 2 * sine * v[1] * v[1] - gamma * l1 * (m1 / 2 + m2) * cos(p[0]),
           m2 * l1 * l2 / 2 * sine * v[0] * v[0] - gamma * m2 * l2 / 2 * cos(p[1]), 0.0});
  m.constrain(l1 * sin(p[0]) + l2 * sin(p[1]));
  m.constrain(p[2] - l1 * cos(p[0]) - l2 * cos(p[1]));
  // p = (u, w, x) with sin w = -sin(u)/2:  p' = B u',  p'' = B u'' + D u'^2
  struct Motion {
    Reals p, b, d;
  };
  const auto motion = [](Real u) {
    const Real su = std::sin(u), cu = std::cos(u), w = -std::asin(su / 2), cw = std::cos(w), sw = std::sin(w);
    const Real w1 = -cu / (2 * cw), w2 = (su / 2 + sw * w1 * w1) / cw;
    return Motion{{u, w, cu + 2 * cw}, {1, w1, -su - 2 * sw * w1}, {0, w2, -cu - 2 * cw * w1 * w1 - 2 * sw * w2}};
  };
  return {"slider_crank",
          m.build(),
          {{1},
           {2},
           [motion, m3](Real, const Reals& u, const Reals& s) {
             const auto [q, b, d] = motion(u[0]);
             const Real g = 9.81L, sd = std::sin(q[0] - q[1]), m11 = 1.L / 3 + 2, off = 2 * std::cos(q[0] - q[1]),
                        m22 = 8.L / 3, square = s[0] * s[0];
             const Real f1 = -2 * sd * b[1] * b[1] * square - g * Real(2.5) * std::cos(q[0]);
             const Real f2 = 2 * sd * square - 2 * g * std::cos(q[1]);
             const Reals mb = {m11 * b[0] + off * b[1], off * b[0] + m22 * b[1], Real(m3) * b[2]};
             const Real inertia = mb[0] * b[0] + mb[1] * b[1] + mb[2] * b[2];
             const Real bend = (mb[0] * d[0] + mb[1] * d[1] + mb[2] * d[2]) * square;
             return Reals{(f1 * b[0] + f2 * b[1] - bend) / inertia};
           },
           [motion](Real, const Reals& u, const Reals& s) {
             const auto [q, b, d] = motion(u[0]);
             return std::pair{q, Reals{b[0] * s[0], b[1] * s[0], b[2] * s[0]}};
           }}};
}

/// What linear3's constraint is moved by: r = 0, sin t or t^n, with r' and r''.
struct Moved {
  std::string name;
  std::function<Expression(const Expression&)> expression;
  std::function<std::array<Real, 3>(Real)> values;
};
inline Moved at_rest() {
  return {"0", [](const Expression&) { return Expression(0.0); }, [](Real) { return std::array<Real, 3>{0, 0, 0}; }};
}
inline Moved sine() {
  return {"sin(t)", [](const Expression& t) { return sin(t); },
          [](Real t) {
            return std::array<Real, 3>{std::sin(t), std::cos(t), -std::sin(t)};
          }};
}
inline Moved power(int n) {
  return {n == 1 ? "t" : "t**" + std::to_string(n), [n](const Expression& t) { return pow(t, static_cast<double>(n)); },
          [n](Real t) {
            return std::array<Real, 3>{std::pow(t, Real(n)), n * std::pow(t, Real(n - 1)),
                                       n > 1 ? n * (n - 1) * std::pow(t, Real(n - 2)) : 0};
          }};
}

/// The constraint is p1 + 2 p2 - p3 = r(t).
inline Problem linear3(const Moved& r) {
  Mechanical m;
  const Vector p = m.coordinates("p", 3), v = m.velocity(p);
  m.mass({1.0, 2.0, 5.0});
  m.force({-sin(p[0]) - v[0] / 10.0, -p[1] * p[1] * p[1] - p[1], cos(m.t()) - 2.0 * p[2]});
  m.constrain(p[0] + 2.0 * p[1] - p[2] - r.expression(m.t()));
  const auto values = r.values;
  return {"linear3",
          m.build(),
          {{0.5L, 0.3L},
           {0, 0.2L},
           [values](Real t, const Reals& u, const Reals& s) {
             const auto [r0, r1, r2] = values(t);
             const Real p3 = u[0] + 2 * u[1] - r0;
             const Real f1 = -std::sin(u[0]) - s[0] / 10, f2 = -u[1] * u[1] * u[1] - u[1];
             const Real f3 = std::cos(t) - 2 * p3 + 5 * r2;  // of the third equation, with p3'' = u1'' + 2 u2'' - r''
             // [1 + 5, 10; 10, 2 + 20] u'' = (f1 + f3, f2 + 2 f3)
             const Real a = f1 + f3, b = f2 + 2 * f3, det = 6 * 22 - 100;
             return Reals{(22 * a - 10 * b) / det, (6 * b - 10 * a) / det};
           },
           [values](Real t, const Reals& u, const Reals& s) {
             const auto [r0, r1, r2] = values(t);
             return std::pair{Reals{u[0], u[1], u[0] + 2 * u[1] - r0}, Reals{s[0], s[1], s[0] + 2 * s[1] - r1}};
           }}};
}

/// Masses 1e-6 and 1e4 in turning directions: solution sin t, reduced equation with the rate 2 K, K = 50.
inline Problem rotmass() {
  Mechanical m;
  const Vector p = m.coordinates("p", 2);
  const double w = -0.5, a = 10000.01, b = 100;
  const Expression cosine = cos(w * m.t()), sine = sin(w * m.t()), x = sin(m.t());
  const Vector n{cosine, sine}, N{-sine, cosine};
  Vector mass;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) mass.push_back(a * n[i] * n[j] + b * (n[i] * N[j] + N[i] * n[j]) + N[i] * N[j]);
  m.mass(mass);
  m.force((-x - w * w * x - 2.0 * w * b * cos(m.t()) - (dot(N, p) - x)) * N);
  m.constrain(dot(n, p));
  return {"rotmass",
          m.build(),
          {{0},
           {1},
           [](Real t, const Reals&, const Reals&) { return Reals{-std::sin(t)}; },
           [](Real t, const Reals&, const Reals&) {
             const Real f = -t / 2, q = std::sin(t), s = std::cos(t), half = -0.5L;
             return std::pair{
                 Reals{-std::sin(f) * q, std::cos(f) * q},
                 Reals{-std::sin(f) * s - half * std::cos(f) * q, std::cos(f) * s - half * std::sin(f) * q}};
           }}};
}

}  // namespace hinge::dae_problems
