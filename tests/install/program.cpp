// What somebody who installed Hinge types first; see scripts/check-install.
#include <iostream>

#include <hinge/hinge.hpp>

int main() {
  hinge::Lagrangian pendulum;
  const auto q = pendulum.coordinates("q", 2);
  pendulum.kinetic(0.5 * dot(pendulum.velocity(q), pendulum.velocity(q)));
  pendulum.potential(9.81 * q[1]);
  pendulum.constrain(0.5 * (dot(q, q) - 1.0));
  hinge::Simulation run(pendulum, hinge::gauss_lobatto(2), {.step = 0.01});
  run.start({.position = {1, 0}, .velocity = {0, 0}});
  run.until(1.0);
  std::cout << run.report();
}
