// The mechanisms that explicit and half-explicit methods, projections and generalized-alpha are measured on. Numbers of
// an independent implementation: tests/data/dae_explicit.json.
#pragma once

#include <cmath>

#include "method/goldens.hpp"
#include "method/problems.hpp"

namespace hinge::explicit_problems {

using problems::distance;
using problems::Problem;

inline const goldens::json& golden() {
  static const goldens::json data = goldens::read("dae_explicit.json");
  return data;
}

/// g = x^2 + y^2 - 1, gravity 9.81, from the horizontal at rest.
inline Problem pendulum() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  l.constrain(dot(q, q) - 1.0);
  return {l.build(), {.position = {1, 0}, .velocity = {0, 0}}};
}

/// A bead on a hoop whose angle is 2 t + t^2/2.
inline Problem hoop() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  const Expression phi = 2.0 * l.t() + 0.5 * l.t() * l.t();
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[2]);
  l.constrain(0.5 * (dot(q, q) - 1.0));
  l.constrain(-sin(phi) * q[0] + cos(phi) * q[1]);
  const double s = std::sin(1.0), c = std::cos(1.0);
  return {l.build(), {.position = {s, 0, -c}, .velocity = {0, 2 * s, 0}}};
}

/// A mass matrix that depends on the position; with m3 = 0 it is singular.
inline Problem slider_crank(double m3 = 3) {
  Mechanical s;
  const Vector q = s.coordinates("q", 3), v = s.velocity(q);
  const double l1 = 1, l2 = 2, m1 = 1, m2 = 2, gravity = 9.81;
  const Expression c12 = cos(q[0] - q[1]), s12 = sin(q[0] - q[1]);
  const Expression m12 = m2 * l1 * l2 / 2 * c12;
  s.mass({m1 * l1 * l1 / 3 + m2 * l1 * l1, m12, 0.0, m12, m2 * l2 * l2 / 3, 0.0, 0.0, 0.0, m3});
  s.force({-m2 * l1 * l2 / 2 * s12 * v[1] * v[1] - gravity * l1 * cos(q[0]) * (m1 / 2 + m2),
           m2 * l1 * l2 / 2 * s12 * v[0] * v[0] - gravity * m2 * l2 / 2 * cos(q[1]), 0.0});
  s.constrain(l1 * sin(q[0]) + l2 * sin(q[1]));
  s.constrain(q[2] - l1 * cos(q[0]) - l2 * cos(q[1]));
  const double a = 1, b = -std::asin(std::sin(a) / 2), da = 2, db = -std::cos(a) * da / (2 * std::cos(b));
  return {s.build(),
          {.position = {a, b, std::cos(a) + 2 * std::cos(b)},
           .velocity = {da, db, -std::sin(a) * da - 2 * std::sin(b) * db}}};
}

/// y' = v, v' = -k (y - cos t) - sqrt(k) damping: stiff for large k, with the solution near cos t.
inline Problem stiff_oscillator(double k) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  l.force(q, {-k * (v[0] + q[1] * sin(l.t())), -k * (v[1] - q[0] * sin(l.t()))});
  l.constrain(0.5 * (dot(q, q) - 1.0));
  return {l.build(), {.position = {1, 0}, .velocity = {0, 0}}};
}

struct Reference {
  std::vector<double> p, v, lambda;
};
/// In 18 digits, at t = 1.
inline Reference reference(const std::string& name) {
  const auto& r = golden()["references"][name + " T=1"];
  return {goldens::numbers(r["p"]), goldens::numbers(r["v"]), goldens::numbers(r["lam"])};
}

/// Errors of y, z and psi at t = 1 after n steps.
struct Errors {
  double y, z, psi;
};
inline Errors errors(const Problem& problem, const std::string& name, const MethodChoice& method, int n) {
  const State s = problems::integrate(problem, method, 1.0 / n, 1.0);
  const auto r = reference(name);
  return {distance(s.y, r.p), distance(s.z, r.v), distance(s.psi, r.lambda)};
}

/// Observed orders between n and n 2^doublings steps.
inline Errors orders(const Problem& problem, const std::string& name, const MethodChoice& method, int n,
                     int doublings = 1) {
  const Errors a = errors(problem, name, method, n), b = errors(problem, name, method, n << doublings);
  return {std::log2(a.y / b.y) / doublings, std::log2(a.z / b.z) / doublings, std::log2(a.psi / b.psi) / doublings};
}

/// max |g| and max |g_t + G v| of a run.
struct Levels {
  double position, velocity;
};
inline Levels levels(const Problem& problem, const MethodChoice& method, double step, double end) {
  Simulation run(problem.system, method, {.step = step});
  run.start(problem.start);
  run.until(end);
  return {run.report().constraint, run.report().hidden_constraint};
}

/// A run with chosen steps.
inline Report adaptive(const Problem& problem, const MethodChoice& method, double tolerance, double end) {
  Simulation run(problem.system, method, {.tolerance = {tolerance, tolerance}});
  run.start(problem.start);
  run.until(end);
  return run.report();
}

}  // namespace hinge::explicit_problems
