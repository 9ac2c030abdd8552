#include "solve/contact/local_contact.hpp"

#include <Eigen/Core>

#include "solve/contact/cone.hpp"
#include "solve/linear/cholesky.hpp"

namespace hinge {

LocalContact::LocalContact(const Block& W, double friction) : mu(friction) {
  a = W(0, 0);
  inverse_a = 1 / a;
  const Eigen::Index d = W.rows();
  if (d == 1) {
    mu = 0;
    return;
  }
  // A block that is singular to rounding gets a tangential part just large enough to divide by.
  const double floor = 1e-14 * W.trace();
  if (d == 2) {
    c1 = W(1, 0);
    s1 = std::max(W(1, 1) - c1 * c1 / a, floor);
    s2 = s1;
  } else {
    const Eigen::Vector2d c = W.block<2, 1>(1, 0);
    const Eigen::Matrix2d S = W.block<2, 2>(1, 1) - c * c.transpose() / a;
    const double angle = 0.5 * std::atan2(2 * S(0, 1), S(0, 0) - S(1, 1));
    cosine = std::cos(angle), sine = std::sin(angle);
    Eigen::Matrix2d R;
    R << cosine, sine, -sine, cosine;
    const Eigen::Matrix2d D = R * S * R.transpose();
    s1 = std::max(D(0, 0), floor), s2 = std::max(D(1, 1), floor);
    c1 = cosine * c[0] + sine * c[1], c2 = -sine * c[0] + cosine * c[1];
  }
  ca1 = c1 / a, ca2 = c2 / a;
  inverse_s1 = 1 / s1, inverse_s2 = 1 / s2;
}

void LocalContact::solve_convexified(const double u[3], double r[3]) {
  Eigen::Matrix3d W;
  W << a, c1, c2, c1, s1 + c1 * ca1, c1 * ca2, c2, c1 * ca2, s2 + c2 * ca2;
  Eigen::Map<Eigen::Vector3d> out(r);
  const Eigen::Vector3d q = Eigen::Map<const Eigen::Vector3d>(u) - W * out;
  const Eigen::Vector3d stick = -solve_definite(W, q);
  if (q[0] >= mu * std::hypot(q[1], q[2])) {
    out.setZero();
    return;
  }
  if (std::hypot(stick[1], stick[2]) <= mu * stick[0]) {
    out = stick;
    return;
  }
  // On the boundary r = t e(phi), e = (1, mu cos phi, mu sin phi). For fixed phi the best t is -q.e/(e.We); what is
  // left is to maximise (q.e)^2/(e.We): Newton in phi, with q.e < 0, started from the old direction.
  const auto e = [&](double phi) { return Eigen::Vector3d(1, mu * std::cos(phi), mu * std::sin(phi)); };
  const auto gain = [&](double phi) {
    const Eigen::Vector3d x = e(phi);
    const double qe = std::min(0.0, q.dot(x));
    return qe * qe / x.dot(W * x);
  };
  double phi = std::atan2(out[2], out[1]);
  if (out.tail<2>().isZero() || q.dot(e(phi)) >= 0) phi = std::atan2(-q[2], -q[1]);
  for (int k = 0; k < 12; ++k) {  // the best of a coarse ring, if that is better: there may be several maxima
    const double other = k * 0.5235987755982988;
    if (gain(other) > gain(phi) * (1 + 1e-12)) phi = other;
  }
  for (int k = 0; k < 50; ++k) {
    const Eigen::Vector3d x = e(phi), dx(0, -x[2], x[1]), ddx(0, -x[1], -x[2]);
    const double f = q.dot(x), df = q.dot(dx), ddf = q.dot(ddx);
    const double g = x.dot(W * x), dg = 2 * dx.dot(W * x), ddg = 2 * (dx.dot(W * dx) + x.dot(W * ddx));
    // stationary where h = 2 f' g - f g' = 0 (f not 0)
    const double h = 2 * df * g - f * dg, dh = 2 * ddf * g + df * dg - f * ddg;
    double step = dh != 0 ? -h / dh : 0;
    // f^2/g rises with f h; a step that goes down is turned, one that overshoots is halved
    if (step * f * h < 0) step = 0.1 * (f * h > 0 ? 1 : -1);
    step = std::clamp(step, -0.5, 0.5);
    while (std::abs(step) > 1e-17 && gain(phi + step) < gain(phi) * (1 - 1e-15)) step *= 0.5;
    phi += step;
    if (std::abs(step) <= 1e-16) break;
  }
  const Eigen::Vector3d x = e(phi);
  out = std::max(0.0, -q.dot(x) / x.dot(W * x)) * x;
}

}  // namespace hinge
