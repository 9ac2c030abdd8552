// Flow in a square cavity whose lid slides: the incompressible Navier-Stokes equations on a staggered grid, as a DAE of
// index 2 with a sparse matrix. It checks its own result.
//
//   u' = -(u u)_x - (u v)_y - p_x + nu (u_xx + u_yy)      u on vertical faces, v on horizontal ones, p in the cells
//   v' = -(u v)_x - (v v)_y - p_y + nu (v_xx + v_yy)      one pressure is fixed: only its differences matter
//    0 = u_x + v_y
//
// The pressure has no equation of its own: it is the multiplier of the incompressibility, and the DAE has index 2.
// Nothing is reduced by hand, and no pressure equation is derived. The lid starts smoothly, so that rest is consistent.
//
//   build/example_cavity        a grid of 24 x 24
//   build/example_cavity 64     64 x 64: 12159 unknowns
//
// What to expect: the report, and the velocity on the vertical centre line. At Re = 100 its minimum is -0.2109 in
// Ghia, Ghia and Shin (J. Comput. Phys. 48 (1982) 387-411, on 129 x 129 points); coarse grids come near it.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <hinge/hinge.hpp>

namespace {

// The grid: u(i, j) at (i h, (j + 1/2) h), v(i, j) at ((i + 1/2) h, j h), p(i, j) in the middle of cell (i, j).
struct Cavity {
  int n;
  double h, nu;
  hinge::Dae dae;
  hinge::Vector u, v, p;
  hinge::Expression lid, zero = 0.0;

  Cavity(int cells, double viscosity) : n(cells), h(1.0 / cells), nu(viscosity) {
    u = dae.unknowns("u", {n - 1, n});
    v = dae.unknowns("v", {n, n - 1});
    p = dae.unknowns("p", {n, n});
    lid = tanh(2.0 * dae.t());
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j) x_momentum(i, j);
    for (int i = 0; i < n; ++i)
      for (int j = 1; j < n; ++j) y_momentum(i, j);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        if (i + j == 0)
          dae.equation(at_p(0, 0), "pressure level");
        else
          dae.equation((at_u(i + 1, j) - at_u(i, j) + at_v(i, j + 1) - at_v(i, j)) / h, "cell");
      }
  }

  // Values on and beyond the walls: zero normal to a wall; along a wall the mean with the ghost value is the wall's
  // own.
  hinge::Expression at_u(int i, int j) const {
    if (i == 0 || i == n) return zero;
    if (j < 0) return -at_u(i, 0);
    if (j == n) return 2.0 * lid - at_u(i, n - 1);
    return u[static_cast<std::size_t>((i - 1) * n + j)];
  }
  hinge::Expression at_v(int i, int j) const {
    if (j == 0 || j == n) return zero;
    if (i < 0) return -at_v(0, j);
    if (i == n) return -at_v(n - 1, j);
    return v[static_cast<std::size_t>(i * (n - 1) + j - 1)];
  }
  hinge::Expression at_p(int i, int j) const { return p[static_cast<std::size_t>(i * n + j)]; }

  void x_momentum(int i, int j) {
    const auto c = at_u(i, j), w = at_u(i - 1, j), e = at_u(i + 1, j), s = at_u(i, j - 1), o = at_u(i, j + 1);
    const auto ue = 0.5 * (c + e), uw = 0.5 * (w + c);
    const auto un = 0.5 * (c + o), us = 0.5 * (s + c);
    const auto vn = 0.5 * (at_v(i - 1, j + 1) + at_v(i, j + 1)), vs = 0.5 * (at_v(i - 1, j) + at_v(i, j));
    dae.equation(dae.derivative(c) + (ue * ue - uw * uw + un * vn - us * vs) / h + (at_p(i, j) - at_p(i - 1, j)) / h -
                     nu / (h * h) * (w + e + s + o - 4.0 * c),
                 "x momentum");
  }
  void y_momentum(int i, int j) {
    const auto c = at_v(i, j), w = at_v(i - 1, j), e = at_v(i + 1, j), s = at_v(i, j - 1), o = at_v(i, j + 1);
    const auto vn = 0.5 * (c + o), vs = 0.5 * (s + c);
    const auto ve = 0.5 * (c + e), vw = 0.5 * (w + c);
    const auto ue = 0.5 * (at_u(i + 1, j - 1) + at_u(i + 1, j)), uw = 0.5 * (at_u(i, j - 1) + at_u(i, j));
    dae.equation(dae.derivative(c) + (vn * vn - vs * vs + ve * ue - vw * uw) / h + (at_p(i, j) - at_p(i, j - 1)) / h -
                     nu / (h * h) * (w + e + s + o - 4.0 * c),
                 "y momentum");
  }
};

bool check(const char* what, bool good, double value) {
  std::cout << (good ? "  passed  " : "  FAILED  ") << what << ": " << value << '\n';
  return good;
}

}  // namespace

int main(int argc, char** argv) try {
  const int n = argc > 1 ? std::atoi(argv[1]) : 24;
  if (n < 4 || n > 200) {
    std::cerr << "usage: example_cavity [cells], with 4 to 200 cells in each direction\n";
    return 2;
  }
  Cavity cavity(n, 1.0 / 100);
  hinge::SimulationOptions options;
  options.tolerance = {1e-4, 1e-5};
  hinge::Simulation run(cavity.dae, hinge::make_method("bdf", {}), options);
  run.start({.position = std::vector<double>(static_cast<std::size_t>(2 * n * (n - 1) + n * n), 0.0)});
  run.until(30);
  std::cout << run.report() << '\n';

  const std::vector<double>& x = run.state().y;
  const auto u = [&](int i, int j) { return i == 0 || i == n ? 0.0 : x[static_cast<std::size_t>((i - 1) * n + j)]; };
  const auto v = [&](int i, int j) {
    return j == 0 || j == n ? 0.0 : x[static_cast<std::size_t>(n * (n - 1) + i * (n - 1) + j - 1)];
  };
  double divergence = 0, lowest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      divergence = std::max(divergence, std::abs(u(i + 1, j) - u(i, j) + v(i, j + 1) - v(i, j)) * n);
  for (int j = 0; j < n; ++j) lowest = std::min(lowest, 0.5 * (u(n / 2, j) + u((n + 1) / 2, j)));
  bool good = check("divergence", divergence < 1e-9, divergence);
  good = check("lowest velocity on the centre line, near -0.21", std::abs(lowest + 0.2109) < 3.0 / (n * n) + 0.004,
               lowest) &&
         good;
  std::cout << (good ? "all checks passed\n" : "a check FAILED\n");
  return good ? 0 : 1;
} catch (const hinge::Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
