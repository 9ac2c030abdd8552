// Small problems for the Radau methods, with the starts that the goldens of dae_radau.json belong to.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hinge/hinge.hpp"
#include "method/goldens.hpp"

namespace hinge::radau_problems {

struct Problem {
  std::string name;
  std::shared_ptr<const System> system;
  Start start;
};

/// x^2 + y^2 = 1, from the horizontal, at rest.
inline Problem pendulum() {
  Mechanical m;
  const Vector p = m.coordinates("p", 2);
  m.mass({1.0, 1.0});
  m.force({0.0, -9.81});
  m.constrain(dot(p, p) - 1.0);
  return {"pendulum", m.build(), {.position = {1, 0}, .velocity = {0, 0}}};
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
  return {"hoop", m.build(), {.position = {std::sin(1.0), 0, -std::cos(1.0)}, .velocity = {0, 2 * std::sin(1.0), 0}}};
}

/// Robertson's reactions with the sum of the concentrations as third equation: index 1, and very stiff.
inline Problem robertson() {
  Dae d;
  const Vector x = d.unknowns("x", {3}), v = d.derivative(x);
  d.equation(v[0] + 0.04 * x[0] - 1e4 * x[1] * x[2]);
  d.equation(v[1] - 0.04 * x[0] + 1e4 * x[1] * x[2] + 3e7 * x[1] * x[1]);
  d.equation(x[0] + x[1] + x[2] - 1.0);
  return {"robertson", d.build(), {.position = {1, 0, 0}, .velocity = {-0.04, 0.04, 0}}};
}

/// y' = -z, 0 = y - z^3/3 + z from z = 2: the solution ends at t = 3/2 - ln 2, where z = 1.
inline Problem van_der_pol() {
  Dae d;
  const Expression y = d.unknown("y"), z = d.unknown("z");
  d.equation(d.derivative(y) + z);
  d.equation(y - z * z * z / 3.0 + z);
  return {"van der Pol", d.build(), {.position = {2.0 / 3, 2}, .velocity = {-2, -2.0 / 3}}};
}

/// x = (V1, V2, V3, I, IL, IV): an amplifier that differentiates its voltage V = sin 3 t, index 2.
inline Problem differentiator() {
  Dae d;
  const Vector x = d.unknowns("x", {6}), v = d.derivative(x);
  const double resistance = 2, inductance = 0.5;
  d.equation(x[0] - sin(3.0 * d.t()));
  d.equation(x[1]);
  d.equation(x[3] + x[5]);
  d.equation(x[4] + x[3]);
  d.equation((x[0] - x[1]) / resistance - x[5]);
  d.equation(inductance * v[4] - (x[1] - x[2]));
  return {"differentiator", d.build(), {.position = {0, 0, -0.75, 0, 0, 0}, .velocity = {3, 0, 0, -1.5, 1.5, 1.5}}};
}

inline const goldens::json& data() {
  static const goldens::json all = goldens::read("dae_radau.json");
  return all;
}

/// Largest difference of numbers.
inline double difference(const std::vector<double>& x, const std::vector<double>& y) {
  double d = 0;
  for (std::size_t i = 0; i < x.size(); ++i) d = std::max(d, std::abs(x[i] - y[i]));
  return d;
}

/// The method called radau with options, bound to a problem: the state after n steps to `end`.
inline State with_steps(const Problem& p, const RadauOptions& options, double end, int n) {
  Simulation run(p.system, radau(options), {.step = end / n});
  run.start(p.start);
  run.until(end);
  return run.state();
}

inline RadauOptions in(Formulation formulation, int stages) {
  RadauOptions options;
  options.stages = stages;
  options.formulation.formulation = formulation;
  options.multipliers = RadauOptions::Multipliers::formulation;
  return options;
}

}  // namespace hinge::radau_problems
