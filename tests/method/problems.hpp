// The test problems of the symplectic methods, built with the C++ interface.
#pragma once

#include <cmath>
#include <memory>

#include "hinge/hinge.hpp"

namespace hinge::problems {

struct Problem {
  std::shared_ptr<const System> system;
  Start start;
};

enum class E1 { nonlinear, linear, affine };

/// E1: as S1, but the reaction depends on z as well. Its variants, linear and affine in psi, have the same solution.
inline Problem e1(E1 kind = E1::nonlinear) {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  const Expression square = y[1] * y[1] * z[0] * z[0];
  Expression f1 = 2.0 * y[0] * y[1] * z[0] * z[1] - y[0] * z[0] * z[1];
  Expression r1 = y[1] * z[0] * psi[0] * psi[0];
  if (kind == E1::linear) r1 = square * psi[0];
  if (kind == E1::affine) f1 = f1 - y[0] * square, r1 = square * (psi[0] + y[0]);
  odae.v({2.0 * z[0], -z[1]});
  odae.f({f1, z[0] - y[0] * z[1] * z[1] * z[1]});
  odae.r({r1, -sqrt(y[0]) * z[0] * z[1] * z[1] * psi[0]});
  odae.constrain(y[0] * y[1] * y[1] - 1.0);
  return {odae.build(), {.position = {1, 1}, .velocity = {1, 1}, .multiplier = {1}}};
}

/// E2: a mass on the cubic curve y2 = b y1^3 with friction proportional to a power of the normal force.
inline Problem e2() {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  const double b = 0.01, gravity = 9.81, cf = 0.1, rf = 0.85;
  const Expression normal = pow((1.0 + 9.0 * b * b * pow(y[0], 4.0)) * psi[0] * psi[0], rf / 2.0);
  odae.v({z[0], z[1]});
  odae.f({0.0, -gravity});
  odae.r({-3.0 * b * y[0] * y[0] * psi[0] - cf * normal * z[0] / norm(z), psi[0] - cf * normal * z[1] / norm(z)});
  odae.constrain(y[1] - b * y[0] * y[0] * y[0]);
  return {odae.build(), {.position = {10, 10}, .velocity = {-3.6, -10.8}, .multiplier = {1.7586}}};
}

/// S1: reaction nonlinear in the multiplier; exact solution y1 = z1 = e^{2t}, y2 = z2 = e^{-t}, psi = e^t.
inline Problem s1() {
  Odae odae;
  const Vector y = odae.y("y", {2}), z = odae.z("z", {2}), psi = odae.psi("psi", {1});
  odae.v({2.0 * z[0], -z[1]});
  odae.f({2.0 * y[0] * y[1] * z[0] * z[1] - y[0] * z[0] * z[1], z[0] - y[0] * z[1] * z[1] * z[1]});
  odae.r({y[0] * y[1] * psi[0] * psi[0], -sqrt(y[0]) * psi[0]});
  odae.constrain(y[0] * y[1] * y[1] - 1.0);
  return {odae.build(), {.position = {1, 1}, .velocity = {1, 1}, .multiplier = {1}}};
}

/// S2: charged particle on a sphere in a magnetic and an electric field, Hamiltonian form.
inline Problem s2() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  h.hamiltonian((pow(p[0] + q[1], 2.0) + pow(p[1] - q[0], 2.0) + p[2] * p[2]) / 2.0 - q[2]);
  h.constrain(norm(q) - 1.0);
  return {h.build(), {.position = {0.2, 0.2, std::sqrt(0.92)}, .momentum = {1, -1, 0}}};
}

/// S2 in Lagrangian form: v1 = p1 + q2, v2 = p2 - q1.
inline Problem s2_lagrangian() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  l.lagrangian(dot(v, v) / 2.0 - (q[1] * v[0] - q[0] * v[1]) + q[2]);
  l.constrain(norm(q) - 1.0);
  return {l.build(), {.position = {0.2, 0.2, std::sqrt(0.92)}, .velocity = {1.2, -1.2, 0}}};
}

/// PEND: H = |p|^2/2 + q2 on the unit circle.
inline Problem pendulum() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 2), p = h.momenta("p", 2);
  h.hamiltonian(dot(p, p) / 2.0 + q[1]);
  h.constrain((dot(q, q) - 1.0) / 2.0);
  return {h.build(), {.position = {1, 0}, .momentum = {0, 0}}};
}

/// REL: momentum nonlinear in the velocity, on an ellipsoid.
inline Problem relativistic() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  const double c = 2;
  l.lagrangian(-c * c * sqrt(1.0 - dot(v, v) / (c * c)) - q[2] - q[0] * q[1]);
  l.constrain((q[0] * q[0] + 2.0 * q[1] * q[1] + 3.0 * q[2] * q[2] - 1.0) / 2.0);
  return {l.build(), {.position = {0.6, 0.4, 0.3266}, .velocity = {0.3, 0.2, 0.1}, .consistent = Consistency::project}};
}

