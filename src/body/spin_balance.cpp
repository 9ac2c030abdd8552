#include "body/spin_balance.hpp"

#include <cmath>

#include "body/turn.hpp"
#include "solve/index.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

void cross(const double* a, const double* b, double* out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// out = E(-h w) p
void turned_back(const double* w, double h, const double* p, double* out) {
  const double a[3] = {h * w[0], h * w[1], h * w[2]};
  double E[9];
  back_by(a, E);
  for (int i = 0; i < 3; ++i) out[i] = E[3 * i] * p[0] + E[3 * i + 1] * p[1] + E[3 * i + 2] * p[2];
}

// x <- A^-1 x by cofactors; false where A is singular
bool solve3(const double* A, double* x) {
  double c0[3], c1[3], c2[3];  // of the rows: cross products of the columns of A
  const double a[3] = {A[0], A[3], A[6]}, b[3] = {A[1], A[4], A[7]}, c[3] = {A[2], A[5], A[8]};
  cross(b, c, c0);
  cross(c, a, c1);
  cross(a, b, c2);
  const double det = a[0] * c0[0] + a[1] * c0[1] + a[2] * c0[2];
  if (!(std::abs(det) > 0)) return false;
  const double y[3] = {x[0], x[1], x[2]};
  x[0] = (c0[0] * y[0] + c0[1] * y[1] + c0[2] * y[2]) / det;
  x[1] = (c1[0] * y[0] + c1[1] * y[1] + c1[2] * y[2]) / det;
  x[2] = (c2[0] * y[0] + c2[1] * y[1] + c2[2] * y[2]) / det;
  return true;
}

}  // namespace

std::optional<SpinBalance> SpinBalance::of(const System& system) {
  const BodyTable* table = bodies_of(system);
  if (!table || table->dimension != 3) return std::nullopt;
  const auto mass = system.evaluation({Quantity::momentum_z});
  const std::vector<double> y(at(system.ny())), z(at(system.nz())), psi(at(system.npsi()));
  mass->at(0, y.data(), z.data(), psi.data());
  return SpinBalance(*table, system.pattern(Quantity::momentum_z), (*mass)[Quantity::momentum_z]);
}

SpinBalance::SpinBalance(const BodyTable& table, const Pattern& mass, const double* M) {
  if (table.dimension != 3) return;
  for (const BodyPlace& place : table.places) {
    Body body{place.rotation, place.spin, {}};
    for (int k = 0; k < 3; ++k) {
      const int row = place.spin + k;
      for (int e = mass.row_start[at(row)]; e < mass.row_start[at(row) + 1]; ++e)
        if (mass.column[at(e)] == row) body.J[k] = M[e];
    }
    bodies_.push_back(body);
  }
}

bool SpinBalance::Body::wobbles(const double* w) const {
  return !isotropic() && (w[0] != 0) + (w[1] != 0) + (w[2] != 0) > 1;
}

void SpinBalance::take_gyroscopic(const double* z, double* f) const {
  for (const Body& b : bodies_) {
    const double* w = z + b.spin;
    double* torque = f + b.spin;
    for (int k = 0; k < 3; ++k) {
      const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      torque[k] -= (b.J[k1] - b.J[k2]) * w[k1] * w[k2];
    }
  }
}

void SpinBalance::turn_between(const double* y0, const double* y1, double* p) const {
  double E[9];
  for (const Body& b : bodies_) {
    if (!back_between(y0 + b.rotation, y1 + b.rotation, E)) continue;
    double* v = p + b.spin;
    const double before[3] = {v[0], v[1], v[2]};
    for (int i = 0; i < 3; ++i) v[i] = E[3 * i] * before[0] + E[3 * i + 1] * before[1] + E[3 * i + 2] * before[2];
  }
}

void SpinBalance::turn_back(const double* z, double h, double* p) const {
  for (const Body& b : bodies_) {
    const double* w = z + b.spin;
    double* v = p + b.spin;
    if (w[0] == 0 && w[1] == 0 && w[2] == 0) continue;
    const double before[3] = {v[0], v[1], v[2]};
    turned_back(w, h, before, v);
  }
}

// J w - E(-h/2 w) p = 0, whose derivative is J - h/2 [J w] where the turn is small
void SpinBalance::midpoint(const double* p, double h, double* z) const {
  for (const Body& b : bodies_) {
    const double* L = p + b.spin;
    double* w = z + b.spin;
    double start[3];
    for (int k = 0; k < 3; ++k) start[k] = w[k] = L[k] / b.J[k];
    if (!b.wobbles(w)) continue;
    const NewtonTrouble trouble = newton(Settling(newton_policy::spins), [&]() -> Increment {
      double m[3], d[3], change = 0, size = 0;
      turned_back(w, h / 2, L, m);
      for (int k = 0; k < 3; ++k) d[k] = m[k] - b.J[k] * w[k];
      const double s = h / 2;
      const double A[9] = {b.J[0], s * m[2], -s * m[1], -s * m[2], b.J[1], s * m[0], s * m[1], -s * m[0], b.J[2]};
      if (!solve3(A, d)) return no_increment;
      for (int k = 0; k < 3; ++k) {
        w[k] += d[k];
        change = std::max(change, std::abs(d[k]));
        size = std::max(size, std::abs(w[k]));
      }
      return {change, size};
    });
    // Turns of a radian and more: as if there were no wobble. The momentum is kept all the same.
    if (trouble != NewtonTrouble::none)
      for (int k = 0; k < 3; ++k) w[k] = start[k];
  }
}

void SpinBalance::middle_inertia(const Body& b, const double* z, double h, double* out) {
  const double* w = z + b.spin;
  const double a[3] = {h / 2 * w[0], h / 2 * w[1], h / 2 * w[2]};
  double E[9];
  back_by(a, E);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += E[3 * k + i] * b.J[k] * E[3 * k + j];
      out[3 * i + j] = sum;
    }
}

}  // namespace hinge
