// Friction along slip that joints and motors prescribe, and that no impulse can change: belts under guides, brakes on
// driven wheels, driven bearings. It moves nothing by itself, but joints bear it, and the cone is shared with it.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::held_slip_test {
namespace {

using std::numbers::pi;
using test::run_text;
using test::value_of;

// A mass on a belt that moves with (bx, by); a guide through the origin, at the angle a, leaves it one way.
struct Guided {
  double a, bx, by, mu, mass, fx, fy, end;
  std::string text() const {
    return fmt::format(R"toml(
[lagrangian]
coordinates = ["x", "y", "z"]
kinetic = "{0}/2*(x'^2 + y'^2 + z'^2)"
potential = "9.81*{0}*z - ({1})*x - ({2})*y"
constraints = ["cos({3})*y - sin({3})*x"]
unilateral = [{{ gap = "z", friction = {4}, slip = ["x' - ({5})", "y' - ({6})"] }}]
[initial]
position = {{ x = 0, y = 0, z = 0 }}
[integrate]
end = {7}
step = 0.001
[output]
quantities = {{ way = "cos({3})*x + sin({3})*y", held = "psi" }}
)toml",
                       mass, fx, fy, a, mu, bx, by, end);
  }
  // Along the guide, m s'' = f.e - mu m g (s' - b.e)/|slip|, by Runge and Kutta; and the reaction across it.
  std::pair<double, double> exact() const {
    const double c = std::cos(a), s = std::sin(a), across = bx * s - by * c, most = mu * mass * 9.81;
    const auto slip = [&](double v) { return v - (bx * c + by * s); };
    const auto rate = [&](double v) { return (fx * c + fy * s - most * slip(v) / std::hypot(slip(v), across)) / mass; };
    const int n = 20000;
    const double h = end / n;
    double x = 0, v = 0;
    for (int k = 0; k < n; ++k) {
      const double k1 = rate(v), k2 = rate(v + h / 2 * k1), k3 = rate(v + h / 2 * k2), k4 = rate(v + h * k3);
      x += h * (v + h / 6 * (k1 + k2 + k3));
      v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return {x, fy * c - fx * s - most * across / std::hypot(slip(v), across)};
  }
};

TEST(HeldSlip, TakesItsPartOfTheConeAndJointsBearIt) {
  Draw draw(11);
  for (int k = 0; k < 12; ++k) {
    const Guided g{k % 3 == 0 ? 0.5 * pi * draw.integer(0, 3) : draw.number(0, 6.28),
                   draw.number(-2, 2),
                   draw.number(-2, 2),
                   draw.number(0.1, 1),
                   draw.power(-1, 1),
                   draw.number(-3, 3),
                   draw.number(-3, 3),
                   draw.number(0.3, 1)};
    const auto [way, held] = g.exact();
    for (const char* method : {"moreau-jean", "paoli-schatzman", "generalized-alpha"}) {
      const Report r = run_text(g.text(), {{"integrate.method", fmt::format("\"{}\"", method)}});
      EXPECT_NEAR(value_of(r, "way"), way, 2e-3 * std::max(1.0, std::abs(way))) << k << method;  // measured 8.2e-4
      EXPECT_NEAR(value_of(r, "held"), held, 5e-3) << k << method;                               // measured 1.6e-3
      EXPECT_TRUE(r.doubts.empty()) << k << method << r.doubts.front().cause;
    }
  }
}

// What falls onto such a belt, e = 0: v+ = v - mu P v+/|(v+, b)|, whatever the law of impact.
TEST(HeldSlip, TakesItsPartOfTheConeInImpacts) {
  Draw draw(23);
  for (int k = 0; k < 6; ++k) {
    const double a = k == 0 ? 0 : draw.number(0, 6.28), belt = draw.number(0.5, 3), mu = draw.number(0.1, 0.6),
                 along = draw.number(0.5, 2), fall = 2, P = fall;
    double v = along;
    for (int n = 0; n < 200; ++n) v = 0.5 * v + 0.5 * (along - mu * P * v / std::hypot(v, belt));
    for (const char* law : {"newton", "poisson", "sequential"}) {
      const Report r = run_text(fmt::format(R"toml(
[lagrangian]
coordinates = ["x", "y", "z"]
kinetic = "1/2*(x'^2 + y'^2 + z'^2)"
potential = "0"
constraints = ["cos({0})*y - sin({0})*x"]
unilateral = [{{ gap = "z", friction = {1}, slip = ["x' + sin({0})*({2})", "y' - cos({0})*({2})"] }}]
[initial]
position = {{ x = 0, y = 0, z = 0.01 }}
velocity = {{ x = "{3}*cos({0})", y = "{3}*sin({0})", z = -{4} }}
[integrate]
method = "moreau-jean"
impact = "{5}"
step = 0.001
end = 0.02
[output]
quantities = {{ v = "cos({0})*x' + sin({0})*y'" }}
)toml",
                                            a, mu, belt, along, fall, law));
      EXPECT_NEAR(value_of(r, "v"), v, 1e-7) << k << law;
      EXPECT_NEAR(r.contacts->friction_loss + r.contacts->impact_loss,
                  0.5 * (fall * fall + along * along - v * v) + mu * P * belt * belt / std::hypot(v, belt), 1e-6)
          << k << law;
    }
  }
}

