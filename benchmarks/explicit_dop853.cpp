// What expressions cost: `explicit` (order 8, from expressions) beside DOP853 with projection written by hand for one
// mechanism at a time, in one process, on
//
//   pendulum         mass 1 on a rod of 1, gravity 9.81, from the horizontal at rest, until t = 10
//   double pendulum  the double spherical pendulum, started out of the plane, until t = 10
//   Andrews          the squeezing mechanism of the test set for IVP solvers, until t = 0.03
//
// The programs by hand have the accelerations  [M G^T; G 0] [a; lambda] = [f; -c]  spelt out in C++, with the Schur
// complement G M^-1 G^T where M is constant, and project positions (one or two Newton steps with the matrix of the last
// stage) and velocities after every step; tolerances, error norm and step control are those of `explicit`, so the steps
// are the same and the times can be compared. Errors are against runs with a tolerance a thousand times smaller.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/hinge.hpp"
#include "method/dormand_prince.hpp"

namespace {

using hinge::Expression;
using hinge::Vector;
using Clock = std::chrono::steady_clock;

// ------------------------------------------------------------------------------------------------ DOP853 by hand

// P: n and m; a, lambda of a point with the matrix factorised; g, rate; back to the constraints with this matrix.
template <class P>
struct ByHand {
  static constexpr int n = P::n;
  static constexpr std::size_t N = 2 * P::n;
  P problem;
  std::array<double, N> x{}, x1{}, stage{};
  std::array<std::array<double, N>, 13> k{};
  const hinge::ExplicitTableau* table = &hinge::dormand_prince(8);
  double t = 0;
  long steps = 0;

