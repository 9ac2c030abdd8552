// A system of one's own in C++, without one expression: a pendulum. It checks its own result.
//
//   y = (x, h), z = (x', h'),  m z' = (0, -m g) - G^T psi,   0 = g(y) = (x^2 + h^2 - l^2)/2,   G = (x, h)
//
// The functions of the problem class that differ from their defaults are overridden; what is known of them, and cannot
// be seen from functions, is declared in a Structure. Derivatives that are not given are found by differences: here the
// gradient of the constraint is given, which puts the velocity level at round-off.
//
//   build/example_own_system
//
// What to expect: the report of a symplectic method, of an implicit one on a reformulated problem, and of one that
// chooses its steps. All keep the length of the rod to round-off; the energy is kept within the accuracy of each.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <hinge/hinge.hpp>

namespace {

class Pendulum final : public hinge::System {
 public:
  Pendulum(double mass, double length, double gravity)
      : System(layout(), structure()), mass_(mass), length_(length), gravity_(gravity) {}

 protected:
  // p = m z; by default p = z
  void momentum(double, const double*, const double* z, double* out) const override {
    for (int k = 0; k < 2; ++k) out[k] = mass_ * z[k];
  }
  // f; by default 0
  void force(double, const double*, const double*, double* out) const override {
    out[0] = 0;
    out[1] = -mass_ * gravity_;
  }
  // g
  void constraint(double, const double* y, double* out) const override {
    *out = (y[0] * y[0] + y[1] * y[1] - length_ * length_) / 2;
  }
  double energy(double, const double* y, const double* z) const override {
    return mass_ * ((z[0] * z[0] + z[1] * z[1]) / 2 + gravity_ * y[1]);
  }
  // G in the order of its pattern, row by row; all other derivatives by differences of sixth order
  bool derivative(hinge::Quantity what, double, const double* y, const double*, const double*,
                  double* out) const override {
    if (what != hinge::Quantity::constraint_y) return false;
    out[0] = y[0];
    out[1] = y[1];
    return true;
  }

 private:
  // Names, shapes and places of the unknowns: y = (x, h) is one vector "q".
  static hinge::Layout layout() {
    hinge::Layout l;
    l.y = {{"q", {2}, 0}};
    l.z = {{"v", {2}, 0}};
    l.psi = {{"psi", {1}, 0}};
    l.constraints = {"rod"};
    l.ny = l.nz = 2;
    l.npsi = 1;
    return l;
  }
  // v = z and r = -G^T psi are the defaults of velocity() and reaction(), and are said here for methods that need it.
  static hinge::Structure structure() {
    hinge::Structure s;
    s.has_energy = true;
    s.depends_on_time = false;
    s.velocity_is_z = true;
    s.mass_is_constant = true;
    s.reaction_is_linear = s.reaction_is_affine = s.reaction_is_ideal = true;
    return s;
  }

  double mass_, length_, gravity_;
};

}  // namespace

int main() {
  const auto pendulum = std::make_shared<const Pendulum>(2.0, 1.0, 9.81);
  struct {
    hinge::MethodChoice method;
    hinge::SimulationOptions options;
    double energy_error;
  } const runs[] = {
      {hinge::gauss_lobatto(2), {.step = 0.01}, 1e-6},
      {hinge::make_method("radau", {{"formulation", std::string("ggl")}}), {.tolerance = {1e-8, 1e-8}}, 1e-5},
      {hinge::make_method("explicit", {}), {.tolerance = {1e-8, 1e-8}}, 1e-4},
  };
  for (const auto& run : runs) {
    hinge::Simulation simulation(pendulum, run.method, run.options);
    simulation.start({.position = {1, 0}, .velocity = {0, 0}});
    simulation.until(10.0);
    const hinge::Report report = simulation.report();
    std::cout << report << '\n';
    if (!(report.constraint < 1e-6) || !(*report.energy_error < run.energy_error)) {
      std::cerr << "not as it should be: constraint " << report.constraint << ", energy " << *report.energy_error
                << '\n';
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
