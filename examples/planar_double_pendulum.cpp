// The planar double pendulum with the C++ interface. It checks its own result.
//
//   L = m1/2 |q1'|^2 + m2/2 |q2'|^2 - gravity (m1 q1[1] + m2 q2[1])
//   0 = (|q1|^2 - l1^2)/2,  0 = (|q2 - q1|^2 - l2^2)/2
//
// No angles, no Jacobian, no multiplier guess: the energies and the constraints are all that is said.
//
// What to expect: the report of the run, then "all checks passed". Constraints and their time derivatives are at
// round-off, and the energy stays within the bound that belongs to order 6 and this step. The exit status is 1 when
// one of them is not.
//
// After `make test`, which configures and builds it:
//
//   build/example_planar_double_pendulum
#include <cmath>
#include <iostream>

#include <hinge/hinge.hpp>

namespace {

bool check(const char* what, double value, double bound) {
  const bool good = value <= bound;  // false for NaN as well
  std::cout << (good ? "  passed  " : "  FAILED  ") << what << ": " << value << " (at most " << bound << ")\n";
  return good;
}

}  // namespace

int main() try {
  const double m1 = 1.0, m2 = 0.5, l1 = 1.0, l2 = 0.7, gravity = 9.81;

  hinge::Lagrangian pendulum;
  const auto q1 = pendulum.coordinates("q1", 2);
  const auto q2 = pendulum.coordinates("q2", 2);
  const auto v1 = pendulum.velocity(q1);
  const auto v2 = pendulum.velocity(q2);
  pendulum.kinetic(m1 / 2 * dot(v1, v1) + m2 / 2 * dot(v2, v2));
  pendulum.potential(gravity * (m1 * q1[1] + m2 * q2[1]));
  pendulum.constrain(0.5 * (dot(q1, q1) - l1 * l1), "upper rod");
  pendulum.constrain(0.5 * (dot(q2 - q1, q2 - q1) - l2 * l2), "lower rod");

  hinge::Simulation run(pendulum, hinge::gauss_lobatto(3), {.step = 0.01});
  run.observe("lower angle", atan2(q2[0] - q1[0], q1[1] - q2[1]));
  run.start({.position = {l1, 0, l1 + l2, 0}, .velocity = {0, 0, 0, 0}});
  run.until(20.0);

  const hinge::Report report = run.report();
  std::cout << report << '\n';

  bool good = check("constraint", report.constraint, 1e-14);            // measured 5e-16
  good &= check("hidden constraint", report.hidden_constraint, 1e-14);  // measured 1e-15
  good &= check("energy error", report.energy_error.value(), 1e-6);     // measured 7e-8
  // The report is not taken at its word: the lengths of the rods, from the final state itself.
  const auto& y = run.state().y;
  good &= check("upper rod", std::abs(std::hypot(y[0], y[1]) - l1), 1e-14);                // measured 1e-16
  good &= check("lower rod", std::abs(std::hypot(y[2] - y[0], y[3] - y[1]) - l2), 1e-14);  // measured 1e-16
  std::cout << (good ? "all checks passed\n" : "some checks FAILED\n");
  return good ? 0 : 1;
} catch (const hinge::Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