  void rates(const std::array<double, N>& at, std::array<double, N>& out) {
    for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = at[static_cast<std::size_t>(n + i)];
    problem.acceleration(at.data(), at.data() + n, out.data() + n);
  }
  template <class Row>
  void combine(const Row& row, double h, std::array<double, N>& out) {
    std::array<double, N> sum{};
    for (const auto& [j, w] : row)
      for (std::size_t i = 0; i < N; ++i) sum[i] += w * k[static_cast<std::size_t>(j)][i];
    for (std::size_t i = 0; i < N; ++i) out[i] = x[i] + h * sum[i];
  }
  double squared(const hinge::ExplicitTableau::Row& row, double tolerance) {
    double total = 0;
    for (std::size_t i = 0; i < N; ++i) {
      double e = 0;
      for (const auto& [j, w] : row) e += w * k[static_cast<std::size_t>(j)][i];
      const double r = e / (tolerance + tolerance * std::max(std::abs(x[i]), std::abs(x1[i])));
      total += r * r;
    }
    return total;
  }
  void run(double end, double tolerance, double first) {
    double h = first;
    bool rejected = false;
    rates(x, k[0]);
    while (t < end) {
      const bool last = t + 1.01 * h >= end;
      if (last) h = end - t;
      for (std::size_t i = 1; i < 12; ++i) {
        combine(table->a[i], h, stage);
        rates(stage, k[i]);
      }
      combine(table->b(), h, x1);
      const double e5 = h * h * squared(table->error, tolerance), e3 = h * h * squared(table->second_error, tolerance);
      const double error = e5 / std::sqrt((e5 + 0.01 * e3) * static_cast<double>(N));
      const double factor = 0.9 * std::pow(std::max(error, 1e-12), -1.0 / 8);
      if (error > 1) {
        h *= std::max(1.0 / 3, std::min(0.9, factor));
        rejected = true;
        continue;
      }
      problem.project(x1.data(), x1.data() + n);
      rates(x1, k[0]);
      x = x1;
      t = last ? end : t + h;
      ++steps;
      h *= std::clamp(factor, 1.0 / 3, rejected ? 1.0 : 6.0);
      rejected = false;
    }
  }
};

struct PendulumByHand {
  static constexpr int n = 2;
  double gx = 1, gy = 0, square = 1;
  void acceleration(const double* q, const double* v, double* a) {
    gx = q[0], gy = q[1], square = gx * gx + gy * gy;
    const double lambda = (v[0] * v[0] + v[1] * v[1] - 9.81 * gy) / square;
    a[0] = -gx * lambda;
    a[1] = -9.81 - gy * lambda;
  }
  void project(double* q, double* v) {
    for (int k = 0; k < 2; ++k) {
      const double mu = ((q[0] * q[0] + q[1] * q[1] - 1) / 2) / square;
      q[0] -= gx * mu, q[1] -= gy * mu;
    }
    const double mu = (q[0] * v[0] + q[1] * v[1]) / (q[0] * q[0] + q[1] * q[1]);
    v[0] -= q[0] * mu, v[1] -= q[1] * mu;
  }
};

struct DoublePendulumByHand {
  static constexpr int n = 6;
  std::array<double, 3> p{}, r{};
  double a11 = 1, a12 = 0, a22 = 1;
  static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
  // G = [p 0; -r r], M = 1
  void matrix(const double* q) {
    for (std::size_t i = 0; i < 3; ++i) p[i] = q[i], r[i] = q[3 + i] - q[i];
    a11 = dot(p.data(), p.data()), a12 = -dot(p.data(), r.data()), a22 = 2 * dot(r.data(), r.data());
  }
  void multipliers(double b1, double b2, double& l1, double& l2) const {
    const double det = a11 * a22 - a12 * a12;
    l1 = (a22 * b1 - a12 * b2) / det, l2 = (a11 * b2 - a12 * b1) / det;
  }
  void acceleration(const double* q, const double* v, double* a) {
    matrix(q);
    const double w[] = {v[3] - v[0], v[4] - v[1], v[5] - v[2]};
    double l1, l2;
    multipliers(dot(v, v) - 9.81 * p[1], dot(w, w), l1, l2);
    for (std::size_t i = 0; i < 3; ++i) a[i] = -p[i] * l1 + r[i] * l2, a[3 + i] = -r[i] * l2;
    a[1] -= 9.81, a[4] -= 9.81;
  }
  void move(double* x, double l1, double l2) const {
    for (std::size_t i = 0; i < 3; ++i) x[i] += -p[i] * l1 + r[i] * l2, x[3 + i] -= r[i] * l2;
  }
  void project(double* q, double* v) {
    double l1, l2;
    for (int k = 0; k < 2; ++k) {
      const double d[] = {q[3] - q[0], q[4] - q[1], q[5] - q[2]};
      multipliers((dot(q, q) - 1) / 2, (dot(d, d) - 1) / 2, l1, l2);
      move(q, l1, l2);
    }
    matrix(q);
    const double w[] = {v[3] - v[0], v[4] - v[1], v[5] - v[2]};
    multipliers(dot(q, v), dot(r.data(), w), l1, l2);
    move(v, l1, l2);
  }
};

// ---------------------------------------------------------------------------------------------------- Andrews

struct Andrews {
  double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706, m7 = .05498, i1 = 2.194e-6,
         i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7, i7 = 1.912e-5, xa = -.06934,
         ya = -.00227, xb = -.03635, yb = .03273, xc = .014, yc = .072, c0 = 4530, l0 = .07785, mom = .033, d = .028,
         da = .0115, e = .02, ea = .01421, rr = .007, ra = .00092, ss = .035, sa = .01874, sb = .01043, sc = .018,
         sd = .02, ta = .02308, tb = .00916, u = .04, ua = .01228, ub = .00449, zf = .02, zt = .04, fa = .01421;
  static constexpr std::array<double, 7> start = {-0.0617138900142764496358948458001, 0,
                                                  0.455279819163070380255912382449,   0.222668390165885884674473185609,
                                                  0.487364979543842550225598953530,   -0.222668390165885884674473185609,
                                                  1.23054744454982119249735015568};
};

struct AndrewsByHand : Andrews {
  static constexpr int n = 7, m = 6;
  double M[7][7], G[6][7], W[7][6], S[6][6];
  int pivot[6];