/// REL in Hamiltonian form: p = v / sqrt(1 - |v|^2 / c^2).
inline Problem relativistic_hamiltonian() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  const double c = 2;
  h.hamiltonian(c * c * sqrt(1.0 + dot(p, p) / (c * c)) + q[2] + q[0] * q[1]);
  h.constrain((q[0] * q[0] + 2.0 * q[1] * q[1] + 3.0 * q[2] * q[2] - 1.0) / 2.0);
  return {h.build(), {.position = {0.6, 0.4, 0.3266}, .velocity = {0.3, 0.2, 0.1}, .consistent = Consistency::project}};
}

/// TORUS: a particle on the torus (rho - 1)^2 + q3^2 = 1/4, rho^2 = q1^2 + q2^2, in the potential e^q3 + rho^4 / 2.
/// Separable, with a force that is not constant and a symmetry: J3 = q1 p2 - q2 p1 is kept.
inline Problem torus() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  const Expression square = q[0] * q[0] + q[1] * q[1];
  h.hamiltonian(dot(p, p) / 2.0 + exp(q[2]) + square * square / 2.0);
  h.constrain(pow(sqrt(square) - 1.0, 2.0) + q[2] * q[2] - 0.25);
  return {h.build(), {.position = {0.78, 1.04, 0.4}, .momentum = {-0.544, 0.108, 0.18}}};
}

/// TORUS with stiff springs mu |g|^2 in the place of the constraint.
inline Problem torus_of_springs(double mu) {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 3), p = h.momenta("p", 3);
  const Expression square = q[0] * q[0] + q[1] * q[1];
  const Expression g = pow(sqrt(square) - 1.0, 2.0) + q[2] * q[2] - 0.25;
  h.hamiltonian(dot(p, p) / 2.0 + exp(q[2]) + square * square / 2.0 + mu * g * g);
  return {h.build(), {.position = {0.78, 1.04, 0.4}, .momentum = {-0.544, 0.108, 0.18}}};
}

/// TORUS in Lagrangian form.
inline Problem torus_lagrangian() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  const Expression square = q[0] * q[0] + q[1] * q[1];
  l.kinetic(dot(v, v) / 2.0);
  l.potential(exp(q[2]) + square * square / 2.0);
  l.constrain(pow(sqrt(square) - 1.0, 2.0) + q[2] * q[2] - 0.25);
  return {l.build(), {.position = {0.78, 1.04, 0.4}, .velocity = {-0.544, 0.108, 0.18}}};
}

/// VARM: a mass matrix that depends on the position, on an ellipse.
inline Problem variable_mass() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * ((1.0 + q[0] * q[0]) * v[0] * v[0] + (2.0 + q[0] * q[1]) * v[1] * v[1]));
  l.potential(q[1] + q[0] * q[0] / 2.0);
  l.constrain((q[0] * q[0] + q[1] * q[1] / 4.0 - 1.0) / 2.0);
  return {l.build(), {.position = {1, 0}, .velocity = {0, 1}}};
}

/// Double spherical pendulum, out of the plane.
inline Problem double_pendulum() {
  Lagrangian l;
  const Vector a = l.coordinates("q1", 3), b = l.coordinates("q2", 3);
  const Vector va = l.velocity(a), vb = l.velocity(b);
  l.kinetic(0.5 * (dot(va, va) + dot(vb, vb)));
  l.potential(9.81 * (a[1] + b[1]));
  l.constrain((dot(a, a) - 1.0) / 2.0);
  l.constrain((dot(b - a, b - a) - 1.0) / 2.0);
  return {l.build(), {.position = {1, 0, 0, 2, 0, 0}, .velocity = {0, 0, 1, 0, 0, 2}}};
}

/// A bead on a hoop that turns about the vertical axis: a constraint that depends on time.
inline Problem rotating_hoop() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 3), v = l.velocity(q);
  const double rate = 2;
  l.kinetic(dot(v, v) / 2.0);
  l.potential(9.81 * q[2]);
  l.constrain((dot(q, q) - 1.0) / 2.0);
  l.constrain(q[1] * cos(rate * l.t()) - q[0] * sin(rate * l.t()));
  return {l.build(), {.position = {0.6, 0, -0.8}, .velocity = {0, 1.2, 0}}};
}

/// N links in space from a fixed point, stretched out along x at rest.
inline Problem chain(int links) {
  Lagrangian l;
  const Vector q = l.coordinates("q", {links, 3}), v = l.velocity(q);
  Expression potential = 0.0;
  Start start;
  for (int i = 0; i < links; ++i) {
    const auto at = static_cast<std::size_t>(3 * i);
    const Vector x = q.segment(at, 3);
    const Vector d = i == 0 ? x : x - q.segment(at - 3, 3);
    potential += 9.81 * x[1];
    l.constrain((dot(d, d) - 1.0) / 2.0);
    start.position.insert(start.position.end(), {i + 1.0, 0, 0});
  }
  l.kinetic(dot(v, v) / 2.0);
  l.potential(potential);
  return {l.build(), start};
}

/// The state after integrating to `end`.
inline State integrate(const Problem& problem, const MethodChoice& method, double step, double end,
                       const SolverOptions& solver = {}) {
  Simulation run(problem.system, method, {.step = step, .solver = solver});
  run.start(problem.start);
  run.until(end);
  return run.state();
}

/// Euclidean distance.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

}  // namespace hinge::problems
