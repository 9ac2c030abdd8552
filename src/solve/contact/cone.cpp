#include "solve/contact/cone.hpp"

#include <algorithm>
#include <array>
#include <numbers>

namespace hinge {

namespace {

using Vector3 = std::array<double, 3>;

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double square_distance(const Vector3& a, const Vector3& b) {
  const Vector3 d{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return dot(d, d);
}

Vector3 edge(double mu, int facets, int j) {
  const double angle = 2 * std::numbers::pi * j / facets;
  return {1, mu * std::cos(angle), mu * std::sin(angle)};
}

}  // namespace

// The nearest point of a polyhedral cone lies inside, on a face, on an edge or in the apex; every face and edge is
// tried, because there are few.
void project_on_pyramid(double mu, int facets, double* x) {
  Vector3 p{x[0], x[1], x[2]};
  bool inside = p[0] >= 0;
  for (int j = 0; inside && j < facets; ++j) {
    // Outward normal of the face between edges j and j+1: tangential part along the middle of the two.
    const double middle = (2 * j + 1) * std::numbers::pi / facets;
    inside = p[1] * std::cos(middle) + p[2] * std::sin(middle) <= mu * p[0] * std::cos(std::numbers::pi / facets);
  }
  if (inside) return;
  // Distances are compared by their squares, which have to stay in range.
  const double unit = std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
  if (!(unit > 0) || !std::isfinite(unit)) return;
  for (double& part : p) part /= unit;
  Vector3 best{0, 0, 0};
  double least = dot(p, p);
  const auto consider = [&](const Vector3& candidate) {
    const double distance = square_distance(p, candidate);
    if (distance < least) least = distance, best = candidate;
  };
  for (int j = 0; j < facets; ++j) {
    const Vector3 a = edge(mu, facets, j), b = edge(mu, facets, (j + 1) % facets);
    const double pa = dot(p, a), pb = dot(p, b), aa = dot(a, a), ab = dot(a, b), bb = dot(b, b);
    if (pa > 0) consider({pa / aa, pa / aa * a[1], pa / aa * a[2]});
    const double det = aa * bb - ab * ab;
    if (!(det > 0)) continue;  // mu = 0: the cone is a ray
    const double s = (pa * bb - pb * ab) / det, t = (pb * aa - pa * ab) / det;
    if (s >= 0 && t >= 0) consider({s + t, s * a[1] + t * b[1], s * a[2] + t * b[2]});
  }
  for (std::size_t k = 0; k < 3; ++k) x[k] = unit * best[k];
}

double de_saxce_shift(const ContactProblem& p, double mu, const double* u) {
  if (p.friction == FrictionModel::convexified || p.dimension == 1) return 0;
  if (p.dimension == 2) return mu * std::abs(u[1]);
  if (p.friction == FrictionModel::coulomb) return mu * length(u[1], u[2]);
  double most = 0;
  for (int j = 0; j < p.facets; ++j) {
    const Vector3 d = edge(1, p.facets, j);
    most = std::max(most, -(d[1] * u[1] + d[2] * u[2]));
  }
  return mu * most;
}

}  // namespace hinge
