// Turns as matrices, row by row:
//
//   back_by        exp(-[a]) = 1 - s [a] + c (a a^T - |a|^2),  s = sin|a|/|a|,  c = (1 - cos|a|)/|a|^2
//   back_between   R1^T R0 of two quaternions of length one
#pragma once

#include <cmath>

namespace hinge {

inline void back_by(const double* a, double* out) {
  const double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  double s = 1 - square / 6, c = 0.5 - square / 24;
  if (square > 1e-7) {
    const double angle = std::sqrt(square), half = std::sin(angle / 2);
    s = std::sin(angle) / angle;
    c = 2 * half * half / square;
  }
  const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = (i == j ? 1 - c * square : 0.0) + c * a[i] * a[j] - s * cross[3 * i + j];
}

/// False where the two are the same but for rounding.
inline bool back_between(const double* q0, const double* q1, double* out) {
  // q1* q0
  const double w = q1[0] * q0[0] + q1[1] * q0[1] + q1[2] * q0[2] + q1[3] * q0[3];
  const double x = q1[0] * q0[1] - q1[1] * q0[0] - q1[2] * q0[3] + q1[3] * q0[2];
  const double y = q1[0] * q0[2] - q1[2] * q0[0] - q1[3] * q0[1] + q1[1] * q0[3];
  const double z = q1[0] * q0[3] - q1[3] * q0[0] - q1[1] * q0[2] + q1[2] * q0[1];
  const double square = x * x + y * y + z * z;
  if (square < 1e-33) return false;
  const double s = 2 / (w * w + square);
  out[0] = 1 - s * (y * y + z * z), out[1] = s * (x * y - w * z), out[2] = s * (x * z + w * y);
  out[3] = s * (x * y + w * z), out[4] = 1 - s * (x * x + z * z), out[5] = s * (y * z - w * x);
  out[6] = s * (x * z - w * y), out[7] = s * (y * z + w * x), out[8] = 1 - s * (x * x + y * y);
  return true;
}

}  // namespace hinge