  // W = M^-1 G^T (M has blocks of 2, 1, 2, 2 rows), S = G W, factorised
  void factor() {
    const int block[3] = {0, 3, 5};
    for (int j = 0; j < 6; ++j) {
      W[2][j] = G[j][2] / M[2][2];
      for (const int b : block) {
        const double det = M[b][b] * M[b + 1][b + 1] - M[b][b + 1] * M[b][b + 1];
        W[b][j] = (M[b + 1][b + 1] * G[j][b] - M[b][b + 1] * G[j][b + 1]) / det;
        W[b + 1][j] = (M[b][b] * G[j][b + 1] - M[b][b + 1] * G[j][b]) / det;
      }
    }
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int l = 0; l < 7; ++l) sum += G[i][l] * W[l][j];
        S[i][j] = sum;
      }
    for (int k = 0; k < 6; ++k) {  // Cholesky
      for (int j = 0; j < k; ++j) S[k][k] -= S[k][j] * S[k][j];
      S[k][k] = std::sqrt(S[k][k]);
      for (int i = k + 1; i < 6; ++i) {
        for (int j = 0; j < k; ++j) S[i][k] -= S[i][j] * S[k][j];
        S[i][k] /= S[k][k];
      }
    }
  }
  void multipliers(double* b) const {
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < i; ++j) b[i] -= S[i][j] * b[j];
      b[i] /= S[i][i];
    }
    for (int i = 5; i >= 0; --i) {
      for (int j = i + 1; j < 6; ++j) b[i] -= S[j][i] * b[j];
      b[i] /= S[i][i];
    }
  }
  void gradient(const double* q) {
    const double sb_ = std::sin(q[0]), cb = std::cos(q[0]), sbt = std::sin(q[0] + q[1]), cbt = std::cos(q[0] + q[1]);
    const double sg = std::sin(q[2]), cg = std::cos(q[2]), spd = std::sin(q[3] + q[4]), cpd = std::cos(q[3] + q[4]);
    const double sdl = std::sin(q[4]), cdl = std::cos(q[4]), soe = std::sin(q[5] + q[6]), coe = std::cos(q[5] + q[6]);
    const double se = std::sin(q[6]), ce = std::cos(q[6]);
    for (auto& row : G) std::fill(row, row + 7, 0.0);
    for (int i = 0; i < 6; i += 2) {
      G[i][0] = -rr * sb_ + d * sbt, G[i][1] = d * sbt;
      G[i + 1][0] = rr * cb - d * cbt, G[i + 1][1] = -d * cbt;
    }
    G[0][2] = -ss * cg, G[1][2] = -ss * sg;
    G[2][3] = -e * cpd, G[2][4] = -e * cpd + zt * sdl;
    G[3][3] = -e * spd, G[3][4] = -e * spd - zt * cdl;
    G[4][5] = zf * soe, G[4][6] = zf * soe - u * ce;
    G[5][5] = -zf * coe, G[5][6] = -zf * coe - u * se;
  }
  void constraint(const double* q, double* g) const {
    const double x = rr * std::cos(q[0]) - d * std::cos(q[0] + q[1]),
                 y = rr * std::sin(q[0]) - d * std::sin(q[0] + q[1]);
    g[0] = x - ss * std::sin(q[2]) - xb, g[1] = y + ss * std::cos(q[2]) - yb;
    g[2] = x - e * std::sin(q[3] + q[4]) - zt * std::cos(q[4]) - xa;
    g[3] = y + e * std::cos(q[3] + q[4]) - zt * std::sin(q[4]) - ya;
    g[4] = x - zf * std::cos(q[5] + q[6]) - u * std::sin(q[6]) - xa;
    g[5] = y - zf * std::sin(q[5] + q[6]) + u * std::cos(q[6]) - ya;
  }
  void acceleration(const double* q, const double* v, double* a) {
    const double st = std::sin(q[1]), ct = std::cos(q[1]), sp = std::sin(q[3]), cp = std::cos(q[3]);
    const double so = std::sin(q[5]), co = std::cos(q[5]), sg = std::sin(q[2]), cg = std::cos(q[2]);
    gradient(q);
    M[0][0] = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * ct + da * da) + i1 + i2;
    M[0][1] = m2 * (da * da - da * rr * ct) + i2, M[1][1] = m2 * da * da + i2;
    M[2][2] = m3 * (sa * sa + sb * sb) + i3;
    const double ee = e - ea, zz = zf - fa;
    M[3][3] = m4 * ee * ee + i4, M[3][4] = m4 * (ee * ee + zt * ee * sp) + i4;
    M[4][4] = m4 * (zt * zt + 2 * zt * ee * sp + ee * ee) + m5 * (ta * ta + tb * tb) + i4 + i5;
    M[5][5] = m6 * zz * zz + i6, M[5][6] = m6 * (zz * zz - u * zz * so) + i6;
    M[6][6] = m6 * (zz * zz - 2 * u * zz * so + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7;
    const double xd = sd * cg + sc * sg + xb - xc, yd = sd * sg - sc * cg + yb - yc, l = std::sqrt(xd * xd + yd * yd);
    const double force = -c0 * (l - l0) / l, fx = force * xd, fy = force * yd;
    const double f[7] = {mom - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * st,  m2 * da * rr * v[0] * v[0] * st,
                         fx * (sc * cg - sd * sg) + fy * (sd * cg + sc * sg), m4 * zt * ee * v[4] * v[4] * cp,
                         -m4 * zt * ee * v[3] * (v[3] + 2 * v[4]) * cp,       -m6 * u * zz * v[6] * v[6] * co,
                         m6 * u * zz * v[5] * (v[5] + 2 * v[6]) * co};
    factor();
    // c = sum of second derivatives times squares of rates; with the sines and cosines that G has
    const double b2 = v[0] * v[0], bt = (v[0] + v[1]) * (v[0] + v[1]), g2 = v[2] * v[2],
                 pd = (v[3] + v[4]) * (v[3] + v[4]), d2 = v[4] * v[4], oe = (v[5] + v[6]) * (v[5] + v[6]),
                 e2 = v[6] * v[6];
    const double dct = -G[1][1], dst = G[0][1];  // d cos, d sin of beta + Theta
    const double x = -(G[1][0] - G[1][1]) * b2 + dct * bt, y = (G[0][0] - G[0][1]) * b2 + dst * bt;
    const double ztc = -(G[3][4] - G[3][3]), zts = G[2][4] - G[2][3];   // zt cos delta, zt sin delta
    const double uc = -(G[4][6] - G[4][5]), us = -(G[5][6] - G[5][5]);  // u cos eps, u sin eps
    double b[6] = {
        x - G[1][2] * g2,           y + G[0][2] * g2,          x - G[3][3] * pd + ztc * d2, y + G[2][3] * pd + zts * d2,
        x - G[5][5] * oe + us * e2, y + G[4][5] * oe - uc * e2};
    // S lambda = G M^-1 f + c
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 7; ++k) b[j] += W[k][j] * f[k];
    multipliers(b);
    double r[7];
    for (int k = 0; k < 7; ++k) {
      r[k] = f[k];
      for (int j = 0; j < 6; ++j) r[k] -= G[j][k] * b[j];
    }
    a[2] = r[2] / M[2][2];
    for (const int k : {0, 3, 5}) {
      const double det = M[k][k] * M[k + 1][k + 1] - M[k][k + 1] * M[k][k + 1];
      a[k] = (M[k + 1][k + 1] * r[k] - M[k][k + 1] * r[k + 1]) / det;
      a[k + 1] = (M[k][k] * r[k + 1] - M[k][k + 1] * r[k]) / det;
    }
  }
  void project(double* q, double* v) {
    double g[6];
    for (int k = 0; k < 2; ++k) {
      constraint(q, g);
      multipliers(g);
      for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 6; ++j) q[i] -= W[i][j] * g[j];
    }
    gradient(q);
    for (int k = 0; k < 2; ++k) {
      for (int j = 0; j < 6; ++j) {
        g[j] = 0;
        for (int i = 0; i < 7; ++i) g[j] += G[j][i] * v[i];
      }
      multipliers(g);
      for (int i = 0; i < 7; ++i)
        for (int j = 0; j < 6; ++j) v[i] -= W[i][j] * g[j];
    }
  }
};

