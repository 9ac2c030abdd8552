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

#include "andrews_by_hand.hpp"
#include "dop853_by_hand.hpp"
#include "hinge/hinge.hpp"

namespace {

using namespace bench;
using hinge::Expression;
using hinge::Vector;
using Clock = std::chrono::steady_clock;

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
    auto method = hinge::explicit_runge_kutta({.order = 8}).bind(system, {}, {{tolerance, tolerance}});
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
