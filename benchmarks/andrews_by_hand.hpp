// Andrews' squeezing mechanism by hand: its data, and its accelerations and projection for dop853_by_hand.hpp.
// Statement: the test set for IVP solvers; seven angles, six constraints, until t = 0.03.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {

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
  static constexpr double end = 0.03;
  /// Angles and their rates at the end.
  static constexpr std::array<double, 14> solution = {
      15.81077119515370,  -15.75637105841183, 0.04082224011964571, -0.5347301163420798, 0.5244099658799541,
      0.5347301163420798, 1.048080741041938,  1139.920302259106,   -1424.379295177541,  11.03291191061592,
      19.29337410502737,  0.5735699148293643, -19.29337410502737,  0.3231791492490498};
};

struct AndrewsByHand : Andrews {
  static constexpr int n = 7, m = 6;
  double lambda[6] = {};
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
    std::copy_n(b, 6, lambda);
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

}  // namespace bench
