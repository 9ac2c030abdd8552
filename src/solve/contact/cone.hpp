// Projections on the cones of one contact. x = (normal, tangential...), `rows` of them.
#pragma once

#include <cmath>

#include "hinge/contact.hpp"

namespace hinge {

/// sqrt(a^2 + b^2), also where the squares leave the range of doubles.
inline double length(double a, double b) {
  const double square = a * a + b * b;
  if (square > 1e-290 && square < 1e290) return std::sqrt(square);
  return std::hypot(a, b);
}
inline double length(double a, double b, double c) {
  const double square = a * a + b * b + c * c;
  if (square > 1e-290 && square < 1e290) return std::sqrt(square);
  return std::hypot(a, b, c);
}

/// K_mu = {|x_T| <= mu x_N}. In this order, which is right for mu = 0 too:
///   mu t <= -n: 0;   t <= mu n: x;   else s = (n + mu t)/(1 + mu^2), (s, mu s x_T/t),  with n = x_N, t = |x_T|.
template <int rows>
inline void project_on_cone(double mu, double* x) {
  if constexpr (rows == 1) {
    if (x[0] < 0) x[0] = 0;
    return;
  } else {
    const double n = x[0];
    const double t = rows == 2 ? std::abs(x[1]) : length(x[1], x[rows - 1]);
    if (mu * t <= -n) {
      for (int k = 0; k < rows; ++k) x[k] = 0;
    } else if (t > mu * n) {
      const double s = (n + mu * t) / (1 + mu * mu);
      x[0] = s;
      for (int k = 1; k < rows; ++k) x[k] *= mu * s / t;
    }
  }
}

inline void project_on_cone(int rows, double mu, double* x) {
  if (rows == 1) return project_on_cone<1>(mu, x);
  if (rows == 2) return project_on_cone<2>(mu, x);
  project_on_cone<3>(mu, x);
}

/// On the cone over the regular polygon with corners mu (cos a, sin a), a = 2 pi j/facets; in 2D on K_mu.
void project_on_pyramid(double mu, int facets, double* x);

/// On the cone of the problem's friction model.
inline void project_on_model(const ContactProblem& p, double mu, double* x) {
  if (p.dimension == 3 && p.friction == FrictionModel::polyhedral) return project_on_pyramid(mu, p.facets, x);
  project_on_cone(p.dimension, mu, x);
}

/// What De Saxce's correction adds to u_N: mu |u_T|, for a pyramid mu max_j(-d_j.u_T); 0 in the convexified model.
double de_saxce_shift(const ContactProblem& p, double mu, const double* u);

}  // namespace hinge