// The whole cone along the held way: exact in every step, whatever else the cone would allow.
TEST(HeldSlip, OfADrawnPointIsFrictionThatItsDriveFeels) {
  Draw draw(3);
  for (int k = 0; k < 8; ++k) {
    const double speed = draw.number(0.2, 3) * (draw.chance(0.5) ? 1 : -1) * draw.power(-8, 0),
                 mu = draw.number(0.1, 1), mass = draw.power(-2, 2);
    for (const char* method : {"moreau-jean", "paoli-schatzman", "generalized-alpha"}) {
      const Report r = run_text(fmt::format(R"toml(
[lagrangian]
coordinates = ["x", "y"]
kinetic = "{0:.17g}/2*(x'^2 + y'^2)"
potential = "9.81*{0:.17g}*y"
constraints = ["x - ({1:.17g})*t"]
unilateral = [{{ gap = "y", friction = {2}, slip = "x'" }}]
[initial]
position = {{ x = 0, y = 0 }}
velocity = {{ x = {1:.17g}, y = 0 }}
[integrate]
method = "{3}"
end = 0.2
step = 0.01
[output]
quantities = {{ force = "psi" }}
)toml",
                                            mass, speed, mu, method));
      EXPECT_NEAR(value_of(r, "force"), std::copysign(mu * mass * 9.81, -speed), 1e-11 * std::max(1.0, mass))
          << k << method;  // measured 7.6e-13
    }
  }
}

// What rests in guides slips nowhere, and nothing is made of the rounding of that.
TEST(HeldSlip, OfRoundingIsNone) {
  for (const double a : {0.0, 0.3, 1.1}) {
    Guided g{a, 0, 0, 0.5, 2, std::cos(a), std::sin(a), 0.2};  // pushed along the guide by less than friction holds
    const Report r = run_text(g.text());
    EXPECT_NEAR(value_of(r, "way"), 0, 1e-15);   // measured 1.2e-18
    EXPECT_NEAR(value_of(r, "held"), 0, 1e-14);  // measured 2.2e-16
  }
}

TEST(HeldSlip, InDrivenBearingsIsTorqueOfTheMotor) {
  Draw draw(5);
  for (int k = 0; k < 6; ++k) {
    const double inertia = draw.power(-1, 1), friction = draw.number(0.1, 2), swing = draw.number(0.2, 1.5), end = 0.5;
    for (const char* method : {"moreau-jean", "paoli-schatzman", "event-driven"}) {
      const Report r = run_text(fmt::format(R"toml(
[multibody]
gravity = [0, 0]
[[body]]
name = "wheel"
mass = 1
inertia = {}
position = [0, 0]
angular_velocity = 2
[[joint]]
name = "j"
type = "revolute"
bodies = ["ground", "wheel"]
motor = {{ speed = "2 + {}*sin(3*t)" }}
friction = {{ torque = {} }}
[integrate]
method = "{}"
step = 0.0005
end = {}
[output]
quantities = {{ T = "j_motor_torque" }}
)toml",
                                            inertia, swing, friction, method, end));
      const double exact = friction + inertia * swing * 3 * std::cos(3 * end);
      EXPECT_NEAR(value_of(r, "T"), exact, 1e-2 * inertia) << k << method;  // of order 1; measured 6.0e-3 of it
    }
  }
}

}  // namespace
}  // namespace hinge::held_slip_test
