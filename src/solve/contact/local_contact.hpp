// The problem of one contact, solved exactly: given W_ii and q_i = u_i - W_ii r_i, find r_i.
//
// Tangents are rotated so that the Schur complement S = W_TT - W_TN W_NT / W_NN is diagonal, S = diag(s1, s2). With
// c = W_TN, a = W_NN and b = q_T - c q_N / a a contact with exact friction is
//
//   off     q_N >= 0:                                     r = 0
//   stick   r_T = -b/s, r_N = -(q_N + c.r_T)/a:           where |r_T| <= mu r_N
//   slip    r_T = -b/(s + alpha), u_T = -alpha r_T:       where |r_T| = mu r_N, alpha > 0
//
// The slip equation is a quartic in alpha; here it is solved as a secular equation, mu r_N / |r_T| = 1, by Newton's
// method inside a bracket. At alpha = 0 its left side is below 1 (or the contact would stick), for alpha -> infinity it
// grows without bound (since q_N < 0), so there is a root. With large mu there may be three (Painleve); any will do.
#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

namespace hinge {

struct LocalContact {
  double a = 1, c1 = 0, c2 = 0, s1 = 1, s2 = 1, mu = 0;
  double inverse_a = 1, ca1 = 0, ca2 = 0;  // 1/a, c/a
  double inverse_s1 = 1, inverse_s2 = 1;
  double cosine = 1, sine = 0;  // T1' = cosine T1 + sine T2, T2' = -sine T1 + cosine T2
  double alpha = 0;             // of the last slip, to begin the next with

  /// d x d with d at most 3; does not allocate.
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 3, 3>;

  LocalContact() = default;
  /// W_ii of 1 to 3 rows; missing tangents are padded with rows that never move.
  LocalContact(const Block& W, double friction);

  /// Replaces r (in rotated tangents) by the solution for the u that belongs to it.
  void solve(const double u[3], double r[3]) {
    const double qn = u[0] - a * r[0] - c1 * r[1] - c2 * r[2];
    if (qn >= 0) {
      r[0] = r[1] = r[2] = 0;
      return;
    }
    const double off_n = -qn * inverse_a;
    if (mu == 0) {
      r[0] = off_n;
      r[1] = r[2] = 0;
      return;
    }
    // b = q_T - c q_N/a = u_T - S r_T - c u_N/a
    const double b1 = u[1] - s1 * r[1] - ca1 * u[0], b2 = u[2] - s2 * r[2] - ca2 * u[0];
    const double t1 = -b1 * inverse_s1, t2 = -b2 * inverse_s2;
    const double n = off_n - ca1 * t1 - ca2 * t2;
    if (n >= 0 && t1 * t1 + t2 * t2 <= mu * mu * n * n) {
      r[0] = n, r[1] = t1, r[2] = t2;
      return;
    }
    slip(off_n, b1, b2, r);
  }

  /// Rows that must not move at all: r -= W_ii^-1 u.
  void solve_bilateral(const double u[3], double r[3]) const {
    if (!(a > 0)) return;  // nothing moves with these rows
    const double d1 = -(u[1] - ca1 * u[0]) * inverse_s1, d2 = -(u[2] - ca2 * u[0]) * inverse_s2;
    r[0] -= u[0] * inverse_a + ca1 * d1 + ca2 * d2;
    r[1] += d1, r[2] += d2;
  }

  /// As above for the convexified cone: r in K _|_ u in K*.
  void solve_convexified(const double u[3], double r[3]);

 private:
  void slip(double off_n, double b1, double b2, double r[3]) {
    double low = 0, high = HUGE_VAL, x = alpha > 0 ? alpha : 0.5 * (s1 + s2);
    for (int k = 0; k < 60; ++k) {
      const double d1 = 1 / (s1 + x), d2 = 1 / (s2 + x);
      const double t1 = -b1 * d1, t2 = -b2 * d2;
      const double n = off_n - ca1 * t1 - ca2 * t2;
      const double square = t1 * t1 + t2 * t2, inverse_t = 1 / std::sqrt(square);
      const double ratio = mu * n * inverse_t;  // = 1 at the root
      r[0] = n, r[1] = t1, r[2] = t2;
      if (std::abs(ratio - 1) <= 1e-14) break;
      (ratio < 1 ? low : high) = x;
      // d t_k / d alpha = -t_k d_k;  d|t|/d alpha = -sum t_k^2 d_k / |t|
      const double dn = ca1 * t1 * d1 + ca2 * t2 * d2;
      const double slope = mu * inverse_t * (dn + n * (t1 * t1 * d1 + t2 * t2 * d2) * inverse_t * inverse_t);
      double next = x - (ratio - 1) / slope;
      if (!(next > low && next < high)) next = high == HUGE_VAL ? 4 * x + s1 + s2 : 0.5 * (low + high);
      if (std::abs(next - x) <= 1e-15 * x) break;
      x = next;
    }
    alpha = x;
  }
};

}  // namespace hinge
