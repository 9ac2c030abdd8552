// The mechanisms of explicit_dop853.cpp and taylor_dop853.cpp, from expressions.
#pragma once

#include <cmath>
#include <vector>

#include "andrews_by_hand.hpp"
#include "hinge/hinge.hpp"

namespace bench {

using hinge::Expression;
using hinge::Vector;

inline hinge::Lagrangian pendulum() {
  hinge::Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  l.constrain(0.5 * (dot(q, q) - 1.0));
  return l;
}

inline hinge::Lagrangian double_pendulum() {
  hinge::Lagrangian l;
  const Vector q1 = l.coordinates("q1", 3), q2 = l.coordinates("q2", 3), v1 = l.velocity(q1), v2 = l.velocity(q2);
  l.kinetic(0.5 * dot(v1, v1) + 0.5 * dot(v2, v2));
  l.potential(9.81 * (q1[1] + q2[1]));
  l.constrain(0.5 * (dot(q1, q1) - 1.0));
  l.constrain(0.5 * (dot(q2 - q1, q2 - q1) - 1.0));
  return l;
}

inline hinge::Mechanical andrews() {
  hinge::Mechanical s;
  const Andrews p;
  const Vector q = s.coordinates("q", 7), v = s.velocity(q);
  const Expression be = q[0], th = q[1], ga = q[2], ph = q[3], de = q[4], om = q[5], ep = q[6];
  const double ee = p.e - p.ea, zz = p.zf - p.fa;
  std::vector<Expression> mass(49, 0.0);
  mass[0] = p.m1 * p.ra * p.ra + p.m2 * (p.rr * p.rr - 2 * p.da * p.rr * cos(th) + p.da * p.da) + p.i1 + p.i2;
  mass[1] = mass[7] = p.m2 * (p.da * p.da - p.da * p.rr * cos(th)) + p.i2;
  mass[8] = p.m2 * p.da * p.da + p.i2;
  mass[16] = p.m3 * (p.sa * p.sa + p.sb * p.sb) + p.i3;
  mass[24] = p.m4 * ee * ee + p.i4;
  mass[25] = mass[31] = p.m4 * (ee * ee + p.zt * ee * sin(ph)) + p.i4;
  mass[32] =
      p.m4 * (p.zt * p.zt + 2 * p.zt * ee * sin(ph) + ee * ee) + p.m5 * (p.ta * p.ta + p.tb * p.tb) + p.i4 + p.i5;
  mass[40] = p.m6 * zz * zz + p.i6;
  mass[41] = mass[47] = p.m6 * (zz * zz - p.u * zz * sin(om)) + p.i6;
  mass[48] = p.m6 * (zz * zz - 2 * p.u * zz * sin(om) + p.u * p.u) + p.m7 * (p.ua * p.ua + p.ub * p.ub) + p.i6 + p.i7;
  s.mass(Vector(mass));
  const Expression xd = p.sd * cos(ga) + p.sc * sin(ga) + p.xb - p.xc,
                   yd = p.sd * sin(ga) - p.sc * cos(ga) + p.yb - p.yc;
  const Expression l = sqrt(xd * xd + yd * yd), force = -p.c0 * (l - p.l0) / l;
  s.force({p.mom - p.m2 * p.da * p.rr * v[1] * (v[1] + 2.0 * v[0]) * sin(th),
           p.m2 * p.da * p.rr * v[0] * v[0] * sin(th),
           force * xd * (p.sc * cos(ga) - p.sd * sin(ga)) + force * yd * (p.sd * cos(ga) + p.sc * sin(ga)),
           p.m4 * p.zt * ee * v[4] * v[4] * cos(ph), -p.m4 * p.zt * ee * v[3] * (v[3] + 2.0 * v[4]) * cos(ph),
           -p.m6 * p.u * zz * v[6] * v[6] * cos(om), p.m6 * p.u * zz * v[5] * (v[5] + 2.0 * v[6]) * cos(om)});
  const Expression x = p.rr * cos(be) - p.d * cos(be + th), y = p.rr * sin(be) - p.d * sin(be + th);
  s.constrain(x - p.ss * sin(ga) - p.xb);
  s.constrain(y + p.ss * cos(ga) - p.yb);
  s.constrain(x - p.e * sin(ph + de) - p.zt * cos(de) - p.xa);
  s.constrain(y + p.e * cos(ph + de) - p.zt * sin(de) - p.ya);
  s.constrain(x - p.zf * cos(om + ep) - p.u * sin(ep) - p.xa);
  s.constrain(y - p.zf * sin(om + ep) + p.u * cos(ep) - p.ya);
  return s;
}

// 20 points on a sphere that repel each other, damped: the Fekete problem of the test set.
inline hinge::Lagrangian fekete() {
  hinge::Lagrangian l;
  const Vector p = l.coordinates("p", {20, 3}), v = l.velocity(p);
  Expression potential = 0.0;
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = i + 1; j < 20; ++j) {
      const Vector d = p.segment(3 * i, 3) - p.segment(3 * j, 3);
      potential -= 0.5 * log(dot(d, d));
    }
  l.kinetic(0.5 * dot(v, v));
  l.potential(potential);
  l.force(p, -0.5 * v);
  for (std::size_t i = 0; i < 20; ++i) l.constrain(dot(p.segment(3 * i, 3), p.segment(3 * i, 3)) - 1.0);
  return l;
}