// ------------------------------------------------------------------------------------------- from expressions

hinge::Lagrangian pendulum() {
  hinge::Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  l.constrain(0.5 * (dot(q, q) - 1.0));
  return l;
}

hinge::Lagrangian double_pendulum() {
  hinge::Lagrangian l;
  const Vector q1 = l.coordinates("q1", 3), q2 = l.coordinates("q2", 3), v1 = l.velocity(q1), v2 = l.velocity(q2);
  l.kinetic(0.5 * dot(v1, v1) + 0.5 * dot(v2, v2));
  l.potential(9.81 * (q1[1] + q2[1]));
  l.constrain(0.5 * (dot(q1, q1) - 1.0));
  l.constrain(0.5 * (dot(q2 - q1, q2 - q1) - 1.0));
  return l;
}

hinge::Mechanical andrews() {
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

// ------------------------------------------------------------------------------------------------- comparison

double seconds(const std::function<void()>& work) {
  double best = 1e9;
  for (int k = 0; k < 30; ++k) {
    const auto begin = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

// Largest difference relative to the largest number.
double difference(const double* a, const double* b, int n) {
  double most = 0, size = 0;
  for (int i = 0; i < n; ++i) most = std::max(most, std::abs(a[i] - b[i])), size = std::max(size, std::abs(b[i]));
  return most / size;
}

template <class Hand>
void compare(const char* title, const hinge::SystemBuilder& builder, std::vector<double> q, std::vector<double> v,
             double end, const std::vector<double>& tolerances) {
  const auto system = builder.build();
  const auto ours = [&](double tolerance, hinge::State& state, long& steps) {
    // bound once, as a user with many runs would: what is timed is the integration
    auto method = hinge::explicit_runge_kutta({.order = 8}).bind_adaptive(system, {}, {{tolerance, tolerance}});
    const hinge::State begin = state;
    const auto run = [&] {
      state = begin;
      if (!method->start(state)) std::abort();
      const long before = method->counters().steps;
      while (state.t < end)
        if (const auto result = method->advance(state, end); !result)
          std::fprintf(stderr, "%s\n", result.reason.c_str()), std::abort();
      steps = method->counters().steps - before;
    };
    return seconds(run);
  };
  const auto begin = [&] {
    hinge::State state;
    state.y = q, state.z = v, state.psi.assign(static_cast<std::size_t>(system->npsi()), 0.0);
    return state;
  };
  const auto hand = [&](double tolerance, ByHand<Hand>& result) {
    const auto run = [&] {
      result = ByHand<Hand>{};
      std::copy(q.begin(), q.end(), result.x.begin());
      std::copy(v.begin(), v.end(), result.x.begin() + Hand::n);
      result.run(end, tolerance, end * 1e-4);
    };
    return seconds(run);
  };
  const double finest = tolerances.back() > 1e-10 ? tolerances.back() * 1e-3 : 1e-13;
  hinge::State reference = begin();
  long steps = 0;
  ours(finest, reference, steps);
  std::vector<double> exact = reference.y;
  exact.insert(exact.end(), reference.z.begin(), reference.z.end());
  for (const double tolerance : tolerances) {
    hinge::State state = begin();
    const double mine = ours(tolerance, state, steps);
    std::vector<double> x = state.y;
    x.insert(x.end(), state.z.begin(), state.z.end());
    ByHand<Hand> by_hand;
    const double theirs = hand(tolerance, by_hand);
    const int n = 2 * Hand::n;
    std::printf("%-16s %8.0e %10.3f %6ld %9.1e %12.3f %6ld %9.1e %8.2f\n", title, tolerance, mine * 1e3, steps,
                difference(x.data(), exact.data(), n), theirs * 1e3, by_hand.steps,
                difference(by_hand.x.data(), exact.data(), n), mine / theirs);
  }
}

}  // namespace

// With the beginning of a name: this mechanism alone.
int main(int count, char** words) {
  const std::string only = count > 1 ? words[1] : "";
  const auto wanted = [&](const std::string& name) { return name.rfind(only, 0) == 0; };
  std::printf("%-16s %8s %10s %6s %9s %12s %6s %9s %8s\n", "", "tol", "explicit", "steps", "error", "by hand", "steps",
              "error", "ratio");
  std::printf("%-16s %8s %10s %6s %9s %12s\n", "", "", "ms", "", "", "ms");
  const std::vector<double> tolerances = {1e-6, 1e-9, 1e-11};
  if (wanted("pendulum")) compare<PendulumByHand>("pendulum", pendulum(), {1, 0}, {0, 0}, 10, tolerances);
  if (wanted("double pendulum"))
    compare<DoublePendulumByHand>("double pendulum", double_pendulum(), {1, 0, 0, 1, 0, 1}, {0, 0, 0.5, -0.3, 0, 0.5},
                                  10, tolerances);
  const auto q = Andrews::start;
  if (wanted("Andrews"))
    compare<AndrewsByHand>("Andrews", andrews(), {q.begin(), q.end()}, std::vector<double>(7, 0.0), 0.03, tolerances);
}