inline std::vector<double> fekete_start() {
  std::vector<double> x;
  const double pi = 4 * std::atan(1.0);
  const auto ring = [&](int count, double shift, double height, double sign) {
    for (int k = 1; k <= count; ++k) {
      const double a = 2 * pi * k / count + shift;
      x.insert(x.end(), {std::cos(a) * std::cos(height), std::sin(a) * std::cos(height), sign * std::sin(height)});
    }
  };
  ring(3, pi / 13, 3 * pi / 8, 1);
  ring(7, pi / 29, pi / 8, 1);
  ring(6, pi / 7, 2 * pi / 15, -1);
  ring(4, pi / 17, 3 * pi / 10, -1);
  return x;
}

struct FeketeByHand {
  static constexpr int n = 60;
  std::array<double, 60> at{};
  std::array<double, 20> square{};
  void acceleration(const double* q, const double* v, double* a) {
    for (std::size_t i = 0; i < 60; ++i) at[i] = q[i], a[i] = -0.5 * v[i];
    for (std::size_t i = 0; i < 20; ++i)
      for (std::size_t j = i + 1; j < 20; ++j) {
        const double x = q[3 * i] - q[3 * j], y = q[3 * i + 1] - q[3 * j + 1], z = q[3 * i + 2] - q[3 * j + 2];
        const double over = 1 / (x * x + y * y + z * z);
        a[3 * i] += x * over, a[3 * i + 1] += y * over, a[3 * i + 2] += z * over;
        a[3 * j] -= x * over, a[3 * j + 1] -= y * over, a[3 * j + 2] -= z * over;
      }
    for (std::size_t i = 0; i < 20; ++i) {
      const double *p = q + 3 * i, *w = v + 3 * i;
      double* b = a + 3 * i;
      square[i] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
      const double mu = (p[0] * b[0] + p[1] * b[1] + p[2] * b[2] + w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / square[i];
      b[0] -= mu * p[0], b[1] -= mu * p[1], b[2] -= mu * p[2];
    }
  }
  void project(double* q, double* v) {
    for (std::size_t i = 0; i < 20; ++i) {
      double *p = q + 3 * i, *w = v + 3 * i;
      const double* g = at.data() + 3 * i;
      for (int k = 0; k < 2; ++k) {
        const double mu = ((p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - 1) / 2) / square[i];
        p[0] -= g[0] * mu, p[1] -= g[1] * mu, p[2] -= g[2] * mu;
      }
      const double mu = (p[0] * w[0] + p[1] * w[1] + p[2] * w[2]) / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
      w[0] -= p[0] * mu, w[1] -= p[1] * mu, w[2] -= p[2] * mu;
    }
  }
};

}  // namespace bench
